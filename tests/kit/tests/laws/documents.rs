//! The guides name only paths and tests that exist, ARCHITECTURE.md stays short, and no sentence of a
//! comment begins like a riddle.

use std::{collections::BTreeSet, fs};

use crate::{root, sources};

#[test]
fn every_test_of_the_conformance_table_exists() {
    let table = fs::read_to_string(root().join("docs/CONFORMANCE.md")).unwrap();
    let tests = |line: &str| {
        line.split('|')
            .nth(3)
            .map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>())
            .unwrap_or_default()
    };
    let named: BTreeSet<String> =
        table.lines().filter(|line| line.starts_with("| ")).flat_map(tests).collect();
    assert!(named.len() > 20, "the table is read: {named:?}");
    let code: String =
        sources(&root(), &["rs"]).iter().filter_map(|file| fs::read_to_string(file).ok()).collect();
    // A test, all tests with the same beginning, or their module.
    let is_there = |name: &str| match name.strip_suffix('*') {
        Some(beginning) => code.contains(&format!("fn {beginning}")),
        None => code.contains(&format!("fn {name}(")) || code.contains(&format!("mod {name};")),
    };
    let missing: Vec<&String> = named.iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "docs/CONFORMANCE.md names tests that do not exist: {missing:?}");
}

#[test]
fn every_test_that_security_md_names_exists() {
    check_named_tests("SECURITY.md", 30);
}

#[test]
fn every_test_that_architecture_md_names_exists() {
    check_named_tests("ARCHITECTURE.md", 10);
}

/// Fails if a document names a test that does not exist, or fewer tests than expected.
fn check_named_tests(document: &str, least: usize) {
    let text = fs::read_to_string(root().join(document)).unwrap();
    // The name of a test is a sentence. Other code in the document has fewer words.
    let is_test = |word: &&str| {
        word.matches('_').count() >= 3
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    let named: BTreeSet<&str> = text.split('`').skip(1).step_by(2).filter(is_test).collect();
    assert!(named.len() > least, "the names were not found: {named:?}");
    let code: Vec<String> =
        sources(&root(), &["rs"]).iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let exists = |name: &str| code.iter().any(|text| text.contains(&format!("fn {name}(")));
    let missing: Vec<&&str> = named.iter().filter(|name| !exists(name)).collect();
    assert!(missing.is_empty(), "{document} names tests that do not exist: {missing:?}");
}

#[test]
fn architecture_md_has_at_most_12_000_bytes() {
    let length = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap().len();
    assert!(
        length <= 12_000,
        "ARCHITECTURE.md has {length} bytes; details belong in docs/internals.md"
    );
}

#[test]
fn every_path_that_the_guides_name_exists() {
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let named: BTreeSet<String> = text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|word| is_path(word))
            .flat_map(without_braces)
            .collect();
        assert!(named.len() > 30, "{document}: the paths were not found: {named:?}");
        let missing: Vec<&String> = named.iter().filter(|path| !is_in_the_tree(path)).collect();
        assert!(missing.is_empty(), "{document} names paths that do not exist: {missing:?}");
    }
}

/// Whether code in a document is a path: it has a slash or the ending of a source file, and is no
/// command.
fn is_path(word: &str) -> bool {
    let ends = [".rs", ".ts", ".svelte", ".md", ".json", ".toml"]
        .iter()
        .any(|ending| word.ends_with(*ending));
    (word.contains('/') || ends)
        && !word.contains(char::is_whitespace)
        && !word.starts_with(['/', '.', '-'])
}

/// `{en,sv}` names two paths.
fn without_braces(path: &str) -> Vec<String> {
    let parts = path
        .split_once('{')
        .and_then(|(before, rest)| rest.split_once('}').map(|(list, after)| (before, list, after)));
    match parts {
        Some((before, list, after)) => {
            list.split(',').map(|one| format!("{before}{one}{after}")).collect()
        }
        None => vec![path.to_owned()],
    }
}

/// A path may leave out `src-tauri/`, `src-tauri/crates/`, and the folder `src` of a crate. `NAME`,
/// `PACK`, `AREA` and `*` stand for any name; of such a path the part before them is checked.
fn is_in_the_tree(path: &str) -> bool {
    let is_any = |part: &&str| ["NAME", "PACK", "AREA", "*"].iter().any(|any| part.contains(*any));
    let known = path.split('/').take_while(|part| !is_any(part)).collect::<Vec<_>>().join("/");
    let (first, rest) = known.split_once('/').unwrap_or((known.as_str(), ""));
    let crates = root().join("src-tauri/crates");
    [
        root().join(&known),
        root().join("src-tauri").join(&known),
        crates.join(&known),
        crates.join(first).join("src").join(rest),
    ]
    .iter()
    .any(|path| path.exists())
}

#[test]
fn no_sentence_of_a_comment_begins_like_a_riddle() {
    let mut riddles = Vec::new();
    let mut read = 0;
    for name in ["engine", "gateway", "host", "language", "offline"] {
        for file in sources(&root().join("src-tauri/crates").join(name).join("src"), &["rs"]) {
            for comment in comments(&fs::read_to_string(&file).unwrap()) {
                read += 1;
                let begins = |sentence: &&str| RIDDLES.iter().any(|word| opens(sentence, word));
                let found = sentences(&comment).find(begins).map(str::to_owned);
                riddles.extend(found.map(|text| format!("{}: {text}", file.display())));
            }
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
