//! Files that somebody else named or wrote are opened through the crate `files`, which refuses pipes,
//! sockets and devices and has a bound. Everything else that opens a file for reading is listed here
//! with its reason, so that a new place has to choose.

use std::{collections::BTreeSet, fs};

use crate::{root, sources, without_tests};

/// How a file is opened for reading with the standard library.
const OPENS: [&str; 6] = [
    "fs::read(",
    "fs::read_to_string(",
    "fs::copy(",
    "File::open(",
    "OpenOptions::new().read(true)",
    "open_workbook(",
];

/// Files of the sources that may open files themselves, with the reason.
const OWN: [(&str, &str); 20] = [
    ("src-tauri/crates/files/src/lib.rs", "the one place"),
    ("src-tauri/crates/audit/src/anchor.rs", "marks in the state folder, which the host writes"),
    ("src-tauri/crates/audit/src/export/attested.rs", "answers that the host stored"),
    ("src-tauri/crates/audit/src/schema.rs", "looks at the kind of the file itself"),
    ("src-tauri/crates/audit/src/verify/physical.rs", "a log whose kind was checked before"),
    ("src-tauri/crates/gateway/src/http/auth.rs", "the gateway's token, which it wrote"),
    ("src-tauri/crates/guard/src/lineage.rs", "the kernel's files"),
    ("src-tauri/crates/guard/src/lib.rs", "the kernel's files"),
    ("src-tauri/crates/host/src/attest.rs", "answers that the host stored"),
    ("src-tauri/crates/host/src/client.rs", "the socket's token, which the host wrote"),
    ("src-tauri/crates/host/src/definitions.rs", "definitions that the host stored"),
    ("src-tauri/crates/host/src/host.rs", "the folder's id, which the host wrote"),
    ("src-tauri/crates/host/src/ledger.rs", "entries that the host stored"),
    ("src-tauri/crates/host/src/opening.rs", "the folder's id, which the host wrote"),
    ("src-tauri/crates/host/src/own_servers/storage.rs", "servers that the host stored"),
    ("src-tauri/crates/host/src/paths.rs", "folders, to flush them"),
    ("src-tauri/crates/host/src/profile.rs", "keeps a settings file whose kind was checked"),
    ("src-tauri/crates/store/src/files.rs", "the store's own files"),
    ("src-tauri/crates/store/src/recover.rs", "the store's own files"),
    ("src-tauri/crates/store/src/other.rs", "the store's own files"),
];

#[test]
fn files_that_others_name_are_opened_in_one_place() {
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
