//! Records refusals: one record for each call or request that was not run, with the reason. Beyond
//! a limit, only the number of refusals is recorded, so that endless requests cannot fill the log.
//! A long value is shortened, and its size and hash are recorded. If the record fails, the call or
//! request is still refused.

use std::{collections::BTreeMap, sync::Arc};

use chrono::{DateTime, Utc};
use contract::{AgentError, RecordType, SessionId};
use parking_lot::Mutex;
use serde_json::json;

use crate::{
    budget::refusal_count::RefusalCount,
    canonical::sha256_hex,
    ports::{AuditLog, Clock, Durability, RecordDraft, World},
    turn::{run_context::RunContext, secrets::KnownSecrets},
};

/// The most refused requests per minute that get their own records.
const REQUESTS: u32 = 60;
/// The most characters of a refused value in a record.
const CHARS: usize = 4_000;
/// The most characters of a refused name in a record.
pub(crate) const NAME_CHARS: usize = 128;

/// Adds a value of a refused request to the record. A long value is shortened, and its size and
/// hash are added.
pub(crate) fn commit_part(draft: RecordDraft, name: &str, text: &str) -> RecordDraft {
    let Some((end, _)) = text.char_indices().nth(CHARS) else { return draft.commit(name, text) };
    draft
        .field(&format!("{name}_bytes"), text.len())
        .field(&format!("{name}_sha256"), sha256_hex(text.as_bytes()))
        .commit(name, &text[..end])
}

pub(crate) fn more_refused_record(counts: BTreeMap<String, u64>) -> Option<RecordDraft> {
    let total: u64 = counts.values().sum();
    let draft = RecordDraft::new(RecordType::PolicyDecision)
        .field("status", "refused")
        .field("level", "warning");
    (total > 0).then(|| draft.field("more", total).field("reasons", json!(counts)))
}

/// Returns the name of the reason: the error's own reason, or else its code.
pub(crate) fn reason_of(error: &AgentError) -> String {
    error.reason_text().unwrap_or_else(|| error.code.name()).to_owned()
}

/// A request that was refused before a turn could begin.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'a> {
    /// The kind of request: `run_request`, `message`, `tool_call` or `chat_request`.
    pub request: &'a str,
    /// The code of the error.
    pub code: &'a str,
    /// The specific reason of the error.
    pub reason: &'a str,
    /// The sentence of the error.
    pub why: &'a str,
    /// The request's own id, if known.
    pub request_id: Option<&'a str>,
    /// The caller's id for related requests, if any.
    pub correlation_id: Option<&'a str>,
    /// The session of the request, if known.
    pub session: Option<&'a SessionId>,
    /// The text of the refused request.
    pub asked: &'a str,
}

impl<'a> Refused<'a> {
    pub(crate) fn of(request: &'a str, error: &'a AgentError, asked: &'a str) -> Self {
        let reason = error.reason_text().unwrap_or_else(|| error.code.name());
        Self {
            request,
            code: error.code.name(),
            reason,
            why: &error.message,
            request_id: None,
            correlation_id: None,
            session: None,
            asked,
        }
    }

    /// Adds the ids of the request that the run answers.
    pub(crate) fn asked_by(self, run: Option<&'a RunContext>) -> Self {
        let Some(run) = run else { return self };
        Self { request_id: Some(run.request_id()), correlation_id: run.correlation_id(), ..self }
    }
}

/// Records requests that were refused.
pub struct RefusedRequests {
    audit: Arc<dyn AuditLog>,
    clock: Arc<dyn Clock>,
    secrets: Arc<KnownSecrets>,
    /// The counts of the current minute.
    counts: Mutex<RefusalCount>,
}

impl RefusedRequests {
    pub(crate) fn new(world: &World, secrets: &Arc<KnownSecrets>) -> Self {
        Self {
            audit: Arc::clone(&world.audit),
            clock: Arc::clone(&world.clock),
            secrets: Arc::clone(secrets),
            counts: Mutex::default(),
        }
    }

    /// Records a refused request.
    pub async fn note(&self, refused: Refused<'_>) {
        let now = self.clock.now();
        let left = more_refused_record(self.counts.lock().start_new_minute(now));
        // The lock is released before the record is built.
        let is_admitted = self.counts.lock().record_or_count(REQUESTS, refused.reason);
        let own = is_admitted.then(|| self.refusal_record(refused));
        for draft in left.into_iter().chain(own) {
            if let Err(error) = self.audit.append(draft, Durability::Grouped).await {
                tracing::warn!(%error, "a refusal could not be recorded");
            }
        }
    }

    fn refusal_record(&self, refused: Refused<'_>) -> RecordDraft {
        let exact = self.secrets.matcher();
        let name = |text: &str| -> String {
            exact.redact_secrets(text).chars().take(NAME_CHARS).collect()
        };
        let mut draft = RecordDraft::new(RecordType::PolicyDecision)
            .field("request", refused.request)
            .field("status", "refused")
            .field("code", refused.code)
            .field("reason", name(refused.reason))
            .field("level", "warning")
            .field("duration_ms", 0)
            .field("agent", "");
        if let Some(id) = refused.request_id {
            draft = draft.field("request_id", name(id));
        }
        if let Some(id) = refused.correlation_id {
            draft = draft.field("correlation_id", name(id));
        }
        if let Some(session) = refused.session {
            draft.session = Some(SessionId(name(session.as_str())));
        }
        let draft = commit_part(draft, "why", &exact.redact_secrets(refused.why));
        if refused.asked.is_empty() {
            draft
        } else {
            commit_part(draft, "asked", &exact.redact_secrets(refused.asked))
        }
    }
}

/// Returns a duration in milliseconds for a record.
pub(crate) fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the milliseconds between two times for a record, or 0 if the clock was set back.
pub(crate) fn millis_between(from: DateTime<Utc>, to: DateTime<Utc>) -> u64 {
    u64::try_from((to - from).num_milliseconds()).unwrap_or_default()
}
