//! Parameters and answers of the commands that search the audit log, and show it by question.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AuditRecordView, RecordType, SessionId, TurnId};

/// Which records are looked for. All that is given must fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AuditFilter {
    /// Only of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Only of this specialist, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only about this tool, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only this kind of event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<RecordType>,
    /// Only this decision of a person, of the clock or of the policy, such as `approved`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Not before this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
    /// Before this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
    /// Words of values that are not erased, or of names. The last word may be the beginning of
    /// one.
    #[serde(default)]
    pub search: String,
}

/// The group of records that an entry stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum AuditEntryKind {
    /// A question with all that was done to answer it.
    Question,
    /// A tool that was called outside a conversation.
    Call,
    /// The log was opened, with the packs that were loaded then.
    Start,
    /// A conversation was erased, or some of its values.
    Erasure,
    /// A record of its own.
    Record,
}

wire! {
    /// Looks for single records.
    struct AuditFindParams {
        /// Which records.
        #[serde(default)]
        filter: AuditFilter,
        /// Records with a smaller number than this; the newest when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
        /// At most 500; 0 means 100.
        #[serde(default)]
        limit: u32,
    }

    /// Looks for questions, and for records that belong to none. Visits of the list of memories are
    /// left out, unless the filter names their event.
    struct AuditEntriesParams {
        /// Which ones: each part of the filter must fit a record of the entry.
        #[serde(default)]
        filter: AuditFilter,
        /// The `next` of the page before; the newest when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
        /// At most 200; 0 means 50.
        #[serde(default)]
        limit: u32,
        /// Only what somebody asked: questions, and tools that were called outside a conversation.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        asked: bool,
    }

    /// A page of questions, and of records that belong to none.
    struct AuditEntriesResponse {
        /// The entries, newest first.
        entries: Vec<AuditEntry>,
        /// The value of `before` for the next page. Absent on the last page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<u64>,
        /// The number of records that can be found so far. If it is smaller than `total`, the index
        /// is still being made: ask again.
        indexed: u64,
        /// The number of all records in the log.
        total: u64,
    }

    /// A question with all that was done to answer it, or a record that belongs to no question.
    struct AuditEntry {
        /// The number of its first record.
        first: u64,
        /// The kind of group.
        kind: AuditEntryKind,
        /// The kind of its first record.
        event: RecordType,
        /// The moment of its first record.
        at: DateTime<Utc>,
        /// The moment of its newest record.
        last_at: DateTime<Utc>,
        /// The number of its records.
        records: u64,
        /// The session, if it belongs to one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// The turn, if it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnId>,
        /// The text of the question. Absent if it was erased, or if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<String>,
        /// Whether there was a question whose text was erased.
        erased: bool,
        /// Through what it was asked: `window`, `terminal`, `caller` or `inside`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<String>,
        /// The person who asked, as the operating system names them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        person: Option<String>,
        /// How it ended, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// The tools in it.
        tools: Vec<String>,
        /// The specialists in it.
        agents: Vec<String>,
        /// The decisions in it.
        decisions: Vec<String>,
    }

    /// Names one entry, by a record or by its turn.
    struct AuditEntryParams {
        /// The number of one of its records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        record: Option<u64>,
        /// Its turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnId>,
        /// Only records with a greater number than this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
    }

    /// One entry with its records.
    struct AuditEntryResponse {
        /// The entry.
        entry: AuditEntry,
        /// At most 500 of its records, in the order of the log.
        records: Vec<AuditRecordView>,
        /// Whether more records follow.
        has_more: bool,
    }

    /// The names that a filter can have, most frequent first.
    struct AuditChoicesResponse {
        /// The tools.
        tools: Vec<String>,
        /// The specialists.
        agents: Vec<String>,
        /// The decisions.
        decisions: Vec<String>,
    }

    /// Verifies an exported folder.
    struct AuditVerifyFolderParams {
        /// The path of the folder.
        folder: String,
    }
}
