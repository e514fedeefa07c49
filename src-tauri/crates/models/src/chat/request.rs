//! Writes a model request as a chat-completions body. The host's call ids are sent unchanged. The
//! module does not know where the body is sent or what the answer is.

use std::borrow::Cow;

use engine::ports::ModelRequest;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    dialect::Dialect,
    shape::{Style, WireMessage, shape},
};
use crate::wire::{Leaves, Part, plain_schema, plain_text};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    /// The choice of a tool, which is refused in a request without tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireToolFunction<'a>,
}

#[derive(Serialize)]
struct WireToolFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: Cow<'a, Value>,
}

/// Returns the body of a request. The answer is requested as a stream unless only the whole answer
/// is needed.
pub(super) fn build_body(
    (model, maker): (&str, &str),
    request: &ModelRequest,
    dialect: Dialect,
    leaves: Leaves,
) -> Result<Vec<u8>, serde_json::Error> {
    let is_brief = leaves.has(Part::Details);
    let tools = request.tools.iter().map(|tool| WireTool {
        kind: "function",
        function: WireToolFunction {
            name: &tool.name,
            description: if is_brief { plain_text(&tool.description) } else { &tool.description },
            parameters: match is_brief {
                true => Cow::Owned(plain_schema(&tool.parameters)),
                false => Cow::Borrowed(&tool.parameters),
            },
        },
    });
    let dialect = if leaves.has(Part::Form) { dialect.strict() } else { dialect };
    let bound = request.answer_limit();
    let plain = leaves.has(Part::Optional);
    let is_newer = dialect.completion_bound != leaves.has(Part::Bound);
    let style = Style {
        dialect,
        maker,
        passing: &request.passing,
        with_kept: !leaves.has(Part::Kept),
        with_calls: !leaves.has(Part::Tools),
        with_system: !leaves.has(Part::System),
    };
    serde_json::to_vec(&Body {
        model,
        messages: shape(&request.messages, style),
        tools: tools.collect(),
        // This is the default, so it is only written for servers that accept it.
        tool_choice: (!request.tools.is_empty() && !plain).then_some("auto"),
        stream: !request.whole,
        stream_options: (!plain && !request.whole).then_some(StreamOptions { include_usage: true }),
        max_tokens: bound.filter(|_| !is_newer),
        max_completion_tokens: bound.filter(|_| is_newer),
        response_format: request
            .structured
            .as_ref()
            .filter(|_| !plain)
            .map(|wanted| json!({"type": "json_schema", "json_schema": {"name": wanted.name, "schema": wanted.schema, "strict": true}})),
    })
}

#[cfg(test)]
mod tests {
    use engine::ports::{Message, ModelCall, Opaque, Structured, ToolDef};

    use super::*;

    fn conversation() -> ModelRequest {
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
                    opaque: None,
                },
                Message::Tool {
                    call: "call_1".into(),
                    name: "pace".into(),
                    content: "ok".into(),
                    data: engine::ports::OutboundValue::default(),
                },
            ],
            tools: vec![ToolDef {
                name: "pace".into(),
                description: "Pacing".into(),
                parameters: engine::ports::OutboundValue::fixed(r#"{"type": "object"}"#),
            }],
            max_output_tokens: Some(100),
            ..ModelRequest::default()
        }
    }

    fn written(request: &ModelRequest, host: &str) -> Value {
        written_without(request, host, Leaves::default())
    }

    fn written_without(request: &ModelRequest, host: &str, leaves: Leaves) -> Value {
        let body = build_body(("m", "maker"), request, Dialect::of_host(host), leaves).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    #[test]
    fn a_conversation_with_a_call_is_sent_with_the_result_and_the_tools() {
        let expected = json!({
            "model": "m", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 100,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Pace of 17?"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "pace", "arguments": "{\"account\":17}"}}]},
                {"role": "tool", "tool_call_id": "call_1", "content": "ok"}
            ],
            "tools": [{"type": "function", "function": {"name": "pace", "description": "Pacing", "parameters": {"type": "object"}}}],
            "tool_choice": "auto"
        });
        assert_eq!(written(&conversation(), "localhost"), expected);
    }

    #[test]
    fn an_answer_schema_is_sent_unless_the_server_refused_optional_parts() {
        let shape = Structured {
            name: "route",
            schema: engine::ports::OutboundValue::fixed(r#"{"type": "object"}"#),
        };
        let request = ModelRequest { structured: Some(shape), ..conversation() };
        let format = written(&request, "localhost")["response_format"].clone();
        assert_eq!(
            format,
            json!({"type": "json_schema", "json_schema": {"name": "route", "schema": {"type": "object"}, "strict": true}})
        );
        let plain = written_without(&request, "localhost", Leaves::default().with(Part::Optional));
        assert!(plain.get("response_format").is_none());
    }

    #[test]
    fn members_kept_from_a_server_are_sent_back_only_to_the_same_model() {
        let mut request = conversation();
        let data = json!({
            "message": {"reasoning_content": "Hm."},
            "calls": [{"extra_content": {"google": {"thought_signature": "E=="}}, "function": {"x": 1}}]
        });
        let Message::Assistant { opaque, .. } = &mut request.messages[2] else { panic!() };
        *opaque = Some(Opaque { maker: "maker".into(), data: data.into() });
        let message = written(&request, "localhost")["messages"][2].clone();
        assert_eq!(message["reasoning_content"], "Hm.");
        let call = &message["tool_calls"][0];
        assert_eq!(call["extra_content"]["google"]["thought_signature"], "E==");
        assert_eq!(
            call["function"],
            json!({"name": "pace", "arguments": "{\"account\":17}", "x": 1})
        );
        let kept = Leaves::default().with(Part::Kept);
        let refused = written_without(&request, "localhost", kept)["messages"][2].clone();
        let Message::Assistant { opaque: Some(opaque), .. } = &mut request.messages[2] else {
            panic!()
        };
        opaque.maker = "another".into();
        for message in [refused, written(&request, "localhost")["messages"][2].clone()] {
            assert_eq!(
                (message.get("reasoning_content"), message["tool_calls"][0].get("extra_content")),
                (None, None)
            );
        }
    }

    #[test]
    fn after_a_refusal_the_output_limit_is_sent_under_its_other_name() {
        let other = Leaves::default().with(Part::Bound);
        for (host, name) in
            [("localhost", "max_completion_tokens"), ("api.openai.com", "max_tokens")]
        {
            assert_eq!(written_without(&conversation(), host, other)[name], 100, "{host}");
        }
    }

    #[test]
    fn streaming_is_not_requested_for_a_whole_answer() {
        let whole = written(&ModelRequest { whole: true, ..conversation() }, "localhost");
        assert_eq!((&whole["stream"], whole.get("stream_options")), (&json!(false), None));
    }

    #[test]
    fn a_request_without_tools_has_no_member_for_tools() {
        let request = ModelRequest { tools: Vec::new(), ..conversation() };
        let body = written(&request, "localhost");
        assert_eq!(
            (body.get("tools"), body.get("tool_choice")),
            (None, None),
            "an empty list and a choice of none are refused by servers"
        );
    }

    #[test]
    fn requests_follow_the_special_rules_of_openai_mistral_and_google() {
        let openai = written(&conversation(), "api.openai.com");
        assert_eq!(openai["max_completion_tokens"], 100);
        assert!(openai.get("max_tokens").is_none());
        let mistral = written(&conversation(), "api.mistral.ai");
        let id = mistral["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
        assert_eq!(id.len(), 9);
        assert_eq!(mistral["messages"][3]["tool_call_id"], id, "call and result still pair up");
        let google = written(&conversation(), "generativelanguage.googleapis.com");
        assert_eq!(google["messages"][3]["name"], "pace");
        assert_eq!(google["messages"][2]["content"], Value::Null);
    }

    #[test]
    fn call_arguments_that_are_not_json_are_sent_back_as_an_empty_object() {
        let mut request = conversation();
        request.messages[2] = Message::Assistant {
            text: "x".into(),
            calls: vec![ModelCall {
                id: "call_1".into(),
                name: "pace".into(),
                arguments: "{oops".into(),
            }],
            opaque: None,
        };
        let body = written(&request, "localhost");
        assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["arguments"], "{}");
        assert_eq!(body["messages"][2]["content"], "x");
    }
}
