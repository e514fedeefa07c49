//! A guard: a tiny process between the app and a program it starts. When the program ends or the app is gone, however that came
//! about, it kills everything the program started, daemons included, and ends as the program ended. It holds none of the
//! program's pipes, none of the app's files and next to none of its memory. Needs Linux with `/proc`. `lineage` tells programs below a
//! guard from all others.
//! Beside it, what may be put on the program itself between fork and exec: a filter on its system calls, and covers over places.
//! It must not know what the program is for.

mod calls;
mod cover;
mod lineage;
mod memory;
mod system;
mod watch;

use std::{
    fs,
    io::{self, Read, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::Command,
};

pub use calls::{CallFilter, Permits, Sockets, filters_work};
pub use cover::{Covers, covers_work, in_child};
pub use lineage::{Process, is_guarded};

/// The app's hold on a guard. Dropping it, like the end of the app, kills the program and all it started.
#[derive(Debug)]
pub struct Guard {
    line: UnixStream,
}

impl Guard {
    /// Puts a guard before the program that `command` starts. Spawn once, on this thread, and drop the command. The child is
    /// then the guard: it ends with the program's status, and must be waited for but not killed; end the program with
    /// [`Guard::signal`] or by dropping this. The program leads a process group of its own, in a session without a terminal.
    /// A `pre_exec` added before this runs in the guard too, one added later only in the program.
    pub fn attach(command: &mut Command) -> io::Result<Self> {
        let (line, far) = UnixStream::pair()?;
        line.set_nonblocking(true)?;
        // Without the map the guard merely stays as large as the app was.
        let maps = fs::read("/proc/self/maps").unwrap_or_default();
        let unneeded = memory::find_unneeded(&String::from_utf8_lossy(&maps), &system::needed_addresses());
        system::before_exec(command, OwnedFd::from(far), unneeded);
        Ok(Self { line })
    }

    /// The program's own process id. Ask once, after the spawn: by then the program has told it.
    pub fn program_id(&self) -> io::Result<u32> {
        let mut id = [0; size_of::<u32>()];
        (&self.line).read_exact(&mut id)?;
        Ok(u32::from_ne_bytes(id))
    }

    /// Sends a signal to the program's process group, if the program still runs.
    pub fn signal(&self, signal: i32) {
        if let Ok(signal) = u8::try_from(signal) {
            // A guard that is gone has nobody to pass it on to.
            let _ = (&self.line).write_all(&[signal]);
        }
    }
}

#[cfg(test)]
mod tests;
