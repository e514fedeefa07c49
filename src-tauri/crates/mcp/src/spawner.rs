//! One thread that lives as long as any child it spawned. The kernel's "parent died" signal follows the *thread* that
//! spawned a child, so runtime workers, which come and go, must not spawn.

use std::{
    io,
    sync::{Mutex, PoisonError, mpsc},
    thread,
};

use tokio::{
    process::{Child, Command},
    runtime::Handle,
    sync::oneshot,
};

struct Job {
    command: Command,
    runtime: Handle,
    done: oneshot::Sender<io::Result<Child>>,
}

/// Sends commands to the thread; dropping the last owner ends it, and with it every child that is still there.
#[derive(Debug)]
pub(crate) struct Spawner {
    jobs: Mutex<mpsc::Sender<Job>>,
}

impl Spawner {
    pub(crate) fn new() -> io::Result<Self> {
        let (jobs, inbox) = mpsc::channel::<Job>();
        thread::Builder::new().name("mcp-spawner".to_owned()).spawn(move || {
            while let Ok(Job { mut command, runtime, done }) = inbox.recv() {
                let _context = runtime.enter();
                // A caller that no longer waits drops the child, which kills it.
                let _ = done.send(command.spawn());
            }
        })?;
        Ok(Self { jobs: Mutex::new(jobs) })
    }

    /// Spawns on the thread. Call within a tokio runtime, which then drives the child's pipes.
    pub(crate) async fn spawn(&self, command: Command) -> io::Result<Child> {
        let (done, result) = oneshot::channel();
        let job = Job { command, runtime: Handle::current(), done };
        let gone = || io::Error::other("the thread that starts servers is gone");
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).send(job).map_err(|_| gone())?;
        result.await.map_err(|_| gone())?
    }
}
