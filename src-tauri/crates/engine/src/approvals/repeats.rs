//! A change that a person has rejected is not asked for again in the same turn, also not beside
//! itself: of several that are the same, one asks and the others wait for the decision. Knows no
//! store and no window.

use std::{collections::HashMap, sync::Arc};

use contract::{AgentError, ErrorCode, ToolOutcome, ToolSpec};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Mutex as AsyncMutex;

use crate::{
    canonical::canonical,
    texts::Text,
    tools::call::{CallDone, Ready},
};

/// Whether a change was rejected, by `sameness`. An entry is locked while a person decides about
/// it.
#[derive(Default)]
pub(crate) struct RejectedChanges(Mutex<HashMap<String, Arc<AsyncMutex<bool>>>>);

impl RejectedChanges {
    pub(crate) fn entry(&self, ready: &Ready) -> Arc<AsyncMutex<bool>> {
        let key = sameness(&ready.spec, &ready.arguments);
        Arc::clone(self.0.lock().entry(key).or_default())
    }

    /// Notes that a person rejected a change that is not the one that was asked for: it was edited
    /// meanwhile.
    pub(crate) fn note(&self, ready: &Ready) {
        let entry = self.entry(ready);
        // If it is locked, its holder notes its own answer.
        if let Ok(mut is_rejected) = entry.try_lock() {
            *is_rejected = true;
        }
    }
}

/// The result of a change that a person has rejected before.
pub(crate) fn rejected_before(ready: &Ready, locale: &str) -> CallDone {
    let error =
        AgentError::new(ErrorCode::ApprovalRequired, Text::RejectedBefore.in_locale(locale))
            .reason("rejected_before")
            .with("approvable", false);
    CallDone::failed(ready, ToolOutcome::Rejected, error.with("tool_id", ready.spec.id.as_str()))
}

/// Returns a key that is equal for two proposals that look the same to a person: tool and
/// arguments, ignoring case and white space in texts.
fn sameness(spec: &ToolSpec, arguments: &Value) -> String {
    format!("{} {}", spec.id, canonical(&plain(arguments)))
}

fn plain(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase().into()
        }
        Value::Array(list) => list.iter().map(plain).collect(),
        Value::Object(members) => Value::Object(
            members.iter().map(|(name, value)| (name.clone(), plain(value))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
