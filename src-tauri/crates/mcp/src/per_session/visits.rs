//! The open session of each conversation at the server. The session is stored with the
//! conversation, so that another process can continue it; this module holds the part that this
//! process uses.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use contract::SessionId;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::call_error::CallError;

/// The number of a session's first request.
pub(super) const FIRST: u64 = 1;
/// How many request numbers a process reserves at once, so that two processes never use the same
/// number and not every call must be written to the store.
const BLOCK: u64 = 1_000;
/// The maximum number of conversations that are kept in memory. Sessions of other conversations are
/// read from the store again.
const MAX_VISITS: usize = 1_024;

/// An open session, as it is stored with its conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// The server at which the session was opened.
    pub server: String,
    /// The name of the session at the server. Some servers return none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub next_rpc: u64,
}

/// Stores open sessions with their conversations.
#[async_trait]
pub trait KeptVisits: Send + Sync {
    /// Replaces the stored session with the result of `change`, and returns it. Returns None if it
    /// could not be stored.
    async fn change(
        &self,
        session: &SessionId,
        change: Box<dyn FnOnce(Option<Open>) -> Option<Open> + Send>,
    ) -> Option<Open>;
}

/// The part of an open session that this process uses.
struct HeldSession {
    session: Option<String>,
    next: u64,
    /// The first request number that is not reserved for this process.
    end: u64,
}

type Visit = Arc<tokio::sync::Mutex<Option<HeldSession>>>;

/// Conversations with the turn of their last use, and the newest turn.
#[derive(Default)]
struct OpenVisits {
    visits: HashMap<SessionId, (Visit, u64)>,
    turn: u64,
}

pub(super) struct Visits {
    server: String,
    kept: Arc<dyn KeptVisits>,
    known: Mutex<OpenVisits>,
}

impl Visits {
    pub(super) fn new(server: String, kept: Arc<dyn KeptVisits>) -> Self {
        Self { server, kept, known: Mutex::default() }
    }

    /// Returns the conversation's session and the number of the next request. If there is no
    /// session, opens one session for all waiting callers.
    pub(super) async fn ensure_session<F>(
        &self,
        conversation: &SessionId,
        open: impl FnOnce() -> F,
    ) -> Result<(Option<String>, u64), CallError>
    where
        F: Future<Output = Result<Option<String>, CallError>>,
    {
        let visit = self.visit(conversation);
        let mut visit = visit.lock().await;
        // The reserved numbers are used up, and another process may have reopened the session in
        // the meantime.
        if visit.as_ref().is_none_or(|held| held.next >= held.end) {
            *visit = self.take(conversation, None).await;
        }
        let held = match visit.as_mut() {
            Some(held) => held,
            None => {
                let session = open().await?;
                let end = FIRST + BLOCK;
                let opened =
                    Open { server: self.server.clone(), session: session.clone(), next_rpc: end };
                self.kept.change(conversation, Box::new(move |_| Some(opened))).await;
                visit.insert(HeldSession { session, next: FIRST + 1, end })
            }
        };
        let rpc = held.next;
        held.next += 1;
        Ok((held.session.clone(), rpc))
    }

    /// Drops a session that the server does not know any more, unless another process has already
    /// opened a new session.
    pub(super) async fn drop_lost(&self, conversation: &SessionId, session: Option<&str>) {
        let visit = self.visit(conversation);
        let mut visit = visit.lock().await;
        // Another call may have detected the loss first.
        if visit.as_ref().is_some_and(|held| held.session.as_deref() == session) {
            *visit = self.take(conversation, session).await;
        }
    }

    /// Takes over the stored session and reserves numbers in it, unless the stored session is the
    /// lost session.
    async fn take(&self, conversation: &SessionId, lost: Option<&str>) -> Option<HeldSession> {
        let (server, lost) = (self.server.clone(), lost.map(str::to_owned));
        let mine =
            move |open: &Open| open.server == server && (lost.is_none() || open.session != lost);
        let change = move |kept: Option<Open>| {
            kept.filter(mine)
                .map(|open| Open { next_rpc: open.next_rpc.saturating_add(BLOCK), ..open })
        };
        let kept = self.kept.change(conversation, Box::new(change)).await?;
        Some(HeldSession { session: kept.session, next: kept.next_rpc - BLOCK, end: kept.next_rpc })
    }

    fn visit(&self, conversation: &SessionId) -> Visit {
        let mut known = self.known.lock();
        let OpenVisits { visits, turn } = &mut *known;
        *turn += 1;
        if let Some((visit, last)) = visits.get_mut(conversation) {
            *last = *turn;
            return Arc::clone(visit);
        }
        if visits.len() >= MAX_VISITS {
            // The least recently used half is dropped. Sessions in use stay, so that no session is
            // opened twice.
            let mut lasts: Vec<u64> = visits.values().map(|(_, last)| *last).collect();
            lasts.sort_unstable();
            let middle = lasts[lasts.len() / 2];
            visits.retain(|_, (visit, last)| *last > middle || Arc::strong_count(visit) > 1);
        }
        let visit = Visit::default();
        visits.insert(conversation.clone(), (Arc::clone(&visit), *turn));
        visit
    }
}
