//! What is known of a server before it runs, and how patient the client is.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use contract::PackId;

use crate::ProgramError;

/// One server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    pub name: String,
    pub pack: PackId,
    /// As `resolve_program` gives it. A server without a program is shown as failed with the reason, and never started.
    pub program: Result<PathBuf, ProgramError>,
    pub args: Vec<String>,
    /// Variables of the process beside the few every server gets (`PATH`, `HOME`, language, zone); nothing else is inherited.
    pub env: BTreeMap<String, String>,
    pub cwd: PathBuf,
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Timings {
    /// From spawning to the end of the handshake.
    pub start: Duration,
    /// How long a server may leave the newest protocol's first question unanswered before it is taken for an older one.
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
