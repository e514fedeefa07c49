//! The amount of data sent to the window for an answer of many deltas stays within a small multiple
//! of the answer's length, whatever its shape. The tests count bytes, not time.

use render::Stream;

/// Counts the bytes of all patches, with a frame after every delta.
fn count_patch_bytes(deltas: impl Iterator<Item = String>) -> (usize, usize) {
    count_bytes_every(1, deltas)
}

/// Counts the bytes of all patches, with a frame after every `frame` deltas.
fn count_bytes_every(frame: usize, deltas: impl Iterator<Item = String>) -> (usize, usize) {
    let mut stream = Stream::new();
    let (mut text, mut sent) = (0, 0);
    for (n, delta) in deltas.enumerate() {
        text += delta.len();
        stream.push(&delta);
        if n % frame != 0 {
            continue;
        }
        let patch = stream.frame();
        sent +=
            patch.append.len() + patch.blocks.iter().map(|block| block.html.len()).sum::<usize>();
    }
    sent += stream.finish().blocks.iter().map(|block| block.html.len()).sum::<usize>();
    (text, sent)
}

#[test]
fn streaming_one_plain_paragraph_sends_at_most_three_times_its_size() {
    let (text, sent) = count_patch_bytes((0..20_000).map(|n| format!("word{n} ")));
    assert!(sent < 3 * text, "{sent} for {text}");
}

#[test]
fn streaming_one_code_fence_sends_at_most_three_times_its_size() {
    let (text, sent) =
        count_patch_bytes(std::iter::once("```rust\n".to_owned()).chain(
            (0..20_000).map(|n| if n % 8 == 7 { ";\n".to_owned() } else { format!(" x{n}") }),
        ));
    assert!(sent < 3 * text, "{sent} for {text}");
}

#[test]
fn streaming_ordinary_answers_sends_a_bounded_multiple_of_their_size() {
    let paragraph =
        "Spend is **on track** for `account 17`: 110 % of target.\n\n- first\n- second *item*\n\n";
    let chars: Vec<char> = paragraph.repeat(60).chars().collect();
    let (text, sent) = count_patch_bytes(chars.chunks(4).map(|c| c.iter().collect()));
    assert!(
        sent < 40 * text,
        "a frame for every four characters renders only the block that is open: {sent} for {text}"
    );
}

/// The worst case is one block to which text cannot simply be appended. The cost must grow in
/// proportion to the length of the text.
#[test]
fn the_cost_of_one_formatted_block_grows_linearly_with_its_length() {
    let shapes: [(&str, &str); 3] = [
        ("paragraph", "**bold** and `code` word "),
        ("list", "- an *item* of a list\n"),
        ("table", "| **1** | two |\n"),
    ];
    for (name, piece) in shapes {
        let head = if name == "table" { "| a | b |\n|---|---|\n" } else { "" };
        let cost = |n: usize| {
            count_bytes_every(
                8,
                std::iter::once(head.to_owned()).chain(std::iter::repeat_n(piece.to_owned(), n)),
            )
        };
        let (small_text, small) = cost(800);
        let (large_text, large) = cost(2_400);
        let growth = (large * small_text) as f64 / (small * large_text) as f64;
        assert!(growth < 1.6, "{name}: {small} for {small_text}, {large} for {large_text}");
    }
}
