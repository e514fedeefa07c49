//! Translates the engine's events into events for the caller, and collects the turn's calls, text
//! and pending action.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use contract::{
    AgentError, Approval, CallId, Choice, Effect, ErrorCode, EventBody, ItemBody, Reason, Stage,
    ToolOutcome, ToolSpec, TurnStatus,
};
use serde_json::{Value, json};

use crate::{
    call::Call,
    chat::sse::SseSink,
    fault::Fault,
    json::text,
    shop::{items, lines, tools},
    texts::{Text, tool_failure_text, tool_name, tool_start_text},
};

/// The end of a turn.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) status: TurnStatus,
    pub(crate) text: String,
    pub(crate) choices: Vec<Choice>,
    pub(crate) error: Option<AgentError>,
}

pub(crate) struct EventRelay {
    out: SseSink,
    locale: &'static str,
    debug: bool,
    specs: Arc<Vec<ToolSpec>>,
    pub(crate) calls: Vec<Call>,
    /// Calls that were not reported to the caller yet, in order. The start of the first call may
    /// already be reported.
    waiting: VecDeque<CallId>,
    announced: bool,
    ignored: Vec<Value>,
    pub(crate) rounds: u32,
    searched: bool,
    /// A sentence of the gateway that is sent before the first delta.
    preface: Option<&'static str>,
    /// The part of the model's text that was sent as deltas.
    streamed: String,
    current: String,
    /// Whether the text of this round was reclassified as reasoning, so that the round continues.
    was_replaced: bool,
    asides: Vec<String>,
    pub(crate) approval: Option<Approval>,
    /// Since when the gateway has been waiting for the model. None if no model call is running.
    /// Notices do not count as an answer of the model.
    pub(crate) silent_since: Option<tokio::time::Instant>,
}

impl EventRelay {
    pub(crate) fn new(
        out: SseSink,
        locale: &'static str,
        debug: bool,
        specs: Arc<Vec<ToolSpec>>,
    ) -> Self {
        Self {
            out,
            locale,
            debug,
            specs,
            calls: Vec::new(),
            waiting: VecDeque::new(),
            announced: false,
            ignored: Vec::new(),
            rounds: 0,
            searched: false,
            preface: None,
            streamed: String::new(),
            current: String::new(),
            was_replaced: false,
            asides: Vec::new(),
            approval: None,
            silent_since: None,
        }
    }

    /// Returns the relay with a sentence that is sent before the streamed text.
    pub(crate) fn with_preface(self, preface: Option<&'static str>) -> Self {
        Self { preface, ..self }
    }

    /// Handles an event. Returns the turn's end if this is the last event.
    pub(crate) fn handle_event(&mut self, event: EventBody) -> Option<End> {
        self.silent_since = match &event {
            EventBody::Status { stage: Stage::Thinking, .. }
            | EventBody::Delta { .. }
            | EventBody::Reasoning { .. } => Some(tokio::time::Instant::now()),
            EventBody::Item { item } if matches!(item.body, ItemBody::Notice { .. }) => {
                self.silent_since
            }
            _ => None,
        };
        match event {
            EventBody::Status { stage: Stage::OutputReplaced, .. } => {
                self.current.clear();
                self.was_replaced = true;
            }
            EventBody::Status { stage: Stage::Thinking, .. } => {
                if !std::mem::take(&mut self.was_replaced) {
                    self.start_round();
                }
            }
            EventBody::Delta { text } => self.send_delta(&text),
            EventBody::ToolStart { call, tool, arguments, .. } => {
                self.record_call_start(call, tool.as_str(), arguments)
            }
            EventBody::DevStatus { text, data } if text == engine::IGNORED => {
                self.ignored.push(data)
            }
            EventBody::ApprovalRequested { approval } => self.record_proposal(*approval),
            EventBody::Item { item } => {
                if let ItemBody::ToolResult { call, outcome, data, error, duration_ms, .. } =
                    item.body
                {
                    self.record_call_end(&call, outcome, data, error.as_ref(), duration_ms);
                }
            }
            EventBody::Final { status, text, choices, error, .. } => {
                return Some(self.finish_turn(status, text, choices, error));
            }
            EventBody::Status { .. }
            | EventBody::DevStatus { .. }
            | EventBody::AgentStart { .. }
            | EventBody::AgentEnd { .. }
            | EventBody::ToolEnd { .. }
            | EventBody::ApprovalResolved { .. }
            | EventBody::Reasoning { .. }
            | EventBody::Blocks { .. }
            | EventBody::Error { .. } => {}
        }
        None
    }

    fn start_round(&mut self) {
        self.rounds += 1;
        let compared =
            self.calls.iter().filter(|call| call.tool == tools::GET && call.is_ok()).count() > 1;
        let text = match (self.searched, compared) {
            (_, true) => Text::Comparing,
            (true, false) => Text::Refining,
            (false, false) if self.rounds > 1 => Text::Finalizing,
            (false, false) => Text::Thinking,
        };
        self.searched = false;
        self.out.send_status(text.localize(self.locale));
        if self.debug {
            self.out.send_event(
                "dev_status",
                json!({"message": format!("round {}", self.rounds), "round": self.rounds}),
            );
        }
    }

    fn send_delta(&mut self, text: &str) {
        let gap = if self.current.is_empty() && !self.asides.is_empty() { "\n\n" } else { "" };
        self.current.push_str(text);
        let sent = format!("{gap}{text}");
        self.streamed.push_str(&sent);
        match self.preface.take() {
            Some(preface) => self.out.send_delta(prepend_notice(preface, &sent)),
            None => self.out.send_delta(sent),
        }
    }

    fn record_call_start(&mut self, id: CallId, tool: &str, args: Value) {
        let said = std::mem::take(&mut self.current);
        if !said.is_empty() {
            // Text beside calls stays a part of the answer.
            self.asides.push(said);
        }
        let spec = self.specs.iter().find(|spec| spec.id.as_str() == tool);
        let ignored = self
            .ignored
            .iter()
            .position(|data| data["tool"] == tool)
            .map(|at| self.ignored.remove(at)["arguments"].take());
        let (known, writes) =
            (spec.is_some(), spec.is_some_and(|spec| spec.effect != Effect::ReadOnly));
        self.calls.push(Call {
            id: id.clone(),
            tool: spec.map_or_else(|| tool.to_owned(), |spec| spec.model_name.clone()),
            args: with_text_ids(args),
            known,
            writes,
            outcome: None,
            data: Value::Null,
            code: None,
            proposed: false,
            executed: false,
            ignored,
            began: Instant::now(),
            duration_ms: 0,
            asked: true,
            is_left: false,
        });
        self.waiting.push_back(id);
        self.report_calls();
    }

    fn record_proposal(&mut self, approval: Approval) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == approval.call) {
            call.proposed = true;
        }
        // A call that waits for confirmation is not reported.
        if self.waiting.front() == Some(&approval.call) {
            self.announced = false;
        }
        self.waiting.retain(|id| *id != approval.call);
        self.approval = Some(approval);
        self.report_calls();
    }

    fn record_call_end(
        &mut self,
        id: &CallId,
        outcome: ToolOutcome,
        data: Value,
        error: Option<&AgentError>,
        duration_ms: u64,
    ) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == *id) {
            let code = error.map(|error| Fault::from_error(error, self.locale).code);
            (call.outcome, call.data, call.code, call.duration_ms) =
                (Some(outcome), data, code, duration_ms);
            call.is_left = error.is_some_and(is_one_at_a_time);
            call.asked = !matches!(outcome, ToolOutcome::Limit | ToolOutcome::Denied)
                && error.is_none_or(|error| error.code != ErrorCode::InvalidInput);
        }
        // A second change in the same round is refused, and the customer can ask for it again. The
        // refusal is not reported, unless the start of the call was reported before.
        let begun = self.announced && self.waiting.front() == Some(id);
        if !begun && error.is_some_and(is_one_at_a_time) {
            self.waiting.retain(|waiting| waiting != id);
        }
        self.report_calls();
    }

    /// Reports finished calls in their order, each with start and end, even if the calls ran in
    /// parallel.
    fn report_calls(&mut self) {
        while let Some(call) =
            self.waiting.front().and_then(|id| self.calls.iter().find(|call| call.id == *id))
        {
            // A change is reported only after it was refused or made, because most changes wait for
            // confirmation instead.
            if !self.announced && call.known && (!call.writes || call.outcome.is_some()) {
                self.out.send_status(tool_start_text(&call.tool, self.locale));
                send_tool_start(&self.out, &call.tool, &call.args, self.locale);
                self.announced = true;
            }
            if call.outcome.is_none() {
                return;
            }
            send_tool_end(&self.out, &call.tool, call.caller_result(self.locale), self.locale);
            self.searched |= call.tool == tools::SEARCH && call.is_ok();
            // The start of an unknown tool was never reported, and a call that did not reach its
            // tool has not failed. Only the end of these calls is reported.
            if !call.is_ok() && call.known && call.asked {
                self.out.send_status(tool_failure_text(&call.tool, self.locale));
            } else if let Some(found) = call.result_of(tools::SEARCH) {
                let text = if items(found).is_empty() { Text::NoneFound } else { Text::Found };
                self.out.send_status(text.localize(self.locale));
            }
            self.waiting.pop_front();
            self.announced = false;
        }
    }

    fn finish_turn(
        &mut self,
        status: TurnStatus,
        text: String,
        choices: Vec<Choice>,
        error: Option<AgentError>,
    ) -> End {
        let parts: Vec<String> = std::mem::take(&mut self.asides)
            .into_iter()
            .chain([text])
            .filter(|part| !part.is_empty())
            .collect();
        let text = parts.join("\n\n");
        if status == TurnStatus::Ok
            && self.streamed.is_empty()
            && !text.is_empty()
            && self.approval.is_none()
        {
            self.send_delta(&text);
        }
        End { status, text, choices, error }
    }

    /// Tells the client to replace the streamed text if the final answer differs from it.
    pub(crate) fn send_replaced_status(&self, text: &str) {
        if !self.streamed.is_empty() && self.streamed != text {
            self.out.send_event(
                "status",
                json!({"message": Text::Replaced.localize(self.locale), "stage": "output_replaced"}),
            );
        }
    }
}

/// Puts the sentence for the first answer of a session before a text.
pub(crate) fn prepend_notice(notice: &str, text: &str) -> String {
    if text.is_empty() { notice.to_owned() } else { format!("{notice}\n\n{text}") }
}

fn is_one_at_a_time(error: &AgentError) -> bool {
    error.has_reason(Reason::OneAtATime)
}

/// Converts ids to texts, because models sometimes write them as numbers.
fn with_text_ids(mut args: Value) -> Value {
    for name in ["productId", "partNo"] {
        if let Some(id) = args.get_mut(name).filter(|id| id.is_number()) {
            *id = json!(text(id));
        }
    }
    args
}

/// Sends the event for the start of a call.
pub(crate) fn send_tool_start(out: &SseSink, tool: &str, args: &Value, locale: &str) {
    out.send_event(
        "tool_start",
        json!({"tool": tool, "displayName": tool_name(tool, locale), "args": args}),
    );
}

/// Sends the event for the end of a call with its result or a sentence. Leaves out the shop's own
/// text about a failure.
pub(crate) fn send_tool_end(
    out: &SseSink,
    tool: &str,
    ended: Result<&Value, &'static str>,
    locale: &str,
) {
    let mut event =
        json!({"tool": tool, "displayName": tool_name(tool, locale), "ok": ended.is_ok()});
    match ended {
        Ok(data) => event["resultSummary"] = summarise_result(tool, data),
        Err(sentence) => event["error"] = json!(sentence),
    }
    out.send_event("tool_end", event);
}

/// Summarises a result in a few members.
pub(crate) fn summarise_result(tool: &str, data: &Value) -> Value {
    match tool {
        tools::SEARCH => {
            let count = items(data).len();
            let mut summary = json!({"itemCount": count});
            if let Some(total) = data["totalCount"].as_u64() {
                summary["totalCount"] = json!(total);
            }
            summary
        }
        tools::GET => {
            let mut summary = serde_json::Map::new();
            summary.extend(text(&data["productId"]).map(|id| ("productId".to_owned(), json!(id))));
            summary.extend(text(&data["name"]).map(|name| ("title".to_owned(), json!(name))));
            Value::Object(summary)
        }
        tools::CART => json!({"itemCount": lines(data).len()}),
        _ => json!({"success": true}),
    }
}
