//! Assembles the events of one message. Text and thinking are passed on at once; tool calls, and
//! blocks that must be sent back, when the message is complete. It knows nothing of HTTP or time.

use std::collections::{BTreeMap, VecDeque};

use engine::ports::{Finish, ModelError, ModelEvent};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::failure;
use crate::wire::{Answer, Assemble, FeedResult, Loose, read_token_count};

/// More blocks than any message has.
const MAX_BLOCKS: usize = 256;

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

enum Block {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    /// Thinking that only the provider can read.
    Redacted(Value),
    /// `given` holds arguments that came with the start, from servers that send no pieces.
    Call {
        name: String,
        json: String,
        given: Option<Value>,
    },
    /// Calls of the provider's own tools.
    Other,
}

/// The part of a message that has arrived.
pub(super) struct Assembler {
    answer: Answer,
    maker: String,
    blocks: BTreeMap<u64, Block>,
}

impl Assembler {
    pub(super) fn new(maker: String) -> Self {
        Self { answer: Answer::new(), maker, blocks: BTreeMap::new() }
    }

    fn start_block(
        &mut self,
        index: u64,
        mut block: Value,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        if self.blocks.len() >= MAX_BLOCKS {
            return Err(failure::not_the_protocol());
        }
        let text = |block: &Value, name: &str| {
            block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let kind = text(&block, "type");
        let opened = match kind.as_str() {
            "text" => {
                let text = text(&block, "text");
                self.answer.push_text(&text, out);
                Block::Text(text)
            }
            "thinking" => {
                let (thought, signature) = (text(&block, "thinking"), text(&block, "signature"));
                self.answer.push_reasoning(&thought, out);
                Block::Thinking { text: thought, signature }
            }
            "redacted_thinking" => Block::Redacted(block),
            "tool_use" => {
                self.answer.begun = true;
                let given = block
                    .get_mut("input")
                    .map(Value::take)
                    .filter(|input| input.as_object().is_some_and(|input| !input.is_empty()));
                Block::Call { name: text(&block, "name"), json: String::new(), given }
            }
            _ => Block::Other,
        };
        self.blocks.insert(index, opened);
        Ok(())
    }

    fn apply_delta(&mut self, index: u64, delta: &Delta<'_>, out: &mut VecDeque<ModelEvent>) {
        match self.blocks.get_mut(&index) {
            Some(Block::Text(text)) => text.push_str(delta.text.text()),
            Some(Block::Thinking { text, signature }) => {
                text.push_str(delta.thinking.text());
                signature.push_str(delta.signature.text());
            }
            Some(Block::Call { json, .. }) => json.push_str(delta.partial_json.text()),
            Some(Block::Redacted(_) | Block::Other) | None => {}
        }
        self.answer.push_text(delta.text.text(), out);
        self.answer.push_reasoning(delta.thinking.text(), out);
    }

    fn set_finish(&mut self, reason: &str) {
        self.answer.finish = match reason {
            "" => return,
            "tool_use" => Some(Finish::ToolCalls),
            "max_tokens" | "model_context_window_exceeded" => Some(Finish::Length),
            "refusal" => Some(Finish::ContentFilter),
            // "end_turn", "stop_sequence", "pause_turn" and future reasons.
            _ => Some(Finish::Stop),
        };
    }

    /// Records token counts. They are repeated; the newest ones count. Cached tokens are input,
    /// too.
    fn record_usage(&mut self, usage: &Value) {
        if let Some(input) = read_token_count(usage, "input_tokens") {
            let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"]
                .iter()
                .filter_map(|name| read_token_count(usage, name))
                .sum::<u64>();
            self.answer.usage.input_tokens = input.saturating_add(cached);
        }
        self.answer.usage.output_tokens =
            read_token_count(usage, "output_tokens").unwrap_or(self.answer.usage.output_tokens);
    }

    /// Reads a message that arrives with its content.
    fn read_message(
        &mut self,
        mut message: Value,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        let blocks = message.get_mut("content").map(Value::take);
        for (index, block) in
            (0..).zip(blocks.as_ref().and_then(Value::as_array).into_iter().flatten())
        {
            self.start_block(index, block.clone(), out)?;
        }
        self.set_finish(message.get("stop_reason").and_then(Value::as_str).unwrap_or_default());
        Ok(())
    }
}

impl Assemble for Assembler {
    fn answer(&self) -> &Answer {
        &self.answer
    }

    fn handles_event(&self, event: &str) -> bool {
        event.starts_with("message") || event.starts_with("content_block") || event == "error"
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
        let mut event: Event<'_> =
            serde_json::from_str(data).map_err(|_| failure::not_the_protocol())?;
        if let Some(usage) = event.usage.take() {
            self.record_usage(&usage);
        }
        let index = event.index.unwrap_or_default();
        match event.kind.text() {
            "message_start" => {
                // A gateway that retried begins the message again; the earlier part does not belong
                // to it.
                self.blocks.clear();
                if let Some(usage) = event.message.as_ref().and_then(|message| message.get("usage"))
                {
                    self.record_usage(usage);
                }
                // If the provider's own tools call ours, this first event has the whole message
                // already.
                self.read_message(
                    event.message.as_mut().map(Value::take).unwrap_or_default(),
                    out,
                )?;
            }
            "content_block_start" => {
                self.start_block(index, event.content_block.unwrap_or_default(), out)?
            }
            "content_block_delta" => self.apply_delta(index, &event.delta.unwrap_or_default(), out),
            "content_block_stop" => {}
            "message_delta" => self.set_finish(event.delta.unwrap_or_default().stop_reason.text()),
            "message_stop" => return Ok(FeedResult::Done),
            "message" => self.read_message(
                serde_json::from_str(data).map_err(|_| failure::not_the_protocol())?,
                out,
            )?,
            "error" => return Err(failure::parse_stream_error(&event.error.unwrap_or_default())),
            // Mostly "ping": a server that is alive but has no data.
            _ => return Ok(FeedResult::Ignored),
        }
        Ok(FeedResult::Progress)
    }

    fn end(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let (mut kept, mut signed) = (Vec::new(), false);
        for block in std::mem::take(&mut self.blocks).into_values() {
            match block {
                Block::Text(text) if !text.trim().is_empty() => {
                    kept.push(json!({"type": "text", "text": text}))
                }
                Block::Thinking { text, signature } if !signature.is_empty() => {
                    signed = true;
                    kept.push(
                        json!({"type": "thinking", "thinking": text, "signature": signature}),
                    );
                }
                Block::Redacted(block) => {
                    signed = true;
                    kept.push(block);
                }
                Block::Call { name, json, given } => {
                    let written = if json.trim().is_empty() {
                        given.map_or_else(String::new, |given| given.to_string())
                    } else {
                        json
                    };
                    self.answer.push_call(name, written, out)?;
                    kept.push(json!({"type": "tool_use"}));
                }
                Block::Text(_) | Block::Thinking { .. } | Block::Other => {}
            }
        }
        self.answer.check_not_blocked()?;
        if signed {
            self.answer.push_opaque(&self.maker, kept, out);
        }
        self.answer.push_done(out);
        Ok(())
    }
}
