//! Opens a log, and checks its end and the copies of the newest checkpoint. A small file is checked
//! completely, by its seal or else record by record; the host checks a large file in the
//! background. A log that is shorter than its signed state, or different, is returned as `Tampered`
//! and accepts no records.

use std::path::{Path, PathBuf};

use contract::{RecordType, Text, VerifyProblem, text};
use engine::ports::{AuditUnavailable, RecordDraft};
use rusqlite::{Connection, TransactionBehavior};
use serde_json::Value;

use crate::anchor::{self, ComparedMarks, Mark, Outside, WHOLE_UP_TO};
use crate::body::instant;
use crate::chain::{self, Chain, WriteError};
use crate::keys::{self, KeyState};
use crate::marks;
use crate::opened::{OpenOptions, Opened, Tampered};
use crate::schema::{self, SchemaFault};
use crate::tail::check_tail;
use crate::{tree, verify};

/// Why a log was not opened.
pub(crate) enum Failure {
    /// The file cannot be used now; the text is for the user.
    Unavailable(Text),
    /// The file was changed since it was closed.
    Tampered(Box<Tampered>),
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::Unavailable(error.sentence())
    }
}

/// Sets the old files aside and writes the first records of a new log, with its marks.
pub(crate) fn begin_anew(
    options: &OpenOptions,
    found: &Tampered,
) -> Result<(Opened, PathBuf), AuditUnavailable> {
    schema::check_library().map_err(|why| AuditUnavailable(why.into()))?;
    let aside = set_aside(options).map_err(|error| {
        let why = format!(
            "the damaged log could not be set aside ({error}); check that the folder is writable"
        );
        AuditUnavailable(why.into())
    })?;
    let begin = || -> Result<Opened, Failure> {
        let mut db =
            schema::open_writer(&options.path, options.page_size).map_err(WriteError::from)?;
        schema::create(&db).map_err(WriteError::from)?;
        let recovered = recovery_record(found, &aside);
        let chain = first_records(&mut db, options, None, Some(recovered))?;
        let newest = options.outside().compare().newest().map(|mark| mark.counter);
        let known = found
            .mark
            .as_ref()
            .map(|mark| mark.counter)
            // A forged counter is not continued, because no later mark could be newer.
            .filter(|counter| *counter <= anchor::COUNTER_MAX);
        // The counter continues from the old log, because the old marks would otherwise count as
        // newer than the marks of the new log.
        let counter = known.max(newest).unwrap_or_default().saturating_add(1);
        // The mark is stored now, and not by the log's thread, because the old mark would
        // contradict the new log.
        let warnings = marks::store(
            &options.anchors,
            &marks::sign_mark(&chain, &options.installation, &options.signer, counter, None),
        );
        Ok(Opened { db, chain, counter, warnings, checked_whole: true })
    };
    let opened = begin().map_err(|failure| match failure {
        Failure::Unavailable(why) => AuditUnavailable(why),
        Failure::Tampered(_) => AuditUnavailable("a new log could not be begun".into()),
    })?;
    Ok((opened, aside))
}

/// Opens the log for the writer, or creates it. A problem of the log's content counts only if it is
/// found twice and the whole file can be read, because SQLite may report a failed read as damage.
pub(crate) fn open(options: &OpenOptions) -> Result<Opened, Failure> {
    match open_once(options) {
        Err(Failure::Tampered(found)) => {
            tracing::warn!(problems = ?found.problems, "the log seems to be at fault and is checked again");
            schema::read_through(&options.path).map_err(|error| {
                let why = format!("its file cannot be read ({error}); check the disk");
                Failure::Unavailable(why.into())
            })?;
            open_once(options)
        }
        other => other,
    }
}

fn open_once(options: &OpenOptions) -> Result<Opened, Failure> {
    let outside = options.outside();
    let weighed = outside.compare();
    let mark = weighed.newest().cloned();
    if !weighed.problems.is_empty() {
        let outside = Outside { installation: Some(options.installation.clone()), ..outside };
        return Err(Failure::Tampered(Box::new(verify::judge(&options.path, &outside).found())));
    }
    let mut warnings = outside.warnings.clone();
    let counter = mark.as_ref().map_or(0, |mark| mark.counter);
    // A start that was killed early leaves an empty file, which is treated like a missing file.
    let missing = std::fs::metadata(&options.path).map_or(true, |meta| meta.len() == 0);
    let expected = weighed.largest().map(|mark| mark.size).filter(|size| *size > 0);
    if missing && let Some(size) = expected {
        let message = text!("the log file is missing; it had {size} records", size);
        return Err(tampered_failure(mark, None, problem(Some(1), message)));
    }
    if let Some(folder) = options.path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::Unavailable(format!("the folder of the log cannot be made ({error})").into())
        })?;
    }
    // The whole file is checked before it is opened for writing, because SQLite may change it then.
    let checked_whole = check_whole(options, &outside, &weighed)?;
    let sql = |error: rusqlite::Error| damaged_failure(error, mark.clone());
    let mut db = schema::open_writer(&options.path, options.page_size).map_err(sql)?;
    let fresh = db
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))
        .map_err(sql)?
        == 0;
    if fresh {
        if expected.is_some() {
            return Err(tampered_failure(
                mark,
                None,
                problem(Some(1), "the log file holds no records any more".to_owned()),
            ));
        }
        schema::create(&db).map_err(sql)?;
    }
    match schema::check(&db).map_err(sql)? {
        None => {}
        Some(SchemaFault::Newer(version)) => {
            return Err(Failure::Unavailable(schema::newer(version)));
        }
        Some(SchemaFault::Altered(what)) => {
            return Err(tampered_failure(mark, None, problem(None, what.to_owned())));
        }
    }
    let known = match check_tail(&db, options, &weighed).map_err(sql)? {
        Ok(known) => known,
        Err((size_root, found)) => return Err(tampered_failure(mark, size_root, found)),
    };
    if known.is_some() && weighed.marks.is_empty() && !options.anchors.is_empty() {
        warnings.push("there was no copy of the newest checkpoint outside the log; whether it was cut could not be checked".to_owned());
    }
    let chain = first_records(&mut db, options, known, None)?;
    let counter = counter.saturating_add(1);
    warnings.extend(store_start_mark(
        options,
        &marks::sign_mark(&chain, &options.installation, &options.signer, counter, None),
        mark.as_ref(),
    )?);
    Ok(Opened { db, chain, counter, warnings, checked_whole })
}

/// Stores the mark of a start before the log accepts any other record, so that records which are
/// added after the newest mark can be recognised. Returns warnings, or an error if there was a mark
/// before and no place accepts the new mark.
fn store_start_mark(
    options: &OpenOptions,
    mark: &Mark,
    before: Option<&Mark>,
) -> Result<Vec<String>, Failure> {
    let failures = if before.is_some_and(|before| before.signature.is_some()) {
        // The log's thread stores the mark in the other places.
        marks::store_in_one(&options.anchors, mark).err().unwrap_or_default()
    } else {
        // The first signed mark is stored in all places.
        marks::store(&options.anchors, mark)
    };
    let nowhere = !failures.is_empty() && failures.len() == options.anchors.len();
    if nowhere && before.is_some() {
        Err(Failure::Unavailable(failures.join("; ").into()))
    } else {
        Ok(failures)
    }
}

/// Checks that the file is byte for byte the file that was closed, or else checks its whole
/// content. Returns false if the file is too large for that.
fn check_whole(
    options: &OpenOptions,
    outside: &Outside,
    weighed: &ComparedMarks,
) -> Result<bool, Failure> {
    let path = &options.path;
    if std::fs::metadata(path).is_ok_and(|meta| meta.len() > WHOLE_UP_TO) {
        return Ok(false);
    }
    let seal = weighed.newest().and_then(|mark| mark.seal.as_deref());
    let is_as_closed = seal.is_some()
        && !schema::side_file(path)
        && !schema::journal_file(path)
        && anchor::digest(path).as_deref() == seal;
    if is_as_closed
        || !path.try_exists().unwrap_or(true)
        || verify::is_beginning(path, outside, weighed)
    {
        return Ok(true);
    }
    let outside = Outside { installation: Some(options.installation.clone()), ..outside.clone() };
    let judged = verify::judge(path, &outside);
    if judged.at_fault {
        return Err(Failure::Tampered(Box::new(judged.found())));
    }
    match judged.report.problems.into_iter().next() {
        None => Ok(true),
        // Problems that do not concern the log's content are read errors, such as missing
        // permissions.
        Some(unreadable) => Err(Failure::Unavailable(unreadable.message)),
    }
}

fn problem(seq: Option<u64>, message: impl Into<Text>) -> VerifyProblem {
    VerifyProblem { seq, message: message.into() }
}

fn tampered_failure(
    mark: Option<Mark>,
    size_root: Option<(u64, String)>,
    found: VerifyProblem,
) -> Failure {
    let (size, root) = size_root.unzip();
    Failure::Tampered(Box::new(Tampered { problems: vec![found], size, root, mark }))
}

/// Maps a read error. If SQLite reports damage, the file counts as tampered with; other errors
/// concern the disk or permissions and can be fixed.
fn damaged_failure(error: rusqlite::Error, mark: Option<Mark>) -> Failure {
    if schema::is_damage(&error) {
        tampered_failure(
            mark,
            None,
            problem(None, text!("the log file is damaged ({error})", error = error.to_string())),
        )
    } else {
        WriteError::from(error).into()
    }
}

/// Writes the records of an opening: a change of key if there is one, `log_opened`, a recovery if
/// there was one, and a checkpoint.
fn first_records(
    db: &mut Connection,
    options: &OpenOptions,
    known: Option<Chain>,
    extra: Option<RecordDraft>,
) -> Result<Chain, Failure> {
    let signer = &options.signer;
    let public = signer.key.verifying_key();
    let now = options.clock.now();
    let tx =
        db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(WriteError::from)?;
    let append = |chain: &mut Chain, draft: RecordDraft| -> Result<(), Failure> {
        let prepared = chain::prepare(draft, now).map_err(WriteError::Refused)?;
        chain.append(&tx, options.entropy.as_ref(), &prepared)?;
        Ok(())
    };
    let mut chain = match known {
        None => Chain {
            origin: options.origin(),
            frontier: tree::Frontier::default(),
            last_leaf: [0; 32],
            signed: 0,
            keys: KeyState {
                current: public,
                anchored: signer.anchored,
                trusted: signer.anchored.then_some(public),
            },
        },
        Some(mut chain)
            if chain.keys.current != public || chain.keys.anchored != signer.anchored =>
        {
            // Only the keyring's old key can hand over to another key. Without its signature,
            // anyone who can write files could continue the log with their own key.
            let handover = chain.keys.trusted.filter(|key| signer.anchored && *key != public);
            let old = handover
                .and_then(|key| options.previous.as_ref().filter(|p| p.key.verifying_key() == key));
            if handover.is_some() && old.is_none() {
                let message = "the log was signed with another key of the keyring, which is not there any more".to_owned();
                let size = chain.frontier.size();
                let root = crate::hex::encode(&chain.frontier.root());
                return Err(tampered_failure(
                    options.outside().compare().newest().cloned(),
                    Some((size, root)),
                    problem(None, message),
                ));
            }
            let (seq, prev) = (chain.frontier.size() + 1, crate::hex::encode(&chain.last_leaf));
            let mut draft = RecordDraft::new(RecordType::KeyRotated);
            draft.fields = keys::rotated_fields(
                &chain.origin,
                seq,
                &prev,
                &chain.keys.current,
                signer,
                old.map(|p| &p.key),
            );
            append(&mut chain, draft)?;
            // A key for this run only does not replace the trusted key, which a later start needs
            // for a handover.
            let trusted = if signer.anchored { Some(public) } else { chain.keys.trusted };
            chain.keys = KeyState { current: public, anchored: signer.anchored, trusted };
            chain
        }
        Some(chain) => chain,
    };
    let mut draft = RecordDraft::new(RecordType::LogOpened);
    draft.fields = keys::opened_fields(&chain.origin, &options.installation, &chain.keys);
    append(&mut chain, draft)?;
    if let Some(draft) = extra {
        append(&mut chain, draft)?;
    }
    // Every opening is signed at once, so that a mark can reveal a record that was added while the
    // log was closed.
    chain.write_checkpoint(&tx, &signer.key)?;
    tx.commit().map_err(WriteError::from)?;
    Ok(chain)
}

fn recovery_record(found: &Tampered, aside: &Path) -> RecordDraft {
    let name =
        aside.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let reason =
        found.problems.first().map_or("the old log could not be continued", |p| p.message.as_str());
    let optional =
        |text: Option<&String>| text.map_or(Value::Null, |text| Value::String(text.clone()));
    RecordDraft::new(RecordType::DbRecovered)
        .field("database", "audit")
        .field("reason", reason)
        .field("set_aside", name)
        .field("old_size", found.size.map_or(Value::Null, Value::from))
        .field("old_root", optional(found.root.as_ref()))
        .field("marked_size", found.mark.as_ref().map_or(Value::Null, |mark| mark.size.into()))
        .field("marked_root", optional(found.mark.as_ref().map(|mark| &mark.root)))
}

/// Renames the log and its side files. A missing file is not an error.
fn set_aside(options: &OpenOptions) -> std::io::Result<PathBuf> {
    let stamp: String =
        instant(options.clock.now()).chars().filter(|c| c.is_ascii_digit()).collect();
    let stem = options
        .path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_else(|| "audit".to_owned());
    let mut aside = options.path.with_file_name(format!("{stem}.set-aside-{stamp}.db"));
    let mut again = 1;
    while aside.exists() {
        again += 1;
        aside = options.path.with_file_name(format!("{stem}.set-aside-{stamp}-{again}.db"));
    }
    schema::rename_with_side_files(&options.path, &aside)?;
    Ok(aside)
}
