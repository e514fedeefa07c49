//! The handle that the rest of the app holds: append, list, verify, export. Cheap to clone; one writer thread behind it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use contract::{AgentError, AuditCheckpointResponse, AuditExportResponse, AuditListParams, AuditListResponse, AuditRecordView, SessionId, VerifyReport};
use engine::ports::{AuditLog, AuditUnavailable, Durability, RecordDraft};
use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use crate::anchor;
use crate::open::{OpenOptions, Opened};
use crate::writer::{Command, Writer};
use crate::{export, read, schema, verify};

/// An open audit log.
#[derive(Clone)]
pub struct Log {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    commands: Mutex<Sender<Command>>,
    reader: Mutex<Option<Connection>>,
    total: watch::Receiver<u64>,
    anchors: Vec<Arc<dyn anchor::Anchor>>,
    marks_failing: Arc<AtomicBool>,
    warnings: Vec<String>,
    anchored: bool,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let _ = self.commands.get_mut().unwrap_or_else(PoisonError::into_inner).send(Command::Close { reply: None });
    }
}

fn gone() -> AuditUnavailable {
    AuditUnavailable("it is closed; restart Countersign".to_owned())
}

pub(crate) fn unreadable(error: &rusqlite::Error) -> AgentError {
    AgentError::internal("audit_unreadable", format!("The audit log cannot be read ({error})."))
        .hint("Check that the data folder is readable and run \"csign audit verify\".")
}

impl Log {
    pub(crate) fn start(options: OpenOptions, opened: Opened) -> Result<Self, AuditUnavailable> {
        let failed = |error: std::io::Error| AuditUnavailable(format!("its thread could not be started ({error})"));
        let (total_sender, total) = watch::channel(opened.chain.frontier.size());
        let warnings = opened.warnings.clone();
        let writer = Writer::new(opened, &options, total_sender).map_err(failed)?;
        let marks_failing = writer.marks.failing();
        let (commands, receiver) = channel();
        std::thread::Builder::new().name("audit-writer".into()).spawn(move || writer.run(&receiver)).map_err(failed)?;
        let inner = Inner {
            path: options.path,
            commands: Mutex::new(commands),
            reader: Mutex::new(None),
            total,
            anchors: options.anchors,
            marks_failing,
            warnings,
            anchored: options.signer.anchored,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Number of committed records.
    pub fn total(&self) -> u64 {
        *self.inner.total.borrow()
    }

    /// Tells of every change of the number of committed records.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.inner.total.clone()
    }

    /// Whether checkpoints are signed with the keyring's key.
    pub fn anchored(&self) -> bool {
        self.inner.anchored
    }

    /// What could not be checked at opening, and whether the outside copy cannot be written now. For the doctor.
    pub fn warnings(&self) -> Vec<String> {
        let mut all = self.inner.warnings.clone();
        if self.inner.marks_failing.load(Ordering::Relaxed) {
            all.push("the copy of the newest checkpoint outside the log cannot be stored".to_owned());
        }
        all
    }

    fn send(&self, command: Command) -> Result<(), AuditUnavailable> {
        self.inner.commands.lock().unwrap_or_else(PoisonError::into_inner).send(command).map_err(|_| gone())
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<Result<T, AuditUnavailable>>) -> Command) -> Result<T, AuditUnavailable> {
        let (reply, answer) = oneshot::channel();
        self.send(command(reply))?;
        answer.await.map_err(|_| gone())?
    }

    /// Signs the present size, if that has not been done, and gives the newest checkpoint.
    pub async fn checkpoint(&self) -> Result<AuditCheckpointResponse, AuditUnavailable> {
        self.ask(|reply| Command::Checkpoint { reply }).await
    }

    /// Erases the value behind a commitment for good; the log still verifies. False when there was none.
    pub async fn erase(&self, seq: u64, member: &str) -> Result<bool, AuditUnavailable> {
        let member = member.to_owned();
        self.ask(|reply| Command::Erase { seq, member, reply }).await
    }

    /// Signs, stores the outside copy and ends the writer. Later calls fail.
    pub async fn close(&self) -> Result<(), AuditUnavailable> {
        // The writer's connection has to be the last one, so that closing it folds the side file in.
        self.inner.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.ask(|reply| Command::Close { reply: Some(reply) }).await
    }

    async fn reading<T: Send + 'static>(&self, work: impl FnOnce(&Connection) -> Result<T, AgentError> + Send + 'static) -> Result<T, AgentError> {
        let inner = self.inner.clone();
        let run = move || {
            let mut slot = inner.reader.lock().unwrap_or_else(PoisonError::into_inner);
            let db = match slot.take() {
                Some(db) => db,
                None => schema::open_reader(&inner.path).map_err(|error| unreadable(&error))?,
            };
            work(slot.insert(db))
        };
        tokio::task::spawn_blocking(run).await.map_err(|_| AgentError::internal("audit_unreadable", "Reading the audit log was interrupted."))?
    }

    /// Records, newest first.
    pub async fn list(&self, params: AuditListParams) -> Result<AuditListResponse, AgentError> {
        self.reading(move |db| read::list(db, &params)).await
    }

    /// One record with the values behind its commitments.
    pub async fn show(&self, seq: u64) -> Result<AuditRecordView, AgentError> {
        self.reading(move |db| read::show(db, seq)).await
    }

    /// Verifies the whole file against the copies of the checkpoint.
    pub async fn verify(&self) -> Result<VerifyReport, AgentError> {
        let inner = self.inner.clone();
        let run = move || {
            // The mark is read first: the log can only have grown since.
            let (mark, _) = anchor::newest(&inner.anchors);
            verify::verify(&inner.path, mark.as_ref())
        };
        tokio::task::spawn_blocking(run).await.map_err(|_| AgentError::internal("audit_unreadable", "The verification was interrupted."))
    }

    /// Writes the whole log as plain files into a new or empty folder.
    pub async fn export(&self, folder: &str) -> Result<AuditExportResponse, AgentError> {
        self.export_of(folder, None).await
    }

    /// Writes one session's records with proofs that they are in the log.
    pub async fn export_session(&self, folder: &str, session: &SessionId) -> Result<AuditExportResponse, AgentError> {
        self.export_of(folder, Some(session.clone())).await
    }

    async fn export_of(&self, folder: &str, session: Option<SessionId>) -> Result<AuditExportResponse, AgentError> {
        self.checkpoint().await.map_err(|error| AgentError::internal("audit_unavailable", error.to_string()))?;
        let folder = PathBuf::from(folder);
        self.reading(move |db| export::export(db, &folder, session.as_ref())).await
    }
}

#[async_trait]
impl AuditLog for Log {
    async fn append(&self, record: RecordDraft, durability: Durability) -> Result<u64, AuditUnavailable> {
        self.ask(|reply| Command::Append { draft: Box::new(record), durability, reply }).await
    }

    async fn flush(&self) -> Result<(), AuditUnavailable> {
        self.ask(|reply| Command::Flush { reply }).await
    }
}
