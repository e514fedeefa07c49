//! Keeps the downloads of a program that could not be added, for the next try of the same command:
//! programs such as `npx` and `uvx` install before they run, which takes long. Only the folders of
//! downloads are kept, in a place that no program can reach, and only for a limited time. Another
//! command does not get them.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde_json::json;

use super::{program::CACHES, storage::StoredServer};
use crate::profile::{Paths, create_private_folder};

/// How long downloads are kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The downloads of one command, and the folder of its server.
pub(crate) struct Downloads {
    kept: PathBuf,
    own: PathBuf,
}

impl Downloads {
    pub(crate) fn of(paths: &Paths, stored: &StoredServer) -> Self {
        let own = paths.pack_data(stored.pack_id().as_str());
        Self { kept: paths.server_downloads().join(hash_of_command(stored)), own }
    }

    /// Keeps the downloads of a server whose folder is about to be deleted.
    pub(crate) fn keep(&self) {
        let _ = fs::remove_dir_all(&self.kept);
        if let Err(error) = move_caches(&self.own, &self.kept) {
            tracing::warn!(%error, "what a server downloaded is not kept");
        }
    }

    /// Moves the kept downloads back to a server that has no folder yet.
    pub(crate) fn take(&self) {
        if !self.kept.is_dir() || self.own.exists() {
            return;
        }
        if let Err(error) = move_caches(&self.kept, &self.own) {
            tracing::warn!(%error, "what a server downloaded before is not used");
        }
        let _ = fs::remove_dir_all(&self.kept);
    }
}

/// Returns a hash of everything that a server's program is started with.
pub(crate) fn hash_of_command(stored: &StoredServer) -> String {
    // A server with another name has another folder, whose path is written in the installed files.
    let whole = json!([stored.name, stored.program, stored.args, stored.env, stored.cwd]);
    engine::sha256_hex(whole.to_string().as_bytes())
}

/// Moves the folders of downloads that exist.
fn move_caches(from: &Path, to: &Path) -> io::Result<()> {
    for (_, cache) in CACHES {
        let folder = from.join(cache);
        // A link is not moved, because it would lead to other folders.
        if fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir()) {
            create_private_folder(to)?;
            fs::rename(folder, to.join(cache))?;
        }
    }
    Ok(())
}

/// Deletes downloads that are too old.
pub(super) fn delete_old(paths: &Paths) {
    for entry in fs::read_dir(paths.server_downloads()).into_iter().flatten().flatten() {
        let changed = entry.metadata().and_then(|found| found.modified());
        let age = changed.map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
        if age.is_ok_and(|age| age > KEPT) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use contract::NewServer;

    use super::{super::separating::separate_keys, *};

    fn stored(arg: &str) -> StoredServer {
        let server = NewServer {
            name: "notes".into(),
            command: "/bin/sh".into(),
            args: vec![arg.into()],
            ..NewServer::default()
        };
        separate_keys(&server).unwrap().stored
    }

    #[test]
    fn downloads_of_a_failed_test_are_reused_only_by_the_same_command() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::new(Some(folder.path().to_owned()));
        let one = Downloads::of(&paths, &stored("one"));
        let other = Downloads::of(&paths, &stored("two"));
        let download = |name: &str| one.own.join(name);
        fs::create_dir_all(download("npm")).unwrap();
        fs::write(download("npm/package"), "x").unwrap();
        fs::write(download("state"), "x").unwrap();
        std::os::unix::fs::symlink(folder.path(), download("uv")).unwrap();
        one.keep();
        fs::remove_dir_all(&one.own).unwrap();

        other.take();
        assert!(!one.own.exists(), "another command gets nothing");
        one.take();
        assert!(download("npm/package").exists());
        assert!(!download("state").exists() && !download("uv").exists());
        one.take();
        assert!(!one.kept.exists());
    }

    #[test]
    fn downloads_are_deleted_after_a_week() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::new(Some(folder.path().to_owned()));
        let kept = paths.server_downloads();
        for (name, age) in [("new", KEPT / 2), ("old", KEPT * 2)] {
            fs::create_dir_all(kept.join(name)).unwrap();
            let at = SystemTime::now() - age;
            fs::File::open(kept.join(name)).unwrap().set_modified(at).unwrap();
        }
        delete_old(&paths);
        assert!(kept.join("new").exists() && !kept.join("old").exists());
    }
}
