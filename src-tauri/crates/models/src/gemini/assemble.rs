//! Assembles the chunks of one answer. Text and thoughts are passed on at once, calls and their
//! signatures when it is complete. This wire has no end mark: the answer ends with a finish reason
//! and the end of the bytes. It knows nothing of HTTP or time.

use std::collections::VecDeque;

use engine::ports::{Finish, ModelError, ModelEvent};
use serde::Deserialize;
use serde_json::{Value, json};

use super::partial;
use crate::http::failure;
use crate::wire::{Answer, Assemble, FeedResult, Loose, read_token_count};

/// More calls than any model makes in one answer.
const MAX_CALLS: usize = 64;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow, default)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(default)]
    usage_metadata: Option<Value>,
    #[serde(default)]
    prompt_feedback: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(borrow, default)]
    finish_reason: Loose<'a>,
}

#[derive(Debug, Default, Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    parts: Option<Vec<Part<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Loose<'a>,
    #[serde(default)]
    thought: Option<bool>,
    #[serde(default)]
    function_call: Option<Value>,
    #[serde(borrow, default)]
    thought_signature: Loose<'a>,
}

struct Call {
    name: String,
    id: Option<String>,
    signature: Option<String>,
    arguments: Value,
    /// Whether more of its arguments follow.
    open: bool,
}

/// The part of an answer that has arrived.
pub(super) struct Assembler {
    answer: Answer,
    maker: String,
    calls: Vec<Call>,
}

impl Assembler {
    pub(super) fn new(maker: String) -> Self {
        Self { answer: Answer::new(), maker, calls: Vec::new() }
    }

    fn read_chunk(
        &mut self,
        chunk: Chunk<'_>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<FeedResult, ModelError> {
        if let Some(error) = chunk.error.as_ref().filter(|error| !error.is_null()) {
            return Err(failure::parse_stream_error(error));
        }
        let known = chunk.candidates.is_some()
            || chunk.usage_metadata.is_some()
            || chunk.prompt_feedback.is_some();
        if let Some(usage) = &chunk.usage_metadata {
            self.record_usage(usage);
        }
        if chunk
            .prompt_feedback
            .as_ref()
            .is_some_and(|feedback| feedback.get("blockReason").is_some())
        {
            self.answer.finish = Some(Finish::ContentFilter);
        }
        if let Some(candidate) = chunk.candidates.unwrap_or_default().into_iter().next() {
            for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
                self.read_part(part, out)?;
            }
            self.set_finish(candidate.finish_reason.text())?;
        }
        Ok(if known { FeedResult::Progress } else { FeedResult::Ignored })
    }

    fn read_part(
        &mut self,
        part: Part<'_>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        let text = part.text.text();
        if part.thought == Some(true) {
            self.answer.push_reasoning(text, out);
        } else {
            self.answer.push_text(text, out);
        }
        if let Some(call) = part.function_call {
            self.answer.begun = true;
            self.read_call(call, part.thought_signature.text())?;
        }
        Ok(())
    }

    /// Reads a call, its beginning, a piece of the newest call, or its end.
    fn read_call(&mut self, mut piece: Value, signature: &str) -> Result<(), ModelError> {
        let open = piece.get("willContinue").and_then(Value::as_bool).unwrap_or_default();
        let text = |name: &str| {
            piece
                .get(name)
                .and_then(Value::as_str)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        if let Some(name) = text("name") {
            if self.calls.len() >= MAX_CALLS {
                return Err(failure::not_the_protocol());
            }
            let id = text("id");
            let arguments = piece
                .get_mut("args")
                .map(Value::take)
                .filter(Value::is_object)
                .unwrap_or_else(|| json!({}));
            self.calls.push(Call { name, id, signature: None, arguments, open });
        } else if !self.calls.last().is_some_and(|call| call.open) {
            return Err(failure::nameless_call());
        }
        let Some(call) = self.calls.last_mut() else { return Ok(()) };
        call.open = open;
        if !signature.is_empty() {
            call.signature = Some(signature.to_owned());
        }
        for piece in piece.get("partialArgs").and_then(Value::as_array).into_iter().flatten() {
            partial::apply_piece(&mut call.arguments, piece);
        }
        Ok(())
    }

    fn set_finish(&mut self, reason: &str) -> Result<(), ModelError> {
        self.answer.finish = match reason {
            "" | "FINISH_REASON_UNSPECIFIED" => return Ok(()),
            "MAX_TOKENS" => Some(Finish::Length),
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "IMAGE_SAFETY" => Some(Finish::ContentFilter),
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "MISSING_THOUGHT_SIGNATURE"
            | "MALFORMED_RESPONSE" => return Err(failure::broke_off()),
            // "STOP", "OTHER" and future reasons.
            _ => Some(Finish::Stop),
        };
        Ok(())
    }

    /// Records token counts. They are repeated with every chunk; the newest ones count. Thoughts
    /// are output; results of the provider's tools are input.
    fn record_usage(&mut self, usage: &Value) {
        if let Some(prompt) = read_token_count(usage, "promptTokenCount") {
            self.answer.usage.input_tokens = prompt.saturating_add(
                read_token_count(usage, "toolUsePromptTokenCount").unwrap_or_default(),
            );
        }
        let parts = ["candidatesTokenCount", "thoughtsTokenCount"]
            .map(|name| read_token_count(usage, name));
        if parts.iter().any(Option::is_some) {
            self.answer.usage.output_tokens = parts.into_iter().flatten().sum();
        }
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
        if data.starts_with('[') {
            // All chunks at once, from a server that does not stream.
            let chunks: Vec<Chunk<'_>> =
                serde_json::from_str(data).map_err(|_| failure::not_the_protocol())?;
            let mut fed = FeedResult::Ignored;
            for chunk in chunks {
                if self.read_chunk(chunk, out)? == FeedResult::Progress {
                    fed = FeedResult::Progress;
                }
            }
            return Ok(fed);
        }
        if !data.starts_with('{') {
            return Ok(FeedResult::Ignored);
        }
        self.read_chunk(serde_json::from_str(data).map_err(|_| failure::not_the_protocol())?, out)
    }

    fn end(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        self.answer.check_not_blocked()?;
        let mut kept = Vec::new();
        for call in std::mem::take(&mut self.calls) {
            let mut came_with = json!({});
            if let Some(id) = call.id {
                came_with["id"] = json!(id);
            }
            if let Some(signature) = call.signature {
                came_with["signature"] = json!(signature);
            }
            kept.push(came_with);
            self.answer.push_call(call.name, call.arguments.to_string(), out)?;
        }
        self.answer.push_opaque(&self.maker, kept, out);
        self.answer.push_done(out);
        Ok(())
    }
}
