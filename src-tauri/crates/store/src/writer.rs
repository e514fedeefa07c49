//! The only thread that writes. Requests that arrive while the thread works share the next
//! transaction and its sync (group commit). Each request runs in a savepoint, so that a failed
//! request does not undo the others. Requests that need no sync of their own share the sync of
//! another request, and requests that no caller waits for share the next transaction.

use std::sync::Arc;

use batch::{Ended, Inbox, Worker};
use engine::ports::StoreError;
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::{DbError, Faults};

/// The maximum number of requests that share a transaction.
const GROUP: usize = 256;

/// When written data must be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDisk {
    /// Written data is on disk before the caller gets the result.
    Now,
    /// Written data reaches the disk with the next request that uses `Now`. A crash of the program
    /// loses no data. A power cut loses the data written after the last `Now` request.
    Later,
}

/// A request. It receives the connection inside a transaction, or the error if there is no
/// transaction.
type Work = Box<dyn FnOnce(Result<&Connection, StoreError>) -> Ran + Send>;
type Closing = Box<dyn FnOnce(Connection) + Send>;

/// A request that was run but is not committed yet.
struct Ran {
    failed: Option<StoreError>,
    /// Sends the result to the caller. The argument is the error if the transaction was rolled
    /// back.
    tell: Box<dyn FnOnce(Option<StoreError>) + Send>,
}

enum Message {
    Work(OnDisk, Work),
    Close(Closing),
}

/// Work that is run again if its transaction was rolled back.
type Repeatable = Arc<dyn Fn(&Connection) -> Result<(), DbError> + Send + Sync>;

/// Work whose caller does not wait for the result.
struct Aside {
    work: Repeatable,
    /// The warning to log if the work fails.
    failed: &'static str,
}

/// The work that waits for the next transaction, oldest first. No caller waits for it.
type Waiting = Arc<Mutex<Vec<Aside>>>;

/// Sends requests to the writer thread.
pub(crate) struct Writer {
    worker: Worker<Message>,
    waiting: Waiting,
    faults: Arc<Faults>,
}

impl Writer {
    pub(crate) fn start(conn: Connection, faults: Arc<Faults>) -> std::io::Result<Self> {
        let waiting = Waiting::default();
        let thread = Thread { conn, waiting: Arc::clone(&waiting), faults: Arc::clone(&faults) };
        let worker = Worker::start("store-writer", move |inbox| thread.run(inbox))?;
        Ok(Self { worker, waiting, faults })
    }

    /// Runs `work` in a transaction. Returns when the transaction is committed and, with
    /// `OnDisk::Now`, on disk.
    pub(crate) async fn call<T, F>(&self, on_disk: OnDisk, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let faults = Arc::clone(&self.faults);
        let work: Work = Box::new(move |conn| {
            let result = conn.and_then(|conn| work(conn).map_err(|e| faults.store_error(e)));
            Ran {
                failed: result.as_ref().err().cloned(),
                tell: Box::new(move |lost| {
                    let result = match (result, lost) {
                        (Ok(_), Some(error)) => Err(error),
                        // A request that failed itself keeps its own error.
                        (result, _) => result,
                    };
                    // The send fails if the caller has stopped waiting.
                    let _ = reply.send(result);
                }),
            }
        });
        self.worker.send(Message::Work(on_disk, work)).map_err(closed)?;
        answer.await.unwrap_or_else(|_| Err(closed(Ended)))
    }

    /// Runs `work` in the next transaction, before every later request, without waiting for the
    /// result. Logs the warning `failed` if the work fails.
    pub(crate) fn with_next<F>(&self, work: F, failed: &'static str)
    where
        F: Fn(&Connection) -> Result<(), DbError> + Send + Sync + 'static,
    {
        // The thread runs the remaining work in this list before it ends.
        let put = || self.waiting.lock().push(Aside { work: Arc::new(work), failed });
        if let Err(ended) = self.worker.run_unless_ended(put) {
            tracing::warn!(error = %closed(ended), "{failed}");
        }
    }

    /// Ends the thread after all earlier requests. `closing` receives the connection.
    pub(crate) fn close(&self, closing: impl FnOnce(Connection) + Send + 'static) {
        if !self.worker.end(Some(Message::Close(Box::new(closing)))) {
            tracing::error!("the store's writer ended with a panic");
        }
    }
}

fn closed(_: Ended) -> StoreError {
    StoreError::Failed("the database is closed".into())
}

/// The requests that share one transaction.
#[derive(Default)]
struct Group {
    ran: Vec<Ran>,
    asides: Vec<Aside>,
    /// The error, if the transaction can no longer be committed.
    lost: Option<StoreError>,
}

/// The state of the writer thread.
struct Thread {
    conn: Connection,
    waiting: Waiting,
    faults: Arc<Faults>,
}

impl Thread {
    fn run(self, mut inbox: Inbox<Message>) {
        // The connection was opened with this sync setting.
        let mut set = OnDisk::Now;
        while let Some(message) = inbox.first() {
            match message {
                Message::Close(closing) => {
                    self.write_waiting();
                    return closing(self.conn);
                }
                Message::Work(on_disk, work) => match self.sync(&mut set, on_disk) {
                    Ok(()) => self.run_group(on_disk, work, &mut inbox),
                    Err(error) => (work(Err(error)).tell)(None),
                },
            }
        }
    }

    /// Sets whether the next commit waits for the disk. A synced commit also syncs all earlier
    /// commits.
    fn sync(&self, set: &mut OnDisk, wanted: OnDisk) -> Result<(), StoreError> {
        let level = match wanted {
            // Changing the setting costs a statement, so it is changed only if two consecutive
            // requests differ.
            _ if *set == wanted => return Ok(()),
            OnDisk::Now => "FULL",
            OnDisk::Later => "NORMAL",
        };
        match self.conn.pragma_update(None, "synchronous", level) {
            Ok(()) => *set = wanted,
            // Too many syncs are allowed; too few are not.
            Err(error) if wanted == OnDisk::Now => {
                return Err(self.faults.store_error(error.into()));
            }
            Err(error) => {
                tracing::warn!(%error, "every commit is synced: that could not be changed")
            }
        }
        Ok(())
    }

    /// Runs a request, and the requests queued behind the first request, in one transaction.
    fn run_group(&self, on_disk: OnDisk, first: Work, inbox: &mut Inbox<Message>) {
        if let Err(error) = self.begin() {
            return (first(Err(error)).tell)(None);
        }
        let mut group = Group::default();
        self.run_waiting(&mut group);
        if group.asides.is_empty() {
            // This is the first request in its transaction, so a failure rolls back the whole
            // transaction.
            let one = first(Ok(&self.conn));
            if one.failed.is_some() {
                self.roll_back();
                return (one.tell)(None);
            }
            group.ran.push(one);
        } else {
            self.run_in_group(first, &mut group);
        }
        // A request that must be on disk does not join a transaction without sync; the reverse
        // costs no additional sync.
        let belongs = |message: &Message| matches!(message, Message::Work(wanted, _) if on_disk == OnDisk::Now || *wanted == OnDisk::Later);
        while group.lost.is_none() && group.ran.len() < GROUP {
            let Some(Message::Work(_, more)) = inbox.next_if(belongs) else { break };
            self.run_waiting(&mut group);
            self.run_in_group(more, &mut group);
        }
        self.end(group);
    }

    /// Before the thread ends, writes the remaining work that no caller waits for. Logs failures.
    fn write_waiting(&self) {
        let waiting = || self.waiting.lock();
        if !waiting().is_empty() && self.begin().is_ok() {
            let mut group = Group::default();
            self.run_waiting(&mut group);
            self.end(group);
        }
        for aside in waiting().drain(..) {
            tracing::warn!("{}", aside.failed);
        }
    }

    /// Runs the work that no caller waits for.
    fn run_waiting(&self, group: &mut Group) {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        for aside in waiting {
            if group.lost.is_none() {
                let (work, faults) = (Arc::clone(&aside.work), Arc::clone(&self.faults));
                let (ran, ended) = self.in_savepoint(Box::new(move |conn| {
                    let result =
                        conn.and_then(|conn| work(conn).map_err(|e| faults.store_error(e)));
                    Ran { failed: result.err(), tell: Box::new(|_| {}) }
                }));
                group.lost = ended.err();
                if group.lost.is_none()
                    && let Some(error) = ran.failed
                {
                    tracing::warn!(%error, "{}", aside.failed);
                    continue;
                }
            }
            group.asides.push(aside);
        }
    }

    /// Runs one more request in the transaction. If the transaction was already rolled back, the
    /// request gets the transaction's error instead.
    fn run_in_group(&self, work: Work, group: &mut Group) {
        let (one, ended) = match group.lost.clone() {
            Some(error) => (work(Err(error.clone())), Err(error)),
            None => self.in_savepoint(work),
        };
        group.ran.push(one);
        group.lost = ended.err();
    }

    /// Runs one request in a savepoint. The second value is an error if SQLite rolled back the
    /// whole transaction, as it does when the disk is full.
    fn in_savepoint(&self, work: Work) -> (Ran, Result<(), StoreError>) {
        if let Err(error) = self.execute("SAVEPOINT request") {
            return (work(Err(error.clone())), Err(error));
        }
        let ran = work(Ok(&self.conn));
        let ended = match ran.failed.clone() {
            // If the transaction is gone, so is the savepoint.
            Some(error) if self.conn.is_autocommit() => return (ran, Err(error)),
            Some(_) => {
                self.execute("ROLLBACK TO request").and_then(|()| self.execute("RELEASE request"))
            }
            None => self.execute("RELEASE request"),
        };
        (ran, ended)
    }

    fn begin(&self) -> Result<(), StoreError> {
        match self.faults.refusal() {
            Some(refusal) => Err(refusal),
            // The transaction takes the write lock before its first read, because a transaction
            // that takes the lock later can fail in the middle.
            None => self.execute("BEGIN IMMEDIATE"),
        }
    }

    /// Commits the group and sends the results to the callers. If the transaction fails, the
    /// requests that no caller waits for are kept for the next transaction.
    fn end(&self, group: Group) {
        let lost = group.lost.or_else(|| self.execute("COMMIT").err());
        if lost.is_some() {
            self.roll_back();
            let mut waiting = self.waiting.lock();
            // This work is put before work that arrived meanwhile, so that the order of writes is
            // kept.
            let later = std::mem::replace(&mut *waiting, group.asides);
            waiting.extend(later);
        }
        for one in group.ran {
            (one.tell)(lost.clone());
        }
    }

    fn roll_back(&self) {
        // SQLite may already have rolled back the transaction.
        if !self.conn.is_autocommit()
            && let Err(error) = self.execute("ROLLBACK")
        {
            tracing::error!(%error, "a failed transaction could not be rolled back");
        }
    }

    fn execute(&self, sql: &str) -> Result<(), StoreError> {
        let done = self.conn.prepare_cached(sql).and_then(|mut statement| statement.execute([]));
        done.map(drop).map_err(|e| self.faults.store_error(e.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::poll_fn,
        path::{Path, PathBuf},
        pin::pin,
        sync::mpsc::{Receiver, Sender, channel},
        task::Poll,
    };

    use super::*;

    fn writer() -> Writer {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE t (n INTEGER UNIQUE)").unwrap();
        Writer::start(conn, Arc::new(Faults::new(Path::new("test"), PathBuf::new()))).unwrap()
    }

    fn insert(n: i64) -> impl Fn(&Connection) -> Result<(), DbError> + Send + Sync + 'static {
        move |conn| Ok(conn.execute("INSERT INTO t VALUES (?1)", [n]).map(drop)?)
    }

    fn all(conn: &Connection) -> Result<Vec<i64>, DbError> {
        Ok(conn
            .prepare("SELECT n FROM t ORDER BY n")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?)
    }

    /// Keeps the thread inside a transaction until the sender is dropped.
    fn held(
        writer: &Arc<Writer>,
    ) -> (tokio::task::JoinHandle<Result<(), StoreError>>, Receiver<()>, Sender<()>) {
        let (begun, has_begun) = channel();
        let (release, released) = channel::<()>();
        let writer = Arc::clone(writer);
        let work = tokio::spawn(async move {
            let work = move |_: &Connection| {
                let _ = begun.send(());
                let _ = released.recv();
                Ok(())
            };
            writer.call(OnDisk::Later, work).await
        });
        (work, has_begun, release)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn deferred_writes_are_applied_before_later_requests() {
        let writer = Arc::new(writer());
        writer.with_next(insert(1), "one");
        assert_eq!(writer.call(OnDisk::Now, all).await, Ok(vec![1]));
        let (first, has_begun, release) = held(&writer);
        has_begun.recv().unwrap();
        writer.with_next(insert(2), "two");
        let mut reading = pin!(writer.call(OnDisk::Later, all));
        poll_fn(|cx| {
            assert!(reading.as_mut().poll(cx).is_pending(), "it is sent, and waits");
            Poll::Ready(())
        })
        .await;
        drop(release);
        assert_eq!((first.await.unwrap(), reading.await), (Ok(()), Ok(vec![1, 2])));
    }

    #[tokio::test]
    async fn a_failed_deferred_write_does_not_undo_other_writes() {
        let writer = writer();
        writer.with_next(insert(1), "one");
        writer.with_next(insert(1), "the same again cannot be");
        writer.with_next(insert(2), "two");
        assert_eq!(writer.call(OnDisk::Now, insert(3)).await, Ok(()));
        assert!(
            writer.call(OnDisk::Now, insert(3)).await.is_err(),
            "a separate request is still notified"
        );
        assert_eq!(writer.call(OnDisk::Now, all).await, Ok(vec![1, 2, 3]));
    }

    #[tokio::test]
    async fn deferred_writes_are_retried_after_a_lost_transaction_and_at_shutdown() {
        let writer = writer();
        writer.with_next(insert(1), "one");
        // SQLite also ends the transaction when the disk is full.
        let failing = |conn: &Connection| {
            conn.execute_batch("ROLLBACK")?;
            Err::<(), _>(DbError::Refused("no".into()))
        };
        assert!(writer.call(OnDisk::Now, failing).await.is_err());
        assert_eq!(writer.call(OnDisk::Now, all).await, Ok(vec![1]));
        writer.with_next(insert(2), "two");
        let (send, left) = channel();
        writer.close(move |conn| {
            let _ = send.send(all(&conn).unwrap());
        });
        assert_eq!(left.recv(), Ok(vec![1, 2]));
        writer.with_next(insert(3), "it is closed");
        assert_eq!(writer.call(OnDisk::Now, all).await, Err(closed(Ended)));
        assert!(writer.waiting.lock().is_empty());
    }
}
