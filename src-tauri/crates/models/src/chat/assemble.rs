//! Assembles the chunks of one answer. Text and reasoning are passed on at once, tool calls when
//! the answer is complete. It knows nothing of HTTP or time. Call ids of providers are not passed
//! on: the engine names calls.

use std::collections::VecDeque;

use engine::ports::{Finish, ModelError, ModelEvent};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::chunk::{CallPart, Choice, Chunk, Delta, repaired, without_odd_members};
use super::kept::{self, Members};
use super::thoughts::{Piece, Splitter};
use super::written::WrittenCalls;
use crate::http::failure;
use crate::wire::{Answer, Assemble, FeedResult, Loose};

/// More calls than any model makes in one answer. Limits a stream that never stops opening new
/// ones.
const MAX_CALLS: usize = 64;

/// The members with thoughts as text. Some servers send the same text in two of them.
const THOUGHTS: [&str; 4] = ["reasoning_content", "reasoning", "reasoning_text", "thinking"];

/// The part of an answer that has arrived.
pub(super) struct Assembler {
    answer: Answer,
    calls: Vec<PartialCall>,
    maker: String,
    /// Members that go back with the message.
    others: Members,
    splitter: Splitter,
    written: WrittenCalls,
}

struct PartialCall {
    /// The server's number of the call, or None.
    index: Option<u64>,
    /// The server's id of the call. Used only to tell calls apart.
    wire_id: String,
    name: String,
    arguments: String,
    /// Members that go back with the call.
    others: Members,
}

impl Assembler {
    /// Creates a reader of one answer. `tools` are the names of the tools that the model may call.
    pub(super) fn new(maker: &str, tools: Vec<String>) -> Self {
        Self {
            answer: Answer::new(),
            calls: Vec::new(),
            maker: maker.to_owned(),
            others: Members::new(),
            splitter: Splitter::new(),
            written: WrittenCalls::new(tools),
        }
    }

    fn read_text(&mut self, text: &str, out: &mut VecDeque<ModelEvent>) {
        self.answer.begun |= !text.is_empty();
        let pieces = self.splitter.push(text);
        self.take_pieces(pieces, out);
    }

    /// Passes on the pieces of the message. A text that may be a call is held back.
    fn take_pieces(&mut self, pieces: Vec<Piece>, out: &mut VecDeque<ModelEvent>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    let text = self.written.push(&text);
                    self.answer.push_text(&text, out);
                }
                Piece::Thought(text) => self.answer.push_reasoning(&text, out),
                Piece::WasThought => {
                    let text = self.written.take_text();
                    self.answer.push_text(&text, out);
                    out.push_back(ModelEvent::WasThought);
                }
            }
        }
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
        self.read_thoughts(&delta.others, out);
        kept::merge(&mut self.others, delta.others);
        match delta.content {
            Loose::Absent => {}
            Loose::Text(text) => self.read_text(&text, out),
            Loose::Other(parts) => self.read_parts(&parts, out),
        }
        self.read_text(delta.refusal.text(), out);
        let mut parts = delta.tool_calls.unwrap_or_default();
        // The older form of a call. Servers that know both send both.
        let older = delta.function_call.filter(|_| parts.is_empty());
        parts.extend(older.map(CallPart::of));
        for part in parts {
            self.read_call_part(part)?;
        }
        Ok(())
    }

    fn read_thoughts(&mut self, others: &Members, out: &mut VecDeque<ModelEvent>) {
        let mut last = "";
        for name in THOUGHTS {
            let text = others.get(name).and_then(Value::as_str).unwrap_or_default();
            if !text.is_empty() && text != last {
                self.answer.push_reasoning(text, out);
                last = text;
            }
        }
        let details = others.get("reasoning_details").and_then(Value::as_array);
        for part in details.filter(|_| last.is_empty()).into_iter().flatten() {
            let text = ["text", "summary"].iter().find_map(|name| part.get(*name)?.as_str());
            self.answer.push_reasoning(text.unwrap_or_default(), out);
        }
    }

    /// Reads content that is a part or a list of parts: `text`, and `thinking` with parts of its own.
    fn read_parts(&mut self, parts: &Value, out: &mut VecDeque<ModelEvent>) {
        let list = parts.as_array().map_or(std::slice::from_ref(parts), Vec::as_slice);
        for part in list {
            match part {
                Value::String(text) => self.read_text(text, out),
                Value::Number(number) => self.read_text(&number.to_string(), out),
                Value::Object(members) => match members.get("text").and_then(Value::as_str) {
                    Some(text) => self.read_text(text, out),
                    None => kept::merge_content(&mut self.others, part),
                },
                Value::Null | Value::Bool(_) | Value::Array(_) => {}
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

    fn read_call_part(&mut self, mut part: CallPart<'_>) -> Result<(), ModelError> {
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
                    others: Members::new(),
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
            kept::merge(&mut call.others, std::mem::take(&mut part.others));
            let of_function = part.function.map(|function| function.others).unwrap_or_default();
            if !of_function.is_empty() {
                let members = Members::from_iter([("function".to_owned(), of_function.into())]);
                kept::merge(&mut call.others, members);
            }
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
        // The part begins a second call, under the same index or without an index, if it has a name, the
        // first call is complete, and ids or names tell them apart.
        if name.is_empty() || call.name.is_empty() || !is_complete(&call.arguments) {
            return Some(candidate);
        }
        let has_arguments = !call.arguments.trim().is_empty();
        let without_ids = id.is_empty() && call.wire_id.is_empty();
        let same_id = !id.is_empty() && call.wire_id == id;
        let another = match index {
            None => !same_id,
            Some(_) => !id.is_empty() && !same_id || without_ids && has_arguments,
        };
        (!another && (call.name == name || !has_arguments)).then_some(candidate)
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
        match serde_json::from_str::<Chunk<'_>>(data) {
            Ok(chunk) => self.read_chunk(chunk, out),
            Err(_) => {
                let odd: Value = serde_json::from_str(data)
                    .or_else(|_| serde_json::from_str(&repaired(data)))
                    .map_err(|_| failure::not_the_protocol())?;
                let fits = without_odd_members(odd).to_string();
                let chunk = serde_json::from_str(&fits).map_err(|_| failure::not_the_protocol())?;
                self.read_chunk(chunk, out)
            }
        }
    }

    fn end(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let pieces = self.splitter.end();
        self.take_pieces(pieces, out);
        // The arguments of a call that was cut may lack members.
        let is_cut = self.answer.finish == Some(Finish::Length);
        let (text, written) = self.written.end(self.calls.is_empty() && !is_cut);
        self.answer.push_text(&text, out);
        let mut calls = std::mem::take(&mut self.calls);
        // Some servers send an empty call beside each text.
        calls.retain(|call| !(call.name.is_empty() && call.arguments.trim().is_empty()));
        calls.sort_by_key(|call| call.index.unwrap_or(u64::MAX));
        let mut of_calls = Vec::new();
        for call in calls {
            let name = self.written.meant_tool(call.name);
            let count = self.answer.push_call(name, call.arguments, out)?;
            of_calls.push(call.others);
            of_calls.extend((1..count).map(|_| Members::new()));
        }
        for (name, arguments) in written {
            self.answer.push_call(name, arguments, out)?;
        }
        let opaque = kept::seal(&self.maker, std::mem::take(&mut self.others), of_calls);
        out.extend(opaque.map(ModelEvent::Opaque));
        self.answer.check_not_blocked()?;
        self.answer.push_done(out);
        Ok(())
    }
}

impl Assembler {
    fn read_chunk(
        &mut self,
        chunk: Chunk<'_>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<FeedResult, ModelError> {
        if let Some(error) = chunk.error.as_ref().filter(|error| !is_empty(error)) {
            return Err(failure::parse_stream_error(error));
        }
        let known = chunk.choices.is_some() || chunk.usage.is_some();
        if let Some(usage) = chunk.usage {
            let counted = &mut self.answer.usage;
            counted.input_tokens =
                usage.prompt_tokens.token_count().unwrap_or(counted.input_tokens);
            counted.output_tokens =
                usage.completion_tokens.token_count().unwrap_or(counted.output_tokens);
        }
        if let Some(choice) = chunk.choices.unwrap_or_default().into_iter().next() {
            self.read_choice(choice, out)?;
        }
        Ok(if known { FeedResult::Progress } else { FeedResult::Ignored })
    }
}

/// Whether a value says nothing, as an error does that is none.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.iter().all(is_empty),
        Value::Object(members) => members.values().all(is_empty),
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
