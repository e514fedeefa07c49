//! The laws of the house, read from the manifests, the lock file and the sources: which room may depend on what.
//! A broken law fails here with its sentence.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

const HTTP_CLIENTS: [&str; 5] = ["reqwest", "ureq", "isahc", "curl", "attohttpc"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns the direct, normal dependencies of a package from its manifest.
fn dependencies(manifest: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(manifest).unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
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
            found.insert(name.trim().split('.').next().unwrap_or_default().trim_matches('"').to_owned());
        }
    }
    found
}

fn is_normal(section: &str) -> bool {
    section == "dependencies" || (section.starts_with("target.") && section.ends_with(".dependencies"))
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

fn holders(rooms: &BTreeMap<String, BTreeSet<String>>, library: impl Fn(&str) -> bool) -> BTreeSet<String> {
    rooms.iter().filter(|(_, deps)| deps.iter().any(|d| library(d))).map(|(room, _)| room.clone()).collect()
}

#[track_caller]
fn only(allowed: &[&str], found: &BTreeSet<String>, law: &str) {
    let others: Vec<&String> = found.iter().filter(|room| !allowed.contains(&room.as_str())).collect();
    assert!(others.is_empty(), "{law}; broken by {others:?}");
}

#[test]
fn only_the_root_package_depends_on_tauri() {
    let is_tauri = |name: &str| name == "tauri" || name.starts_with("tauri-") || name == "wry" || name == "tao";
    only(&[], &holders(&rooms(), is_tauri), "only the root package depends on tauri");
    assert!(dependencies(&root().join("Cargo.toml")).contains("tauri"), "the manifest reader finds what is there");
}

#[test]
fn only_store_and_audit_depend_on_rusqlite() {
    let found = holders(&rooms(), |name| name.starts_with("rusqlite") || name == "libsqlite3-sys");
    only(&["store", "audit"], &found, "only store and audit depend on rusqlite");
}

#[test]
fn batch_knows_no_room_and_only_store_and_audit_know_batch() {
    let rooms = rooms();
    let known: Vec<&String> = rooms["batch"].iter().filter(|name| rooms.contains_key(*name)).collect();
    assert!(known.is_empty(), "batch knows neither messages nor a database; it depends on {known:?}");
    only(&["store", "audit"], &holders(&rooms, |name| name == "batch"), "only store and audit write in batches");
}

#[test]
fn a_crate_without_unsafe_code_forbids_it() {
    let members = ["src-tauri/crates", "tools"].iter().flat_map(|folder| fs::read_dir(root().join(folder)).unwrap());
    let crates: Vec<PathBuf> = members.map(|entry| entry.unwrap().path()).filter(|folder| folder.join("src/lib.rs").exists()).collect();
    assert!(crates.len() > 15, "the crates were not found: {crates:?}");
    for folder in crates {
        let is_unsafe = |line: &str| {
            !line.trim_start().starts_with("//")
                && ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "#[unsafe("].iter().any(|word| line.contains(word))
        };
        let needs_it = sources(&folder, &["rs"]).iter().any(|file| fs::read_to_string(file).unwrap().lines().any(is_unsafe));
        let forbids = fs::read_to_string(folder.join("src/lib.rs")).unwrap().contains("#![forbid(unsafe_code)]");
        assert!(needs_it != forbids, "a crate forbids unsafe code if it has none; {} does not keep to that", folder.display());
    }
}

#[test]
fn no_code_matches_the_text_of_a_reason() {
    for file in ["src-tauri", "tools", "benches"].iter().flat_map(|folder| sources(&root().join(folder), &["rs"])) {
        let shown = file.strip_prefix(root()).unwrap().display().to_string();
        // The contract itself compares texts.
        if shown.contains("/tests/") || shown.ends_with("tests.rs") || shown.starts_with("src-tauri/crates/contract/") {
            continue;
        }
        for line in without_tests(&fs::read_to_string(&file).unwrap()).lines().filter(|line| line.contains("reason_text()")) {
            let matches = line.contains("match ") || line.contains("matches!(") || line.contains("== Some(") || line.contains("!= Some(");
            assert!(!matches, "code that acts on a reason asks for a Reason; {shown} matches its text: {line}");
        }
    }
}

#[test]
fn only_store_depends_on_redis() {
    only(&["store"], &holders(&rooms(), |name| name == "redis"), "only store depends on redis");
}

#[test]
fn only_the_gateway_depends_on_axum() {
    only(&["gateway"], &holders(&rooms(), |name| name == "axum" || name == "hyper"), "only gateway depends on axum");
}

#[test]
fn only_models_mcp_and_packs_have_an_http_client() {
    only(&["models", "mcp", "packs"], &holders(&rooms(), |name| HTTP_CLIENTS.contains(&name)), "only models, mcp and packs have an HTTP client");
    // These are both; the gateway takes the server's half.
    only(&["models", "mcp", "packs", "gateway"], &holders(&rooms(), |name| name.starts_with("hyper")), "only the gateway serves with hyper");
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    for line in manifest.lines().filter(|line| line.starts_with("hyper")) {
        assert!(!line.contains("client"), "hyper is there to serve: {line}");
    }
}

#[test]
fn the_gateway_reaches_turns_through_host_and_engine_alone() {
    let rooms = rooms();
    let known: Vec<&String> = rooms["gateway"].iter().filter(|name| rooms.contains_key(*name)).collect();
    let strangers: Vec<&&String> = known.iter().filter(|name| !["contract", "engine", "host", "language"].contains(&name.as_str())).collect();
    assert!(strangers.is_empty(), "the gateway knows no store, model or log; it depends on {strangers:?}");
}

#[test]
fn contract_policy_redaction_and_language_do_no_io() {
    let rooms = rooms();
    let io = ["tokio", "tokio-util", "async-std", "reqwest", "rusqlite", "axum", "rmcp", "libc", "tempfile", "keyring-core", "zbus"];
    for room in ["contract", "policy", "redaction", "language"] {
        let found: Vec<&String> = rooms[room].iter().filter(|name| io.contains(&name.as_str())).collect();
        assert!(found.is_empty(), "{room} does no I/O; it depends on {found:?}");
        for file in sources(&root().join("src-tauri/crates").join(room).join("src"), &["rs"]) {
            let text = without_tests(&fs::read_to_string(&file).unwrap());
            for word in ["std::fs", "std::net", "std::process", "std::env", "SystemTime::now", "Utc::now", "Local::now"] {
                assert!(!text.contains(word), "{room} does no I/O; {} says {word}", file.display());
            }
        }
    }
}

#[test]
fn language_depends_on_no_crate_of_ours_but_contract() {
    let rooms = rooms();
    let known: Vec<&String> = rooms["language"].iter().filter(|name| rooms.contains_key(*name) && *name != "contract").collect();
    assert!(known.is_empty(), "language knows words and dates alone; it depends on {known:?}");
}

#[test]
fn the_offline_model_knows_packs_by_their_manifests_alone() {
    let rooms = rooms();
    let known: Vec<&String> = rooms["offline"].iter().filter(|name| rooms.contains_key(*name)).collect();
    let strangers: Vec<&&String> = known.iter().filter(|name| !["contract", "engine", "language"].contains(&name.as_str())).collect();
    assert!(strangers.is_empty(), "the offline model knows no pack beyond its manifest; it depends on {strangers:?}");
    let shipped: Vec<String> =
        fs::read_dir(root().join("tools")).unwrap().map(|entry| entry.unwrap().path()).filter_map(|folder| manifest_id(&folder)).collect();
    assert!(shipped.len() > 1, "the packs that ship were not found: {shipped:?}");
    for file in sources(&root().join("src-tauri/crates/offline/src"), &["rs"]) {
        if file.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let text = without_tests(&fs::read_to_string(&file).unwrap());
        // Whole names between quotation marks: phrases of people may contain such a word.
        for id in &shipped {
            assert!(!text.contains(&format!("\"{id}\"")), "the offline model names no pack; {} names {id}", file.display());
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
            let found = rooms.get(&name).or_else(|| packages.get(&name).map(|package| &package.dependencies));
            next.extend(found.into_iter().flatten().cloned());
        }
    }
    assert!(reached.contains("engine") && reached.contains("minijinja"), "the manifests and the lock file are read");
    let clients: Vec<&String> = reached.iter().filter(|name| HTTP_CLIENTS.contains(&name.as_str()) || name.starts_with("hyper")).collect();
    assert!(clients.is_empty(), "the offline model links no HTTP client; it reaches {clients:?}");
}

/// The id of the pack in a folder.
fn manifest_id(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("pack.json")).ok()?;
    text.lines().find_map(|line| Some(line.trim().strip_prefix("\"id\": \"")?.split('"').next()?.to_owned()))
}

#[test]
fn the_engine_names_no_store_provider_or_window() {
    let rooms = rooms();
    let names: BTreeSet<&str> = rooms.keys().map(String::as_str).collect();
    let known: Vec<&String> = rooms["engine"].iter().filter(|name| names.contains(name.as_str())).collect();
    let strangers: Vec<&&String> = known.iter().filter(|name| !["contract", "policy", "redaction"].contains(&name.as_str())).collect();
    assert!(strangers.is_empty(), "the engine sees the world through its ports; it depends on {strangers:?}");
}

#[test]
fn only_the_engine_can_make_text_for_a_model() {
    only(&["engine"], &holders(&rooms(), |name| name == "redaction"), "only the engine redacts, so no adapter can send what was not redacted");
}

#[test]
fn packs_that_ship_as_crates_know_no_room_but_contract() {
    let rooms = rooms();
    for pack in ["campaign-portfolio-pacing", "shop", "shop/adapter"] {
        let deps = dependencies(&root().join("tools").join(pack).join("Cargo.toml"));
        let known: Vec<&String> = deps.iter().filter(|name| rooms.contains_key(*name) && *name != "contract").collect();
        assert!(known.is_empty(), "packs depend on contract only; {pack} depends on {known:?}");
    }
}

/// Files outside the gateway's shop that name a shipped pack, with the reason.
const NAME_A_PACK: [(&str, &str); 1] = [("cli/src/commands.rs", "`csign shop-server` runs the demo shop's server")];

#[test]
fn only_the_gateways_shop_names_a_shipped_pack_or_its_tools() {
    let crates = ["shop", "shop-adapter", "campaign-portfolio-pacing"];
    only(&["cli", "gateway"], &holders(&rooms(), |name| crates.contains(&name)), "only cli (the demo server) and gateway depend on a shipped pack");
    // The gateway's own folder is called like the crate `shop`, on which it does not depend.
    let mut names: Vec<String> = crates[1..].iter().map(|name| format!("{}::", name.replace('-', "_"))).collect();
    for pack in ["shop", "campaign-portfolio-pacing"] {
        let manifest = fs::read_to_string(root().join("tools").join(pack).join("pack.json")).unwrap();
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
        if is_test || path.starts_with("gateway/src/shop/") || NAME_A_PACK.iter().any(|(known, _)| *known == path) {
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
    let windows: Vec<&String> = reached.iter().filter(|name| ["tauri", "wry", "tao", "gtk", "webkit2gtk", "webkit2gtk-sys"].contains(&name.as_str())).collect();
    assert!(windows.is_empty(), "csign links no webview, so a server needs none; it reaches {windows:?}");
}

#[test]
fn nothing_outside_the_platform_folder_imports_tauri() {
    let ui = root().join("ui/src");
    for file in sources(&ui, &["ts", "js", "svelte"]) {
        if !file.starts_with(ui.join("platform")) {
            let text = fs::read_to_string(&file).unwrap();
            assert!(!text.contains("@tauri-apps/"), "only ui/src/platform imports @tauri-apps; {} does too", file.display());
        }
    }
}

#[test]
fn fixed_advisories_stay_fixed() {
    let packages = locked();
    // The fault that each minimum version fixes: a remote page taken for a local one; markup that a
    // sanitiser let through; a rebound name that reached a local server; the WAL-reset race.
    for (name, floor) in [("tauri", (2, 11, 1)), ("ammonia", (4, 1, 4)), ("rmcp", (1, 4, 0)), ("libsqlite3-sys", (0, 38, 0))] {
        let package = packages.get(name).unwrap_or_else(|| panic!("{name} is not in the lock file"));
        for version in &package.versions {
            assert!(number(version) >= floor, "{name} {version} is older than {floor:?}");
        }
    }
}

#[test]
fn one_version_each_of_the_libraries_that_must_not_double() {
    let packages = locked();
    for name in ["reqwest", "rustls", "rusqlite", "zbus"] {
        let versions = &packages.get(name).unwrap_or_else(|| panic!("{name} is not in the lock file")).versions;
        assert_eq!(versions.len(), 1, "{name}: {versions:?}");
    }
}

#[test]
fn no_registry_is_named_outside_lock_files() {
    let hosts = [["registry.npmjs", ".org"], ["static.crates", ".io"], ["index.crates", ".io"], ["registry.yarnpkg", ".com"]].map(|p| p.concat());
    for file in sources(&root(), &["rs", "ts", "js", "json", "toml", "svelte", "md", "sh", "npmrc", "yml", "yaml", "html"]) {
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
        assert!(!lock.contains("\"resolved\": \"http"), "the npm lock file of {folder} holds no registry address");
    }
}

#[test]
fn every_test_of_the_conformance_table_exists() {
    let table = fs::read_to_string(root().join("docs/CONFORMANCE.md")).unwrap();
    let tests = |line: &str| line.split('|').nth(3).map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).unwrap_or_default();
    let named: BTreeSet<String> = table.lines().filter(|line| line.starts_with("| ")).flat_map(tests).collect();
    assert!(named.len() > 20, "the table is read: {named:?}");
    let code: String = sources(&root(), &["rs"]).iter().filter_map(|file| fs::read_to_string(file).ok()).collect();
    // A test, all tests with the same beginning, or their module.
    let is_there = |name: &str| match name.strip_suffix('*') {
        Some(beginning) => code.contains(&format!("fn {beginning}")),
        None => code.contains(&format!("fn {name}(")) || code.contains(&format!("mod {name};")),
    };
    let missing: Vec<&String> = named.iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "docs/CONFORMANCE.md names tests that do not exist: {missing:?}");
}

/// The modules of the gateway with those that each imports, tests left out.
fn gateway_modules() -> BTreeMap<String, BTreeSet<String>> {
    let folder = root().join("src-tauri/crates/gateway/src");
    let name = |file: &Path| file.strip_prefix(&folder).unwrap().with_extension("").to_string_lossy().replace('/', "::").replace("::mod", "");
    let files: BTreeMap<String, String> = sources(&folder, &["rs"])
        .iter()
        .filter(|file| !file.ends_with("tests.rs"))
        .map(|file| (name(file), without_tests(&fs::read_to_string(file).unwrap())))
        .collect();
    let imported = |text: &str| {
        let uses = text.split("use crate::").skip(1).filter_map(|rest| rest.split(';').next()).flat_map(flattened);
        let paths = text.split("crate::").skip(1).map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).collect());
        uses.chain(paths).collect::<Vec<String>>()
    };
    // The module that a path leads to: as much of it as is one.
    let module = |path: &String| {
        let mut path = path.as_str();
        while !files.contains_key(path) {
            path = path.rsplit_once("::")?.0;
        }
        Some(path.to_owned())
    };
    files.iter().map(|(name, text)| (name.clone(), imported(text).iter().filter_map(module).filter(|other| other != name).collect())).collect()
}

/// The paths of a tree of imports: "a::{b, c::d}" are "a::b" and "a::c::d".
fn flattened(tree: &str) -> Vec<String> {
    let tree: String = tree.chars().filter(|c| !c.is_whitespace()).collect();
    let Some((head, rest)) = tree.split_once('{') else { return vec![tree] };
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in rest[..rest.rfind('}').unwrap_or(rest.len())].chars() {
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            c => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                parts.last_mut().unwrap().push(c);
            }
        }
    }
    parts.iter().filter(|part| !part.is_empty()).flat_map(|part| flattened(part)).map(|part| format!("{head}{part}")).collect()
}

#[test]
fn the_folders_of_the_gateway_are_floors() {
    assert_eq!(flattened("a::{b, c::{d, e}}"), ["a::b", "a::c::d", "a::c::e"]);
    let modules = gateway_modules();
    assert!(modules["http::routes"].contains("chat::turn") && modules["chat::turn"].contains("shop::cards"), "the imports are read: {modules:?}");
    for (module, imports) in &modules {
        let floor = module.split("::").next().unwrap_or_default();
        let forbidden: &[&str] = match floor {
            "http" | "lib" => &[],
            "chat" => &["http"],
            // The shop and whatever stands beside the folders.
            _ => &["http", "chat"],
        };
        let above: Vec<&String> = imports.iter().filter(|import| forbidden.contains(&import.split("::").next().unwrap_or_default())).collect();
        assert!(above.is_empty(), "http knows chat, chat knows shop, and none of them the other way; {module} imports {above:?}");
    }
}

#[test]
fn no_modules_of_the_gateway_import_each_other_in_a_circle() {
    let mut left = gateway_modules();
    // Modules without an import among those that are left go first; a circle stays.
    while let Some(free) = left.iter().find(|(_, imports)| imports.iter().all(|import| !left.contains_key(import))).map(|(name, _)| name.clone()) {
        left.remove(&free);
    }
    assert!(left.is_empty(), "these modules of the gateway import each other in a circle, or import one that does: {:?}", left.keys());
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
        let value = |key: &str| block.lines().find_map(|l| l.strip_prefix(&format!("{key} = \""))?.strip_suffix('"').map(str::to_owned));
        let (Some(name), Some(version)) = (value("name"), value("version")) else { continue };
        let listed = block.split_once("dependencies = [").and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
        let names = listed.split(',').filter_map(|entry| entry.trim().trim_matches('"').split(' ').next());
        let package = packages.entry(name).or_insert_with(|| Package { versions: Vec::new(), dependencies: BTreeSet::new() });
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
fn sources(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
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
fn without_tests(text: &str) -> String {
    text.split("#[cfg(test)]").next().unwrap_or_default().to_owned()
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
    let is_test = |word: &&str| word.matches('_').count() >= 3 && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    let named: BTreeSet<&str> = text.split('`').skip(1).step_by(2).filter(is_test).collect();
    assert!(named.len() > least, "the names were not found: {named:?}");
    let code: Vec<String> = sources(&root(), &["rs"]).iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let exists = |name: &str| code.iter().any(|text| text.contains(&format!("fn {name}(")));
    let missing: Vec<&&str> = named.iter().filter(|name| !exists(name)).collect();
    assert!(missing.is_empty(), "{document} names tests that do not exist: {missing:?}");
}

#[test]
fn architecture_md_has_at_most_12_000_bytes() {
    let length = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap().len();
    assert!(length <= 12_000, "ARCHITECTURE.md has {length} bytes; details belong in docs/internals.md");
}

#[test]
fn every_path_that_the_guides_name_exists() {
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let named: BTreeSet<String> = text.split('`').skip(1).step_by(2).filter(|word| is_path(word)).flat_map(without_braces).collect();
        assert!(named.len() > 30, "{document}: the paths were not found: {named:?}");
        let missing: Vec<&String> = named.iter().filter(|path| !is_in_the_tree(path)).collect();
        assert!(missing.is_empty(), "{document} names paths that do not exist: {missing:?}");
    }
}

/// Whether code in a document is a path: it has a slash or the ending of a source file, and is no command.
fn is_path(word: &str) -> bool {
    let ends = [".rs", ".ts", ".svelte", ".md", ".json", ".toml"].iter().any(|ending| word.ends_with(*ending));
    (word.contains('/') || ends) && !word.contains(char::is_whitespace) && !word.starts_with(['/', '.', '-'])
}

/// `{en,sv}` names two paths.
fn without_braces(path: &str) -> Vec<String> {
    let parts = path.split_once('{').and_then(|(before, rest)| rest.split_once('}').map(|(list, after)| (before, list, after)));
    match parts {
        Some((before, list, after)) => list.split(',').map(|one| format!("{before}{one}{after}")).collect(),
        None => vec![path.to_owned()],
    }
}

/// A path may leave out `src-tauri/`, `src-tauri/crates/`, and the folder `src` of a crate. `NAME`, `PACK`, `AREA` and `*` stand for any
/// name; of such a path the part before them is checked.
fn is_in_the_tree(path: &str) -> bool {
    let is_any = |part: &&str| ["NAME", "PACK", "AREA", "*"].iter().any(|any| part.contains(*any));
    let known = path.split('/').take_while(|part| !is_any(part)).collect::<Vec<_>>().join("/");
    let (first, rest) = known.split_once('/').unwrap_or((known.as_str(), ""));
    let crates = root().join("src-tauri/crates");
    [root().join(&known), root().join("src-tauri").join(&known), crates.join(&known), crates.join(first).join("src").join(rest)]
        .iter()
        .any(|path| path.exists())
}

#[test]
fn files_of_the_engine_import_each_other_in_no_circle() {
    let graph = imports(&root().join("src-tauri/crates/engine/src"));
    assert!(graph.len() > 60, "the files were not found: {:?}", graph.keys());
    let circle = graph.keys().find(|file| reachable(&graph, file).contains(*file));
    assert_eq!(circle, None, "this file imports files that import it");
}

/// All modules that a module reaches by imports.
fn reachable(graph: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&String> = graph.get(from).into_iter().flatten().collect();
    while let Some(module) = next.pop() {
        if found.insert(module.clone()) {
            next.extend(graph.get(module).into_iter().flatten());
        }
    }
    found
}

/// The modules of a crate with those that each imports, by `crate::` and `super::` paths. The root of the crate, which names all, is left
/// out, and so are tests and the lists that a module makes of its own parts.
fn imports(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let texts: BTreeMap<String, String> = sources(folder, &["rs"])
        .iter()
        .map(|file| (module_of(folder, file), without_tests(&fs::read_to_string(file).unwrap())))
        .filter(|(module, _)| !module.is_empty())
        .collect();
    let imported = |module: &str, text: &str| -> BTreeSet<String> {
        let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, " "]).collect();
        let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
        let mut paths: Vec<String> = Vec::new();
        for part in code.split("crate::").skip(1) {
            paths.extend(paths_of(part));
        }
        for part in code.split("super::").skip(1) {
            paths.extend(paths_of(part).into_iter().map(|path| format!("{parent}::{path}")));
        }
        paths.iter().filter_map(|path| known_module(&texts, path.trim_start_matches("::"))).filter(|found| found != module).collect()
    };
    texts.iter().map(|(module, text)| (module.clone(), imported(module, text))).collect()
}

fn module_of(folder: &Path, file: &Path) -> String {
    let path = file.strip_prefix(folder).unwrap().with_extension("");
    let module = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>().join("::");
    let module = module.strip_suffix("::mod").unwrap_or(&module);
    if module == "lib" { String::new() } else { module.to_owned() }
}

/// The longest beginning of a path that is a module.
fn known_module(texts: &BTreeMap<String, String>, path: &str) -> Option<String> {
    let mut path = path;
    while !texts.contains_key(path) {
        path = path.rsplit_once("::")?.0;
    }
    Some(path.to_owned())
}

/// The paths that a text begins with: one, or those of a list in braces.
fn paths_of(text: &str) -> Vec<String> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(text.len());
    let (path, rest) = text.split_at(end);
    let Some(list) = rest.strip_prefix('{').filter(|_| path.is_empty() || path.ends_with("::")) else { return vec![path.to_owned()] };
    let (mut found, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                found.extend(paths_of(list[start..at].trim_start()).into_iter().map(|one| format!("{path}{one}")));
                start = at + 1;
                if c == '}' {
                    return found;
                }
            }
            _ => {}
        }
    }
    found
}

#[test]
fn types_of_a_turn_have_their_methods_in_the_folder_of_the_turn() {
    let folder = root().join("src-tauri/crates/engine/src");
    let owners = ["impl Turn ", "impl TurnContext ", "impl AnswerBuilder ", "impl Audience "];
    for file in sources(&folder, &["rs"]) {
        let text = fs::read_to_string(&file).unwrap();
        let found = text.lines().find(|line| owners.iter().any(|owner| line.starts_with(owner)));
        assert!(file.starts_with(folder.join("turn")) || found.is_none(), "{}: {found:?} belongs in engine/src/turn", file.display());
    }
}
