//! Connects to a host: in this process, or over the socket of the process that already has the data
//! folder open.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use contract::{AgentError, Commands, Empty, Push, Reason};
use host::client::NotConnected;
use host::{Host, Options, Paths, Person, SocketServer, Terminal, WhenAlarmed};
use tokio::sync::broadcast;

use crate::out::{Out, Tone};
use crate::visible::escape_invisible;

/// How often opening is retried while another process is starting or ending.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(50);

/// Returns the profile's data folder.
pub(crate) fn data_dir(given: Option<PathBuf>) -> PathBuf {
    Paths::new(given).data
}

/// Whether a person can be asked: standard input and standard error must be a terminal.
pub(crate) fn person_present() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Whether a person can be asked, and this program runs in the terminal's foreground.
pub(crate) fn is_person_in_foreground() -> bool {
    // SAFETY: both calls take numbers and change nothing; on failure they return a value that is
    // not a process group.
    person_present() && unsafe { libc::tcgetpgrp(libc::STDIN_FILENO) == libc::getpgrp() }
}

/// A connection to a host in this process or another process.
pub(crate) struct Link {
    pub(crate) commands: Arc<dyn Commands>,
    pub(crate) pushes: broadcast::Receiver<Push>,
    here: Option<(Arc<Host>, Option<SocketServer>)>,
}

impl Link {
    /// Opens the profile, or connects to the process that has it open.
    pub(crate) async fn open(
        data_dir: PathBuf,
        person: Person,
        when_alarmed: WhenAlarmed,
    ) -> Result<Self, AgentError> {
        let paths = Paths::new(Some(data_dir.clone()));
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let options = Options {
                data_dir: Some(data_dir.clone()),
                pack_code: shipped_packs::all(),
                credentials_from_environment: true,
                model_from_environment: true,
                when_alarmed,
                ..Options::default()
            };
            match Host::open(options).await {
                Ok(host) => return Ok(Self::from_host(host, person)),
                Err(error) if error.has_reason(Reason::ProfileInUse) => {}
                Err(error) => return Err(error),
            }
            match host::client::connect(&paths, person != Person::Absent).await {
                Ok((client, pushes)) => return Ok(Self { commands: client, pushes, here: None }),
                Err(NotConnected::OtherVersion) => return Err(version_mismatch_error()),
                Err(NotConnected::Refused(error)) => return Err(error),
                Err(NotConnected::Io(error)) => last = Some(error),
            }
            tokio::time::sleep(PAUSE).await;
        }
        let why = last.map(|e| format!(" ({e})")).unwrap_or_default();
        Err(AgentError::internal(
            Reason::ProfileInUse,
            format!(
                "{} is in use by another Countersign that does not answer{why}.",
                data_dir.display()
            ),
        )
        .hint("Close it, or use another folder with --data-dir."))
    }

    fn from_host(host: Arc<Host>, person: Person) -> Self {
        let served = host::serve_host(&host)
            .inspect_err(|error| tracing::warn!(%error, "further csign calls cannot join this one"))
            .ok();
        let pushes = host.subscribe();
        Self {
            commands: Arc::new(Terminal::local(Arc::clone(&host), person)),
            pushes,
            here: Some((host, served)),
        }
    }

    /// Returns the host's error for missing packs, or None if packs exist.
    pub(crate) async fn missing_packs_error(&self) -> Option<AgentError> {
        let notices = self.commands.app_status(Empty {}).await.ok()?.notices;
        let notice = notices.iter().find(|notice| notice.code == "no_packs")?;
        Some(AgentError::internal("no_packs", &notice.text))
    }

    /// Returns the error for a profile without any pack.
    pub(crate) async fn no_packs_error(&self) -> AgentError {
        let unknown =
            || AgentError::internal("no_packs", "No packs were found, so there are no tools.");
        self.missing_packs_error().await.unwrap_or_else(unknown)
    }

    /// Warns the user if packs are missing or cannot use a setting.
    pub(crate) async fn warn_of_packs(&self, out: Out) {
        let Ok(status) = self.commands.app_status(Empty {}).await else { return };
        let is_of_packs = |code: &str| matches!(code, "no_packs" | "pack_settings");
        for notice in status.notices.iter().filter(|notice| is_of_packs(&notice.code)) {
            out.print_note(format!(
                "{} {}",
                out.colour_text(Tone::Strong, "warning:"),
                escape_invisible(&notice.text)
            ));
        }
    }

    /// Closes the connection. Connected clients may finish before the host stops.
    pub(crate) async fn close(self) {
        drop((self.commands, self.pushes));
        if let Some((host, served)) = self.here {
            if let Some(served) = served {
                served.shut_down(Duration::MAX).await;
            }
            host.stop().await;
        }
    }
}

fn version_mismatch_error() -> AgentError {
    AgentError::internal(
        "other_version",
        "Another version of Countersign is running with this data folder.",
    )
    .hint("Close it, then run this again.")
}
