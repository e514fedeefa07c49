//! Reads the chunks of one answer. Text and reasoning are passed on at once, tool calls when the
//! answer is complete. Call ids of providers are not passed on, because the engine assigns ids to
//! calls.

use std::collections::VecDeque;

use engine::ports::{Finish, ModelError, ModelEvent};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::chunk::{CallPart, Choice, Chunk, Delta, repaired, without_odd_members};
use super::kept::{self, Members};
use super::thoughts::{Piece, Splitter};
use super::written::WrittenCalls;
use crate::http::failure;
use crate::wire::{Answer, Arriving, Closed, FeedResult, Loose, ReadEvents, Returned, parse_event};

/// The members with thoughts as text. Some servers send the same text in two of these members.
const THOUGHTS: [&str; 4] = ["reasoning_content", "reasoning", "reasoning_text", "thinking"];

/// Reads the chunks of one answer.
pub(super) struct Reader {
    /// Members that are sent back with the message.
    others: Members,
    splitter: Splitter,
    written: WrittenCalls,
}

/// A call whose arguments may still grow.
#[derive(Default)]
pub(super) struct PartialCall {
    /// The server's number of the call, if the server sent one.
    index: Option<u64>,
    /// The server's id of the call, which is only used to distinguish calls.
    wire_id: String,
    name: String,
    arguments: String,
    /// Members that are sent back with the call.
    others: Members,
}

impl Reader {
    /// Creates a reader of one answer. `tools` are the names of the tools that the model may call.
    pub(super) fn new(tools: Vec<String>) -> Self {
        Self {
            others: Members::new(),
            splitter: Splitter::new(),
            written: WrittenCalls::new(tools),
        }
    }

    fn read_text(&mut self, text: &str, answer: &mut Answer, out: &mut VecDeque<ModelEvent>) {
        answer.begun |= !text.is_empty();
        let pieces = self.splitter.push(text);
        self.take_pieces(pieces, answer, out);
    }

    /// Passes on the pieces of the message. A text that may turn out to be a call is not passed on
    /// yet.
    fn take_pieces(
        &mut self,
        pieces: Vec<Piece>,
        answer: &mut Answer,
        out: &mut VecDeque<ModelEvent>,
    ) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    let text = self.written.push(&text);
                    answer.push_text(&text, out);
                }
                Piece::Thought(text) => answer.push_reasoning(&text, out),
                Piece::WasThought => {
                    let text = self.written.take_text();
                    answer.push_text(&text, out);
                    out.push_back(ModelEvent::WasThought);
                }
            }
        }
    }

    fn read_choice(
        &mut self,
        choice: Choice<'_>,
        arriving: &mut Arriving<PartialCall>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        if let Some(delta) = choice.delta.or(choice.message) {
            self.read_delta(delta, arriving, out)?;
        }
        match choice.finish_reason.text() {
            "" => {}
            "tool_calls" | "function_call" | "tool_use" => {
                arriving.answer.finish = Some(Finish::ToolCalls)
            }
            "length" | "max_tokens" | "model_length" => {
                arriving.answer.finish = Some(Finish::Length)
            }
            "content_filter" => arriving.answer.finish = Some(Finish::ContentFilter),
            "error" => return Err(failure::broke_off()),
            // This includes "stop", "eos", "end_turn", and other words for a normal end.
            _ => arriving.answer.finish = Some(Finish::Stop),
        }
        Ok(())
    }

    fn read_delta(
        &mut self,
        delta: Delta<'_>,
        arriving: &mut Arriving<PartialCall>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        let answer = &mut arriving.answer;
        read_thoughts(&delta.others, answer, out);
        kept::merge(&mut self.others, delta.others);
        match delta.content {
            Loose::Absent => {}
            Loose::Text(text) => self.read_text(&text, answer, out),
            Loose::Other(parts) => self.read_parts(&parts, answer, out),
        }
        self.read_text(delta.refusal.text(), answer, out);
        let mut parts = delta.tool_calls.unwrap_or_default();
        // This is the older form of a call. Servers that know both forms send both.
        let older = delta.function_call.filter(|_| parts.is_empty());
        parts.extend(older.map(CallPart::of));
        for part in parts {
            read_call_part(part, arriving)?;
        }
        Ok(())
    }

    /// Reads content that is a part or a list of parts: `text`, and `thinking`, which has its own
    /// parts.
    fn read_parts(&mut self, parts: &Value, answer: &mut Answer, out: &mut VecDeque<ModelEvent>) {
        let list = parts.as_array().map_or(std::slice::from_ref(parts), Vec::as_slice);
        for part in list {
            match part {
                Value::String(text) => self.read_text(text, answer, out),
                Value::Number(number) => self.read_text(&number.to_string(), answer, out),
                Value::Object(members) => match members.get("text").and_then(Value::as_str) {
                    Some(text) => self.read_text(text, answer, out),
                    None => kept::merge_content(&mut self.others, part),
                },
                Value::Null | Value::Bool(_) | Value::Array(_) => {}
            }
            match part.get("thinking") {
                Some(Value::String(text)) => answer.push_reasoning(text, out),
                Some(Value::Array(inner)) => {
                    for text in inner.iter().filter_map(|p| p.get("text").and_then(Value::as_str)) {
                        answer.push_reasoning(text, out);
                    }
                }
                _ => {}
            }
        }
    }

    fn read_chunk(
        &mut self,
        chunk: Chunk<'_>,
        arriving: &mut Arriving<PartialCall>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<FeedResult, ModelError> {
        if let Some(error) = chunk.error.as_ref().filter(|error| !is_empty(error)) {
            return Err(failure::parse_stream_error(error));
        }
        let known = chunk.choices.is_some() || chunk.usage.is_some();
        if let Some(usage) = chunk.usage {
            let counted = &mut arriving.answer.usage;
            counted.input_tokens =
                usage.prompt_tokens.token_count().unwrap_or(counted.input_tokens);
            counted.output_tokens =
                usage.completion_tokens.token_count().unwrap_or(counted.output_tokens);
        }
        if let Some(choice) = chunk.choices.unwrap_or_default().into_iter().next() {
            self.read_choice(choice, arriving, out)?;
        }
        Ok(if known { FeedResult::Progress } else { FeedResult::Ignored })
    }
}

fn read_thoughts(others: &Members, answer: &mut Answer, out: &mut VecDeque<ModelEvent>) {
    let mut last = "";
    for name in THOUGHTS {
        let text = others.get(name).and_then(Value::as_str).unwrap_or_default();
        if !text.is_empty() && text != last {
            answer.push_reasoning(text, out);
            last = text;
        }
    }
    let details = others.get("reasoning_details").and_then(Value::as_array);
    for part in details.filter(|_| last.is_empty()).into_iter().flatten() {
        let text = ["text", "summary"].iter().find_map(|name| part.get(*name)?.as_str());
        answer.push_reasoning(text.unwrap_or_default(), out);
    }
}

fn read_call_part(
    mut part: CallPart<'_>,
    arriving: &mut Arriving<PartialCall>,
) -> Result<(), ModelError> {
    arriving.answer.begun = true;
    let index = part.index.number();
    let id = part.id.text();
    let (name, arguments) = match &part.function {
        Some(function) => (function.name.text(), argument_text(&function.arguments)),
        None => ("", String::new()),
    };
    let place = match find_call(arriving.parts(), index, id, name) {
        Some(place) => place,
        // Calls without a number come last.
        None => arriving
            .push(index.unwrap_or(u64::MAX), PartialCall { index, ..PartialCall::default() })?,
    };
    if let Some(call) = arriving.part_at(place) {
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

/// Returns the open call that a part belongs to. Returns None if the part begins a new call.
fn find_call(
    calls: &[(u64, PartialCall)],
    index: Option<u64>,
    id: &str,
    name: &str,
) -> Option<usize> {
    let candidate = match index {
        Some(index) => calls.iter().rposition(|(_, call)| call.index == Some(index))?,
        // Without an index, a known id decides. Otherwise, the part belongs to the newest call.
        None => calls
            .iter()
            .rposition(|(_, call)| !id.is_empty() && call.wire_id == id)
            .or(calls.len().checked_sub(1))?,
    };
    let (_, call) = calls.get(candidate)?;
    // The part begins a second call, with the same index or without an index, if the part has a
    // name, the first call is complete, and the ids or names differ.
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

impl ReadEvents for Reader {
    type Part = PartialCall;
    const MOST_PARTS: usize = 64;

    fn read(
        &mut self,
        data: &str,
        arriving: &mut Arriving<PartialCall>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<FeedResult, ModelError> {
        if let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(data) {
            return self.read_chunk(chunk, arriving, out);
        }
        let odd: Value = match serde_json::from_str(data) {
            Ok(odd) => odd,
            Err(_) => parse_event(&repaired(data))?,
        };
        let fits = without_odd_members(odd).to_string();
        self.read_chunk(parse_event(&fits)?, arriving, out)
    }

    fn end_text(
        &mut self,
        arriving: &mut Arriving<PartialCall>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Vec<(String, String)> {
        let pieces = self.splitter.end();
        self.take_pieces(pieces, &mut arriving.answer, out);
        // The arguments of a truncated call may lack members.
        let is_cut = arriving.answer.finish == Some(Finish::Length);
        let (text, written) = self.written.end(arriving.parts().is_empty() && !is_cut);
        arriving.answer.push_text(&text, out);
        written
    }

    fn close(&mut self, call: PartialCall) -> Closed {
        // Some servers send an empty call beside each text.
        if call.name.is_empty() && call.arguments.trim().is_empty() {
            return Closed::Dropped;
        }
        let name = self.written.meant_tool(call.name);
        Closed::Call { name, arguments: call.arguments, back: Value::Object(call.others) }
    }

    fn seal(&mut self, returned: Vec<Returned>, arriving: &Arriving<PartialCall>) -> Option<Value> {
        // Members of arguments that contained several calls are sent back with the first of these
        // calls.
        let of_calls = returned.into_iter().flat_map(|part| {
            let first = match part.value {
                Value::Object(members) => members,
                _ => Members::new(),
            };
            std::iter::once(first).chain((1..part.calls).map(|_| Members::new()))
        });
        kept::seal(&arriving.maker, std::mem::take(&mut self.others), of_calls.collect())
    }
}

/// Whether a value is empty, such as an error member that reports no error.
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

/// Returns the arguments as text, whatever their form.
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
