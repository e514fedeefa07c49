//! Reads pack folders into usable packs, or into views with their faults.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use ::files::fault::without_values;
use contract::{PackId, PackView, Text, ToolId, ToolSpec, manifest::PackManifest, text};
use serde_json::{Map, Value};

use crate::{
    MANIFEST,
    check::{self, Subject},
    fault::Faults,
    files, json, resolve, shape, templates,
};

/// A folder with a `pack.json`: its view and, if there are no faults, the pack itself.
#[derive(Clone, Debug)]
pub struct LoadedPack {
    pub folder: PathBuf,
    pub view: PackView,
    pub pack: Option<Pack>,
}

/// A pack that passed all checks. Template files have been read into the manifest.
#[derive(Clone, Debug)]
pub struct Pack {
    pub manifest: PackManifest,
    pub tools: Vec<ToolSpec>,
}

/// The user's values for settings of packs, by pack id and name.
pub type PackSettings = BTreeMap<String, Map<String, Value>>;

/// Reads all packs in the given folders, with the default settings.
pub fn load(folders: &[PathBuf]) -> Vec<LoadedPack> {
    load_with(folders, &PackSettings::new())
}

/// Reads all packs in the given folders. If two have the same id, the one in the earlier folder is
/// used, so the user's folder goes first. A missing folder counts as empty.
pub fn load_with(folders: &[PathBuf], settings: &PackSettings) -> Vec<LoadedPack> {
    let mut loaded: Vec<LoadedPack> = folders
        .iter()
        .flat_map(|folder| subfolders(folder))
        .map(|f| check_with(&f, settings))
        .collect();
    refuse_duplicates(&mut loaded);
    let mut tools: Vec<&mut ToolSpec> = loaded
        .iter_mut()
        .filter_map(|l| l.pack.as_mut())
        .flat_map(|pack| &mut pack.tools)
        .collect();
    resolve::qualify(&mut tools);
    for one in &mut loaded {
        one.view.tools = one.pack.as_ref().map(|p| p.tools.clone()).unwrap_or_default();
    }
    loaded
}

/// Reads one pack folder on its own.
pub fn check_folder(folder: &Path) -> LoadedPack {
    check_with(folder, &PackSettings::new())
}

fn check_with(folder: &Path, settings: &PackSettings) -> LoadedPack {
    let (mut faults, mut warnings) = (Faults::default(), Faults::default());
    let manifest = read_manifest(folder, &mut faults);
    if let Some(manifest) = &manifest {
        shape::check(manifest, &mut faults);
        check::run_checks(&Subject { folder, manifest }, &mut faults, &mut warnings);
    }
    let pack = manifest
        .as_ref()
        .filter(|_| faults.is_empty())
        .and_then(|m| resolve_pack(folder, m, settings, &mut faults));
    let mut view = view(folder, manifest.as_ref().unwrap_or(&Value::Null), pack.as_ref(), faults);
    view.warnings = warnings.into_vec();
    LoadedPack { folder: folder.to_owned(), view, pack }
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.join(MANIFEST).exists()).collect();
    found.sort();
    found
}

fn read_manifest(folder: &Path, faults: &mut Faults) -> Option<Value> {
    let text = match files::text(&folder.join(MANIFEST)) {
        Ok(text) => text,
        Err(problem) => {
            faults.at("", problem, "give the folder a readable pack.json in UTF-8");
            return None;
        }
    };
    match json::parse(text.strip_prefix('\u{feff}').unwrap_or(&text)) {
        Ok((value, doubles)) => {
            for pointer in doubles {
                faults.at(
                    pointer,
                    "this member is given twice; only one could count",
                    "remove one of them",
                );
            }
            Some(value)
        }
        Err(error) => {
            let place =
                text!("line {line}, column {column}", line = error.line(), column = error.column());
            faults.at(
                format!("line {}", error.line()),
                text!("it is not valid JSON: {error}", error = without_values(&error.to_string())),
                text!("correct the text at {place}", place),
            );
            None
        }
    }
}

fn resolve_pack(
    folder: &Path,
    manifest: &Value,
    settings: &PackSettings,
    faults: &mut Faults,
) -> Option<Pack> {
    let mut whole = manifest.clone();
    templates::inline(folder, &mut whole, faults);
    let mut manifest: PackManifest = match serde_json::from_value(whole) {
        Ok(manifest) => manifest,
        Err(error) => {
            faults.at(
                "",
                text!(
                    "the manifest cannot be used: {error}",
                    error = without_values(&error.to_string())
                ),
                "see tools/README.md",
            );
            return None;
        }
    };
    // The manifest keeps its defaults. They are shown beside the user's values, and the values are
    // checked against them.
    let defaults = manifest.settings.clone();
    manifest.settings.extend(settings.get(manifest.id.as_str()).cloned().unwrap_or_default());
    let tools = resolve::specs(&manifest);
    manifest.settings = defaults;
    if tools.is_none() {
        faults.at(
            "/tools",
            "the tools could not be resolved",
            "give each setting that an address begins with a web address",
        );
    }
    faults.is_empty().then(|| tools.map(|tools| Pack { manifest, tools })).flatten()
}

fn view(folder: &Path, manifest: &Value, pack: Option<&Pack>, faults: Faults) -> PackView {
    let text =
        |name: &str| manifest.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let folder_name =
        folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let or_folder = |text: String| if text.is_empty() { folder_name.clone() } else { text };
    PackView {
        id: PackId(or_folder(text("id"))),
        title: or_folder(text("title")),
        version: text("version"),
        description: text("description"),
        folder: folder.display().to_string(),
        agent_id: manifest
            .pointer("/agent/id")
            .and_then(Value::as_str)
            .map(contract::AgentId::from),
        agent: manifest.pointer("/agent/name").and_then(Value::as_str).map(str::to_owned),
        data_flow: pack.and_then(|p| p.manifest.data_flow.clone()),
        tools: pack.map(|p| p.tools.clone()).unwrap_or_default(),
        host_actions: pack.map(|p| describe_host_actions(&p.tools)).unwrap_or_default(),
        faults: faults.into_vec(),
        warnings: Vec::new(),
        examples: pack
            .and_then(|p| p.manifest.offline.as_ref())
            .map(|o| o.examples.clone())
            .unwrap_or_default(),
        settings: pack.map(|p| p.manifest.settings.clone()).unwrap_or_default(),
    }
}

fn describe_host_actions(tools: &[ToolSpec]) -> BTreeMap<ToolId, Text> {
    tools.iter().filter_map(|spec| Some((spec.id.clone(), spec.target.describe()?))).collect()
}

/// Keeps the first pack of each id, and adds a fault to the others.
fn refuse_duplicates(loaded: &mut [LoadedPack]) {
    let mut winners: Vec<(PackId, PathBuf)> = Vec::new();
    for one in loaded.iter_mut() {
        let Some(winner) = winners.iter().find(|(id, _)| *id == one.view.id) else {
            if one.pack.is_some() {
                winners.push((one.view.id.clone(), one.folder.clone()));
            }
            continue;
        };
        let mut faults = Faults::default();
        let problem = text!(
            "the pack `{id}` in {folder} is used instead of this one",
            id = one.view.id,
            folder = winner.1.display()
        );
        faults.at("/id", problem, "give this pack another id, or remove one of the two");
        one.view.faults.extend(faults.into_vec());
        one.pack = None;
    }
}
