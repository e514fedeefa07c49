//! The promises of SECURITY.md about borders, as rules for all code: where configuration is read,
//! which code decides whose results are trusted, where redirects lead, and which code decides what
//! is old. The rules about opening files are in `files`.

use std::{collections::BTreeSet, fs};

use crate::{root, sources, without_tests};

/// Paths of a profile that the program writes but never reads as configuration.
const NO_CONFIGURATION: [&str; 6] =
    ["database", "audit", "audit_copy", "attestations", "piped_data", "pack_data"];

/// Other files that build a path in the data folder, with the reason.
const OWN_PATHS: [(&str, &str); 3] = [
    ("src-tauri/crates/host/src/packs/database_checks.rs", "databases of packs"),
    ("src-tauri/crates/host/src/commands/doctor.rs", "tries whether the folder can be written"),
    ("src-tauri/crates/terminal/src/log.rs", "writes the app's own log"),
];

/// Files that delete by a stored time, with the file that passes them the agreed moment.
const BY_AGE: [(&str, &str); 2] = [
    ("src-tauri/crates/store/src/table/books.rs", "host/log/retention.rs gives the agreed moment"),
    ("tools/shop/src/cart.rs", "asks the judge itself"),
];

/// Returns the sources of the programs without their tests, by path.
fn code() -> Vec<(String, String)> {
    let folders = ["src-tauri", "tools"].map(|folder| root().join(folder));
    let files = folders.iter().flat_map(|folder| sources(folder, &["rs"]));
    files
        .map(|file| {
            let name = file.strip_prefix(root()).unwrap().display().to_string();
            (name, without_tests(&fs::read_to_string(file).unwrap()))
        })
        .filter(|(name, _)| !name.contains("/tests/") && !name.ends_with("tests.rs"))
        .collect()
}

fn is_code(line: &&str) -> bool {
    !line.trim_start().starts_with("//")
}

/// Returns the files in which `fits` is true for a line of code.
fn files_with(fits: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let has = |text: &str| text.lines().filter(is_code).any(&fits);
    code().into_iter().filter(|(_, text)| has(text)).map(|(name, _)| name).collect()
}

#[track_caller]
fn only(found: &BTreeSet<String>, known: &[(&str, &str)], law: &str) {
    let known: BTreeSet<String> = known.iter().map(|(file, _)| (*file).to_owned()).collect();
    let new: Vec<_> = found.difference(&known).collect();
    assert!(new.is_empty(), "{law}; broken by {new:?}");
    let gone: Vec<_> = known.difference(found).collect();
    assert!(gone.is_empty(), "{law}; these need no exception any more: {gone:?}");
}

#[test]
fn each_profile_path_is_listed_as_configuration_or_as_not_configuration() {
    let text =
        fs::read_to_string(root().join("src-tauri/crates/host/src/profile/paths.rs")).unwrap();
    let text = without_tests(&text);
    let listed = text.split("pub fn configuration").nth(1).unwrap();
    let listed = &listed[..listed.find("]").unwrap()];
    let own = text.split("impl Paths {").nth(1).unwrap();
    let own = &own[..own.find("\n}\n").unwrap()];
    let named: Vec<&str> = own
        .split("fn ")
        .skip(1)
        .filter(|rest| rest.split('{').next().unwrap().contains("(&self"))
        .filter(|rest| rest.split('{').next().unwrap().contains("-> PathBuf"))
        .map(|rest| rest.split('(').next().unwrap())
        .collect();
    assert!(named.len() > 10, "the paths are found: {named:?}");
    for name in named {
        assert_ne!(
            listed.contains(&format!("self.{name}()")),
            NO_CONFIGURATION.contains(&name),
            "the path {name} is either in `Paths::configuration`, which no server may write, or is \
             said here to be none"
        );
    }
}

#[test]
fn paths_in_the_data_folder_are_built_in_one_file() {
    let found = files_with(|line| {
        ["data.join(", "data_dir.join(", "data().join("].iter().any(|call| line.contains(call))
    });
    let mut found: BTreeSet<String> = found;
    assert!(
        found.remove("src-tauri/crates/host/src/profile/paths.rs"),
        "the paths are found: {found:?}"
    );
    only(&found, &OWN_PATHS, "a path in the data folder is a function of `Paths`");
}

#[test]
fn one_function_decides_whose_results_are_trusted() {
    let reads = |line: &str| line.contains(".output_trust") && !line.contains("output_trust: ");
    only(
        &files_with(reads),
        &[("src-tauri/crates/policy/src/lib.rs", "`returns_outside_content`")],
        "the word of a manifest about trust is read in one place, which believes it of code of the \
         app alone",
    );
    let port =
        fs::read_to_string(root().join("src-tauri/crates/engine/src/ports/tools.rs")).unwrap();
    let method = port.split("fn reads_files(").nth(1).unwrap();
    assert!(
        method.split(['{', ';']).next().unwrap().len() < 60 && method.contains("-> bool;"),
        "each implementation of `Tools` says itself whether results come from files"
    );
}

#[test]
fn each_http_client_limits_where_redirects_lead() {
    let mut clients = 0;
    for (name, text) in code() {
        let lines: Vec<&str> = text.lines().filter(is_code).collect();
        for (at, line) in lines.iter().enumerate() {
            assert!(
                !["reqwest::get(", "reqwest::Client::new(", "blocking::get("]
                    .iter()
                    .any(|call| line.contains(call)),
                "{name}: a client says where redirects lead: {line}"
            );
            if line.contains("Client::builder()") {
                clients += 1;
                let builds = lines[at..].iter().take(12);
                assert!(
                    builds.clone().any(|line| line.contains(".redirect(")),
                    "{name}: this client follows redirects, with what it sends and its keys"
                );
            }
            if line.contains(".with_http()") {
                assert!(
                    lines[at..].iter().take(3).any(|line| line.contains(".with_http_client(")),
                    "{name}: an exporter gets a client that follows no redirects"
                );
            }
        }
    }
    assert!(clients >= 5, "the clients are found: {clients}");
}

#[test]
fn deletions_by_age_use_the_time_of_the_clock_check() {
    let deletes = |line: &str| {
        line.contains("DELETE FROM")
            && line.split_once(" WHERE ").is_some_and(|(_, condition)| {
                condition.contains("_at <") || condition.contains("_at) <")
            })
    };
    only(
        &files_with(deletes),
        &BY_AGE,
        "what is deleted by its age is gone for good, so the moment comes from `contract::clock`",
    );
    // Only the judge passes the agreed moment, and only these files call the deletions.
    for call in ["erase_before(", "runs_forget(", "expire_set_aside("] {
        let users = files_with(|line| line.contains(&format!(".{call}")));
        only(
            &users,
            &[("src-tauri/crates/host/src/log/retention.rs", "judges by the log")],
            &format!("{call}) gets the agreed moment"),
        );
    }
}
