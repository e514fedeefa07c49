//! Hides places from a guarded program. In new user and mount namespaces, an empty folder is
//! mounted over a folder and the null device over a socket. This needs no privileges where the
//! system allows such namespaces. The user, the user's rights and all other files stay the same.
//! The parent prepares everything; the child only makes system calls. It must not know what the
//! places are for.

use std::{
    collections::BTreeSet,
    ffi::{CStr, CString},
    io,
    os::unix::{ffi::OsStrExt as _, process::CommandExt as _},
    path::PathBuf,
    process::{Command, Stdio},
    ptr,
    sync::OnceLock,
};

/// Places to hide in a child.
#[derive(Debug)]
pub struct Covers {
    folders: Vec<CString>,
    files: Vec<CString>,
    user_map: String,
    group_map: String,
}

impl Covers {
    /// Prepares to hide these places. Places that do not exist, or lie within another one, need no
    /// mount of their own.
    pub fn over(places: &[PathBuf]) -> Self {
        let real: BTreeSet<PathBuf> =
            places.iter().filter_map(|place| place.canonicalize().ok()).collect();
        let outermost = real
            .iter()
            .filter(|place| !real.iter().any(|other| *place != other && place.starts_with(other)));
        let (folders, files): (Vec<_>, Vec<_>) = outermost.partition(|place| place.is_dir());
        let paths = |places: Vec<&PathBuf>| {
            places
                .into_iter()
                .filter_map(|place| CString::new(place.as_os_str().as_bytes()).ok())
                .collect()
        };
        // SAFETY: both calls take no arguments, change nothing and cannot fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        Self {
            folders: paths(folders),
            files: paths(files),
            user_map: format!("{user} {user} 1\n"),
            group_map: format!("{group} {group} 1\n"),
        }
    }

    /// Hides the places. For the child: allocates nothing and makes system calls only. Programs
    /// that it starts later cannot undo this: they have no rights in the namespaces, or, as root,
    /// filter and Landlock deny them the calls.
    pub fn enforce(&self) -> io::Result<()> {
        // SAFETY: system calls on this process alone; all strings are live and end with a zero.
        unsafe {
            check_result(libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS))?;
            write(c"/proc/self/setgroups", "deny\n")?;
            write(c"/proc/self/uid_map", &self.user_map)?;
            write(c"/proc/self/gid_map", &self.group_map)?;
            // Later mounts of the system still appear here, but mounts made here do not appear
            // outside.
            check_result(libc::mount(
                ptr::null(),
                c"/".as_ptr(),
                ptr::null(),
                libc::MS_REC | libc::MS_SLAVE,
                ptr::null(),
            ))?;
            let flags = libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
            for folder in &self.folders {
                check_result(libc::mount(
                    c"none".as_ptr(),
                    folder.as_ptr(),
                    c"tmpfs".as_ptr(),
                    flags,
                    c"mode=0555,size=4k".as_ptr().cast(),
                ))?;
            }
            for file in &self.files {
                check_result(libc::mount(
                    c"/dev/null".as_ptr(),
                    file.as_ptr(),
                    ptr::null(),
                    libc::MS_BIND,
                    ptr::null(),
                ))?;
            }
        }
        Ok(())
    }
}

/// Whether this system lets an unprivileged process hide places. It is tried once, in a child that
/// ends at once.
pub fn covers_work() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        let covers = Covers::over(&[std::env::temp_dir()]);
        matches!(in_child(move || covers.enforce().is_ok()), Ok(true))
    })
}

/// Runs a check in a child process that starts no program, and returns its result. The check may
/// make system calls only.
pub fn in_child(mut ask: impl FnMut() -> bool + Send + Sync + 'static) -> io::Result<bool> {
    let mut command = Command::new("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: between fork and the error that ends the child only system calls are made.
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

fn write(path: &CStr, text: &str) -> io::Result<()> {
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
