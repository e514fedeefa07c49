//! The only thread that writes to the log. The thread writes all queued records in one transaction,
//! signs checkpoints when they are due, and answers callers after the commit. `marks` stores copies
//! of checkpoints outside the log.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use batch::Inbox;
use contract::{AuditCheckpointResponse, Text};
use engine::ports::{AuditUnavailable, Clock, Durability, RecordDraft};
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use tokio::sync::{oneshot, watch};

use crate::chain::{Chain, Prepared, WriteError, prepare};
use crate::entropy::Entropy;
use crate::erasure::{self, Erasure};
use crate::keys::Signer;
use crate::marks::Marks;
use crate::opened::{OpenOptions, Opened};
use crate::schema;

/// How many records after the last checkpoint trigger a new checkpoint.
const SIGN_EVERY: u64 = 100;
/// The time without a new record after which the unsigned end of the log is signed.
const SIGN_AFTER: Duration = Duration::from_secs(1);
/// The maximum time that a grouped record waits to be written together with other records.
const GROUP_FOR: Duration = Duration::from_millis(20);
/// The maximum number of commands in one transaction.
const BATCH: usize = 1024;
/// The maximum number of grouped records that wait in memory while the disk is full.
const BACKLOG: usize = 10_000;

type Reply<T> = oneshot::Sender<Result<T, AuditUnavailable>>;

/// The reply channel of the caller that waits for the end, if there is one, and the result of the
/// last commit.
type Ending = (Option<Reply<()>>, Result<(), AuditUnavailable>);

pub(crate) enum Command {
    Append { draft: Box<RecordDraft>, durability: Durability, reply: Reply<u64> },
    Flush { reply: Reply<()> },
    Checkpoint { reply: Reply<AuditCheckpointResponse> },
    Erase { what: Erasure, reply: Reply<u64> },
    Close { reply: Option<Reply<()>> },
}

struct Waiting {
    draft: Prepared,
    /// The reply channel. None for grouped records, whose callers were answered when the record
    /// arrived.
    reply: Option<Reply<u64>>,
    /// Whether the caller is answered only after the mark outside the log covers the record. This
    /// is used for intents, before the action starts.
    marked: bool,
}

pub(crate) struct Writer {
    pub(crate) db: Connection,
    pub(crate) chain: Chain,
    pub(crate) signer: Signer,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) total: watch::Sender<u64>,
    pub(crate) marks: Marks,
    path: PathBuf,
    pending: Vec<Waiting>,
    /// The error after which the content of the disk is unknown. After such an error, no record is
    /// written.
    broken: Option<Text>,
    /// Whether signing the end of the log failed. Signing is tried again after the next record.
    quiet: bool,
    lock: Option<Arc<File>>,
}

/// The requests of one round of commands, besides its records.
#[derive(Default)]
struct Round {
    commit: bool,
    sign: bool,
    flushes: Vec<Reply<()>>,
    checkpoints: Vec<Reply<AuditCheckpointResponse>>,
    erasures: Vec<(Erasure, Reply<u64>)>,
    close: Option<Option<Reply<()>>>,
}

impl Writer {
    pub(crate) fn new(
        opened: Opened,
        options: &OpenOptions,
        total: watch::Sender<u64>,
        failing: Arc<AtomicBool>,
    ) -> std::io::Result<Self> {
        let marks = Marks::start(
            options.anchors.clone(),
            options.installation.clone(),
            options.signer.clone(),
            opened.counter,
            failing,
        )?;
        Ok(Self {
            db: opened.db,
            chain: opened.chain,
            signer: options.signer.clone(),
            clock: options.clock.clone(),
            entropy: options.entropy.clone(),
            total,
            marks,
            path: options.path.clone(),
            pending: Vec::new(),
            broken: None,
            quiet: false,
            lock: options.lock.clone(),
        })
    }

    /// Runs until closed.
    pub(crate) fn run(mut self, mut commands: Inbox<Command>) {
        self.marks.send(&self.chain, None, Vec::new());
        loop {
            let first = match self.wait(&mut commands) {
                Ok(command) => command,
                Err(RecvTimeoutError::Timeout) => {
                    // No command arrived: grouped records are made durable first, and then the
                    // unsigned records are signed.
                    let sign = self.pending.is_empty();
                    if self.commit(sign).is_err() && sign {
                        // The next record triggers another attempt. An attempt every second would
                        // fill the program's log file.
                        self.quiet = true;
                    }
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => Command::Close { reply: None },
            };
            let mut round = Round::default();
            self.take(first, &mut round);
            let mut taken = 1;
            // All waiting commands go into one transaction, because syncing the disk costs more
            // than writing.
            while taken < BATCH && round.close.is_none() {
                let Some(command) = commands.next_if(|_| true) else { break };
                self.take(command, &mut round);
                taken += 1;
            }
            if let Some((reply, result)) = self.finish(round) {
                self.end();
                if let Some(reply) = reply {
                    answer(reply, result);
                }
                return;
            }
        }
    }

    /// Closes the file, seals it and stores the mark. The caller of `Close` is answered only after
    /// that. A log is not sealed if it may end with a record that was reported as failed.
    fn end(self) {
        let Self { db, chain, mut marks, path, broken, lock, .. } = self;
        drop(db);
        if broken.is_none() && chain.signed == chain.frontier.size() {
            // A reader can prevent that the write-ahead log is emptied, so that the file is
            // incomplete.
            let seal =
                if crate::schema::side_file(&path) { None } else { crate::anchor::digest(&path) };
            marks.send(
                &chain,
                Some(seal.unwrap_or_else(|| crate::anchor::CLOSED.to_owned())),
                Vec::new(),
            );
        }
        marks.finish();
        // Another process may open the log from here on, so the last mark must be stored before.
        drop(lock);
    }

    fn wait(&self, commands: &mut Inbox<Command>) -> Result<Command, RecvTimeoutError> {
        if self.broken.is_none() && !self.pending.is_empty() {
            return commands.first_within(GROUP_FOR);
        }
        if self.broken.is_none() && !self.quiet && self.chain.signed < self.chain.frontier.size() {
            return commands.first_within(SIGN_AFTER);
        }
        commands.first().ok_or(RecvTimeoutError::Disconnected)
    }

    fn take(&mut self, command: Command, round: &mut Round) {
        match command {
            Command::Append { draft, durability, reply } => {
                self.take_record(*draft, durability, reply, round)
            }
            Command::Flush { reply } => {
                round.commit = true;
                round.flushes.push(reply);
            }
            Command::Checkpoint { reply } => {
                round.commit = true;
                round.sign = true;
                round.checkpoints.push(reply);
            }
            Command::Erase { what, reply } => {
                round.commit = true;
                round.erasures.push((what, reply));
            }
            Command::Close { reply } => {
                round.commit = true;
                round.sign = true;
                round.close = Some(reply);
            }
        }
    }

    fn take_record(
        &mut self,
        draft: RecordDraft,
        durability: Durability,
        reply: Reply<u64>,
        round: &mut Round,
    ) {
        let refusal = match &self.broken {
            Some(why) => Some(why.clone()),
            None if self.pending.len() >= BACKLOG => {
                Some("too many records wait for the disk; free some space and try again".into())
            }
            None => None,
        };
        let prepared = match refusal {
            Some(why) => Err(why),
            None => prepare(draft, self.clock.now()).map_err(Text::from),
        };
        match (prepared, durability) {
            (Err(why), _) => answer(reply, Err(AuditUnavailable(why))),
            (Ok(draft), Durability::Grouped) => {
                let seq = self.chain.frontier.size() + self.pending.len() as u64 + 1;
                self.pending.push(Waiting { draft, reply: None, marked: false });
                answer(reply, Ok(seq));
            }
            (Ok(draft), Durability::Durable | Durability::Signed) => {
                round.commit = true;
                round.sign |= durability == Durability::Signed;
                self.pending.push(Waiting {
                    draft,
                    reply: Some(reply),
                    marked: durability == Durability::Signed,
                });
            }
        }
    }

    /// Commits the records of the round and answers its requests. If the round contains `Close`,
    /// returns the sender that waits for it, with the result.
    fn finish(&mut self, round: Round) -> Option<Ending> {
        let result = if round.commit || self.pending.len() >= BATCH {
            self.commit(round.sign)
        } else {
            Ok(())
        };
        for reply in round.flushes {
            answer(reply, result.clone());
        }
        for reply in round.checkpoints {
            answer(reply, result.clone().and_then(|()| self.newest_checkpoint()));
        }
        for (what, reply) in round.erasures {
            answer(reply, result.clone().and_then(|()| self.erase(&what)));
        }
        round.close.map(|reply| (reply, result))
    }

    /// Writes all pending records in one transaction. If the transaction fails, the log contains
    /// none of them: waiting callers get the error, and grouped records stay queued for the next
    /// attempt.
    fn commit(&mut self, sign: bool) -> Result<(), AuditUnavailable> {
        if let Some(why) = &self.broken {
            let why = AuditUnavailable(why.clone());
            for waiting in self.pending.drain(..) {
                if let Some(reply) = waiting.reply {
                    answer(reply, Err(why.clone()));
                }
            }
            return Err(why);
        }
        let mut chain = self.chain.clone();
        let due = chain.frontier.size() + self.pending.len() as u64 - chain.signed;
        let sign = (sign || due >= SIGN_EVERY) && due > 0;
        // An empty transaction would sync the disk without need.
        if self.pending.is_empty() && !sign {
            return Ok(());
        }
        match write(
            &mut self.db,
            &mut chain,
            &self.pending,
            self.entropy.as_ref(),
            sign.then_some(&self.signer),
        ) {
            Ok(numbers) => {
                let signed = chain.signed != self.chain.signed;
                self.chain = chain;
                self.quiet = false;
                self.total.send_replace(self.chain.frontier.size());
                let mut for_effects = Vec::new();
                for (waiting, seq) in self.pending.drain(..).zip(numbers) {
                    match waiting.reply {
                        // The effect of a signed intent waits for the mark, because without a mark,
                        // the record could be cut off unnoticed after the effect.
                        Some(reply) if waiting.marked => for_effects.push((reply, seq)),
                        Some(reply) => answer(reply, Ok(seq)),
                        None => {}
                    }
                }
                if signed {
                    self.marks.send(&self.chain, None, for_effects);
                }
                Ok(())
            }
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn failed(&mut self, error: &WriteError) -> AuditUnavailable {
        let why = AuditUnavailable(error.sentence());
        if let WriteError::Sqlite(error) = error {
            tracing::error!(%error, "the audit log could not be written");
            // After these errors, it is unknown which data reached the disk until the file is
            // opened again.
            let unknown = matches!(
                error.sqlite_error_code(),
                Some(
                    ErrorCode::SystemIoFailure
                        | ErrorCode::DatabaseCorrupt
                        | ErrorCode::NotADatabase
                )
            );
            if unknown {
                self.broken = Some(why.0.clone());
            }
        }
        let mut kept = Vec::new();
        for waiting in self.pending.drain(..) {
            match waiting.reply {
                Some(reply) => answer(reply, Err(why.clone())),
                None => kept.push(Waiting { draft: waiting.draft, reply: None, marked: false }),
            }
        }
        self.pending = kept;
        why
    }

    fn newest_checkpoint(&self) -> Result<AuditCheckpointResponse, AuditUnavailable> {
        let found = crate::chain::stored_checkpoint(&self.db)
            .map_err(|error| AuditUnavailable(WriteError::from(error).sentence()))?;
        let (size, note) =
            found.ok_or_else(|| AuditUnavailable("it has no checkpoint yet".into()))?;
        Ok(AuditCheckpointResponse {
            size,
            root: crate::hex::encode(&self.chain.frontier.root()),
            note,
            problem: None,
        })
    }

    /// Erases revealed values from the file and from the write-ahead log, which may contain older
    /// copies of their pages. Returns the number of erased values.
    fn erase(&mut self, what: &Erasure) -> Result<u64, AuditUnavailable> {
        let mut chain = self.chain.clone();
        let now = self.clock.now();
        let (entropy, signer) = (self.entropy.as_ref(), &self.signer);
        let erased = match erasure::erase(&mut self.db, &mut chain, entropy, signer, now, what) {
            // An interrupted erasure may have left copies in the write-ahead log.
            Ok(0) => {
                self.empty_write_ahead_log()?;
                return Ok(0);
            }
            Ok(erased) => erased,
            Err(error) => return Err(self.failed(&error)),
        };
        self.chain = chain;
        self.quiet = false;
        self.total.send_replace(self.chain.frontier.size());
        self.marks.send(&self.chain, None, Vec::new());
        self.empty_write_ahead_log()?;
        Ok(erased)
    }

    fn empty_write_ahead_log(&self) -> Result<(), AuditUnavailable> {
        schema::empty_write_ahead_log(&self.db).map_err(|error| {
            if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) {
                return AuditUnavailable(
                    "another program reads it, so that erased values may still be in its write-ahead log; try again".into(),
                );
            }
            AuditUnavailable(WriteError::from(error).sentence())
        })
    }
}

fn answer<T>(reply: Reply<T>, result: Result<T, AuditUnavailable>) {
    // The send fails if the caller has stopped waiting.
    let _ = reply.send(result);
}

fn write(
    db: &mut Connection,
    chain: &mut Chain,
    pending: &[Waiting],
    entropy: &dyn Entropy,
    sign: Option<&Signer>,
) -> Result<Vec<u64>, WriteError> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut numbers = Vec::with_capacity(pending.len());
    for waiting in pending {
        numbers.push(chain.append(&tx, entropy, &waiting.draft)?);
    }
    if let Some(signer) = sign {
        chain.write_checkpoint(&tx, &signer.key)?;
    }
    tx.commit()?;
    Ok(numbers)
}
