//! A guard: a tiny process between the app and a program that the app starts. When the program or
//! the app ends, for whatever reason, the guard kills everything that the program started, daemons
//! included, and ends with the program's status. The guard keeps none of the program's pipes, none
//! of the app's files and almost none of the app's memory. Needs Linux with `/proc`. `lineage`
//! finds out which processes run below a guard. The crate also contains the restrictions that are
//! applied to the program between fork and exec (a filter on system calls, rules on files, a
//! network of its own, limits, and mounts over places), and the help with files in folders that the
//! rules on files cannot open. The crate must not know what the program is for.

mod answering;
mod asking;
mod calls;
mod confinement;
mod cover;
mod limits;
mod lineage;
mod memory;
mod network;
mod open_folders;
mod sandbox;
mod system;
mod watch;

use std::{
    fs,
    io::{self, Read, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::Command,
};

pub use answering::Answering;
pub use asking::Asking;
pub use calls::{CallFilter, Permits, Sockets, filters_work};
pub use confinement::{Confinement, Network, NetworkRestriction, OwnPort, network_restriction};
pub use cover::{Covers, covers_work, freezing_works, in_child};
pub use limits::Limits;
pub use lineage::{Process, is_guarded};
pub use network::own_networks_work;
pub use open_folders::{AllowedPlace, OpenFolders};
pub use sandbox::{Folders, Sandbox, landlock_abi, ports_work};

/// The app's handle to a guard. Dropping the handle kills the program and everything that the
/// program started, just as the end of the app does.
#[derive(Debug)]
pub struct Guard {
    line: UnixStream,
}

impl Guard {
    /// Puts a guard in front of the program that `command` starts. Spawn the command once, on this
    /// thread, and drop it. The child is then the guard, which ends with the program's status. Wait
    /// for the child, but do not kill it; end the program with [`Guard::signal`] or by dropping the
    /// handle. The program leads its own process group, in a session without a terminal. A
    /// `pre_exec` that was added before also runs in the guard; a `pre_exec` added later runs in
    /// the program only.
    pub fn attach(command: &mut Command) -> io::Result<Self> {
        let (line, far) = UnixStream::pair()?;
        line.set_nonblocking(true)?;
        // If the map cannot be read, the guard keeps all memory of the app.
        let maps = fs::read("/proc/self/maps").unwrap_or_default();
        let needed = system::needed_addresses(watch::run);
        let unneeded = memory::find_unneeded(&String::from_utf8_lossy(&maps), &needed);
        system::before_exec(command, OwnedFd::from(far), unneeded, watch::run);
        Ok(Self { line })
    }

    /// Returns the program's process id. Call it once, after the spawn; the program has sent the id
    /// before the spawn returns.
    pub fn program_id(&self) -> io::Result<u32> {
        let mut id = [0; size_of::<u32>()];
        (&self.line).read_exact(&mut id)?;
        Ok(u32::from_ne_bytes(id))
    }

    /// Sends a signal to the program's process group, if the program still runs.
    pub fn signal(&self, signal: i32) {
        if let Ok(signal) = u8::try_from(signal) {
            // The write fails if the guard has ended, and then the program has ended, too.
            let _ = (&self.line).write_all(&[signal]);
        }
    }
}

#[cfg(test)]
mod tests;
