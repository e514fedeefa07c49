//! Reads the chunks of one answer. Text and thoughts are passed on at once, calls and their
//! signatures when the answer is complete. This wire has no end mark: the answer ends with a finish
//! reason and the end of the bytes.

use std::collections::VecDeque;

use engine::ports::{Finish, ModelError, ModelEvent};
use serde::Deserialize;
use serde_json::{Value, json};

use super::partial;
use crate::http::failure;
use crate::wire::{
    Answer, Arriving, Closed, FeedResult, Loose, ReadEvents, parse_event, read_token_count,
};

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

/// A call whose arguments may still grow.
pub(super) struct Call {
    name: String,
    id: Option<String>,
    signature: Option<String>,
    arguments: Value,
    /// Whether more pieces of the arguments follow.
    open: bool,
}

/// Reads the chunks of one answer.
pub(super) struct Reader;

fn read_chunk(
    chunk: Chunk<'_>,
    arriving: &mut Arriving<Call>,
    out: &mut VecDeque<ModelEvent>,
) -> Result<FeedResult, ModelError> {
    if let Some(error) = chunk.error.as_ref().filter(|error| !error.is_null()) {
        return Err(failure::parse_stream_error(error));
    }
    let known = chunk.candidates.is_some()
        || chunk.usage_metadata.is_some()
        || chunk.prompt_feedback.is_some();
    if let Some(usage) = &chunk.usage_metadata {
        record_usage(usage, &mut arriving.answer);
    }
    if chunk.prompt_feedback.as_ref().is_some_and(|feedback| feedback.get("blockReason").is_some())
    {
        arriving.answer.finish = Some(Finish::ContentFilter);
    }
    if let Some(candidate) = chunk.candidates.unwrap_or_default().into_iter().next() {
        for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
            read_part(part, arriving, out)?;
        }
        set_finish(candidate.finish_reason.text(), &mut arriving.answer)?;
    }
    Ok(if known { FeedResult::Progress } else { FeedResult::Ignored })
}

fn read_part(
    part: Part<'_>,
    arriving: &mut Arriving<Call>,
    out: &mut VecDeque<ModelEvent>,
) -> Result<(), ModelError> {
    let text = part.text.text();
    if part.thought == Some(true) {
        arriving.answer.push_reasoning(text, out);
    } else {
        arriving.answer.push_text(text, out);
    }
    if let Some(call) = part.function_call {
        arriving.answer.begun = true;
        read_call(call, part.thought_signature.text(), arriving)?;
    }
    Ok(())
}

/// Reads a whole call, the beginning of a call, a piece of the newest call, or its end.
fn read_call(
    mut piece: Value,
    signature: &str,
    arriving: &mut Arriving<Call>,
) -> Result<(), ModelError> {
    let open = piece.get("willContinue").and_then(Value::as_bool).unwrap_or_default();
    let text = |name: &str| {
        piece.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    // Calls have no numbers, so a piece without a name belongs to the newest call.
    let newest = match text("name") {
        Some(name) => {
            let id = text("id");
            let arguments = piece
                .get_mut("args")
                .map(Value::take)
                .filter(Value::is_object)
                .unwrap_or_else(|| json!({}));
            arriving.push(0, Call { name, id, signature: None, arguments, open })?
        }
        None => match arriving.parts() {
            [before @ .., (_, call)] if call.open => before.len(),
            _ => return Err(failure::nameless_call()),
        },
    };
    let Some(call) = arriving.part_at(newest) else { return Ok(()) };
    call.open = open;
    if !signature.is_empty() {
        call.signature = Some(signature.to_owned());
    }
    for piece in piece.get("partialArgs").and_then(Value::as_array).into_iter().flatten() {
        partial::apply_piece(&mut call.arguments, piece);
    }
    Ok(())
}

fn set_finish(reason: &str, answer: &mut Answer) -> Result<(), ModelError> {
    answer.finish = match reason {
        "" | "FINISH_REASON_UNSPECIFIED" => return Ok(()),
        "MAX_TOKENS" => Some(Finish::Length),
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
        | "IMAGE_SAFETY" => Some(Finish::ContentFilter),
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "MISSING_THOUGHT_SIGNATURE"
        | "MALFORMED_RESPONSE" => return Err(failure::broke_off()),
        // This includes "STOP", "OTHER" and future reasons.
        _ => Some(Finish::Stop),
    };
    Ok(())
}

/// Records token counts. Every chunk repeats the counts, and the newest counts are used. Thoughts
/// count as output, and results of the provider's tools as input.
fn record_usage(usage: &Value, answer: &mut Answer) {
    if let Some(prompt) = read_token_count(usage, "promptTokenCount") {
        answer.usage.input_tokens = prompt
            .saturating_add(read_token_count(usage, "toolUsePromptTokenCount").unwrap_or_default());
    }
    let parts =
        ["candidatesTokenCount", "thoughtsTokenCount"].map(|name| read_token_count(usage, name));
    if parts.iter().any(Option::is_some) {
        answer.usage.output_tokens = parts.into_iter().flatten().sum();
    }
}

impl ReadEvents for Reader {
    type Part = Call;
    const MOST_PARTS: usize = 64;

    /// A server that does not stream sends a list of all chunks.
    fn is_event(&self, data: &str) -> bool {
        data.starts_with(['{', '['])
    }

    fn read(
        &mut self,
        data: &str,
        arriving: &mut Arriving<Call>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<FeedResult, ModelError> {
        if !data.starts_with('[') {
            return read_chunk(parse_event(data)?, arriving, out);
        }
        let mut fed = FeedResult::Ignored;
        for chunk in parse_event::<Vec<Chunk<'_>>>(data)? {
            if read_chunk(chunk, arriving, out)? == FeedResult::Progress {
                fed = FeedResult::Progress;
            }
        }
        Ok(fed)
    }

    fn close(&mut self, call: Call) -> Closed {
        let mut back = json!({});
        if let Some(id) = call.id {
            back["id"] = json!(id);
        }
        if let Some(signature) = call.signature {
            back["signature"] = json!(signature);
        }
        Closed::Call { name: call.name, arguments: call.arguments.to_string(), back }
    }
}
