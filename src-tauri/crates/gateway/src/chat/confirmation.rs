//! A caller's decision about what waits: carried out once, told as it ended, also when somebody
//! else or an earlier process ran it.

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
        relay::{tell_end, tell_start},
        state::State,
        turn::Turn,
    },
    fault::Fault,
    shop::tools,
    texts::{Text, tool_fails},
};

impl Turn<'_> {
    pub(crate) async fn decide(
        &self,
        approval: &Approval,
        state: &mut State,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        answer.plain = true;
        let decision = match read_reply(&self.ask.request.message) {
            Reply::Other => {
                self.show(approval, Some(Text::Remind), answer);
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
            let (rejected, _) = engine.decide_for(approval, params, self.around()).await;
            match rejected {
                Ok(_) => {}
                Err(error) if error.has_reason(Reason::NotPending) => {
                    self.tell_as_found(approval, state, answer).await;
                    return Ok(());
                }
                Err(error) => return Err(Fault::of(&error, self.locale)),
            }
            state.told_of = Some(approval.id.to_string());
            state.left.clear();
            self.tell_decided(Text::Cancelled, answer).await;
            return Ok(());
        }
        answer.plain = false;
        let tool = self.tool_of(approval);
        let args: Value = self.model_arguments(approval);
        tell_start(self.out, &tool, &args, self.locale);
        let began = Instant::now();
        let (decided, events) = engine.decide_for(approval, params, self.around()).await;
        let result = events.into_iter().find_map(result_of);
        let not_made =
            result.as_ref().map_or(Text::ConfirmUnknown, |result| told_as(approval, &args, result));
        // A result that could not be saved is not heard of: then the action itself tells.
        let without = match &decided {
            Ok(ended) if ended.status == ApprovalStatus::Done => ToolOutcome::Ok,
            Ok(_) => ToolOutcome::Unknown,
            Err(_) => ToolOutcome::Error,
        };
        let (outcome, data) = result.and_then(outcome_of).unwrap_or((without, Value::Null));
        let ok = decided.is_ok() && outcome == ToolOutcome::Ok;
        tell_end(
            self.out,
            &tool,
            if ok { Ok(&data) } else { Err(tool_fails(&tool, self.locale)) },
            self.locale,
        );
        let executed = matches!(
            outcome,
            ToolOutcome::Ok | ToolOutcome::Error | ToolOutcome::Unknown | ToolOutcome::Cancelled
        );
        let call = Call {
            writes: true,
            executed,
            ..Call::made(approval.call.clone(), tool, args, began, (outcome, data))
        };
        if let Err(error) = &decided {
            answer.calls.push(Call { outcome: Some(ToolOutcome::Error), executed: false, ..call });
            return self.not_made(error, approval, state, answer).await;
        }
        answer.calls.push(call);
        state.told_of = Some(approval.id.to_string());
        if outcome == ToolOutcome::Ok {
            self.made(state, answer).await;
            return Ok(());
        }
        // The change may be there: the customer is sent to the cart.
        if outcome == ToolOutcome::Unknown {
            self.look_again(state, answer).await;
        }
        self.tell_decided(not_made, answer).await;
        Ok(())
    }

    async fn made(&self, state: &mut State, answer: &mut Answer) {
        self.app.metrics.confirmed.add();
        state.open.apply(Change::Confirmed);
        self.look_at_cart(answer).await;
        Text::Done.of(self.locale).clone_into(&mut answer.text);
        self.name_left(&std::mem::take(&mut state.left), answer);
        self.keep_decided(answer).await;
    }

    /// Answers with what came of a decision, which has been carried out.
    async fn tell_decided(&self, text: Text, answer: &mut Answer) {
        text.of(self.locale).clone_into(&mut answer.text);
        self.keep_decided(answer).await;
    }

    /// Adds the decision to the conversation. The customer is told even if that fails, for example
    /// because the app was switched off meanwhile.
    async fn keep_decided(&self, answer: &Answer) {
        if let Err(fault) = self.keep_exchange(answer).await {
            tracing::warn!(target: "gateway", requestId = %self.ask.request_id, code = fault.code, "what came of a decision is not kept in its conversation");
        }
    }

    /// Why a confirmed change was not even begun.
    async fn not_made(
        &self,
        error: &AgentError,
        approval: &Approval,
        state: &mut State,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        let engine = self.app.host.engine();
        // Prices, customer or basket are not what was shown: there is a new proposal, and it has
        // not been seen yet.
        if let Some(fresh) = engine
            .waiting_in(&self.session)
            .await
            .ok()
            .flatten()
            .filter(|fresh| fresh.id != approval.id)
        {
            self.show(&fresh, Some(Text::ChangedSince), answer);
            return Ok(());
        }
        tracing::warn!(target: "gateway", requestId = %self.ask.request_id, %error, "a confirmed change was not made");
        match error.known_reason() {
            // The same message may come again, once the sessions are back or everything is switched
            // on. Where the sessions went away behind the decision it is told then what came of it.
            reason
                if reason == Some(Reason::SessionsAway)
                    || (error.code == ErrorCode::AgentDisabled && !engine.is_enabled()) =>
            {
                Err(Fault::of(error, self.locale))
            }
            Some(Reason::NotPending) => {
                self.tell_as_found(approval, state, answer).await;
                Ok(())
            }
            Some(_) | None => self.give_up(approval, state, answer).await,
        }
    }

    /// Takes back a change that could not be begun, so that no later yes begins it. If even that
    /// fails, asks about it again.
    async fn give_up(
        &self,
        approval: &Approval,
        state: &mut State,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        let waits = async || {
            self.app
                .host
                .engine()
                .waiting_in(&self.session)
                .await
                .map_or(true, |newest| newest.is_some_and(|newest| newest.id == approval.id))
        };
        if waits().await
            && !self.withdraw(approval, "It could not be carried out.", answer).await
            && waits().await
        {
            self.show(approval, Some(Text::Remind), answer);
            return Ok(());
        }
        state.told_of = Some(approval.id.to_string());
        self.tell_decided(Text::ConfirmFailed, answer).await;
        Ok(())
    }

    /// Answers the confirmation of an action that does not wait any more, and of whose end nobody
    /// was told: somebody else decided it, or the process that ran it died. Returns false if the
    /// message is about something else; it is answered with the cart of now.
    pub(crate) async fn answers_end(
        &self,
        newest: &Approval,
        state: &mut State,
        answer: &mut Answer,
    ) -> bool {
        let begun = is_begun(newest.status);
        let was_shown = state.open.is_asked(&pending::public_id(newest));
        let is_told = state.told_of.as_deref() == Some(newest.id.as_str());
        if is_told || newest.status == ApprovalStatus::Pending || !(begun || was_shown) {
            return false;
        }
        let is_answer = match read_reply(&self.ask.request.message) {
            Reply::Yes => true,
            Reply::No => was_shown,
            Reply::Other => false,
        };
        if is_answer {
            self.tell_as_it_stands(newest, state, answer).await;
            return true;
        }
        // Where the cart cannot be read, the next message reads it.
        if newest.status.is_final() && (!begun || self.look_again(state, answer).await) {
            state.told_of = Some(newest.id.to_string());
        }
        // The session has the cart from here on; the calls of the answer are its own.
        answer.note_cart(state);
        answer.calls.clear();
        false
    }

    /// Answers with the state of an action that was decided elsewhere, and with the cart of now.
    /// The action is not begun again. If it has not ended, its end is reported later.
    async fn tell_as_it_stands(&self, approval: &Approval, state: &mut State, answer: &mut Answer) {
        answer.plain = true;
        state.told_of = approval.status.is_final().then(|| approval.id.to_string());
        if !matches!(
            approval.status,
            ApprovalStatus::Rejected | ApprovalStatus::Cancelled | ApprovalStatus::Superseded
        ) {
            self.look_again(state, answer).await;
        }
        let text = match approval.status {
            status if !status.is_final() => Text::BeingDone,
            ApprovalStatus::Done => Text::AlreadyDone,
            ApprovalStatus::Failed => self.why_failed(approval).await,
            _ if read_reply(&self.ask.request.message) == Reply::No => Text::Cancelled,
            _ => Text::NotOpen,
        };
        self.tell_decided(text, answer).await;
    }

    /// The same for an action that somebody else decided first. If it cannot be read, it counts as
    /// under way.
    async fn tell_as_found(&self, approval: &Approval, state: &mut State, answer: &mut Answer) {
        let begun = |_| Approval { status: ApprovalStatus::Executing, ..approval.clone() };
        let found = self.app.host.engine().approval(&approval.id).await.unwrap_or_else(begun);
        self.tell_as_it_stands(&found, state, answer).await;
    }

    /// How a change that was begun and has failed is told, as far as the conversation has its
    /// result.
    async fn why_failed(&self, approval: &Approval) -> Text {
        let result = self.app.host.engine().result_of(approval).await.ok().flatten();
        result.map_or(Text::ConfirmUnknown, |result| {
            told_as(approval, &self.model_arguments(approval), &result)
        })
    }

    /// The arguments as the model gave them, without what is the caller's.
    fn model_arguments(&self, approval: &Approval) -> Value {
        let mut args: Value = serde_json::from_str(&approval.arguments).unwrap_or_default();
        if let (Some(spec), Some(args)) = (self.spec_of(&approval.tool), args.as_object_mut()) {
            args.retain(|name, _| spec.caller_owned.iter().all(|own| own.name != *name));
        }
        args
    }

    /// Reads the cart again, of which nobody knows whether it has changed; the one from before is
    /// not shown any more. Where there is no basket's number there is no cart to read: the one that
    /// the change may have begun cannot be found. Returns false if it could not be read.
    async fn look_again(&self, state: &mut State, answer: &mut Answer) -> bool {
        state.cart = None;
        let engine = self.app.host.engine();
        let specs = engine.specs();
        let number = specs
            .iter()
            .filter(|spec| spec.model_name == tools::CART)
            .flat_map(|spec| &spec.caller_owned)
            .find(|own| own.name == "basketId");
        let Some(number) = number else { return true };
        match engine.values_of(&self.session, &[&number.from]).await {
            Ok(values) if values.contains_key(&number.from) => self.look_at_cart(answer).await,
            Ok(_) => true,
            Err(_) => false,
        }
    }

    /// Reads the cart after a change; when that fails the change's own answer is shown. Tells
    /// whether it was read.
    async fn look_at_cart(&self, answer: &mut Answer) -> bool {
        let engine = self.app.host.engine();
        let Some(get) = engine.specs().iter().find(|spec| spec.model_name == tools::CART).cloned()
        else {
            return false;
        };
        tell_start(self.out, tools::CART, &json!({}), self.locale);
        let began = Instant::now();
        let (called, _) = engine.call_heard(&self.session, get.id, json!({}), self.around()).await;
        let (outcome, data) = called.map_or((ToolOutcome::Error, Value::Null), |response| {
            (response.outcome, response.data)
        });
        let ended = if outcome == ToolOutcome::Ok {
            Ok(&data)
        } else {
            Err(tool_fails(tools::CART, self.locale))
        };
        tell_end(self.out, tools::CART, ended, self.locale);
        answer.calls.push(Call::made(
            CallId::new("cart"),
            tools::CART.into(),
            json!({}),
            began,
            (outcome, data),
        ));
        outcome == ToolOutcome::Ok
    }
}

/// Whether it was approved, so that the shop may have been asked.
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

fn outcome_of(result: ItemBody) -> Option<(ToolOutcome, Value)> {
    let ItemBody::ToolResult { outcome, data, .. } = result else { return None };
    Some((outcome, data))
}

/// How a change is told that is not known to be made, by the result of its call; never what the
/// shop said.
fn told_as(approval: &Approval, args: &Value, result: &ItemBody) -> Text {
    let ItemBody::ToolResult { outcome, error, .. } = result else { return Text::ConfirmUnknown };
    let is_refused = error.as_ref().is_some_and(|error| error.has_reason(Reason::McpToolError));
    // Of one there is no smaller number.
    let several = args["quantity"].as_u64().is_some_and(|quantity| quantity > 1);
    match outcome {
        ToolOutcome::Ok => Text::AlreadyDone,
        ToolOutcome::Unknown => Text::ConfirmUnknown,
        _ if !is_refused || approval.tool.as_str() == tools::REMOVE_ID => Text::ConfirmFailed,
        _ if several => Text::ConfirmRefusedSeveral,
        _ => Text::ConfirmRefused,
    }
}
