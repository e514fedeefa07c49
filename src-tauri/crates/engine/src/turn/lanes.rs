//! Keeps one lane per session: the running turn, the waiting messages, and the lock that orders
//! effects.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use contract::{AgentError, AgentId, Caller, QueuedMessage, SessionId, TurnId};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The name of the session value that stores the waiting messages, so that they survive a crash.
pub(crate) const QUEUE_KEY: &str = "$queue";
/// The session id of calls that name no session.
pub(crate) const DIRECT: &str = "direct";

/// An accepted message with the options for its answer.
#[derive(Clone, Debug)]
pub(crate) struct Accepted {
    pub(crate) turn: TurnId,
    pub(crate) text: String,
    pub(crate) model: Option<String>,
    pub(crate) agent: Option<AgentId>,
    pub(crate) caller: Caller,
}

impl Accepted {
    /// Creates an entry for a turn without a message: a direct tool call, or a decision about such
    /// a call.
    pub(crate) fn without_message(turn: TurnId) -> Self {
        Self { turn, text: String::new(), model: None, agent: None, caller: Caller::inside() }
    }
}

struct Lane {
    running: Option<(TurnId, CancellationToken)>,
    queue: VecDeque<Accepted>,
    effects: Arc<tokio::sync::Mutex<()>>,
    /// Whether the session is being deleted and accepts no messages.
    is_closed: bool,
    /// The number of finished effects. When it changes, waiting proposals compute their previews
    /// again.
    changed: watch::Sender<u64>,
}

impl Default for Lane {
    fn default() -> Self {
        Self {
            running: None,
            queue: VecDeque::new(),
            effects: Arc::default(),
            is_closed: false,
            changed: watch::channel(0).0,
        }
    }
}

impl Lane {
    /// Whether the lane can be removed, because no turn runs or waits, no deletion is in progress,
    /// and no task holds its lock or watches it.
    fn is_idle(&self) -> bool {
        self.running.is_none()
            && !self.is_closed
            && self.queue.is_empty()
            // A task that holds the lock has a clone of it. A lock created later would not exclude
            // that task.
            && Arc::strong_count(&self.effects) == 1
            && self.changed.receiver_count() == 0
    }
}

/// The result of adding a message to a lane.
#[derive(Debug)]
pub(crate) enum Entered {
    /// The turn runs.
    Started(CancellationToken),
    /// Another turn runs. The message waits.
    Queued,
    /// The session is being deleted.
    Closed,
}

/// The lane of a session that accepts no messages until this value is dropped.
pub(crate) struct ClosedLane {
    lanes: Arc<Lanes>,
    session: SessionId,
}

impl Drop for ClosedLane {
    fn drop(&mut self) {
        if let Some(lane) = self.lanes.lock().get_mut(&self.session) {
            lane.is_closed = false;
        }
    }
}

/// The state of a turn when it was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CancelledAt {
    /// The turn was running and ends by itself.
    Running,
    /// The message was waiting and was removed from the queue. Its turn never begins.
    Waiting,
    Nothing,
}

/// The number of lanes that are kept before idle lanes are removed.
const KEPT: usize = 1_024;

/// The lanes of all sessions.
#[derive(Default)]
pub(crate) struct Lanes {
    lanes: Mutex<HashMap<SessionId, Lane>>,
    /// The number of lanes at which idle lanes are next searched for.
    most: AtomicUsize,
    /// The number of running turns. It changes only while `lanes` is locked.
    running: watch::Sender<u32>,
}

impl Lanes {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Lane>> {
        self.lanes.lock()
    }

    /// Closes the lane of a session before its deletion. Returns none if a turn runs or the session
    /// is already being deleted.
    pub(crate) fn close(self: &Arc<Self>, session: &SessionId) -> Option<ClosedLane> {
        let mut lanes = self.lock();
        let lane = lanes.entry(session.clone()).or_default();
        if lane.running.is_some() || lane.is_closed {
            return None;
        }
        lane.is_closed = true;
        Some(ClosedLane { lanes: Arc::clone(self), session: session.clone() })
    }

    pub(crate) fn is_closed(&self, session: &SessionId) -> bool {
        self.lock().get(session).is_some_and(|lane| lane.is_closed)
    }

    /// Starts the message, puts it into the queue, or refuses it.
    pub(crate) fn enter(&self, session: &SessionId, accepted: Accepted) -> Entered {
        let mut lanes = self.lock();
        if lanes.len() > self.most.load(Ordering::Relaxed).max(KEPT) {
            lanes.retain(|_, lane| !lane.is_idle());
            // The search visits all lanes. The next search is at twice their number, so that the
            // cost per new lane stays low.
            self.most.store(lanes.len() * 2, Ordering::Relaxed);
        }
        let lane = lanes.entry(session.clone()).or_default();
        if lane.is_closed {
            return Entered::Closed;
        }
        if lane.running.is_some() {
            lane.queue.push_back(accepted);
            return Entered::Queued;
        }
        let token = CancellationToken::new();
        lane.running = Some((accepted.turn, token.clone()));
        self.running.send_modify(|count| *count += 1);
        Entered::Started(token)
    }

    /// Ends the running turn and starts the next message of the queue, if any.
    pub(crate) fn end_and_start_next(
        &self,
        session: &SessionId,
    ) -> Option<(Accepted, CancellationToken)> {
        let mut lanes = self.lock();
        let lane = lanes.get_mut(session)?;
        let ended = lane.running.take().is_some();
        let Some(next) = lane.queue.pop_front() else {
            self.count_ended_turn(ended);
            return None;
        };
        // The next turn immediately replaces the ended turn, so that the count of running turns
        // never drops to zero in between.
        if !ended {
            self.running.send_modify(|count| *count += 1);
        }
        let token = CancellationToken::new();
        lane.running = Some((next.turn.clone(), token.clone()));
        Some((next, token))
    }

    /// Cancels the turn if it runs, or removes it from the queue.
    pub(crate) fn cancel(&self, session: &SessionId, turn: &TurnId) -> CancelledAt {
        let mut lanes = self.lock();
        let Some(lane) = lanes.get_mut(session) else { return CancelledAt::Nothing };
        if let Some((running, token)) = &lane.running
            && running == turn
        {
            token.cancel();
            return CancelledAt::Running;
        }
        let before = lane.queue.len();
        lane.queue.retain(|waiting| waiting.turn != *turn);
        if lane.queue.len() == before { CancelledAt::Nothing } else { CancelledAt::Waiting }
    }

    /// Cancels all running turns and empties all queues. Returns the turns that never begin.
    pub(crate) fn cancel_all(&self) -> Vec<TurnId> {
        let mut waited = Vec::new();
        for lane in self.lock().values_mut() {
            // Ending a cancelled turn starts the next turn of the queue, so the queue is emptied,
            // too.
            waited.extend(lane.queue.drain(..).map(|waiting| waiting.turn));
            if let Some((_, token)) = &lane.running {
                token.cancel();
            }
        }
        waited
    }

    pub(crate) fn running(&self, session: &SessionId) -> Option<TurnId> {
        self.lock().get(session)?.running.as_ref().map(|(turn, _)| turn.clone())
    }

    pub(crate) fn running_count(&self) -> u32 {
        *self.running.borrow()
    }

    /// Waits until no turn runs.
    pub(crate) async fn wait_until_idle(&self) {
        // The sender is in `self`, so the wait cannot fail.
        let _ = self.running.subscribe().wait_for(|count| *count == 0).await;
    }

    /// Lowers the count of running turns if a turn ended.
    fn count_ended_turn(&self, ended: bool) {
        if ended {
            self.running.send_modify(|count| *count = count.saturating_sub(1));
        }
    }

    pub(crate) fn queue(&self, session: &SessionId) -> Vec<QueuedMessage> {
        let lanes = self.lock();
        let Some(lane) = lanes.get(session) else { return Vec::new() };
        lane.queue
            .iter()
            .map(|waiting| QueuedMessage { turn: waiting.turn.clone(), text: waiting.text.clone() })
            .collect()
    }

    /// Returns the lock that makes a session's effects run one after the other.
    pub(crate) fn effects(&self, session: &SessionId) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(&self.lock().entry(session.clone()).or_default().effects)
    }

    pub(crate) fn watch_effects(&self, session: &SessionId) -> watch::Receiver<u64> {
        self.lock().entry(session.clone()).or_default().changed.subscribe()
    }

    pub(crate) fn note_effect_done(&self, session: &SessionId) {
        if let Some(lane) = self.lock().get(session) {
            lane.changed.send_modify(|count| *count += 1);
        }
    }

    /// Removes the lane of a deleted session. A closed lane stays closed.
    pub(crate) fn forget(&self, session: &SessionId) {
        let mut lanes = self.lock();
        let removed = lanes.remove(session);
        if removed.as_ref().is_some_and(|lane| lane.is_closed) {
            // The deletion is still in progress, so a new message must not create the session
            // again.
            lanes.insert(session.clone(), Lane { is_closed: true, ..Lane::default() });
        }
        self.count_ended_turn(removed.is_some_and(|lane| lane.running.is_some()));
    }
}

pub(crate) fn closed_error() -> AgentError {
    AgentError::invalid("This session is being deleted right now.").hint("Start a new session.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(turn: &str) -> Accepted {
        Accepted {
            turn: turn.into(),
            text: String::new(),
            model: None,
            agent: None,
            caller: Caller::inside(),
        }
    }

    #[test]
    fn idle_lanes_are_removed_and_busy_or_watched_lanes_stay() {
        let lanes = Lanes::default();
        let (busy, watched) = (SessionId::from("busy"), SessionId::from("watched"));
        lanes.enter(&busy, accepted("t"));
        let watching = lanes.watch_effects(&watched);
        for n in 0..KEPT * 4 {
            let session = SessionId::from(format!("s{n}"));
            lanes.enter(&session, accepted("t"));
            lanes.end_and_start_next(&session);
        }
        assert!(lanes.lock().len() <= KEPT + 3, "{}", lanes.lock().len());
        assert_eq!(lanes.running(&busy), Some("t".into()));
        lanes.note_effect_done(&watched);
        assert!(watching.has_changed().unwrap(), "who watches is told");
    }

    #[tokio::test]
    async fn lanes_become_idle_when_no_turn_runs_or_waits() {
        let lanes = Lanes::default();
        lanes.wait_until_idle().await;
        let (first, second) = (SessionId::from("first"), SessionId::from("second"));
        for (session, turn) in [(&first, "a"), (&first, "b"), (&second, "c")] {
            lanes.enter(session, accepted(turn));
        }
        let mut idle = std::pin::pin!(lanes.wait_until_idle());
        let mut is_idle = || {
            std::future::Future::poll(
                idle.as_mut(),
                &mut std::task::Context::from_waker(std::task::Waker::noop()),
            )
            .is_ready()
        };
        assert!(!is_idle());
        assert!(lanes.end_and_start_next(&first).is_some(), "b follows a");
        assert_eq!((lanes.running_count(), is_idle()), (2, false));
        assert!(
            lanes.end_and_start_next(&first).is_none()
                && lanes.end_and_start_next(&first).is_none()
        );
        assert_eq!((lanes.running_count(), is_idle()), (1, false));
        lanes.forget(&second);
        assert!(
            lanes.end_and_start_next(&second).is_none(),
            "a forgotten lane is not counted twice"
        );
        assert_eq!((lanes.running_count(), is_idle()), (0, true));
    }
}
