//! Accepts messages and cancels turns. Only one turn of a session runs at a time; the others wait.

use std::sync::Arc;

use contract::{
    AgentError, AgentId, Caller, EventBody, ItemBody, Push, Reason, SessionId, Stage,
    TurnCancelParams, TurnEvent, TurnId, TurnStartParams, TurnStartResponse, text,
};
use serde_json::json;
use tracing::Instrument as _;

use crate::{
    conversation::title::{better_title, title_of},
    ports::{VersionChange, VersionRefusal},
    runner::{running::Turn, services::RunnerServices},
    sessions::titles::settle_title,
    turn::{
        context::TurnStart,
        kind::TurnKind,
        lanes::{Accepted, CancelledAt, Closing, Entered, QUEUE_KEY, busy_error},
        refusals::Refused,
        run_context::{RunContext, most_characters},
        services::TurnServices,
        versions::{check_has_versions, not_kept_error, refusal_error},
    },
};

/// The turns of all sessions.
#[derive(Clone)]
pub struct Turns {
    services: Arc<RunnerServices>,
}

impl Turns {
    pub(crate) fn new(services: &Arc<RunnerServices>) -> Self {
        Self { services: Arc::clone(services) }
    }

    fn shared(&self) -> &TurnServices {
        &self.services.shared
    }

    /// Accepts a message and starts its turn, or queues the message until the running turn ends.
    /// The records of the turn name the caller.
    pub async fn start(
        &self,
        caller: Caller,
        params: TurnStartParams,
    ) -> Result<TurnStartResponse, AgentError> {
        self.accept_message(caller, params, None).await
    }

    /// Accepts a message of a run request, whose context is attached to the turn. A refused message
    /// is recorded.
    pub(crate) async fn start_for(
        &self,
        params: TurnStartParams,
        run: Arc<RunContext>,
    ) -> Result<TurnStartResponse, AgentError> {
        self.accept_message(run.caller(), params, Some(run)).await
    }

    async fn accept_message(
        &self,
        caller: Caller,
        params: TurnStartParams,
        run: Option<Arc<RunContext>>,
    ) -> Result<TurnStartResponse, AgentError> {
        let (session, text) = (params.session.clone(), params.text.clone());
        let started = self.take_message(caller, params, run.clone()).await;
        if let Err(error) = &started {
            let refused =
                Refused { session: session.as_ref(), ..Refused::of("message", error, &text) };
            self.shared().refused_requests.note(refused.asked_by(run.as_deref())).await;
        }
        started
    }

    async fn take_message(
        &self,
        caller: Caller,
        params: TurnStartParams,
        run: Option<Arc<RunContext>>,
    ) -> Result<TurnStartResponse, AgentError> {
        self.shared().switches.check_enabled()?;
        self.shared().secrets.reload().await;
        let ids = [
            params.session.as_ref().map(SessionId::as_str),
            params.model.as_deref(),
            params.agent.as_ref().map(AgentId::as_str),
        ];
        self.shared().secrets.check_stored_names(&ids.map(Option::unwrap_or_default))?;
        let world = self.shared().world.of(&caller);
        let model = self.shared().models.choose(world.models.as_ref(), params.model.as_deref());
        self.shared().models.check_egress(model.as_ref())?;
        if let Some(agent) = &params.agent {
            self.shared().switches.check_specialist(world.roster.as_ref(), agent)?;
        }
        let most = most_characters(&caller, world.profile.as_ref());
        // A key in a user's message must not reach the title, the transcript or the log.
        let text = self
            .shared()
            .secrets
            .matcher()
            .redact_secrets(&check_text(&params.text, most)?)
            .into_owned();
        if let Some(session) = &params.session {
            self.shared().lanes.wait_while_changing(session).await;
            self.shared().lanes.check_open(session)?;
        }
        if let Some(replaced) = &params.replaces {
            self.check_replacement(params.session.as_ref(), replaced).await?;
        }
        let session = self.find_or_create_session(params.session, &text).await?;
        let turn = TurnId(self.shared().world.ids.next("turn"));
        if let Some(run) = run {
            self.shared().runs.add_run(&turn, run);
        }
        let accepted = Accepted {
            turn: turn.clone(),
            text,
            model: params.model,
            agent: params.agent,
            caller: caller.headless(params.headless),
            replaces: params.replaces,
        };
        match self.enter(&session, &accepted).await {
            Entered::Closed(why) => Err(why.error()),
            Entered::Busy => Err(busy_error()),
            Entered::Started(token) => {
                self.spawn(session.clone(), accepted, token);
                Ok(TurnStartResponse { session, turn, queued: false })
            }
            Entered::Queued => self.tell_queued(session, turn).await,
        }
    }

    /// Saves the queue with a new message, and tells the windows that the message waits.
    async fn tell_queued(
        &self,
        session: SessionId,
        turn: TurnId,
    ) -> Result<TurnStartResponse, AgentError> {
        self.save_queue(&session).await?;
        let event = TurnEvent {
            session: session.clone(),
            turn: turn.clone(),
            n: 0,
            at: self.shared().world.clock.now(),
            event: EventBody::Status { stage: Stage::Queued, text: None },
        };
        self.shared().world.events.push(Push::Turn { event });
        Ok(TurnStartResponse { session, turn, queued: true })
    }

    /// Checks whether a message may replace a turn. The store checks this again when it hides the
    /// turn.
    async fn check_replacement(
        &self,
        session: Option<&SessionId>,
        replaced: &TurnId,
    ) -> Result<(), AgentError> {
        let session = session.ok_or_else(|| refusal_error(VersionRefusal::Unknown))?;
        check_has_versions(session)?;
        if self.services.conversation.passing.keeps_nothing() {
            return Err(not_kept_error());
        }
        self.shared().lanes.check_at_rest(session)?;
        // The id of the new turn does not matter for the check.
        let change = VersionChange::Replace { turn: replaced.clone(), by: TurnId::new("") };
        let checked = self.shared().world.store.version_check(session, &change).await?;
        checked.map(drop).map_err(refusal_error)
    }

    /// Adds a message to its lane. A change of the shown messages may have begun since the message
    /// was checked.
    async fn enter(&self, session: &SessionId, accepted: &Accepted) -> Entered {
        let lanes = &self.shared().lanes;
        match lanes.enter(session, accepted.clone()) {
            Entered::Closed(Closing::Change) => {
                lanes.wait_while_changing(session).await;
                lanes.enter(session, accepted.clone())
            }
            entered => entered,
        }
    }

    pub(crate) async fn find_or_create_session(
        &self,
        wanted: Option<SessionId>,
        text: &str,
    ) -> Result<SessionId, AgentError> {
        let store = &self.shared().world.store;
        let id = wanted.unwrap_or_else(|| SessionId(self.shared().world.ids.next("session")));
        if store.session(&id).await?.is_none() {
            store.session_create(&id, &title_of(text), self.shared().world.clock.now()).await?;
        }
        Ok(id)
    }

    fn spawn(
        &self,
        session: SessionId,
        accepted: Accepted,
        token: tokio_util::sync::CancellationToken,
    ) {
        let turns = self.clone();
        tokio::spawn(async move {
            let mut next = Some((accepted, token));
            while let Some((accepted, token)) = next {
                let span = turns.shared().runs.span(&session, &accepted.turn);
                let (turn, question) = (accepted.turn.clone(), accepted.text.clone());
                let is_replacement = accepted.replaces.is_some();
                let start = TurnStart {
                    session: session.clone(),
                    accepted,
                    kind: TurnKind::Conversation,
                    cancel: token,
                };
                Turn::new(&turns.services, start).run().instrument(span).await;
                next = turns.shared().lanes.end_and_start_next(&session, &turn);
                if next.is_some() {
                    // If the queue cannot be saved, its messages are still answered. They would
                    // only be lost in a crash.
                    let _ = turns.save_queue(&session).await;
                }
                if is_replacement && let Err(error) = settle_title(turns.shared(), &session).await {
                    tracing::warn!(%error, "a title could not follow its message");
                }
                turns.improve_title(&session, &turn, &question).await;
                turns.shared().summaries.push(&session).await;
            }
        });
    }

    /// Gives the session the title of a question that is better than its present one. If this fails,
    /// the present title stays.
    async fn improve_title(&self, session: &SessionId, turn: &TurnId, question: &str) {
        let store = &self.shared().world.store;
        let Ok(Some(current)) = store.session_open_title(session).await else { return };
        // The message may have been replaced or deleted meanwhile.
        if store.turn_is_hidden(turn).await.unwrap_or(true) {
            return;
        }
        let items = store.items_of_turn(turn).await.unwrap_or_default();
        // The items of a turn that is not kept are deleted already, and its words stay nowhere.
        if items.is_empty() {
            return;
        }
        let called = items.iter().any(|item| matches!(item.body, ItemBody::ToolCall { .. }));
        if let Some((title, stays)) = better_title(&current, question, called) {
            let _ = store.session_suggest_title(session, &title, stays).await;
        }
    }

    /// Saves the current queue and sends it to the windows.
    pub(crate) async fn save_queue(&self, session: &SessionId) -> Result<(), AgentError> {
        let _one_at_a_time = self.shared().values.lock(session).await;
        let queue = self.shared().lanes.queue(session);
        // If the profile does not store conversations, waiting messages stay only in memory.
        let kept = (!queue.is_empty() && !self.services.conversation.passing.keeps_nothing())
            .then(|| json!(queue));
        self.shared().values.put(session, vec![(QUEUE_KEY.to_owned(), kept)]).await?;
        self.shared().world.events.push(Push::Queue { session: session.clone(), queue });
        Ok(())
    }

    /// Stops a running turn, or removes a waiting message from the queue.
    pub async fn cancel(&self, params: &TurnCancelParams) -> Result<(), AgentError> {
        match self.stop(&params.session, &params.turn) {
            CancelledAt::Nothing => {
                Err(AgentError::invalid("This turn has ended already.").reason(Reason::NotFound))
            }
            CancelledAt::Running | CancelledAt::Waiting => self.save_queue(&params.session).await,
        }
    }

    /// Cancels a running or waiting turn. The listener of a turn that never begins is notified
    /// immediately, because there will be no `final` event.
    pub(crate) fn stop(&self, session: &SessionId, turn: &TurnId) -> CancelledAt {
        let met = self.shared().lanes.cancel(session, turn);
        if met == CancelledAt::Waiting {
            self.shared().runs.end_never_begun_run(turn);
        }
        met
    }

    /// Cancels all turns at the end of the process.
    pub fn cancel_all(&self) {
        for turn in self.shared().lanes.cancel_all() {
            self.shared().runs.end_never_begun_run(&turn);
        }
    }

    /// Returns the number of running turns.
    pub fn running(&self) -> u32 {
        self.shared().lanes.running_count()
    }

    /// Waits until no turn runs.
    pub async fn wait_until_idle(&self) {
        self.shared().lanes.wait_until_idle().await;
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
