//! Keeps the prompts of the newest turns, part by part, for the page that shows them. The prompts
//! are kept only in memory, because they contain users' texts and are not needed after a restart.
//! The time at which each tool's instructions were last used is stored.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use contract::{InstructionsView, PromptTrace, SessionId, ToolId, TurnId};
use parking_lot::Mutex;

use crate::ports::{Store, Tools, World};

/// The longest time by which the stored times may be outdated.
const KEPT_FOR: TimeDelta = TimeDelta::minutes(1);
/// The number of model runs that are kept.
const RUNS: usize = 30;

/// The store key of the times at which each tool's instructions were last used.
const LAST_USED: &str = "instructions.last_used";

/// The prompts of the newest turns.
pub(crate) struct Traces {
    store: Arc<dyn Store>,
    tools: Arc<dyn Tools>,
    inner: Mutex<Inner>,
    /// The lock for the stored times at which instructions were last used.
    storing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Inner {
    /// The kept runs, oldest first.
    runs: VecDeque<PromptTrace>,
    last_used: HashMap<ToolId, DateTime<Utc>>,
    /// The times of last use that were last stored.
    kept: HashMap<ToolId, DateTime<Utc>>,
}

impl Traces {
    pub(crate) fn new(world: &World) -> Self {
        Self {
            store: Arc::clone(&world.store),
            tools: Arc::clone(&world.tools),
            inner: Mutex::default(),
            storing: tokio::sync::Mutex::default(),
        }
    }

    /// Returns the time at which each tool's instructions were last used.
    pub(crate) async fn last_used(&self) -> HashMap<ToolId, DateTime<Utc>> {
        let kept = self.store.note(LAST_USED).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "when instructions were last used could not be read");
            None
        });
        let mut all: HashMap<ToolId, DateTime<Utc>> =
            kept.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        all.extend(self.lock().last_used.clone());
        all
    }

    /// Stores the times of last use for existing tools. Writes at most once a minute, because a
    /// busy server would otherwise write in every turn.
    pub(crate) async fn keep_last_used(&self) {
        let _one_at_a_time = self.storing.lock().await;
        if !self.has_unstored_times() {
            return;
        }
        let mut all = self.last_used().await;
        let specs = self.tools.specs();
        all.retain(|tool, _| specs.iter().any(|spec| spec.is_named(tool)));
        let stored = serde_json::to_string(&all).unwrap_or_default();
        let kept = self.store.note_put(LAST_USED, &stored).await;
        if let Err(error) = kept {
            tracing::warn!(%error, "when instructions were last used could not be kept");
        } else {
            self.lock().kept = all;
        }
    }

    fn has_unstored_times(&self) -> bool {
        let inner = self.lock();
        inner
            .last_used
            .iter()
            .any(|(tool, at)| inner.kept.get(tool).is_none_or(|kept| *at - *kept >= KEPT_FOR))
    }

    pub(crate) fn begin(&self, run: PromptTrace) {
        let mut inner = self.lock();
        if inner.runs.len() >= RUNS {
            inner.runs.pop_front();
        }
        inner.runs.push_back(run);
    }

    /// Adds a tool's instructions to the newest run of a turn.
    pub(crate) fn note_instructions(&self, turn: &TurnId, view: InstructionsView) {
        let mut inner = self.lock();
        if let Some(at) = view.last_used {
            inner.last_used.insert(view.tool.clone(), at);
        }
        if let Some(run) = inner.runs.iter_mut().rev().find(|run| run.turn == *turn) {
            run.instructions.push(view);
        }
    }

    /// Returns the kept runs, newest first.
    pub(crate) fn runs(&self) -> Vec<PromptTrace> {
        self.lock().runs.iter().rev().cloned().collect()
    }

    /// Removes the runs of a session.
    pub(crate) fn forget(&self, session: &SessionId) {
        self.lock().runs.retain(|run| run.session != *session);
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, Inner> {
        self.inner.lock()
    }
}
