//! Which session is open at the server for which conversation. It belongs to the conversation and is kept with it, so another
//! process goes on with it; what is here is only what this process has of it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use contract::SessionId;
use serde::{Deserialize, Serialize};

use super::call_error::CallError;

/// The number of a session's first request.
pub(super) const FIRST: u64 = 1;
/// Numbers that a process takes at once, so that no two give the same one and not every call is written down.
const BLOCK: u64 = 1_000;
/// Conversations that are remembered here; of the others what is kept is read again.
const MAX_VISITS: usize = 1_024;

/// An open session, as it is kept with its conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// The server that it was opened at.
    pub server: String,
    /// Its name there; some servers give none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub next_rpc: u64,
}

/// Keeps open sessions with their conversations.
#[async_trait]
pub trait KeptVisits: Send + Sync {
    /// Reads what is kept, puts what `change` makes of it in its place, and gives that. Nothing that could be kept is none.
    async fn change(&self, session: &SessionId, change: Box<dyn FnOnce(Option<Open>) -> Option<Open> + Send>) -> Option<Open>;
}

/// What this process has of an open session.
struct HeldSession {
    session: Option<String>,
    next: u64,
    /// The first number that is not this process's to give.
    end: u64,
}

type Visit = Arc<tokio::sync::Mutex<Option<HeldSession>>>;

/// Conversations with the turn in which each was last asked for, and the newest turn.
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

    /// The conversation's session and the number of the next request; opened now, once for all who wait, when there is none.
    pub(super) async fn ready<F>(&self, conversation: &SessionId, open: impl FnOnce() -> F) -> Result<(Option<String>, u64), CallError>
    where
        F: Future<Output = Result<Option<String>, CallError>>,
    {
        let visit = self.visit(conversation);
        let mut visit = visit.lock().await;
        if visit.as_ref().is_none_or(|held| held.next >= held.end) {
            *visit = self.take(conversation, None).await;
        }
        let held = match visit.as_mut() {
            Some(held) => held,
            None => {
                let session = open().await?;
                let end = FIRST + BLOCK;
                let opened = Open { server: self.server.clone(), session: session.clone(), next_rpc: end };
                self.kept.change(conversation, Box::new(move |_| Some(opened))).await;
                visit.insert(HeldSession { session, next: FIRST + 1, end })
            }
        };
        let rpc = held.next;
        held.next += 1;
        Ok((held.session.clone(), rpc))
    }

    /// The server does not know a session any more. Another process may have opened the next one.
    pub(super) async fn drop_lost(&self, conversation: &SessionId, session: Option<&str>) {
        let visit = self.visit(conversation);
        let mut visit = visit.lock().await;
        if visit.as_ref().is_some_and(|held| held.session.as_deref() == session) {
            *visit = self.take(conversation, session).await;
        }
    }

    /// Takes over what is kept, with numbers of its own, unless that is the session that was lost.
    async fn take(&self, conversation: &SessionId, lost: Option<&str>) -> Option<HeldSession> {
        let (server, lost) = (self.server.clone(), lost.map(str::to_owned));
        let mine = move |open: &Open| open.server == server && (lost.is_none() || open.session != lost);
        let change = move |kept: Option<Open>| kept.filter(mine).map(|open| Open { next_rpc: open.next_rpc.saturating_add(BLOCK), ..open });
        let kept = self.kept.change(conversation, Box::new(change)).await?;
        Some(HeldSession { session: kept.session, next: kept.next_rpc - BLOCK, end: kept.next_rpc })
    }

    fn visit(&self, conversation: &SessionId) -> Visit {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let OpenVisits { visits, turn } = &mut *known;
        *turn += 1;
        if let Some((visit, last)) = visits.get_mut(conversation) {
            *last = *turn;
            return Arc::clone(visit);
        }
        if visits.len() >= MAX_VISITS {
            // The older half goes; what is in use stays, so that nothing is opened twice.
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
