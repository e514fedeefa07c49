//! The messages that the host sends without a request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ServerView, SessionId, SessionSummary, Settings};

/// Messages that the host pushes to its windows and clients, in addition to responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "push", rename_all = "snake_case")]
pub enum Push {
    /// A turn has a new event.
    Turn {
        /// The event with its address.
        event: crate::TurnEvent,
    },
    /// A session was created or changed.
    Session {
        /// The current state of the session.
        summary: SessionSummary,
    },
    /// A session was deleted.
    SessionDeleted {
        /// The deleted session.
        session: SessionId,
    },
    /// Other messages of a session are shown than before, so that clients must read the session
    /// again.
    ItemsChanged {
        /// The session with other messages.
        session: SessionId,
    },
    /// The waiting messages of a session changed.
    Queue {
        /// The session for which the messages wait.
        session: SessionId,
        /// All waiting messages, in the order in which they will run.
        queue: Vec<crate::QueuedMessage>,
    },
    /// Approvals changed, so that clients must read them again.
    Approvals {
        /// The number of pending actions.
        waiting: u32,
    },
    /// An action expired without a decision.
    ApprovalExpired {
        /// The action as it was shown.
        approval: Box<crate::Approval>,
    },
    /// The state of an MCP server changed.
    Server {
        /// The current state of the server.
        server: ServerView,
    },
    /// The definitions of servers' tools changed, so that clients must read them again.
    ServerTools {
        /// The number of definitions that wait to be accepted.
        waiting: u32,
    },
    /// Setting changes wait in the approval window, so that clients must read them again.
    Confirmations {
        /// The number of changes that wait to be confirmed.
        waiting: u32,
    },
    /// Servers have questions for the user, so that clients must read them again.
    Questions {
        /// The number of questions that wait for an answer.
        waiting: u32,
    },
    /// A server's question was declined, because no person could answer it.
    QuestionDeclined {
        /// The pack of the server.
        pack: crate::PackId,
        /// The name of the server in its pack.
        server: String,
        /// The text of the question.
        message: String,
    },
    /// The settings changed. Boxed, so that the enum is not as large as the settings.
    Settings {
        /// The settings that now apply.
        settings: Box<Settings>,
    },
    /// Records were added to the audit log.
    Audit {
        /// The number of all records.
        total: u64,
    },
    /// A verification of the log made progress.
    AuditVerification {
        /// The number of records that were checked so far.
        checked: u64,
        /// The number of records to check.
        total: u64,
    },
    /// An event of a streamed run. The last event is returned as the command's response.
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
    /// Sources of data changed, so that clients must read them again.
    Sources {},
    /// Alerts changed, so that clients must read them again.
    Alerts {
        /// The number of alerts that nobody marked as seen.
        unseen: u32,
        /// The alerts to notify the user of, if the notification of the day is due.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        digest: Option<crate::alerts::AlertDigest>,
    },
    /// The receiver was too slow and missed pushes, so that it must read everything again.
    Lagged {},
}
