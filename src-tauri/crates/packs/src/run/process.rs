//! One child process behind a guard. It has limits, and everything that it started ends with it,
//! however the run or the app ends. Programs of packs are started here only.

use std::{
    io,
    os::unix::process::CommandExt as _,
    process::ExitStatus,
    sync::{Arc, Weak},
};

use guard::Guard;
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    runtime::Handle,
    task::spawn_blocking,
};

/// Limits of a run, set before the program starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) memory_bytes: u64,
    pub(crate) file_bytes: u64,
    pub(crate) files: u64,
}

/// A running program. Dropping it kills the program and everything that it started; its folder is
/// removed afterwards.
pub(crate) struct Group {
    /// The guard's process. It ends with the program's status, after everything that the program
    /// left behind.
    child: Option<Child>,
    guard: Option<Arc<Guard>>,
    folder: Option<TempDir>,
}

impl Group {
    /// Starts the command behind a guard. `confine` runs in the program's process only, directly
    /// before the program.
    pub(crate) async fn start(
        mut command: Command,
        limits: Limits,
        folder: TempDir,
        mut confine: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        // Forking a large process takes a moment.
        let (child, guard) = spawn_blocking(move || {
            let guard = Guard::attach(command.as_std_mut())?;
            // SAFETY: between fork and exec only system calls are made that are safe there; their
            // arguments were prepared before.
            unsafe {
                command.as_std_mut().pre_exec(move || {
                    limit(libc::RLIMIT_AS, limits.memory_bytes)?;
                    limit(libc::RLIMIT_FSIZE, limits.file_bytes)?;
                    limit(libc::RLIMIT_NOFILE, limits.files)?;
                    limit(libc::RLIMIT_CORE, 0)?;
                    confine()
                });
            }
            Ok::<_, io::Error>((command.spawn()?, guard))
        })
        .await
        .map_err(io::Error::other)??;
        Ok(Self { child: Some(child), guard: Some(Arc::new(guard)), folder: Some(folder) })
    }

    /// Returns the program's pipes, which can be taken once.
    pub(crate) fn child(&mut self) -> Option<&mut Child> {
        self.child.as_mut()
    }

    /// Waits for the program. Everything that it started and left behind is killed.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let Some(child) = &mut self.child else {
            return Err(io::Error::other("the program was waited for already"));
        };
        let status = child.wait().await;
        self.child = None;
        status
    }

    /// Returns a handle that can end the program while another task waits for it.
    pub(crate) fn killer(&self) -> Killer {
        Killer(self.guard.as_ref().map(Arc::downgrade).unwrap_or_default())
    }
}

/// Ends a program that still runs.
#[derive(Clone, Debug)]
pub(crate) struct Killer(Weak<Guard>);

impl Killer {
    /// Kills the program and everything that it started.
    pub(crate) fn kill(&self) {
        if let Some(guard) = self.0.upgrade() {
            guard.signal(libc::SIGKILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.guard = None;
        let (child, folder) = (self.child.take(), self.folder.take());
        if let (Some(mut child), Ok(runtime)) = (child, Handle::try_current()) {
            runtime.spawn(async move {
                let _ended = child.wait().await;
                drop(folder);
            });
        }
    }
}

/// Lowers a limit. A limit that is already lower stays.
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
