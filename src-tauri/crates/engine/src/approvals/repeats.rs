//! A change that a person has rejected is not asked for again in the same turn, also not beside itself: of several that are the same, one
//! asks and the others wait for what is said. Knows no store and no window.

use std::{collections::HashMap, sync::Arc};

use contract::{AgentError, ErrorCode, ToolOutcome, ToolSpec};
use serde_json::Value;

use crate::{
    approvals::gate::failed,
    canonical::canonical,
    texts::Text,
    tools::call::{CallDone, Ready},
    turn::Turn,
};

/// Whether a change was rejected, by `sameness`. Its lock is held while a person decides.
pub(crate) type AskedFor = HashMap<String, Arc<tokio::sync::Mutex<bool>>>;

/// What two proposals have in common that a person would take for one: the tool and the arguments, whatever the case and the spaces of
/// their texts.
fn sameness(spec: &ToolSpec, arguments: &Value) -> String {
    format!("{} {}", spec.id, canonical(&plain(arguments)))
}

fn plain(value: &Value) -> Value {
    match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase().into(),
        Value::Array(list) => list.iter().map(plain).collect(),
        Value::Object(members) => Value::Object(members.iter().map(|(name, value)| (name.clone(), plain(value))).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

impl Turn {
    /// Whether a change was rejected in this turn.
    pub(crate) fn asked_for(&self, ready: &Ready) -> Arc<tokio::sync::Mutex<bool>> {
        let key = sameness(&ready.spec, &ready.arguments);
        Arc::clone(self.asked_for.lock().entry(key).or_default())
    }

    /// Notes that a person rejected a change that is not the one that was asked for: it was edited meanwhile.
    pub(crate) fn note_rejected(&self, ready: &Ready) {
        let entry = self.asked_for(ready);
        // Where it is held, whoever holds it notes its own answer.
        if let Ok(mut is_rejected) = entry.try_lock() {
            *is_rejected = true;
        }
    }

    /// The result of a change that a person has rejected before.
    pub(crate) fn rejected_before(&self, ready: &Ready) -> CallDone {
        let said = Text::RejectedBefore.in_locale(&self.locale);
        let error = AgentError::new(ErrorCode::ApprovalRequired, said).reason("rejected_before").with("approvable", false);
        failed(ready, ToolOutcome::Rejected, error.with("tool_id", ready.spec.id.as_str()))
    }
}
