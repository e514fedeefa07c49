//! Opens a log and checks its tail and the copies of the newest checkpoint. A small file is checked
//! as a whole, by its seal or else record by record; the host checks a large one in the background.
//! A log that is shorter than the signed one, or different from it, is returned as `Tampered` and
//! accepts no records.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::{RecordType, Text, VerifyProblem, text};
use engine::ports::{AuditUnavailable, Clock, RecordDraft};
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};
use serde_json::Value;

use crate::anchor::{self, Anchor, ComparedMarks, Mark, Outside, WHOLE_UP_TO};
use crate::body::{self, instant};
use crate::chain::{self, Chain, WriteError, stored_checkpoint, stored_frontier, stored_size};
use crate::entropy::Entropy;
use crate::keys::{self, KeyState, Signer};
use crate::log::Log;
use crate::marks;
use crate::num::Num;
use crate::schema::{self, SchemaFault};
use crate::{note, tree, verify};

/// All inputs of a log.
#[derive(Clone)]
pub struct OpenOptions {
    /// The log's SQLite file.
    pub path: PathBuf,
    /// The installation's id (a UUID), which the host keeps outside the log.
    pub installation: String,
    pub signer: Signer,
    /// The keyring's key before `signer`, if it was just replaced. It signs the change.
    pub previous: Option<Signer>,
    /// The places for copies of the newest checkpoint: the state folder, the keyring.
    pub anchors: Vec<Arc<dyn Anchor>>,
    /// Whether a signed copy was stored before. Then a missing or unsigned one is a fault.
    pub marked: bool,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    /// Bytes per page in a new file.
    pub page_size: u32,
}

impl OpenOptions {
    /// Creates options with the usual page size and the operating system's randomness.
    pub fn new(
        path: impl Into<PathBuf>,
        installation: impl Into<String>,
        signer: Signer,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            path: path.into(),
            installation: installation.into(),
            signer,
            previous: None,
            anchors: Vec::new(),
            marked: false,
            clock,
            entropy: Arc::new(crate::entropy::OsEntropy),
            page_size: 4096,
        }
    }

    /// Adds a place for the copy of the newest checkpoint.
    #[must_use]
    pub fn anchor(mut self, anchor: Arc<dyn Anchor>) -> Self {
        self.anchors.push(anchor);
        self
    }

    pub(crate) fn origin(&self) -> String {
        format!("audit/{}", self.installation)
    }

    /// Reads everything known about the log outside its file.
    pub(crate) fn outside(&self) -> Outside {
        Outside { marked: self.marked, ..Outside::gather(&self.anchors) }
    }
}

/// The result of opening a log.
pub enum OpenState {
    /// Open, signed and ready for records.
    Ready(Log),
    /// The log is not as it was left. Show the problems, then set it aside with `Log::start_over`.
    Tampered(Tampered),
}

/// The fault of a log that cannot be continued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tampered {
    pub problems: Vec<VerifyProblem>,
    /// Number of records and root (hex) of the old file, if they can be read.
    pub size: Option<u64>,
    pub root: Option<String>,
    /// The outside copy of its newest checkpoint.
    pub mark: Option<Mark>,
}

/// The result of an opening for the writer.
pub(crate) struct Opened {
    pub(crate) db: Connection,
    pub(crate) chain: Chain,
    pub(crate) counter: u64,
    pub(crate) warnings: Vec<String>,
    /// Whether the whole file was checked, and not only its tail.
    pub(crate) checked_whole: bool,
}

enum Failure {
    Unavailable(Text),
    Tampered(Box<Tampered>),
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::Unavailable(crate::writer::sentence(&error))
    }
}

impl Log {
    /// Opens the log, or creates one. Blocking: it reads up to 16 MiB. Call it outside async
    /// threads.
    pub fn open(options: OpenOptions) -> Result<OpenState, AuditUnavailable> {
        schema::check_library().map_err(|why| AuditUnavailable(why.into()))?;
        match open(&options) {
            Ok(opened) => Self::start(options, opened).map(OpenState::Ready),
            Err(Failure::Tampered(found)) => Ok(OpenState::Tampered(*found)),
            Err(Failure::Unavailable(why)) => Err(AuditUnavailable(why)),
        }
    }

    /// Renames the old files and begins a new log. Its second record reports what was found. Also
    /// returns the old file's new path.
    pub fn start_over(
        options: OpenOptions,
        found: &Tampered,
    ) -> Result<(Self, PathBuf), AuditUnavailable> {
        let (opened, aside) = begin_anew(&options, found)?;
        Self::start(options, opened).map(|log| (log, aside))
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
            .filter(|counter| *counter <= anchor::COUNTER_MAX);
        let counter = known.max(newest).unwrap_or_default().saturating_add(1);
        // Stored now, and not by the log's thread, because the old mark would contradict the new
        // log.
        let warnings = marks::store(
            &options.anchors,
            &marks::mark_of(&chain, &options.installation, &options.signer, counter, None),
        );
        Ok(Opened { db, chain, counter, warnings, checked_whole: true })
    };
    let opened = begin().map_err(|failure| match failure {
        Failure::Unavailable(why) => AuditUnavailable(why),
        Failure::Tampered(_) => AuditUnavailable("a new log could not be begun".into()),
    })?;
    Ok((opened, aside))
}

fn open(options: &OpenOptions) -> Result<Opened, Failure> {
    let outside = options.outside();
    let weighed = outside.compare();
    let mark = weighed.newest().cloned();
    if !weighed.problems.is_empty() {
        let outside = Outside { installation: Some(options.installation.clone()), ..outside };
        return Err(Failure::Tampered(Box::new(verify::judge(&options.path, &outside).found())));
    }
    let mut warnings = outside.warnings.clone();
    let counter = mark.as_ref().map_or(0, |mark| mark.counter);
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
    // The whole file is checked first, because SQLite may change it when it opens it for writing.
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
    warnings.extend(mark_start(
        options,
        &marks::mark_of(&chain, &options.installation, &options.signer, counter, None),
        mark.as_ref(),
    )?);
    Ok(Opened { db, chain, counter, warnings, checked_whole })
}

/// Stores a mark of a start before the log accepts any other record. Records that were added behind
/// the newest mark can then be recognised. Returns warnings, or an error if there was a mark before
/// and no place accepts this one.
fn mark_start(
    options: &OpenOptions,
    mark: &Mark,
    before: Option<&Mark>,
) -> Result<Vec<String>, Failure> {
    let failures = if before.is_some_and(|before| before.signature.is_some()) {
        // The log's thread stores it in the other places.
        marks::store_in_one(&options.anchors, mark).err().unwrap_or_default()
    } else {
        // Every place gets the first signed mark.
        marks::store(&options.anchors, mark)
    };
    let nowhere = !failures.is_empty() && failures.len() == options.anchors.len();
    if nowhere && before.is_some() {
        Err(Failure::Unavailable(failures.join("; ").into()))
    } else {
        Ok(failures)
    }
}

/// Checks that the file is byte for byte the one that was closed, or else checks its whole content.
/// Returns false if the file is too large for that.
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

/// Maps a read error. If SQLite reports damage, the file was tampered with; other errors concern
/// the disk or permissions and can be repaired.
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

type TailFault = (Option<(u64, String)>, VerifyProblem);

/// Checks the newest checkpoint, the records after it, and the marks. Returns None for an empty
/// log.
fn check_tail(
    db: &Connection,
    options: &OpenOptions,
    weighed: &ComparedMarks,
) -> rusqlite::Result<Result<Option<Chain>, TailFault>> {
    let origin = options.origin();
    let size = stored_size(db)?;
    if let Some(mark) = weighed.largest().filter(|mark| mark.size > size) {
        let message = text!(
            "records {first} to {last} are missing: the log was cut, or an old copy was put in its place",
            first = size + 1,
            last = mark.size
        );
        let root = crate::hex::encode(&stored_frontier(db, size)?.root());
        return Ok(Err((Some((size, root)), problem(Some(size + 1), message))));
    }
    if size == 0 {
        return Ok(Ok(None));
    }
    let frontier = stored_frontier(db, size)?;
    let root = frontier.root();
    let fault = |seq: u64, message: &str| {
        Ok(Err((Some((size, crate::hex::encode(&root))), problem(Some(seq), message.to_owned()))))
    };

    let opened: Option<Vec<u8>> = db
        .query_row(
            "SELECT body FROM audit_record WHERE type='log_opened' ORDER BY seq DESC LIMIT 1",
            [],
            |row| row.get(0),
        )
        .optional()?;
    let Some(opened) = opened.and_then(|bytes| body::parse(&bytes).ok()) else {
        return fault(1, "the record that names the signing key is missing or damaged");
    };
    if opened.text("installation") != Some(options.installation.as_str()) {
        return fault(1, "the log belongs to another installation");
    }
    let Ok(state) = keys::read_key_state(&origin, &opened) else {
        return fault(opened.seq, "the record that names the signing key is damaged");
    };
    let Some((signed, text)) = stored_checkpoint(db)? else {
        return fault(1, "the log has no signed checkpoint");
    };
    let at_checkpoint =
        if signed <= size { stored_frontier(db, signed)?.root() } else { tree::empty_root() };
    let held = note::parse(&text).ok().is_some_and(|n| {
        n.check(&state.current).is_ok()
            && n.size == signed
            && n.origin == origin
            && n.root == at_checkpoint
    });
    if !held {
        return fault(
            signed.min(size + 1),
            "the newest checkpoint does not match the records, or is signed with another key",
        );
    }
    for mark in &weighed.marks {
        if let Some((seq, message)) = check_against(db, &origin, mark)? {
            return Ok(Err((Some((size, crate::hex::encode(&root))), problem(seq, message))));
        }
    }
    if let Some(closed) = weighed.marks.iter().find(|mark| mark.denies_tail(size, signed)) {
        return fault(closed.size + 1, verify::ADDED);
    }
    if let Some((seq, message)) = find_added(db, weighed.newest())? {
        return fault(seq, message);
    }
    match find_unsigned(db, signed, size)? {
        Ok(last_leaf) => Ok(Ok(Some(Chain { origin, frontier, last_leaf, signed, keys: state }))),
        Err(seq) => fault(seq, "the record was changed, or is not the one that followed"),
    }
}

/// Compares the log with a mark over existing records. Returns what is wrong.
fn check_against(
    db: &Connection,
    origin: &str,
    mark: &Mark,
) -> rusqlite::Result<Option<(Option<u64>, &'static str)>> {
    if crate::hex::encode(&stored_frontier(db, mark.size)?.root()) != mark.root {
        return Ok(Some((
            None,
            "the records differ from the copy of the checkpoint that is kept outside the log",
        )));
    }
    if mark.size == 0 {
        return Ok(None);
    }
    // Each opening names the key that signs from then on, and marks are made with that key.
    let opened: Option<Vec<u8>> = db
        .query_row("SELECT body FROM audit_record WHERE type='log_opened' AND seq<=?1 ORDER BY seq DESC LIMIT 1", [Num(mark.size)], |row| row.get(0))
        .optional()?;
    let opened = opened.and_then(|bytes| body::parse(&bytes).ok());
    let key = opened
        .as_ref()
        .and_then(|opened| keys::read_key_state(origin, opened).ok())
        .map(|state| note::vkey_of(origin, &state.current));
    if key.as_deref() != Some(mark.key.as_str()) {
        return Ok(Some((
            Some(1),
            "the log was signed anew with another key than the one kept outside it",
        )));
    }
    if mark.signature.is_none() && opened.is_some_and(|opened| keys::signs_marks(&opened)) {
        return Ok(Some((
            None,
            "the copy of the newest checkpoint outside the log was replaced: it is not signed",
        )));
    }
    Ok(None)
}

/// Finds the first record that was added behind the newest mark. Returns what is wrong with it.
fn find_added(
    db: &Connection,
    newest: Option<&Mark>,
) -> rusqlite::Result<Option<(u64, &'static str)>> {
    let Some(mark) = newest else { return Ok(None) };
    let mut beyond = verify::BeyondMark::new(newest);
    let mut statement = db.prepare("SELECT body FROM audit_record WHERE seq>?1 ORDER BY seq")?;
    let mut rows = statement.query([Num(mark.size)])?;
    while let Some(row) = rows.next()? {
        let bytes: Vec<u8> = row.get(0)?;
        // A body that cannot be parsed is reported by the checks of the records.
        if let Ok(body) = body::parse(&bytes)
            && let Some(found) = beyond.step(&body)
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Checks the records after the newest checkpoint, and the last record in any case. Returns the
/// last leaf, or the number of the bad record.
fn find_unsigned(
    db: &Connection,
    signed: u64,
    size: u64,
) -> rusqlite::Result<Result<tree::Hash, u64>> {
    let from = (signed + 1).min(size);
    let mut prev = if from > 1 { chain::stored_node(db, 0, from - 2)? } else { [0u8; 32] };
    let mut statement =
        db.prepare("SELECT body, leaf FROM audit_record WHERE seq>=?1 ORDER BY seq")?;
    let mut rows = statement.query([Num(from)])?;
    let mut seq = from;
    while let Some(row) = rows.next()? {
        let (bytes, leaf): (Vec<u8>, tree::Hash) = (row.get(0)?, row.get(1)?);
        let held =
            body::parse(&bytes).is_ok_and(|b| b.seq == seq && b.prev == crate::hex::encode(&prev));
        if !held || tree::leaf_hash(&bytes) != leaf {
            return Ok(Err(seq));
        }
        prev = leaf;
        seq += 1;
    }
    Ok(if seq == size + 1 { Ok(prev) } else { Err(seq) })
}

/// Writes the records of an opening: a change of key if there is one, `log_opened`, possibly a
/// recovery, and a checkpoint.
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
    chain.sign(&tx, &signer.key)?;
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
    for suffix in ["-wal", "-shm", ""] {
        let with = |path: &Path| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        match std::fs::rename(with(&options.path), with(&aside)) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(aside)
}
