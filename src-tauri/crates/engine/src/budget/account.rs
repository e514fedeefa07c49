//! The usage and actions of a turn so far. A single lock protects them, because parallel calls and
//! an aborted model stream also write them. The account survives a panic in the middle of the turn.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use contract::{AgentError, Effect, PackId, ResultView, RunAnswer, SessionId, ToolId, TurnId};
use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};
use serde_json::Value;
use tokio::time::Instant;

use crate::budget::refusal_count::RefusalCount;

/// The usage and actions of a turn.
pub(crate) struct Account {
    pub(crate) session: SessionId,
    pub(crate) turn: TurnId,
    /// The caller's own limit on the length of an answer.
    pub(crate) max_output_tokens: Option<u32>,
    entries: Mutex<Entries>,
}

#[derive(Default)]
pub(crate) struct Entries {
    pub(crate) nano_usd: u64,
    pub(crate) unpriced: BTreeSet<String>,
    /// Whether a budget ended the answer early.
    pub(crate) is_truncated: bool,
    /// Whether a budget cut off the last answer in the middle of its text.
    pub(crate) is_cut: bool,
    /// Whether the model declined the message because it is outside the model's task.
    pub(crate) is_declined: bool,
    /// The budget's refusal of the turn's last model call.
    pub(crate) refusal: Option<AgentError>,
    /// Whether a tool with an effect has run.
    pub(crate) has_changed: bool,
    /// Lines about writes that ran without an approval. The turn adds them to the answer, even if
    /// the model does not mention the writes.
    pub(crate) unasked_writes: Vec<String>,
    /// The tools that ran, in the order of first use.
    pub(crate) tools: Vec<ToolId>,
    /// The successful results for the program that sent the request, each once.
    pub(crate) results: Vec<ToolData>,
    /// The answers of the specialists, if the answer of the turn joins those of several.
    pub(crate) answers: Vec<RunAnswer>,
    /// The time until people decided.
    pub(crate) waited: Duration,
    /// The time until the model answered.
    pub(crate) model_time: Duration,
    /// The time of calls whose server decides how long they may take. Calls that overlap are
    /// counted once.
    pub(crate) tool_time: Duration,
    /// The number of such calls that run now, and the time since which at least one has been
    /// running.
    running: usize,
    running_since: Option<Instant>,
    pub(crate) refused_calls: RefusalCount,
    /// Whether the turn has read data that must stay on this computer.
    pub(crate) has_local_data: bool,
}

/// A result of a tool, and how clients show it.
#[derive(Clone)]
pub(crate) struct ToolData {
    pub(crate) view: ResultView,
    pub(crate) tool: ToolId,
    /// The pack of the tool. None for a tool that belongs to no pack.
    pub(crate) pack: Option<PackId>,
    pub(crate) data: Arc<Value>,
}

impl Account {
    pub(crate) fn new(session: SessionId, turn: TurnId, max_output_tokens: Option<u32>) -> Self {
        Self { session, turn, max_output_tokens, entries: Mutex::default() }
    }

    pub(crate) fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock()
    }

    /// Returns the count of refused calls.
    pub(crate) fn refused_calls(&self) -> MappedMutexGuard<'_, RefusalCount> {
        MutexGuard::map(self.entries(), |entries| &mut entries.refused_calls)
    }

    /// Records that a tool runs.
    pub(crate) fn add_tool(&self, tool: &ToolId, effect: Effect) {
        let mut entries = self.entries();
        entries.has_changed |= effect != Effect::ReadOnly;
        if !entries.tools.contains(tool) {
            entries.tools.push(tool.clone());
        }
    }

    /// Counts the time of a call whose server decides how long it may take, until the returned
    /// value is dropped.
    pub(crate) fn count_tool_time(&self) -> ToolTime<'_> {
        let mut entries = self.entries();
        entries.running += 1;
        entries.running_since.get_or_insert_with(Instant::now);
        ToolTime(self)
    }

    /// Records a result for the program that sent the request.
    pub(crate) fn add_result(&self, result: ToolData) {
        let mut entries = self.entries();
        let is_same = |known: &ToolData| known.tool == result.tool && known.data == result.data;
        if !entries.results.iter().any(is_same) {
            entries.results.push(result);
        }
    }
}

/// Counts the time of a running call until this value is dropped.
pub(crate) struct ToolTime<'a>(&'a Account);

impl Drop for ToolTime<'_> {
    fn drop(&mut self) {
        let mut entries = self.0.entries();
        entries.running = entries.running.saturating_sub(1);
        if entries.running == 0
            && let Some(since) = entries.running_since.take()
        {
            entries.tool_time += since.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn overlapping_calls_count_their_shared_time_once() {
        let account = Account::new("s".into(), "t".into(), None);
        let call = async |before: u64, long: u64| {
            sleep(Duration::from_secs(before)).await;
            let _time = account.count_tool_time();
            sleep(Duration::from_secs(long)).await;
        };
        tokio::join!(call(0, 10), call(5, 10), call(20, 7));
        assert_eq!(account.entries().tool_time.as_secs(), 15 + 7);
    }
}
