//! The configuration of a server before it is reached, and the time limits of the client.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc, time::Duration};

use contract::{PackId, Text, manifest::ServerHttp};
use secrecy::SecretString;

use crate::{Access, FileChanges, Hidden, ProgramError};

/// The configuration of one server.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    pub name: String,
    pub pack: PackId,
    pub reach: Reach,
    /// Time until the server must be ready. None for the usual time.
    pub start: Option<Duration>,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum Reach {
    /// A child process, over its standard input and output.
    Program(Program),
    /// An address, over streamable HTTP.
    Http(Address),
}

/// The program of a server.
#[derive(Clone, Debug)]
pub struct Program {
    /// The result of `resolve_program`. A server without a program is shown as failed with the
    /// reason, and is never started.
    pub program: Result<PathBuf, ProgramError>,
    pub args: Vec<String>,
    /// Variables of the process, beside those that every server gets (`PATH`, `HOME`, language,
    /// time zone). No other variable is inherited.
    pub env: BTreeMap<String, String>,
    /// Variables whose values the user may have entered as credentials. They are read at each start
    /// and take precedence over `env`.
    pub entered: Option<EnteredVariables>,
    pub cwd: PathBuf,
    /// Files and sockets that are hidden from it.
    pub hidden: Hidden,
    /// Changes of files, beside those of contents, that it may make.
    pub changes: FileChanges,
}

/// Variables of a program whose values are credentials.
#[derive(Clone)]
pub struct EnteredVariables {
    pub names: Vec<String>,
    pub access: Arc<dyn Access>,
}

impl fmt::Debug for EnteredVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entered").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Program {
    /// Returns the variables that have a value now. A variable without one is not passed.
    pub(crate) async fn read_values(&self) -> Vec<(String, SecretString)> {
        let mut found = Vec::new();
        let Some(entered) = &self.entered else { return found };
        for name in &entered.names {
            if let Ok(value) = entered.access.credential(name).await {
                found.push((name.clone(), value));
            }
        }
        found
    }
}

/// A server behind an address.
#[derive(Clone)]
pub struct Address {
    /// The manifest's entry, with settings filled into the address.
    pub http: ServerHttp,
    /// Access to credentials, tokens and the permission for the private network. It is used each
    /// time they are needed.
    pub access: Arc<dyn Access>,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address").field("url", &self.http.url).finish_non_exhaustive()
    }
}

impl ServerConfig {
    /// Returns the server's name with its pack, because two packs may have servers of the same
    /// name.
    pub fn key(&self) -> String {
        format!("{}/{}", self.pack, self.name)
    }

    /// Returns why this configuration can never work, or None.
    pub(crate) fn find_fault(&self) -> Option<Text> {
        match &self.reach {
            Reach::Program(program) => program.program.as_ref().err().map(ProgramError::text),
            Reach::Http(_) => None,
        }
    }
}

/// The time limits of the client.
#[derive(Clone, Copy, Debug)]
pub struct Timings {
    /// Time from spawning or connecting until the tools are listed.
    pub start: Duration,
    /// How long a program may leave the first request of the newest protocol unanswered before it
    /// is treated as an older server.
    pub probe: Duration,
    /// The wait after the first crash. It doubles with each further crash.
    pub backoff: Duration,
    pub longest_backoff: Duration,
    /// Time to end after its input is closed, and again after SIGTERM.
    pub grace: Duration,
}

impl Default for Timings {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(15),
            probe: Duration::from_millis(1_500),
            backoff: Duration::from_millis(250),
            longest_backoff: Duration::from_secs(30),
            grace: Duration::from_millis(800),
        }
    }
}

impl Timings {
    /// Returns the wait after this many failures in a row.
    pub(crate) fn wait_after(&self, failures: u32) -> Duration {
        let doubled = self
            .backoff
            .saturating_mul(1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX));
        doubled.min(self.longest_backoff)
    }

    /// Returns the time limits of one server.
    pub(crate) fn of(mut self, config: &ServerConfig) -> Self {
        self.start = config.start.unwrap_or(self.start);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_the_cap() {
        let timings = Timings::default();
        let millis: Vec<u128> =
            (1..=9).map(|failures| timings.wait_after(failures).as_millis()).collect();
        assert_eq!(millis, [250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000]);
        assert_eq!(timings.wait_after(90), timings.longest_backoff);
    }
}
