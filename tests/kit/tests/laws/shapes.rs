//! Only some code may know the views of packs: the pack itself, its code in the window, and the
//! table of packs with code. All other code knows results by their shape.

use std::{collections::BTreeSet, fs};

use crate::{root, sources, without_tests};

/// Folders that must not know a view of a pack, with the endings of their sources.
const ROOMS: [(&str, &[&str]); 7] = [
    ("src-tauri/crates/contract/src", &["rs"]),
    ("src-tauri/crates/engine/src", &["rs"]),
    ("src-tauri/crates/host/src", &["rs"]),
    ("src-tauri/crates/tabular/src", &["rs"]),
    ("ui/src/results", &["ts", "svelte"]),
    ("ui/src/state", &["ts", "svelte"]),
    ("ui/src/views/chat", &["ts", "svelte"]),
];

/// Files that contain such a word for another reason.
const OTHER_WORDS: [(&str, &str); 2] = [
    ("tabular/src/table/words.rs", "headings of exports"),
    ("ui/src/views/chat/suggestions.ts", "questions that an empty conversation suggests"),
];

#[test]
fn a_view_of_a_pack_is_named_only_in_the_code_for_that_pack() {
    let words = words_of_views();
    assert!(words.len() > 1, "the views were not found: {words:?}");
    let mut found = Vec::new();
    let mut read = 0;
    for (folder, endings) in ROOMS {
        for file in sources(&root().join(folder), endings) {
            let path = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            let is_test =
                path.contains("/tests") || path.contains(".test.") || path.ends_with("testing.ts");
            if is_test || OTHER_WORDS.iter().any(|(known, _)| path.ends_with(known)) {
                continue;
            }
            read += 1;
            let text = fs::read_to_string(&file).unwrap();
            let text = if path.ends_with(".rs") { without_tests(&text) } else { text };
            for line in text.lines().filter(is_code) {
                if words_of(line).any(|word| words.contains(&word)) {
                    found.push(format!("{path}: {}", line.trim()));
                }
            }
        }
    }
    assert!(read > 150, "the sources were not found: {read}");
    assert!(
        found.is_empty(),
        "results are known by their shape; these lines name a view of a pack:\n{}",
        found.join("\n")
    );
}

/// Returns the words in the names of the views that packs declare.
fn words_of_views() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for entry in fs::read_dir(root().join("tools")).unwrap() {
        let Ok(text) = fs::read_to_string(entry.unwrap().path().join("pack.json")) else {
            continue;
        };
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
        for tool in manifest["tools"]["tools"].as_array().unwrap() {
            words.extend(tool["view"]["view"].as_str().into_iter().flat_map(words_of));
        }
    }
    // This word also has other meanings.
    words.remove("cards");
    words
}

/// Returns the words of a line in lower case. A name such as `productCards` is split into its
/// words.
fn words_of(line: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in line.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_small) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        was_small = letter.is_lowercase();
    }
    words.into_iter().filter(|word| !word.is_empty())
}

fn is_code(line: &&str) -> bool {
    let line = line.trim_start();
    !["//", "/*", "*", "<!--"].iter().any(|start| line.starts_with(start))
}

#[test]
fn a_name_is_split_into_its_words() {
    let words: Vec<String> = words_of("product_cards latestCart { CARTS: cart }").collect();
    assert_eq!(words, ["product", "cards", "latest", "cart", "carts", "cart"]);
}
