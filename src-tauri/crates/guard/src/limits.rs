//! Limits on the resources of a program, set between fork and exec. The module must not know what
//! the program is for.

use std::io;

/// The limits of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of bytes of address space.
    pub memory_bytes: u64,
    /// The maximum size in bytes of a file that the program writes.
    pub file_bytes: u64,
    /// The maximum number of open files.
    pub files: u64,
}

impl Limits {
    /// Applies the limits. Runs in the child, so it only makes system calls. The program writes no
    /// core file.
    pub fn enforce(&self) -> io::Result<()> {
        limit(libc::RLIMIT_AS, self.memory_bytes)?;
        limit(libc::RLIMIT_FSIZE, self.file_bytes)?;
        limit(libc::RLIMIT_NOFILE, self.files)?;
        limit(libc::RLIMIT_CORE, 0)
    }
}

/// Lowers a resource limit. A lower existing limit is kept.
fn limit(which: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is local and outlives the calls.
    unsafe {
        if libc::getrlimit(which, &raw mut now) != 0 {
            return Err(io::Error::last_os_error());
        }
        let most = most.min(now.rlim_max);
        let wanted = libc::rlimit { rlim_cur: most, rlim_max: most };
        if libc::setrlimit(which, &raw const wanted) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
