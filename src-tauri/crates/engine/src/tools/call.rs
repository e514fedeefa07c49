//! Defines the data of a tool call before and after it runs. `executor` and `dispatch` run the
//! call.

use std::{sync::Arc, time::Duration};

use contract::{
    AgentError, CallId, Effect, ItemBody, PackId, ResultView, ToolId, ToolOutcome, ToolSpec,
};
use policy::Decision;
use serde_json::{Map, Value, json};

use crate::{
    context::{
        egress::EgressSession, entities::Used, history, offered_form::offered_result,
        results::ResultStore,
    },
    ports::{AskedCall, Message},
    tools::oversize::Cut,
};

/// A call that has passed all checks before the approval gate.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    pub(crate) call: CallId,
    pub(crate) spec: Arc<ToolSpec>,
    /// The coerced arguments, without caller-owned values.
    pub(crate) arguments: Value,
    pub(crate) decision: Decision,
    /// The changes that coercion made to the arguments, for the record.
    pub(crate) coerced: Vec<String>,
    /// The values that the call took from the specialist's defaults.
    pub(crate) defaults: Vec<Used>,
    /// Whether the arguments come from an approval and already have the format that the server
    /// expects.
    pub(crate) is_adapted: bool,
    /// Whether untrusted content was in the turn when the policy decided.
    pub(crate) follows_untrusted: bool,
    /// The names of the arguments that the person typed, if untrusted content was in the turn.
    pub(crate) typed: Vec<String>,
}

/// How a call ended.
#[derive(Clone, Debug)]
pub(crate) struct CallDone {
    pub(crate) call: CallId,
    pub(crate) tool: ToolId,
    /// The pack of the tool. None for a tool that does not exist.
    pub(crate) pack: Option<PackId>,
    pub(crate) model_name: String,
    pub(crate) title: String,
    pub(crate) effect: Effect,
    pub(crate) arguments: Value,
    pub(crate) outcome: ToolOutcome,
    pub(crate) summary: String,
    pub(crate) data: Arc<Value>,
    pub(crate) error: Option<AgentError>,
    pub(crate) view: ResultView,
    pub(crate) duration: Duration,
    /// The time of the earlier analysis that was reused, if any.
    pub(crate) as_of: Option<String>,
    /// The values that the call took from the specialist's defaults.
    pub(crate) defaults: Vec<Used>,
    /// Whether the call's outcome is already in the log.
    pub(crate) is_recorded: bool,
    /// The size and hash of the whole result, if the result was too large to be stored.
    pub(crate) cut: Option<Cut>,
    /// Whether the result must stay on this computer.
    pub(crate) local_only: bool,
    /// Whether untrusted content was in the turn when the policy decided.
    pub(crate) follows_untrusted: bool,
    /// Whether the result may contain outside content. If the call was not made, the result comes
    /// from the host, but in a marked turn the arguments in the item may contain outside content.
    pub(crate) is_untrusted: bool,
}

impl CallDone {
    /// Creates the result of a failed or refused call. The error's message becomes the summary.
    pub(crate) fn failed(ready: &Ready, outcome: ToolOutcome, error: AgentError) -> Self {
        let summary = error.message.clone();
        Self::of(ready, outcome, Some(error), summary)
    }

    pub(crate) fn of(
        ready: &Ready,
        outcome: ToolOutcome,
        error: Option<AgentError>,
        summary: impl Into<String>,
    ) -> Self {
        Self {
            call: ready.call.clone(),
            tool: ready.spec.id.clone(),
            pack: Some(ready.spec.pack.clone()),
            model_name: ready.spec.model_name.clone(),
            title: ready.spec.title.clone(),
            effect: ready.spec.effect,
            arguments: ready.arguments.clone(),
            outcome,
            summary: summary.into(),
            data: Arc::new(Value::Null),
            error,
            view: ready.spec.view.clone(),
            duration: Duration::ZERO,
            as_of: None,
            defaults: ready.defaults.clone(),
            is_recorded: false,
            cut: None,
            local_only: false,
            follows_untrusted: ready.follows_untrusted,
            is_untrusted: ready.follows_untrusted,
        }
    }

    /// Returns the result as an item of the conversation.
    pub(crate) fn item_body(&self) -> ItemBody {
        ItemBody::ToolResult {
            call: self.call.clone(),
            tool: self.tool.clone(),
            outcome: self.outcome,
            summary: self.summary.clone(),
            data: (*self.data).clone(),
            error: self.error.clone(),
            local_only: Some(self.local_only),
            view: self.view.clone(),
            parsed: None,
            untrusted: self.is_untrusted,
            duration_ms: u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Returns the call with the result that a language model gets. A model that reads values gets the
    /// whole result.
    pub(crate) fn offered(mut self, specs: &[ToolSpec], words: &EgressSession) -> Self {
        let spec = specs.iter().find(|spec| !words.reads_values() && spec.id == self.tool);
        if let (ToolOutcome::Ok, Some(spec)) = (self.outcome, spec) {
            self.data = offered_result(&spec.output_schema, &self.data);
        }
        self
    }

    /// Returns the result as a message for the model. If the text is shortened, the whole result is
    /// added to `kept`.
    pub(crate) fn message(
        self,
        limit: usize,
        kept: &mut ResultStore,
        words: &EgressSession,
    ) -> Message {
        let data = match (&self.outcome, &self.error) {
            (ToolOutcome::Ok, _) => self.data,
            (outcome, error) => Arc::new(history::result_value(
                *outcome,
                &self.data,
                error.as_ref().map(|e| json!(e.clone().in_english())),
                &self.summary,
            )),
        };
        let call = &self.call;
        let handle = kept.is_readable().then_some(call);
        let cap = |limit: usize| move |text: &str| history::shorten_text(text, limit, handle);
        let (content, value, is_cut) =
            words.redact_new_result(call, &data, &cap(limit), &cap(history::OLD_RESULT_CHARS));
        if is_cut {
            kept.keep(call, data);
        }
        Message::Tool {
            name: words.redact_name(&self.model_name),
            call: self.call,
            content,
            data: value,
        }
    }
}

/// Returns the result of a call of a tool that does not exist.
pub(crate) fn unknown_tool(call: AskedCall, error: AgentError) -> CallDone {
    CallDone {
        call: call.id,
        tool: ToolId(call.name.clone()),
        pack: None,
        model_name: call.name.clone(),
        title: call.name,
        effect: Effect::ReadOnly,
        arguments: serde_json::from_str(&call.arguments).unwrap_or(Value::Object(Map::new())),
        outcome: ToolOutcome::Error,
        summary: error.message.clone(),
        data: Arc::new(Value::Null),
        error: Some(error),
        view: ResultView::default(),
        duration: Duration::ZERO,
        as_of: None,
        defaults: Vec::new(),
        is_recorded: false,
        cut: None,
        local_only: false,
        follows_untrusted: false,
        is_untrusted: false,
    }
}

/// Whether a call is a read that needs no approval.
pub(crate) fn is_free_read(ready: &Ready) -> bool {
    ready.spec.effect == Effect::ReadOnly && matches!(ready.decision, Decision::Allow { .. })
}
