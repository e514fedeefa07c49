//! Reads pack folders into usable packs, or into views that list the faults.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use ::files::fault::without_values;
use contract::{PackId, PackView, Text, ToolId, ToolSpec, manifest::PackManifest, text};
use serde_json::{Map, Value};

use crate::{
    MANIFEST, check,
    fault::Faults,
    files, json,
    loaded::{LoadedPack, Pack},
    resolve, shape,
    subject::Subject,
    templates, views,
    words::Words,
};

/// The JSON pointer of the id in a manifest.
const ID: &str = "/id";

/// The user's values for settings of packs, by pack id and name.
pub type PackSettings = BTreeMap<String, Map<String, Value>>;

/// Reads all packs in the given folders, with the default settings.
pub fn load(folders: &[PathBuf]) -> Vec<LoadedPack> {
    load_with(folders, &PackSettings::new())
}

/// Reads all packs in the given folders. The id of a pack must equal the name of its folder. If
/// several folders have a name, the first always keeps it, even if its pack is faulty. Shipped
/// packs come first, so no user pack can replace a shipped pack. A missing folder counts as empty.
pub fn load_with(folders: &[PathBuf], settings: &PackSettings) -> Vec<LoadedPack> {
    let mut loaded: Vec<LoadedPack> = folders
        .iter()
        .flat_map(|folder| subfolders(folder))
        .map(|f| check_with(&f, settings))
        .collect();
    loaded.iter_mut().for_each(refuse_other_id);
    refuse_duplicates(&mut loaded);
    let mut tools: Vec<&mut ToolSpec> = loaded
        .iter_mut()
        .filter_map(|l| l.pack.as_mut())
        .flat_map(|pack| &mut pack.tools)
        .collect();
    resolve::qualify(&mut tools);
    views::complete_names(&mut loaded);
    warn_of_missing_tools(&mut loaded);
    for one in &mut loaded {
        one.view.tools = one.pack.as_ref().map(|p| p.tools.clone()).unwrap_or_default();
    }
    loaded
}

/// Reads a single pack folder, without comparing it with other packs.
pub fn check_folder(folder: &Path) -> LoadedPack {
    check_with(folder, &PackSettings::new())
}

/// Checks a manifest created by the host with the same checks as a manifest from a folder. Such a
/// manifest names its programs by absolute paths and names no files. No file is read from `folder`,
/// which only identifies the pack's location.
pub fn check_manifest(manifest: &Value, folder: &Path) -> LoadedPack {
    let subject = Subject { folder, manifest, is_made_by_host: true };
    let checked = check_subject(&subject, &PackSettings::new(), Faults::default());
    LoadedPack { manifest: manifest.clone(), ..checked }
}

fn check_with(folder: &Path, settings: &PackSettings) -> LoadedPack {
    let mut faults = Faults::default();
    let Some(manifest) = read_manifest(folder, &mut faults) else {
        let view = view(folder, &Value::Null, None, faults);
        return LoadedPack { folder: folder.to_owned(), view, pack: None, manifest: Value::Null };
    };
    let subject = Subject { folder, manifest: &manifest, is_made_by_host: false };
    let mut loaded = check_subject(&subject, settings, faults);
    warn_of_other_id(&mut loaded);
    LoadedPack { manifest, ..loaded }
}

/// Returns a pack to which the caller adds the manifest as it was read.
fn check_subject(subject: &Subject<'_>, settings: &PackSettings, mut faults: Faults) -> LoadedPack {
    let Subject { folder, manifest, .. } = *subject;
    let mut warnings = Faults::default();
    shape::check(manifest, &mut faults);
    check::run_checks(subject, &mut faults, &mut warnings);
    let pack =
        faults.is_empty().then(|| resolve_pack(folder, manifest, settings, &mut faults)).flatten();
    let mut view = view(folder, manifest, pack.as_ref(), faults);
    view.warnings = warnings.into_vec();
    LoadedPack { folder: folder.to_owned(), view, pack, manifest: Value::Null }
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
    let words = Words::read(folder, faults);
    words.apply(&mut whole, faults);
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
    manifest.texts = Arc::new(words.into_texts());
    // The manifest keeps its defaults, which are shown beside the user's values and used to check
    // them.
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
    let or_folder = |text: String| if text.is_empty() { folder_name(folder) } else { text };
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
        manifest_hash: (!manifest.is_null()).then(|| resolve::hash_of(manifest)),
    }
}

fn describe_host_actions(tools: &[ToolSpec]) -> BTreeMap<ToolId, Text> {
    tools.iter().filter_map(|spec| Some((spec.id.clone(), spec.target.describe()?))).collect()
}

/// Warns of tools that a specialist names of other packs, and that no usable pack has.
fn warn_of_missing_tools(loaded: &mut [LoadedPack]) {
    let tools = loaded.iter().filter_map(|one| one.pack.as_ref()).flat_map(|pack| &pack.tools);
    let known: HashSet<ToolId> = tools.map(ToolSpec::qualified_id).collect();
    for one in loaded.iter_mut() {
        let agent = one.pack.as_ref().and_then(|pack| pack.manifest.agent.as_ref());
        let named = agent.and_then(|agent| agent.tools.as_deref()).unwrap_or_default();
        let mut warnings = Faults::default();
        for (index, id) in named.iter().enumerate() {
            if id.as_str().contains(':') && !known.contains(id) {
                warnings.at(
                    format!("/agent/tools/{index}"),
                    format!("no pack has the tool `{id}`"),
                    "install that pack, or correct the id",
                );
            }
        }
        one.view.warnings.extend(warnings.into_vec());
    }
}

/// Returns the name of a folder.
fn folder_name(folder: &Path) -> String {
    let real = || folder.canonicalize().ok()?.file_name().map(ToOwned::to_owned);
    let name = folder.file_name().map(ToOwned::to_owned).or_else(real);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the problem and the fix if the id does not fit the folder, or none.
fn find_fault_of_id(loaded: &LoadedPack) -> Option<(Text, Text)> {
    let (id, name) = (&loaded.view.id, folder_name(&loaded.folder));
    if id.is_of_added_server() {
        return Some((
            text!(
                "an id that begins with `{start}` belongs to a server that a person added",
                start = PackId::ADDED_SERVER
            ),
            "give the pack another id, and rename its folder".into(),
        ));
    }
    (id.as_str() != name).then(|| {
        (
            text!("the id is `{id}`, but the folder is named `{name}`", id, name),
            text!("rename the folder to `{id}`, or correct the id", id),
        )
    })
}

/// Adds a fault to a pack whose id differs from the name of its folder or is reserved for an added
/// server.
fn refuse_other_id(loaded: &mut LoadedPack) {
    let Some((problem, fix)) = find_fault_of_id(loaded) else { return };
    // The warning is only for authors who check a folder outside the pack folders.
    loaded.view.warnings.retain(|warning| warning.field != ID);
    refuse(loaded, problem, fix);
}

/// Warns the author that a pack in a folder of this name would not be used.
fn warn_of_other_id(loaded: &mut LoadedPack) {
    let Some((problem, fix)) = find_fault_of_id(loaded) else { return };
    let mut warnings = Faults::default();
    warnings.at(ID, problem, fix);
    loaded.view.warnings.extend(warnings.into_vec());
}

/// Keeps the first pack of each name, and adds a fault to the others.
fn refuse_duplicates(loaded: &mut [LoadedPack]) {
    let mut first: BTreeMap<String, PathBuf> = BTreeMap::new();
    for one in loaded.iter_mut() {
        let name = folder_name(&one.folder);
        let Some(folder) = first.get(&name) else {
            first.insert(name, one.folder.clone());
            continue;
        };
        let problem = text!(
            "there is a pack `{id}` in {folder} already, and it stays in use",
            id = name,
            folder = folder.display()
        );
        refuse(
            one,
            problem,
            "give this pack another id and rename its folder, or remove it".into(),
        );
    }
}

/// Adds a fault about the id to a pack, so that the pack is not used.
fn refuse(loaded: &mut LoadedPack, problem: Text, fix: Text) {
    let mut faults = Faults::default();
    faults.at(ID, problem, fix);
    loaded.view.faults.extend(faults.into_vec());
    loaded.pack = None;
}
