//! Where packs are looked for, and the error when they are missing: a program that was copied out of its package finds none beside it.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use contract::AgentError;
use serde_json::json;

use crate::{Options, tools::HostTools};

/// Names a folder with packs, in place of those that ship.
const VARIABLE: &str = "COUNTERSIGN_TOOLS_DIR";

impl Options {
    /// Folders that hold packs: given ones, else the user's, then those that ship.
    pub(crate) fn packs(&self, users: PathBuf) -> Vec<PathBuf> {
        if !self.pack_dirs.is_empty() {
            return self.pack_dirs.clone();
        }
        std::iter::once(users).chain(self.shipped()).collect()
    }

    /// The folder with the packs that ship: the named one, else the one beside the program (packages) or of the source tree.
    fn shipped(&self) -> Option<PathBuf> {
        if let Some(named) = env::var_os(VARIABLE) {
            return Some(PathBuf::from(named));
        }
        // A program run from the build folder finds the packs of its source tree.
        let source = self.program_dir.ancestors().take(4).map(|up| up.join("tools")).find(|tools| tools.join("pack.schema.json").is_file());
        self.beside().into_iter().chain(source).find(|folder| holds_packs(folder))
    }

    /// Where packages put the packs that ship.
    fn beside(&self) -> [PathBuf; 3] {
        let program = &self.program_dir;
        [program.join("../lib/countersign/tools"), program.join("../lib/Countersign/tools"), program.join("tools")]
    }

    /// All places where packs that ship were looked for, also those that are not there.
    fn looked_at(&self) -> Vec<PathBuf> {
        match env::var_os(VARIABLE) {
            Some(named) => vec![PathBuf::from(named)],
            None => self.beside().to_vec(),
        }
    }
}

/// Whether a pack lies in a folder. Other programs have folders of the same name.
fn holds_packs(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(|entry| entry.path().join("pack.json").is_file()))
}

/// The error for packs that were not found: all of them, so that the offline model understands nothing, or only those that ship.
pub(crate) fn missing_packs(tools: &HostTools, options: &Options, users: PathBuf) -> Option<AgentError> {
    let (none, given) = (tools.loaded().is_empty(), !options.pack_dirs.is_empty());
    if !none && (given || options.shipped().is_some_and(|folder| holds_packs(&folder))) {
        return None;
    }
    let folders = if given { options.pack_dirs.clone() } else { options.looked_at() };
    let folders: Vec<PathBuf> = if none && !given { std::iter::once(users).chain(folders).collect() } else { folders };
    let places: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let hint = match env::var_os(VARIABLE) {
        Some(_) => format!("Correct {VARIABLE}: it names a folder without packs."),
        None => format!("Set {VARIABLE} to the folder that holds the packs, or install the package again."),
    };
    let places_text = places.join(", ");
    let message = if none {
        format!("No packs were found, so there are no tools. Countersign looked in {places_text}.")
    } else {
        format!("The packs that come with Countersign were not found. Countersign looked in {places_text}.")
    };
    Some(AgentError::internal("no_packs", message).hint(hint).with("looked_in", json!(places)))
}
