//! Verdicts on their way to the calls that wait for them, and how pending actions are told to
//! others.

use std::collections::HashMap;

use contract::{AgentError, Approval, ApprovalId, ErrorCode, TurnId, text};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// How far a signature goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Once,
    /// Calls like this one need none for the rest of the session.
    ForSession,
}

/// The decision, as a waiting call receives it.
#[derive(Debug)]
pub(crate) enum Verdict {
    Approved(Holds),
    Rejected(Option<String>),
    Edited(Value),
}

/// Approval id -> the one call that waits for it.
#[derive(Default)]
pub(crate) struct Router {
    waiting: Mutex<HashMap<ApprovalId, oneshot::Sender<Verdict>>>,
}

impl Router {
    pub(crate) fn register(&self, id: &ApprovalId) -> oneshot::Receiver<Verdict> {
        let (tell, told) = oneshot::channel();
        self.waiting.lock().insert(id.clone(), tell);
        told
    }

    /// Hands the verdict to the waiting call; false when nothing waits (any more).
    pub(crate) fn tell(&self, id: &ApprovalId, verdict: Verdict) -> bool {
        let waiting = self.waiting.lock().remove(id);
        waiting.is_some_and(|tell| tell.send(verdict).is_ok())
    }

    /// Whether a call waits for this approval in this process.
    pub(crate) fn waits(&self, id: &ApprovalId) -> bool {
        self.waiting.lock().contains_key(id)
    }

    pub(crate) fn forget(&self, id: &ApprovalId) {
        self.waiting.lock().remove(id);
    }
}

/// The error of a call whose action waits for a decision.
pub(crate) fn approval_required(approval: &Approval) -> AgentError {
    AgentError::new(
        ErrorCode::ApprovalRequired,
        text!("{tool} waits for an approval.", tool = approval.tool_title),
    )
    .with("approval_id", approval.id.as_str())
    .with("tool_id", approval.tool.as_str())
    .with("side_effect_level", json!(approval.effect))
    .with(
        "preview",
        approval.preview.as_ref().map_or_else(
            || Value::String(approval.arguments.clone()),
            |p| Value::String(p.summary.clone()),
        ),
    )
    .with("hash", approval.hash.clone())
    .with("expires_at", approval.expires_at.to_rfc3339())
    .hint(text!("See it with `csign approvals show {id}`.", id = approval.id))
}

/// Approvals whose process died name their turn.
pub(crate) fn of_turn<'a>(
    approvals: &'a [Approval],
    turn: &TurnId,
) -> impl Iterator<Item = &'a Approval> {
    approvals.iter().filter(move |approval| approval.turn == *turn)
}
