//! The folders in which a server's programs and interpreters are searched, and which places can be
//! made read-only for servers. Must not know which servers there are.

use std::{
    env,
    path::{Path, PathBuf},
};

/// The folders with the system's programs.
const SYSTEM: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Programs that run the code of servers. In a user's folder, they are often links.
const INTERPRETERS: [&str; 7] = ["bun", "deno", "node", "python", "python3", "ruby", "uv"];

/// Returns the search path of pack servers: first the system's folders, so that no program of the
/// user replaces a system program; then the folders of this process's search path that can be made
/// read-only.
pub(crate) fn pack_path() -> String {
    let more = own_folders().into_iter().filter(|folder| can_be_closed(folder));
    let mut found: Vec<String> = SYSTEM.map(str::to_owned).into();
    for folder in more.filter_map(|folder| folder.to_str().map(str::to_owned)) {
        if !found.contains(&folder) {
            found.push(folder);
        }
    }
    found.join(":")
}

/// Returns the folders of the search path that the user can change, with the libraries and
/// interpreters of the programs in them, and the user's folder of Python libraries. Some of these
/// places may not exist.
pub(crate) fn find_changeable_places() -> Vec<PathBuf> {
    let libraries = env::home_dir().map(|home| home.join(".local/lib"));
    // Missing folders are excluded, because protecting a missing folder would prevent the creation
    // of any file in the home folder.
    let mut found: Vec<PathBuf> = libraries.filter(|folder| folder.exists()).into_iter().collect();
    for folder in own_folders().into_iter().filter(|folder| mcp::user_may_change(folder)) {
        let real = INTERPRETERS.iter().filter_map(|name| folder.join(name).canonicalize().ok());
        let behind: Vec<PathBuf> = real.filter_map(|it| it.parent().map(Path::to_owned)).collect();
        for folder in behind.into_iter().chain([folder]) {
            found.extend(libraries_beside(&folder));
            found.push(folder);
        }
    }
    found.retain(|place| can_be_closed(place));
    found.sort();
    found.dedup();
    found
}

/// Returns the absolute folders of this process's search path.
fn own_folders() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).filter(|folder| folder.is_absolute()).collect()
}

/// Returns the libraries of the programs in a folder: `lib` beside `bin`. Returns None for the
/// system's libraries, which belong to all programs.
pub(crate) fn libraries_beside(folder: &Path) -> Option<PathBuf> {
    let prefix = folder.parent().filter(|_| folder.ends_with("bin"))?;
    let is_own = prefix != Path::new("/usr") && !is_around_home(prefix);
    is_own.then(|| prefix.join("lib"))
}

/// Whether a place can be made read-only for servers. This would prevent the creation of files in
/// the folders above, so a place directly in the folder for temporary files stays writable.
pub(crate) fn can_be_closed(place: &Path) -> bool {
    let is_temporary = place.parent().is_some_and(|folder| {
        let folder = real(folder);
        temporary_folders().iter().any(|temporary| real(temporary) == folder)
    });
    !is_temporary && !is_around_home(place)
}

/// Whether a folder is or contains the home folder or a folder for temporary files. If it was
/// read-only, servers could hardly write anything.
pub(crate) fn is_around_home(folder: &Path) -> bool {
    let folder = real(folder);
    let usual = env::home_dir().into_iter().chain(temporary_folders());
    usual.map(|place| real(&place)).any(|place| place.starts_with(&folder))
}

fn temporary_folders() -> [PathBuf; 3] {
    [env::temp_dir(), PathBuf::from("/tmp"), PathBuf::from("/var/tmp")]
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_path_of_packs_starts_with_the_systems_programs() {
        let path = pack_path();
        assert!(path.starts_with("/usr/local/bin:/usr/bin:/bin"), "{path}");
        assert!(env::split_paths(&path).all(|folder| folder.is_absolute()), "{path}");
    }

    #[test]
    fn search_path_folders_that_the_user_can_change_are_closed_to_servers() {
        let closed = find_changeable_places();
        let open = |folder: &PathBuf| mcp::user_may_change(folder) && can_be_closed(folder);
        for folder in own_folders().into_iter().filter(open) {
            assert!(closed.contains(&folder), "{}", folder.display());
        }
        assert!(closed.iter().all(|place| can_be_closed(place)), "{closed:?}");
    }

    #[test]
    fn the_temporary_folder_and_files_directly_in_it_stay_open_to_servers() {
        let temporary = env::temp_dir();
        assert!(!can_be_closed(&temporary) && !can_be_closed(&temporary.join("missing.js")));
        assert!(can_be_closed(&temporary.join("missing/run.js")));
        assert!(!can_be_closed(Path::new("/")));
        let library = |folder: &str| libraries_beside(Path::new(folder));
        assert_eq!(library("/srv/tool/bin"), Some("/srv/tool/lib".into()));
        assert!(["/srv/tool/sbin", "/usr/bin", "/bin"].iter().all(|it| library(it).is_none()));
    }
}
