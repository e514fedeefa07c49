//! Folders in which a guarded program may make, change and remove files although the rules on files
//! cannot say so: Landlock allows a folder with everything below it, so a folder with something
//! closed below it is allowed only in parts, and nothing new can be made in it. Decides about paths,
//! and opens folders without following links. Must not know system calls of the program.

use std::{
    ffi::{CString, OsStr},
    fs, io,
    os::{
        fd::{AsRawFd as _, FromRawFd as _, OwnedFd},
        unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    },
    path::{Component, Path, PathBuf},
};

/// Folders that are open to a program, and what stays closed in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenFolders {
    /// The open folders, by their real paths.
    pub folders: Vec<PathBuf>,
    /// Places that stay closed, by their real paths, and the links to them.
    pub closed: Vec<PathBuf>,
    /// Places that the program can use without help.
    pub allowed: Vec<AllowedPlace>,
}

/// A place that the rules on files allow. They hold for what is there now, wherever it is moved, and
/// not for what is put at its path later. As long as they hold, nothing else gets its inode.
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
    /// Notes what is at a path now. None if there is nothing.
    pub fn find(path: PathBuf) -> Option<Self> {
        let about = fs::symlink_metadata(&path).ok()?;
        Some(Self { path, device: about.dev(), inode: about.ino() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a place lies in it, and it is still what it was.
    fn holds(&self, place: &Path) -> bool {
        let is_same = |about: fs::Metadata| (about.dev(), about.ino()) == (self.device, self.inode);
        place.starts_with(&self.path) && fs::symlink_metadata(&self.path).is_ok_and(is_same)
    }
}

impl OpenFolders {
    /// Opens the folder of a place, if the place is open and the program needs help there. The path
    /// is absolute.
    pub(crate) fn find_place(&self, path: &Path) -> Option<OpenPlace> {
        // The files of `/proc` depend on who asks.
        if path.starts_with("/proc") || path.starts_with("/dev") {
            return None;
        }
        let (parent, name) = (path.parent()?.canonicalize().ok()?, path.file_name()?);
        let root = self.open_root(&parent, name)?;
        let below = parent.strip_prefix(root).ok()?;
        let folder = open_below(root, below).ok()?;
        Some(OpenPlace { folder, name: CString::new(name.as_bytes()).ok()? })
    }

    /// Returns the open folder that a place lies in. Hidden names are never open, and neither is what
    /// holds a closed place.
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

/// Opens a folder below another one. No part of the way below may be a link or another file system.
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
    // SAFETY: path and structure are live, and the size is that of the structure. The new descriptor
    // belongs to nobody else.
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
    fn only_plain_names_beside_closed_places_are_open() {
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
    fn a_folder_needs_no_help_only_as_long_as_it_is_the_one_that_is_allowed() {
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
