//! Writes a model request as a messages body: instructions separate, alternating roles, results in
//! the message after their calls, thinking blocks at their original position. The module does not
//! know where the body is sent or what the answer is.

use std::collections::BTreeSet;

use engine::ports::{Message, ModelCall, ModelRequest, Opaque};
use serde_json::{Value, json};

use super::Anthropic;
use crate::capabilities::Thinking;
use crate::wire::{
    self, Turns, follows_result, own_data, parse_object, restore_order, split_system, wire_id,
    with_instructions,
};

/// The answer length to request if the model's limit is unknown. Every model accepts this length.
const OUTPUT_TOKENS: u32 = 4_096;
/// The maximum number of tokens to request for an answer. Few answers need more, and servers
/// subtract the requested tokens from the context window.
const MOST_OUTPUT_TOKENS: u32 = 16_000;
const THINKING_TOKENS: u32 = 8_000;
const LEAST_THINKING_TOKENS: u32 = 1_024;

/// Returns the limit of an answer if the request has none, because this wire requires a limit.
pub(crate) fn default_max_tokens(own: Option<u32>) -> u32 {
    own.map_or(OUTPUT_TOKENS, |own| own.min(MOST_OUTPUT_TOKENS))
}

pub(super) fn build_body(wire: &Anthropic, request: &ModelRequest, plain: bool) -> Value {
    let bound = request
        .max_output_tokens
        .unwrap_or_else(|| default_max_tokens(wire.known.capabilities.max_output_tokens))
        .min(request.left_output_tokens.unwrap_or(u32::MAX));
    let (system, rest) = split_system(&request.messages);
    let mut body = json!({"model": wire.model, "max_tokens": bound, "stream": !request.whole, "messages": convert_messages(rest, &wire.maker)});
    if !system.is_empty() {
        body["system"] = if plain {
            json!(system)
        } else {
            json!([{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}])
        };
    }
    let mut tools = tool_definitions(request);
    // An answer in a given form is requested as a tool call that the model must make. The model
    // cannot think before a forced call.
    if let Some(wanted) = &request.structured {
        tools.push(json!({"name": wanted.name, "description": "Gives the answer.", "input_schema": wanted.schema}));
        body["tool_choice"] = json!({"type": "tool", "name": wanted.name});
    } else if request.tools.is_empty() && !tools.is_empty() {
        body["tool_choice"] = json!({"type": "none"});
    }
    if !tools.is_empty() {
        body["tools"] = Value::Array(tools);
    }
    if let Some(thinking) =
        thinking_config(wire, request, bound).filter(|_| !plain && request.structured.is_none())
    {
        body["thinking"] = thinking;
    }
    body
}

/// Returns the offered tools. A conversation that contains calls is refused if no tools are given,
/// so at the end the tools are given by name only.
fn tool_definitions(request: &ModelRequest) -> Vec<Value> {
    if !request.tools.is_empty() {
        return request
            .tools
            .iter()
            .map(|tool| wire::describe_tool(tool, "input_schema"))
            .collect();
    }
    let called = request.messages.iter().filter_map(|message| {
        if let Message::Assistant { calls, .. } = message { Some(calls) } else { None }
    });
    let names: BTreeSet<&str> = called.flatten().map(|call| call.name.as_str()).collect();
    names
        .into_iter()
        .map(|name| json!({"name": name, "input_schema": {"type": "object"}}))
        .collect()
}

fn thinking_config(wire: &Anthropic, request: &ModelRequest, bound: u32) -> Option<Value> {
    if !wire.reasoning {
        return None;
    }
    match wire.known.thinking {
        Thinking::None => None,
        Thinking::Adaptive => Some(json!({"type": "adaptive", "display": "summarized"})),
        Thinking::Budget => {
            let budget = THINKING_TOKENS.min(bound / 2);
            let possible =
                budget >= LEAST_THINKING_TOKENS && has_own_thinking(&request.messages, &wire.maker);
            possible.then(|| json!({"type": "enabled", "budget_tokens": budget}))
        }
    }
}

/// Whether every call since the last user message came with this model's own thinking. If another
/// model made the calls, this model must not think until the turn is over, because the request
/// would be refused.
fn has_own_thinking(messages: &[Message], maker: &str) -> bool {
    let turn = messages.iter().rev().take_while(|message| !matches!(message, Message::User { .. }));
    turn.filter_map(|message| {
        if let Message::Assistant { calls, opaque, .. } = message {
            Some((calls, opaque))
        } else {
            None
        }
    })
    .all(|(calls, opaque)| calls.is_empty() || own_data(opaque.as_ref(), maker).is_some())
}

fn convert_messages(messages: &[Message], maker: &str) -> Vec<Value> {
    let mut turns = Turns::default();
    for (at, message) in messages.iter().enumerate() {
        match message {
            // Instructions after results are written in front of the last result.
            Message::System { .. } if follows_result(messages, at) => {}
            // Later instructions are sent with the user's role, because this wire has no other role
            // for them.
            Message::System { text } | Message::User { text } => {
                if let Some(block) = text_block(text) {
                    turns.push("user", block);
                }
            }
            Message::Assistant { text, calls, opaque } => {
                for block in assistant_blocks(text, calls, opaque.as_ref(), maker) {
                    turns.push("assistant", block);
                }
            }
            Message::Tool { call, content, .. } => {
                let content = with_instructions(&messages[at + 1..], content);
                turns.push("user", json!({"type": "tool_result", "tool_use_id": wire_id(call.as_str()), "content": content}));
            }
        }
    }
    turns.into_messages("content")
}

/// Returns a text block. Returns None for blank text, which the server refuses.
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

/// Returns the blocks of an answer, in the order in which they arrived if that order is known.
fn assistant_blocks(
    text: &str,
    calls: &[ModelCall],
    opaque: Option<&Opaque>,
    maker: &str,
) -> Vec<Value> {
    let asked: Vec<Value> = calls.iter().map(tool_use).collect();
    restore_order(opaque, maker, "tool_use", &asked)
        .unwrap_or_else(|| text_block(text).into_iter().chain(asked).collect())
}

fn tool_use(call: &ModelCall) -> Value {
    json!({"type": "tool_use", "id": wire_id(call.id.as_str()), "name": call.name, "input": parse_object(&call.arguments)})
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::ports::{OutboundValue, Structured, ToolDef};
    use reqwest::header::HeaderMap;

    use super::*;
    use crate::capabilities::lookup_model;

    fn wire(reasoning: bool) -> Anthropic {
        Anthropic::new(
            "claude-sonnet-4-5",
            "me".into(),
            lookup_model("claude-sonnet-4-5"),
            reasoning,
            HeaderMap::new(),
        )
    }

    fn conversation(maker: &str) -> ModelRequest {
        let kept = json!([{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "Looking."}, {"type": "tool_use"}]);
        ModelRequest {
            messages: vec![
                Message::System { text: "Be brief.".into() },
                Message::User { text: "Pace of 17?".into() },
                Message::Assistant {
                    text: "Looking.".into(),
                    calls: vec![ModelCall {
                        id: "call.1".into(),
                        name: "pace".into(),
                        arguments: "{oops".into(),
                    }],
                    opaque: Some(Opaque { maker: maker.into(), data: Arc::new(kept) }),
                },
                Message::Tool {
                    call: "call.1".into(),
                    name: "pace".into(),
                    content: "ok".into(),
                    data: engine::ports::OutboundValue::default(),
                },
                Message::System { text: "Answer now.".into() },
            ],
            tools: vec![ToolDef {
                name: "pace".into(),
                description: "Pacing".into(),
                parameters: engine::ports::OutboundValue::fixed(r#"{"type": "object"}"#),
            }],
            ..ModelRequest::default()
        }
    }

    #[test]
    fn a_conversation_with_a_call_is_sent_with_the_thinking_before_the_call() {
        let body = build_body(&wire(true), &conversation("me"), false);
        let id = body["messages"][1]["content"][2]["id"].as_str().unwrap().to_owned();
        assert_eq!(
            body["messages"],
            json!([
                {"role": "user", "content": [{"type": "text", "text": "Pace of 17?"}]},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                    {"type": "text", "text": "Looking."},
                    {"type": "tool_use", "id": id, "name": "pace", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": id, "content": "<host_instructions>\nAnswer now.\n</host_instructions>\nok"}]}
            ])
        );
        assert_eq!(body["system"][0]["text"], "Be brief.");
        assert_eq!(body["thinking"]["type"], "enabled");
        assert!(body["thinking"]["budget_tokens"].as_u64() < body["max_tokens"].as_u64());
    }

    #[test]
    fn a_large_remaining_budget_does_not_raise_the_usual_output_limit() {
        let bound = |wanted, left| {
            let request = ModelRequest {
                max_output_tokens: wanted,
                left_output_tokens: left,
                ..conversation("me")
            };
            build_body(&wire(true), &request, false)["max_tokens"].as_u64()
        };
        assert_eq!(
            [bound(None, None), bound(None, Some(60_000)), bound(None, Some(3_000))],
            [Some(16_000), Some(16_000), Some(3_000)]
        );
        assert_eq!(
            [bound(Some(20_000), None), bound(Some(20_000), Some(9_000))],
            [Some(20_000), Some(9_000)]
        );
    }

    #[test]
    fn thinking_of_another_model_is_not_sent_and_no_new_thinking_is_requested() {
        let body = build_body(&wire(true), &conversation("you"), false);
        assert!(
            !body.to_string().contains("signature") && body.get("thinking").is_none(),
            "{body}"
        );
    }

    #[test]
    fn a_request_without_tools_declares_the_tools_called_in_the_conversation() {
        let request = ModelRequest { tools: Vec::new(), ..conversation("me") };
        let body = build_body(&wire(false), &request, true);
        assert_eq!(
            (&body["tools"][0]["name"], &body["tool_choice"]["type"]),
            (&json!("pace"), &json!("none"))
        );
        assert_eq!(body["system"], "Be brief.");
        let empty = ModelRequest {
            messages: vec![Message::User { text: "Hi".into() }],
            ..ModelRequest::default()
        };
        assert!(super::build_body(&wire(false), &empty, false).get("tools").is_none());
    }

    #[test]
    fn an_answer_schema_is_sent_as_a_forced_tool_call_without_thinking() {
        let shape =
            Structured { name: "route", schema: OutboundValue::fixed(r#"{"type": "object"}"#) };
        let request =
            ModelRequest { structured: Some(shape), tools: Vec::new(), ..conversation("me") };
        let body = build_body(&wire(true), &request, false);
        assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "route"}));
        let last =
            body["tools"].as_array().and_then(|tools| tools.last()).cloned().unwrap_or_default();
        assert_eq!(
            (&last["name"], &last["input_schema"]),
            (&json!("route"), &json!({"type": "object"}))
        );
        assert!(body.get("thinking").is_none());
    }

    #[test]
    fn streaming_is_not_requested_for_a_whole_answer() {
        let whole = ModelRequest { whole: true, ..conversation("me") };
        assert_eq!(
            (
                &build_body(&wire(false), &whole, false)["stream"],
                &build_body(&wire(false), &conversation("me"), false)["stream"]
            ),
            (&json!(false), &json!(true))
        );
    }
}
