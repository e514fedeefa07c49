//! Runs a child process behind a guard. The process has limits, and everything that it started is
//! killed when it ends, however the run or the app ends. Programs of packs are started only here.

use std::{
    io,
    os::unix::process::CommandExt as _,
    process::ExitStatus,
    sync::{Arc, Weak},
};

use guard::{Guard, Limits};
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    runtime::Handle,
    task::spawn_blocking,
};

/// A running program. Dropping it kills the program and everything that it started; then its folder
/// is removed.
pub(crate) struct Group {
    /// The guard's process. It exits with the program's status, after all processes that the
    /// program left behind have ended.
    child: Option<Child>,
    guard: Option<Arc<Guard>>,
    folder: Option<TempDir>,
}

impl Group {
    /// Starts the command behind a guard. `confine` runs only in the program's process, right
    /// before the program starts.
    pub(crate) async fn start(
        mut command: Command,
        limits: Limits,
        folder: TempDir,
        mut confine: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        // Forking a large process takes a while, so it runs on a blocking thread.
        let (child, guard) = spawn_blocking(move || {
            let guard = Guard::attach(command.as_std_mut())?;
            // SAFETY: between fork and exec, only async-signal-safe system calls are made. Their
            // arguments were prepared before the fork.
            unsafe {
                command.as_std_mut().pre_exec(move || {
                    limits.enforce()?;
                    confine()
                });
            }
            Ok::<_, io::Error>((command.spawn()?, guard))
        })
        .await
        .map_err(io::Error::other)??;
        Ok(Self { child: Some(child), guard: Some(Arc::new(guard)), folder: Some(folder) })
    }

    /// Returns the child process, whose pipes can be taken once.
    pub(crate) fn child(&mut self) -> Option<&mut Child> {
        self.child.as_mut()
    }

    /// Waits for the program. All processes that the program left behind are killed.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let Some(child) = &mut self.child else {
            return Err(io::Error::other("the program was waited for already"));
        };
        let status = child.wait().await;
        self.child = None;
        status
    }

    /// Returns a handle that can kill the program while another task waits for it.
    pub(crate) fn killer(&self) -> Killer {
        Killer(self.guard.as_ref().map(Arc::downgrade).unwrap_or_default())
    }
}

/// A handle that can kill a running program.
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
