//! What was refused, in the log: one record for each call or request that was not run, with its reason. Whoever asks without end fills no
//! log: beyond a bound only the number is recorded, and of long values a part with the size and hash of the whole. A refusal that cannot
//! be recorded stays a refusal.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use contract::{AgentError, ErrorCode, RecordType, SessionId, ToolOutcome};
use parking_lot::Mutex;
use serde_json::json;

use crate::{
    Engine,
    canonical::{canonical, sha256_hex},
    ports::{Durability, RecordDraft},
    tools::call::CallDone,
    turn::Turn,
};

/// Refused calls of a turn that have records of their own.
const CALLS: u32 = 40;
/// Refused requests that have records of their own, in a minute.
const REQUESTS: u32 = 60;
/// The most characters that a record keeps of a refused value.
const CHARS: usize = 4_000;
/// The same of a name.
const NAME_CHARS: usize = 128;

/// Refused calls of a turn, or refused requests of a minute.
#[derive(Default)]
pub(crate) struct Refusals(Mutex<Counted>);

#[derive(Default)]
struct Counted {
    recorded: u32,
    /// By reason.
    more: BTreeMap<String, u64>,
    since: Option<DateTime<Utc>>,
}

impl Refusals {
    /// Whether one more gets a record; it is counted otherwise.
    fn admit(&self, most: u32, reason: &str) -> bool {
        let mut counted = self.0.lock();
        let is_admitted = counted.recorded < most;
        if is_admitted {
            counted.recorded += 1;
        } else {
            *counted.more.entry(reason.to_owned()).or_default() += 1;
        }
        is_admitted
    }

    /// Begins again when a minute is over, with what the last one did not record.
    fn renew(&self, now: DateTime<Utc>) -> BTreeMap<String, u64> {
        let mut counted = self.0.lock();
        let is_over = counted.since.is_none_or(|since| now - since >= TimeDelta::minutes(1) || now < since);
        if !is_over {
            return BTreeMap::new();
        }
        std::mem::replace(&mut *counted, Counted { since: Some(now), ..Counted::default() }).more
    }

    fn take_more(&self) -> BTreeMap<String, u64> {
        std::mem::take(&mut self.0.lock().more)
    }
}

/// Adds a value that somebody refused has sent: the whole when it is short.
fn commit_part(draft: RecordDraft, name: &str, text: &str) -> RecordDraft {
    let Some((end, _)) = text.char_indices().nth(CHARS) else { return draft.commit(name, text) };
    draft.field(&format!("{name}_bytes"), text.len()).field(&format!("{name}_sha256"), sha256_hex(text.as_bytes())).commit(name, &text[..end])
}

fn more(counts: BTreeMap<String, u64>) -> Option<RecordDraft> {
    let total: u64 = counts.values().sum();
    let draft = RecordDraft::new(RecordType::PolicyDecision).field("status", "refused").field("level", "warning");
    (total > 0).then(|| draft.field("more", total).field("reasons", json!(counts)))
}

/// Why, as a name: the error's own reason, else its code.
fn reason_of(error: &AgentError) -> String {
    error.reason_text().unwrap_or_else(|| error.code.name()).to_owned()
}

impl Turn {
    /// Records a call that was not run. One that ran, or that a person decided about, has records already.
    pub(crate) async fn note_refused(&self, done: &CallDone) {
        if done.is_recorded || done.outcome == ToolOutcome::Ok {
            return;
        }
        let unexplained = || AgentError::new(ErrorCode::InternalError, done.summary.clone());
        let error = done.error.clone().unwrap_or_else(unexplained);
        let reason = reason_of(&error);
        if !self.refusals.admit(CALLS, &reason) {
            return;
        }
        let exact = self.engine.exact();
        let mut arguments = done.arguments.clone();
        exact.scrub_value(&mut arguments);
        let tool: String = exact.scrub(done.tool.as_str()).chars().take(NAME_CHARS).collect();
        let draft = RecordDraft::new(RecordType::PolicyDecision)
            .field("call", done.call.as_str())
            .field("tool", tool)
            .field("effect", json!(done.effect))
            .field("status", json!(done.outcome))
            .field("code", error.code.name())
            .field("reason", reason)
            .field("level", "warning")
            .field("duration_ms", millis(done.duration))
            .field("agent", self.agent_id());
        let draft = commit_part(draft, "why", &exact.scrub(&error.message));
        self.record(commit_part(draft, "arguments", &canonical(&arguments))).await;
    }

    /// Records how many calls were refused beyond those with records of their own.
    pub(crate) async fn note_more_refused(&self) {
        if let Some(draft) = more(self.refusals.take_more()) {
            self.record(draft.field("agent", self.agent_id()).field("duration_ms", 0)).await;
        }
    }
}

/// A request that was refused before a turn could begin.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'a> {
    /// `run_request`, `message`, `tool_call` or `chat_request`.
    pub request: &'a str,
    pub code: &'a str,
    pub reason: &'a str,
    pub why: &'a str,
    /// Which request it was, as far as that is known.
    pub request_id: Option<&'a str>,
    pub session: Option<&'a SessionId>,
    /// What was asked.
    pub asked: &'a str,
}

impl<'a> Refused<'a> {
    pub(crate) fn of(request: &'a str, error: &'a AgentError, asked: &'a str) -> Self {
        let reason = error.reason_text().unwrap_or_else(|| error.code.name());
        Self { request, code: error.code.name(), reason, why: &error.message, request_id: None, session: None, asked }
    }
}

impl Engine {
    /// Records a request that was refused.
    pub async fn note_refused_request(&self, refused: Refused<'_>) {
        let now = self.world.clock.now();
        let left = more(self.refusals.renew(now));
        let own = self.refusals.admit(REQUESTS, refused.reason).then(|| self.refusal(refused));
        for draft in left.into_iter().chain(own) {
            if let Err(error) = self.world.audit.append(draft, Durability::Grouped).await {
                tracing::warn!(%error, "a refusal could not be recorded");
            }
        }
    }

    fn refusal(&self, refused: Refused<'_>) -> RecordDraft {
        let exact = self.exact();
        let name = |text: &str| -> String { exact.scrub(text).chars().take(NAME_CHARS).collect() };
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
        if let Some(session) = refused.session {
            draft.session = Some(SessionId(name(session.as_str())));
        }
        let draft = commit_part(draft, "why", &exact.scrub(refused.why));
        if refused.asked.is_empty() { draft } else { commit_part(draft, "asked", &exact.scrub(refused.asked)) }
    }
}

/// Milliseconds for a record.
pub(crate) fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Milliseconds between two instants for a record; none when the clock went back.
pub(crate) fn millis_between(from: DateTime<Utc>, to: DateTime<Utc>) -> u64 {
    u64::try_from((to - from).num_milliseconds()).unwrap_or_default()
}
