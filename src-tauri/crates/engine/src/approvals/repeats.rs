//! Prevents a rejected change from being proposed again in the same turn. Of several equal
//! concurrent changes, one is proposed and the others wait for its decision.

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

/// Maps the key of a change (see `change_key`) to whether a person rejected it. The entry is locked
/// while a person decides.
#[derive(Default)]
pub(crate) struct RejectedChanges(Mutex<HashMap<String, Arc<AsyncMutex<bool>>>>);

impl RejectedChanges {
    pub(crate) fn entry(&self, ready: &Ready) -> Arc<AsyncMutex<bool>> {
        let key = change_key(&ready.spec, &ready.arguments);
        Arc::clone(self.0.lock().entry(key).or_default())
    }

    /// Returns the lock for reads that need approval. They are proposed one after the other,
    /// because a decision about one may also allow the next. No change has an empty key, so the
    /// lock is not shared with changes.
    pub(crate) fn lane_of_reads(&self) -> Arc<AsyncMutex<bool>> {
        Arc::clone(self.0.lock().entry(String::new()).or_default())
    }

    /// Records that a person rejected an edited change, whose key differs from the key of the first
    /// proposal.
    pub(crate) fn note(&self, ready: &Ready) {
        let entry = self.entry(ready);
        // If the entry is locked, the task that holds the lock records its own decision.
        if let Ok(mut is_rejected) = entry.try_lock() {
            *is_rejected = true;
        }
    }
}

/// Returns the result for a change that a person has rejected before.
pub(crate) fn rejected_before_result(ready: &Ready, locale: &str) -> CallDone {
    let error =
        AgentError::new(ErrorCode::ApprovalRequired, Text::RejectedBefore.in_locale(locale))
            .reason("rejected_before")
            .with("approvable", false);
    CallDone::failed(ready, ToolOutcome::Rejected, error.with("tool_id", ready.spec.id.as_str()))
}

/// Returns a key that is equal for two proposals that look the same to a person: tool and
/// arguments, ignoring case and white space in texts.
fn change_key(spec: &ToolSpec, arguments: &Value) -> String {
    format!("{} {}", spec.id, canonical(&normalise_texts(arguments)))
}

fn normalise_texts(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase().into()
        }
        Value::Array(list) => list.iter().map(normalise_texts).collect(),
        Value::Object(members) => Value::Object(
            members.iter().map(|(name, value)| (name.clone(), normalise_texts(value))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
