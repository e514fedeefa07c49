//! Reads the events of one response. Text and reasoning are passed on at once. Calls, and items
//! that must be sent back, are passed on when the response is complete.

use std::collections::VecDeque;

use engine::ports::{Finish, ModelError, ModelEvent};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::failure;
use crate::wire::{
    Arriving, Closed, FeedResult, Loose, ReadEvents, Returned, list_of, parse_event,
    read_token_count,
};

#[derive(Debug, Default, Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Loose<'a>,
    #[serde(borrow, default)]
    delta: Loose<'a>,
    #[serde(borrow, default)]
    arguments: Loose<'a>,
    #[serde(default)]
    output_index: Option<u64>,
    #[serde(default)]
    summary_index: Option<u64>,
    #[serde(default)]
    item: Option<Value>,
    #[serde(default)]
    response: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
    /// The code of an `error` event, or of a whole response.
    #[serde(borrow, default)]
    code: Loose<'a>,
    #[serde(borrow, default)]
    message: Loose<'a>,
    #[serde(borrow, default)]
    object: Loose<'a>,
}

/// A part of a response.
pub(super) enum Item {
    Call {
        name: String,
        arguments: String,
    },
    /// A message or reasoning that is sent back.
    Kept(Value),
}

/// Reads the events of one response.
#[derive(Default)]
pub(super) struct Reader {
    /// Whether the response contains reasoning that only the provider can read.
    has_reasoned: bool,
}

/// Reads an item at its beginning or when it is complete. The later form replaces the earlier form.
fn read_item(index: u64, item: &Value, arriving: &mut Arriving<Item>) -> Result<(), ModelError> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "function_call" => {
            arriving.answer.begun = true;
            let before = match arriving.part(index) {
                Some(Item::Call { arguments, .. }) => std::mem::take(arguments),
                Some(Item::Kept(_)) | None => String::new(),
            };
            let arguments =
                if text("arguments").is_empty() { before } else { text("arguments").to_owned() };
            arriving.put(index, Item::Call { name: text("name").to_owned(), arguments })?;
        }
        // Reasoning without its encrypted content cannot be sent back, because the server stores no
        // data.
        "reasoning" if !text("encrypted_content").is_empty() => {
            let summary = item.get("summary").cloned().unwrap_or_else(|| json!([]));
            let kept = json!({"type": "reasoning", "id": text("id"), "summary": summary, "encrypted_content": text("encrypted_content")});
            arriving.put(index, Item::Kept(kept))?;
        }
        "message" => {
            let mut kept =
                json!({"type": "message", "role": "assistant", "content": message_texts(item)});
            if let Some(phase) = item.get("phase").filter(|phase| phase.is_string()) {
                kept["phase"] = phase.clone();
            }
            arriving.put(index, Item::Kept(kept))?;
        }
        _ => {}
    }
    Ok(())
}

fn add_arguments(event: &Event<'_>, arriving: &mut Arriving<Item>) {
    let Some(Item::Call { arguments, .. }) = arriving.part(event.output_index.unwrap_or_default())
    else {
        return;
    };
    arguments.push_str(event.delta.text());
    if !event.arguments.text().is_empty() {
        event.arguments.text().clone_into(arguments);
    }
}

/// Reads the whole response at its end. Some servers send only this event.
fn read_response(
    response: &Value,
    arriving: &mut Arriving<Item>,
    out: &mut VecDeque<ModelEvent>,
) -> Result<(), ModelError> {
    if let Some(usage) = response.get("usage") {
        arriving.answer.usage.input_tokens =
            read_token_count(usage, "input_tokens").unwrap_or_default();
        arriving.answer.usage.output_tokens =
            read_token_count(usage, "output_tokens").unwrap_or_default();
    }
    if !arriving.answer.begun {
        for (index, item) in
            (0..).zip(response.get("output").and_then(Value::as_array).into_iter().flatten())
        {
            read_item(index, item, arriving)?;
            for part in message_texts(item).as_array().into_iter().flatten() {
                arriving
                    .answer
                    .push_text(part.get("text").and_then(Value::as_str).unwrap_or_default(), out);
            }
        }
    }
    arriving.answer.finish =
        Some(match response.pointer("/incomplete_details/reason").and_then(Value::as_str) {
            Some("content_filter") => Finish::ContentFilter,
            Some(_) => Finish::Length,
            None => Finish::Stop,
        });
    Ok(())
}

/// Returns the texts of a message in the form that is sent back.
fn message_texts(item: &Value) -> Value {
    let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts =
        parts.filter_map(|part| part.get("text").or(part.get("refusal")).and_then(Value::as_str));
    if item.get("type").and_then(Value::as_str) == Some("message") {
        texts.map(|text| json!({"type": "output_text", "text": text})).collect()
    } else {
        Value::Null
    }
}

impl ReadEvents for Reader {
    type Part = Item;
    const MOST_PARTS: usize = 256;

    fn handles_event(&self, event: &str) -> bool {
        event.starts_with("response.") || event == "message" || event == "error"
    }

    fn read(
        &mut self,
        data: &str,
        arriving: &mut Arriving<Item>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<FeedResult, ModelError> {
        let event: Event<'_> = parse_event(data)?;
        match event.kind.text() {
            "response.output_text.delta" | "response.refusal.delta" => {
                arriving.answer.push_text(event.delta.text(), out)
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                arriving.answer.push_reasoning(event.delta.text(), out)
            }
            "response.reasoning_summary_part.added" if event.summary_index > Some(0) => {
                arriving.answer.push_reasoning("\n\n", out)
            }
            "response.function_call_arguments.delta" | "response.function_call_arguments.done" => {
                add_arguments(&event, arriving)
            }
            "response.output_item.added" | "response.output_item.done" => {
                let index = event.output_index.unwrap_or_default();
                read_item(index, &event.item.unwrap_or_default(), arriving)?;
            }
            "response.completed" | "response.incomplete" => {
                read_response(&event.response.unwrap_or_default(), arriving, out)?;
                return Ok(FeedResult::Done);
            }
            "response.failed" => {
                let error = event
                    .response
                    .as_ref()
                    .and_then(|response| response.get("error"))
                    .cloned()
                    .unwrap_or_default();
                return Err(failure::parse_stream_error(&error));
            }
            "error" => {
                return Err(failure::parse_stream_error(&event.error.unwrap_or_else(
                    || json!({"code": event.code.text(), "message": event.message.text()}),
                )));
            }
            kind if kind.starts_with("response.") => {}
            "" if event.object.text() == "response" => {
                let response: Value = parse_event(data)?;
                if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
                    return Err(failure::parse_stream_error(error));
                }
                read_response(&response, arriving, out)?;
            }
            "" if event.error.is_some() => {
                return Err(failure::parse_stream_error(&event.error.unwrap_or_default()));
            }
            _ => return Ok(FeedResult::Ignored),
        }
        Ok(FeedResult::Progress)
    }

    fn close(&mut self, item: Item) -> Closed {
        match item {
            Item::Call { name, arguments } => {
                Closed::Call { name, arguments, back: json!({"type": "function_call"}) }
            }
            Item::Kept(item) => {
                self.has_reasoned |= item.get("encrypted_content").is_some();
                Closed::Item(item)
            }
        }
    }

    /// Returns the items if they contain reasoning, because the server checks the reasoning at its
    /// original position.
    fn seal(&mut self, returned: Vec<Returned>, arriving: &Arriving<Item>) -> Option<Value> {
        (self.has_reasoned && arriving.answer.called).then(|| list_of(returned))
    }
}
