//! The session operations for callers: accept and cancel messages; list, open and page sessions.
//! `deletion` deletes them.

pub(crate) mod deletion;
pub(crate) mod search;
mod shared;

use std::sync::Arc;

use contract::{
    AgentError, AgentId, Caller, EventBody, Item, ItemBody, ItemsPageParams, ItemsPageResponse,
    Push, ResultView, SessionId, SessionSummary, SessionView, SessionsListParams,
    SessionsListResponse, Stage, ToolOutcome, TurnCancelParams, TurnEvent, TurnId, TurnStartParams,
    TurnStartResponse, text,
};
use serde_json::json;
use tracing::Instrument as _;

use crate::{
    Engine, World,
    conversation::title::title_of,
    ports::StoreError,
    runner::running::Turn,
    turn::{
        context::TurnStart,
        lanes::{Accepted, CancelledAt, Entered, QUEUE_KEY, closed_error},
        place::Place,
        refusals::Refused,
        run_context::{RunContext, most_characters},
    },
};

const PAGE: u32 = 60;

impl Engine {
    /// Accepts a message: starts its turn, or queues the message behind the running turn. The records
    /// of the turn name the caller.
    pub async fn turn_start(
        self: &Arc<Self>,
        caller: Caller,
        params: TurnStartParams,
    ) -> Result<TurnStartResponse, AgentError> {
        self.accept_message(caller, params, None).await
    }

    /// Accepts a message that answers a request. The turn carries its context. A refused message is
    /// recorded.
    pub(crate) async fn turn_start_for(
        self: &Arc<Self>,
        params: TurnStartParams,
        run: Arc<RunContext>,
    ) -> Result<TurnStartResponse, AgentError> {
        self.accept_message(run.caller(), params, Some(run)).await
    }

    async fn accept_message(
        self: &Arc<Self>,
        caller: Caller,
        params: TurnStartParams,
        run: Option<Arc<RunContext>>,
    ) -> Result<TurnStartResponse, AgentError> {
        let (session, text) = (params.session.clone(), params.text.clone());
        let started = self.take_message(caller, params, run.clone()).await;
        if let Err(error) = &started {
            let refused =
                Refused { session: session.as_ref(), ..Refused::of("message", error, &text) };
            self.refused_requests.note(refused.asked_by(run.as_deref())).await;
        }
        started
    }

    async fn take_message(
        self: &Arc<Self>,
        caller: Caller,
        params: TurnStartParams,
        run: Option<Arc<RunContext>>,
    ) -> Result<TurnStartResponse, AgentError> {
        self.switches.check_enabled()?;
        self.world.secrets.reload_secrets().await;
        let ids = [
            params.session.as_ref().map(SessionId::as_str),
            params.model.as_deref(),
            params.agent.as_ref().map(AgentId::as_str),
        ];
        self.check_stored_names(&ids.map(Option::unwrap_or_default))?;
        let world = self.world.of(&caller);
        let model = self.models.choose(world.models.as_ref(), params.model.as_deref());
        self.models.check_egress(model.as_ref())?;
        if let Some(agent) = &params.agent {
            self.check_specialist(&world, agent)?;
        }
        let most = most_characters(&caller, world.profile.as_ref());
        // A key that a user pastes into a message must not reach the title, the transcript or the
        // log.
        let text =
            self.secrets.matcher().redact_secrets(&check_text(&params.text, most)?).into_owned();
        if params.session.as_ref().is_some_and(|session| self.lanes.is_closed(session)) {
            return Err(closed_error());
        }
        let session = self.find_or_create_session(params.session, &text).await?;
        let turn = TurnId(self.world.ids.next("turn"));
        if let Some(run) = run {
            self.runs.add_run(&turn, run);
        }
        let accepted = Accepted {
            turn: turn.clone(),
            text,
            model: params.model,
            agent: params.agent,
            caller: caller.headless(params.headless),
        };
        match self.lanes.enter(&session, accepted.clone()) {
            Entered::Closed => Err(closed_error()),
            Entered::Started(token) => {
                self.spawn(session.clone(), accepted, token);
                Ok(TurnStartResponse { session, turn, queued: false })
            }
            Entered::Queued => {
                self.save_queue(&session).await?;
                let event = EventBody::Status { stage: Stage::Queued, text: None };
                self.push(Push::Turn {
                    event: TurnEvent {
                        session: session.clone(),
                        turn: turn.clone(),
                        n: 0,
                        at: self.world.clock.now(),
                        event,
                    },
                });
                Ok(TurnStartResponse { session, turn, queued: true })
            }
        }
    }

    /// Checks that a specialist exists and is switched on.
    pub(crate) fn check_specialist(&self, world: &World, id: &AgentId) -> Result<(), AgentError> {
        let agents = world.roster.agents();
        if agents.iter().any(|agent| agent.id == *id) {
            return self.switches.check_agent(id);
        }
        let known: Vec<&str> = agents.iter().map(|agent| agent.id.as_str()).collect();
        let hint = if known.is_empty() {
            "No pack brings one.".into()
        } else {
            text!("There are: {names}.", names = known.join(", "))
        };
        Err(AgentError::invalid(text!("There is no specialist {agent}.", agent = id))
            .reason("not_found")
            .hint(hint))
    }

    pub(crate) async fn find_or_create_session(
        &self,
        wanted: Option<SessionId>,
        text: &str,
    ) -> Result<SessionId, AgentError> {
        let store = &self.world.store;
        let id = wanted.unwrap_or_else(|| SessionId(self.world.ids.next("session")));
        if store.session(&id).await?.is_none() {
            store.session_create(&id, &title_of(text), self.world.clock.now()).await?;
        }
        Ok(id)
    }

    fn spawn(
        self: &Arc<Self>,
        session: SessionId,
        accepted: Accepted,
        token: tokio_util::sync::CancellationToken,
    ) {
        let engine = Arc::clone(self);
        tokio::spawn(async move {
            let mut next = Some((accepted, token));
            while let Some((accepted, token)) = next {
                let span = engine.runs.span(&session, &accepted.turn);
                let start = TurnStart {
                    session: session.clone(),
                    accepted,
                    place: Place::Conversation,
                    cancel: token,
                };
                Turn::new(&engine, start).run().instrument(span).await;
                next = engine.lanes.end_and_start_next(&session);
                if next.is_some() {
                    // A queue that cannot be saved is still answered. Only a crash would lose it.
                    let _ = engine.save_queue(&session).await;
                }
                engine.push_session(&session).await;
            }
        });
    }

    /// Saves the current queue and sends it to the windows.
    pub(crate) async fn save_queue(&self, session: &SessionId) -> Result<(), AgentError> {
        let _one_at_a_time = self.values.lock(session).await;
        let queue = self.lanes.queue(session);
        // If the profile keeps no conversations, waiting messages stay in memory only.
        let kept = (!queue.is_empty() && !self.passing.keeps_nothing()).then(|| json!(queue));
        self.values.put(session, vec![(QUEUE_KEY.to_owned(), kept)]).await?;
        self.push(Push::Queue { session: session.clone(), queue });
        Ok(())
    }

    /// Stops a running turn, or takes a waiting message out of the queue.
    pub async fn turn_cancel(&self, params: &TurnCancelParams) -> Result<(), AgentError> {
        match self.stop(&params.session, &params.turn) {
            CancelledAt::Nothing => {
                Err(AgentError::invalid("This turn has ended already.").reason("not_found"))
            }
            CancelledAt::Running | CancelledAt::Waiting => self.save_queue(&params.session).await,
        }
    }

    /// Cancels a running or waiting turn. A turn that never begins is reported to its listener at
    /// once, because no `final` event will come.
    pub(crate) fn stop(&self, session: &SessionId, turn: &TurnId) -> CancelledAt {
        let met = self.lanes.cancel(session, turn);
        if met == CancelledAt::Waiting {
            self.runs.end_never_begun_run(turn);
        }
        met
    }

    /// Cancels all turns at the end of the process.
    pub fn cancel_all(&self) {
        for turn in self.lanes.cancel_all() {
            self.runs.end_never_begun_run(&turn);
        }
    }

    /// Returns the number of running turns.
    pub fn running(&self) -> u32 {
        self.lanes.running_count()
    }

    /// Waits until no turn runs.
    pub async fn wait_until_idle(&self) {
        self.lanes.wait_until_idle().await;
    }

    pub(crate) async fn summary(
        &self,
        id: &SessionId,
    ) -> Result<Option<SessionSummary>, StoreError> {
        let Some(mut summary) = self.world.store.session(id).await? else { return Ok(None) };
        self.fill(std::slice::from_mut(&mut summary)).await?;
        Ok(Some(summary))
    }

    async fn fill(&self, summaries: &mut [SessionSummary]) -> Result<(), StoreError> {
        let waiting = self.world.store.approvals(false).await?;
        for summary in summaries {
            summary.running = self.lanes.running(&summary.id).is_some();
            let count = waiting.iter().filter(|approval| approval.session == summary.id).count();
            summary.waiting_approvals = u32::try_from(count).unwrap_or(u32::MAX);
        }
        Ok(())
    }

    /// Returns a page of sessions, newest first.
    pub async fn sessions_list(
        &self,
        params: &SessionsListParams,
    ) -> Result<SessionsListResponse, AgentError> {
        let limit = if params.limit == 0 { 50 } else { params.limit.min(200) };
        let mut sessions =
            self.world.store.sessions(params.query.trim(), params.offset, limit + 1).await?;
        let has_more = sessions.len() > limit as usize;
        sessions.truncate(limit as usize);
        self.fill(&mut sessions).await?;
        Ok(SessionsListResponse { sessions, has_more })
    }

    /// Returns a session with its newest items.
    pub async fn session_open(&self, id: &SessionId) -> Result<SessionView, AgentError> {
        let summary = self.summary(id).await?.ok_or_else(|| {
            AgentError::invalid("This session does not exist.").reason("not_found")
        })?;
        let page = self
            .items_page(&ItemsPageParams { session: id.clone(), before: u64::MAX, limit: PAGE })
            .await?;
        let approvals = self.world.store.approvals(false).await?;
        let pinned = self.older_pinned_items(id, &page).await?;
        Ok(SessionView {
            summary,
            items: page.items,
            has_more: page.has_more,
            running_turn: self.lanes.running(id),
            queue: self.lanes.queue(id),
            approvals: approvals.into_iter().filter(|approval| approval.session == *id).collect(),
            pinned,
            memory_off: self.memories.switch.is_off(id).await?,
        })
    }

    /// Returns the newest result of each pinned view that is not on the newest page.
    async fn older_pinned_items(
        &self,
        id: &SessionId,
        page: &ItemsPageResponse,
    ) -> Result<Vec<Item>, StoreError> {
        let Some(first) = page.items.first().filter(|_| page.has_more) else {
            return Ok(Vec::new());
        };
        let specs = self.world.tools.specs();
        let mut found = Vec::new();
        for pinned in ResultView::PINNED {
            let is_shown = |item: &Item| matches!(&item.body, ItemBody::ToolResult { view, outcome: ToolOutcome::Ok, .. } if view == pinned);
            if specs.iter().any(|spec| spec.view == *pinned) && !page.items.iter().any(is_shown) {
                found.extend(self.world.store.newest_shown(id, *pinned, first.seq).await?);
            }
        }
        Ok(found)
    }

    /// Returns older items of a session in ascending order.
    pub async fn items_page(
        &self,
        params: &ItemsPageParams,
    ) -> Result<ItemsPageResponse, AgentError> {
        let limit = if params.limit == 0 { PAGE } else { params.limit.min(500) };
        let before = (params.before < u64::MAX).then_some(params.before);
        let mut items = self.world.store.items_before(&params.session, before, limit + 1).await?;
        let has_more = items.len() > limit as usize;
        if has_more {
            items.remove(0);
        }
        items.iter_mut().for_each(|item| item.body.forget_kept());
        Ok(ItemsPageResponse { items, has_more })
    }

    /// Gives a session another title.
    pub async fn session_rename(&self, id: &SessionId, title: &str) -> Result<(), AgentError> {
        let title = title.trim();
        if title.is_empty() || title.chars().count() > 200 {
            return Err(AgentError::invalid("A title has 1 to 200 characters."));
        }
        self.world.secrets.reload_secrets().await;
        let title = self.secrets.matcher().redact_secrets(title).into_owned();
        self.world.store.session_rename(id, &title).await?;
        self.push_session(id).await;
        Ok(())
    }
}

/// Returns the message without surrounding white space. Fails if it is empty or too long.
fn check_text(text: &str, most: usize) -> Result<String, AgentError> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(AgentError::invalid("The message is empty.").hint("Type a question first."));
    }
    let length = trimmed.chars().count();
    if length > most {
        return Err(AgentError::invalid(text!(
            "The message has {length} characters; at most {limit} are accepted.",
            length,
            limit = most
        ))
        .hint("Shorten it, or raise the limit in Settings."));
    }
    Ok(trimmed.to_owned())
}
