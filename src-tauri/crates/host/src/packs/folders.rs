//! Finds the folders with packs, and makes the error for missing packs. If a program was copied out
//! of its package, there are no packs beside the program.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use contract::{AgentError, text};
use engine::ports::Profile as _;
use packs::LoadedPack;
use serde_json::json;

use super::tools::HostTools;
use crate::{
    profile::{LiveProfile, Options},
    servers::can_be_closed,
};

/// The variable that contains a folder of packs to use in place of the shipped packs.
const VARIABLE: &str = "COUNTERSIGN_TOOLS_DIR";

impl Options {
    /// Returns the folders with packs: the given folders, or else the user's folder and the shipped
    /// folder.
    pub(crate) fn pack_folders(&self, users: PathBuf) -> Vec<PathBuf> {
        if !self.pack_dirs.is_empty() {
            return self.pack_dirs.clone();
        }
        std::iter::once(users).chain(self.shipped_folder()).collect()
    }

    /// Whether a pack is in the folder of shipped packs. Manifests of shipped packs change with the
    /// app.
    pub(crate) fn is_shipped(&self, pack: &Path) -> bool {
        self.pack_dirs.is_empty()
            && self.shipped_folder().is_some_and(|folder| pack.starts_with(folder))
    }

    /// Returns the folders from which packs and programs are loaded, which no server may change,
    /// however it is started. A pack may be a link to another place.
    pub(crate) fn read_only_folders(&self, users: PathBuf, packs: &[LoadedPack]) -> Vec<PathBuf> {
        let places = packs.iter().map(|loaded| loaded.folder.clone());
        let mut folders: Vec<PathBuf> = self.pack_folders(users);
        folders.extend(places.filter_map(|folder| folder.canonicalize().ok()));
        folders.push(self.program_dir.clone());
        folders.extend(self.earlier_places());
        // An empty path is skipped, because it would stand for all folders.
        folders.into_iter().filter_map(|folder| std::path::absolute(folder).ok()).collect()
    }

    /// Returns the folder of the shipped packs: the folder in the variable, or else the first
    /// folder where packs are found.
    fn shipped_folder(&self) -> Option<PathBuf> {
        match env::var_os(VARIABLE) {
            Some(named) => Some(PathBuf::from(named)),
            None => self
                .searched_places()
                .find(|(place, mark)| holds_shipped(place, *mark))
                .map(|(place, _)| place),
        }
    }

    /// Returns the places that a later start would search before the place where packs are found
    /// now. Most of these places do not exist, so anyone who creates one would replace all shipped
    /// packs.
    fn earlier_places(&self) -> Vec<PathBuf> {
        let mut found = false;
        let places = self.searched_places().take_while(|(place, mark)| {
            !std::mem::replace(&mut found, holds_shipped(place, *mark))
        });
        let open = |place: &PathBuf| mcp::user_may_change(place) && can_be_closed(place);
        places.map(|(place, _)| place).filter(open).collect()
    }

    /// Returns the places where the shipped packs are searched, in order: beside the program, or in
    /// the source tree if the program runs from its build folder. A source tree is recognised by a
    /// marker file.
    fn searched_places(&self) -> impl Iterator<Item = (PathBuf, Option<&'static str>)> {
        let source = self.program_dir.ancestors().take(4).map(|up| up.join("tools"));
        let beside = self.shipped_candidates().into_iter().map(|place| (place, None));
        beside.chain(source.map(|place| (place, Some("pack.schema.json"))))
    }

    /// Returns the places where packages install the packs.
    fn shipped_candidates(&self) -> [PathBuf; 3] {
        let program = &self.program_dir;
        [
            program.join("../lib/countersign/tools"),
            program.join("../lib/Countersign/tools"),
            program.join("tools"),
        ]
    }

    /// Returns all places that were searched for the shipped packs, including places that do not
    /// exist.
    fn searched_folders(&self) -> Vec<PathBuf> {
        match env::var_os(VARIABLE) {
            Some(named) => vec![PathBuf::from(named)],
            None => self.shipped_candidates().to_vec(),
        }
    }
}

/// Loads the packs in all folders, with the values that the user set.
pub(crate) fn load_packs(profile: &LiveProfile, options: &Options) -> Vec<LoadedPack> {
    let chosen = profile
        .settings()
        .packs
        .iter()
        .map(|(pack, choice)| (pack.clone(), choice.settings.clone()))
        .collect();
    let folders = options.pack_folders(profile.paths().packs());
    // The shipped packs are last in the list but loaded first, so that no other pack can replace
    // them.
    let reversed: Vec<_> = folders.into_iter().rev().collect();
    packs::load_with(&reversed, &chosen)
}

fn holds_shipped(folder: &Path, mark: Option<&str>) -> bool {
    mark.is_none_or(|file| folder.join(file).is_file()) && holds_packs(folder)
}

/// Whether a folder contains packs. Other programs may have a folder with the same name.
fn holds_packs(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().any(|entry| entry.path().join("pack.json").is_file())
    })
}

/// Returns the error for missing packs. The error is about all packs, without which the offline
/// model understands no question, or only about the shipped packs.
pub(crate) fn missing_packs_error(
    tools: &HostTools,
    options: &Options,
    users: PathBuf,
) -> Option<AgentError> {
    let (none, given) = (tools.loaded_packs().is_empty(), !options.pack_dirs.is_empty());
    if !none && (given || options.shipped_folder().is_some_and(|folder| holds_packs(&folder))) {
        return None;
    }
    let folders = if given { options.pack_dirs.clone() } else { options.searched_folders() };
    let folders: Vec<PathBuf> =
        if none && !given { std::iter::once(users).chain(folders).collect() } else { folders };
    let places: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let hint = match env::var_os(VARIABLE) {
        Some(_) => text!("Correct {name}: it names a folder without packs.", name = VARIABLE),
        None => text!(
            "Set {name} to the folder that holds the packs, or install the package again.",
            name = VARIABLE
        ),
    };
    let places_text = places.join(", ");
    let message = if none {
        text!(
            "No packs were found, so there are no tools. Countersign looked in {places}.",
            places = places_text
        )
    } else {
        text!(
            "The packs that come with Countersign were not found. Countersign looked in {places}.",
            places = places_text
        )
    };
    Some(AgentError::internal("no_packs", message).hint(hint).with("looked_in", json!(places)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_cannot_create_a_folder_that_is_searched_for_packs() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap().join("source");
        let options = Options { program_dir: root.join("target/quick"), ..Options::default() };
        let closed = || -> Vec<PathBuf> {
            let folders = options.read_only_folders(root.join("users"), &[]);
            folders.iter().map(|folder| mcp::resolve_links(folder)).collect()
        };
        fs::create_dir_all(root.join("target/quick")).unwrap();
        fs::create_dir_all(root.join("tools/one")).unwrap();
        fs::write(root.join("tools/one/pack.json"), "{}").unwrap();
        fs::write(root.join("tools/pack.schema.json"), "{}").unwrap();
        let beside = root.join("target/lib/countersign/tools");
        let before = closed();
        for place in [&beside, &root.join("target/tools"), &root.join("tools")] {
            assert!(before.contains(place), "{} in {before:?}", place.display());
        }
        // Places that are searched later cannot replace the shipped packs.
        assert!(!before.contains(&root.parent().unwrap().join("tools")), "{before:?}");
        fs::create_dir_all(beside.join("two")).unwrap();
        fs::write(beside.join("two/pack.json"), "{}").unwrap();
        let after = closed();
        assert!(after.contains(&beside) && !after.contains(&root.join("tools")), "{after:?}");
    }
}
