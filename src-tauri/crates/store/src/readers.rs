//! A few threads that only read, each with its own connection, opened on first use. Reads of a few
//! rows use further connections on the caller's thread. A read sees everything that was committed
//! before the read began.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use parking_lot::Mutex;
use std::thread::JoinHandle;

use engine::ports::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::connection::{self, Mode};
use crate::error::{DbError, Faults};

const THREADS: usize = 2;

type Work = Box<dyn FnOnce(Result<&Connection, StoreError>) + Send>;
type Running = (Sender<Work>, Vec<JoinHandle<()>>);

/// Passes reads to the threads.
pub(crate) struct Readers {
    state: Mutex<Option<Running>>,
    /// The idle connections. None after the readers were closed.
    idle: Mutex<Option<Vec<Connection>>>,
    path: PathBuf,
    mode: Mode,
    faults: Arc<Faults>,
}

impl Readers {
    pub(crate) fn start(path: &Path, mode: Mode, faults: &Arc<Faults>) -> std::io::Result<Self> {
        let (send, receive) = channel();
        let receive = Arc::new(Mutex::new(receive));
        let mut threads = Vec::new();
        for n in 0..THREADS {
            let (path, receive, faults) =
                (path.to_owned(), Arc::clone(&receive), Arc::clone(faults));
            threads.push(
                std::thread::Builder::new()
                    .name(format!("store-reader-{n}"))
                    .spawn(move || run(&path, mode, &receive, &faults))?,
            );
        }
        let idle = Mutex::new(Some(Vec::new()));
        Ok(Self {
            state: Mutex::new(Some((send, threads))),
            idle,
            path: path.to_owned(),
            mode,
            faults: Arc::clone(faults),
        })
    }

    /// Runs a read on a thread.
    pub(crate) async fn call<T, F>(&self, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let faults = Arc::clone(&self.faults);
        self.send(Box::new(move |conn| {
            // The caller may have stopped waiting.
            let _ = reply.send(conn.and_then(|conn| read(conn).map_err(|e| faults.store_error(e))));
        }))?;
        answer.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Runs a short read on the caller's thread.
    pub(crate) fn read_here<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, DbError>,
    ) -> Result<T, StoreError> {
        let idle = || self.idle.lock();
        // The lock is not held during the read, because each thread takes its own connection.
        let conn = match idle().as_mut().ok_or_else(closed)?.pop() {
            Some(conn) => conn,
            None => connection::reader(&self.path, self.mode)
                .map_err(|e| self.faults.store_error(e.into()))?,
        };
        let result = read(&conn).map_err(|e| self.faults.store_error(e));
        if let Some(idle) = idle().as_mut() {
            idle.push(conn);
        }
        result
    }

    /// Ends the threads after all earlier reads.
    pub(crate) fn close(&self) {
        drop(self.idle.lock().take());
        let taken = self.state.lock().take();
        let Some((send, threads)) = taken else { return };
        // Without a sender, each thread ends as soon as the queue is empty.
        drop(send);
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a reader of the store ended with a panic");
            }
        }
    }

    fn send(&self, work: Work) -> Result<(), StoreError> {
        let state = self.state.lock();
        let (send, _) = state.as_ref().ok_or_else(closed)?;
        send.send(work).map_err(|_| closed())
    }
}

fn closed() -> StoreError {
    StoreError::Failed("the database is closed".into())
}

fn run(path: &Path, mode: Mode, receive: &Mutex<Receiver<Work>>, faults: &Faults) {
    let mut open = None;
    loop {
        // The lock is held while the thread waits: one thread waits for work, and the other threads
        // wait for the lock.
        let next = receive.lock().recv();
        let Ok(work) = next else { return };
        if open.is_none() {
            match connection::reader(path, mode) {
                Ok(conn) => open = Some(conn),
                Err(error) => {
                    work(Err(faults.store_error(error.into())));
                    continue;
                }
            }
        }
        if let Some(conn) = &open {
            work(Ok(conn));
        }
    }
}
