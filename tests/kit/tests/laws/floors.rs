//! The folders of the large crates are floors: a file imports only from its own folder and from
//! lower floors. Also checks where the engine's methods are, and which code may name a kind of
//! caller.

use std::fs;

use crate::{
    imports::{imports, paths_of},
    root, sources, without_tests,
};

/// The folders of the engine, the lowest first. Files beside the folders belong to the lowest
/// floor.
const ENGINE: [&str; 13] = [
    "ports",
    "budget",
    "turn",
    "context",
    "conversation",
    "long_term",
    "destinations",
    "tools",
    "approvals",
    "agents",
    "runner",
    "sessions",
    "run",
];
/// The folders above all other floors of the engine.
const ENGINE_TOP: [&str; 2] = ["replay", "engine"];
/// The folders of the gateway, the lowest first.
const GATEWAY: [&str; 5] = ["config", "fault", "shop", "chat", "http"];
/// The folders of the host, the lowest first.
const HOST: [&str; 14] = [
    "profile", "pushes", "keys", "models", "log", "servers", "data", "boards", "alerts", "packs",
    "host", "commands", "clients", "start",
];

#[test]
fn folders_of_the_engine_import_only_lower_layers() {
    let floors: Vec<&str> = ENGINE.into_iter().chain(ENGINE_TOP).collect();
    let known = check_floors("engine", &floors);
    assert!(known > 100, "the imports are read: {known}");
}

#[test]
fn folders_of_the_gateway_import_only_lower_layers() {
    assert_eq!(paths_of("a::{b, c::{d, e}};"), ["a::b", "a::c::d", "a::c::e"]);
    let known = check_floors("gateway", &GATEWAY);
    assert!(known > 20, "the imports are read: {known}");
}

#[test]
fn folders_of_the_host_import_only_lower_layers() {
    let known = check_floors("host", &HOST);
    assert!(known > 80, "the imports are read: {known}");
    // The root of the crate gives `Host` a short name, which does not name its floor.
    for file in sources(&root().join("src-tauri/crates/host/src"), &["rs"]) {
        let text = without_tests(&fs::read_to_string(&file).unwrap());
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code: String = code.flat_map(|line| [line, " "]).collect();
        let mut paths = code.split("crate::").skip(1).flat_map(paths_of);
        assert!(
            !paths.any(|path| path.split("::").next() == Some("Host")),
            "{}: write `crate::host::Host`, so that its floor is seen",
            file.display()
        );
    }
}

/// Fails if a file imports from a higher folder. Returns the number of imports between folders.
fn check_floors(name: &str, floors: &[&str]) -> usize {
    let folder = root().join("src-tauri/crates").join(name).join("src");
    // A folder that is not listed counts as the highest floor, so no other folder may import from
    // it.
    let floor = |module: &str| {
        let first = module.split("::").next().unwrap_or_default();
        match floors.iter().position(|floor| *floor == first) {
            Some(at) => at + 1,
            None if folder.join(first).is_dir() => usize::MAX,
            None => 0,
        }
    };
    let (mut known, mut up) = (0, Vec::new());
    for (module, imported) in imports(&folder) {
        for import in imported.iter().filter(|import| floor(import) != floor(&module)) {
            known += 1;
            if floor(import) > floor(&module) && floor(&module) > 0 {
                up.push(format!("{module} imports {import}"));
            }
        }
    }
    assert!(up.is_empty(), "the folders of {name} are floors, from {floors:?} up: {up:#?}");
    known
}

#[test]
fn all_methods_of_engine_are_in_one_file() {
    let folder = root().join("src-tauri/crates/engine/src");
    let holds = |file: &std::path::PathBuf| {
        fs::read_to_string(file).unwrap().lines().any(|line| line.starts_with("impl Engine "))
    };
    let found: Vec<_> = sources(&folder, &["rs"]).into_iter().filter(holds).collect();
    assert_eq!(
        found,
        [folder.join("engine.rs")],
        "a service has methods of its own; the engine only joins services"
    );
}

/// The places that make callers: the type itself, and the clients.
const MAKE_CALLERS: [&str; 3] = [
    "src-tauri/crates/contract/src/caller.rs",
    "src-tauri/crates/host/src/clients/",
    "src-tauri/crates/host/src/log/asked.rs",
];

#[test]
fn only_clients_name_a_kind_of_caller() {
    let kinds = ["Window", "Terminal", "ChatApi", "Agent", "Schedule", "Inside"]
        .map(|kind| format!("CallerKind::{kind}"));
    let mut named = Vec::new();
    for file in ["src-tauri", "tools"].iter().flat_map(|part| sources(&root().join(part), &["rs"]))
    {
        let path = file.strip_prefix(root()).unwrap().display().to_string();
        if path.contains("/tests/")
            || path.ends_with("tests.rs")
            || MAKE_CALLERS.iter().any(|known| path.starts_with(known))
        {
            continue;
        }
        let text = without_tests(&fs::read_to_string(&file).unwrap());
        if kinds.iter().any(|kind| text.contains(kind.as_str())) {
            named.push(path);
        }
    }
    assert!(
        named.is_empty(),
        "code asks a caller what it may do, and not of which kind it is: {named:?}"
    );
}
