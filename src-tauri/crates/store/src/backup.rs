//! Copies of the database under `backups/`. A copy is written to a temporary name, synced and
//! checked, and then renamed. The three newest regular copies and the three newest copies before
//! migrations are kept; for a large database, one of each kind.

use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use rusqlite::Connection;

use crate::connection::{self, Mode};
use crate::error::OpenError;
use crate::files::{self, Files};
use crate::migrate;

/// The number of copies of each kind that are kept.
const KEEP: usize = 3;
/// The size in bytes above which one copy of each kind is kept.
const LARGE: u64 = 64 << 20;

/// The reason for making a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occasion {
    Regular,
    /// Regular, of a database whose tables this crate does not know. The copy gets no mark.
    Foreign,
    /// Before a migration from this schema version.
    Migration(i64),
}

/// A copy, and the time at which its content was valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Backup {
    pub(crate) path: PathBuf,
    pub(crate) at: DateTime<Utc>,
    regular: bool,
}

/// Copies the database as `conn` sees it, and removes old copies.
pub(crate) fn create_backup(
    conn: &Connection,
    files: &Files,
    occasion: Occasion,
    now: DateTime<Utc>,
) -> Result<PathBuf, OpenError> {
    files.make_backups_folder().map_err(|e| OpenError::from_io(&files.backups(), &e))?;
    let name = match occasion {
        Occasion::Regular | Occasion::Foreign => {
            format!("{}-{}.db", files.stem(), files::stamp(now))
        }
        Occasion::Migration(version) => {
            format!("{}-v{version}-{}.db", files.stem(), files::stamp(now))
        }
    };
    // Old copies are removed only after the new copy is complete.
    let finish = |partial: &Path| match occasion {
        Occasion::Regular | Occasion::Migration(_) => mark(partial),
        Occasion::Foreign => Ok(()),
    };
    write_named(conn, files, &name, finish).inspect(|_| prune(files, now))
}

/// Writes a copy under a temporary name, calls `before_publish`, and renames the copy.
fn write_named(
    conn: &Connection,
    files: &Files,
    name: &str,
    before_publish: impl FnOnce(&Path) -> Result<(), OpenError>,
) -> Result<PathBuf, OpenError> {
    let target = files.backups().join(name);
    let partial = files.backups().join(format!("{name}.partial"));
    let outcome = write_copy(conn, &partial)
        .and_then(|()| before_publish(&partial))
        .and_then(|()| publish(&partial, &target));
    if outcome.is_err() {
        remove(&partial);
    }
    outcome.map(|()| target)
}

/// Replaces all copies with a new copy, so that no copy contains deleted data. The old copies stay
/// until the new copy is complete.
pub(crate) fn renew(files: &Files, now: DateTime<Utc>) -> Result<(), OpenError> {
    let sql = |e: rusqlite::Error| OpenError::from_sql(&files.db, &e);
    let conn = connection::writer(&files.db).map_err(sql)?;
    let is_busy = conn
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))
        .map_err(sql)?;
    if is_busy {
        let problem = "its write-ahead log cannot be emptied while another program reads it";
        return Err(OpenError::Failed { path: files.db.clone(), problem: problem.into() });
    }
    // SQLite does not sync an emptied write-ahead log, so a power cut could restore its content.
    // Therefore the next write into the log is synced, together with the log's new size.
    let version = migrate::version(&conn).map_err(sql)?;
    conn.pragma_update(None, "user_version", version).map_err(sql)?;
    files.make_backups_folder().map_err(|e| OpenError::from_io(&files.backups(), &e))?;
    let name = format!("{}-{}.db", files.stem(), files::stamp(now));
    // The old copies are removed before the new copy gets its name, so that the new copy never
    // counts as the oldest, even if the clock was set back.
    write_named(&conn, files, &name, |partial| {
        mark(partial)?;
        remove_all(files, partial)
    })
    .map(drop)
}

/// Marks a copy of the store's database, so that it is known as a copy wherever it is put.
pub(crate) fn mark(copy: &Path) -> Result<(), OpenError> {
    connection::mark_as_copy(copy).map_err(|error| OpenError::from_sql(copy, &error))
}

/// Removes all copies, damaged databases and unfinished copies, except one unfinished copy.
fn remove_all(files: &Files, except: &Path) -> Result<(), OpenError> {
    let io = |e: std::io::Error| OpenError::from_io(&files.db, &e);
    for old in list(files, DateTime::<Utc>::MAX_UTC) {
        fs::remove_file(&old.path).map_err(io)?;
    }
    for left in files.list_left_over().map_err(io)? {
        if left != except {
            fs::remove_file(&left).map_err(io)?;
        }
    }
    Ok(())
}

fn write_copy(conn: &Connection, partial: &Path) -> Result<(), OpenError> {
    let io = |e: std::io::Error| OpenError::from_io(partial, &e);
    let sql = |e: rusqlite::Error| OpenError::from_sql(partial, &e);
    // SQLite writes only into an empty file, and an interrupted copy may have left a file with
    // content.
    remove(partial);
    files::create_private(partial).map_err(io)?;
    let name = partial.to_str().ok_or_else(|| OpenError::Failed {
        path: partial.to_owned(),
        problem: "its name is not Unicode".into(),
    })?;
    // Copies the content and not the pages, because free pages may still contain deleted rows.
    conn.execute("VACUUM INTO ?1", [name]).map_err(sql)?;
    files::sync_file(partial).map_err(io)?;
    // A damaged copy must not replace a valid copy.
    match find_damage(partial).map_err(sql)? {
        None => Ok(()),
        Some(problem) => Err(OpenError::Damaged { path: partial.to_owned(), problem }),
    }
}

fn publish(partial: &Path, target: &Path) -> Result<(), OpenError> {
    let io = |e: std::io::Error| OpenError::from_io(target, &e);
    fs::rename(partial, target).map_err(io)?;
    // After a power cut, a file whose name is not synced may be gone.
    target.parent().map_or(Ok(()), |folder| files::sync_folder(folder).map_err(io))
}

/// Returns what is wrong with a copy. Does not change the copy.
pub(crate) fn find_damage(path: &Path) -> rusqlite::Result<Option<String>> {
    connection::quick_check(&connection::reader(path, Mode::Immutable)?)
}

/// Returns all copies, newest first. Copies with a time in the future come last: they were made
/// with a wrong clock, and would otherwise outlive all newer copies.
pub(crate) fn list(files: &Files, now: DateTime<Utc>) -> Vec<Backup> {
    let Ok(entries) = fs::read_dir(files.backups()) else { return Vec::new() };
    let prefix = format!("{}-", files.stem());
    let mut found: Vec<Backup> =
        entries.flatten().filter_map(|entry| parse(&prefix, entry.path())).collect();
    found.sort_by(|a, b| (b.at <= now, b.at, &b.path).cmp(&(a.at <= now, a.at, &a.path)));
    found
}

fn parse(prefix: &str, path: PathBuf) -> Option<Backup> {
    let name = path.file_name()?.to_str()?.strip_prefix(prefix)?.strip_suffix(".db")?;
    let (regular, stamp) = match name.split_once('-') {
        Some((version, stamp)) if version.starts_with('v') => (false, stamp),
        Some(_) => return None,
        None => (true, name),
    };
    Some(Backup { at: files::read_stamp(stamp)?, path, regular })
}

/// Whether a regular copy is due: no copy was made in the last day, and the database changed after
/// the newest copy.
pub(crate) fn is_due(files: &Files, now: DateTime<Utc>) -> bool {
    let Some(newest) = list(files, now).into_iter().find(|backup| backup.regular) else {
        return true;
    };
    let modified = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    !files::is_fresh(newest.at, now) && modified(&files.db) > modified(&newest.path)
}

fn prune(files: &Files, now: DateTime<Utc>) {
    let (regular, migrations): (Vec<Backup>, Vec<Backup>) =
        list(files, now).into_iter().partition(|backup| backup.regular);
    let (many, few) = (regular.iter().skip(count_kept(&regular)), migrations.iter());
    for backup in many.chain(few.skip(count_kept(&migrations))) {
        remove(&backup.path);
    }
}

/// Returns how many of these copies are kept. The copies are sorted, newest first.
fn count_kept(copies: &[Backup]) -> usize {
    let newest = copies.first().and_then(|backup| fs::metadata(&backup.path).ok());
    // Several copies of a large database would fill the disk.
    if newest.is_some_and(|meta| meta.len() > LARGE) { 1 } else { KEEP }
}

fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, path = %path.display(), "an old copy could not be removed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backups_before_migrations_are_kept_in_addition_to_daily_ones() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = Files::new(&folder.path().join("app.db"));
        let conn = connection::writer(&files.db).expect("opened");
        conn.execute_batch("CREATE TABLE a (b); INSERT INTO a VALUES (1);").expect("filled");
        let day = |n: i64| DateTime::UNIX_EPOCH + chrono::TimeDelta::days(n);
        let before = create_backup(&conn, &files, Occasion::Migration(1), day(0)).expect("copied");
        for n in 1..=5 {
            create_backup(&conn, &files, Occasion::Regular, day(n)).expect("copied");
        }
        assert_eq!(
            before.file_name().and_then(|name| name.to_str()),
            Some("app-v1-19700101T000000Z.db")
        );
        assert_eq!(
            list(&files, day(9)).iter().map(|backup| backup.at).collect::<Vec<_>>(),
            [day(5), day(4), day(3), day(0)]
        );
        assert_eq!(find_damage(&before), Ok(None));
        assert!(
            fs::read_dir(files.backups())
                .expect("read")
                .flatten()
                .all(|entry| !entry.path().to_string_lossy().ends_with("partial"))
        );
    }

    #[test]
    fn backups_dated_in_the_future_do_not_displace_newer_ones() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = Files::new(&folder.path().join("app.db"));
        let conn = connection::writer(&files.db).expect("opened");
        conn.execute_batch("CREATE TABLE a (b); INSERT INTO a VALUES (1);").expect("filled");
        let day = |n: i64| DateTime::UNIX_EPOCH + chrono::TimeDelta::days(n);
        for n in [1, 400, 401, 402, 2, 3] {
            create_backup(&conn, &files, Occasion::Regular, day(n)).expect("copied");
        }
        let kept = |now| list(&files, now).iter().map(|backup| backup.at).collect::<Vec<_>>();
        assert_eq!(kept(day(3)), [day(3), day(2), day(402)]);
        create_backup(&conn, &files, Occasion::Regular, day(4)).expect("copied");
        assert_eq!(kept(day(4)), [day(4), day(3), day(2)]);
    }

    #[test]
    fn files_with_other_names_are_not_taken_for_backups() {
        for name in [
            "app.db",
            "app-2026.db",
            "other-20261121T100000Z.db",
            "app-x1-20261121T100000Z.db",
            "app-20261121T100000Z.db.partial",
        ] {
            assert_eq!(parse("app-", PathBuf::from(name)), None, "{name}");
        }
    }
}
