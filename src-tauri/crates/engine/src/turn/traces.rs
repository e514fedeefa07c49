//! The prompts of the newest turns, part by part and file by file, for the page that shows them.
//! They are in memory only: they contain what users wrote, and nobody needs them after a restart.
//! The time at which each tool's instructions were last used is stored.

use std::collections::{HashMap, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};
use contract::{InstructionsView, PromptTrace, SessionId, ToolId, TurnId};
use parking_lot::Mutex;

use crate::Engine;

/// How old what is kept may be.
const KEPT_FOR: TimeDelta = TimeDelta::minutes(1);
/// Model runs that are remembered.
const RUNS: usize = 30;

/// The store's note of when instructions were last used, by tool.
const LAST_USED: &str = "instructions.last_used";

impl Engine {
    /// When the instructions of each tool were last used.
    pub(crate) async fn last_used(&self) -> HashMap<ToolId, DateTime<Utc>> {
        let kept = self.world.store.note(LAST_USED).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "when instructions were last used could not be read");
            None
        });
        let mut all: HashMap<ToolId, DateTime<Utc>> =
            kept.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        all.extend(self.traces.last_used());
        all
    }

    /// Keeps it over a restart, for the tools that there are. What was kept within the last minute
    /// stands: nobody asks for seconds, and a busy server would write the same note with every
    /// turn.
    pub(crate) async fn keep_last_used(&self) {
        let _one_at_a_time = self.notes.lock().await;
        if !self.traces.is_news() {
            return;
        }
        let mut all = self.last_used().await;
        let specs = self.world.tools.specs();
        all.retain(|tool, _| specs.iter().any(|spec| spec.id == *tool));
        let kept = self
            .world
            .store
            .note_put(LAST_USED, &serde_json::to_string(&all).unwrap_or_default())
            .await;
        if let Err(error) = kept {
            tracing::warn!(%error, "when instructions were last used could not be kept");
        } else {
            self.traces.kept(all);
        }
    }
}

#[derive(Default)]
pub(crate) struct Traces(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Oldest first.
    runs: VecDeque<PromptTrace>,
    last_used: HashMap<ToolId, DateTime<Utc>>,
    /// The same, as it was kept last.
    kept: HashMap<ToolId, DateTime<Utc>>,
}

impl Traces {
    fn is_news(&self) -> bool {
        let inner = self.lock();
        inner
            .last_used
            .iter()
            .any(|(tool, at)| inner.kept.get(tool).is_none_or(|kept| *at - *kept >= KEPT_FOR))
    }

    fn kept(&self, all: HashMap<ToolId, DateTime<Utc>>) {
        self.lock().kept = all;
    }

    pub(crate) fn begin(&self, run: PromptTrace) {
        let mut inner = self.lock();
        if inner.runs.len() >= RUNS {
            inner.runs.pop_front();
        }
        inner.runs.push_back(run);
    }

    /// Notes what a tool's instructions gave to the newest run of a turn.
    pub(crate) fn instructed(&self, turn: &TurnId, view: InstructionsView) {
        let mut inner = self.lock();
        if let Some(at) = view.last_used {
            inner.last_used.insert(view.tool.clone(), at);
        }
        if let Some(run) = inner.runs.iter_mut().rev().find(|run| run.turn == *turn) {
            run.instructions.push(view);
        }
    }

    /// Newest first.
    pub(crate) fn runs(&self) -> Vec<PromptTrace> {
        self.lock().runs.iter().rev().cloned().collect()
    }

    fn last_used(&self) -> HashMap<ToolId, DateTime<Utc>> {
        self.lock().last_used.clone()
    }

    /// Forgets a session.
    pub(crate) fn forget(&self, session: &SessionId) {
        self.lock().runs.retain(|run| run.session != *session);
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, Inner> {
        self.0.lock()
    }
}
