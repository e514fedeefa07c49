//! Carries out file calls of a guarded program in open folders, in the app's process: reads the
//! arguments of a call, decides by `open_folders`, makes the call, and gives the result to the
//! program. Any other call continues in the kernel, where the rules on files decide. The decision
//! never depends on memory that the program could change after the check.

use std::{
    ffi::OsString,
    fs, io, mem,
    os::{
        fd::{AsRawFd as _, FromRawFd as _, OwnedFd},
        unix::{ffi::OsStringExt as _, net::UnixStream},
    },
    path::PathBuf,
    thread,
};

use super::{
    asking::{Asking, receive_descriptor},
    open_folders::{OpenFolders, OpenPlace},
};

/// Longer than any path that the kernel accepts.
const LONGEST_PATH: usize = 4_096;

/// The answer to a call.
enum Answer {
    /// The kernel continues the call unchanged.
    GoesOn,
    Done,
    Opened {
        file: OwnedFd,
        closes_on_exec: bool,
    },
    Failed(i32),
}

/// A call that waits for its answer.
struct Call<'a> {
    listener: &'a OwnedFd,
    open: &'a OpenFolders,
    id: u64,
    process: u32,
    number: libc::c_long,
    args: [u64; 6],
}

/// The app's end of the connection to a program that asks for help.
#[derive(Debug)]
pub struct Answering {
    line: UnixStream,
    open: OpenFolders,
}

impl OpenFolders {
    /// Prepares both ends of the connection: one for the program, which must apply it after all
    /// other restrictions, and one for the app.
    pub fn connect(self) -> io::Result<(Asking, Answering)> {
        let (near, far) = UnixStream::pair()?;
        Ok((Asking::new(far), Answering { line: near, open: self }))
    }
}

impl Answering {
    /// Answers the calls of the program on a separate thread, until the program and all processes
    /// started by the program have ended. Must be called before the program is started.
    pub fn start(self) -> io::Result<()> {
        thread::Builder::new().name("open-folders".into()).spawn(move || self.answer_calls())?;
        Ok(())
    }

    fn answer_calls(&self) {
        let Some(listener) = receive_descriptor(&self.line) else { return };
        while let Some(call) = next_call(&listener, &self.open) {
            call.send(&call.carry_out());
        }
    }
}

/// Waits for the next call. Returns None if no process is left that could make a call.
fn next_call<'a>(listener: &'a OwnedFd, open: &'a OpenFolders) -> Option<Call<'a>> {
    loop {
        let mut poll = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: both structures are live; the kernel requires that the notification is zero
        // before the call.
        unsafe {
            if libc::poll(&raw mut poll, 1, -1) < 0 {
                if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
                    continue;
                }
                return None;
            }
            if poll.revents & libc::POLLIN == 0 {
                return None;
            }
            let mut asked: libc::seccomp_notif = mem::zeroed();
            if libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked)
                != 0
            {
                match io::Error::last_os_error().raw_os_error() {
                    // The process was killed in the meantime.
                    Some(libc::ENOENT | libc::EINTR) => continue,
                    _ => return None,
                }
            }
            return Some(Call {
                listener,
                open,
                id: asked.id,
                process: asked.pid,
                number: libc::c_long::from(asked.data.nr),
                args: asked.data.args,
            });
        }
    }
}

impl Call<'_> {
    fn carry_out(&self) -> Answer {
        let here = libc::AT_FDCWD as u64;
        let [a, b, c, d, e, _] = self.args;
        match self.number {
            libc::SYS_openat => self.open(a, b, c, d),
            libc::SYS_mkdirat => self.make_folder(a, b, c),
            libc::SYS_unlinkat => self.remove(a, b, c),
            libc::SYS_renameat => self.rename((a, b), (c, d), 0),
            libc::SYS_renameat2 => self.rename((a, b), (c, d), e),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => self.open(here, a, b, c),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_creat => {
                let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
                self.open(here, a, flags as u64, b)
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mkdir => self.make_folder(here, a, b),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_unlink => self.remove(here, a, 0),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rmdir => self.remove(here, a, libc::AT_REMOVEDIR as u64),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rename => self.rename((here, a), (here, b), 0),
            _ => Answer::GoesOn,
        }
    }

    fn open(&self, at: u64, path: u64, flags: u64, mode: u64) -> Answer {
        let flags = flags as libc::c_int;
        // These flags open no file, or open a folder, which the rules on files allow everywhere.
        let other = libc::O_PATH | libc::O_DIRECTORY | libc::O_TMPFILE;
        if flags & other != 0 {
            return Answer::GoesOn;
        }
        let Some(OpenPlace { folder, name }) = self.find_place(at, path) else {
            return Answer::GoesOn;
        };
        let careful = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NOCTTY | libc::O_NONBLOCK;
        // SAFETY: the name is live, and nobody else owns the new descriptor.
        let opened = unsafe {
            libc::openat(folder.as_raw_fd(), name.as_ptr(), flags | careful, self.masked(mode))
        };
        if opened < 0 {
            return match io::Error::last_os_error().raw_os_error() {
                // The file is a link; the rules on files decide about its target.
                Some(libc::ELOOP) | None => Answer::GoesOn,
                Some(error) => Answer::Failed(error),
            };
        }
        // SAFETY: nobody else owns the descriptor.
        let file = unsafe { OwnedFd::from_raw_fd(opened) };
        let is_file = fs::File::from(match file.try_clone() {
            Ok(copy) => copy,
            Err(_) => return Answer::GoesOn,
        })
        .metadata()
        .is_ok_and(|about| about.is_file() || about.is_dir());
        if !is_file {
            return Answer::GoesOn;
        }
        if flags & libc::O_NONBLOCK == 0 {
            // SAFETY: the call only changes the flags of this descriptor.
            unsafe {
                let now = libc::fcntl(opened, libc::F_GETFL);
                libc::fcntl(opened, libc::F_SETFL, now & !libc::O_NONBLOCK);
            }
        }
        Answer::Opened { file, closes_on_exec: flags & libc::O_CLOEXEC != 0 }
    }

    fn make_folder(&self, at: u64, path: u64, mode: u64) -> Answer {
        let Some(OpenPlace { folder, name }) = self.find_place(at, path) else {
            return Answer::GoesOn;
        };
        // SAFETY: the name is live.
        let made = unsafe { libc::mkdirat(folder.as_raw_fd(), name.as_ptr(), self.masked(mode)) };
        Answer::of(made)
    }

    fn remove(&self, at: u64, path: u64, flags: u64) -> Answer {
        let Some(OpenPlace { folder, name }) = self.find_place(at, path) else {
            return Answer::GoesOn;
        };
        // SAFETY: the name is live.
        let removed =
            unsafe { libc::unlinkat(folder.as_raw_fd(), name.as_ptr(), flags as libc::c_int) };
        Answer::of(removed)
    }

    fn rename(&self, from: (u64, u64), to: (u64, u64), flags: u64) -> Answer {
        let (from, to) = (self.find_place(from.0, from.1), self.find_place(to.0, to.1));
        let (Some(from), Some(to)) = (from, to) else { return Answer::GoesOn };
        // SAFETY: both names are live.
        let renamed = unsafe {
            libc::syscall(
                libc::SYS_renameat2,
                from.folder.as_raw_fd(),
                from.name.as_ptr(),
                to.folder.as_raw_fd(),
                to.name.as_ptr(),
                flags as libc::c_uint,
            )
        };
        Answer::of(i32::try_from(renamed).unwrap_or(-1))
    }

    /// Returns the place that the program names, if the place is open and the program still waits
    /// for the answer.
    fn find_place(&self, at: u64, path: u64) -> Option<OpenPlace> {
        let path = PathBuf::from(OsString::from_vec(self.read_text(path)?));
        let path = if path.is_absolute() { path } else { self.folder_of(at)?.join(path) };
        self.still_waits().then(|| self.open.find_place(&path)).flatten()
    }

    fn folder_of(&self, at: u64) -> Option<PathBuf> {
        let at = at as libc::c_int;
        let link = if at == libc::AT_FDCWD {
            format!("/proc/{}/cwd", self.process)
        } else {
            format!("/proc/{}/fd/{at}", self.process)
        };
        fs::read_link(link).ok().filter(|folder| folder.is_absolute())
    }

    /// Reads a text from the program's memory page by page, because the page after the text may be
    /// unreadable.
    fn read_text(&self, address: u64) -> Option<Vec<u8>> {
        const PAGE: usize = 4_096;
        let mut text = Vec::new();
        let mut from = usize::try_from(address).ok()?;
        while text.len() < LONGEST_PATH {
            let length = PAGE - from % PAGE;
            let mut part = vec![0_u8; length];
            let mine = libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: length };
            let theirs = libc::iovec { iov_base: from as *mut libc::c_void, iov_len: length };
            let process = libc::pid_t::try_from(self.process).ok()?;
            // SAFETY: the buffer is live and has the given length; the other address belongs to the
            // other process, and the kernel checks that address.
            let read = unsafe {
                libc::process_vm_readv(process, &raw const mine, 1, &raw const theirs, 1, 0)
            };
            part.truncate(usize::try_from(read).ok().filter(|read| *read > 0)?);
            if let Some(end) = part.iter().position(|byte| *byte == 0) {
                text.extend_from_slice(&part[..end]);
                return (!text.is_empty() && text.len() < LONGEST_PATH).then_some(text);
            }
            from += part.len();
            text.append(&mut part);
        }
        None
    }

    fn still_waits(&self) -> bool {
        let id = self.id;
        // SAFETY: the id is live.
        unsafe {
            libc::ioctl(
                self.listener.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_ID_VALID,
                &raw const id,
            ) == 0
        }
    }

    /// Applies the program's file mode mask to a mode.
    fn masked(&self, mode: u64) -> libc::mode_t {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process));
        let mask = status.ok().and_then(|status| {
            let line = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
            u32::from_str_radix(line.trim(), 8).ok()
        });
        // Limits the mode to the usual bits, without set-user-id.
        mode as libc::mode_t & 0o777 & !mask.unwrap_or(0o077)
    }

    fn send(&self, answer: &Answer) {
        let listener = self.listener.as_raw_fd();
        // SAFETY: the structure is plain data, for which zeros are valid.
        let mut reply: libc::seccomp_notif_resp = unsafe { mem::zeroed() };
        reply.id = self.id;
        match answer {
            Answer::GoesOn => reply.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
            Answer::Done => {}
            Answer::Failed(error) => reply.error = -error,
            Answer::Opened { file, closes_on_exec } => {
                let given = libc::seccomp_notif_addfd {
                    id: self.id,
                    flags: libc::SECCOMP_ADDFD_FLAG_SEND as u32,
                    srcfd: file.as_raw_fd() as u32,
                    newfd: 0,
                    newfd_flags: if *closes_on_exec { libc::O_CLOEXEC as u32 } else { 0 },
                };
                // SAFETY: the structure is live. The call also sends the answer.
                let sent = unsafe {
                    libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw const given)
                };
                if sent >= 0 {
                    return;
                }
                reply.error = -libc::EMFILE;
            }
        }
        // A program that was killed in the meantime needs no answer. SAFETY: the structure is live.
        unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const reply) };
    }
}

impl Answer {
    fn of(result: libc::c_int) -> Self {
        match io::Error::last_os_error().raw_os_error() {
            Some(error) if result < 0 => Self::Failed(error),
            _ => Self::Done,
        }
    }
}
