//! Assembles the chunks of one answer. Text and reasoning are passed on at once, tool calls when
//! the answer is complete. It knows nothing of HTTP or time. Call ids of providers are not passed
//! on: the engine names calls.

use std::collections::VecDeque;

use engine::ports::{Finish, ModelError, ModelEvent};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::chunk::{CallPart, Choice, Chunk, Delta};
use crate::http::failure;
use crate::wire::{Answer, Assemble, FeedResult, Loose, clamp_token_count};

/// More calls than any model makes in one answer. Limits a stream that never stops opening new
/// ones.
const MAX_CALLS: usize = 64;

/// The part of an answer that has arrived.
pub(super) struct Assembler {
    answer: Answer,
    calls: Vec<PartialCall>,
}

struct PartialCall {
    /// The server's number of the call, or None.
    index: Option<u64>,
    /// The server's id of the call. Used only to tell calls apart.
    wire_id: String,
    name: String,
    arguments: String,
}

impl Assembler {
    pub(super) fn new() -> Self {
        Self { answer: Answer::new(), calls: Vec::new() }
    }

    fn read_choice(
        &mut self,
        choice: Choice<'_>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        if let Some(delta) = choice.delta.or(choice.message) {
            self.read_delta(delta, out)?;
        }
        match choice.finish_reason.text() {
            "" => {}
            "tool_calls" | "function_call" | "tool_use" => {
                self.answer.finish = Some(Finish::ToolCalls)
            }
            "length" | "max_tokens" | "model_length" => self.answer.finish = Some(Finish::Length),
            "content_filter" => self.answer.finish = Some(Finish::ContentFilter),
            "error" => return Err(failure::broke_off()),
            // "stop", "eos", "end_turn", and other servers' words for the ordinary end.
            _ => self.answer.finish = Some(Finish::Stop),
        }
        Ok(())
    }

    fn read_delta(
        &mut self,
        delta: Delta<'_>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        self.answer.push_reasoning(delta.reasoning_content.text(), out);
        self.answer.push_reasoning(delta.reasoning.text(), out);
        match delta.content {
            Loose::Absent => {}
            Loose::Text(text) => self.answer.push_text(&text, out),
            Loose::Other(parts) => self.read_parts(&parts, out),
        }
        self.answer.push_text(delta.refusal.text(), out);
        for part in delta.tool_calls.unwrap_or_default() {
            self.read_call_part(&part)?;
        }
        Ok(())
    }

    /// Reads content that is a list of typed parts: `text`, and `thinking` with parts of its own.
    fn read_parts(&mut self, parts: &Value, out: &mut VecDeque<ModelEvent>) {
        for part in parts.as_array().into_iter().flatten() {
            if let Some(text) = part.get("text").and_then(Value::as_str) {
                self.answer.push_text(text, out);
            }
            match part.get("thinking") {
                Some(Value::String(text)) => self.answer.push_reasoning(text, out),
                Some(Value::Array(inner)) => {
                    for text in inner.iter().filter_map(|p| p.get("text").and_then(Value::as_str)) {
                        self.answer.push_reasoning(text, out);
                    }
                }
                _ => {}
            }
        }
    }

    fn read_call_part(&mut self, part: &CallPart<'_>) -> Result<(), ModelError> {
        self.answer.begun = true;
        let index = part.index.number();
        let id = part.id.text();
        let (name, arguments) = match &part.function {
            Some(function) => (function.name.text(), argument_text(&function.arguments)),
            None => ("", String::new()),
        };
        let at = match self.find_call(index, id, name) {
            Some(at) => at,
            None if self.calls.len() >= MAX_CALLS => return Err(failure::not_the_protocol()),
            None => {
                self.calls.push(PartialCall {
                    index,
                    wire_id: String::new(),
                    name: String::new(),
                    arguments: String::new(),
                });
                self.calls.len() - 1
            }
        };
        if let Some(call) = self.calls.get_mut(at) {
            if !id.is_empty() {
                id.clone_into(&mut call.wire_id);
            }
            // Some servers repeat the whole name with every part.
            if call.name != name {
                call.name.push_str(name);
            }
            call.arguments.push_str(&arguments);
        }
        Ok(())
    }

    /// Returns the open call that a part belongs to. None if the part begins a new call.
    fn find_call(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let candidate = match index {
            Some(index) => self.calls.iter().rposition(|call| call.index == Some(index))?,
            // Without an index, a known id decides; otherwise the newest call.
            None => self
                .calls
                .iter()
                .rposition(|call| !id.is_empty() && call.wire_id == id)
                .or(self.calls.len().checked_sub(1))?,
        };
        let call = self.calls.get(candidate)?;
        // The part begins a second call, under the same index or without an index, if it has a name, does
        // not have the first call's id, and the first call is complete.
        let other_id = id.is_empty() || call.wire_id.is_empty() || call.wire_id != id;
        let starts_anew =
            !name.is_empty() && other_id && !call.name.is_empty() && is_complete(&call.arguments);
        let another = starts_anew && (index.is_none() || (!id.is_empty() && call.wire_id != id));
        (!another).then_some(candidate)
    }
}

impl Assemble for Assembler {
    fn answer(&self) -> &Answer {
        &self.answer
    }

    fn feed(
        &mut self,
        data: &str,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<FeedResult, ModelError> {
        let data = data.trim();
        if data == "[DONE]" {
            return Ok(FeedResult::Done);
        }
        if !data.starts_with('{') {
            return Ok(FeedResult::Ignored);
        }
        let chunk: Chunk<'_> =
            serde_json::from_str(data).map_err(|_| failure::not_the_protocol())?;
        if let Some(error) = chunk.error.as_ref().filter(|error| !error.is_null()) {
            return Err(failure::parse_stream_error(error));
        }
        let known = chunk.choices.is_some() || chunk.usage.is_some();
        if let Some(usage) = chunk.usage {
            self.answer.usage.input_tokens =
                usage.prompt_tokens.map_or(self.answer.usage.input_tokens, clamp_token_count);
            self.answer.usage.output_tokens =
                usage.completion_tokens.map_or(self.answer.usage.output_tokens, clamp_token_count);
        }
        if let Some(choice) = chunk.choices.unwrap_or_default().into_iter().next() {
            self.read_choice(choice, out)?;
        }
        Ok(if known { FeedResult::Progress } else { FeedResult::Ignored })
    }

    fn end(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let mut calls = std::mem::take(&mut self.calls);
        calls.sort_by_key(|call| call.index.unwrap_or(u64::MAX));
        for call in calls {
            self.answer.push_call(call.name, call.arguments, out)?;
        }
        self.answer.check_not_blocked()?;
        self.answer.push_done(out);
        Ok(())
    }
}

/// Returns the arguments as text, whatever shape they have.
fn argument_text(arguments: &Loose<'_>) -> String {
    match arguments {
        Loose::Absent => String::new(),
        Loose::Text(text) => text.as_ref().to_owned(),
        Loose::Other(value) => value.to_string(),
    }
}

fn is_complete(arguments: &str) -> bool {
    arguments.trim().is_empty() || serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}
