//! The guides name only paths and tests that exist, ARCHITECTURE.md stays short, and public items are
//! documented.

use std::{collections::BTreeSet, fs, path::PathBuf};

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
    // A name with `*` stands for all tests with this beginning. A single word stands for a module
    // of tests.
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

/// Fails if a document names a test that does not exist, or names fewer tests than expected.
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
fn architecture_md_has_at_most_16_000_bytes() {
    let length = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap().len();
    assert!(
        length <= 16_000,
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
        let is_missing = |path: &&String| find_in_the_tree(path).is_none();
        let missing: Vec<&String> = named.iter().filter(is_missing).collect();
        assert!(missing.is_empty(), "{document} names paths that do not exist: {missing:?}");
    }
}

/// Whether code in a document is a path: it has a slash or the ending of a source file, and is not
/// a command.
fn is_path(word: &str) -> bool {
    let ends = [".rs", ".ts", ".svelte", ".md", ".json", ".toml"]
        .iter()
        .any(|ending| word.ends_with(*ending));
    (word.contains('/') || ends)
        && !word.contains(char::is_whitespace)
        && !word.starts_with(['/', '.', '-'])
}

/// Expands braces: `{en,sv}` stands for two paths.
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

/// Returns the file or folder that a document means. A path may leave out `src-tauri/`,
/// `src-tauri/crates/`, and the folder `src` of a crate. `NAME`, `PACK`, `AREA`, `LANG` and `*`
/// stand for any name. Of a path with such a word, the part before the word must exist.
fn find_in_the_tree(path: &str) -> Option<PathBuf> {
    let is_any =
        |part: &&str| ["NAME", "PACK", "AREA", "LANG", "*"].iter().any(|any| part.contains(*any));
    let known = path.split('/').take_while(|part| !is_any(part)).collect::<Vec<_>>().join("/");
    let (first, rest) = known.split_once('/').unwrap_or((known.as_str(), ""));
    let crates = root().join("src-tauri/crates");
    [
        root().join(&known),
        root().join("src-tauri").join(&known),
        crates.join(&known),
        crates.join(first).join("src").join(rest),
    ]
    .into_iter()
    .find(|path| path.exists())
}

#[test]
fn every_function_that_architecture_md_names_is_in_the_named_file() {
    assert_eq!(
        named_functions(
            "`a.rs` `read` and `write` call `c.rs`; `open` in `d.rs` waits; `end` ends."
        ),
        [("read", Some("a.rs")), ("write", Some("a.rs")), ("open", Some("d.rs")), ("end", None)]
    );
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let steps = text.split("\n## ").skip(1).filter(|section| section.starts_with("A"));
    let named: Vec<_> = steps.flat_map(named_functions).collect();
    assert!(named.len() > 20, "the functions were not found: {named:?}");
    let is_there = |(name, path): &(&str, Option<&str>)| {
        path.and_then(find_in_the_tree).is_some_and(|file| {
            let code = fs::read_to_string(file).unwrap();
            ["fn ", "async "].iter().any(|word| {
                ["(", "<"].iter().any(|end| code.contains(&format!("{word}{name}{end}")))
            })
        })
    };
    let missing: Vec<_> = named.iter().filter(|function| !is_there(function)).collect();
    assert!(
        missing.is_empty(),
        "the steps in ARCHITECTURE.md name only functions as code, each with the file that has it; \
         these are not there: {missing:?}"
    );
}

/// Returns the functions that a text names, each with its file: the path directly before it, or the
/// path after "in".
fn named_functions(text: &str) -> Vec<(&str, Option<&str>)> {
    let pieces: Vec<&str> = text.split('`').collect();
    let piece = |at: usize| pieces.get(at).copied().unwrap_or_default();
    let (mut newest, mut found) = (None, Vec::new());
    for at in (1..pieces.len()).step_by(2) {
        let code = piece(at);
        if is_path(code) {
            newest = Some(code);
        } else if code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
            let follows = ["", ",", "and", "or"].contains(&piece(at - 1).trim());
            let is_behind = piece(at + 1).trim() == "in";
            let file = if is_behind { Some(piece(at + 2)) } else { newest.filter(|_| follows) };
            found.push((code, file));
        }
    }
    found
}

#[test]
fn crates_with_a_public_interface_document_every_item() {
    for name in ["audit", "contract", "engine", "policy", "redaction"] {
        let file = root().join("src-tauri/crates").join(name).join("src/lib.rs");
        assert!(
            fs::read_to_string(&file).unwrap().contains("#![warn(missing_docs)]"),
            "{} documents every public item; clippy makes the warning an error",
            file.display()
        );
    }
}
