//! Hides places from a guarded program, makes others read-only, and gives the program its own
//! terminals. In new user and mount namespaces, an empty folder is mounted over a hidden folder,
//! the null device over a hidden socket or device, and a read-only place over itself. This needs no
//! privileges where the system allows such namespaces. The user, the user's rights and all other
//! files stay the same. The parent prepares everything; the child only makes system calls. The
//! module must not know what the places are for.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{CStr, CString, OsStr},
    io,
    os::unix::{ffi::OsStrExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    ptr,
    sync::OnceLock,
};

/// Longer than any path that the kernel accepts.
const LONGEST_PATH: usize = 4_096;
/// The folder with the terminals that programs create.
const TERMINALS: &CStr = c"/dev/pts";

/// The places to hide from a child, and the places to make read-only for the child.
#[derive(Debug)]
pub struct Covers {
    folders: Vec<CString>,
    files: Vec<CString>,
    /// The places that become read-only, and the places inside that stay writable. The innermost
    /// places come first.
    fixed: Vec<(CString, Change)>,
    own_terminals: bool,
    user_map: String,
    group_map: String,
}

/// Whether a program may change a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Open,
    Frozen,
}

impl Covers {
    /// Prepares to hide these places. Places that do not exist, or lie within another place, need
    /// no mount.
    pub fn over(places: &[PathBuf]) -> Self {
        let (folders, files): (Vec<_>, Vec<_>) =
            resolve_outermost_places(places).into_iter().partition(|place| place.is_dir());
        let paths = |places: Vec<PathBuf>| places.iter().filter_map(|path| text_of(path)).collect();
        // SAFETY: both calls take no arguments, change nothing and cannot fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        Self {
            folders: paths(folders),
            files: paths(files),
            fixed: Vec::new(),
            own_terminals: false,
            user_map: format!("{user} {user} 1\n"),
            group_map: format!("{group} {group} 1\n"),
        }
    }

    /// Also gives the program an empty folder of terminals, so that it only sees the terminals that
    /// it creates.
    #[must_use]
    pub fn with_own_terminals(mut self) -> Self {
        self.own_terminals = Path::new(OsStr::from_bytes(TERMINALS.to_bytes())).is_dir();
        self
    }

    /// Also makes the places in `frozen` read-only, except for the places in `but`. The innermost
    /// place around a file decides; a place in both lists is read-only. Not even the mode and times
    /// of a read-only file can be changed, by any path to the file. Call this last.
    #[must_use]
    pub fn with_read_only(mut self, frozen: &[PathBuf], but: &[PathBuf]) -> Self {
        let mut places = BTreeMap::new();
        for (list, change) in [(but, Change::Open), (frozen, Change::Frozen)] {
            let real = list.iter().filter_map(|place| place.canonicalize().ok());
            places.extend(real.map(|place| (place, change)));
        }
        // An empty folder that is mounted over a hidden folder is already read-only.
        let hidden = self.folders.iter().map(|path| Path::new(OsStr::from_bytes(path.to_bytes())));
        let hidden: Vec<&Path> = hidden.collect();
        places.retain(|place, _| !hidden.iter().any(|folder| place.starts_with(folder)));
        // The places are sorted, so that a folder comes before the places inside.
        let mut needed: Vec<(PathBuf, Change)> = Vec::new();
        for (place, change) in places {
            let enclosing = needed.iter().rev().find(|(folder, _)| place.starts_with(folder));
            if enclosing.map_or(Change::Open, |(_, change)| *change) != change {
                needed.push((place, change));
            }
        }
        let inner_first = needed.into_iter().rev();
        self.fixed =
            inner_first.filter_map(|(place, change)| Some((text_of(&place)?, change))).collect();
        self
    }

    /// Hides the places. Runs in the child, so it allocates nothing and only makes system calls.
    /// Programs that are started later cannot undo this: they have no rights in the namespaces, or,
    /// as root, the filter and Landlock deny them the calls.
    pub fn enforce(&self) -> io::Result<()> {
        // SAFETY: the calls change this process only; all strings are live and end with a zero.
        unsafe {
            check_result(libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS))?;
            write(c"/proc/self/setgroups", "deny\n")?;
            write(c"/proc/self/uid_map", &self.user_map)?;
            write(c"/proc/self/gid_map", &self.group_map)?;
            // Later mounts of the system still appear in the new namespace, but mounts made here do
            // not appear outside.
            check_result(libc::mount(
                ptr::null(),
                c"/".as_ptr(),
                ptr::null(),
                libc::MS_REC | libc::MS_SLAVE,
                ptr::null(),
            ))?;
        }
        self.folders.iter().try_for_each(|folder| unless_gone(mount_empty_folder(folder)))?;
        self.files.iter().try_for_each(|file| unless_gone(mount_null_device(file)))?;
        if self.own_terminals {
            mount_new_terminals().or_else(|_| mount_empty_folder(TERMINALS))?;
        }
        // Inner places are mounted first, because a later mount over a folder keeps the mounts
        // inside.
        self.fixed.iter().try_for_each(|(place, change)| unless_gone(change.enforce(place)))?;
        if self.fixed.is_empty() { Ok(()) } else { enter_folder_again() }
    }
}

impl Change {
    fn enforce(self, place: &CStr) -> io::Result<()> {
        mount_over_itself(place)?;
        match self {
            Self::Open => Ok(()),
            Self::Frozen => make_read_only(place),
        }
    }
}

/// Ignores the error for a place that was removed in the meantime and so needs no mount.
fn unless_gone(mounted: io::Result<()>) -> io::Result<()> {
    match mounted {
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
        mounted => mounted,
    }
}

/// Returns the real paths of the places that exist and lie in no other place.
fn resolve_outermost_places(places: &[PathBuf]) -> Vec<PathBuf> {
    let real: BTreeSet<PathBuf> =
        places.iter().filter_map(|place| place.canonicalize().ok()).collect();
    let inside =
        |place: &PathBuf| real.iter().any(|other| place != other && place.starts_with(other));
    real.iter().filter(|place| !inside(place)).cloned().collect()
}

fn text_of(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}

/// Whether this system lets an unprivileged process hide places. This is tried once, in a child
/// that ends at once.
pub fn covers_work() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        let covers = Covers::over(&[std::env::temp_dir()]);
        matches!(in_child(move || covers.enforce().is_ok()), Ok(true))
    })
}

/// Whether this system also lets an unprivileged process make a folder read-only for itself. This
/// is tried once.
pub fn freezing_works() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        let covers = Covers::over(&[]).with_read_only(&[std::env::temp_dir()], &[]);
        matches!(in_child(move || covers.enforce().is_ok()), Ok(true))
    })
}

/// Runs a check in a child process that starts no program, and returns its result. The check may
/// make system calls only.
pub fn in_child(mut ask: impl FnMut() -> bool + Send + Sync + 'static) -> io::Result<bool> {
    let mut command = Command::new("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: only system calls are made between fork and the error that ends the child.
    unsafe {
        command.pre_exec(move || {
            Err(io::Error::from_raw_os_error(if ask() { libc::EALREADY } else { libc::ENOTSUP }))
        })
    };
    match command.spawn() {
        Ok(mut child) => child.wait().map(|_| false),
        Err(error) if error.raw_os_error() == Some(libc::EALREADY) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::ENOTSUP) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Mounts an empty folder over a folder.
fn mount_empty_folder(folder: &CStr) -> io::Result<()> {
    let flags = libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    mount_new(folder, c"tmpfs", flags, c"mode=0555,size=4k")
}

/// Mounts a new set of terminals over the system's terminals. Not every kernel lets an unprivileged
/// process do that.
fn mount_new_terminals() -> io::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
    mount_new(TERMINALS, c"devpts", flags, c"newinstance,ptmxmode=0666,mode=0620")
}

fn mount_new(folder: &CStr, kind: &CStr, flags: libc::c_ulong, options: &CStr) -> io::Result<()> {
    // SAFETY: the call changes this process's mounts only; all strings are live and end with a
    // zero.
    check_result(unsafe {
        libc::mount(
            c"none".as_ptr(),
            folder.as_ptr(),
            kind.as_ptr(),
            flags,
            options.as_ptr().cast(),
        )
    })?;
    Ok(())
}

/// Mounts the null device over a file.
fn mount_null_device(file: &CStr) -> io::Result<()> {
    let (null, flags) = (c"/dev/null", libc::MS_BIND);
    // SAFETY: the call changes this process's mounts only; both paths are live and end with a zero.
    check_result(unsafe {
        libc::mount(null.as_ptr(), file.as_ptr(), ptr::null(), flags, ptr::null())
    })?;
    Ok(())
}

/// Mounts a folder or file over itself, including the mounts inside.
fn mount_over_itself(folder: &CStr) -> io::Result<()> {
    let flags = libc::MS_BIND | libc::MS_REC;
    // SAFETY: the call changes this process's mounts only; the path is live and ends with a zero.
    check_result(unsafe {
        libc::mount(folder.as_ptr(), folder.as_ptr(), ptr::null(), flags, ptr::null())
    })?;
    Ok(())
}

/// Makes only the topmost mount at a place read-only.
fn make_read_only(folder: &CStr) -> io::Result<()> {
    let change = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the call changes this process's mounts only; path and structure are live, and the
    // size is that of the structure.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            folder.as_ptr(),
            0_u32,
            &raw const change,
            size_of::<libc::mount_attr>(),
        )
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Changes to the working folder again by path. The process entered the folder before the mounts
/// were made, so a program could leave the folder by `..` and change protected files below the
/// mounts.
fn enter_folder_again() -> io::Result<()> {
    let mut path = [0_u8; LONGEST_PATH];
    // SAFETY: the kernel writes at most the given length, and ends the path with a zero.
    let read = unsafe { libc::syscall(libc::SYS_getcwd, path.as_mut_ptr(), path.len()) };
    if read < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the path is live and ends with a zero.
    check_result(unsafe { libc::chdir(path.as_ptr().cast()) })?;
    Ok(())
}

pub(crate) fn write(path: &CStr, text: &str) -> io::Result<()> {
    // SAFETY: the path and the text are live, the length is that of the text, and the file is
    // closed where it was opened.
    unsafe {
        let file = check_result(libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC))?;
        let written = libc::write(file, text.as_ptr().cast(), text.len());
        let error = io::Error::last_os_error();
        libc::close(file);
        if written == text.len().cast_signed() { Ok(()) } else { Err(error) }
    }
}

fn check_result(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
