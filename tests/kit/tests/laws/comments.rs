//! No sentence of a comment, and no name of a test, hides its subject behind a word such as "what" or
//! "whoever". Names of tests for a rule of a contract begin with the contract.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{root, sources};

#[test]
fn no_sentence_of_a_comment_begins_with_a_word_that_hides_its_subject() {
    let mut riddles = Vec::new();
    let mut read = 0;
    for file in commented_files() {
        for comment in comments(&file, &fs::read_to_string(&file).unwrap()) {
            read += 1;
            let begins = |sentence: &&str| RIDDLES.iter().any(|word| opens(sentence, word));
            let found = sentences(&comment).find(begins).map(str::to_owned);
            riddles.extend(found.map(|text| format!("{}: {text}", file.display())));
        }
    }
    assert!(read > 4_000, "the comments were not found: {read}");
    assert!(
        riddles.is_empty(),
        "name the subject instead of beginning with one of {RIDDLES:?}:\n{}",
        riddles.join("\n")
    );
}

#[test]
fn test_names_start_with_their_subject_or_their_contract() {
    let mut wrong = Vec::new();
    let mut read = 0;
    for file in sources(&root(), &["rs"]) {
        for name in names_of_tests(&fs::read_to_string(&file).unwrap()) {
            read += 1;
            let is_riddle = |word: &&str| {
                without_section(&name).starts_with(&format!("{}_", word.to_lowercase()))
            };
            let is_without_contract = name.strip_prefix("section_").is_some_and(begins_with_digit)
                || name.strip_prefix('s').is_some_and(begins_with_digit);
            if is_without_contract || RIDDLES.iter().any(is_riddle) {
                wrong.push(format!("{}: {name}", file.display()));
            }
        }
    }
    assert!(read > 2_000, "the tests were not found: {read}");
    assert!(
        wrong.is_empty(),
        "begin with the subject, or with the contract (such as `chat_api_11_`) and then the subject:\n{}",
        wrong.join("\n")
    );
}

/// Words that hide the subject of a sentence.
const RIDDLES: [&str; 9] =
    ["False", "Nothing", "That which", "True", "What", "Whatever", "Who", "Whoever", "Whose"];

/// The contracts that names of tests begin with.
const CONTRACTS: [&str; 4] = ["agent_run_", "chat_api_", "decision_", "instructions_"];

/// Files whose comments explain something. Recorded data and other people's code are not among them.
fn commented_files() -> Vec<PathBuf> {
    let code = ["src-tauri", "tools"]
        .into_iter()
        .flat_map(|folder| sources(&root().join(folder), &["rs", "sql", "toml"]))
        .filter(|file| !file.components().any(|part| part.as_os_str() == "tests"));
    let pages = sources(&root().join("ui"), &["ts", "js", "svelte", "css"]);
    let around = ["Makefile", "Cargo.toml", "deny.toml"].map(|name| root().join(name));
    let scripts = sources(&root().join("scripts"), &["sh"]);
    code.chain(pages).chain(around).chain(scripts).collect()
}

/// Returns the text of each comment of a file: of each block of comment lines, and of each comment
/// between two marks.
fn comments(file: &Path, source: &str) -> Vec<String> {
    let ending = file.extension().unwrap_or_default().to_string_lossy();
    let (line_mark, between): (&str, &[(&str, &str)]) = match &*ending {
        "rs" => ("//", &[]),
        "sql" => ("--", &[]),
        "ts" | "js" | "css" => ("//", &[("/*", "*/")]),
        "svelte" => ("//", &[("/*", "*/"), ("<!--", "-->")]),
        _ => ("#", &[]),
    };
    let mut blocks = vec![String::new()];
    for line in source.lines() {
        let text = line.trim_start().strip_prefix(line_mark);
        let text = text.map(|text| text.trim_start_matches(['/', '!']).trim());
        match (text, blocks.last_mut()) {
            (Some(text), Some(block)) => block.extend([text, " "]),
            _ => blocks.push(String::new()),
        }
    }
    for (open, close) in between {
        let ends = |part: &str| part.split_once(close).map(|(text, _)| joined_lines(text));
        blocks.extend(source.split(open).skip(1).filter_map(ends));
    }
    blocks.retain(|block| !block.trim().is_empty());
    blocks
}

/// Joins the lines of a comment, without the stars at their beginning.
fn joined_lines(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim().trim_start_matches('*').trim());
    lines.collect::<Vec<_>>().join(" ").trim().to_owned()
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(". ").flat_map(|part| part.split(": ")).map(str::trim)
}

/// Whether a sentence begins with this word, and not only with its letters.
fn opens(sentence: &str, word: &str) -> bool {
    sentence.strip_prefix(word).is_some_and(|rest| rest.starts_with(' '))
}

/// Returns the names of the functions that stand below a line `#[test]` or `#[tokio::test…]`.
fn names_of_tests(source: &str) -> Vec<String> {
    let mut is_test = false;
    let mut names = Vec::new();
    for line in source.lines().map(str::trim) {
        is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        let name = line.trim_start_matches("async ").strip_prefix("fn ");
        if let Some((name, _)) = name.filter(|_| is_test).and_then(|rest| rest.split_once('(')) {
            names.push(name.to_owned());
            is_test = false;
        }
    }
    names
}

/// Removes the contract and the sections from a name, as in `chat_api_9_and_22_16_`.
fn without_section(name: &str) -> &str {
    let rest = CONTRACTS.iter().find_map(|contract| name.strip_prefix(contract));
    rest.map_or(name, |rest| {
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
        match rest.strip_prefix("and_") {
            Some(more) if begins_with_digit(more) => {
                more.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_')
            }
            _ => rest,
        }
    })
}

fn begins_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

#[test]
fn comments_and_test_names_are_found_in_every_kind_of_file() {
    let found = |name: &str, source: &str| comments(Path::new(name), source);
    assert_eq!(found("a.rs", "/// One\n/// two.\nfn a() {} // beside\n"), ["One two. "]);
    assert_eq!(found("a.sql", "-- One\nCREATE;\n    -- two\n"), ["One ", "two "]);
    assert_eq!(found("Makefile", "# One\nall:\n\ttrue\n"), ["One "]);
    assert_eq!(found("a.ts", "/**\n * One\n * two.\n */\n// three\n"), ["three ", "One two."]);
    assert_eq!(found("a.svelte", "<!-- One\n  two. -->\n<p>x</p>\n"), ["One two."]);
    assert_eq!(without_section("chat_api_9_and_22_16_what_is"), "what_is");
    assert_eq!(without_section("chat_api_9_and_so_on"), "and_so_on");
    let tests = "#[test]\nfn a_b() {}\nfn c() {}\n#[tokio::test(x)]\nasync fn d() {}\n";
    assert_eq!(names_of_tests(tests), ["a_b", "d"]);
}
