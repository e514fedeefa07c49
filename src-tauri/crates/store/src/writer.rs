//! The one thread that writes. Requests that arrive while it works share the next transaction and its sync
//! (group commit); whoever joins runs in a savepoint, so that one that fails takes nothing else with it. What need not be on disk at
//! once shares the sync of what must be.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use engine::ports::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::{DbError, Faults};

/// Requests that share a transaction at most.
const GROUP: usize = 256;

/// When what was written is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDisk {
    /// Before the caller hears of it.
    Now,
    /// With the next write that is there at once: a crash of the program takes nothing, a power cut what came since that write.
    Later,
}

/// Gets the connection within a transaction, or why there is none.
type Work = Box<dyn FnOnce(Result<&Connection, StoreError>) -> Ran + Send>;
type Closing = Box<dyn FnOnce(Connection) + Send>;

/// A request that ran but is not committed yet.
struct Ran {
    failed: Option<StoreError>,
    /// Answers the caller; `Some` when the transaction was lost.
    tell: Box<dyn FnOnce(Option<StoreError>) + Send>,
}

enum Message {
    Work(OnDisk, Work),
    Close(Closing),
}

/// Hands work to the thread.
pub(crate) struct Writer {
    state: Mutex<Option<(Sender<Message>, JoinHandle<()>)>>,
    faults: Arc<Faults>,
}

impl Writer {
    pub(crate) fn start(conn: Connection, faults: Arc<Faults>) -> std::io::Result<Self> {
        let (send, receive) = channel();
        let of_thread = Arc::clone(&faults);
        let thread = std::thread::Builder::new().name("store-writer".into()).spawn(move || run(conn, &receive, &of_thread))?;
        Ok(Self { state: Mutex::new(Some((send, thread))), faults })
    }

    /// Runs `work` in a transaction; returns when it is committed, and on disk where that is wanted.
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
                        (result, _) => result,
                    };
                    // A caller that went away does not want the answer.
                    let _ = reply.send(result);
                }),
            }
        });
        self.send(Message::Work(on_disk, work))?;
        answer.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Ends the thread after everything sent before; `closing` gets the connection.
    pub(crate) fn close(&self, closing: impl FnOnce(Connection) + Send + 'static) {
        let taken = self.state.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((send, thread)) = taken else { return };
        if send.send(Message::Close(Box::new(closing))).is_ok() && thread.join().is_err() {
            tracing::error!("the store's writer ended with a panic");
        }
    }

    fn send(&self, message: Message) -> Result<(), StoreError> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (send, _) = state.as_ref().ok_or_else(closed)?;
        send.send(message).map_err(|_| closed())
    }
}

fn closed() -> StoreError {
    StoreError::Failed("the database is closed".into())
}

fn run(conn: Connection, receive: &Receiver<Message>, faults: &Faults) {
    // As the connection was opened.
    let mut set = OnDisk::Now;
    let mut next = receive.recv().ok();
    while let Some(message) = next {
        match message {
            Message::Close(closing) => return closing(conn),
            Message::Work(on_disk, work) => {
                if on_disk != set {
                    match sync(&conn, on_disk) {
                        Ok(()) => set = on_disk,
                        // More than was asked for is fine, less is not.
                        Err(error) if on_disk == OnDisk::Now => {
                            (work(Err(faults.store_error(error.into()))).tell)(None);
                            next = receive.recv().ok();
                            continue;
                        }
                        Err(error) => tracing::warn!(%error, "every commit is synced: that could not be changed"),
                    }
                }
                next = group(&conn, (set, work), receive, faults).or_else(|| receive.recv().ok());
            }
        }
    }
}

/// Sets what a commit waits for. A commit that syncs takes everything with it that was committed before.
fn sync(conn: &Connection, on_disk: OnDisk) -> rusqlite::Result<()> {
    let level = match on_disk {
        OnDisk::Now => "FULL",
        OnDisk::Later => "NORMAL",
    };
    conn.pragma_update(None, "synchronous", level)
}

/// One transaction. Gives back a message that does not belong in it.
fn group(conn: &Connection, (on_disk, first): (OnDisk, Work), receive: &Receiver<Message>, faults: &Faults) -> Option<Message> {
    let begun = match faults.refusal() {
        Some(refusal) => Err(refusal),
        None => execute(conn, "BEGIN IMMEDIATE").map_err(|e| faults.store_error(e.into())),
    };
    if let Err(error) = begun {
        (first(Err(error)).tell)(None);
        return None;
    }
    let mut ran = Vec::new();
    let mut work = Some(first);
    let mut left = None;
    let mut lost = None;
    while let Some(one) = work.take() {
        if ran.is_empty() {
            // Alone in its transaction, which it ends when it fails.
            let one = one(Ok(conn));
            if one.failed.is_some() {
                roll_back(conn);
                (one.tell)(None);
                return None;
            }
            ran.push(one);
        } else {
            let (one, ended) = in_savepoint(conn, one, faults);
            ran.push(one);
            if let Err(error) = ended {
                lost = Some(error);
                break;
            }
        }
        if ran.len() < GROUP {
            match receive.try_recv() {
                Ok(Message::Work(wanted, more)) if on_disk == OnDisk::Now || wanted == OnDisk::Later => work = Some(more),
                Ok(other) => left = Some(other),
                Err(_) => {}
            }
        }
    }
    if lost.is_none() {
        lost = execute(conn, "COMMIT").err().map(|e| faults.store_error(e.into()));
    }
    if lost.is_some() {
        roll_back(conn);
    }
    for one in ran {
        (one.tell)(lost.clone());
    }
    left
}

fn roll_back(conn: &Connection) {
    // SQLite may have ended it by itself.
    if !conn.is_autocommit()
        && let Err(error) = execute(conn, "ROLLBACK")
    {
        tracing::error!(%error, "a failed transaction could not be rolled back");
    }
}

/// Runs one request beside others. `Err` when the whole transaction is gone: SQLite ends it by itself on a full disk and the like.
fn in_savepoint(conn: &Connection, work: Work, faults: &Faults) -> (Ran, Result<(), StoreError>) {
    if let Err(error) = execute(conn, "SAVEPOINT request") {
        let error = faults.store_error(error.into());
        return (work(Err(error.clone())), Err(error));
    }
    let ran = work(Ok(conn));
    let ended = match ran.failed.clone() {
        Some(error) if conn.is_autocommit() => return (ran, Err(error)),
        Some(_) => execute(conn, "ROLLBACK TO request").and_then(|()| execute(conn, "RELEASE request")),
        None => execute(conn, "RELEASE request"),
    };
    (ran, ended.map_err(|e| faults.store_error(e.into())))
}

fn execute(conn: &Connection, sql: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(sql)?.execute([]).map(drop)
}
