//! Reads the events of one message. Text and thinking are passed on at once. Tool calls, and blocks
//! that must be sent back, are passed on when the message is complete.

use std::collections::VecDeque;

use engine::ports::{Finish, ModelError, ModelEvent};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::failure;
use crate::wire::{
    Answer, Arriving, Closed, FeedResult, Loose, ReadEvents, Returned, list_of, parse_event,
    read_token_count,
};

#[derive(Debug, Default, Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Loose<'a>,
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(default)]
    content_block: Option<Value>,
    #[serde(default)]
    message: Option<Value>,
    #[serde(default)]
    usage: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    text: Loose<'a>,
    #[serde(borrow, default)]
    thinking: Loose<'a>,
    #[serde(borrow, default)]
    signature: Loose<'a>,
    #[serde(borrow, default)]
    partial_json: Loose<'a>,
    #[serde(borrow, default)]
    stop_reason: Loose<'a>,
}

/// A part of a message.
pub(super) enum Block {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    /// Thinking that only the provider can read.
    Redacted(Value),
    /// A tool call. `given` contains arguments that came with the start of the block, from servers
    /// that send no pieces.
    Call {
        name: String,
        json: String,
        given: Option<Value>,
    },
    /// A call of one of the provider's own tools.
    Other,
}

/// Reads the events of one message.
#[derive(Default)]
pub(super) struct Reader {
    /// Whether the message contains a block that only the provider can check.
    is_signed: bool,
}

fn start_block(
    index: u64,
    mut block: Value,
    arriving: &mut Arriving<Block>,
    out: &mut VecDeque<ModelEvent>,
) -> Result<(), ModelError> {
    let text = |block: &Value, name: &str| {
        block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let kind = text(&block, "type");
    let opened = match kind.as_str() {
        "text" => {
            let text = text(&block, "text");
            arriving.answer.push_text(&text, out);
            Block::Text(text)
        }
        "thinking" => {
            let (thought, signature) = (text(&block, "thinking"), text(&block, "signature"));
            arriving.answer.push_reasoning(&thought, out);
            Block::Thinking { text: thought, signature }
        }
        "redacted_thinking" => Block::Redacted(block),
        "tool_use" => {
            arriving.answer.begun = true;
            let given = block
                .get_mut("input")
                .map(Value::take)
                .filter(|input| input.as_object().is_some_and(|input| !input.is_empty()));
            Block::Call { name: text(&block, "name"), json: String::new(), given }
        }
        _ => Block::Other,
    };
    arriving.put(index, opened)
}

fn apply_delta(
    index: u64,
    delta: &Delta<'_>,
    arriving: &mut Arriving<Block>,
    out: &mut VecDeque<ModelEvent>,
) {
    match arriving.part(index) {
        Some(Block::Text(text)) => text.push_str(delta.text.text()),
        Some(Block::Thinking { text, signature }) => {
            text.push_str(delta.thinking.text());
            signature.push_str(delta.signature.text());
        }
        Some(Block::Call { json, .. }) => json.push_str(delta.partial_json.text()),
        Some(Block::Redacted(_) | Block::Other) | None => {}
    }
    arriving.answer.push_text(delta.text.text(), out);
    arriving.answer.push_reasoning(delta.thinking.text(), out);
}

fn set_finish(reason: &str, answer: &mut Answer) {
    answer.finish = match reason {
        "" => return,
        "tool_use" => Some(Finish::ToolCalls),
        "max_tokens" | "model_context_window_exceeded" => Some(Finish::Length),
        "refusal" => Some(Finish::ContentFilter),
        // This includes "end_turn", "stop_sequence", "pause_turn" and future reasons.
        _ => Some(Finish::Stop),
    };
}

/// Records token counts. Later events repeat the counts, and the newest counts are used. Cached
/// tokens count as input, too.
fn record_usage(usage: &Value, answer: &mut Answer) {
    if let Some(input) = read_token_count(usage, "input_tokens") {
        let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"]
            .iter()
            .filter_map(|name| read_token_count(usage, name))
            .sum::<u64>();
        answer.usage.input_tokens = input.saturating_add(cached);
    }
    answer.usage.output_tokens =
        read_token_count(usage, "output_tokens").unwrap_or(answer.usage.output_tokens);
}

/// Reads a message that arrives with its content.
fn read_message(
    mut message: Value,
    arriving: &mut Arriving<Block>,
    out: &mut VecDeque<ModelEvent>,
) -> Result<(), ModelError> {
    let blocks = message.get_mut("content").map(Value::take);
    for (index, block) in (0..).zip(blocks.as_ref().and_then(Value::as_array).into_iter().flatten())
    {
        start_block(index, block.clone(), arriving, out)?;
    }
    let reason = message.get("stop_reason").and_then(Value::as_str).unwrap_or_default();
    set_finish(reason, &mut arriving.answer);
    Ok(())
}

impl ReadEvents for Reader {
    type Part = Block;
    const MOST_PARTS: usize = 256;

    fn handles_event(&self, event: &str) -> bool {
        event.starts_with("message") || event.starts_with("content_block") || event == "error"
    }

    fn read(
        &mut self,
        data: &str,
        arriving: &mut Arriving<Block>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<FeedResult, ModelError> {
        let mut event: Event<'_> = parse_event(data)?;
        if let Some(usage) = event.usage.take() {
            record_usage(&usage, &mut arriving.answer);
        }
        let index = event.index.unwrap_or_default();
        match event.kind.text() {
            "message_start" => {
                // A gateway that retried begins the message again, so the earlier part is dropped.
                arriving.clear();
                if let Some(usage) = event.message.as_ref().and_then(|message| message.get("usage"))
                {
                    record_usage(usage, &mut arriving.answer);
                }
                // If the provider's own tools call the host's tools, this first event already
                // contains the whole message.
                let message = event.message.as_mut().map(Value::take).unwrap_or_default();
                read_message(message, arriving, out)?;
            }
            "content_block_start" => {
                start_block(index, event.content_block.unwrap_or_default(), arriving, out)?;
            }
            "content_block_delta" => {
                apply_delta(index, &event.delta.unwrap_or_default(), arriving, out);
            }
            "content_block_stop" => {}
            "message_delta" => {
                let delta = event.delta.unwrap_or_default();
                set_finish(delta.stop_reason.text(), &mut arriving.answer);
            }
            "message_stop" => return Ok(FeedResult::Done),
            "message" => read_message(parse_event(data)?, arriving, out)?,
            "error" => return Err(failure::parse_stream_error(&event.error.unwrap_or_default())),
            // Most of these events are "ping" from a server that is alive but has no data.
            _ => return Ok(FeedResult::Ignored),
        }
        Ok(FeedResult::Progress)
    }

    fn close(&mut self, block: Block) -> Closed {
        match block {
            Block::Text(text) if !text.trim().is_empty() => {
                Closed::Item(json!({"type": "text", "text": text}))
            }
            Block::Thinking { text, signature } if !signature.is_empty() => {
                self.is_signed = true;
                Closed::Item(json!({"type": "thinking", "thinking": text, "signature": signature}))
            }
            Block::Redacted(block) => {
                self.is_signed = true;
                Closed::Item(block)
            }
            Block::Call { name, json, given } => {
                let is_written = !json.trim().is_empty();
                let given = given.map(|given| given.to_string()).unwrap_or_default();
                let arguments = if is_written { json } else { given };
                Closed::Call { name, arguments, back: json!({"type": "tool_use"}) }
            }
            Block::Text(_) | Block::Thinking { .. } | Block::Other => Closed::Dropped,
        }
    }

    /// Returns the blocks if they contain thinking, because the server checks the thinking at its
    /// original position.
    fn seal(&mut self, returned: Vec<Returned>, arriving: &Arriving<Block>) -> Option<Value> {
        (self.is_signed && arriving.answer.called).then(|| list_of(returned))
    }
}
