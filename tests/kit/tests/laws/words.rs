//! The law of words: texts for people are in the folder `messages` and in the packs, and code names
//! them by their keys. Swedish words are recognised by their letters.

use std::fs;

use crate::{root, sources, without_tests};

/// Code that reads texts of people or files in any language. Its words are not texts for people.
const READS: [&str; 12] = [
    "src-tauri/crates/contract/src/amounts.rs",
    // Texts with which the similarity of unrelated texts is measured.
    "src-tauri/crates/engine/src/long_term/calibration.rs",
    "src-tauri/crates/gateway/src/chat/preflight.rs",
    "src-tauri/crates/language/src/",
    "src-tauri/crates/offline/src/social.rs",
    "src-tauri/crates/redaction/src/patterns/keys.rs",
    "src-tauri/crates/tabular/src/table/cells/month.rs",
    "src-tauri/crates/tabular/src/table/titles.rs",
    "src-tauri/crates/tabular/src/table/words",
    "tools/shop/adapter/src/search/simplify.rs",
    // The demo shop acts as another company's server, whose goods have names in two languages.
    "tools/shop/src/",
    "ui/src/packs/shop/compare.ts",
];

#[test]
fn no_code_contains_swedish_texts_for_people() {
    let mut read = 0;
    for folder in ["src-tauri", "tools", "ui/src"] {
        for file in sources(&root().join(folder), &["rs", "svelte", "ts"]) {
            let path = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            let is_test = path.contains("/tests/")
                || path.ends_with("tests.rs")
                || path.ends_with(".test.ts");
            if is_test || READS.iter().any(|known| path.starts_with(known)) {
                continue;
            }
            read += 1;
            let text = without_tests(&fs::read_to_string(&file).unwrap());
            for line in text.lines().filter(|line| !is_comment(line)) {
                assert!(
                    !line.contains(['å', 'ä', 'ö', 'Å', 'Ä', 'Ö']),
                    "texts for people belong in messages/LANG or in the pack's messages; {path} has one: {line}"
                );
            }
        }
    }
    assert!(read > 500, "the code was found: {read} files");
}

fn is_comment(line: &str) -> bool {
    ["//", "*", "<!--"].iter().any(|start| line.trim_start().starts_with(start))
}
