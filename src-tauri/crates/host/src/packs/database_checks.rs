//! Checks the databases of packs before the packs open them, and copies them after they are closed.
//! Must not know what the tables mean.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use crate::profile::Paths;

/// Lists the database files in the data folders of all packs.
fn list_databases(paths: &Paths) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(paths.data.join("packs")).into_iter().flatten().flatten();
    folders.flat_map(|folder| list_in(&folder.path())).collect()
}

fn list_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "db"))
        .filter(|path| path.is_file() && !is_set_aside(path))
        .collect()
}

fn is_set_aside(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains(".damaged-"))
}

/// Checks the databases if a check is due. Returns how damaged databases were replaced. A database
/// that cannot be checked now is left to its pack, which reports the problem.
pub(crate) fn check(paths: &Paths, now: DateTime<Utc>) -> Vec<(PathBuf, store::Recovered)> {
    let mut replaced = Vec::new();
    for path in list_databases(paths) {
        match store::check_database(&path, now) {
            Ok(Some(recovered)) => replaced.push((path, recovered)),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "a pack's database could not be checked"),
        }
    }
    replaced
}

/// Copies the databases that changed, at most once a day.
pub(crate) fn copy(paths: &Paths, now: DateTime<Utc>) {
    for path in list_databases(paths) {
        if let Err(error) = store::copy_database(&path, now) {
            tracing::warn!(%error, "a pack's database could not be copied");
        }
    }
}
