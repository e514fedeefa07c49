//! Handles a caller's decision about a pending action: runs the action once and reports the
//! outcome, even if someone else or an earlier process ran the action.

use std::time::Instant;

use contract::{
    AgentError, Approval, ApprovalDecideParams, ApprovalStatus, CallId, Decision, ErrorCode,
    EventBody, ItemBody, Reason, ToolOutcome,
};
use language::yes_no::{Reply, read_reply};
use serde_json::{Value, json};

use crate::{
    call::Call,
    chat::{
        answer::Answer,
        expecting::Change,
        pending,
        relay::{send_tool_end, send_tool_start},
        state::State,
        turn::Turn,
    },
    fault::Fault,
    shop::tools,
    texts::{Text, tool_failure_text},
};

impl Turn<'_> {
    pub(crate) async fn handle_decision(
        &self,
        approval: &Approval,
        state: &mut State,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        answer.plain = true;
        let decision = match read_reply(&self.ask.request.message) {
            Reply::Other => {
                self.show_pending_action(approval, Some(Text::Remind), answer);
                return Ok(());
            }
            Reply::Yes => Decision::ApproveOnce { confirm_word: approval.confirm_word.clone() },
            Reply::No => Decision::Reject { reason: None },
        };
        let is_yes = matches!(decision, Decision::ApproveOnce { .. });
        let engine = self.app.host.engine();
        let params =
            ApprovalDecideParams { id: approval.id.clone(), hash: approval.hash.clone(), decision };
        if !is_yes {
            let (rejected, _) =
                engine.caller_turns.decide(approval, params, self.turn_options()).await;
            match rejected {
                Ok(_) => {}
                Err(error) if error.has_reason(Reason::NotPending) => {
                    self.answer_found_state(approval, state, answer).await;
                    return Ok(());
                }
                Err(error) => return Err(Fault::from_error(&error, self.locale)),
            }
            state.reported_action = Some(approval.id.to_string());
            // After a rejection, the other changes of the same message are no longer offered.
            state.left.clear();
            self.answer_with_decision(Text::Cancelled, answer).await;
            return Ok(());
        }
        answer.plain = false;
        let tool = self.tool_model_name(approval);
        let args: Value = self.model_arguments(approval);
        send_tool_start(self.out, &tool, &args, self.locale);
        let began = Instant::now();
        let (decided, events) =
            engine.caller_turns.decide(approval, params, self.turn_options()).await;
        let result = events.into_iter().find_map(result_of);
        let not_made = result
            .as_ref()
            .map_or(Text::ConfirmUnknown, |result| choose_result_text(approval, &args, result));
        // If the result could not be saved, no event contains it, and the action's status shows the
        // outcome.
        let without = match &decided {
            Ok(ended) if ended.status == ApprovalStatus::Done => ToolOutcome::Ok,
            Ok(_) => ToolOutcome::Unknown,
            Err(_) => ToolOutcome::Error,
        };
        let (outcome, data) = result.and_then(split_tool_result).unwrap_or((without, Value::Null));
        let ok = decided.is_ok() && outcome == ToolOutcome::Ok;
        send_tool_end(
            self.out,
            &tool,
            if ok { Ok(&data) } else { Err(tool_failure_text(&tool, self.locale)) },
            self.locale,
        );
        let executed = matches!(
            outcome,
            ToolOutcome::Ok | ToolOutcome::Error | ToolOutcome::Unknown | ToolOutcome::Cancelled
        );
        let call = Call {
            writes: true,
            executed,
            ..Call::new_finished(approval.call.clone(), tool, args, began, (outcome, data))
        };
        if let Err(error) = &decided {
            answer.calls.push(Call { outcome: Some(ToolOutcome::Error), executed: false, ..call });
            return self.answer_not_begun(error, approval, state, answer).await;
        }
        answer.calls.push(call);
        state.reported_action = Some(approval.id.to_string());
        if outcome == ToolOutcome::Ok {
            self.answer_confirmed_change(approval, state, answer).await;
            return Ok(());
        }
        // The change may have been made, so the answer shows the cart.
        if outcome == ToolOutcome::Unknown {
            self.reread_cart(Some(approval), state, answer).await;
        }
        self.answer_with_decision(not_made, answer).await;
        Ok(())
    }

    async fn answer_confirmed_change(
        &self,
        approval: &Approval,
        state: &mut State,
        answer: &mut Answer,
    ) {
        self.app.metrics.confirmed.inc();
        state.open.apply_change(Change::Confirmed);
        self.read_cart(Some(approval), answer).await;
        Text::Done.localize(self.locale).clone_into(&mut answer.text);
        self.append_left_changes(&std::mem::take(&mut state.left), answer);
        self.store_decision(answer).await;
    }

    /// Answers with the sentence about a decision, and stores it in the conversation.
    async fn answer_with_decision(&self, text: Text, answer: &mut Answer) {
        text.localize(self.locale).clone_into(&mut answer.text);
        self.store_decision(answer).await;
    }

    /// Stores the decision in the conversation. The customer gets the answer even if storing fails,
    /// for example because the assistant was switched off meanwhile.
    async fn store_decision(&self, answer: &Answer) {
        if let Err(fault) = self.store_exchange(answer).await {
            tracing::warn!(target: "gateway", requestId = %self.ask.request_id, code = fault.code, "what came of a decision is not kept in its conversation");
        }
    }

    /// Answers that a confirmed change was not started, with the reason.
    async fn answer_not_begun(
        &self,
        error: &AgentError,
        approval: &Approval,
        state: &mut State,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        let engine = self.app.host.engine();
        // The price, the customer or the cart has changed since the question was shown, so there is
        // a new proposal that the customer has not seen yet.
        if let Some(fresh) = engine
            .approvals
            .waiting_in(&self.session)
            .await
            .ok()
            .flatten()
            .filter(|fresh| fresh.id != approval.id)
        {
            self.show_pending_action(&fresh, Some(Text::ChangedSince), answer);
            return Ok(());
        }
        tracing::warn!(target: "gateway", requestId = %self.ask.request_id, %error, "a confirmed change was not made");
        match error.known_reason() {
            // The customer can repeat the message as soon as the shared sessions are reachable
            // again or the assistant is switched on. If the shared sessions failed after the
            // decision, the next answer reports the result.
            reason
                if matches!(reason, Some(Reason::SessionsAway | Reason::SettingsUnreadable))
                    || (error.code == ErrorCode::AgentDisabled
                        && !engine.switches.is_enabled()) =>
            {
                Err(Fault::from_error(error, self.locale))
            }
            Some(Reason::NotPending) => {
                self.answer_found_state(approval, state, answer).await;
                Ok(())
            }
            Some(_) | None => self.withdraw_unstarted_change(approval, state, answer).await,
        }
    }

    /// Withdraws a change that could not be started, so that no later confirmation starts it. If
    /// the withdrawal fails, asks about the change again.
    async fn withdraw_unstarted_change(
        &self,
        approval: &Approval,
        state: &mut State,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        let waits = async || {
            self.app
                .host
                .engine()
                .approvals
                .waiting_in(&self.session)
                .await
                // If the newest action cannot be read, this action counts as pending, so that the
                // customer is asked again and the action is not forgotten.
                .map_or(true, |newest| newest.is_some_and(|newest| newest.id == approval.id))
        };
        if waits().await
            && !self.withdraw_proposal(approval, "It could not be carried out.", answer).await
            && waits().await
        {
            self.show_pending_action(approval, Some(Text::Remind), answer);
            return Ok(());
        }
        state.reported_action = Some(approval.id.to_string());
        self.answer_with_decision(Text::ConfirmFailed, answer).await;
        Ok(())
    }

    /// Answers a confirmation of an action that is no longer pending and whose outcome was not
    /// reported yet, because someone else decided the action or its process ended. The answer shows
    /// the current cart. Returns false if the message is about something else.
    pub(crate) async fn answer_ended_action(
        &self,
        newest: &Approval,
        state: &mut State,
        answer: &mut Answer,
    ) -> bool {
        let begun = is_begun(newest.status);
        let was_shown = state.open.is_last_question(&pending::public_id(newest));
        let is_told = state.reported_action.as_deref() == Some(newest.id.as_str());
        if is_told || newest.status == ApprovalStatus::Pending || !(begun || was_shown) {
            return false;
        }
        let is_answer = match read_reply(&self.ask.request.message) {
            Reply::Yes => true,
            Reply::No => was_shown,
            Reply::Other => false,
        };
        if is_answer {
            self.answer_current_state(newest, state, answer).await;
            return true;
        }
        // If the cart cannot be read now, the next message tries again.
        if newest.status.is_final() && (!begun || self.reread_cart(None, state, answer).await) {
            state.reported_action = Some(newest.id.to_string());
        }
        // The session now contains the new cart. The calls of the answer itself are counted
        // separately.
        answer.update_cart(state);
        answer.calls.clear();
        false
    }

    /// Answers with the state of an action that was decided elsewhere, and with the current cart.
    /// Does not start the action again. If the action has not ended, a later answer reports its
    /// outcome.
    async fn answer_current_state(
        &self,
        approval: &Approval,
        state: &mut State,
        answer: &mut Answer,
    ) {
        answer.plain = true;
        state.reported_action = approval.status.is_final().then(|| approval.id.to_string());
        if !matches!(
            approval.status,
            ApprovalStatus::Rejected | ApprovalStatus::Cancelled | ApprovalStatus::Superseded
        ) {
            self.reread_cart(None, state, answer).await;
        }
        let text = match approval.status {
            status if !status.is_final() => Text::BeingDone,
            ApprovalStatus::Done => Text::AlreadyDone,
            ApprovalStatus::Failed => self.failure_text(approval).await,
            _ if read_reply(&self.ask.request.message) == Reply::No => Text::Cancelled,
            _ => Text::NotOpen,
        };
        self.answer_with_decision(text, answer).await;
    }

    /// Answers with the state of an action that someone else decided first. If the action cannot be
    /// read, it counts as running.
    async fn answer_found_state(
        &self,
        approval: &Approval,
        state: &mut State,
        answer: &mut Answer,
    ) {
        let begun = |_| Approval { status: ApprovalStatus::Executing, ..approval.clone() };
        let found = self.app.host.engine().approvals.get(&approval.id).await.unwrap_or_else(begun);
        self.answer_current_state(&found, state, answer).await;
    }

    /// Returns the sentence about a change that was started and failed, according to its stored
    /// result.
    async fn failure_text(&self, approval: &Approval) -> Text {
        let result = self.app.host.engine().approvals.result_of(approval).await.ok().flatten();
        result.map_or(Text::ConfirmUnknown, |result| {
            choose_result_text(approval, &self.model_arguments(approval), &result)
        })
    }

    /// Returns the arguments, excluding values that only the caller may set.
    fn model_arguments(&self, approval: &Approval) -> Value {
        let mut args: Value = serde_json::from_str(&approval.arguments).unwrap_or_default();
        if let (Some(spec), Some(args)) = (self.spec_of(&approval.tool), args.as_object_mut()) {
            args.retain(|name, _| spec.caller_owned.iter().all(|own| own.name != *name));
        }
        args
    }

    /// Reads the cart after a change with an unknown outcome, and stops showing the old cart. If
    /// the session has no cart id, no cart can be read, because a new cart that the change may have
    /// created cannot be found. Returns false if the cart could not be read.
    async fn reread_cart(
        &self,
        decided: Option<&Approval>,
        state: &mut State,
        answer: &mut Answer,
    ) -> bool {
        // The old cart may be wrong now, and a wrong cart is worse than no cart.
        state.cart = None;
        let engine = self.app.host.engine();
        let specs = engine.caller_turns.specs(&self.app.caller);
        let number = specs
            .iter()
            .filter(|spec| spec.model_name == tools::CART)
            .flat_map(|spec| &spec.caller_owned)
            .find(|own| own.name == "basketId");
        let Some(number) = number else { return true };
        match engine.values.read(&self.session, &[&number.from]).await {
            Ok(values) if values.contains_key(&number.from) => {
                self.read_cart(decided, answer).await
            }
            Ok(_) => true,
            Err(_) => false,
        }
    }

    /// Reads the cart after a change, in the turn of the change if it was decided just now. If that
    /// fails, the answer shows the change's own result. Returns whether the cart was read.
    async fn read_cart(&self, decided: Option<&Approval>, answer: &mut Answer) -> bool {
        let engine = self.app.host.engine();
        let Some(get) = engine
            .caller_turns
            .specs(&self.app.caller)
            .iter()
            .find(|spec| spec.model_name == tools::CART)
            .cloned()
        else {
            return false;
        };
        send_tool_start(self.out, tools::CART, &json!({}), self.locale);
        let began = Instant::now();
        let options = self.turn_options();
        let called = match decided {
            Some(decided) => {
                engine.caller_turns.call_after(decided, get.id, json!({}), options).await
            }
            None => engine.caller_turns.call(&self.session, get.id, json!({}), options).await.0,
        };
        let (outcome, data) = called.map_or((ToolOutcome::Error, Value::Null), |response| {
            (response.outcome, response.data)
        });
        let ended = if outcome == ToolOutcome::Ok {
            Ok(&data)
        } else {
            Err(tool_failure_text(tools::CART, self.locale))
        };
        send_tool_end(self.out, tools::CART, ended, self.locale);
        answer.calls.push(Call::new_finished(
            CallId::new("cart"),
            tools::CART.into(),
            json!({}),
            began,
            (outcome, data),
        ));
        outcome == ToolOutcome::Ok
    }
}

/// Whether the action was approved and its request may have reached the shop.
fn is_begun(status: ApprovalStatus) -> bool {
    matches!(
        status,
        ApprovalStatus::Approved
            | ApprovalStatus::Executing
            | ApprovalStatus::Done
            | ApprovalStatus::Failed
    )
}

fn result_of(event: EventBody) -> Option<ItemBody> {
    let EventBody::Item { item } = event else { return None };
    matches!(item.body, ItemBody::ToolResult { .. }).then_some(item.body)
}

fn split_tool_result(result: ItemBody) -> Option<(ToolOutcome, Value)> {
    let ItemBody::ToolResult { outcome, data, .. } = result else { return None };
    Some((outcome, data))
}

/// Returns the sentence for a change that failed or whose outcome is unknown, according to the
/// result of its call. The sentence never contains the shop's own text.
fn choose_result_text(approval: &Approval, args: &Value, result: &ItemBody) -> Text {
    let ItemBody::ToolResult { outcome, error, .. } = result else { return Text::ConfirmUnknown };
    let is_refused = error.as_ref().is_some_and(|error| error.has_reason(Reason::McpToolError));
    // The sentence can only suggest a smaller number if the quantity is above one.
    let several = args["quantity"].as_u64().is_some_and(|quantity| quantity > 1);
    match outcome {
        ToolOutcome::Ok => Text::AlreadyDone,
        ToolOutcome::Unknown => Text::ConfirmUnknown,
        _ if !is_refused || approval.tool.as_str() == tools::REMOVE_ID => Text::ConfirmFailed,
        _ if several => Text::ConfirmRefusedSeveral,
        _ => Text::ConfirmRefused,
    }
}
