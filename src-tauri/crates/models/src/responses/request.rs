//! Writes a model request as items: messages, calls, outputs, and earlier reasoning at its original
//! position. The module does not know where the body is sent or what the answer is.

use engine::ports::{Message, ModelCall, ModelRequest, Opaque};
use serde_json::{Value, json};

use super::Responses;
use crate::wire::{json_or_empty, restore_order, split_system, wire_id};

pub(super) fn build_body(wire: &Responses, request: &ModelRequest, plain: bool) -> Value {
    let (instructions, messages) = split_system(&request.messages);
    let mut input = Vec::new();
    for message in messages {
        match message {
            Message::System { text } => input.push(json!({"role": "developer", "content": text})),
            Message::User { text } => input.push(json!({"role": "user", "content": text})),
            Message::Assistant { text, calls, opaque } => {
                push_assistant_items(text, calls, opaque.as_ref(), &wire.maker, &mut input)
            }
            Message::Tool { call, content, .. } => {
                input.push(json!({"type": "function_call_output", "call_id": wire_id(call.as_str()), "output": content}));
            }
        }
    }
    let mut body =
        json!({"model": wire.model, "input": input, "stream": !request.whole, "store": false});
    if !instructions.is_empty() {
        body["instructions"] = json!(instructions);
    }
    if !request.tools.is_empty() {
        let tool = |tool: &engine::ports::ToolDef| json!({"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters, "strict": false});
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(bound) = request.answer_limit() {
        body["max_output_tokens"] = json!(bound);
    }
    if let Some(wanted) = request.structured.as_ref().filter(|_| !plain) {
        body["text"] = json!({"format": {"type": "json_schema", "name": wanted.name, "schema": wanted.schema, "strict": true}});
    }
    if wire.known.capabilities.reasoning && !plain {
        body["include"] = json!(["reasoning.encrypted_content"]);
        if wire.reasoning {
            body["reasoning"] = json!({"summary": "auto"});
        }
    }
    body
}

/// Adds the items of an answer, in the order in which they arrived if that order is known.
fn push_assistant_items(
    text: &str,
    calls: &[ModelCall],
    opaque: Option<&Opaque>,
    maker: &str,
    input: &mut Vec<Value>,
) {
    let asked: Vec<Value> = calls.iter().map(function_call).collect();
    if let Some(kept) = restore_order(opaque, maker, "function_call", &asked) {
        input.extend(kept);
        return;
    }
    if !text.is_empty() {
        input.push(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}));
    }
    input.extend(asked);
}

fn function_call(call: &ModelCall) -> Value {
    json!({"type": "function_call", "call_id": wire_id(call.id.as_str()), "name": call.name, "arguments": json_or_empty(&call.arguments)})
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::ports::{OutboundValue, Structured, ToolDef};
    use reqwest::header::HeaderMap;

    use super::*;
    use crate::capabilities::lookup_model;

    fn wire(model: &str) -> Responses {
        Responses::new(model, "me".into(), lookup_model(model), true, HeaderMap::new())
    }

    fn conversation(maker: &str) -> ModelRequest {
        let kept = json!([{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "SEALED"}, {"type": "function_call"}]);
        ModelRequest {
            messages: vec![
                Message::System { text: "Be brief.".into() },
                Message::User { text: "Pace of 17?".into() },
                Message::Assistant {
                    text: "".into(),
                    calls: vec![ModelCall {
                        id: "call_1".into(),
                        name: "pace".into(),
                        arguments: "{\"account\":17}".into(),
                    }],
                    opaque: Some(Opaque { maker: maker.into(), data: Arc::new(kept) }),
                },
                Message::Tool {
                    call: "call_1".into(),
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
    fn a_conversation_with_a_call_is_sent_with_the_reasoning_before_the_call() {
        let body = build_body(&wire("gpt-5-mini"), &conversation("me"), false);
        assert_eq!(
            body["input"],
            json!([
                {"role": "user", "content": "Pace of 17?"},
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "SEALED"},
                {"type": "function_call", "call_id": "call_1", "name": "pace", "arguments": "{\"account\":17}"},
                {"type": "function_call_output", "call_id": "call_1", "output": "ok"},
                {"role": "developer", "content": "Answer now."}
            ])
        );
        assert_eq!((&body["instructions"], &body["store"]), (&json!("Be brief."), &json!(false)));
        assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    }

    #[test]
    fn reasoning_is_sent_only_to_the_same_model_and_requested_only_where_supported() {
        let other = build_body(&wire("gpt-5-mini"), &conversation("you"), false);
        assert!(
            !other.to_string().contains("SEALED") && other["input"].as_array().unwrap().len() == 4
        );
        assert!(
            build_body(&wire("gpt-4o-mini"), &conversation("me"), false).get("include").is_none()
        );
        assert!(
            build_body(&wire("gpt-5-mini"), &conversation("me"), true).get("include").is_none()
        );
    }

    #[test]
    fn an_answer_schema_is_sent_unless_the_server_refused_optional_parts() {
        let shape =
            Structured { name: "route", schema: OutboundValue::fixed(r#"{"type": "object"}"#) };
        let request = ModelRequest { structured: Some(shape), ..conversation("me") };
        let format = build_body(&wire("gpt-4o"), &request, false)["text"]["format"].clone();
        assert_eq!(
            format,
            json!({"type": "json_schema", "name": "route", "schema": {"type": "object"}, "strict": true})
        );
        assert!(build_body(&wire("gpt-4o"), &request, true).get("text").is_none());
    }

    #[test]
    fn streaming_is_not_requested_for_a_whole_answer() {
        let whole = ModelRequest { whole: true, ..conversation("me") };
        assert_eq!(
            (
                &build_body(&wire("gpt-5-mini"), &whole, false)["stream"],
                &build_body(&wire("gpt-5-mini"), &conversation("me"), false)["stream"]
            ),
            (&json!(false), &json!(true))
        );
    }
}
