//! No sentence of a comment hides its subject behind a word such as "what" or "whoever".

use std::fs;

use crate::{root, sources};

#[test]
fn no_sentence_of_a_comment_begins_like_a_riddle() {
    let mut riddles = Vec::new();
    let mut read = 0;
    let files = ["src-tauri", "tools"]
        .into_iter()
        .flat_map(|folder| sources(&root().join(folder), &["rs"]))
        .filter(|file| !file.components().any(|part| part.as_os_str() == "tests"));
    for file in files {
        for comment in comments(&fs::read_to_string(&file).unwrap()) {
            read += 1;
            let begins = |sentence: &&str| RIDDLES.iter().any(|word| opens(sentence, word));
            let found = sentences(&comment).find(begins).map(str::to_owned);
            riddles.extend(found.map(|text| format!("{}: {text}", file.display())));
        }
    }
    assert!(read > 2_000, "the comments were not found: {read}");
    assert!(
        riddles.is_empty(),
        "name the subject instead of beginning with one of {RIDDLES:?}:\n{}",
        riddles.join("\n")
    );
}

/// Words that hide the subject of a sentence.
const RIDDLES: [&str; 7] = ["False", "Nothing", "That which", "True", "What", "Who", "Whoever"];

/// Returns the text of each block of comment lines in a source file.
fn comments(source: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    for line in source.lines() {
        let text = line.trim_start().strip_prefix("//");
        let text = text.map(|text| text.trim_start_matches(['/', '!']).trim());
        match (text, blocks.last_mut()) {
            (Some(text), Some(block)) => block.extend([text, " "]),
            _ => blocks.push(String::new()),
        }
    }
    blocks.retain(|block| !block.trim().is_empty());
    blocks
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(". ").flat_map(|part| part.split(": ")).map(str::trim)
}

/// Whether a sentence begins with this word, and not only with its letters.
fn opens(sentence: &str, word: &str) -> bool {
    sentence.strip_prefix(word).is_some_and(|rest| rest.starts_with(' '))
}
