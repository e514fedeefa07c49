//! Files that others named, and files of the profile, are opened through the crate `files`, which
//! refuses pipes, sockets and devices, does not wait, and limits the size. Every other place that
//! opens a file is listed here with its reason, so that a new place needs a decision.

use std::{collections::BTreeSet, fs};

use crate::{root, sources, without_tests};

/// The ways to open a file by its name with the standard library or with SQLite.
const OPENS: [&str; 8] = [
    "fs::read(",
    "fs::read_to_string(",
    "fs::copy(",
    "File::open(",
    "OpenOptions::new().read(true)",
    "open_workbook(",
    "fs::write(",
    "File::create(",
];

/// Files of the sources that may open files themselves, with the reason.
const OWN: [(&str, &str); 8] = [
    ("src-tauri/crates/files/src/lib.rs", "the one place"),
    ("src-tauri/crates/guard/src/answering.rs", "the kernel's files"),
    ("src-tauri/crates/guard/src/lineage.rs", "the kernel's files"),
    ("src-tauri/crates/guard/src/lib.rs", "the kernel's files"),
    ("src-tauri/crates/mcp/src/hide/consoles.rs", "the kernel's files"),
    ("src-tauri/crates/messages/build.rs", "reads the tree when it is built"),
    ("src-tauri/crates/packs/src/scaffold.rs", "writes into a folder that it has made"),
    ("tools/shop/adapter/build.rs", "reads the tree when it is built"),
];

#[test]
fn files_named_by_others_are_opened_only_by_the_files_crate() {
    let mut found = BTreeSet::new();
    for folder in ["src-tauri", "tools"] {
        for file in sources(&root().join(folder), &["rs"]) {
            let name = file.strip_prefix(root()).unwrap().display().to_string();
            let is_test = name.contains("/tests/") || name.ends_with("tests.rs");
            let text = without_tests(&fs::read_to_string(&file).unwrap());
            let opens = |line: &str| {
                !line.trim_start().starts_with("//")
                    && OPENS.iter().any(|call| {
                        line.match_indices(call).any(|(at, _)| {
                            !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
                        })
                    })
            };
            if !is_test && text.lines().any(opens) {
                found.insert(name);
            }
        }
    }
    let own: BTreeSet<String> = OWN.iter().map(|(file, _)| (*file).to_owned()).collect();
    let new: Vec<_> = found.difference(&own).collect();
    assert!(
        new.is_empty(),
        "open these files with the crate `files`, or say here why not: {new:?}"
    );
    let gone: Vec<_> = own.difference(&found).collect();
    assert!(gone.is_empty(), "these open no file any more: {gone:?}");
}
