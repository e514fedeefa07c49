//! The messages that the host sends without being asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ImportView, ServerView, SessionId, SessionSummary, Settings};

/// Messages that the host pushes to its windows and clients, besides command answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "push", rename_all = "snake_case")]
pub enum Push {
    /// A turn went on.
    Turn {
        /// The event with its address.
        event: crate::TurnEvent,
    },
    /// A session was created or changed.
    Session {
        /// The session as it is now.
        summary: SessionSummary,
    },
    /// A session was deleted.
    SessionDeleted {
        /// The session that was deleted.
        session: SessionId,
    },
    /// The waiting messages of a session changed.
    Queue {
        /// The session that they wait for.
        session: SessionId,
        /// All waiting messages, in the order in which they will run.
        queue: Vec<crate::QueuedMessage>,
    },
    /// Approvals changed: read them again.
    Approvals {
        /// The number of pending actions.
        waiting: u32,
    },
    /// Nobody decided about an action in time.
    ApprovalExpired {
        /// The action as it was shown.
        approval: Box<crate::Approval>,
    },
    /// An import went on or ended.
    Import {
        /// The import as it is now.
        import: ImportView,
    },
    /// The state of an MCP server changed.
    Server {
        /// The server as it is now.
        server: ServerView,
    },
    /// The definitions of servers' tools changed: read them again. `waiting` is the number to be
    /// accepted.
    ServerTools {
        /// The number of definitions that wait to be accepted.
        waiting: u32,
    },
    /// Changes of settings wait in the approval window: read them again.
    Confirmations {
        /// The number of changes that wait to be confirmed.
        waiting: u32,
    },
    /// Servers ask the user something: read them again.
    Questions {
        /// The number of questions that wait for an answer.
        waiting: u32,
    },
    /// A server's question was declined, because nobody could answer it.
    QuestionDeclined {
        /// The pack of the server.
        pack: crate::PackId,
        /// The name of the server in its pack.
        server: String,
        /// The text of the question.
        message: String,
    },
    /// Boxed, so that a delta is not as large as all settings.
    Settings {
        /// The settings in force now.
        settings: Box<Settings>,
    },
    /// Records were added to the audit log.
    Audit {
        /// The number of all records.
        total: u64,
    },
    /// A verification of the log went on.
    AuditVerification {
        /// The number of records that were checked so far.
        checked: u64,
        /// The number of records to check.
        total: u64,
    },
    /// An event of a streamed run. The last one is the command's answer.
    Run {
        /// The namespace of the request id.
        caller: String,
        /// The id of the run's request.
        request_id: String,
        /// The event of the run.
        event: crate::RunEvent,
    },
    /// Files are dragged over the window, or (with `paths`) were dropped on it.
    Files {
        /// Whether files are over the window now.
        over: bool,
        /// The paths of the files that were dropped; empty while they are dragged.
        paths: Vec<String>,
    },
    /// The receiver was too slow and missed pushes: read everything again.
    Lagged {},
}
