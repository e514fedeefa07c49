//! The state that is needed in memory to append records: frontier, last leaf, keys. Converts drafts
//! to rows and writes the rows.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use contract::{RecordType, Text, text};
use engine::ports::RecordDraft;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, ffi, params};
use serde_json::{Map, Value};

use crate::body::{Body, MAX_BODY, MAX_VALUE, Reveal, instant};
use crate::canon;
use crate::entropy::Entropy;
use crate::keys::KeyState;
use crate::num::Num;
use crate::tree::{self, Frontier, Hash};

/// The current end of the log.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) origin: String,
    pub(crate) frontier: Frontier,
    pub(crate) last_leaf: Hash,
    /// The size of the newest checkpoint.
    pub(crate) signed: u64,
    pub(crate) keys: KeyState,
}

/// A checked draft that has no number yet.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    kind: String,
    session: Option<String>,
    turn: Option<String>,
    fields: Map<String, Value>,
    /// The canonical text of each value behind a commitment.
    committed: BTreeMap<String, String>,
    at: DateTime<Utc>,
}

/// Returns the type's name in bodies.
pub(crate) fn type_name(kind: RecordType) -> String {
    match serde_json::to_value(kind) {
        Ok(Value::String(name)) => name,
        Ok(_) | Err(_) => String::new(),
    }
}

/// Checks a draft. An error is a sentence.
pub(crate) fn prepare(draft: RecordDraft, at: DateTime<Utc>) -> Result<Prepared, String> {
    for (name, value) in &draft.fields {
        canon::check_plain(&format!("/fields/{name}"), value).map_err(|error| error.to_string())?;
    }
    let mut committed = BTreeMap::new();
    for (name, value) in draft.committed {
        let text = canon::canonical_text(&canon::keep_integers(&value))
            .map_err(|error| error.to_string())?;
        if text.len() > MAX_VALUE {
            return Err(format!("the value of {name} is larger than {MAX_VALUE} bytes"));
        }
        committed.insert(name, text);
    }
    Ok(Prepared {
        kind: type_name(draft.record_type),
        session: draft.session.map(|id| id.0),
        turn: draft.turn.map(|id| id.0),
        fields: draft.fields,
        committed,
        at,
    })
}

const DISK_FULL: &str = "the disk is full; free some space and try again";
/// The error codes that SQLite reports on a full disk, including the errors if a file of its own
/// cannot grow.
const NO_SPACE: [i32; 5] = [
    ffi::SQLITE_FULL,
    ffi::SQLITE_IOERR_WRITE,
    ffi::SQLITE_IOERR_SHMSIZE,
    ffi::SQLITE_IOERR_SHMOPEN,
    ffi::SQLITE_IOERR_SHMMAP,
];

/// Why a record could not be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error("{0}")]
    Refused(String),
}

impl WriteError {
    /// Returns the error as a sentence for the user.
    pub(crate) fn sentence(&self) -> Text {
        let error = match self {
            Self::Refused(text) => return text.into(),
            Self::Sqlite(error) => error,
        };
        let extended = error.sqlite_error().map(|failure| failure.extended_code);
        match error.sqlite_error_code() {
            _ if extended.is_some_and(|code| NO_SPACE.contains(&code)) => DISK_FULL.into(),
            Some(ErrorCode::ReadOnly) => {
                "its file or folder is not writable; check the permissions of the data folder"
                    .into()
            }
            Some(ErrorCode::CannotOpen) => {
                text!(
                    "its file cannot be opened ({error}); check the permissions of the data folder",
                    error = error.to_string()
                )
            }
            Some(ErrorCode::DatabaseBusy) => {
                "another program holds its file; close it and try again".into()
            }
            Some(_) | None => {
                text!(
                    "its database failed ({error}); check the disk and restart Countersign",
                    error = error.to_string()
                )
            }
        }
    }
}

impl Chain {
    /// Assigns the record's number and its place in the chain, and writes its rows. The caller
    /// holds a transaction, and must drop this chain if the transaction fails.
    pub(crate) fn append(
        &mut self,
        db: &Connection,
        entropy: &dyn Entropy,
        draft: &Prepared,
    ) -> Result<u64, WriteError> {
        let seq = self.frontier.size() + 1;
        let mut reveals = Vec::with_capacity(draft.committed.len());
        let mut commitments = BTreeMap::new();
        // Each value has its own salt, so that an erased value cannot be guessed from its hash.
        for (member, value) in &draft.committed {
            let mut salt = [0u8; 32];
            entropy.fill(&mut salt).map_err(WriteError::Refused)?;
            let reveal = Reveal { member: member.clone(), salt, value: value.clone() };
            let hash = reveal
                .commitment()
                .ok_or_else(|| WriteError::Refused("a commitment could not be made".to_owned()))?;
            commitments.insert(member.clone(), crate::hex::encode(&hash));
            reveals.push(reveal);
        }
        let body = Body {
            v: 1,
            seq,
            at: instant(draft.at),
            kind: draft.kind.clone(),
            session: draft.session.clone(),
            turn: draft.turn.clone(),
            fields: draft.fields.clone(),
            commitments,
            prev: crate::hex::encode(&self.last_leaf),
        };
        // The JSON is canonical, because a verifier in another language must get the same bytes.
        let bytes = serde_json_canonicalizer::to_vec(&body)
            .map_err(|error| WriteError::Refused(error.to_string()))?;
        if bytes.len() > MAX_BODY {
            return Err(WriteError::Refused(format!(
                "a record of {} bytes is too large",
                bytes.len()
            )));
        }
        let leaf = tree::leaf_hash(&bytes);
        insert(db, &body, &bytes, &leaf)?;
        for reveal in &reveals {
            db.prepare_cached(
                "INSERT INTO audit_reveal(seq, member, salt, value) VALUES(?1, ?2, ?3, ?4)",
            )?
            .execute(params![Num(seq), reveal.member, reveal.salt, reveal.value])?;
        }
        for (id, hash) in self.frontier.push(leaf) {
            db.prepare_cached("INSERT INTO audit_node(id, hash) VALUES(?1, ?2)")?
                .execute(params![Num(id), hash])?;
        }
        self.last_leaf = leaf;
        Ok(seq)
    }

    /// Writes a signed checkpoint of the current size, unless there already is one.
    pub(crate) fn write_checkpoint(
        &mut self,
        db: &Connection,
        signer: &ed25519_dalek::SigningKey,
    ) -> Result<(), WriteError> {
        let size = self.frontier.size();
        if size == self.signed {
            return Ok(());
        }
        let note = crate::note::sign(&self.origin, size, &self.frontier.root(), signer);
        db.prepare_cached("INSERT INTO audit_checkpoint(size, note) VALUES(?1, ?2)")?
            .execute(params![Num(size), note])?;
        self.signed = size;
        Ok(())
    }
}

fn insert(db: &Connection, body: &Body, bytes: &[u8], leaf: &Hash) -> rusqlite::Result<usize> {
    db.prepare_cached("INSERT INTO audit_record(seq, body, leaf, at, type, session, tool, status) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?.execute(params![
        Num(body.seq),
        bytes,
        leaf,
        body.at,
        body.kind,
        body.session,
        body.text("tool"),
        body.text("status")
    ])
}

/// Reads a complete subtree's hash; level 0 is a record's leaf.
pub(crate) fn stored_node(db: &Connection, level: u32, index: u64) -> rusqlite::Result<Hash> {
    if level == 0 {
        return db
            .prepare_cached("SELECT leaf FROM audit_record WHERE seq=?1")?
            .query_row([Num(index + 1)], |row| row.get(0));
    }
    db.prepare_cached("SELECT hash FROM audit_node WHERE id=?1")?
        .query_row([Num(tree::node_id(level, index))], |row| row.get(0))
}

/// Reads the frontier of the first `size` records from stored nodes.
pub(crate) fn stored_frontier(db: &Connection, size: u64) -> rusqlite::Result<Frontier> {
    let peaks = tree::peaks(size)
        .into_iter()
        .map(|(level, index)| stored_node(db, level, index))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Frontier::from_peaks(size, peaks).unwrap_or_default())
}

/// Returns the number of records.
pub(crate) fn stored_size(db: &Connection) -> rusqlite::Result<u64> {
    Ok(db
        .query_row("SELECT max(seq) FROM audit_record", [], |row| row.get::<_, Option<Num>>(0))?
        .map_or(0, |n| n.0))
}

/// Returns the newest checkpoint's size and note.
pub(crate) fn stored_checkpoint(db: &Connection) -> rusqlite::Result<Option<(u64, String)>> {
    db.query_row("SELECT size, note FROM audit_checkpoint ORDER BY size DESC LIMIT 1", [], |row| {
        Ok((row.get::<_, Num>(0)?.0, row.get(1)?))
    })
    .optional()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_however_the_database_reports_it() {
        for code in NO_SPACE {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            assert!(WriteError::from(error).sentence().contains("the disk is full"), "{code}");
        }
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_IOERR_READ), None);
        assert!(!WriteError::from(error).sentence().contains("is full"));
    }
}
