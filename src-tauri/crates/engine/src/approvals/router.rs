//! Passes decisions to the calls that wait for them, and creates the error that reports a pending
//! action to a caller.

use std::collections::HashMap;

use contract::{AgentError, Approval, ApprovalId, ErrorCode, text};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// How long an approval is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Once,
    /// Equal calls need no approval for the rest of the session. Contains the name of the place
    /// where the person decided.
    ForSession(&'static str),
}

/// A decision in the form that the waiting call receives.
#[derive(Debug)]
pub(crate) enum Verdict {
    Approved(Holds),
    Rejected(Option<String>),
    Edited(Value),
}

/// Maps each approval's id to the call that waits for it.
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

    /// Sends the decision to the waiting call. Returns false if no call is waiting any more.
    pub(crate) fn send_verdict(&self, id: &ApprovalId, verdict: Verdict) -> bool {
        let waiting = self.waiting.lock().remove(id);
        waiting.is_some_and(|tell| tell.send(verdict).is_ok())
    }

    /// Whether a call in this process waits for this approval.
    pub(crate) fn waits(&self, id: &ApprovalId) -> bool {
        self.waiting.lock().contains_key(id)
    }

    pub(crate) fn forget(&self, id: &ApprovalId) {
        self.waiting.lock().remove(id);
    }
}

/// Returns the error of a call whose action waits for a decision.
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
