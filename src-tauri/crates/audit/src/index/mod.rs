//! The index over the log that searching needs: a separate file beside the log, created from the
//! log's records, and created again whenever it is missing, damaged, or belongs to another log. The
//! index is not evidence, so no verification reads it. `rows` writes it, `find` and `groups` query
//! it, `words` chooses the words of a record. An erased value is removed from the index before it
//! is removed from the log. If the log still has the value after that, the index is created again.

mod entries;
mod find;
mod groups;
mod page;
mod rows;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use contract::{AgentError, text};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, params};

use crate::num::Num;
use crate::schema::{self, is_damage};

pub(crate) use entries::{list_choices, list_entries, show_entry};
pub(crate) use find::find_records;
pub(crate) use page::{list_records, read_records};

/// The application id "CSIX", which marks the file as an index of an audit log.
const APPLICATION_ID: i32 = 0x4353_4958;
/// The version of the index, which increases when the tables or the words of a record change. An
/// index of another version is created again.
const VERSION: i32 = 4;
/// How many records are read and indexed in one transaction.
const CHUNK: u32 = 2_000;

const TABLES: &str = "
CREATE TABLE state(one INTEGER PRIMARY KEY CHECK(one = 1), indexed INTEGER NOT NULL, leaf BLOB NOT NULL, loose INTEGER,
  expired INTEGER NOT NULL, dirty INTEGER NOT NULL) STRICT;
INSERT INTO state VALUES(1, 0, x'', NULL, 0, 0);
CREATE TABLE name(
  id INTEGER PRIMARY KEY, facet INTEGER NOT NULL, text TEXT NOT NULL,
  records INTEGER NOT NULL DEFAULT 0, groups INTEGER NOT NULL DEFAULT 0, UNIQUE(facet, text)) STRICT;
CREATE TABLE entry(
  seq INTEGER PRIMARY KEY, grp INTEGER NOT NULL, at INTEGER NOT NULL, vals INTEGER NOT NULL,
  event INTEGER NOT NULL, session INTEGER, tool INTEGER, agent INTEGER, decision INTEGER) STRICT;
CREATE INDEX entry_grp ON entry(grp);
CREATE INDEX entry_event ON entry(event);
CREATE INDEX entry_session ON entry(session) WHERE session IS NOT NULL;
CREATE INDEX entry_tool ON entry(tool) WHERE tool IS NOT NULL;
CREATE INDEX entry_agent ON entry(agent) WHERE agent IS NOT NULL;
CREATE INDEX entry_decision ON entry(decision) WHERE decision IS NOT NULL;
CREATE TABLE grp(
  id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, turn TEXT, session INTEGER, at INTEGER NOT NULL,
  last_seq INTEGER NOT NULL, last_at INTEGER NOT NULL, records INTEGER NOT NULL,
  asked INTEGER, status TEXT, open INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX grp_turn ON grp(turn) WHERE turn IS NOT NULL;
CREATE TABLE grp_has(name INTEGER NOT NULL, grp INTEGER NOT NULL, PRIMARY KEY(name, grp)) STRICT, WITHOUT ROWID;
CREATE INDEX grp_has_grp ON grp_has(grp);
CREATE TABLE hour(hour INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL) STRICT;
CREATE VIRTUAL TABLE words USING fts5(text, names, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2');
INSERT INTO words(words, rank) VALUES('secure-delete', 1);
";

/// The properties of a record that can be used in a filter. The numbers are stored in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Facet {
    Session = 1,
    Tool = 2,
    Agent = 3,
    Event = 4,
    Decision = 5,
}

/// The kinds of groups. The numbers are stored in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Question = 0,
    Call = 1,
    Start = 2,
    Erasure = 3,
    Record = 4,
    /// Reading memories outside of a question.
    Visit = 5,
}

impl Kind {
    fn of_number(number: i64) -> Self {
        match number {
            0 => Self::Question,
            1 => Self::Call,
            2 => Self::Start,
            3 => Self::Erasure,
            5 => Self::Visit,
            _ => Self::Record,
        }
    }
}

/// How much of the log is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) indexed: u64,
    pub(crate) total: u64,
}

/// The open index.
pub(crate) struct Index {
    db: Connection,
    path: PathBuf,
}

/// Returns the path of a log's index.
pub(crate) fn path_of(log: &Path) -> PathBuf {
    log.with_extension("index.db")
}

/// Deletes the index of a log that is set aside.
pub(crate) fn delete(log: &Path) {
    delete_files(&path_of(log));
}

fn delete_files(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let _ = std::fs::remove_file(name);
    }
}

/// Returns the error of an index that cannot be used.
pub(crate) fn failed(error: &rusqlite::Error) -> AgentError {
    AgentError::internal(
        "audit_index",
        text!("The index of the audit log cannot be used ({error}).", error = error.to_string()),
    )
    .hint("Free some disk space, and check that the data folder is writable.")
}

impl Index {
    /// Opens the index of a log. Creates it if it is missing or unusable.
    pub(crate) fn open(log: &Path) -> rusqlite::Result<Self> {
        let path = path_of(log);
        match Self::open_file(&path) {
            Ok(Some(db)) => return Ok(Self { db, path }),
            Ok(None) => {}
            Err(error) if is_damage(&error) => {}
            Err(error) => return Err(error),
        }
        Self::create(path)
    }

    /// Opens the index if it exists, whatever it contains.
    pub(crate) fn open_existing(log: &Path) -> rusqlite::Result<Option<Self>> {
        if path_of(log).exists() { Self::open(log).map(Some) } else { Ok(None) }
    }

    fn create(path: PathBuf) -> rusqlite::Result<Self> {
        delete_files(&path);
        let db = Self::connect(&path)?;
        db.execute_batch(&format!(
            "BEGIN; {TABLES} PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={VERSION}; COMMIT;"
        ))?;
        Ok(Self { db, path })
    }

    fn connect(path: &Path) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(path, flags)?;
        db.busy_timeout(Duration::from_secs(5))?;
        db.set_prepared_statement_cache_capacity(64);
        db.execute_batch(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON; PRAGMA cache_size=-32768;
             PRAGMA mmap_size=0; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY;
             PRAGMA journal_size_limit=4194304;",
        )?;
        Ok(db)
    }

    fn open_file(path: &Path) -> rusqlite::Result<Option<Connection>> {
        // Anything else at the index's path is deleted.
        if !path.exists() || files::check_database(path).is_err() {
            return Ok(None);
        }
        let db = Self::connect(path)?;
        let number = |name: &str| db.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let is_ours =
            number("application_id")? == APPLICATION_ID && number("user_version")? == VERSION;
        Ok(is_ours.then_some(db))
    }

    /// Deletes all content of the index.
    fn reset(&mut self) -> rusqlite::Result<()> {
        // The connection must be closed before the file is deleted.
        self.db = Connection::open_in_memory()?;
        let fresh = Self::create(self.path.clone())?;
        self.db = fresh.db;
        Ok(())
    }

    /// Indexes new records until the time is over. A damaged index is created again.
    pub(crate) fn advance(
        &mut self,
        log: &Connection,
        until: Option<Instant>,
    ) -> rusqlite::Result<Progress> {
        match self.try_advance(log, until) {
            Err(error) if is_damage(&error) => {
                tracing::warn!(%error, "the index of the log is made again");
                self.reset()?;
                self.try_advance(log, until)
            }
            result => result,
        }
    }

    fn try_advance(
        &mut self,
        log: &Connection,
        until: Option<Instant>,
    ) -> rusqlite::Result<Progress> {
        if !self.fits(log)? {
            self.reset()?;
        }
        let total = crate::chain::stored_size(log)?;
        loop {
            let indexed = self.indexed()?;
            let is_late = until.is_some_and(|end| Instant::now() >= end);
            if indexed >= total || is_late {
                return Ok(Progress { indexed, total });
            }
            match rows::add_chunk(&mut self.db, log, indexed, CHUNK)? {
                rows::Added::Some => {}
                rows::Added::None => return Ok(Progress { indexed, total: indexed }),
                rows::Added::Stale => self.reset()?,
            }
        }
    }

    fn indexed(&self) -> rusqlite::Result<u64> {
        self.db
            .prepare_cached("SELECT indexed FROM state")?
            .query_row([], |row| row.get::<_, Num>(0))
            .map(|n| n.0)
    }

    /// Whether the newest indexed record still matches the log, and no erasure was interrupted.
    fn fits(&self, log: &Connection) -> rusqlite::Result<bool> {
        let (indexed, leaf, is_dirty): (i64, Vec<u8>, bool) =
            self.db.query_row("SELECT indexed, leaf, dirty FROM state", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        if is_dirty {
            return Ok(false);
        }
        if indexed == 0 {
            return Ok(true);
        }
        let stored: Option<Vec<u8>> = log
            .query_row("SELECT leaf FROM audit_record WHERE seq=?1", [indexed], |row| row.get(0))
            .optional()?;
        Ok(stored == Some(leaf))
    }

    /// Removes the words of values that are about to be erased from the log. Afterwards, neither
    /// the index nor its write-ahead log contains a copy. The index is marked as dirty until
    /// `settle` is called.
    pub(crate) fn forget(
        &mut self,
        log: &Connection,
        values: impl IntoIterator<Item = (u64, String)>,
    ) -> rusqlite::Result<()> {
        match self.try_forget(log, values) {
            Ok(true) => {}
            Ok(false) => return self.reset(),
            Err(error) if is_damage(&error) => return self.reset(),
            Err(error) => return Err(error),
        }
        match schema::empty_write_ahead_log(&self.db) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                self.reset()
            }
            emptied => emptied,
        }
    }

    /// Records that the forgotten values were also removed from the log.
    pub(crate) fn settle(&self) -> rusqlite::Result<()> {
        self.db.execute("UPDATE state SET dirty=0 WHERE dirty<>0", []).map(drop)
    }

    /// Returns false if the index does not match the log.
    fn try_forget(
        &mut self,
        log: &Connection,
        values: impl IntoIterator<Item = (u64, String)>,
    ) -> rusqlite::Result<bool> {
        if !self.fits(log)? {
            return Ok(false);
        }
        let mut by_record: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for (seq, member) in values {
            by_record.entry(seq).or_default().push(member);
        }
        let tx = self.db.transaction()?;
        let mut is_changed = false;
        for (seq, members) in by_record {
            // A record that is not indexed yet will be indexed without the erased values.
            let Some((vals, names)) = rows::read_entry(&tx, seq)? else { continue };
            let Some((body, reveals)) = rows::read_record(log, seq)? else { return Ok(false) };
            if i64::try_from(reveals.len()) != Ok(vals) {
                return Ok(false);
            }
            let (old, kept) = (
                words::of_record(&body.fields, body.session.as_deref(), &reveals),
                reveals.iter().filter(|(member, _)| !members.contains(member)),
            );
            let kept: Vec<_> = kept.cloned().collect();
            let new = words::of_record(&body.fields, body.session.as_deref(), &kept);
            tx.prepare_cached(
                "INSERT INTO words(words, rowid, text, names) VALUES('delete', ?1, ?2, ?3)",
            )?
            .execute(params![Num(seq), old, names])?;
            tx.prepare_cached("INSERT INTO words(rowid, text, names) VALUES(?1, ?2, ?3)")?
                .execute(params![Num(seq), new, names])?;
            tx.prepare_cached("UPDATE entry SET vals=?2 WHERE seq=?1")?
                .execute(params![Num(seq), kept.len() as i64])?;
            is_changed = true;
        }
        if is_changed {
            tx.execute("UPDATE state SET dirty=1", [])?;
        }
        tx.commit()?;
        Ok(true)
    }
}
