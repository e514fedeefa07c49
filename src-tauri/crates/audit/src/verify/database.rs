//! Passes the rows of a log's SQLite file to the checker, and compares every stored copy (leaves,
//! nodes, columns) with the bodies.

use contract::text;
use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, Row, Rows};

use super::checker::{Checker, Summary};
use super::{Expected, Problems, VerifyWatch, physical};
use crate::body::{Body, Reveal};
use crate::num::Num;
use crate::schema::{self, SchemaFault};
use crate::tree::Hash;

/// Verifies the file.
pub(crate) fn verify_database(
    path: &Path,
    expected: Expected<'_>,
    problems: &mut Problems,
) -> Summary {
    if let Err(error) = path.try_exists() {
        problems
            .unreadable(text!("the log file cannot be read ({error})", error = error.to_string()));
        return Summary::default();
    }
    if !path.exists() {
        let size = expected.marks.iter().map(|mark| mark.size).max();
        problems.add(
            size.map(|_| 1),
            size.map_or_else(
                || "the log file does not exist".into(),
                |size| text!("the log file is missing; it had {size} records", size),
            ),
        );
        return Summary::default();
    }
    if !path.is_file() {
        problems.add(Some(1), "there is something else in the place of the log file");
        return Summary::default();
    }
    physical::check_header(path, problems);
    if !expected.marks.is_empty() && schema::journal_file(path) {
        problems.add(
            Some(1),
            "a journal file next to the log would change it; Countersign did not create it",
        );
        return Summary::default();
    }
    match open_and_check(path, expected, problems) {
        Ok(summary) => summary,
        Err(error) => {
            if schema::is_damage(&error) {
                problems.add(
                    Some(1),
                    text!("the log file is damaged ({error})", error = error.to_string()),
                );
            } else {
                problems.unreadable(text!(
                    "the log file cannot be read ({error})",
                    error = error.to_string()
                ));
            }
            Summary::default()
        }
    }
}

fn open_and_check(
    path: &Path,
    expected: Expected<'_>,
    problems: &mut Problems,
) -> rusqlite::Result<Summary> {
    let db = schema::open_reader(path)?;
    // This is one transaction, so that a log that is being written is read at one moment.
    let tx = db.unchecked_transaction()?;
    match schema::check(&tx)? {
        None => {}
        Some(SchemaFault::Newer(version)) => {
            problems.unreadable(schema::newer(version));
            return Ok(Summary::default());
        }
        Some(SchemaFault::Altered(what)) => {
            problems.add(Some(1), what);
            return Ok(Summary::default());
        }
    }
    if let Some(watch) = expected.watch {
        watch.begin(crate::chain::stored_size(&tx)?);
    }
    let summary = records(&tx, expected, problems)?;
    if expected.watch.is_some_and(VerifyWatch::is_stopped) {
        return Ok(summary);
    }
    // These are problems of pages and indexes that no record shows. They add nothing if a record is
    // already invalid.
    if problems.is_empty() {
        physical::check_integrity(&tx, problems)?;
    }
    if problems.is_empty() {
        for mark in expected.marks {
            physical::check_seal(path, summary.records, mark, problems);
        }
    }
    Ok(summary)
}

/// Reads one table in order, one row ahead.
struct Cursor<'s, T> {
    rows: Rows<'s>,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
}

impl<T> Cursor<'_, T> {
    fn next(&mut self) -> rusqlite::Result<Option<T>> {
        match self.rows.next()? {
            Some(row) => (self.read)(row).map(Some),
            None => Ok(None),
        }
    }
}

struct StoredRow {
    seq: i64,
    body: Vec<u8>,
    leaf: Vec<u8>,
    at: String,
    kind: String,
    session: Option<String>,
    tool: Option<String>,
    status: Option<String>,
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredRow> {
    Ok(StoredRow {
        seq: row.get(0)?,
        body: row.get(1)?,
        leaf: row.get(2)?,
        at: row.get(3)?,
        kind: row.get(4)?,
        session: row.get(5)?,
        tool: row.get(6)?,
        status: row.get(7)?,
    })
}

fn notes(db: &Connection) -> rusqlite::Result<BTreeMap<u64, String>> {
    let mut statement = db.prepare("SELECT size, note FROM audit_checkpoint ORDER BY size")?;
    let rows =
        statement.query_map([], |row| Ok((row.get::<_, Num>(0)?.0, row.get::<_, String>(1)?)))?;
    rows.collect()
}

/// Reads all tables in parallel. An unreadable row is a problem of its record.
fn records(
    db: &Connection,
    expected: Expected<'_>,
    problems: &mut Problems,
) -> rusqlite::Result<Summary> {
    let (notes, note_fault) = match notes(db) {
        Ok(notes) => (notes, None),
        // Damaged checkpoints are reported at the end, because the records can still be checked
        // without them.
        Err(error) if schema::is_damage(&error) => (BTreeMap::new(), Some(error)),
        Err(error) => return Err(error),
    };
    let mut checker = Checker::new(problems, expected, notes).expect_values();
    if let Err(error) = check_rows(db, &mut checker, expected.watch) {
        if !schema::is_damage(&error) {
            return Err(error);
        }
        checker.report_record(text!(
            "record {seq} or its data cannot be read ({error})",
            seq = checker.size() + 1,
            error = error.to_string()
        ));
    }
    let summary = checker.finish();
    if let Some(error) = note_fault {
        problems.add(
            Some(1),
            text!("the checkpoints cannot be read ({error})", error = error.to_string()),
        );
    }
    Ok(summary)
}

fn check_rows(
    db: &Connection,
    checker: &mut Checker<'_>,
    watch: Option<&VerifyWatch>,
) -> rusqlite::Result<()> {
    let mut statement = db.prepare(
        "SELECT seq, body, leaf, at, type, session, tool, status FROM audit_record ORDER BY seq",
    )?;
    let mut records = Cursor { rows: statement.query([])?, read: stored };
    let mut statement = db.prepare("SELECT id, hash FROM audit_node ORDER BY id")?;
    let mut nodes: Cursor<'_, (i64, Vec<u8>)> =
        Cursor { rows: statement.query([])?, read: |row| Ok((row.get(0)?, row.get(1)?)) };
    let mut statement =
        db.prepare("SELECT seq, member, salt, value FROM audit_reveal ORDER BY seq, member")?;
    let mut reveals: Cursor<'_, (i64, Reveal)> = Cursor {
        rows: statement.query([])?,
        read: |row| {
            Ok((row.get(0)?, Reveal { member: row.get(1)?, salt: row.get(2)?, value: row.get(3)? }))
        },
    };
    let mut next_reveal = reveals.next();

    while let Some(row) = records.next()? {
        let seq = checker.size() + 1;
        if i64::try_from(seq) != Ok(row.seq) {
            checker.report_record(text!("record {seq} is missing", seq));
            return Ok(());
        }
        let Some((body, leaf, done)) = checker.check_record(&row.body) else { return Ok(()) };
        compare(&row, &body, &leaf, checker);
        for (id, hash) in done {
            let held = nodes
                .next()?
                .is_some_and(|(stored, value)| i64::try_from(id) == Ok(stored) && value == hash);
            if !held {
                checker.report_spoilt(text!(
                    "the tree stored over the records up to {seq} does not match them",
                    seq
                ));
                return Ok(());
            }
        }
        while let Ok(Some((of, _))) = &next_reveal
            && *of <= row.seq
        {
            let of = *of;
            if let Ok(Some((_, reveal))) = std::mem::replace(&mut next_reveal, reveals.next()) {
                if of == row.seq {
                    checker.check_reveal(&reveal);
                } else {
                    checker.report_fault(text!(
                        "a value is stored for record {seq}, which does not exist",
                        seq = of
                    ));
                }
            }
        }
        checker.check_size();
        let goes_on = watch.is_none_or(|watch| watch.note(seq));
        if checker.has_stopped() || !goes_on {
            return Ok(());
        }
    }
    match next_reveal {
        Ok(None) => {}
        Ok(Some((of, _))) => checker.report_missing_records(text!(
            "a value is stored for record {seq}, which does not exist",
            seq = of
        )),
        Err(error) => return Err(error),
    }
    if nodes.next()?.is_some() {
        checker.report_missing_records("the stored tree is larger than the log");
    }
    Ok(())
}

fn compare(row: &StoredRow, body: &Body, leaf: &Hash, checker: &mut Checker<'_>) {
    if row.leaf != leaf {
        checker.report_fault(text!(
            "record {seq} was changed: its stored hash is another one",
            seq = body.seq
        ));
    }
    let same = row.at == body.at
        && row.kind == body.kind
        && row.session == body.session
        && row.tool.as_deref() == body.text("tool")
        && row.status.as_deref() == body.text("status");
    if !same {
        checker.report_fault(text!(
            "record {seq}: a column used for searching differs from the record",
            seq = body.seq
        ));
    }
}
