//! The audit log as it is shown: records, what they reveal, and what a verification found.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::Text;

/// The kind of event that a record describes.
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
    /// The memory of a conversation changed: a summary, a failed summary, or a deleted memory.
    Memory,
    PackLoaded,
    DataImported,
    DbRecovered,
    KeyRotated,
    /// The value behind a commitment was erased. The record has the number of its record and the
    /// name of the member.
    ValueErased,
    /// A person accepted a new log after the old one did not verify.
    AlarmAcknowledged,
}

/// A record as listed. Values behind commitments are included until they are erased.
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

/// The outside copy of the newest checkpoint with which a verification compared the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ComparedWith {
    /// The keyring's copy, and the state folder's signed copy if that is newer.
    Keyring,
    /// The state folder's copy. A person who can write the log's file may be able to write that,
    /// too.
    State,
    /// No copy. The log is consistent, but it may have been cut or replaced as a whole.
    #[default]
    Nothing,
}

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct VerifyReport {
    pub ok: bool,
    pub records: u64,
    pub checkpoints: u64,
    /// Root hash (hex) over all records.
    pub root: String,
    /// Short form of the signing key.
    pub key_fingerprint: String,
    /// Whether the signing key comes from the keyring, and is not one of this run only.
    pub anchored: bool,
    #[serde(default)]
    pub compared_with: ComparedWith,
    /// Records after the newest checkpoint. They are chained but not signed yet.
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
    pub message: Text,
}

/// A log that did not verify. Nothing runs until a person accepts a new log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AuditAlarm {
    pub id: String,
    pub raised_at: DateTime<Utc>,
    pub problems: Vec<VerifyProblem>,
}
