//! The laws of the structure, read from the manifests, the lock file and the sources: which crate
//! may depend on what. Imports inside a crate are in `imports`, the locks of a turn in `locks`, the
//! guides in `documents`. A broken law fails with its sentence.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod comments;
mod documents;
mod imports;
mod locks;

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
fn batch_knows_no_room_and_only_store_and_audit_know_batch() {
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
fn a_crate_without_unsafe_code_forbids_it() {
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
        let needs_it = sources(&folder, &["rs"])
            .iter()
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
fn no_code_matches_the_text_of_a_reason() {
    for file in ["src-tauri", "tools", "benches"]
        .iter()
        .flat_map(|folder| sources(&root().join(folder), &["rs"]))
    {
        let shown = file.strip_prefix(root()).unwrap().display().to_string();
        // The contract itself compares texts.
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
fn only_store_depends_on_redis() {
    only(&["store"], &holders(&rooms(), |name| name == "redis"), "only store depends on redis");
}

#[test]
fn only_the_gateway_depends_on_axum() {
    only(
        &["gateway"],
        &holders(&rooms(), |name| name == "axum" || name == "hyper"),
        "only gateway depends on axum",
    );
}

#[test]
fn only_models_mcp_and_packs_have_an_http_client() {
    only(
        &["models", "mcp", "packs"],
        &holders(&rooms(), |name| HTTP_CLIENTS.contains(&name)),
        "only models, mcp and packs have an HTTP client",
    );
    // These are both; the gateway takes the server's half.
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
fn the_gateway_reaches_turns_through_host_and_engine_alone() {
    let rooms = rooms();
    let known: Vec<&String> =
        rooms["gateway"].iter().filter(|name| rooms.contains_key(*name)).collect();
    let strangers: Vec<&&String> = known
        .iter()
        .filter(|name| !["contract", "engine", "host", "language"].contains(&name.as_str()))
        .collect();
    assert!(
        strangers.is_empty(),
        "the gateway knows no store, model or log; it depends on {strangers:?}"
    );
}

#[test]
fn contract_policy_redaction_and_language_do_no_io() {
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
    for room in ["contract", "policy", "redaction", "language"] {
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
fn language_depends_on_no_crate_of_ours_but_contract() {
    let rooms = rooms();
    let known: Vec<&String> = rooms["language"]
        .iter()
        .filter(|name| rooms.contains_key(*name) && *name != "contract")
        .collect();
    assert!(known.is_empty(), "language knows words and dates alone; it depends on {known:?}");
}

#[test]
fn the_offline_model_knows_packs_by_their_manifests_alone() {
    let rooms = rooms();
    let known: Vec<&String> =
        rooms["offline"].iter().filter(|name| rooms.contains_key(*name)).collect();
    let strangers: Vec<&&String> = known
        .iter()
        .filter(|name| !["contract", "engine", "language"].contains(&name.as_str()))
        .collect();
    assert!(
        strangers.is_empty(),
        "the offline model knows no pack beyond its manifest; it depends on {strangers:?}"
    );
    let shipped: Vec<String> = fs::read_dir(root().join("tools"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|folder| manifest_id(&folder))
        .collect();
    assert!(shipped.len() > 1, "the packs that ship were not found: {shipped:?}");
    for file in sources(&root().join("src-tauri/crates/offline/src"), &["rs"]) {
        if file.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let text = without_tests(&fs::read_to_string(&file).unwrap());
        // Whole names between quotation marks: phrases of people may contain such a word.
        for id in &shipped {
            assert!(
                !text.contains(&format!("\"{id}\"")),
                "the offline model names no pack; {} names {id}",
                file.display()
            );
        }
    }
}

#[test]
fn the_offline_model_links_no_http_client() {
    let (rooms, packages) = (rooms(), locked());
    let mut reached = BTreeSet::new();
    let mut next = vec!["offline".to_owned()];
    while let Some(name) = next.pop() {
        if reached.insert(name.clone()) {
            // The lock file also lists what only tests of a crate of ours need.
            let found = rooms
                .get(&name)
                .or_else(|| packages.get(&name).map(|package| &package.dependencies));
            next.extend(found.into_iter().flatten().cloned());
        }
    }
    assert!(
        reached.contains("engine") && reached.contains("minijinja"),
        "the manifests and the lock file are read"
    );
    let clients: Vec<&String> = reached
        .iter()
        .filter(|name| HTTP_CLIENTS.contains(&name.as_str()) || name.starts_with("hyper"))
        .collect();
    assert!(clients.is_empty(), "the offline model links no HTTP client; it reaches {clients:?}");
}

/// The id of the pack in a folder.
fn manifest_id(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("pack.json")).ok()?;
    text.lines().find_map(|line| {
        Some(line.trim().strip_prefix("\"id\": \"")?.split('"').next()?.to_owned())
    })
}

#[test]
fn the_engine_names_no_store_provider_or_window() {
    let rooms = rooms();
    let names: BTreeSet<&str> = rooms.keys().map(String::as_str).collect();
    let known: Vec<&String> =
        rooms["engine"].iter().filter(|name| names.contains(name.as_str())).collect();
    let strangers: Vec<&&String> = known
        .iter()
        .filter(|name| !["contract", "policy", "redaction"].contains(&name.as_str()))
        .collect();
    assert!(
        strangers.is_empty(),
        "the engine sees the world through its ports; it depends on {strangers:?}"
    );
}

#[test]
fn only_the_engine_can_make_text_for_a_model() {
    only(
        &["engine"],
        &holders(&rooms(), |name| name == "redaction"),
        "only the engine redacts, so no adapter can send what was not redacted",
    );
}

#[test]
fn packs_that_ship_as_crates_know_no_room_but_contract_and_tabular() {
    let rooms = rooms();
    for pack in ["campaign-portfolio-pacing", "shop", "shop/adapter"] {
        let deps = dependencies(&root().join("tools").join(pack).join("Cargo.toml"));
        let known: Vec<&String> = deps
            .iter()
            .filter(|name| rooms.contains_key(*name) && *name != "contract" && *name != "tabular")
            .collect();
        assert!(
            known.is_empty(),
            "packs depend on contract and tabular only; {pack} depends on {known:?}"
        );
    }
}

/// Files outside the gateway's shop that name a shipped pack, with the reason.
const NAME_A_PACK: [(&str, &str); 1] =
    [("cli/src/commands.rs", "`csign shop-server` runs the demo shop's server")];

#[test]
fn only_the_gateways_shop_names_a_shipped_pack_or_its_tools() {
    let crates = ["shop", "shop-adapter", "campaign-portfolio-pacing"];
    only(
        &["cli", "gateway"],
        &holders(&rooms(), |name| crates.contains(&name)),
        "only cli (the demo server) and gateway depend on a shipped pack",
    );
    // The gateway's own folder is called like the crate `shop`, on which it does not depend.
    let mut names: Vec<String> =
        crates[1..].iter().map(|name| format!("{}::", name.replace('-', "_"))).collect();
    for pack in ["shop", "campaign-portfolio-pacing"] {
        let manifest =
            fs::read_to_string(root().join("tools").join(pack).join("pack.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        names.extend([format!("\"{pack}\""), format!("\"{pack}/"), format!("\"{pack}:")]);
        for tool in manifest["tools"]["tools"].as_array().unwrap() {
            let id = tool["id"].as_str().unwrap();
            names.extend([format!("\"{id}\""), format!("\"{}\"", model_name(id))]);
        }
    }
    assert!(names.iter().any(|name| name == "\"cart_add_item\""), "the tools were read: {names:?}");
    let rooms = root().join("src-tauri/crates");
    for file in sources(&rooms, &["rs"]) {
        let path = file.strip_prefix(&rooms).unwrap().to_string_lossy().into_owned();
        let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
        if is_test
            || path.starts_with("gateway/src/shop/")
            || NAME_A_PACK.iter().any(|(known, _)| *known == path)
        {
            continue;
        }
        let text = without_tests(&fs::read_to_string(&file).unwrap());
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let is_named = names.iter().any(|name| line.contains(name.as_str()));
            assert!(!is_named, "packs own what is theirs; {path} names a shipped pack: {line}");
        }
    }
}

/// The name that a model sees for a tool.
fn model_name(id: &str) -> String {
    let mut name = String::new();
    for letter in id.chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(if letter == '.' { '_' } else { letter.to_ascii_lowercase() });
    }
    name
}

#[test]
fn csign_links_no_webview() {
    let packages = locked();
    let mut reached = BTreeSet::new();
    let mut next = vec!["cli".to_owned()];
    while let Some(name) = next.pop() {
        if reached.insert(name.clone()) {
            next.extend(packages.get(&name).into_iter().flat_map(|p| p.dependencies.clone()));
        }
    }
    assert!(reached.contains("host") && reached.contains("rusqlite"), "the lock file is read");
    let windows: Vec<&String> = reached
        .iter()
        .filter(|name| {
            ["tauri", "wry", "tao", "gtk", "webkit2gtk", "webkit2gtk-sys"].contains(&name.as_str())
        })
        .collect();
    assert!(
        windows.is_empty(),
        "csign links no webview, so a server needs none; it reaches {windows:?}"
    );
}

#[test]
fn nothing_outside_the_platform_folder_imports_tauri() {
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

#[test]
fn fixed_advisories_stay_fixed() {
    let packages = locked();
    // The fault that each minimum version fixes: a remote page taken for a local one; markup that a
    // sanitiser let through; a rebound name that reached a local server; the WAL-reset race.
    for (name, floor) in [
        ("tauri", (2, 11, 1)),
        ("ammonia", (4, 1, 4)),
        ("rmcp", (1, 4, 0)),
        ("libsqlite3-sys", (0, 38, 0)),
    ] {
        let package =
            packages.get(name).unwrap_or_else(|| panic!("{name} is not in the lock file"));
        for version in &package.versions {
            assert!(number(version) >= floor, "{name} {version} is older than {floor:?}");
        }
    }
}

#[test]
fn one_version_each_of_the_libraries_that_must_not_double() {
    let packages = locked();
    for name in ["reqwest", "rustls", "rusqlite", "zbus"] {
        let versions = &packages
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not in the lock file"))
            .versions;
        assert_eq!(versions.len(), 1, "{name}: {versions:?}");
    }
}

#[test]
fn no_registry_is_named_outside_lock_files() {
    let hosts = [
        ["registry.npmjs", ".org"],
        ["static.crates", ".io"],
        ["index.crates", ".io"],
        ["registry.yarnpkg", ".com"],
    ]
    .map(|p| p.concat());
    for file in sources(
        &root(),
        &["rs", "ts", "js", "json", "toml", "svelte", "md", "sh", "npmrc", "yml", "yaml", "html"],
    ) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with("-lock.json") || file.strip_prefix(root().join("tests/data")).is_ok() {
            continue;
        }
        let Ok(text) = fs::read_to_string(&file) else { continue };
        for host in &hosts {
            assert!(!text.contains(host.as_str()), "{} names the registry {host}", file.display());
        }
    }
    for folder in ["ui", "tests/mcp"] {
        let lock = fs::read_to_string(root().join(folder).join("package-lock.json")).unwrap();
        assert!(
            !lock.contains("\"resolved\": \"http"),
            "the npm lock file of {folder} holds no registry address"
        );
    }
}

struct Package {
    versions: Vec<String>,
    dependencies: BTreeSet<String>,
}

/// Returns the packages of Cargo.lock by name. Versions of one name are joined.
fn locked() -> BTreeMap<String, Package> {
    let text = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let mut packages = BTreeMap::<String, Package>::new();
    for block in text.split("[[package]]").skip(1) {
        let value = |key: &str| {
            block.lines().find_map(|l| {
                l.strip_prefix(&format!("{key} = \""))?.strip_suffix('"').map(str::to_owned)
            })
        };
        let (Some(name), Some(version)) = (value("name"), value("version")) else { continue };
        let listed = block
            .split_once("dependencies = [")
            .and_then(|(_, rest)| rest.split_once(']'))
            .map_or("", |(list, _)| list);
        let names =
            listed.split(',').filter_map(|entry| entry.trim().trim_matches('"').split(' ').next());
        let package = packages
            .entry(name)
            .or_insert_with(|| Package { versions: Vec::new(), dependencies: BTreeSet::new() });
        package.versions.push(version);
        package.dependencies.extend(names.filter(|n| !n.is_empty()).map(str::to_owned));
    }
    packages
}

fn number(version: &str) -> (u64, u64, u64) {
    let mut parts = version.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0), parts.next().unwrap_or(0))
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
