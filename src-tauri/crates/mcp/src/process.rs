//! A server's process: its own group, a bare environment, killed with the app. Stopping it closes its input, then asks,
//! then kills the whole group, and always reaps.

use std::{
    io,
    path::Path,
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::{ServerConfig, environment::base_environment, spawner::Spawner};

/// The most of one line, and of one process's whole error output, that goes to the log.
const STDERR_LINE: u64 = 4 * 1024;
const STDERR_TOTAL: usize = 256 * 1024;

/// A running server. Dropping it kills the group.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    group: i32,
    status: Option<ExitStatus>,
    // Keeps the spawning thread, and so the child, alive.
    _spawner: Arc<Spawner>,
}

/// Starts a server; gives the process and its two pipes.
pub(crate) async fn start(config: &ServerConfig, spawner: &Arc<Spawner>) -> io::Result<(ServerProcess, ChildStdout, ChildStdin)> {
    let program = config.program.as_ref().map_err(|problem| io::Error::other(problem.clone()))?;
    let mut child = spawner.spawn(command(program, config)).await?;
    let missing = || io::Error::other("a pipe of the server is missing");
    let group = child.id().and_then(|pid| i32::try_from(pid).ok()).ok_or_else(missing)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let process = ServerProcess { child, group, status: None, _spawner: Arc::clone(spawner) };
    if let Some(stderr) = stderr {
        tokio::spawn(log_stderr(config.name.clone(), stderr));
    }
    Ok((process, stdout.ok_or_else(missing)?, stdin.ok_or_else(missing)?))
}

fn command(program: &Path, config: &ServerConfig) -> Command {
    let mut command = Command::new(program);
    command
        .args(&config.args)
        .current_dir(&config.cwd)
        .env_clear()
        .envs(base_environment(|name| std::env::var(name).ok()))
        .envs(&config.env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let parent = std::process::id();
    // SAFETY: between fork and exec only prctl and getppid are called; both are async-signal-safe and allocate nothing.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            // The app may have died before the line above: then nobody would send the signal.
            if u32::try_from(libc::getppid()).ok() != Some(parent) {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            Ok(())
        });
    }
    command
}

impl ServerProcess {
    /// The process id.
    pub(crate) fn pid(&self) -> u32 {
        self.group.unsigned_abs()
    }

    /// Ends the process whose input has been closed. Gives how it ended.
    pub(crate) async fn stop(&mut self, grace: Duration) -> Option<ExitStatus> {
        if self.wait(grace).await.is_none() {
            self.signal_group(libc::SIGTERM);
            if self.wait(grace).await.is_none() {
                self.signal_group(libc::SIGKILL);
                self.status = self.child.wait().await.ok();
            }
        }
        // Whatever the server started and left behind goes, too.
        self.signal_group(libc::SIGKILL);
        self.status
    }

    async fn wait(&mut self, grace: Duration) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = timeout(grace, self.child.wait()).await.ok().and_then(Result::ok);
        }
        self.status
    }

    fn signal_group(&self, signal: i32) {
        // SAFETY: plain system call on a group number that this process created.
        unsafe { libc::killpg(self.group, signal) };
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Once reaped the number may belong to somebody else.
        if self.status.is_none() {
            self.signal_group(libc::SIGKILL);
        }
    }
}

/// Sends the server's error output to the log, line by line and capped; reads on silently so that the server never blocks.
async fn log_stderr(server: String, stderr: impl AsyncRead + Unpin) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    let mut total = 0;
    loop {
        line.clear();
        match (&mut reader).take(STDERR_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(read) => {
                if total <= STDERR_TOTAL {
                    tracing::info!(target: "mcp::stderr", %server, line = %String::from_utf8_lossy(&line).trim_end());
                    if total + read > STDERR_TOTAL {
                        tracing::warn!(target: "mcp::stderr", %server, "the server writes too much; the rest of its error output is not logged");
                    }
                }
                total = total.saturating_add(read);
            }
        }
    }
}
