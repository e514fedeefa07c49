//! Assembles the events of one response. Text and reasoning are passed on at once; calls, and items
//! that must be sent back, when the response is complete. It knows nothing of HTTP or time.

use std::collections::{BTreeMap, VecDeque};

use engine::ports::{Finish, ModelError, ModelEvent};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::failure;
use crate::wire::{Answer, Assemble, FeedResult, Loose, read_token_count};

/// More items than any response has.
const MAX_ITEMS: usize = 256;

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

enum Item {
    Call {
        name: String,
        arguments: String,
    },
    /// A message or reasoning, to be sent back.
    Kept(Value),
}

/// The part of a response that has arrived.
pub(super) struct Assembler {
    answer: Answer,
    maker: String,
    items: BTreeMap<u64, Item>,
}

impl Assembler {
    pub(super) fn new(maker: String) -> Self {
        Self { answer: Answer::new(), maker, items: BTreeMap::new() }
    }

    /// Reads an item that begins or is complete. The later form replaces the earlier one.
    fn read_item(&mut self, index: u64, item: &Value) -> Result<(), ModelError> {
        if self.items.len() >= MAX_ITEMS {
            return Err(failure::not_the_protocol());
        }
        let text = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "function_call" => {
                self.answer.begun = true;
                let before = match self.items.remove(&index) {
                    Some(Item::Call { arguments, .. }) => arguments,
                    Some(Item::Kept(_)) | None => String::new(),
                };
                let arguments = if text("arguments").is_empty() {
                    before
                } else {
                    text("arguments").to_owned()
                };
                self.items.insert(index, Item::Call { name: text("name").to_owned(), arguments });
            }
            // Without its encrypted content it cannot be sent back, because the server stores
            // nothing.
            "reasoning" if !text("encrypted_content").is_empty() => {
                let summary = item.get("summary").cloned().unwrap_or_else(|| json!([]));
                let kept = json!({"type": "reasoning", "id": text("id"), "summary": summary, "encrypted_content": text("encrypted_content")});
                self.items.insert(index, Item::Kept(kept));
            }
            "message" => {
                let mut kept =
                    json!({"type": "message", "role": "assistant", "content": message_texts(item)});
                if let Some(phase) = item.get("phase").filter(|phase| phase.is_string()) {
                    kept["phase"] = phase.clone();
                }
                self.items.insert(index, Item::Kept(kept));
            }
            _ => {}
        }
        Ok(())
    }

    fn add_arguments(&mut self, event: &Event<'_>) {
        let Some(Item::Call { arguments, .. }) =
            self.items.get_mut(&event.output_index.unwrap_or_default())
        else {
            return;
        };
        arguments.push_str(event.delta.text());
        if !event.arguments.text().is_empty() {
            event.arguments.text().clone_into(arguments);
        }
    }

    /// Reads the whole response at its end. Some servers send only this.
    fn read_response(
        &mut self,
        response: &Value,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        if let Some(usage) = response.get("usage") {
            self.answer.usage.input_tokens =
                read_token_count(usage, "input_tokens").unwrap_or_default();
            self.answer.usage.output_tokens =
                read_token_count(usage, "output_tokens").unwrap_or_default();
        }
        if !self.answer.begun {
            for (index, item) in
                (0..).zip(response.get("output").and_then(Value::as_array).into_iter().flatten())
            {
                self.read_item(index, item)?;
                for part in message_texts(item).as_array().into_iter().flatten() {
                    self.answer.push_text(
                        part.get("text").and_then(Value::as_str).unwrap_or_default(),
                        out,
                    );
                }
            }
        }
        self.answer.finish =
            Some(match response.pointer("/incomplete_details/reason").and_then(Value::as_str) {
                Some("content_filter") => Finish::ContentFilter,
                Some(_) => Finish::Length,
                None => Finish::Stop,
            });
        Ok(())
    }
}

/// Returns the texts of a message, as they are sent back.
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

impl Assemble for Assembler {
    fn answer(&self) -> &Answer {
        &self.answer
    }

    fn handles_event(&self, event: &str) -> bool {
        event.starts_with("response.") || event == "message" || event == "error"
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
        let event: Event<'_> =
            serde_json::from_str(data).map_err(|_| failure::not_the_protocol())?;
        match event.kind.text() {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.answer.push_text(event.delta.text(), out)
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                self.answer.push_reasoning(event.delta.text(), out)
            }
            "response.reasoning_summary_part.added" if event.summary_index > Some(0) => {
                self.answer.push_reasoning("\n\n", out)
            }
            "response.function_call_arguments.delta" | "response.function_call_arguments.done" => {
                self.add_arguments(&event)
            }
            "response.output_item.added" | "response.output_item.done" => {
                self.read_item(
                    event.output_index.unwrap_or_default(),
                    &event.item.unwrap_or_default(),
                )?;
            }
            "response.completed" | "response.incomplete" => {
                self.read_response(&event.response.unwrap_or_default(), out)?;
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
                let response: Value =
                    serde_json::from_str(data).map_err(|_| failure::not_the_protocol())?;
                if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
                    return Err(failure::parse_stream_error(error));
                }
                self.read_response(&response, out)?;
            }
            "" if event.error.is_some() => {
                return Err(failure::parse_stream_error(&event.error.unwrap_or_default()));
            }
            _ => return Ok(FeedResult::Ignored),
        }
        Ok(FeedResult::Progress)
    }

    fn end(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        self.answer.check_not_blocked()?;
        let (mut kept, mut reasoned) = (Vec::new(), false);
        for item in std::mem::take(&mut self.items).into_values() {
            match item {
                Item::Call { name, arguments } => {
                    self.answer.push_call(name, arguments, out)?;
                    kept.push(json!({"type": "function_call"}));
                }
                Item::Kept(item) => {
                    reasoned |= item.get("encrypted_content").is_some();
                    kept.push(item);
                }
            }
        }
        if reasoned {
            self.answer.push_opaque(&self.maker, kept, out);
        }
        self.answer.push_done(out);
        Ok(())
    }
}
