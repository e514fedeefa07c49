//! The handle to the log for the rest of the app: append, list, verify, export. Cheap to clone; all
//! clones share one writer thread.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use batch::Worker;
use chrono::{DateTime, Utc};
use contract::{
    AgentError, AuditCheckpointResponse, AuditChoicesResponse, AuditEntriesParams,
    AuditEntriesResponse, AuditEntryParams, AuditEntryResponse, AuditExportResponse,
    AuditFindParams, AuditListParams, AuditListResponse, AuditRecordView, Reason, RecordType,
    SessionId, VerifyReport, text,
};
use engine::ports::{AuditLog, AuditUnavailable, Durability, RecordDraft};
use messages::Language;
use parking_lot::{Mutex, MutexGuard};
use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use crate::anchor::Outside;
use crate::erasure::{self, Erasure, OldValues};
use crate::export::{self, Scope, Wanted};
use crate::index::{self, Index, Progress};
use crate::open::{self, Failure};
use crate::opened::{OpenOptions, Opened, Tampered};
use crate::verify::{self, Judged, VerifyWatch};
use crate::visit::{self, Selection};
use crate::writer::{Command, Writer};
use crate::{clock, copy, read, schema};

/// How long a list waits for the index. Indexing a large log for the first time takes longer.
const INDEX_FOR: Duration = Duration::from_millis(800);

/// The result of opening a log.
pub enum OpenState {
    /// The log is open, signed and ready for records.
    Ready(Log),
    /// The log was changed since it was closed. The problems must be shown to a person before
    /// `Log::start_over` sets the log aside.
    Tampered(Tampered),
}

/// An open audit log.
#[derive(Clone)]
pub struct Log {
    inner: Arc<Inner>,
}

struct Inner {
    options: OpenOptions,
    /// None while the log is stopped.
    commands: Mutex<Worker<Command>>,
    reader: Mutex<Option<Connection>>,
    /// Locked while the index grows, and while values are erased, because an erased value must not
    /// be indexed between the two steps of its erasure.
    index: Arc<tokio::sync::Mutex<Option<Index>>>,
    /// The count is stored here, so that watchers also see a log that is begun later.
    total: watch::Sender<u64>,
    marks_failing: Arc<AtomicBool>,
    /// Locked while copies and old logs are changed.
    copying: Mutex<()>,
    checked_whole: AtomicBool,
    warnings: Mutex<Vec<String>>,
    /// Why no records are accepted, until a person accepts a new log.
    stopped: Mutex<Option<String>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The writer still commits, signs and seals. No caller waits for the result.
        let _ = self.commands.get_mut().send(Command::Close { reply: None });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

fn writer_gone() -> AuditUnavailable {
    AuditUnavailable("it is closed; restart Countersign".into())
}

impl Log {
    /// Opens the log, or creates a new log. Blocks while up to 16 MiB are read, so it must not be
    /// called on async threads.
    pub fn open(options: OpenOptions) -> Result<OpenState, AuditUnavailable> {
        schema::check_library().map_err(|why| AuditUnavailable(why.into()))?;
        match open::open(&options) {
            Ok(opened) => Self::start(options, opened).map(OpenState::Ready),
            Err(Failure::Tampered(found)) => Ok(OpenState::Tampered(*found)),
            Err(Failure::Unavailable(why)) => Err(AuditUnavailable(why)),
        }
    }

    /// Renames the old files and begins a new log. Its second record reports the problems. Also
    /// returns the old file's new path.
    pub fn start_over(
        options: OpenOptions,
        found: &Tampered,
    ) -> Result<(Self, PathBuf), AuditUnavailable> {
        let (opened, aside) = open::begin_anew(&options, found)?;
        Self::start(options, opened).map(|log| (log, aside))
    }

    pub(crate) fn start(options: OpenOptions, opened: Opened) -> Result<Self, AuditUnavailable> {
        let log = Self::without_writer(options, opened.chain.frontier.size());
        log.write_with(opened)?;
        Ok(log)
    }

    /// Creates a log for reading only. The log accepts no records until a new log is begun in its
    /// place.
    pub fn stopped(options: OpenOptions, why: &str) -> Self {
        let log = Self::without_writer(options, 0);
        log.stop(why);
        log
    }

    fn without_writer(options: OpenOptions, total: u64) -> Self {
        let inner = Inner {
            options,
            commands: Mutex::new(Worker::ended()),
            reader: Mutex::new(None),
            index: Arc::default(),
            total: watch::channel(total).0,
            marks_failing: Arc::default(),
            copying: Mutex::default(),
            checked_whole: AtomicBool::new(false),
            warnings: Mutex::default(),
            stopped: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    fn write_with(&self, opened: Opened) -> Result<(), AuditUnavailable> {
        let failed = |error: std::io::Error| {
            AuditUnavailable(format!("its thread could not be started ({error})").into())
        };
        let inner = &self.inner;
        inner.total.send_replace(opened.chain.frontier.size());
        lock(&inner.warnings).clone_from(&opened.warnings);
        inner.checked_whole.store(opened.checked_whole, Ordering::Relaxed);
        let writer =
            Writer::new(opened, &inner.options, inner.total.clone(), inner.marks_failing.clone())
                .map_err(failed)?;
        *lock(&inner.commands) =
            Worker::start("audit-writer", move |commands| writer.run(commands)).map_err(failed)?;
        Ok(())
    }

    /// Stops accepting records, because something is wrong with the log and a person must see the
    /// problem first.
    pub fn stop(&self, why: &str) {
        // The first reason is the cause; later reasons follow from it.
        lock(&self.inner.stopped).get_or_insert_with(|| why.to_owned());
    }

    /// Sets the log aside and begins a new log in its place. Blocking. Returns the old file's new
    /// path.
    pub fn set_aside_and_restart(&self, found: &Tampered) -> Result<PathBuf, AuditUnavailable> {
        self.end_writer();
        lock(&self.inner.reader).take();
        self.inner.index.blocking_lock().take();
        index::delete(&self.inner.options.path);
        let (opened, aside) = open::begin_anew(&self.inner.options, found)?;
        self.write_with(opened)?;
        lock(&self.inner.stopped).take();
        Ok(aside)
    }

    /// Ends the writer and waits for it. A stopped log may still have a writer.
    fn end_writer(&self) {
        let (reply, ended) = oneshot::channel();
        let sent = lock(&self.inner.commands).send(Command::Close { reply: Some(reply) });
        if sent.is_ok() {
            // The log is set aside, so the result of its last commit does not matter.
            let _ = ended.blocking_recv();
        }
    }

    /// Returns the number of committed records.
    pub fn total(&self) -> u64 {
        *self.inner.total.borrow()
    }

    /// Watches the number of committed records.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.inner.total.subscribe()
    }

    /// Whether the whole file was checked when it was opened. If not, the file is large and must
    /// still be checked.
    pub fn checked_whole(&self) -> bool {
        self.inner.checked_whole.load(Ordering::Relaxed)
    }

    /// Whether checkpoints are signed with the keyring's key.
    pub fn anchored(&self) -> bool {
        self.inner.options.signer.anchored
    }

    /// Returns warnings for `csign doctor`: about checks that were not possible when the log was
    /// opened, and about a copy of the newest checkpoint that cannot be stored now.
    pub fn warnings(&self) -> Vec<String> {
        let mut all = lock(&self.inner.warnings).clone();
        if self.inner.marks_failing.load(Ordering::Relaxed) {
            all.push(
                "the copy of the newest checkpoint outside the log cannot be stored".to_owned(),
            );
        }
        all
    }

    fn send(&self, command: Command) -> Result<(), AuditUnavailable> {
        self.check_stopped()?;
        lock(&self.inner.commands).send(command).map_err(|_| writer_gone())
    }

    fn check_stopped(&self) -> Result<(), AuditUnavailable> {
        lock(&self.inner.stopped).clone().map_or(Ok(()), |why| Err(AuditUnavailable(why.into())))
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<T, AuditUnavailable>>) -> Command,
    ) -> Result<T, AuditUnavailable> {
        let (reply, answer) = oneshot::channel();
        self.send(command(reply))?;
        answer.await.map_err(|_| writer_gone())?
    }

    /// Signs the current size, unless it is already signed. Returns the newest checkpoint.
    pub async fn checkpoint(&self) -> Result<AuditCheckpointResponse, AuditUnavailable> {
        self.ask(|reply| Command::Checkpoint { reply }).await
    }

    /// Erases the value behind a commitment permanently. The log still verifies. Returns false if
    /// there was no value.
    pub async fn erase(&self, seq: u64, member: &str) -> Result<bool, AuditUnavailable> {
        Ok(self.erase_values(Erasure::Value { seq, member: member.to_owned() }).await? > 0)
    }

    /// Erases the values behind all commitments of a session's records permanently. The records
    /// stay, and the log still verifies. Returns the number of erased values.
    pub async fn erase_session(&self, session: &SessionId) -> Result<u64, AuditUnavailable> {
        self.erase_values(Erasure::Session(session.clone())).await
    }

    /// Erases values: first their words from the index, so that an interrupted erasure leaves no
    /// words there, and then the values from the log. If the second step fails, the index is
    /// created again.
    async fn erase_values(&self, what: Erasure) -> Result<u64, AuditUnavailable> {
        self.ask(|reply| Command::Flush { reply }).await?;
        let mut slot = Arc::clone(&self.inner.index).lock_owned().await;
        let (path, of) = (self.inner.options.path.clone(), what.clone());
        let now = self.inner.options.clock.now();
        let forgetting = tokio::task::spawn_blocking(move || -> rusqlite::Result<_> {
            // The index of an earlier run contains words, too, even if this run has not opened the
            // index.
            if slot.is_none() {
                *slot = Index::open_existing(&path)?;
            }
            if let Some(index) = slot.as_mut() {
                let log = schema::open_reader(&path)?;
                let values = erasure::list_values(&log, &of, now)?;
                index.forget(&log, values.into_iter().map(|(seq, member, _)| (seq, member)))?;
            }
            Ok(slot)
        });
        // The lock is kept until the values are removed from the log, too.
        let slot = match forgetting.await {
            Ok(Ok(slot)) => slot,
            Ok(Err(error)) => return Err(AuditUnavailable(index::failed(&error).text())),
            Err(_) => return Err(writer_gone()),
        };
        let erased = self.ask(|reply| Command::Erase { what, reply }).await?;
        let settling = tokio::task::spawn_blocking(move || slot.as_ref().map(Index::settle));
        if let Ok(Some(Err(error))) = settling.await {
            tracing::warn!(%error, "the index of the log will be made again after an erasure");
        }
        Ok(erased)
    }

    /// Erases the values of all records before an instant. The records stay, and the log still
    /// verifies. Returns the number of erased values.
    pub async fn erase_before(&self, before: DateTime<Utc>) -> Result<u64, AuditUnavailable> {
        let mut erased = 0;
        loop {
            match self.erase_values(Erasure::Expired { before }).await? {
                // Each command erases a limited number of values, so that records can be written in
                // between.
                0 => return Ok(erased),
                some => erased += some,
            }
        }
    }

    /// Returns the latest moment that the clock and the records agree on, which is used to expire
    /// values. Returns None if there is no such moment yet.
    pub async fn agreed_time(&self) -> Result<Option<DateTime<Utc>>, AgentError> {
        let now = self.inner.options.clock.now();
        self.run_read(move |db| clock::agreed_time(db, now)).await
    }

    /// Whether any record from one instant up to another (exclusive) has values.
    pub async fn has_values_between(
        &self,
        from: DateTime<Utc>,
        before: DateTime<Utc>,
    ) -> Result<bool, AgentError> {
        self.run_read(move |db| {
            erasure::has_values_between(db, from, before)
                .map_err(|error| schema::unreadable(&error))
        })
        .await
    }

    /// Erases a session's values from logs that were set aside after an alarm, and from copies of
    /// these logs beside `copy`. Blocking. Returns the number of values, and the files that are too
    /// damaged to be searched.
    pub fn erase_set_aside(
        &self,
        copy: &Path,
        session: &SessionId,
    ) -> std::io::Result<(u64, Vec<PathBuf>)> {
        self.erase_old(copy, &OldValues::Session(session.clone()))
    }

    /// Erases the values of records before an instant from the same files. Blocking.
    pub fn expire_set_aside(
        &self,
        copy: &Path,
        before: DateTime<Utc>,
    ) -> std::io::Result<(u64, Vec<PathBuf>)> {
        self.erase_old(copy, &OldValues::Before(before))
    }

    fn erase_old(&self, copy: &Path, what: &OldValues) -> std::io::Result<(u64, Vec<PathBuf>)> {
        let _one_at_a_time = lock(&self.inner.copying);
        let (logs, mut unreadable) = erasure::erase_set_aside(&self.inner.options.path, what)?;
        let (copies, more) = erasure::erase_set_aside(copy, what)?;
        unreadable.extend(more);
        Ok((logs + copies, unreadable))
    }

    /// Updates the copy of the log: adds the new records and removes the erased values. Blocking.
    pub fn update_copy(&self, copy: &Path) -> Result<(), AgentError> {
        let _one_at_a_time = lock(&self.inner.copying);
        copy::update(&self.inner.options.path, copy).map_err(|error| {
            AgentError::internal(
                "audit_copy",
                text!("The log could not be copied: {error}.", error = error.to_string()),
            )
            .hint("Check the space and the rights of the folder `backups`.")
        })
    }

    /// Whether the copy contains values that expired in the log, because an expiry was interrupted.
    /// Blocking.
    pub fn has_expired_values(&self, copy: &Path) -> bool {
        // A copy that cannot be read is created again.
        copy::has_expired_values(&self.inner.options.path, copy).unwrap_or(true)
    }

    /// Signs, stores the copy of the newest checkpoint outside the log, and ends the writer. Later
    /// calls fail.
    pub async fn close(&self) -> Result<(), AuditUnavailable> {
        // The writer must close the last connection, because closing the last connection moves the
        // write-ahead log into the file.
        self.inner.index.lock().await.take();
        lock(&self.inner.reader).take();
        let (reply, answer) = oneshot::channel();
        // A stopped log that is open is closed, too, and its records are kept.
        let sent = lock(&self.inner.commands).send(Command::Close { reply: Some(reply) });
        match sent {
            Ok(()) => answer.await.map_err(|_| writer_gone())?,
            Err(_) if lock(&self.inner.stopped).is_some() => Ok(()),
            Err(_) => Err(writer_gone()),
        }
    }

    async fn run_read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, AgentError> + Send + 'static,
    ) -> Result<T, AgentError> {
        let inner = self.inner.clone();
        let run = move || {
            let mut slot = lock(&inner.reader);
            let db = match slot.take() {
                Some(db) => db,
                // The reader is opened on first use, so that a program that only writes needs no
                // second connection.
                None => schema::open_reader(&inner.options.path)
                    .map_err(|error| schema::unreadable(&error))?,
            };
            work(slot.insert(db))
        };
        tokio::task::spawn_blocking(run).await.map_err(|_| {
            AgentError::internal("audit_unreadable", "Reading the audit log was interrupted.")
        })?
    }

    /// Lists records, newest first.
    pub async fn list(&self, params: AuditListParams) -> Result<AuditListResponse, AgentError> {
        self.run_read(move |db| index::list_records(db, &params)).await
    }

    /// Returns one record with the values behind its commitments.
    pub async fn show(&self, seq: u64) -> Result<AuditRecordView, AgentError> {
        self.run_read(move |db| read::show(db, seq)).await
    }

    /// Calls `see` for each selected record, oldest first, until `see` breaks. Other readers do not
    /// wait. Returns the value that `see` has built.
    pub async fn visit<T: Send + 'static>(
        &self,
        selection: Selection,
        mut made: T,
        see: impl Fn(&mut T, AuditRecordView) -> ControlFlow<()> + Send + 'static,
    ) -> Result<T, AgentError> {
        let inner = self.inner.clone();
        let run = move || {
            // The visit uses its own connection, because a long visit must not block the shared
            // reader.
            visit::visit(&inner.options.path, &selection, &mut |record| see(&mut made, record))?;
            Ok(made)
        };
        tokio::task::spawn_blocking(run).await.map_err(|_| {
            AgentError::internal("audit_unreadable", "Reading the audit log was interrupted.")
        })?
    }

    /// Calls `work` with the index, after the index has caught up with the log or the maximum wait
    /// is over.
    async fn run_indexed<T: Send + 'static>(
        &self,
        within: Option<Duration>,
        work: impl FnOnce(&Index, &Connection, Progress) -> Result<T, AgentError> + Send + 'static,
    ) -> Result<T, AgentError> {
        let mut slot = Arc::clone(&self.inner.index).lock_owned().await;
        let path = self.inner.options.path.clone();
        self.run_read(move |log| {
            let failed = |error| index::failed(&error);
            let mut index = match slot.take() {
                Some(index) => index,
                None => Index::open(&path).map_err(failed)?,
            };
            let until = within.map(|within| Instant::now() + within);
            let progress = index.advance(log, until).map_err(failed)?;
            work(slot.insert(index), log, progress)
        })
        .await
    }

    /// Returns the records that match a filter, newest first.
    pub async fn find(&self, params: AuditFindParams) -> Result<AuditListResponse, AgentError> {
        let limit = read::limit(params.limit);
        self.run_indexed(None, move |index, log, progress| {
            let mut seqs = index::find_records(index, &params.filter, params.before, limit)
                .map_err(|error| index::failed(&error))?;
            // One more record than the limit was searched, to find out whether there is a further
            // page.
            let has_more = seqs.len() > limit;
            seqs.truncate(limit);
            let (records, is_short) = index::read_records(log, &seqs)?;
            let has_more = has_more || is_short;
            Ok(AuditListResponse { records, has_more, total: progress.total })
        })
        .await
    }

    /// Returns the questions that match a filter, and records that belong to no question, newest
    /// first. The first call for a large log returns before everything is indexed, and reports
    /// that.
    pub async fn entries(
        &self,
        params: AuditEntriesParams,
    ) -> Result<AuditEntriesResponse, AgentError> {
        self.run_indexed(Some(INDEX_FOR), move |index, log, progress| {
            index::list_entries(index, log, &params, progress)
        })
        .await
    }

    /// Returns one question with all its records.
    pub async fn entry(&self, params: AuditEntryParams) -> Result<AuditEntryResponse, AgentError> {
        self.run_indexed(None, move |index, log, _| index::show_entry(index, log, &params)).await
    }

    /// Returns the names that can be used in a filter.
    pub async fn choices(&self) -> Result<AuditChoicesResponse, AgentError> {
        self.run_indexed(Some(INDEX_FOR), |index, _, _| index::list_choices(index)).await
    }

    /// Verifies the whole file against the copies of the checkpoint outside the log.
    pub async fn verify(&self) -> Result<VerifyReport, AgentError> {
        Ok(self.judge().await?.report)
    }

    /// Verifies the log. The result distinguishes between a file that cannot be read now and a file
    /// with invalid content.
    pub async fn judge(&self) -> Result<Judged, AgentError> {
        let inner = self.inner.clone();
        let run = move || Self::judge_file(&inner.options);
        tokio::task::spawn_blocking(run).await.map_err(|_| {
            AgentError::internal("audit_unreadable", "The verification was interrupted.")
        })
    }

    /// Verifies the log like `judge`, and reports its progress to `watch`. Returns None if it was
    /// stopped.
    pub async fn judge_watched(
        &self,
        watch: &Arc<VerifyWatch>,
    ) -> Result<Option<Judged>, AgentError> {
        let (inner, watch) = (Arc::clone(&self.inner), Arc::clone(watch));
        let run = move || {
            let options = &inner.options;
            verify::judge_watched(&options.path, &Self::outside_of(options), &watch)
        };
        tokio::task::spawn_blocking(run).await.map_err(|_| {
            AgentError::internal("audit_unreadable", "The verification was interrupted.")
        })
    }

    /// Verifies a log that is not open. Blocking.
    pub fn judge_file(options: &OpenOptions) -> Judged {
        verify::judge(&options.path, &Self::outside_of(options))
    }

    fn outside_of(options: &OpenOptions) -> Outside {
        // The marks are read first, because the log may grow in the meantime.
        let key = options.signer.anchored.then(|| options.signer.public());
        Outside { key, installation: Some(options.installation.clone()), ..options.outside() }
    }

    /// Exports the log, or a part of it with proofs, into a new or empty folder. This run's key
    /// signs the statements.
    pub async fn export(
        &self,
        folder: &str,
        scope: Scope,
        language: Language,
        attestations: PathBuf,
    ) -> Result<AuditExportResponse, AgentError> {
        // A log with an alarm is exported unchanged.
        if self.check_stopped().is_ok() {
            let failed = |error: AuditUnavailable| {
                AgentError::internal(Reason::AuditUnavailable, error.to_string())
            };
            self.checkpoint().await.map_err(failed)?;
        }
        let folder = PathBuf::from(folder);
        let signer = Some(self.inner.options.signer.clone());
        let wanted = Wanted::new(scope)
            .signed_by(signer)
            .in_language(language)
            .with_attestations(attestations);
        self.run_read(move |db| export::export(db, &folder, &wanted)).await
    }
}

#[async_trait]
impl AuditLog for Log {
    async fn append(
        &self,
        record: RecordDraft,
        durability: Durability,
    ) -> Result<u64, AuditUnavailable> {
        // A log that is stopped during a call still records the outcome of that call.
        if !matches!(record.record_type, RecordType::ToolOutcome | RecordType::RunEnded) {
            self.check_stopped()?;
        }
        let (reply, answer) = oneshot::channel();
        lock(&self.inner.commands)
            .send(Command::Append { draft: Box::new(record), durability, reply })
            .map_err(|_| writer_gone())?;
        answer.await.map_err(|_| writer_gone())?
    }

    async fn flush(&self) -> Result<(), AuditUnavailable> {
        self.ask(|reply| Command::Flush { reply }).await
    }
}
