//! One child process: its own group, its limits, killed with this program and as a whole. The only place that starts
//! programs of packs; what a stronger guard of process trees does belongs here.

use std::{io, os::unix::process::CommandExt as _, process::ExitStatus, sync::mpsc, thread};

use tokio::{
    process::{Child, Command},
    runtime::Handle,
    sync::oneshot,
};

/// Limits of a run, set before the program starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) memory_bytes: u64,
    pub(crate) file_bytes: u64,
    pub(crate) files: u64,
}

/// A running program. Dropping it kills the whole group.
pub(crate) struct Group {
    pub(crate) child: Child,
    group: i32,
    ended: bool,
    // The kernel's "parent died" signal follows the thread that spawned: it stays until the run is over.
    _keeper: mpsc::Sender<()>,
}

impl Group {
    /// Starts the command in a group of its own. `confine` runs in the child, last before the program.
    pub(crate) async fn start(mut command: Command, limits: Limits, mut confine: impl FnMut() -> io::Result<()> + Send + Sync + 'static) -> io::Result<Self> {
        command.process_group(0).kill_on_drop(true);
        let parent = std::process::id();
        // SAFETY: between fork and exec only system calls are made that are safe there; what they need was made before.
        unsafe {
            command.as_std_mut().pre_exec(move || {
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                    return Err(io::Error::last_os_error());
                }
                if u32::try_from(libc::getppid()).ok() != Some(parent) {
                    return Err(io::Error::from_raw_os_error(libc::ESRCH));
                }
                limit(libc::RLIMIT_AS, limits.memory_bytes)?;
                limit(libc::RLIMIT_FSIZE, limits.file_bytes)?;
                limit(libc::RLIMIT_NOFILE, limits.files)?;
                limit(libc::RLIMIT_CORE, 0)?;
                confine()
            });
        }
        let (keeper, until) = mpsc::channel::<()>();
        let (done, started) = oneshot::channel();
        let runtime = Handle::current();
        thread::Builder::new().name("pack-program".to_owned()).spawn(move || {
            let _context = runtime.enter();
            // A caller that no longer waits drops the child, which kills it.
            let _ = done.send(command.spawn());
            let _ = until.recv();
        })?;
        let child = started.await.map_err(|_| io::Error::other("the thread that starts programs is gone"))??;
        let group = child.id().and_then(|pid| i32::try_from(pid).ok()).ok_or_else(|| io::Error::other("the program has no number"))?;
        Ok(Self { child, group, ended: false, _keeper: keeper })
    }

    /// Waits for the program; whatever it started and left behind goes with it.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await;
        self.kill();
        self.ended = true;
        status
    }

    /// A way to end it while somebody else waits for it.
    pub(crate) fn killer(&self) -> Killer {
        Killer(self.group)
    }

    fn kill(&self) {
        if !self.ended {
            Killer(self.group).kill();
        }
    }
}

/// Ends a group that still runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Killer(i32);

impl Killer {
    /// Ends all of it at once.
    pub(crate) fn kill(self) {
        // SAFETY: plain system call on a group number that this process created.
        unsafe { libc::killpg(self.0, libc::SIGKILL) };
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Lowers a limit; one that is lower already stays.
fn limit(which: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: plain system calls on a live structure of this function.
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
