//! The audit log: records, and how far each must be before the engine goes on.

use std::collections::BTreeMap;

use async_trait::async_trait;
use contract::{RecordType, SessionId, TurnId};
use serde_json::{Map, Value};

/// A record to be written. The log gives number, time, chain and hash.
#[derive(Clone, Debug)]
pub struct RecordDraft {
    pub record_type: RecordType,
    pub session: Option<SessionId>,
    pub turn: Option<TurnId>,
    /// Plain members of the body: text, integers, booleans, lists and objects of them. No floats.
    pub fields: Map<String, Value>,
    /// Members that go in as salted commitments, with their values kept beside the log until
    /// erased.
    pub committed: BTreeMap<String, Value>,
}

impl RecordDraft {
    /// A draft without members.
    pub fn new(record_type: RecordType) -> Self {
        Self {
            record_type,
            session: None,
            turn: None,
            fields: Map::new(),
            committed: BTreeMap::new(),
        }
    }
    /// Names the session and turn.
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

/// How far a record must be when `append` returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// On disk, with everything before it.
    Durable,
    /// On disk, and a signed checkpoint covers it (before an approved write).
    Signed,
    /// Handed to the writer; a later `Durable` append or `flush` makes it durable.
    Grouped,
}

/// The log refused: nothing may be executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the audit log cannot be written: {0}")]
pub struct AuditUnavailable(pub contract::Text);

/// The audit log as the engine needs it.
#[async_trait]
pub trait AuditLog: Send + Sync {
    /// Appends a record; its number comes back.
    async fn append(
        &self,
        record: RecordDraft,
        durability: Durability,
    ) -> Result<u64, AuditUnavailable>;
    /// Makes everything appended so far durable.
    async fn flush(&self) -> Result<(), AuditUnavailable>;
}
