//! The port for the audit log: records, and how durable each record must be before the engine
//! continues.

use std::collections::BTreeMap;

use async_trait::async_trait;
use contract::{RecordType, SessionId, TurnId};
use serde_json::{Map, Value};

/// A record to be written. The log adds the number, the time, the hash chain and the hash.
#[derive(Clone, Debug)]
pub struct RecordDraft {
    /// The kind of event.
    pub record_type: RecordType,
    /// The session of the event, if any.
    pub session: Option<SessionId>,
    /// The turn of the event, if any.
    pub turn: Option<TurnId>,
    /// The members that are recorded in plain form: texts, integers, booleans, and lists and
    /// objects of them, but no floats.
    pub fields: Map<String, Value>,
    /// Members that are recorded as salted commitments. Their values are stored beside the log
    /// until they are erased.
    pub committed: BTreeMap<String, Value>,
}

impl RecordDraft {
    /// Creates a draft without members.
    pub fn new(record_type: RecordType) -> Self {
        Self {
            record_type,
            session: None,
            turn: None,
            fields: Map::new(),
            committed: BTreeMap::new(),
        }
    }
    /// Sets the session and the turn of the record.
    #[must_use]
    pub fn of(mut self, session: &SessionId, turn: &TurnId) -> Self {
        self.session = Some(session.clone());
        self.turn = Some(turn.clone());
        self
    }
    /// Adds a plain member.
    #[must_use]
    pub fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }
    /// Adds a committed member.
    #[must_use]
    pub fn commit(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.committed.insert(name.to_owned(), value.into());
        self
    }
}

/// How durable a record must be when `append` returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The record and all earlier records are on disk.
    Durable,
    /// The record is on disk and covered by a signed checkpoint. Used before an approved write.
    Signed,
    /// The record is passed to the writer. A later `Durable` append or `flush` makes it durable.
    Grouped,
}

/// The log could not write the record, so that no call may be executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the audit log cannot be written: {0}")]
pub struct AuditUnavailable(pub contract::Text);

/// The audit log in the form that the engine uses.
#[async_trait]
pub trait AuditLog: Send + Sync {
    /// Appends a record and returns its number.
    async fn append(
        &self,
        record: RecordDraft,
        durability: Durability,
    ) -> Result<u64, AuditUnavailable>;
    /// Makes all appended records durable.
    async fn flush(&self) -> Result<(), AuditUnavailable>;
}
