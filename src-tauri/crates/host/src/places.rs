//! Finds the folders with packs, and makes the error for missing packs. A program that was copied
//! out of its package has no packs beside it.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use contract::{AgentError, text};
use packs::LoadedPack;
use serde_json::json;

use crate::{Options, tools::HostTools};

/// The variable that names a folder of packs to use instead of the shipped ones.
const VARIABLE: &str = "COUNTERSIGN_TOOLS_DIR";

impl Options {
    /// Returns the folders with packs: the given ones, or else the user's and the shipped ones.
    pub(crate) fn pack_folders(&self, users: PathBuf) -> Vec<PathBuf> {
        if !self.pack_dirs.is_empty() {
            return self.pack_dirs.clone();
        }
        std::iter::once(users).chain(self.shipped_folder()).collect()
    }

    /// Whether a pack's folder is one of those that ship. Their manifests change with the app.
    pub(crate) fn is_shipped(&self, pack: &Path) -> bool {
        self.pack_dirs.is_empty()
            && self.shipped_folder().is_some_and(|folder| pack.starts_with(folder))
    }

    /// Returns the folders from which packs and programs come: no server, however it is started,
    /// may change them. A pack may be a link to another place.
    pub(crate) fn read_only_folders(&self, users: PathBuf, packs: &[LoadedPack]) -> Vec<PathBuf> {
        let places = packs.iter().map(|loaded| loaded.folder.clone());
        let mut folders: Vec<PathBuf> = self.pack_folders(users);
        folders.extend(places.filter_map(|folder| folder.canonicalize().ok()));
        folders.push(self.program_dir.clone());
        // An empty path, which would stand for all folders, is none.
        folders.into_iter().filter_map(|folder| std::path::absolute(folder).ok()).collect()
    }

    /// Returns the folder of the shipped packs: the one named by the variable, beside the program,
    /// or in the source tree.
    fn shipped_folder(&self) -> Option<PathBuf> {
        if let Some(named) = env::var_os(VARIABLE) {
            return Some(PathBuf::from(named));
        }
        // A program that is run from the build folder uses the packs of its source tree.
        let source = self
            .program_dir
            .ancestors()
            .take(4)
            .map(|up| up.join("tools"))
            .find(|tools| tools.join("pack.schema.json").is_file());
        self.shipped_candidates().into_iter().chain(source).find(|folder| holds_packs(folder))
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

/// Whether a folder contains packs. Other programs may have a folder with the same name.
fn holds_packs(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().any(|entry| entry.path().join("pack.json").is_file())
    })
}

/// Returns the error for missing packs. The error is about all packs, without which the offline
/// model understands no question, or only about the shipped ones.
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
