//! Runs turns for a remote caller: in the caller's language, with the caller's limits and values,
//! and with events that are sent only to that caller. No person can approve during the turn, so an
//! action that needs approval stays pending and ends the turn.

use std::sync::Arc;

use contract::{
    AgentError, Approval, ApprovalDecideParams, Caller, EventBody, Item, ItemBody, ItemId,
    RecordType, SessionId, ToolCallParams, ToolCallResponse, ToolId, ToolSpec, TurnId,
    TurnStartParams,
};
use serde_json::Value;
use tokio::{runtime::Handle, sync::mpsc::UnboundedReceiver};
use tokio_util::sync::CancellationToken;

use crate::{
    approvals::actions::Approvals,
    ports::{Durability, RecordDraft, TurnRow},
    runner::direct::DirectCalls,
    sessions::turns::Turns,
    turn::{
        caller_records::add_caller, kind::TurnKind, lanes::CancelledAt, listener::TurnOptions,
        run_context::RunContext, services::TurnServices,
    },
};

/// The stream of a turn's events for its caller. Dropping it before the end cancels the turn.
pub struct TurnStream {
    shared: Arc<TurnServices>,
    turns: Arc<Turns>,
    session: SessionId,
    turn: TurnId,
    events: UnboundedReceiver<EventBody>,
}

impl TurnStream {
    /// Returns the next event. `final` is the last event.
    pub async fn next(&mut self) -> Option<EventBody> {
        self.events.recv().await
    }

    /// Cancels the turn. Its `final` event is still sent.
    pub fn cancel(&self) {
        if self.turns.stop(&self.session, &self.turn) != CancelledAt::Waiting {
            return;
        }
        // The cancelled message must be removed from the stored queue, or the next start would
        // report it.
        let Ok(runtime) = Handle::try_current() else { return };
        let (turns, session) = (Arc::clone(&self.turns), self.session.clone());
        runtime.spawn(async move {
            if let Err(error) = turns.save_queue(&session).await {
                tracing::warn!(%error, "a queue could not be saved");
            }
        });
    }

    /// Returns the identifier of the turn.
    pub fn turn(&self) -> &TurnId {
        &self.turn
    }
}

impl Drop for TurnStream {
    fn drop(&mut self) {
        self.cancel();
        self.shared.runs.remove_run(&self.turn);
    }
}

/// Runs turns and calls for remote callers.
pub struct CallerTurns {
    shared: Arc<TurnServices>,
    turns: Arc<Turns>,
    approvals: Arc<Approvals>,
    calls: Arc<DirectCalls>,
}

impl CallerTurns {
    pub(crate) fn new(
        shared: &Arc<TurnServices>,
        turns: &Arc<Turns>,
        approvals: &Arc<Approvals>,
        calls: &Arc<DirectCalls>,
    ) -> Self {
        Self {
            shared: Arc::clone(shared),
            turns: Arc::clone(turns),
            approvals: Arc::clone(approvals),
            calls: Arc::clone(calls),
        }
    }

    /// Accepts a caller's message and starts or queues its turn.
    pub async fn start(
        &self,
        session: &SessionId,
        text: String,
        model: Option<String>,
        options: TurnOptions,
    ) -> Result<TurnStream, AgentError> {
        self.shared
            .secrets
            .check_stored_names(&[options.correlation_id.as_deref().unwrap_or_default()])?;
        let (work, events) = RunContext::with_event_channel(options);
        let params = TurnStartParams {
            session: Some(session.clone()),
            text,
            model,
            agent: None,
            headless: true,
            replaces: None,
        };
        let turn = self.turns.start_for(params, work).await?.turn;
        let (shared, turns) = (Arc::clone(&self.shared), Arc::clone(&self.turns));
        Ok(TurnStream { shared, turns, session: session.clone(), turn, events })
    }

    /// Applies a caller's decision about a pending action of its session. Returns the decided
    /// action and the events of its run.
    pub async fn decide(
        &self,
        approval: &Approval,
        params: ApprovalDecideParams,
        options: TurnOptions,
    ) -> (Result<Approval, AgentError>, Vec<EventBody>) {
        let caller = options.caller.clone();
        let (work, mut events) = RunContext::with_event_channel(options);
        self.shared.runs.add_run(&approval.turn, work);
        let decided = self.approvals.decide(params, &caller).await.map(|decided| decided.approval);
        self.shared.runs.remove_run(&approval.turn);
        let mut events_of_run = Vec::new();
        while let Ok(event) = events.try_recv() {
            events_of_run.push(event);
        }
        (decided, events_of_run)
    }

    /// Calls a tool of a session directly. A write is proposed and stays pending, as in a turn.
    pub async fn call(
        &self,
        session: &SessionId,
        tool: ToolId,
        arguments: Value,
        options: TurnOptions,
    ) -> (Result<ToolCallResponse, AgentError>, Vec<EventBody>) {
        let turn = match self.begin_call_turn(session, &options).await {
            Ok(turn) => turn,
            Err(error) => return (Err(error), Vec::new()),
        };
        self.call_tool_in(&turn, session, (tool, arguments), options, TurnKind::Conversation).await
    }

    /// Calls a tool whose result reports the outcome of a decided action. The call belongs to the
    /// action's turn, which has ended.
    pub async fn call_after(
        &self,
        decided: &Approval,
        tool: ToolId,
        arguments: Value,
        options: TurnOptions,
    ) -> Result<ToolCallResponse, AgentError> {
        let (turn, session) = (&decided.turn, &decided.session);
        self.shared
            .secrets
            .check_stored_names(&[options.correlation_id.as_deref().unwrap_or_default()])?;
        self.call_tool_in(turn, session, (tool, arguments), options, TurnKind::Conversation).await.0
    }

    /// Calls a tool for the session's host. The call is recorded but leaves no items in the
    /// conversation. The call belongs to the given turn of the caller, if any. The stream of that
    /// turn must still exist, because the records get their ids from it.
    pub async fn call_for_host(
        &self,
        session: &SessionId,
        tool: ToolId,
        arguments: Value,
        options: TurnOptions,
        of: Option<&TurnId>,
    ) -> Result<ToolCallResponse, AgentError> {
        let Some(turn) = of.filter(|turn| self.shared.runs.of(turn).is_some()) else {
            let turn = self.begin_call_turn(session, &options).await?;
            let call = (tool, arguments);
            return self.call_tool_in(&turn, session, call, options, TurnKind::Unsaved).await.0;
        };
        let params =
            ToolCallParams { tool, arguments, session: Some(session.clone()), headless: true };
        let asked = (turn.clone(), options.caller);
        self.calls.call_as(asked, params, TurnKind::Unsaved, CancellationToken::new()).await
    }

    /// Stores a separate turn for a call.
    async fn begin_call_turn(
        &self,
        session: &SessionId,
        options: &TurnOptions,
    ) -> Result<TurnId, AgentError> {
        let turn = TurnId(self.shared.world.ids.next("turn"));
        self.shared.secrets.check_stored_names(&[
            session.as_str(),
            options.correlation_id.as_deref().unwrap_or_default(),
        ])?;
        let world = &self.shared.world;
        let row = TurnRow::ended(session, &turn, "ok", world.clock.now());
        world.store.turn_save(&row, Vec::new(), None).await?;
        Ok(turn)
    }

    async fn call_tool_in(
        &self,
        turn: &TurnId,
        session: &SessionId,
        (tool, arguments): (ToolId, Value),
        options: TurnOptions,
        kind: TurnKind,
    ) -> (Result<ToolCallResponse, AgentError>, Vec<EventBody>) {
        let caller = options.caller.clone();
        let (work, mut events) = RunContext::with_event_channel(options);
        self.shared.runs.add_run(turn, work);
        let params =
            ToolCallParams { tool, arguments, session: Some(session.clone()), headless: true };
        let called = self
            .calls
            .call_as((turn.clone(), caller), params, kind, CancellationToken::new())
            .await;
        self.shared.runs.remove_run(turn);
        let mut events_of_run = Vec::new();
        while let Ok(event) = events.try_recv() {
            events_of_run.push(event);
        }
        (called, events_of_run)
    }

    /// Stores a message and its answer that were created without a model.
    pub async fn store_exchange(
        &self,
        session: &SessionId,
        said: &str,
        answer: &str,
        options: &TurnOptions,
    ) -> Result<(), AgentError> {
        self.shared.switches.check_enabled()?;
        self.shared.secrets.reload().await;
        self.shared.secrets.check_stored_names(&[
            session.as_str(),
            options.correlation_id.as_deref().unwrap_or_default(),
        ])?;
        let (said, answer) = (
            self.shared.secrets.matcher().redact_secrets(said).into_owned(),
            self.shared.secrets.matcher().redact_secrets(answer).into_owned(),
        );
        let session = self.turns.find_or_create_session(Some(session.clone()), &said).await?;
        let (world, turn) = (&self.shared.world, TurnId(self.shared.world.ids.next("turn")));
        let now = world.clock.now();
        let row = TurnRow::ended(&session, &turn, "ok", now);
        let item = |body| Item {
            id: ItemId(world.ids.next("item")),
            session: session.clone(),
            turn: turn.clone(),
            seq: 0,
            created_at: now,
            body,
        };
        let answered = ItemBody::AssistantText {
            text: answer,
            blocks: Vec::new(),
            model: None,
            agent: None,
            choices: Vec::new(),
            remembered: Vec::new(),
            local_only: false,
            untrusted: false,
            partial: false,
            kept: None,
        };
        let items = vec![item(ItemBody::UserMessage { text: said.clone() }), item(answered)];
        let started = RecordDraft::new(RecordType::RunStarted)
            .field("model", "")
            .field("agent", "")
            .field("duration_ms", 0);
        let started =
            add_caller(started, &options.caller.kind, world.profile.as_ref()).commit("input", said);
        let ended = RecordDraft::new(RecordType::RunEnded)
            .field("status", "ok")
            .field("agent", "")
            .field("duration_ms", 0)
            .field("model_calls", 0);
        // While this entry exists, the log adds the request's ids to the turn's records.
        self.shared.runs.add_run(&turn, RunContext::with_event_channel(options.clone()).0);
        for draft in [started, ended] {
            if let Err(error) =
                world.audit.append(draft.of(&session, &turn), Durability::Grouped).await
            {
                tracing::warn!(%error, "a record could not be written");
            }
        }
        self.shared.runs.remove_run(&turn);
        let (kept, flushed) =
            tokio::join!(world.store.turn_save(&row, items, None), world.audit.flush());
        if let Err(error) = flushed {
            tracing::warn!(%error, "the audit log could not be flushed at the end of a turn");
        }
        kept?;
        Ok(())
    }

    /// Returns the label of a caller's current model.
    pub fn model_label(&self, caller: &Caller) -> String {
        self.shared.world.of(caller).models.current(None).label()
    }

    /// Returns the tools that a caller may use now.
    pub fn specs(&self, caller: &Caller) -> Arc<Vec<ToolSpec>> {
        self.shared.world.of(caller).tools.specs()
    }
}
