//! Where packs are looked for, and the error when there are none: a program that was copied out of its package finds nothing beside it.

use std::{env, path::PathBuf};

use contract::AgentError;
use serde_json::json;

use crate::{Options, tools::HostTools};

/// Names a folder with packs, in place of those that ship.
const VARIABLE: &str = "COUNTERSIGN_TOOLS_DIR";

impl Options {
    /// Folders that hold packs: given ones, else the user's, then those beside the program (packages) or of the source tree.
    pub(crate) fn packs(&self, users: PathBuf) -> Vec<PathBuf> {
        if !self.pack_dirs.is_empty() {
            return self.pack_dirs.clone();
        }
        let mut folders = vec![users];
        if let Some(named) = env::var_os(VARIABLE) {
            folders.push(PathBuf::from(named));
            return folders;
        }
        // A program run from the build folder finds the packs of its source tree.
        let source = self.program_dir.ancestors().take(4).map(|up| up.join("tools")).find(|tools| tools.join("pack.schema.json").is_file());
        folders.extend(self.beside().into_iter().filter(|folder| folder.is_dir()).chain(source).take(1));
        folders
    }

    /// Where packages put the packs that ship.
    fn beside(&self) -> [PathBuf; 3] {
        let program = &self.program_dir;
        [program.join("../lib/countersign/tools"), program.join("../lib/Countersign/tools"), program.join("tools")]
    }

    /// All places that were looked at, also those that are not there.
    fn looked_at(&self, users: PathBuf) -> Vec<PathBuf> {
        let mut folders = self.packs(users);
        if self.pack_dirs.is_empty() && env::var_os(VARIABLE).is_none() {
            let absent: Vec<PathBuf> = self.beside().into_iter().filter(|folder| !folders.contains(folder)).collect();
            folders.extend(absent);
        }
        folders
    }
}

/// The error while there is no pack at all: without one there is no tool, and the offline model understands nothing.
pub(crate) fn without_packs(tools: &HostTools, options: &Options, users: PathBuf) -> Option<AgentError> {
    if !tools.loaded().is_empty() {
        return None;
    }
    let places: Vec<String> = options.looked_at(users).iter().map(|folder| folder.display().to_string()).collect();
    let hint = match env::var_os(VARIABLE) {
        Some(_) => format!("Correct {VARIABLE}: it names a folder without packs."),
        None => format!("Set {VARIABLE} to the folder that holds the packs, or install the package again."),
    };
    let message = format!("No packs were found, so there are no tools. Countersign looked in {}.", places.join(", "));
    Some(AgentError::internal("no_packs", message).hint(hint).with("looked_in", json!(places)))
}
