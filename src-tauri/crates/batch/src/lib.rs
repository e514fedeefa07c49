//! A worker thread for batches: the thread takes a message together with the messages queued behind
//! it, so that requests that arrive while the thread is busy share the next transaction. The crate
//! owns the queue and ends the thread. The crate must not know the messages or any database: the
//! code that runs on the thread has the SQL and decides which messages belong together.
#![forbid(unsafe_code)]

use std::{
    fmt,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread::{Builder, JoinHandle},
    time::Duration,
};

use parking_lot::Mutex;

/// Sends messages to a thread until the thread ends.
pub struct Worker<M>(Mutex<Option<Running<M>>>);

struct Running<M> {
    queue: Sender<M>,
    thread: JoinHandle<()>,
}

/// The thread has ended, so the message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended;

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the thread has ended")
    }
}

impl std::error::Error for Ended {}

impl<M: Send + 'static> Worker<M> {
    /// Starts a thread that runs `work` with the messages sent to it. Fails if the system cannot
    /// start a thread.
    pub fn start(
        name: &str,
        work: impl FnOnce(Inbox<M>) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (queue, receiver) = channel();
        let inbox = Inbox { receiver, kept: None };
        let thread = Builder::new().name(name.to_owned()).spawn(move || work(inbox))?;
        Ok(Self(Mutex::new(Some(Running { queue, thread }))))
    }

    /// A worker that takes no messages.
    pub fn ended() -> Self {
        Self(Mutex::new(None))
    }

    /// Sends a message. Messages arrive in the order in which they were sent.
    pub fn send(&self, message: M) -> Result<(), Ended> {
        let running = self.0.lock();
        running.as_ref().ok_or(Ended)?.queue.send(message).map_err(|_| Ended)
    }

    /// Runs `act` unless `end` was called. `end` waits for `act`, so everything that `act` sends
    /// comes before the last message.
    pub fn run_unless_ended<T>(&self, act: impl FnOnce() -> T) -> Result<T, Ended> {
        let running = self.0.lock();
        if running.is_some() { Ok(act()) } else { Err(Ended) }
    }

    /// Sends a last message, if there is one, and waits for the end of the thread. Returns false if
    /// the thread panicked.
    pub fn end(&self, last: Option<M>) -> bool {
        let Some(Running { queue, thread }) = self.0.lock().take() else { return true };
        let is_taken = last.is_none_or(|message| queue.send(message).is_ok());
        // The thread ends when no sender is left, even if there is no last message.
        drop(queue);
        // The thread has already ended if it did not take the message.
        !is_taken || thread.join().is_ok()
    }
}

/// The messages of the thread.
pub struct Inbox<M> {
    receiver: Receiver<M>,
    /// A received message that starts the next batch, because the message did not belong to the
    /// previous batch.
    kept: Option<M>,
}

impl<M> Inbox<M> {
    /// Waits for the first message of a batch. Returns None if no message can come any more.
    pub fn first(&mut self) -> Option<M> {
        self.kept.take().or_else(|| self.receiver.recv().ok())
    }

    /// Waits for the first message of a batch for at most this time.
    pub fn first_within(&mut self, time: Duration) -> Result<M, RecvTimeoutError> {
        self.kept.take().map_or_else(|| self.receiver.recv_timeout(time), Ok)
    }

    /// Takes the next message of the batch without waiting. A message that does not belong to the
    /// batch is kept as the first message of the next batch.
    pub fn next_if(&mut self, belongs: impl FnOnce(&M) -> bool) -> Option<M> {
        let message = self.kept.take().or_else(|| self.receiver.try_recv().ok())?;
        if belongs(&message) {
            return Some(message);
        }
        self.kept = Some(message);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a worker whose batches contain only even or only odd numbers, and which sends each
    /// batch to the test.
    fn parities() -> (Worker<u32>, Receiver<Vec<u32>>, Sender<()>) {
        let (batches, received) = channel();
        let (go, may_go) = channel::<()>();
        let worker = Worker::start("parities", move |mut inbox: Inbox<u32>| {
            let _ = may_go.recv();
            while let Some(first) = inbox.first() {
                let mut batch = vec![first];
                while let Some(next) = inbox.next_if(|next| next % 2 == first % 2) {
                    batch.push(next);
                }
                let _ = batches.send(batch);
            }
        });
        (worker.unwrap(), received, go)
    }

    #[test]
    fn waiting_messages_are_batched_together_in_their_order() {
        let (worker, received, go) = parities();
        for n in [1, 3, 2, 4, 5] {
            worker.send(n).unwrap();
        }
        drop(go);
        assert!(worker.end(Some(7)));
        assert_eq!(received.iter().collect::<Vec<_>>(), [vec![1, 3], vec![2, 4], vec![5, 7]]);
    }

    #[test]
    fn an_ended_worker_accepts_no_message() {
        let (worker, received, go) = parities();
        drop(go);
        assert_eq!(worker.run_unless_ended(|| 1), Ok(1));
        assert!(worker.end(None) && worker.end(Some(1)), "a second end changes nothing");
        assert_eq!((worker.send(1), worker.run_unless_ended(|| 1)), (Err(Ended), Err(Ended)));
        assert_eq!(received.iter().count(), 0);
        assert_eq!(Worker::<u32>::ended().send(1), Err(Ended));
    }

    #[test]
    fn a_panicked_worker_fails_when_ended_and_an_empty_inbox_times_out() {
        let worker = Worker::start("panics", |mut inbox: Inbox<u32>| {
            assert_eq!(
                inbox.first_within(Duration::from_millis(1)),
                Err(RecvTimeoutError::Timeout)
            );
            assert_eq!(inbox.first(), Some(2), "fails");
        });
        assert!(!worker.unwrap().end(Some(1)));
    }
}
