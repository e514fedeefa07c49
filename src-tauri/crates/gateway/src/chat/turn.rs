//! Runs one turn from an admitted message to its answer. The turn runs in its own task: a client
//! that disconnects cancels the turn, and the session is still stored completely.

use std::sync::Arc;

use chrono::Utc;
use contract::{AgentError, Approval, SessionId, ToolId, ToolSpec, TurnStatus};
use engine::{TurnOptions, VISITOR, ports::SessionValues};
use language::yes_no::{Reply, read_reply};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    chat::{
        answer::Answer,
        expecting::{Change, Expecting},
        pending,
        relay::{End, EventRelay},
        request::AdmittedRequest,
        response::Outcome,
        service::ChatService,
        session_ids::{engine_session_id, is_unguessable},
        sessions::{CLIENT_IP, CONTEXT, STATUS_SEED, Sessions, Waited},
        sse::SseSink,
        state::State,
    },
    fault::Fault,
    shop::{
        cards,
        choices::{self, Pick},
        compare, references, refine, tools,
    },
    texts::{Text, locale_for_culture},
};

/// The tools whose proposals the gateway checks itself, so that the customer can choose a variant.
/// Refusals of other tools are sent to the model.
pub(crate) const PREFLIGHT_TOOLS: &[&str] = &[tools::ADD];

/// Runs the turn. The last event sent to `out` contains the same answer that is returned.
pub(crate) async fn run_turn(
    app: Arc<ChatService>,
    ask: AdmittedRequest,
    out: SseSink,
    leave: CancellationToken,
) -> Outcome {
    let locale = locale_for_culture(ask.request.culture());
    let session =
        engine_session_id(&ask.request.application, &ask.request.session, ask.visitor.as_deref());
    let turn = Turn { app: &app, ask: &ask, out: &out, leave: &leave, locale, session };
    let mut answer = Answer::default();
    if let Err(fault) = turn.run_stages(&mut answer).await {
        answer.fault = Some(fault);
    }
    let outcome = answer.to_outcome(&ask);
    let (status, took) = (outcome.status.as_u16(), ask.began.elapsed());
    app.metrics.count_turn(ask.route, status, outcome.fault.as_ref(), took, &answer.calls);
    if leave.is_cancelled() {
        app.metrics.left.inc();
    }
    app.runs.keep(&ask, &outcome, &answer, || app.model(), Utc::now().timestamp_millis());
    let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let code = outcome.fault.as_ref().map(|fault| fault.code);
    tracing::Span::current().record("http.response.status_code", status).record("code", code);
    let correlation = ask.correlation.as_deref();
    tracing::info!(target: "gateway", requestId = %ask.request_id, correlationId = correlation, turnId = %ask.turn, route = ask.route, status, code, took_ms, tools = answer.calls.len(), "turn");
    // A turn that ended because the caller disconnected has not failed.
    if let Some((reason, why)) = outcome
        .fault
        .as_ref()
        .filter(|fault| fault.cause.is_some() || !leave.is_cancelled())
        .map(Fault::reason_for_log)
    {
        tracing::warn!(target: "gateway", requestId = %ask.request_id, turnId = %ask.turn, code, reason, why, "a turn failed");
    }
    if let Some(error) = &outcome.response.error {
        out.send_event("error", error);
    }
    out.send_event("final", &outcome.response);
    outcome
}

pub(crate) struct Turn<'a> {
    pub(crate) app: &'a Arc<ChatService>,
    pub(crate) ask: &'a AdmittedRequest,
    pub(crate) out: &'a SseSink,
    /// Cancelled when the client has disconnected.
    leave: &'a CancellationToken,
    pub(crate) locale: &'static str,
    pub(crate) session: SessionId,
}

impl Turn<'_> {
    async fn run_stages(&self, answer: &mut Answer) -> Result<(), Fault> {
        self.out.send_status(Text::Start.localize(self.locale));
        let fault = |error: AgentError| Fault::from_error(&error, self.locale);
        let (held, waited) = tokio::select! {
            entered = self.app.sessions.lock_for_message(&self.app.host, &self.session) => entered.map_err(fault)?,
            () = self.leave.cancelled() => return Err(Fault::stopping(self.locale)),
            () = self.app.give_up.cancelled() => return Err(Fault::stopping(self.locale)),
            () = tokio::time::sleep(self.app.config.turn_timeout) => return Err(Fault::turn_timeout(self.locale)),
        };
        let went = self.run_locked(waited.as_ref(), answer).await;
        held.release().await;
        went
    }

    /// Runs the turn while it holds the session's lock.
    async fn run_locked(&self, waited: Option<&Waited>, answer: &mut Answer) -> Result<(), Fault> {
        let fault = |error: AgentError| Fault::from_error(&error, self.locale);
        let (mut state, kept) = self
            .app
            .sessions
            .load_state(&self.app.host, &self.session, self.now_ms())
            .await
            .map_err(fault)?;
        self.store_context(&kept, Sessions::is_new(&state)).await.map_err(fault)?;
        let (asked, reported_action) =
            (state.open.last_question().cloned(), state.reported_action.clone());
        answer.notice = (self.app.config.notice && !state.introduced)
            .then(|| Text::Automated.localize(self.locale));
        let went = self.answer_message(waited, &mut state, answer).await;
        // A caller that disconnected or received an error has not seen the notice.
        state.introduced |= answer.notice.is_some() && went.is_ok() && !self.leave.is_cancelled();
        answer.update_cart(&mut state);
        // The state is saved even if the turn failed, because the next message must know which
        // questions and changes the turn made.
        let saved = self.save_state(&mut state).await;
        if saved.is_err() || went.is_err() || self.leave.is_cancelled() {
            self.revert_unread(asked, reported_action, &mut state).await;
        }
        saved.map_err(fault)?;
        went
    }

    /// Marks the questions and outcomes of an unread answer as not shown, because the caller
    /// disconnected or got an error. The next answer then asks the question again, unless the
    /// caller had already seen it.
    async fn revert_unread(
        &self,
        asked: Option<String>,
        reported_action: Option<String>,
        state: &mut State,
    ) {
        let still_asked = state.open.keep_if_last_question(asked.clone());
        if (still_asked.as_ref(), &reported_action)
            == (state.open.last_question(), &state.reported_action)
        {
            return;
        }
        state.open.apply_change(Change::Unread { asked_before: asked });
        state.reported_action = reported_action;
        if let Err(error) = self.save_state(state).await {
            tracing::debug!(%error, "a session waits to be shared");
        }
    }

    fn now_ms(&self) -> i64 {
        self.app.host.now().timestamp_millis()
    }

    async fn save_state(&self, state: &mut State) -> Result<(), AgentError> {
        self.app.sessions.save_state(&self.app.host, &self.session, state, self.now_ms()).await
    }

    /// Replaces the stored context with the caller's context. `kept` has the stored values; only
    /// values that differ are written.
    async fn store_context(&self, kept: &SessionValues, new: bool) -> Result<(), AgentError> {
        let context = &self.ask.request.context;
        // Values that the caller omits are not replaced by values of this computer.
        let context = if context.is_empty() { Value::Null } else { json!(context) };
        let seed = self.app.config.status_seed.as_ref().map(|seed| json!(seed));
        // A session with an unguessable id stays with the visitor that began it, whose memory it
        // uses. Later tokens may name other visitors.
        let began = kept.get(VISITOR).filter(|_| is_unguessable(&self.ask.request.session));
        let visitor =
            self.ask.visitor.as_ref().map(|sid| began.cloned().unwrap_or_else(|| json!(sid)));
        let wanted = [
            (CLIENT_IP, Some(json!(self.ask.client_ip))),
            (CONTEXT, Some(context)),
            (STATUS_SEED, seed),
            (VISITOR, visitor),
        ];
        let news = wanted.into_iter().filter(|(name, value)| kept.get(*name) != value.as_ref());
        let first = new.then(|| self.app.sessions.first_state(self.now_ms()));
        self.app
            .host
            .engine()
            .values
            .put(
                &self.session,
                news.map(|(name, value)| (name.to_owned(), value)).chain(first).collect(),
            )
            .await
    }

    async fn answer_message(
        &self,
        waited: Option<&Waited>,
        state: &mut State,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        let went = self.dispatch_message(waited, state, answer).await;
        let is_read = went.is_ok() && !self.leave.is_cancelled();
        state.open.apply_change(Change::Answered {
            offers_choices: answer.choices.is_some(),
            question: answer.pending_action_id(),
            is_read,
        });
        went
    }

    async fn dispatch_message(
        &self,
        waited: Option<&Waited>,
        state: &mut State,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        let message = self.ask.request.message.as_str();
        // This is read before the message changes it, because a second confirmation of the same
        // question has been carried out already.
        let repeated = state.open.has_confirmed();
        state.open.apply_change(Change::MessageCame);
        let engine = self.app.host.engine();
        let newest = engine
            .approvals
            .newest_in(&self.session)
            .await
            .map_err(|error| Fault::from_error(&error, self.locale))?;
        if let Some(approval) = &newest {
            if engine.approvals.waits_for_caller(approval) {
                let question = pending::public_id(approval);
                // A confirmation that was sent before this question was shown does not apply to the
                // question.
                let saw_another =
                    waited.is_some_and(|waited| waited.asked.as_ref() != Some(&question));
                if saw_another
                    || state.open.find_answered_question(message, Some(&question))
                        != Expecting::Decision
                {
                    answer.plain = true;
                    self.show_pending_action(approval, Some(Text::Remind), answer);
                    return Ok(());
                }
                return self.handle_decision(approval, state, answer).await;
            }
            if self.answer_ended_action(approval, state, answer).await {
                return Ok(());
            }
        }
        if repeated && read_reply(message) == Reply::Yes {
            state.open.apply_change(Change::Confirmed);
            Text::AlreadyDone.localize(self.locale).clone_into(&mut answer.text);
            answer.plain = true;
            return Ok(());
        }
        let expecting = state.open.find_answered_question(message, None);
        if let Expecting::Suggestion(way) = expecting {
            return self.follow_suggestion(way, state, answer).await;
        }
        state.open.apply_change(Change::SuggestionsPassed);
        if let Expecting::Choice(pick) = expecting {
            state.open.apply_change(Change::Chosen);
            return match pick {
                Pick::Part(part, quantity) => self.propose_part(&part, quantity, answer).await,
                Pick::Words(words) => self.ask_model(words, state, answer).await,
            };
        }
        self.ask_model(message.to_owned(), state, answer).await
    }

    pub(crate) fn turn_options(&self) -> TurnOptions {
        TurnOptions {
            locale: self.locale.to_owned(),
            caller: self.app.caller.clone(),
            request_id: self.ask.request_id.clone(),
            correlation_id: Some(
                self.ask.correlation.clone().unwrap_or_else(|| self.ask.turn.clone()),
            ),
            hints: Vec::new(),
            // If there is no stream, the caller does not read pieces of the answer.
            whole: !self.out.has_receiver(),
            preflight_tools: PREFLIGHT_TOOLS,
        }
    }

    // --- asking the model ---

    async fn ask_model(
        &self,
        text: String,
        state: &mut State,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        let engine = self.app.host.engine();
        let model = self.app.config.model.clone();
        let offered = state.open.offered_choices();
        let compared = if offered.is_none() {
            references::products_to_compare(&text, &state.memory)
        } else {
            Vec::new()
        };
        let options = TurnOptions {
            hints: references::reference_hints(&text, &state.memory, offered),
            ..self.turn_options()
        };
        let mut stream = engine
            .caller_turns
            .start(&self.session, text, model, options)
            .await
            .map_err(|error| Fault::from_error(&error, self.locale))?;
        answer.turn = Some(stream.turn().clone());
        let mut relay = EventRelay::new(
            self.out.clone(),
            self.locale,
            self.ask.debug,
            engine.caller_turns.specs(&self.app.caller),
        )
        .with_preface(answer.notice);
        let (end, stopped) = self.relay_events(&mut stream, &mut relay).await;
        answer.rounds = relay.rounds;
        // The calls of a failed turn are kept, too, because a change that was made must be in the
        // answer and the record.
        answer.calls = std::mem::take(&mut relay.calls);
        let failed = end.error.as_ref().filter(|_| end.status == TurnStatus::Error);
        if let Some(fault) =
            stopped.or_else(|| failed.map(|error| Fault::from_error(error, self.locale)))
        {
            relay.send_replaced_status(&fault.safe_message());
            // The question was never shown, so no later message may confirm it.
            if let Some(approval) = relay.approval.take() {
                self.withdraw_proposal(&approval, "The caller was never asked.", answer).await;
            }
            return Err(fault);
        }
        state.left =
            answer.calls.iter().filter_map(|call| call.describe_left_change(self.locale)).collect();
        self.show_products(&compared, state, answer).await;
        answer.text = end.text;
        match relay.approval.take() {
            Some(approval) => {
                self.handle_proposal(approval, state, answer).await?;
                self.append_left_changes(&state.left, answer);
            }
            None if self.ask_for_variant(state, answer).await? => {}
            None => {
                let looked_at =
                    answer.calls.iter().rev().find_map(|call| call.result_of(tools::GET));
                if let Some(kept) =
                    choices::choices_from_suggestions(&end.choices, looked_at, self.locale)
                {
                    answer.choices = choices::parse_shown(&kept);
                    state.open.apply_change(Change::ChoicesOffered(kept));
                }
            }
        }
        answer.refinements = refine::build_suggestions(&answer.calls);
        state
            .open
            .apply_change(Change::Suggested(refine::suggestions_to_store(&answer.calls, &[])));
        relay.send_replaced_status(&answer.text);
        Ok(())
    }

    /// Adds to the text which other changes the customer asked for that were not made.
    pub(crate) fn append_left_changes(&self, left: &[String], answer: &mut Answer) {
        if !left.is_empty() {
            answer.text = format!(
                "{} {}: {}.",
                answer.text,
                Text::OneAtATime.localize(self.locale),
                left.join("; ")
            );
        }
    }

    /// Makes cards and a comparison from the turn's products, and stores the numbers that the
    /// products have on the screen.
    pub(crate) async fn show_products(
        &self,
        compared: &[String],
        state: &mut State,
        answer: &mut Answer,
    ) {
        let details = self.product_details(answer).await;
        answer.cards = cards::collect_turn_cards(&answer.calls, &state.memory.search_candidates);
        cards::with_dimensions(&mut answer.cards, &details);
        answer.comparison = compare::compare_turn_products(&answer.calls, compared, self.locale);
        state.memory.remember_products(&answer.cards, &answer.calls);
        if !answer.cards.is_empty() {
            state.open.apply_change(Change::ProductsShown);
        }
    }

    /// Relays the turn's events until its end. Stops the turn if the client disconnects, the model
    /// is silent for too long, or the gateway shuts down.
    async fn relay_events(
        &self,
        stream: &mut engine::TurnStream,
        relay: &mut EventRelay,
    ) -> (End, Option<Fault>) {
        let config = &self.app.config;
        let latest = tokio::time::Instant::now() + config.turn_timeout;
        let mut stopped = None;
        let gone = || End {
            status: TurnStatus::Error,
            text: String::new(),
            choices: Vec::new(),
            error: Some(AgentError::internal("unexpected", "The turn ended.")),
        };
        loop {
            let until =
                relay.silent_since.map_or(latest, |since| latest.min(since + config.model_timeout));
            let why = tokio::select! {
                // An event that has arrived is handled before a timeout that expires at the same
                // moment.
                biased;
                event = stream.next() => {
                    let Some(event) = event else { return (gone(), stopped) };
                    match relay.handle_event(event) {
                        Some(end) => return (end, stopped),
                        None => continue,
                    }
                }
                () = self.leave.cancelled(), if stopped.is_none() => Fault::stopping(self.locale),
                () = self.app.give_up.cancelled(), if stopped.is_none() => Fault::stopping(self.locale),
                () = tokio::time::sleep_until(until), if stopped.is_none() => {
                    if until < latest { Fault::model_timeout(self.locale) } else { Fault::turn_timeout(self.locale) }
                }
            };
            // The cancelled turn still ends with an event, which must be read, because its calls
            // and records belong to the answer.
            stream.cancel();
            stopped = Some(why);
        }
    }

    // --- pending actions ---

    pub(crate) fn spec_of(&self, tool: &ToolId) -> Option<ToolSpec> {
        self.app
            .host
            .engine()
            .caller_turns
            .specs(&self.app.caller)
            .iter()
            .find(|spec| spec.id == *tool)
            .cloned()
    }

    pub(crate) fn tool_model_name(&self, approval: &Approval) -> String {
        self.spec_of(&approval.tool).map_or_else(|| approval.tool.0.clone(), |spec| spec.model_name)
    }

    /// Shows a pending action. Its question becomes the answer's text.
    pub(crate) fn show_pending_action(
        &self,
        approval: &Approval,
        before: Option<Text>,
        answer: &mut Answer,
    ) {
        let (pending, confirmation) =
            pending::approval_blocks(approval, &self.tool_model_name(approval), self.locale);
        let prompt = confirmation["prompt"].as_str().unwrap_or_default();
        answer.text = before.map_or_else(
            || prompt.to_owned(),
            |text| format!("{} {prompt}", text.localize(self.locale)),
        );
        (answer.pending_action, answer.confirmation) = (Some(pending), Some(confirmation));
    }

    /// Answers with a sentence of the host and stores it in the conversation.
    pub(crate) async fn answer_with_text(
        &self,
        text: Text,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        text.localize(self.locale).clone_into(&mut answer.text);
        self.store_exchange(answer).await
    }

    pub(crate) async fn store_exchange(&self, answer: &Answer) -> Result<(), Fault> {
        let kept = self
            .app
            .host
            .engine()
            .caller_turns
            .store_exchange(
                &self.session,
                &self.ask.request.message,
                &answer.text,
                &self.turn_options(),
            )
            .await;
        kept.map_err(|error| Fault::from_error(&error, self.locale))
    }
}
