//! Defines how much of earlier messages a model sees: the modes, their bounds, and when a summary
//! is made. The profile has these settings, and a pack's agent may override them. Storage is
//! handled elsewhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Text, text};

/// How a conversation is remembered. Each message of the user and each text of the assistant counts
/// as a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct Conversation {
    /// How much of earlier messages the model sees.
    pub mode: ConversationMode,
    /// Which sessions share one memory.
    pub scope: ConversationScope,
    /// The value that identifies a conversation, unless the session identifies it.
    pub key: ConversationKey,
    /// Mode `buffer`: messages that the model sees (1 to 200).
    #[schemars(range(min = 1, max = 200))]
    pub max_messages: u32,
    /// Mode `buffer`: the most tokens of these messages; 0 = no bound.
    pub max_tokens: u32,
    /// Modes with a window: messages in the window; 0 = as many as the profile's limit allows.
    #[schemars(range(max = 200))]
    pub window_messages: u32,
    /// The most tokens of these messages; 0 = no bound.
    pub window_tokens: u32,
    /// Seconds without a message after which the model starts without memory; 0 = never.
    pub ttl_seconds: u64,
    /// The most conversations that are remembered. Above this number, the least recently used
    /// conversation is deleted. 0 = no bound.
    pub max_items: u32,
    /// How and when a summary is made.
    pub summary: SummaryPolicy,
}

impl Default for Conversation {
    fn default() -> Self {
        Self {
            mode: ConversationMode::SummaryBuffer,
            scope: ConversationScope::PerConversation,
            key: ConversationKey::default(),
            max_messages: 100,
            max_tokens: 12_000,
            window_messages: 0,
            window_tokens: 0,
            ttl_seconds: 0,
            max_items: 0,
            summary: SummaryPolicy::default(),
        }
    }
}

impl Conversation {
    /// Returns the errors: the field, and the violated rule as a sentence.
    pub fn faults(&self) -> Vec<(&'static str, Text)> {
        let mut found = Vec::new();
        let range = |least: i64, most: i64| text!("must be {least} to {most}", least, most);
        let mut check = |holds: bool, field, rule: Text| {
            if !holds {
                found.push((field, rule));
            }
        };
        check((1..=200).contains(&self.max_messages), "max_messages", range(1, 200));
        check(self.window_messages <= 200, "window_messages", range(0, 200));
        check(
            self.key.source == KeySource::ConversationId || !self.key.name.trim().is_empty(),
            "key.name",
            "must name the header or the field of the request".into(),
        );
        let summary = &self.summary;
        check((20..=4_000).contains(&summary.max_tokens), "summary.max_tokens", range(20, 4000));
        check(
            summary.max_messages_since_update <= 200,
            "summary.max_messages_since_update",
            range(0, 200),
        );
        check(
            summary.max_tokens_since_update <= 50_000,
            "summary.max_tokens_since_update",
            range(0, 50000),
        );
        check(summary.every_messages <= 200, "summary.every_messages", range(0, 200));
        let summarises =
            matches!(self.mode, ConversationMode::Summary | ConversationMode::SummaryBuffer);
        let threshold =
            summary.max_messages_since_update > 0 || summary.max_tokens_since_update > 0;
        check(
            !summarises || summary.refresh_policy != RefreshPolicy::Threshold || threshold,
            "summary.max_messages_since_update",
            "or summary.max_tokens_since_update must be larger than 0: a threshold needs one of them".into(),
        );
        let period = summary.period_seconds > 0 || summary.every_messages > 0;
        check(
            !summarises || summary.refresh_policy != RefreshPolicy::Periodic || period,
            "summary.period_seconds",
            "or summary.every_messages must be larger than 0: a period needs one of them".into(),
        );
        found
    }
}

/// How much of earlier messages the model sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ConversationMode {
    /// No earlier messages; no memory is kept.
    #[serde(rename = "no-need")]
    NoNeed,
    /// All messages, up to the bounds.
    Buffer,
    /// The newest messages.
    BufferWindow,
    /// A summary, and the messages that it does not cover yet.
    Summary,
    /// A summary, the messages between the summary and the window, and the window.
    SummaryBuffer,
}

/// Which sessions share a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ConversationScope {
    /// No sharing: each message is independent and no memory is kept.
    PerRequest,
    /// A single session; each session has its own memory.
    PerConversation,
    /// All sessions of one user.
    PerUser,
    /// All sessions of one tenant.
    PerTenant,
}

/// The source of the key. If the source has no value, the session is the key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ConversationKey {
    /// The part of a request that contains the key.
    pub source: KeySource,
    /// The header's name (in any case), or the field of the caller's context (`user.id` for a
    /// nested field).
    pub name: String,
}

/// The source from which the key is read.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    /// The session itself.
    #[default]
    ConversationId,
    /// A header of the HTTP request.
    Header,
    /// A field of the context in the request's body.
    RequestField,
}

/// How a summary is made, its length, and when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct SummaryPolicy {
    /// How the text of a summary is made.
    pub update_method: SummaryMethod,
    /// The condition for making a new summary.
    pub refresh_policy: RefreshPolicy,
    /// Whether the next message waits for the summary.
    pub update_timing: UpdateTiming,
    /// Tokens of a summary (20 to 4000).
    #[schemars(range(min = 20, max = 4_000))]
    pub max_tokens: u32,
    /// Threshold: the number of messages not yet summarised; 0 = no condition.
    #[schemars(range(max = 200))]
    pub max_messages_since_update: u32,
    /// Threshold: the tokens of these messages; 0 = no condition.
    #[schemars(range(max = 50_000))]
    pub max_tokens_since_update: u32,
    /// Threshold: seconds between two summaries.
    pub cooldown_seconds: u32,
    /// Periodic: seconds since the last summary; 0 = no condition.
    pub period_seconds: u32,
    /// Periodic: messages since the last summary; 0 = no condition.
    #[schemars(range(max = 200))]
    pub every_messages: u32,
}

impl Default for SummaryPolicy {
    fn default() -> Self {
        Self {
            update_method: SummaryMethod::Llm,
            refresh_policy: RefreshPolicy::Threshold,
            update_timing: UpdateTiming::AsyncPostTurn,
            max_tokens: 800,
            max_messages_since_update: 6,
            max_tokens_since_update: 1_500,
            cooldown_seconds: 10,
            period_seconds: 60,
            every_messages: 0,
        }
    }
}

/// How a summary is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum SummaryMethod {
    /// Written by the model that answers.
    Llm,
    /// Made by a fixed rule on this computer, from the beginnings of the messages.
    Heuristic,
}

/// When a summary is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum RefreshPolicy {
    /// After every turn.
    EveryTurn,
    /// When enough messages or tokens are not yet summarised.
    Threshold,
    /// After a number of seconds or of messages.
    Periodic,
}

/// Whether the next message waits for the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum UpdateTiming {
    /// The next message of the session waits for the summary.
    AfterTurn,
    /// The next message does not wait.
    AsyncPostTurn,
}
