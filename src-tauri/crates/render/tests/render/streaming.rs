//! A stream shows at every moment what its text so far would show, and ends with the blocks of the
//! whole text.

use contract::{Block, BlockPatch};
use proptest::prelude::*;
use render::{Stream, blocks};

/// A fake window: keeps the blocks and appends text to the last block.
#[derive(Default)]
struct Window {
    blocks: Vec<(String, String)>,
}

impl Window {
    fn apply(&mut self, patch: &BlockPatch) {
        for Block { index, html } in &patch.blocks {
            let at = *index as usize;
            assert!(at <= self.blocks.len(), "no gaps");
            self.blocks.truncate(self.blocks.len().max(at));
            if at == self.blocks.len() {
                self.blocks.push((html.clone(), String::new()))
            } else {
                self.blocks[at] = (html.clone(), String::new())
            }
        }
        self.blocks.truncate(patch.count as usize);
        assert_eq!(self.blocks.len(), patch.count as usize, "every block has come");
        if let Some(last) = self.blocks.last_mut() {
            last.1.push_str(&patch.append);
        } else {
            assert!(patch.append.is_empty(), "there is a block to add to");
        }
    }

    /// Returns the visible text.
    fn text(&self) -> String {
        self.blocks
            .iter()
            .map(|(html, tail)| format!("{}{tail}\u{1f}", plain(html)))
            .collect::<String>()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn plain(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => text.push(c),
            _ => {}
        }
    }
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&nbsp;", "\u{a0}")
        .replace("&amp;", "&")
}

/// Generates texts from pieces that begin, end and change blocks.
fn markdown() -> impl Strategy<Value = String> {
    let pieces = [
        "word ",
        "another word, ",
        "\n",
        "\n\n",
        "# ",
        "## Title\n",
        "- item\n",
        "- ",
        "* ",
        "1. one\n",
        "2. ",
        "  indented\n",
        "    code\n",
        "> quote\n",
        "```rust\n",
        "```\n",
        "```",
        "~~~\n",
        "`",
        "``",
        "**",
        "*",
        "_",
        "~~",
        "[link](https://example.com)",
        "[",
        "](",
        ")",
        "| a | b |\n",
        "|---|---|\n",
        "| 1 | 2 |\n",
        "|",
        "---\n",
        "===\n",
        "---",
        "<b>",
        "<script>",
        "</script>\n",
        "&amp;",
        "&",
        "\\",
        "å𝄞é ",
        "\r\n",
        "\t",
        "!",
        "let x = 1;\n",
        "1",
        ".",
        "-",
        "$",
        "$x_1$",
        "$$",
        "$$\n",
        "\\(y",
        "\\)",
        "\\[\n",
        "\\]\n",
        "{a}^2",
        "https://example.com ",
        "<https://example.com>",
        "  \n",
        "A",
    ];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..40)
        .prop_map(|pieces| pieces.concat())
}

/// Cuts a text at character boundaries.
fn deltas(text: &str, sizes: &[usize]) -> Vec<String> {
    let mut chars = text.chars().peekable();
    let mut sizes = sizes.iter().copied().cycle();
    let mut deltas = Vec::new();
    while chars.peek().is_some() {
        deltas.push(chars.by_ref().take(sizes.next().unwrap_or(1).max(1)).collect());
    }
    deltas
}

fn check(text: &str, sizes: &[usize], frame_every: usize) -> Result<(), TestCaseError> {
    let mut stream = Stream::new();
    let mut window = Window::default();
    let mut so_far = String::new();
    for (n, delta) in deltas(text, sizes).iter().enumerate() {
        stream.push(delta);
        so_far.push_str(delta);
        if n % frame_every == 0 {
            window.apply(&stream.frame());
            let mut alone = Stream::new();
            alone.push(&so_far);
            let mut fresh = Window::default();
            fresh.apply(&alone.frame());
            prop_assert_eq!(window.text(), fresh.text(), "after {:?}", so_far);
        }
    }
    window.apply(&stream.finish());
    let whole: Vec<(String, String)> =
        blocks(text).into_iter().map(|block| (block.html, String::new())).collect();
    prop_assert_eq!(window.blocks, whole);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_streamed_markdown_text_renders_like_the_whole_text(text in markdown(), sizes in proptest::collection::vec(1_usize..12, 1..6), frame_every in 1_usize..4) {
        check(&text, &sizes, frame_every)?;
    }

    #[test]
    fn any_streamed_text_renders_like_the_whole_text(text in "\\PC{0,60}", sizes in proptest::collection::vec(1_usize..5, 1..4)) {
        check(&text, &sizes, 1)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]
    /// Long blocks are cut at the same positions, however the text arrives.
    #[test]
    fn long_blocks_are_split_at_the_same_positions_however_the_text_arrives(part in markdown(), sizes in proptest::collection::vec(1_usize..4000, 1..6), times in 1_usize..400, joiner in prop::sample::select(vec![" ", "\n", ". More words ", "\n- item ", "\n| x | y |\n"])) {
        let text = std::iter::repeat_n(part.as_str(), times).collect::<Vec<_>>().join(joiner);
        let text: String = text.chars().take(40_000).collect();
        let mut stream = Stream::new();
        let mut window = Window::default();
        for delta in deltas(&text, &sizes) {
            stream.push(&delta);
            window.apply(&stream.frame());
        }
        window.apply(&stream.finish());
        let whole: Vec<(String, String)> = blocks(&text).into_iter().map(|block| (block.html, String::new())).collect();
        prop_assert_eq!(window.blocks, whole);
    }
}

#[test]
fn plain_streamed_text_is_appended_and_not_sent_again() {
    let mut stream = Stream::new();
    stream.push("Spend is");
    assert_eq!(stream.frame().blocks.len(), 1);
    for word in [" on", " track", " for", " account", " 17."] {
        stream.push(word);
        let patch = stream.frame();
        assert_eq!((patch.blocks.len(), patch.append.as_str()), (0, word));
    }
    stream.push("\n\nNext");
    let patch = stream.frame();
    assert_eq!(
        patch.blocks.iter().map(|b| b.html.as_str()).collect::<Vec<_>>(),
        ["<p>Spend is on track for account 17.</p>", "<p>Next</p>"]
    );
    assert_eq!(
        stream.frame(),
        BlockPatch { count: 2, ..BlockPatch::default() },
        "nothing new, nothing sent"
    );
}

#[test]
fn streamed_code_is_appended_line_by_line() {
    let mut stream = Stream::new();
    stream.push("```sql\nselect ");
    stream.frame();
    stream.push("1 < 2\n``");
    let patch = stream.frame();
    assert_eq!(
        (patch.blocks.len(), patch.append.as_str()),
        (0, "1 < 2\n"),
        "what may close the fence is held back"
    );
    stream.push("`\n");
    assert!(stream.frame().blocks[0].html.contains("hl-keyword"));
}
