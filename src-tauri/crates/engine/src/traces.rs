//! What the newest turns told models, part by part and file by file, for the page that shows it. In memory only: prompts hold
//! what users wrote, and nobody needs them after a restart.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use chrono::{DateTime, Utc};
use contract::{InstructionsView, PromptTrace, SessionId, ToolId, TurnId};

/// Model runs that are remembered.
const RUNS: usize = 30;

#[derive(Default)]
pub(crate) struct Traces(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Oldest first.
    runs: VecDeque<PromptTrace>,
    last_used: HashMap<ToolId, DateTime<Utc>>,
}

impl Traces {
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

    pub(crate) fn last_used(&self, tool: &ToolId) -> Option<DateTime<Utc>> {
        self.lock().last_used.get(tool).copied()
    }

    /// Forgets a session.
    pub(crate) fn forget(&self, session: &SessionId) {
        self.lock().runs.retain(|run| run.session != *session);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
