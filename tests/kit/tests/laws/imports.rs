//! Which modules of a crate may import which: no circles.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use crate::{root, sources, without_tests};

/// Returns the folders with the sources of each crate of the programs, from the root of the tree.
fn source_folders() -> Vec<String> {
    let mut folders = vec!["src-tauri/desktop".to_owned()];
    for parent in ["src-tauri", "src-tauri/crates", "tools", "tools/data", "tools/shop"] {
        for entry in fs::read_dir(root().join(parent)).unwrap() {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            let folder = format!("{parent}/{name}/src");
            if root().join(&folder).is_dir() {
                folders.push(folder);
            }
        }
    }
    folders
}

#[test]
fn files_of_a_crate_have_no_circular_imports() {
    let folders = source_folders();
    for read in [
        "src-tauri/desktop",
        "src-tauri/shipped-packs/src",
        "src-tauri/crates/host/src",
        "tools/campaign-portfolio-pacing/src",
        "tools/data/server/src",
        "tools/shop/src",
        "tools/shop/adapter/src",
    ] {
        assert!(folders.iter().any(|folder| folder == read), "{read} was not found: {folders:?}");
    }
    for folder in folders {
        let graph = imports(&root().join(&folder));
        let is_large = ["engine", "gateway", "host", "packs"]
            .iter()
            .any(|name| folder == format!("src-tauri/crates/{name}/src"));
        if is_large {
            assert!(graph.len() > 30, "the files of {folder} were not found: {:?}", graph.keys());
        }
        let circle: Vec<&String> =
            graph.keys().filter(|file| reachable(&graph, file).contains(*file)).collect();
        assert!(
            circle.is_empty(),
            "these files of {folder} import files that import them: {circle:?}"
        );
    }
}

/// Returns all modules that a module reaches by imports.
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

/// Returns each module of a crate with the modules that it imports, by `crate::` and `super::`
/// paths. The crate's root, which names all modules, is left out, and so are tests and imports from
/// the module itself.
pub(crate) fn imports(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let texts: BTreeMap<String, String> = sources(folder, &["rs"])
        .iter()
        .filter(|file| !file.ends_with("tests.rs"))
        .map(|file| (module_of(folder, file), without_tests(&fs::read_to_string(file).unwrap())))
        .filter(|(module, _)| !module.is_empty())
        .collect();
    let imported = |module: &str, text: &str| -> BTreeSet<String> {
        let code: String = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .flat_map(|line| [line, " "])
            .collect();
        let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
        let mut paths: Vec<String> = Vec::new();
        for part in code.split("crate::").skip(1) {
            paths.extend(paths_of(part));
        }
        for part in code.split("super::").skip(1) {
            paths.extend(paths_of(part).into_iter().map(|path| format!("{parent}::{path}")));
        }
        paths
            .iter()
            .filter_map(|path| known_module(&texts, path.trim_start_matches("::")))
            .filter(|found| found != module)
            .collect()
    };
    texts.iter().map(|(module, text)| (module.clone(), imported(module, text))).collect()
}

fn module_of(folder: &Path, file: &Path) -> String {
    let path = file.strip_prefix(folder).unwrap().with_extension("");
    let module = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join("::");
    let module = module.strip_suffix("::mod").unwrap_or(&module);
    // The root of a crate, or of a folder that is a module, has no name of its own.
    if ["lib", "mod"].contains(&module) { String::new() } else { module.to_owned() }
}

/// Returns the longest beginning of a path that is the name of a module.
fn known_module(texts: &BTreeMap<String, String>, path: &str) -> Option<String> {
    let mut path = path;
    while !texts.contains_key(path) {
        path = path.rsplit_once("::")?.0;
    }
    Some(path.to_owned())
}

/// Returns the paths that a text begins with: one path, or the paths of a list in braces.
pub(crate) fn paths_of(text: &str) -> Vec<String> {
    let end =
        text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(text.len());
    let (path, rest) = text.split_at(end);
    let Some(list) = rest.strip_prefix('{').filter(|_| path.is_empty() || path.ends_with("::"))
    else {
        return vec![path.to_owned()];
    };
    let (mut found, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                found.extend(
                    paths_of(list[start..at].trim_start())
                        .into_iter()
                        .map(|one| format!("{path}{one}")),
                );
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
