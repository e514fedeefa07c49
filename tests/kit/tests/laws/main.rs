//! The laws of the structure, checked in the manifests, the lock file and the sources: which crate
//! may depend on which. Imports inside a crate are in `imports`, the locks of a turn in `locks`,
//! the guides in `documents`. A broken law fails with its sentence.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod borders;
mod comments;
mod documents;
mod files;
mod floors;
mod imports;
mod locks;
mod packages;
mod packs;
mod shapes;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

const HTTP_CLIENTS: [&str; 5] = ["reqwest", "ureq", "isahc", "curl", "attohttpc"];

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns the direct, normal dependencies of a package from its manifest.
fn dependencies(manifest: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(manifest)
        .unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
    let mut section = String::new();
    let mut found = BTreeSet::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.to_owned();
            if let Some(name) = normal_table(&section) {
                found.insert(name.to_owned());
            }
        } else if is_normal(&section)
            && !line.starts_with('#')
            && let Some((name, _)) = line.split_once('=')
        {
            found.insert(
                name.trim().split('.').next().unwrap_or_default().trim_matches('"').to_owned(),
            );
        }
    }
    found
}

fn is_normal(section: &str) -> bool {
    section == "dependencies"
        || (section.starts_with("target.") && section.ends_with(".dependencies"))
}

/// Returns the name in a heading such as `[dependencies.NAME]`.
fn normal_table(section: &str) -> Option<&str> {
    section.strip_prefix("dependencies.")
}

/// Returns every crate under `src-tauri/crates` with its direct dependencies.
fn rooms() -> BTreeMap<String, BTreeSet<String>> {
    let mut rooms = BTreeMap::new();
    for entry in fs::read_dir(root().join("src-tauri/crates")).unwrap() {
        let folder = entry.unwrap().path();
        if folder.join("Cargo.toml").exists() {
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            rooms.insert(name, dependencies(&folder.join("Cargo.toml")));
        }
    }
    assert!(rooms.len() > 8, "the rooms were not found: {rooms:?}");
    rooms
}

fn holders(
    rooms: &BTreeMap<String, BTreeSet<String>>,
    library: impl Fn(&str) -> bool,
) -> BTreeSet<String> {
    rooms
        .iter()
        .filter(|(_, deps)| deps.iter().any(|d| library(d)))
        .map(|(room, _)| room.clone())
        .collect()
}

#[track_caller]
fn only(allowed: &[&str], found: &BTreeSet<String>, law: &str) {
    let others: Vec<&String> =
        found.iter().filter(|room| !allowed.contains(&room.as_str())).collect();
    assert!(others.is_empty(), "{law}; broken by {others:?}");
}

#[test]
fn only_the_root_package_depends_on_tauri() {
    let is_tauri = |name: &str| {
        name == "tauri" || name.starts_with("tauri-") || name == "wry" || name == "tao"
    };
    only(&[], &holders(&rooms(), is_tauri), "only the root package depends on tauri");
    assert!(
        dependencies(&root().join("Cargo.toml")).contains("tauri"),
        "the manifest reader finds what is there"
    );
}

#[test]
fn only_store_and_audit_depend_on_rusqlite() {
    let found = holders(&rooms(), |name| name.starts_with("rusqlite") || name == "libsqlite3-sys");
    only(&["store", "audit"], &found, "only store and audit depend on rusqlite");
}

#[test]
fn batch_depends_on_no_crate_of_ours_and_only_store_and_audit_depend_on_batch() {
    let rooms = rooms();
    let known: Vec<&String> =
        rooms["batch"].iter().filter(|name| rooms.contains_key(*name)).collect();
    assert!(
        known.is_empty(),
        "batch knows neither messages nor a database; it depends on {known:?}"
    );
    only(
        &["store", "audit"],
        &holders(&rooms, |name| name == "batch"),
        "only store and audit write in batches",
    );
}

#[test]
fn a_crate_without_unsafe_code_forbids_unsafe_code() {
    let members = ["src-tauri/crates", "tools"]
        .iter()
        .flat_map(|folder| fs::read_dir(root().join(folder)).unwrap());
    let crates: Vec<PathBuf> = members
        .map(|entry| entry.unwrap().path())
        .filter(|folder| folder.join("src/lib.rs").exists())
        .collect();
    assert!(crates.len() > 15, "the crates were not found: {crates:?}");
    for folder in crates {
        let is_unsafe = |line: &str| {
            !line.trim_start().starts_with("//")
                && ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "#[unsafe("]
                    .iter()
                    .any(|word| line.contains(word))
        };
        // Programs and integration tests are crates of their own, so their files are not checked.
        let lib = folder.join("src");
        let needs_it = sources(&lib, &["rs"])
            .iter()
            .filter(|file| !file.starts_with(lib.join("bin")) && **file != lib.join("main.rs"))
            .any(|file| fs::read_to_string(file).unwrap().lines().any(is_unsafe));
        let forbids = fs::read_to_string(folder.join("src/lib.rs"))
            .unwrap()
            .contains("#![forbid(unsafe_code)]");
        assert!(
            needs_it != forbids,
            "a crate forbids unsafe code if it has none; {} does not keep to that",
            folder.display()
        );
    }
}

#[test]
fn code_gives_named_reasons_as_values_and_not_as_text() {
    let mut found = Vec::new();
    for file in ["src-tauri", "tools", "benches"]
        .iter()
        .flat_map(|folder| sources(&root().join(folder), &["rs"]))
    {
        let shown = file.strip_prefix(root()).unwrap().display().to_string();
        if shown.contains("/tests/") || shown.ends_with("tests.rs") {
            continue;
        }
        let text = without_tests(&fs::read_to_string(&file).unwrap());
        // Both functions take a reason as their first argument.
        for call in [".reason(", "::internal("] {
            let arguments = text.split(call).skip(1);
            let literals = arguments.filter_map(|rest| rest.trim_start().strip_prefix('"'));
            let texts = literals.filter_map(|rest| rest.split('"').next());
            let known = texts.filter(|text| contract::Reason::named(text).is_some());
            found.extend(known.map(|text| format!("{shown}: {text}")));
        }
    }
    assert!(found.is_empty(), "these reasons have a name in contract::Reason: {found:?}");
}

#[test]
fn no_code_compares_the_text_of_a_reason() {
    for file in ["src-tauri", "tools", "benches"]
        .iter()
        .flat_map(|folder| sources(&root().join(folder), &["rs"]))
    {
        let shown = file.strip_prefix(root()).unwrap().display().to_string();
        // The contract itself may compare the texts of reasons.
        if shown.contains("/tests/")
            || shown.ends_with("tests.rs")
            || shown.starts_with("src-tauri/crates/contract/")
        {
            continue;
        }
        for line in without_tests(&fs::read_to_string(&file).unwrap())
            .lines()
            .filter(|line| line.contains("reason_text()"))
        {
            let matches = line.contains("match ")
                || line.contains("matches!(")
                || line.contains("== Some(")
                || line.contains("!= Some(");
            assert!(
                !matches,
                "code that acts on a reason asks for a Reason; {shown} matches its text: {line}"
            );
        }
    }
}

#[test]
fn only_the_gateway_depends_on_shared_sessions_a_web_server_and_telemetry() {
    let rooms = rooms();
    only(
        &["shared-sessions"],
        &holders(&rooms, |name| name == "redis"),
        "only shared-sessions depends on redis",
    );
    let of_the_gateway = |name: &str| {
        ["axum", "hyper", "shared-sessions"].contains(&name) || name.contains("opentelemetry")
    };
    only(
        &["gateway"],
        &holders(&rooms, of_the_gateway),
        "only the gateway serves over HTTP, shares sessions and exports traces",
    );
}

#[test]
fn only_models_mcp_and_packs_have_an_http_client() {
    only(
        &["models", "mcp", "packs"],
        &holders(&rooms(), |name| HTTP_CLIENTS.contains(&name)),
        "only models, mcp and packs have an HTTP client",
    );
    // hyper is both a client and a server. The gateway uses only its server.
    only(
        &["models", "mcp", "packs", "gateway"],
        &holders(&rooms(), |name| name.starts_with("hyper")),
        "only the gateway serves with hyper",
    );
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    for line in manifest.lines().filter(|line| line.starts_with("hyper")) {
        assert!(!line.contains("client"), "hyper is there to serve: {line}");
    }
}

#[test]
fn only_models_and_mcp_check_certificates_and_only_through_trust() {
    let rooms = rooms();
    only(
        &["models", "mcp"],
        &holders(&rooms, |name| name == "trust"),
        "only models and mcp depend on trust",
    );
    let known: Vec<&String> =
        rooms["trust"].iter().filter(|name| rooms.contains_key(*name)).collect();
    assert_eq!(known, ["files"], "trust knows neither models nor servers");
    only(
        &["trust"],
        &holders(&rooms, |name| name == "rustls-platform-verifier"),
        "only trust reads the system's certificates",
    );
}

#[test]
fn the_gateway_depends_only_on_host_and_engine_for_turns() {
    let rooms = rooms();
    let known: Vec<&String> =
        rooms["gateway"].iter().filter(|name| rooms.contains_key(*name)).collect();
    let strangers: Vec<&&String> = known
        .iter()
        .filter(|name| {
            ![
                "contract",
                "engine",
                "files",
                "host",
                "language",
                "messages",
                "shared-sessions",
                "terminal",
            ]
            .contains(&name.as_str())
        })
        .collect();
    assert!(
        strangers.is_empty(),
        "the gateway knows no store, model or log; it depends on {strangers:?}"
    );
}

#[test]
fn contract_policy_redaction_and_language_have_no_io_dependencies() {
    let rooms = rooms();
    let io = [
        "tokio",
        "tokio-util",
        "async-std",
        "reqwest",
        "rusqlite",
        "axum",
        "rmcp",
        "libc",
        "tempfile",
        "keyring-core",
        "zbus",
    ];
    for room in ["contract", "policy", "redaction", "language", "questions"] {
        let found: Vec<&String> =
            rooms[room].iter().filter(|name| io.contains(&name.as_str())).collect();
        assert!(found.is_empty(), "{room} does no I/O; it depends on {found:?}");
        for file in sources(&root().join("src-tauri/crates").join(room).join("src"), &["rs"]) {
            let text = without_tests(&fs::read_to_string(&file).unwrap());
            for word in [
                "std::fs",
                "std::net",
                "std::process",
                "std::env",
                "SystemTime::now",
                "Utc::now",
                "Local::now",
            ] {
                assert!(!text.contains(word), "{room} does no I/O; {} says {word}", file.display());
            }
        }
    }
}

#[test]
fn language_depends_on_no_own_crate_except_contract() {
    let rooms = rooms();
    let known: Vec<&String> = rooms["language"]
        .iter()
        .filter(|name| rooms.contains_key(*name) && *name != "contract")
        .collect();
    assert!(known.is_empty(), "language knows words and dates alone; it depends on {known:?}");
}

#[test]
fn questions_depends_only_on_contract_analytics_and_language() {
    let rooms = rooms();
    let strangers: Vec<&String> = rooms["questions"]
        .iter()
        .filter(|name| rooms.contains_key(*name))
        .filter(|name| !["analytics", "contract", "language"].contains(&name.as_str()))
        .collect();
    assert!(
        strangers.is_empty(),
        "questions is general for every source; it depends on {strangers:?}"
    );
}

#[test]
fn the_engine_depends_on_no_store_provider_or_window() {
    let rooms = rooms();
    let names: BTreeSet<&str> = rooms.keys().map(String::as_str).collect();
    let known: Vec<&String> =
        rooms["engine"].iter().filter(|name| names.contains(name.as_str())).collect();
    let strangers: Vec<&&String> = known
        .iter()
        // `language` and `messages` are allowed, because both are pure: they compare values and
        // word sentences.
        .filter(|name| {
            !["contract", "language", "messages", "policy", "redaction"].contains(&name.as_str())
        })
        .collect();
    assert!(
        strangers.is_empty(),
        "the engine sees the world through its ports; it depends on {strangers:?}"
    );
}

#[test]
fn the_engine_reads_only_answers_from_which_known_keys_were_removed() {
    for file in sources(&root().join("src-tauri/crates/engine/src"), &["rs"]) {
        let shown = file.strip_prefix(root()).unwrap().display().to_string();
        let text = without_tests(&fs::read_to_string(&file).unwrap());
        let taken = text.lines().filter(|line| {
            line.contains("models.current(") && !line.trim_end().ends_with(".label()")
        });
        assert!(
            shown.ends_with("/turn/models.rs") || taken.count() == 0,
            "a model comes from `AnswerModels::choose`, which cuts known keys from its answers; {shown} takes one itself"
        );
    }
}

#[test]
fn only_the_engine_depends_on_redaction() {
    only(
        &["engine"],
        &holders(&rooms(), |name| name == "redaction"),
        "only the engine redacts, so no adapter can send what was not redacted",
    );
}

#[test]
fn no_file_outside_the_platform_folder_imports_tauri() {
    let ui = root().join("ui/src");
    for file in sources(&ui, &["ts", "js", "svelte"]) {
        if !file.starts_with(ui.join("platform")) {
            let text = fs::read_to_string(&file).unwrap();
            assert!(
                !text.contains("@tauri-apps/"),
                "only ui/src/platform imports @tauri-apps; {} does too",
                file.display()
            );
        }
    }
}

/// Returns files with one of the endings, except those that are built or downloaded.
pub(crate) fn sources(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut next = vec![folder.to_owned()];
    while let Some(folder) = next.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if !["target", "node_modules", "dist", ".git", "gen"].contains(&name.as_str()) {
                    next.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(&format!(".{ending}"))) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns a source file up to its unit tests.
pub(crate) fn without_tests(text: &str) -> String {
    text.split("#[cfg(test)]").next().unwrap_or_default().to_owned()
}
