//! What is known of a server before it is reached, and how patient the client is.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc, time::Duration};

use contract::{PackId, manifest::ServerHttp};
use secrecy::SecretString;

use crate::{Access, Hidden, ProgramError};

/// One server.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    pub name: String,
    pub pack: PackId,
    pub reach: Reach,
    /// How long this server may take until it is ready; the usual time when absent.
    pub start: Option<Duration>,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum Reach {
    /// A process of ours, over its standard input and output.
    Program(Program),
    /// An address, over streamable HTTP.
    Http(Address),
}

/// A server's program.
#[derive(Clone, Debug)]
pub struct Program {
    /// As `resolve_program` gives it. A server without a program is shown as failed with the reason, and never started.
    pub program: Result<PathBuf, ProgramError>,
    pub args: Vec<String>,
    /// Variables of the process beside the few every server gets (`PATH`, `HOME`, language, zone); nothing else is inherited.
    pub env: BTreeMap<String, String>,
    /// Variables that may have been entered as credentials: looked up at each start, and put before `env`.
    pub entered: Option<EnteredVariables>,
    pub cwd: PathBuf,
    /// What it does not see or reach.
    pub hidden: Hidden,
    /// It has a folder of its own to write in, so it may change modes and times of files that it has open.
    pub own_folder: bool,
}

/// Credentials that go into variables of a program.
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
    /// The variables that were entered, as they are now. One that was not is the program's own business.
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

/// A server elsewhere.
#[derive(Clone)]
pub struct Address {
    /// As the manifest says, with settings put into the address.
    pub http: ServerHttp,
    /// Credentials, tokens and leave to reach the private network, as they are when they are needed.
    pub access: Arc<dyn Access>,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address").field("url", &self.http.url).finish_non_exhaustive()
    }
}

impl ServerConfig {
    /// What it is called by: two packs may each have a server of one name.
    pub fn key(&self) -> String {
        format!("{}/{}", self.pack, self.name)
    }

    /// Why it can never be reached as it is.
    pub(crate) fn find_fault(&self) -> Option<String> {
        match &self.reach {
            Reach::Program(program) => program.program.as_ref().err().map(ToString::to_string),
            Reach::Http(_) => None,
        }
    }
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Timings {
    /// From spawning or connecting to the list of tools.
    pub start: Duration,
    /// How long a program may leave the newest protocol's first question unanswered before it is taken for an older one.
    pub probe: Duration,
    /// The wait after the first crash; doubled after each further one.
    pub backoff: Duration,
    pub longest_backoff: Duration,
    /// After its input is closed, and again after SIGTERM.
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
    /// The wait after so many failures in a row.
    pub(crate) fn wait_after(&self, failures: u32) -> Duration {
        let doubled = self.backoff.saturating_mul(1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX));
        doubled.min(self.longest_backoff)
    }

    /// The same for one server.
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
        let millis: Vec<u128> = (1..=9).map(|failures| timings.wait_after(failures).as_millis()).collect();
        assert_eq!(millis, [250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000]);
        assert_eq!(timings.wait_after(90), timings.longest_backoff);
    }
}
