//! The audit log as it is shown: records, what they reveal, and what a verification found.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

/// What a record tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum RecordType {
    LogOpened,
    RunStarted,
    RunEnded,
    ModelCall,
    ToolIntent,
    ToolOutcome,
    ApprovalRequested,
    ApprovalResolved,
    PolicyDecision,
    GrantCreated,
    GrantRevoked,
    SettingChanged,
    KillSwitch,
    /// What is remembered of a conversation changed: a summary, a failed one, a forgotten conversation.
    Memory,
    PackLoaded,
    DataImported,
    DbRecovered,
    KeyRotated,
    /// A value behind a commitment was erased: the number of its record and the name of the member.
    ValueErased,
    /// A person accepted a new log after the old one did not verify.
    AlarmAcknowledged,
}

/// A record as listed. Values of commitments are given only while they have not been erased.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AuditRecordView {
    pub seq: u64,
    pub at: DateTime<Utc>,
    pub record_type: RecordType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// SHA-256 (hex) of the record's leaf.
    pub leaf: String,
    /// Plain members of the body.
    #[ts(type = "Record<string, unknown>")]
    pub fields: Map<String, Value>,
    /// Values behind commitments by member name; `null` = erased.
    #[ts(type = "Record<string, unknown>")]
    pub revealed: Map<String, Value>,
}

/// The copy of the newest checkpoint outside the log that a verification held it to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ComparedWith {
    /// The keyring's copy; where the state folder's signed copy is newer, both.
    Keyring,
    /// The state folder's copy: who can write the log's file may be able to write that, too.
    State,
    /// The log holds in itself, but nothing tells whether it was cut or replaced as a whole.
    #[default]
    Nothing,
}

/// What a verification found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct VerifyReport {
    pub ok: bool,
    pub records: u64,
    pub checkpoints: u64,
    /// Root hash (hex) over all records.
    pub root: String,
    /// Short form of the signing key.
    pub key_fingerprint: String,
    /// The key is one from the keyring, not one of this run only.
    pub anchored: bool,
    #[serde(default)]
    pub compared_with: ComparedWith,
    /// Records after the newest checkpoint: in order, but not signed yet.
    pub unsigned_tail: u64,
    /// Empty when `ok`. The first one is the earliest.
    pub problems: Vec<VerifyProblem>,
    /// Intents without an outcome, by record number.
    pub unknown_outcomes: Vec<u64>,
}

/// One fault of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct VerifyProblem {
    /// The first bad record, when one can be named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    pub message: String,
}

/// A log that did not verify, until a person has accepted a new one. Nothing runs meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AuditAlarm {
    pub id: String,
    pub raised_at: DateTime<Utc>,
    pub problems: Vec<VerifyProblem>,
}
