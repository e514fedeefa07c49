//! Identifies a client of the local socket through the kernel: which process it is, whether
//! Countersign started it for a pack, and whether a person uses it. The client's own claims are
//! ignored. Must not know what a client may do.

use std::{
    fs, io,
    os::{
        fd::{AsRawFd as _, FromRawFd as _, OwnedFd},
        unix::fs::{FileTypeExt as _, MetadataExt as _},
    },
};

use guard::Process;
use tokio::net::UnixStream;

use crate::profile::effective_user;

/// The socket option `SO_PEERPIDFD` of Linux 6.5 and later.
const PEER_PIDFD: libc::c_int = 77;

/// The process that connected.
#[derive(Debug)]
pub(crate) struct Peer {
    id: i32,
    started: u64,
    /// The kernel's handle to the process. Kernels before 6.5 do not provide a handle, so the start
    /// time of the process is compared instead.
    handle: Option<OwnedFd>,
}

/// Why a client is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PeerRefusal {
    #[error("it belongs to another user")]
    OtherUser,
    #[error("it runs for a pack")]
    OfPack,
    #[error("the kernel does not tell who it is: {0}")]
    Unknown(#[from] io::Error),
}

impl Peer {
    /// Returns the client of a connection. Fails if the client must not be accepted.
    pub(crate) fn identify(stream: &UnixStream) -> Result<Self, PeerRefusal> {
        let credentials = stream.peer_cred()?;
        if credentials.uid() != effective_user() {
            return Err(PeerRefusal::OtherUser);
        }
        let handle = process_handle(stream)?;
        let id = credentials
            .pid()
            .filter(|id| *id > 0)
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let peer = Self { id, started: Process::of(id)?.started, handle };
        let guarded = guard::is_guarded(id)?;
        // The data read above belongs to the client only if the client is still running.
        peer.check_alive()?;
        if guarded { Err(PeerRefusal::OfPack) } else { Ok(peer) }
    }

    /// Whether a person uses the client now: its standard input is its terminal, and the client
    /// runs in the foreground.
    pub(crate) fn is_at_terminal(&self) -> bool {
        self.is_in_foreground().unwrap_or(false)
    }

    fn is_in_foreground(&self) -> io::Result<bool> {
        let process = Process::of(self.id)?;
        let input = fs::metadata(format!("/proc/{}/fd/0", self.id))?;
        self.check_alive()?;
        let own = process.terminal != 0
            && input.file_type().is_char_device()
            && to_tty_number(input.rdev()) == process.terminal;
        Ok(own && process.group == process.foreground)
    }

    fn check_alive(&self) -> io::Result<()> {
        let alive = match &self.handle {
            Some(handle) => !has_ended(handle)?,
            None => Process::of(self.id)?.started == self.started,
        };
        if alive { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

/// Converts a device number to the form in `/proc/PID/stat`.
fn to_tty_number(device: u64) -> i32 {
    let (major, minor) = (libc::major(device), libc::minor(device));
    let encoded = (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12);
    encoded.cast_signed()
}

/// Returns the kernel's handle of the process that connected.
fn process_handle(stream: &UnixStream) -> io::Result<Option<OwnedFd>> {
    let mut handle: libc::c_int = -1;
    let mut length = libc::socklen_t::try_from(size_of_val(&handle)).map_err(io::Error::other)?;
    // SAFETY: the kernel writes one number and its length, and there is enough space.
    let got = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            PEER_PIDFD,
            (&raw mut handle).cast(),
            &raw mut length,
        )
    };
    if got == 0 && handle >= 0 {
        // SAFETY: the kernel has just opened the descriptor for this process, and no other code has
        // it.
        return Ok(Some(unsafe { OwnedFd::from_raw_fd(handle) }));
    }
    match io::Error::last_os_error() {
        old if old.raw_os_error() == Some(libc::ENOPROTOOPT) => Ok(None),
        gone => Err(gone),
    }
}

fn has_ended(handle: &OwnedFd) -> io::Result<bool> {
    let mut poll = libc::pollfd { fd: handle.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the call gets one entry that is valid until the call returns, and the call does not
    // block.
    match unsafe { libc::poll(&raw mut poll, 1, 0) } {
        0 => Ok(false),
        count if count > 0 => Ok(true),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_device_numbers_use_the_encoding_of_proc() {
        assert_eq!(to_tty_number(libc::makedev(136, 1)), 34817);
        assert_eq!(to_tty_number(libc::makedev(136, 256)), 0x0010_8800);
        assert_eq!(to_tty_number(libc::makedev(4, 2)), 1026);
    }
}
