//! Collects the blocks of a turn's answer, and joins them into the response.

use axum::http::StatusCode;
use contract::TurnId;
use serde_json::{Map, Value, json};

use crate::{
    call::Call,
    chat::{
        relay::{prepend_notice, summarise_result},
        request::AdmittedRequest,
        response::{ChatResponse, Outcome},
        state::State,
    },
    fault::Fault,
    json::text,
    shop::{Cart, cards::Card, choices::Shown, items, tools},
};

#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    /// The model's turn that gave the answer, if there was one.
    pub(crate) turn: Option<TurnId>,
    pub(crate) cards: Vec<Card>,
    pub(crate) comparison: Option<Value>,
    pub(crate) rounds: u32,
    pub(crate) choices: Option<Shown>,
    pub(crate) refinements: Vec<Value>,
    pub(crate) pending_action: Option<Value>,
    pub(crate) confirmation: Option<Value>,
    cart: Option<Cart>,
    /// The sentence that precedes the text in the first answer of a session.
    pub(crate) notice: Option<&'static str>,
    /// Whether the answer is only a reminder, a refusal or a repetition, which has no debug block.
    pub(crate) plain: bool,
    pub(crate) fault: Option<Fault>,
}

impl Answer {
    /// Makes the answer of a turn that failed without any other content.
    pub(crate) fn from_fault(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }

    /// Returns the public id of the action that the answer asks the customer about.
    pub(crate) fn pending_action_id(&self) -> Option<String> {
        self.pending_action.as_ref().and_then(|pending| text(&pending["pendingActionId"]))
    }

    /// Takes the newest cart of the turn into the session's state. If the turn has none, the answer
    /// shows the session's cart.
    pub(crate) fn update_cart(&mut self, state: &mut State) {
        let newest = self
            .calls
            .iter()
            .rev()
            .filter(|call| call.is_ok() && tools::is_of_cart(&call.tool))
            .find_map(|call| Cart::read(&call.data));
        if newest.is_some() {
            state.cart = newest;
        }
        self.cart.clone_from(&state.cart);
    }

    pub(crate) fn to_outcome(&self, ask: &AdmittedRequest) -> Outcome {
        let mut response = ChatResponse {
            turn_id: ask.turn.clone(),
            session_id: ask.request.session.clone(),
            text: self.text.clone(),
            ..ChatResponse::default()
        };
        if let Some(fault) = &self.fault {
            response.text = fault.safe_message();
            response.error = Some(fault.envelope(&ask.request_id, ask.debug));
            return Outcome { status: fault.status, response, fault: Some(fault.clone()) };
        }
        if let Some(notice) = self.notice {
            response.text = prepend_notice(notice, &self.text);
        }
        response.cards.clone_from(&self.cards);
        response.refinements.clone_from(&self.refinements);
        response.choices.clone_from(&self.choices);
        response.comparison.clone_from(&self.comparison);
        response.cart.clone_from(&self.cart);
        response.pending_action.clone_from(&self.pending_action);
        response.confirmation.clone_from(&self.confirmation);
        response.debug = (ask.debug && !self.plain).then(|| self.debug_block(ask));
        Outcome { status: StatusCode::OK, response, fault: None }
    }

    fn debug_block(&self, ask: &AdmittedRequest) -> Value {
        let context: Map<String, Value> = ["cultureCode", "currencyCode"]
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), ask.request.context.get(*name)?.clone())))
            .collect();
        let trace: Vec<Value> =
            self.calls.iter().map(|call| describe_call(call, &context)).collect();
        let mut debug = json!({"toolTrace": trace, "requestId": ask.request_id});
        let gets: Vec<&Call> = self.calls.iter().filter(|call| call.tool == tools::GET).collect();
        if let Some(comparison) = &self.comparison {
            debug["compare"] =
                json!({"productIds": comparison["productIds"], "productGetCallCount": gets.len()});
        }
        debug
    }
}

/// Describes a call for the debug block. Leaves out the shop's data, and includes only two codes
/// from the caller's context.
fn describe_call(call: &Call, context: &Map<String, Value>) -> Value {
    let mut entry = json!({"tool": call.tool, "args": call.args, "ms": call.duration_ms});
    if call.is_ok() {
        entry["result"] = summarise_result(&call.tool, &call.data);
    } else if !call.proposed {
        entry["error"] = json!(call.code.unwrap_or("failed"));
    }
    if call.outcome == Some(contract::ToolOutcome::Denied) || call.proposed {
        entry["blockedByPolicy"] = json!(true);
    }
    if call.proposed {
        entry["pendingActionCreated"] = json!(true);
    }
    if call.executed {
        entry["pendingActionExecuted"] = json!(true);
    }
    if !context.is_empty() {
        entry["effectiveContext"] = Value::Object(context.clone());
    }
    if let Some(ignored) = &call.ignored {
        entry["modelContextIgnored"] = json!(true);
        let offered = |name: &str| {
            [&ignored["context"][name], &ignored[name]]
                .into_iter()
                .find(|value| value.is_string())
                .cloned()
        };
        let preview: Map<String, Value> = ["cultureCode", "currencyCode"]
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), offered(name)?)))
            .collect();
        if !preview.is_empty() {
            entry["modelProvidedContextPreview"] = Value::Object(preview);
        }
    }
    if call.tool == tools::SEARCH && call.is_ok() {
        if let Some(told) = call.data.get("querySimplification") {
            entry["querySimplification"] = told.clone();
        }
        let with =
            items(&call.data).iter().filter(|item| !item["thumbnailImageKey"].is_null()).count();
        entry["thumbnailsPresentCount"] = json!(with);
    }
    entry
}
