//! The audit log in the form shown to people: records, their values, and the results of a
//! verification.

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
    /// A log was begun; this is the first record of its file.
    LogOpened,
    /// A turn began.
    RunStarted,
    /// A turn ended, with the given status.
    RunEnded,
    /// A model was called, with its tokens and result.
    ModelCall,
    /// A tool call is about to be made, with these exact arguments.
    ToolIntent,
    /// A tool call ended, with its result.
    ToolOutcome,
    /// An action was proposed to a person.
    ApprovalRequested,
    /// A pending action was decided, expired, or was replaced.
    ApprovalResolved,
    /// The policy decided that a call is allowed, must be approved, or is denied.
    PolicyDecision,
    /// A person gave a permission for the rest of a session.
    GrantCreated,
    /// A permission was revoked.
    GrantRevoked,
    /// A setting was changed.
    SettingChanged,
    /// The assistant, an agent or a tool was switched on or off.
    KillSwitch,
    /// The memory of a conversation changed: a summary, a failed summary, or a deleted memory. Also
    /// a long-term memory that was stored or deleted.
    Memory,
    /// Long-term memories were read: for a message, by a tool, or by a person.
    MemoryRead,
    /// A pack was read and put into use.
    PackLoaded,
    /// Files were imported into a pack's data.
    DataImported,
    /// A source of data changed: an import was taken back, the source was removed, or its definitions,
    /// approvals or permissions changed. The record has the action.
    SourceChanged,
    /// Figures were computed for a person. The record has the question, the definitions, the data
    /// version and the result.
    FigureComputed,
    /// The condition of a rule of alerts began to hold, or was resolved. The record has the action,
    /// the rule, the day, the question and the figures.
    AlertTold,
    /// The log, or the records of one session, were exported.
    LogExported,
    /// A session was written into a file. The record has the format.
    SessionExported,
    /// Another version of a message was shown, or a message was deleted or restored. The record has
    /// the action.
    MessageChanged,
    /// A session was deleted or restored. The record has the action.
    SessionChanged,
    /// A process that had recorded more than its start ended normally.
    AppStopped,
    /// The database was replaced by a backup after damage.
    DbRecovered,
    /// The key that signs checkpoints was replaced.
    KeyRotated,
    /// The value behind a commitment was erased. The record contains the value's record number and
    /// member name.
    ValueErased,
    /// Old values were erased because of their age. The record contains their number, and the
    /// number of the last record whose values were erased (`until`).
    ValuesExpired,
    /// Values that are old by the clock were kept, because the clock contradicts the times of the
    /// records.
    ExpiryPostponed,
    /// A session was erased, with the number of its values that were erased from the log.
    SessionErased,
    /// The answer of a witness or a time stamp authority was refused, because it contradicts the
    /// log or is invalid.
    AttestationRefused,
    /// A person accepted a new log after the verification of the old log failed.
    AlarmAcknowledged,
}

/// A listed record. Values behind commitments are included until they are erased.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AuditRecordView {
    /// The number of the record in the log.
    pub seq: u64,
    /// The time in the record, in UTC.
    pub at: DateTime<Utc>,
    /// The kind of event that the record describes.
    pub record_type: RecordType,
    /// The session of the event, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The turn of the event, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The tool of the event, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The result or state in the record, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// SHA-256 (hex) of the record's leaf.
    pub leaf: String,
    /// The members of the body without commitments.
    #[ts(type = "Record<string, unknown>")]
    pub fields: Map<String, Value>,
    /// Values behind commitments by member name; `null` = erased.
    #[ts(type = "Record<string, unknown>")]
    pub revealed: Map<String, Value>,
}

/// The external copy of the newest checkpoint with which a verification compared the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ComparedWith {
    /// The keyring's copy, and the state folder's signed copy if that is newer.
    Keyring,
    /// The state folder's copy. A person who can write the log's file may also be able to write
    /// this copy.
    State,
    /// No copy. The log is consistent, but it may have been cut or replaced as a whole.
    #[default]
    Nothing,
}

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct VerifyReport {
    /// Whether the verification found no problem.
    pub ok: bool,
    /// Whether only a part of a log was checked: an export of one session or decision. Such an
    /// export does not show whether other records were omitted or where the signing key is kept.
    #[serde(default)]
    pub part: bool,
    /// The number of records that were checked.
    pub records: u64,
    /// The number of signed checkpoints that were checked.
    pub checkpoints: u64,
    /// Root hash (hex) over all records.
    pub root: String,
    /// Short form of the signing key.
    pub key_fingerprint: String,
    /// Whether the signing key comes from the keyring, and was not created for this run only.
    pub anchored: bool,
    /// The copy of the newest checkpoint with which the log was compared.
    #[serde(default)]
    pub compared_with: ComparedWith,
    /// Records after the newest checkpoint. They are chained but not signed yet.
    pub unsigned_tail: u64,
    /// The problems, earliest first. Empty if `ok`.
    pub problems: Vec<VerifyProblem>,
    /// Intents without an outcome, by record number.
    pub unknown_outcomes: Vec<u64>,
    /// Files of an export that were not checked: files for people and for other programs, and files
    /// that do not belong to an export. At most 100 are listed. Empty unless `ok`.
    #[serde(default)]
    pub unchecked: Vec<String>,
    /// The number of all unchecked files.
    #[serde(default)]
    pub unchecked_total: u64,
}

/// A problem in a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct VerifyProblem {
    /// The first affected record, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// A sentence that describes the problem.
    pub message: Text,
}

/// The alarm after a failed verification of the log. No turn and no tool runs until a person
/// accepts a new log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AuditAlarm {
    /// The identifier of the alarm.
    pub id: String,
    /// The time at which the problem was found.
    pub raised_at: DateTime<Utc>,
    /// The problems that the verification found.
    pub problems: Vec<VerifyProblem>,
}
