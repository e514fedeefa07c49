//! The running tests and first starts of servers, so that a person can stop them, and the commands
//! whose tests have left a folder. Knows neither servers nor processes.

use std::{collections::BTreeMap, future::Future};

use contract::{AgentError, ErrorCode};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Default)]
pub(crate) struct Trials {
    /// The running tests and first starts, each with the name of its server.
    running: Mutex<Vec<(String, CancellationToken)>>,
    /// The hash of the command that was tested last under a name, if the test succeeded.
    passed: Mutex<BTreeMap<String, String>>,
}

/// A running test or first start, which ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Trial<'a> {
    of: &'a Trials,
    stop: CancellationToken,
}

impl Trials {
    /// Begins a trial of the server with this name.
    pub(crate) fn begin_trial(&self, name: &str) -> Trial<'_> {
        self.begin_cancellable_trial(name, &CancellationToken::new())
    }

    /// Begins a trial that also stops when its caller has disconnected.
    pub(crate) fn begin_cancellable_trial(
        &self,
        name: &str,
        gone: &CancellationToken,
    ) -> Trial<'_> {
        let stop = gone.child_token();
        self.running.lock().push((name.to_owned(), stop.clone()));
        Trial { of: self, stop }
    }

    /// Stops all trials of the server with this name.
    pub(crate) fn stop_trial(&self, name: &str) {
        let running = self.running.lock();
        running.iter().filter(|(server, _)| server == name).for_each(|(_, stop)| stop.cancel());
    }
}

impl Trial<'_> {
    /// Notes which command has passed its test under a name. `command` is None when a test begins.
    pub(crate) fn note_passed(&self, name: &str, command: Option<String>) {
        let mut passed = self.of.passed.lock();
        match command {
            Some(command) => passed.insert(name.to_owned(), command),
            None => passed.remove(name),
        };
    }

    /// Whether the last test under a name was a successful test of this command.
    pub(crate) fn has_passed(&self, name: &str, command: &str) -> bool {
        self.of.passed.lock().get(name).is_some_and(|passed| passed == command)
    }

    /// Waits for a part of the trial. Returns an error if the trial is stopped first.
    pub(crate) async fn run_unless_stopped<T>(
        &self,
        part: impl Future<Output = T>,
    ) -> Result<T, AgentError> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(trial_stopped()),
            done = part => Ok(done),
        }
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        self.stop.cancel();
        self.of.running.lock().retain(|(_, stop)| !stop.is_cancelled());
    }
}

fn trial_stopped() -> AgentError {
    AgentError::new(ErrorCode::ToolHttpError, "The server was stopped before it was ready.")
        .reason("stopped")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn stopping_a_servers_trial_ends_neither_other_trials_nor_later_ones() {
        let trials = Trials::default();
        let (one, other) = (trials.begin_trial("one"), trials.begin_trial("other"));
        assert_eq!(one.run_unless_stopped(async { 1 }).await.unwrap(), 1);
        trials.stop_trial("one");
        let error = one.run_unless_stopped(std::future::pending::<()>()).await.unwrap_err();
        assert_eq!(error.reason_text(), Some("stopped"));
        assert_eq!(other.run_unless_stopped(async { 2 }).await.unwrap(), 2);
        drop(one);
        let gone = CancellationToken::new();
        let left = trials.begin_cancellable_trial("one", &gone);
        gone.cancel();
        assert!(left.run_unless_stopped(std::future::pending::<()>()).await.is_err());
        drop(left);
        let again = trials.begin_trial("one");
        assert_eq!(again.run_unless_stopped(async { 3 }).await.unwrap(), 3);
    }
}
