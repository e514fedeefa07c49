//! Keeps one lane per session: the running turn, the waiting messages, and the lock that orders
//! effects. `closing` closes lanes.

mod closing;

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use contract::{AgentError, AgentId, Caller, QueuedMessage, SessionId, TurnId};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

pub(crate) use self::closing::{ClosedLane, Closing};

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
    /// The turn that the message replaces. Such a message never waits.
    pub(crate) replaces: Option<TurnId>,
}

impl Accepted {
    /// Creates an entry for a turn without a message: a direct tool call, or a decision about such
    /// a call.
    pub(crate) fn without_message(turn: TurnId) -> Self {
        Self {
            turn,
            text: String::new(),
            model: None,
            agent: None,
            caller: Caller::inside(),
            replaces: None,
        }
    }
}

/// The running turn of a lane.
struct Running {
    turn: TurnId,
    cancel: CancellationToken,
    /// Whether the turn has saved its answer and sends no further event. It still completes its
    /// memories, which may take as long as a summary.
    is_answered: bool,
}

impl Running {
    /// Returns a turn that begins, and the token that cancels it.
    fn begin(turn: TurnId) -> (Self, CancellationToken) {
        let cancel = CancellationToken::new();
        (Self { turn, cancel: cancel.clone(), is_answered: false }, cancel)
    }
}

struct Lane {
    running: Option<Running>,
    queue: VecDeque<Accepted>,
    effects: Arc<tokio::sync::Mutex<()>>,
    /// The reason why the session accepts no messages now.
    closed: Option<Closing>,
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
            closed: None,
            changed: watch::channel(0).0,
        }
    }
}

impl Lane {
    /// Whether the lane can be removed, because no turn runs or waits, the session is not closed,
    /// and no task holds its lock or watches it.
    fn is_idle(&self) -> bool {
        self.running.is_none()
            && self.closed.is_none()
            && self.queue.is_empty()
            // A task that holds the lock has a clone of it. A lock created later would not exclude
            // that task.
            && Arc::strong_count(&self.effects) == 1
            && self.changed.receiver_count() == 0
    }

    /// Whether a turn runs that was answered, and no message waits for its end.
    fn is_completing(&self) -> bool {
        self.queue.is_empty() && self.running.as_ref().is_some_and(|running| running.is_answered)
    }

    /// Whether no turn answers a message, and none waits. The work after an answer checks itself
    /// whether its messages are shown, so other messages may be shown meanwhile.
    fn is_at_rest(&self) -> bool {
        self.running.is_none() || self.is_completing()
    }
}

/// The result of adding a message to a lane.
#[derive(Debug)]
pub(crate) enum Entered {
    /// The turn runs.
    Started(CancellationToken),
    /// Another turn runs. The message waits.
    Queued,
    /// Another turn runs, and the message must not wait.
    Busy,
    /// The session accepts no messages.
    Closed(Closing),
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
    /// Notified when a turn ends and when a lane is opened again.
    turned: Notify,
}

impl Lanes {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Lane>> {
        self.lanes.lock()
    }

    /// Notes that a turn has saved its answer and is about to send its last event.
    pub(crate) fn note_answered(&self, session: &SessionId, turn: &TurnId) {
        let mut lanes = self.lock();
        let running = lanes.get_mut(session).and_then(|lane| lane.running.as_mut());
        if let Some(running) = running.filter(|running| running.turn == *turn) {
            running.is_answered = true;
        }
    }

    /// Starts the message, puts it into the queue, or refuses it. A message that replaces another
    /// takes the place of a turn that was answered: it hides that turn's messages, so it need not
    /// wait for their memories.
    pub(crate) fn enter(&self, session: &SessionId, accepted: Accepted) -> Entered {
        let mut lanes = self.lock();
        if lanes.len() > self.most.load(Ordering::Relaxed).max(KEPT) {
            lanes.retain(|_, lane| !lane.is_idle());
            // The search visits all lanes. The next search is at twice their number, so that the
            // cost per new lane stays low.
            self.most.store(lanes.len() * 2, Ordering::Relaxed);
        }
        let lane = lanes.entry(session.clone()).or_default();
        if let Some(why) = lane.closed {
            return Entered::Closed(why);
        }
        match &lane.running {
            Some(_) if accepted.replaces.is_none() => {
                lane.queue.push_back(accepted);
                return Entered::Queued;
            }
            Some(_) if !lane.is_at_rest() => return Entered::Busy,
            // The new turn takes the place of the answered turn in the count as well.
            Some(_) => {}
            None => self.running.send_modify(|count| *count += 1),
        }
        let (running, cancel) = Running::begin(accepted.turn);
        lane.running = Some(running);
        Entered::Started(cancel)
    }

    /// Ends a turn and starts the next message of the queue, if any. Returns none if another turn
    /// has taken the place of the turn.
    pub(crate) fn end_and_start_next(
        &self,
        session: &SessionId,
        turn: &TurnId,
    ) -> Option<(Accepted, CancellationToken)> {
        let mut lanes = self.lock();
        let lane = lanes.get_mut(session)?;
        if lane.running.as_ref().is_none_or(|running| running.turn != *turn) {
            return None;
        }
        // The next turn immediately replaces the ended turn, so that the count of running turns
        // never drops to zero in between.
        let next = lane.queue.pop_front().map(|next| {
            let (running, cancel) = Running::begin(next.turn.clone());
            (next, running, cancel)
        });
        let Some((next, running, cancel)) = next else {
            lane.running = None;
            self.count_ended_turn(true);
            self.turned.notify_waiters();
            return None;
        };
        lane.running = Some(running);
        self.turned.notify_waiters();
        Some((next, cancel))
    }

    /// Cancels the turn if it runs, or removes it from the queue.
    pub(crate) fn cancel(&self, session: &SessionId, turn: &TurnId) -> CancelledAt {
        let mut lanes = self.lock();
        let Some(lane) = lanes.get_mut(session) else { return CancelledAt::Nothing };
        if let Some(running) = lane.running.as_ref().filter(|running| running.turn == *turn) {
            running.cancel.cancel();
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
            if let Some(running) = &lane.running {
                running.cancel.cancel();
            }
        }
        waited
    }

    pub(crate) fn running(&self, session: &SessionId) -> Option<TurnId> {
        self.lock().get(session)?.running.as_ref().map(|running| running.turn.clone())
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
        let closed = removed.as_ref().and_then(|lane| lane.closed);
        if closed.is_some() {
            // The deletion is still in progress, so a new message must not create the session
            // again.
            lanes.insert(session.clone(), Lane { closed, ..Lane::default() });
        }
        self.count_ended_turn(removed.is_some_and(|lane| lane.running.is_some()));
    }
}

pub(crate) fn busy_error() -> AgentError {
    AgentError::invalid("This session is being answered right now.")
        .hint("Stop the turn first, or try again when it has ended.")
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
            replaces: None,
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
            lanes.end_and_start_next(&session, &"t".into());
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
        let end = |session, turn: &str| lanes.end_and_start_next(session, &turn.into());
        assert!(end(&first, "a").is_some(), "b follows a");
        assert_eq!((lanes.running_count(), is_idle()), (2, false));
        assert!(end(&first, "b").is_none() && end(&first, "b").is_none());
        assert_eq!((lanes.running_count(), is_idle()), (1, false));
        lanes.forget(&second);
        assert!(end(&second, "c").is_none(), "a forgotten lane is not counted twice");
        assert_eq!((lanes.running_count(), is_idle()), (0, true));
    }

    #[test]
    fn an_answered_turn_gives_its_place_to_a_message_that_replaces_another() {
        let lanes = Arc::new(Lanes::default());
        let session = SessionId::from("s");
        let edit = |turn: &str| Accepted { replaces: Some("old".into()), ..accepted(turn) };
        lanes.enter(&session, accepted("a"));
        assert!(matches!(lanes.enter(&session, edit("b")), Entered::Busy));
        assert!(lanes.check_at_rest(&session).is_err());
        assert!(lanes.close(&session, Closing::Change).is_none());
        lanes.note_answered(&session, &"another".into());
        assert!(lanes.check_at_rest(&session).is_err(), "another turn was answered");

        lanes.note_answered(&session, &"a".into());
        lanes.check_at_rest(&session).unwrap();
        drop(lanes.close(&session, Closing::Change).expect("no message changes any more"));
        assert!(lanes.close(&session, Closing::Deletion).is_none(), "it still writes");
        assert!(matches!(lanes.enter(&session, edit("b")), Entered::Started(_)));
        assert_eq!((lanes.running(&session), lanes.running_count()), (Some("b".into()), 1));
        assert!(lanes.end_and_start_next(&session, &"a".into()).is_none());
        assert_eq!((lanes.running(&session), lanes.running_count()), (Some("b".into()), 1));

        // A message that waits comes first.
        lanes.note_answered(&session, &"b".into());
        assert!(matches!(lanes.enter(&session, accepted("c")), Entered::Queued));
        assert!(matches!(lanes.enter(&session, edit("d")), Entered::Busy));
        assert!(lanes.close(&session, Closing::Change).is_none());
        assert!(lanes.end_and_start_next(&session, &"b".into()).is_some());
        assert!(lanes.end_and_start_next(&session, &"c".into()).is_none());
        assert_eq!((lanes.running(&session), lanes.running_count()), (None, 0));
    }
}
