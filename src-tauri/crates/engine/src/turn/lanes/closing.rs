//! Closes the lanes of sessions for a deletion or for a change of the shown messages, and waits for
//! work that is about to end. Must not know how data is deleted or changed.

use std::{sync::Arc, time::Duration};

use contract::{AgentError, SessionId};

use super::{Lane, Lanes, busy_error};

/// The longest wait for work of a session that is about to end.
const PATIENCE: Duration = Duration::from_secs(3);

/// The reason why a session accepts no messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    /// The session is being deleted.
    Deletion,
    /// Other messages of the session are about to be shown.
    Change,
}

impl Closing {
    /// Returns the error of a message or a call that the session does not accept.
    pub(crate) fn error(self) -> AgentError {
        match self {
            Self::Deletion => AgentError::invalid("This session is being deleted right now.")
                .hint("Start a new session."),
            Self::Change => AgentError::invalid("The messages of this session change right now.")
                .hint("Send the message again in a moment."),
        }
    }
}

/// The lane of a session that accepts no messages until this value is dropped.
pub(crate) struct ClosedLane {
    lanes: Arc<Lanes>,
    session: SessionId,
}

impl Drop for ClosedLane {
    fn drop(&mut self) {
        if let Some(lane) = self.lanes.lock().get_mut(&self.session) {
            lane.closed = None;
        }
        self.lanes.turned.notify_waiters();
    }
}

impl Lanes {
    /// Closes the lane of a session. Returns none if a turn runs or the lane is already closed. An
    /// answered turn does not hinder a change of the shown messages.
    pub(crate) fn close(self: &Arc<Self>, session: &SessionId, why: Closing) -> Option<ClosedLane> {
        let mut lanes = self.lock();
        let lane = lanes.entry(session.clone()).or_default();
        let is_free = match why {
            // The turn must not write into a session that is deleted.
            Closing::Deletion => lane.running.is_none(),
            Closing::Change => lane.is_at_rest(),
        };
        if !is_free || lane.closed.is_some() {
            return None;
        }
        lane.closed = Some(why);
        Some(ClosedLane { lanes: Arc::clone(self), session: session.clone() })
    }

    /// Fails if the session accepts no messages now.
    pub(crate) fn check_open(&self, session: &SessionId) -> Result<(), AgentError> {
        let closed = self.lock().get(session).and_then(|lane| lane.closed);
        closed.map_or(Ok(()), |why| Err(why.error()))
    }

    /// Fails if a turn of the session answers a message, or if a message waits.
    pub(crate) fn check_at_rest(&self, session: &SessionId) -> Result<(), AgentError> {
        match self.lock().get(session).is_none_or(Lane::is_at_rest) {
            true => Ok(()),
            false => Err(busy_error()),
        }
    }

    /// Waits until the shown messages of a session do not change any more, but not long.
    pub(crate) async fn wait_while_changing(&self, session: &SessionId) {
        self.wait_while(session, |lane| lane.closed == Some(Closing::Change)).await;
    }

    /// Waits for work that would prevent the closing of a lane and is about to end, but not long.
    pub(crate) async fn wait_to_close(&self, session: &SessionId, why: Closing) {
        match why {
            Closing::Change => self.wait_while_changing(session).await,
            Closing::Deletion => {
                let is_ending =
                    |lane: &Lane| lane.closed == Some(Closing::Change) || lane.is_completing();
                self.wait_while(session, is_ending).await;
            }
        }
    }

    async fn wait_while(&self, session: &SessionId, holds: impl Fn(&Lane) -> bool) {
        let waiting = async {
            loop {
                let mut turned = std::pin::pin!(self.turned.notified());
                // Registered before the state is read, so that no change is missed.
                turned.as_mut().enable();
                if self.lock().get(session).is_none_or(|lane| !holds(lane)) {
                    return;
                }
                turned.await;
            }
        };
        // After that, the caller finds the lane as it is then.
        let _ = tokio::time::timeout(PATIENCE, waiting).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turn::lanes::Accepted;

    #[tokio::test]
    async fn work_that_is_about_to_end_is_waited_for() {
        let lanes = Arc::new(Lanes::default());
        let session = SessionId::from("s");
        lanes.wait_while_changing(&session).await;
        let closed = lanes.close(&session, Closing::Change).expect("free");
        let ending = async {
            tokio::task::yield_now().await;
            drop(closed);
        };
        tokio::join!(lanes.wait_while_changing(&session), ending);
        lanes.check_open(&session).unwrap();

        lanes.enter(&session, Accepted::without_message("a".into()));
        lanes.wait_to_close(&session, Closing::Deletion).await;
        assert_eq!(lanes.running(&session), Some("a".into()), "its end is not near");
        lanes.note_answered(&session, &"a".into());
        let ending = async {
            tokio::task::yield_now().await;
            lanes.end_and_start_next(&session, &"a".into());
        };
        tokio::join!(lanes.wait_to_close(&session, Closing::Deletion), ending);
        assert!(lanes.close(&session, Closing::Deletion).is_some());
    }
}
