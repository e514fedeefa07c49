//! Laws about the packages of the lock file: which versions are allowed, and which packages a program
//! may link.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::{HTTP_CLIENTS, dependencies, rooms, root, sources};

#[test]
fn the_offline_model_links_no_http_client() {
    let reached = linked("offline");
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

#[test]
fn csign_links_no_webview_web_server_redis_or_telemetry() {
    let reached = linked("cli");
    assert!(
        ["host", "rusqlite", "campaign-portfolio-pacing"]
            .iter()
            .all(|name| reached.contains(*name)),
        "the manifests and the lock file are read"
    );
    let of_the_window = ["tauri", "wry", "tao", "gtk", "webkit2gtk", "webkit2gtk-sys"];
    let strangers: Vec<&String> = reached
        .iter()
        .filter(|name| {
            of_the_window.contains(&name.as_str())
                || ["axum", "redis", "gateway", "shop"].contains(&name.as_str())
                || name.contains("opentelemetry")
        })
        .collect();
    assert!(
        strangers.is_empty(),
        "csign is for terminals: a server needs no window, and the gateway is a program of its own; \
         it reaches {strangers:?}"
    );
    assert!(linked("gateway").contains("axum"), "the gateway is a server");
}

/// Returns the packages that a crate of ours links. For our crates the lock file also lists
/// packages that only tests need, so their dependencies are read from the manifests.
fn linked(name: &str) -> BTreeSet<String> {
    let (mut ours, packages) = (rooms(), locked());
    for (name, folder) in [
        ("shipped-packs", "src-tauri/shipped-packs"),
        ("campaign-portfolio-pacing", "tools/campaign-portfolio-pacing"),
        ("shop", "tools/shop"),
        ("shop-adapter", "tools/shop/adapter"),
    ] {
        ours.insert(name.to_owned(), dependencies(&root().join(folder).join("Cargo.toml")));
    }
    let mut reached = BTreeSet::new();
    let mut next = vec![name.to_owned()];
    while let Some(name) = next.pop() {
        if reached.insert(name.clone()) {
            let found = ours
                .get(&name)
                .or_else(|| packages.get(&name).map(|package| &package.dependencies));
            next.extend(found.into_iter().flatten().cloned());
        }
    }
    reached
}

#[test]
fn versions_with_fixed_vulnerabilities_are_not_used() {
    let packages = locked();
    // The vulnerability that each minimum version fixes: a remote page taken for a local one;
    // markup that a sanitiser let through; a rebound name that reached a local server; the
    // WAL-reset race.
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
fn libraries_that_must_not_be_doubled_have_one_version() {
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
