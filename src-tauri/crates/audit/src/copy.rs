//! Keeps a copy of the log. An update adds the new records and removes the erased values, so that a
//! large log is never copied twice. The copy has the format of a log and can be verified as one. If
//! a new log was begun, the copy of the old log is set aside. A damaged copy is created again.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use crate::num::Num;
use crate::{schema, tree};

/// The maximum number of records that one transaction adds.
const AT_ONCE: u64 = 10_000;

/// Brings the copy up to date with the log's signed records.
pub(crate) fn update(log: &Path, copy: &Path) -> rusqlite::Result<()> {
    match add_and_remove(log, copy) {
        // A damaged copy may contain values that were erased, so it is deleted and not set aside.
        Err(error) if schema::is_damage(&error) && is_damaged(copy) => {
            tracing::warn!(%error, "the copy of the log is damaged and is made again");
            schema::remove_with_side_files(copy).map_err(io_error)?;
            add_and_remove(log, copy)
        }
        other => other,
    }
    .map_err(schema::name_full_disk)
}

fn add_and_remove(log: &Path, copy: &Path) -> rusqlite::Result<()> {
    let mut db = open(log, copy)?;
    if !is_same_log(&db)? {
        drop(db);
        set_aside(copy).map_err(io_error)?;
        db = open(log, copy)?;
    }
    // Each transaction adds a limited number of records, because a single transaction for a long
    // log would make the write-ahead log just as large.
    while add_records(&mut db)? {}
    // The write-ahead log may contain older copies of the pages.
    schema::empty_write_ahead_log(&db)
}

/// Whether the copy contains values that are older than all values in the log, because an expiry
/// did not reach the copy.
pub(crate) fn has_expired_values(log: &Path, copy: &Path) -> rusqlite::Result<bool> {
    if !copy.exists() {
        return Ok(false);
    }
    let oldest = |path: &Path| -> rusqlite::Result<Option<u64>> {
        let oldest: Option<Num> = schema::open_reader(path)?.query_row(
            "SELECT min(seq) FROM audit_reveal",
            [],
            |row| row.get(0),
        )?;
        Ok(oldest.map(|num| num.0))
    };
    Ok(match (oldest(copy)?, oldest(log)?) {
        (Some(copied), Some(kept)) => copied < kept,
        (Some(_), None) => true,
        (None, _) => false,
    })
}

/// Whether the copy is damaged, and not the log.
fn is_damaged(copy: &Path) -> bool {
    let check =
        |db: Connection| db.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    !schema::open_reader(copy).and_then(check).is_ok_and(|verdict| verdict == "ok")
}

/// Opens the copy, and attaches the log read-only.
fn open(log: &Path, copy: &Path) -> rusqlite::Result<Connection> {
    let db = schema::open_writer(copy, schema::PAGE_SIZE)?;
    let tables =
        db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    if tables == 0 {
        schema::create(&db)?;
    }
    schema::check_files(log)?;
    db.execute("ATTACH ?1 AS log", [schema::read_only_uri(log)])?;
    Ok(db)
}

/// Whether the copy's last record is in the log.
fn is_same_log(db: &Connection) -> rusqlite::Result<bool> {
    let last = db
        .query_row("SELECT seq, leaf FROM audit_record ORDER BY seq DESC LIMIT 1", [], |row| {
            Ok((row.get::<_, Num>(0)?, row.get::<_, Vec<u8>>(1)?))
        })
        .optional()?;
    let Some((seq, leaf)) = last else { return Ok(true) };
    db.query_row(
        "SELECT EXISTS(SELECT 1 FROM log.audit_record WHERE seq = ?1 AND leaf = ?2)",
        params![seq, leaf],
        |row| row.get(0),
    )
}

/// Adds the next signed records with their nodes, checkpoints and values. The last transaction also
/// removes the values that the log lacks, so that the records of an erasure and its effect are
/// added together. Returns whether more records are left.
fn add_records(db: &mut Connection) -> rusqlite::Result<bool> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let largest = |sql: &str| tx.query_row(sql, [], |row| row.get::<_, Option<Num>>(0));
    let has = largest("SELECT max(seq) FROM audit_record")?.map_or(0, |num| num.0);
    let signed = largest("SELECT max(size) FROM log.audit_checkpoint")?.map_or(0, |num| num.0);
    // Unsigned records may still be lost with the log, and the copy must not have records that the
    // log lacks.
    let until = signed.clamp(has, has + AT_ONCE);
    let nodes = params![Num(tree::nodes_below(has)), Num(tree::nodes_below(until))];
    let sizes = params![Num(has), Num(until)];
    tx.execute(
        "INSERT INTO audit_record SELECT * FROM log.audit_record WHERE seq > ?1 AND seq <= ?2",
        sizes,
    )?;
    tx.execute(
        "INSERT INTO audit_node SELECT * FROM log.audit_node WHERE id > ?1 AND id <= ?2",
        nodes,
    )?;
    tx.execute("INSERT INTO audit_checkpoint SELECT * FROM log.audit_checkpoint WHERE size > ?1 AND size <= ?2", sizes)?;
    tx.execute(
        "INSERT INTO audit_reveal SELECT * FROM log.audit_reveal WHERE seq > ?1 AND seq <= ?2",
        sizes,
    )?;
    let has_more = until < signed;
    if !has_more {
        tx.execute(
            "DELETE FROM audit_reveal WHERE NOT EXISTS
             (SELECT 1 FROM log.audit_reveal l WHERE l.seq = audit_reveal.seq AND l.member = audit_reveal.member)",
            [],
        )?;
    }
    tx.commit()?;
    Ok(has_more)
}

/// Renames the copy of an earlier log.
fn set_aside(copy: &Path) -> std::io::Result<()> {
    let stem = copy.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = |n: u32| -> PathBuf { copy.with_file_name(format!("{stem}.set-aside-{n}.db")) };
    let free = (1..).map(name).find(|path| !path.exists());
    schema::rename_with_side_files(copy, &free.unwrap_or_else(|| name(0)))
}

fn io_error(error: std::io::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}
