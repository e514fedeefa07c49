//! Folders in which a guarded program may create, change and remove files although Landlock, which
//! enforces the rules on files, cannot express this permission: Landlock allows a folder only with
//! everything below. A folder with a closed place below is therefore allowed only in parts, and no
//! new file can be created in it. The module decides about paths and opens folders without
//! following links. It must not know the program's system calls.

use std::{
    ffi::{CString, OsStr},
    fs, io,
    os::{
        fd::{AsRawFd as _, FromRawFd as _, OwnedFd},
        unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    },
    path::{Component, Path, PathBuf},
};

/// The folders that are open to a program, and the places inside that stay closed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenFolders {
    /// The open folders, by their real paths.
    pub folders: Vec<PathBuf>,
    /// Places that stay closed, by their real paths, and the links to these places.
    pub closed: Vec<PathBuf>,
    /// The places that the program can use without help.
    pub allowed: Vec<AllowedPlace>,
}

/// A place that the rules on files allow. A rule applies to the file or folder that is there now,
/// wherever it is moved, and not to a later file or folder at the same path. As long as the rule
/// exists, no other file gets the same inode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedPlace {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// A name in an open folder. The folder was opened without following a link.
#[derive(Debug)]
pub(crate) struct OpenPlace {
    pub(crate) folder: OwnedFd,
    pub(crate) name: CString,
}

impl AllowedPlace {
    /// Remembers which file or folder is at a path now. Returns None if there is none.
    pub fn find(path: PathBuf) -> Option<Self> {
        let about = fs::symlink_metadata(&path).ok()?;
        Some(Self { path, device: about.dev(), inode: about.ino() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether another place lies in this place, and this path still leads to the same file or
    /// folder.
    fn holds(&self, place: &Path) -> bool {
        let is_same = |about: fs::Metadata| (about.dev(), about.ino()) == (self.device, self.inode);
        place.starts_with(&self.path) && fs::symlink_metadata(&self.path).is_ok_and(is_same)
    }
}

impl OpenFolders {
    /// Opens the parent folder of a place, if the place is open and the program needs help there.
    /// The path is absolute.
    pub(crate) fn find_place(&self, path: &Path) -> Option<OpenPlace> {
        // The app must not open these files for the program, because the files of `/proc` depend on
        // the process that opens them.
        if path.starts_with("/proc") || path.starts_with("/dev") {
            return None;
        }
        let (parent, name) = (path.parent()?.canonicalize().ok()?, path.file_name()?);
        let root = self.open_root(&parent, name)?;
        let below = parent.strip_prefix(root).ok()?;
        let folder = open_below(root, below).ok()?;
        Some(OpenPlace { folder, name: CString::new(name.as_bytes()).ok()? })
    }

    /// Returns the open folder that contains a place. Hidden names are never open, and neither is a
    /// folder with a closed place inside.
    fn open_root(&self, parent: &Path, name: &OsStr) -> Option<&Path> {
        if self.allowed.iter().any(|place| place.holds(parent)) {
            return None;
        }
        let place = parent.join(name);
        let is_closed = |closed: &PathBuf| place.starts_with(closed) || closed.starts_with(&place);
        let root = self.folders.iter().find(|root| parent.starts_with(root))?;
        let below = place.strip_prefix(root).ok()?;
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(name) if !name.as_bytes().starts_with(b"."));
        let is_open = below.components().all(is_plain) && !self.closed.iter().any(is_closed);
        is_open.then_some(root)
    }
}

/// Opens a folder below another folder. No part of the path below may be a link or another file
/// system.
fn open_below(root: &Path, below: &Path) -> io::Result<OwnedFd> {
    let root = open_path(libc::AT_FDCWD, root, 0)?;
    if below.as_os_str().is_empty() {
        return Ok(root);
    }
    let resolve = libc::RESOLVE_BENEATH | libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_NO_XDEV;
    open_path(root.as_raw_fd(), below, resolve)
}

fn open_path(at: libc::c_int, path: &Path, resolve: u64) -> io::Result<OwnedFd> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the structure is plain data, for which zeros are valid.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    how.flags = u64::from(flags.unsigned_abs());
    how.resolve = resolve;
    // SAFETY: path and structure are live, the size is that of the structure, and nobody else owns
    // the new descriptor.
    unsafe {
        let opened = libc::syscall(
            libc::SYS_openat2,
            at,
            path.as_ptr(),
            &raw const how,
            size_of::<libc::open_how>(),
        );
        match i32::try_from(opened) {
            Ok(opened) if opened >= 0 => Ok(OwnedFd::from_raw_fd(opened)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_outside_closed_places_count_as_open() {
        let open = OpenFolders {
            folders: vec!["/home/me".into()],
            closed: vec!["/home/me/apps/countersign".into(), "/home/me/bin".into()],
            allowed: Vec::new(),
        };
        let is_open = |path: &str| {
            let path = Path::new(path);
            open.open_root(path.parent().unwrap(), path.file_name().unwrap()).is_some()
        };
        for path in
            ["/home/me/a.txt", "/home/me/new/a.txt", "/home/me/apps/other", "/home/me/binary"]
        {
            assert!(is_open(path), "{path}");
        }
        for path in [
            "/home/me",
            "/home/other",
            "/home/me/.bashrc",
            "/home/me/.ssh/authorized_keys",
            "/home/me/new/.git",
            "/home/me/bin",
            "/home/me/bin/tool",
            "/home/me/apps",
            "/home/me/apps/countersign/settings.json",
            "/etc/passwd",
        ] {
            assert!(!is_open(path), "{path}");
        }
    }

    #[test]
    fn an_allowed_folder_is_opened_directly_only_until_it_is_replaced() {
        let root = std::env::temp_dir().canonicalize().unwrap();
        let root = root.join(format!("countersign-allowed-{}", std::process::id()));
        let (docs, file) = (root.join("docs"), root.join("docs/a.txt"));
        fs::create_dir_all(&docs).unwrap();
        let open = OpenFolders {
            folders: vec![root.clone()],
            closed: Vec::new(),
            allowed: AllowedPlace::find(docs.clone()).into_iter().collect(),
        };
        assert!(open.find_place(&file).is_none());
        fs::rename(&docs, root.join("moved")).unwrap();
        fs::create_dir(&docs).unwrap();
        assert!(open.find_place(&file).is_some(), "another folder at its path");
        assert!(open.find_place(&root.join("moved/a.txt")).is_some(), "it has another path");
        fs::remove_dir_all(&root).unwrap();
    }
}
