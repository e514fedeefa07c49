//! Parameters and answers of the commands that search the audit log and group it by question.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AuditRecordView, RecordType, SessionId, TurnId};

/// The conditions for records of the log. All given conditions must be met.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AuditFilter {
    /// Records of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Records of this specialist, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Records about this tool, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Records of this kind of event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<RecordType>,
    /// Records with this decision of a person, of the clock or of the policy, such as `approved`, or
    /// with this outcome other than success. `error` stands for every failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Records at or after this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
    /// Records before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
    /// Words of values that are not erased, or of names. The last word may be the beginning of a
    /// word.
    #[serde(default)]
    pub search: String,
}

/// The kind of group that an entry contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum AuditEntryKind {
    /// A question with all records of answering it.
    Question,
    /// A tool that was called outside a conversation.
    Call,
    /// The start of the log, with the packs that were loaded.
    Start,
    /// The erasure of a conversation or of some of its values.
    Erasure,
    /// A single record that belongs to no group.
    Record,
}

wire! {
    /// Searches single records.
    struct AuditFindParams {
        /// The conditions for the records.
        #[serde(default)]
        filter: AuditFilter,
        /// Selects records with a number below this; absent selects the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
        /// The most records of the page: at most 500; 0 means 100.
        #[serde(default)]
        limit: u32,
    }

    /// Searches questions, and records that belong to no question. Records of viewing the list of
    /// memories are omitted, unless the filter names their event.
    struct AuditEntriesParams {
        /// The conditions: each must be met by a record of the entry.
        #[serde(default)]
        filter: AuditFilter,
        /// The `next` of the previous page; absent selects the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
        /// The most entries of the page: at most 200; 0 means 50.
        #[serde(default)]
        limit: u32,
        /// Whether to select only requests of callers: questions, and tools that were called
        /// outside a conversation.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        asked: bool,
    }

    /// A page of questions, and of records that belong to no question.
    struct AuditEntriesResponse {
        /// The entries, newest first.
        entries: Vec<AuditEntry>,
        /// The value of `before` for the next page. Absent on the last page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<u64>,
        /// The number of records that can be found so far. If the number is smaller than `total`,
        /// the index is incomplete and the request should be repeated.
        indexed: u64,
        /// The number of all records in the log.
        total: u64,
    }

    /// A question with all records of answering it, or a record that belongs to no question.
    struct AuditEntry {
        /// The number of the entry's first record.
        first: u64,
        /// The kind of group.
        kind: AuditEntryKind,
        /// The kind of the entry's first record.
        event: RecordType,
        /// The time of the entry's first record.
        at: DateTime<Utc>,
        /// The time of the entry's newest record.
        last_at: DateTime<Utc>,
        /// The number of records in the entry.
        records: u64,
        /// The session of the entry, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// The turn, if the entry is a turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnId>,
        /// The text of the question. Absent if the text was erased or there is no question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<String>,
        /// Whether there was a question whose text was erased.
        erased: bool,
        /// The origin of the question: `window`, `terminal`, `caller` or `inside`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<String>,
        /// The person who asked, by the name of the operating system's account.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        person: Option<String>,
        /// How the turn or call ended; absent while it runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// The tools in the entry.
        tools: Vec<String>,
        /// The specialists in the entry.
        agents: Vec<String>,
        /// The decisions in the entry, and the outcomes other than success of its calls, actions and
        /// turn. `unknown`: a call has no recorded outcome.
        decisions: Vec<String>,
    }

    /// Names an entry, by a record or by its turn.
    struct AuditEntryParams {
        /// The number of a record of the entry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        record: Option<u64>,
        /// The turn of the entry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnId>,
        /// Selects records with a number above this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
    }

    /// An entry with its records.
    struct AuditEntryResponse {
        /// The entry.
        entry: AuditEntry,
        /// At most 500 records of the entry, in the order of the log.
        records: Vec<AuditRecordView>,
        /// Whether more records follow.
        has_more: bool,
    }

    /// The names that can be used in a filter, most frequent first.
    struct AuditChoicesResponse {
        /// The tools.
        tools: Vec<String>,
        /// The specialists.
        agents: Vec<String>,
        /// The decisions, and the outcomes other than success.
        decisions: Vec<String>,
    }

    /// Verifies an exported folder.
    struct AuditVerifyFolderParams {
        /// The path of the folder.
        folder: String,
    }
}
