//! The process of a server, with its own process group, a minimal environment, no access to the
//! app's files and sockets, and a guard that kills it and everything it started when the app ends.
//! Stopping a process closes its input, sends SIGTERM, then kills it, and always reaps it.

use std::{
    any::Any,
    io,
    os::unix::process::CommandExt as _,
    path::Path,
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use contract::{Text, text};
use secrecy::ExposeSecret as _;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    task::spawn_blocking,
    time::timeout,
};

use crate::{
    Confined, FileChanges, Hidden, Program,
    environment::{base_environment, leads_to_the_bus},
    hide,
    log::ServerLog,
};
use guard::{Answering, Guard};

/// The maximum number of bytes that are logged of one line, and of the whole error output of a
/// process.
const STDERR_LINE: u64 = 4 * 1024;
const STDERR_TOTAL: usize = 256 * 1024;
/// How many times a start is repeated while the program's file is still open for writing.
const BUSY_ATTEMPTS: u32 = 20;
const BUSY_WAIT: Duration = Duration::from_millis(50);

const NETWORK_STAYS_OPEN: &str = "This system cannot block a program's network access, so a server without network is not started.";

/// Why a server's program was not started.
#[derive(Debug)]
pub(crate) enum StartError {
    /// The system refused to start the program.
    System(io::Error),
    /// The program must not or cannot be started, for this reason.
    Refused(Text),
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl StartError {
    /// Returns the sentence for a person.
    pub(crate) fn text(self) -> Text {
        match self {
            Self::System(error) => text!("It could not be started: {error}.", error),
            Self::Refused(why) => why,
        }
    }
}

/// A running server. Dropping it kills the server and everything that it started.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    /// The guard's process, which ends with the server's status.
    child: Child,
    guard: Option<Guard>,
    pid: u32,
    status: Option<ExitStatus>,
    /// The forwarder that serves the port of the server's own network.
    _forwarding: Option<Box<dyn Any + Send + Sync>>,
}

/// Starts a server. Returns the process and its two pipes.
pub(crate) async fn start(
    name: &str,
    config: &Program,
    log: &ServerLog,
) -> Result<(ServerProcess, ChildStdout, ChildStdin), StartError> {
    let program = config.program.as_ref().map_err(|problem| io::Error::other(problem.clone()))?;
    // A restriction that cannot be enforced on this system is not weakened; the start is refused
    // instead.
    if !config.network && !guard::filters_work() {
        return Err(StartError::Refused(NETWORK_STAYS_OPEN.into()));
    }
    let args = config.read_args().await.map_err(StartError::Refused)?;
    let values = config.read_variables().await;
    let mut attempts = 0;
    let mut process = loop {
        let mut command = command(program, config);
        command.args(args.iter().map(|arg| arg.expose_secret()));
        // The session bus gives access to the keyring and to programs outside the restrictions of
        // the server.
        for (name, value) in values.iter().filter(|(name, _)| !leads_to_the_bus(name)) {
            command.env(name, value.expose_secret());
        }
        let (hidden, changes, network) =
            (Arc::clone(&config.hidden), config.changes, config.network);
        // Reading folders and forking a large process can block for a moment.
        let spawned = spawn_blocking(move || match hidden.confinement() {
            Some(confined) => spawn_confined(command, &confined),
            None => spawn(command, &hidden.hidden(), changes, network),
        })
        .await;
        match spawned.map_err(io::Error::from)? {
            // A process that was forked while the program's file was written keeps the file open
            // until that process executes another program.
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy
                    && attempts < BUSY_ATTEMPTS =>
            {
                attempts += 1;
                tokio::time::sleep(BUSY_WAIT).await;
            }
            spawned => break spawned?,
        }
    };
    let missing = || io::Error::other("a pipe of the server is missing");
    let (stdin, stdout, stderr) =
        (process.child.stdin.take(), process.child.stdout.take(), process.child.stderr.take());
    if let Some(stderr) = stderr {
        tokio::spawn(log_stderr(name.to_owned(), stderr, log.clone()));
    }
    Ok((process, stdout.ok_or_else(missing)?, stdin.ok_or_else(missing)?))
}

fn spawn(
    mut command: Command,
    hidden: &Hidden,
    changes: FileChanges,
    network: bool,
) -> io::Result<ServerProcess> {
    let (mut veil, answering) = hide::prepare(hidden, changes, network)?;
    answering.map_or(Ok(()), Answering::start)?;
    let guard = Guard::attach(command.as_std_mut())?;
    // SAFETY: between fork and exec, only system calls are made that are safe there; their
    // arguments were prepared before.
    unsafe { command.as_std_mut().pre_exec(move || veil.enforce()) };
    let child = command.spawn()?;
    let pid = guard.program_id()?;
    Ok(ServerProcess { child, guard: Some(guard), pid, status: None, _forwarding: None })
}

/// Starts a program that needs none of the user's files.
fn spawn_confined(mut command: Command, confined: &Confined) -> io::Result<ServerProcess> {
    let guard = Guard::attach(command.as_std_mut())?;
    let port = confined.rules.attach(command.as_std_mut())?;
    let child = command.spawn()?;
    let pid = guard.program_id()?;
    let forwarding = match (port, &confined.forwarder) {
        (Some(port), Some(forwarder)) => Some(forwarder.serve(port.listener()?)?),
        _ => None,
    };
    Ok(ServerProcess { child, guard: Some(guard), pid, status: None, _forwarding: forwarding })
}

fn command(program: &Path, config: &Program) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(&config.cwd)
        .env_clear()
        .envs(base_environment(|name| std::env::var(name).ok()))
        .envs(config.env.iter().filter(|(name, _)| !leads_to_the_bus(name)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

impl ServerProcess {
    /// Returns the server's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Ends the process after its input has been closed. Returns its exit status.
    pub(crate) async fn stop(&mut self, grace: Duration) -> Option<ExitStatus> {
        if self.wait(grace).await.is_none() {
            if let Some(guard) = &self.guard {
                guard.signal(libc::SIGTERM);
            }
            if self.wait(grace).await.is_none() {
                // Dropping the guard kills the program and everything that the program started.
                self.guard = None;
                self.status = self.child.wait().await.ok();
            }
        }
        self.status
    }

    async fn wait(&mut self, grace: Duration) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = timeout(grace, self.child.wait()).await.ok().and_then(Result::ok);
        }
        self.status
    }
}

/// Logs the server's error output line by line, up to the limits. Continues reading after that, so
/// that the server never blocks.
async fn log_stderr(server: String, stderr: impl AsyncRead + Unpin, log: ServerLog) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    let mut total = 0;
    loop {
        line.clear();
        match (&mut reader).take(STDERR_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(read) => {
                log.push(String::from_utf8_lossy(&line).trim_end());
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
