//! Writes a model request as a messages body: instructions apart, roles in turn, results in the
//! message after their calls, thinking blocks back where they stood. It does not know where the
//! body is sent or what comes back.

use std::collections::BTreeSet;

use engine::ports::{Message, ModelCall, ModelRequest, Opaque};
use serde_json::{Value, json};

use super::Anthropic;
use crate::capabilities::Thinking;
use crate::wire::{
    self, Turns, follows_result, own_data, parse_object, restore_order, split_system, wire_id,
    with_instructions,
};

/// The answer length to request if the model's limit is unknown. Every model accepts it.
const OUTPUT_TOKENS: u32 = 4_096;
/// The most tokens to request for an answer. Few answers need more, and servers subtract the
/// requested tokens from the context window.
const MOST_OUTPUT_TOKENS: u32 = 16_000;
const THINKING_TOKENS: u32 = 8_000;
const LEAST_THINKING_TOKENS: u32 = 1_024;

/// The bound of an answer for which nobody wished one: this wire needs one.
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
    // An answer of a shape is a call that the model is made to make; it cannot think before one.
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

/// The tools on offer. A conversation with calls in it is refused without any, so that names alone
/// stand in at the end.
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

/// Whether every call since the user spoke came with this model's own thinking. Another model may
/// have made them: then this one must not think until the turn is over, or the request is refused.
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
            // Instructions behind results stand in front of the last of them.
            Message::System { .. } if follows_result(messages, at) => {}
            // Later instructions are sent as the user, because this wire has no other role for
            // them.
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

/// The blocks of an answer: in the order in which they came, where that is known.
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
    fn a_conversation_with_a_call_and_its_thinking() {
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
    fn a_large_rest_of_the_budget_asks_for_no_more_than_usual() {
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
    fn thinking_of_another_maker_stays_behind_and_is_not_asked_for_meanwhile() {
        let body = build_body(&wire(true), &conversation("you"), false);
        assert!(
            !body.to_string().contains("signature") && body.get("thinking").is_none(),
            "{body}"
        );
    }

    #[test]
    fn without_tools_the_names_in_the_conversation_stand_in() {
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
    fn a_wanted_shape_is_a_call_that_must_be_made_and_is_not_thought_about() {
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
    fn an_answer_that_nobody_hears_in_pieces_is_asked_for_as_a_whole() {
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
