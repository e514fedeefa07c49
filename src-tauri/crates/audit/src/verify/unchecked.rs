//! Lists the files of an export that a verification did not read. The sender of an export can put
//! anything into these files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The maximum number of files that are listed.
const LISTED: usize = 100;
/// The maximum depth of folders that are entered. An export has four levels.
const LEVELS: usize = 16;

/// The files that were not read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unchecked {
    /// The names of the first files, sorted.
    pub(crate) names: Vec<String>,
    pub(crate) total: u64,
}

impl Unchecked {
    /// Lists all files of a folder except those that were checked. Links are listed and not
    /// followed.
    pub(super) fn list(folder: &Path, checked: &BTreeSet<String>) -> Self {
        let mut found = Self::default();
        let mut first = BTreeSet::new();
        found.enter(folder, "", LEVELS, checked, &mut first);
        found.names = first.into_iter().collect();
        found
    }

    fn enter(
        &mut self,
        folder: &Path,
        start: &str,
        levels: usize,
        checked: &BTreeSet<String>,
        first: &mut BTreeSet<String>,
    ) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = format!("{start}{}", entry.file_name().to_string_lossy());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && levels > 1 {
                self.enter(&entry.path(), &format!("{name}/"), levels - 1, checked, first);
            } else if !checked.contains(&name) {
                self.total += 1;
                first.insert(name);
                if first.len() > LISTED {
                    first.pop_last();
                }
            }
        }
    }
}
