//! Writes a model request as a chat-completions body. Host call ids go onto the wire one to one.
//! It does not know where the body is sent or what comes back.

use std::borrow::Cow;

use engine::ports::{Message, ModelRequest};
use serde::Serialize;
use serde_json::{Value, json};

use crate::wire::{json_or_empty, prepend_instructions, short_id, wire_id};

/// Peculiarities of a server, guessed from its host name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dialect {
    /// Call ids must be nine letters or digits (Mistral).
    pub(super) short_call_ids: bool,
    /// The bound on the answer has its newer name (OpenAI's own models refuse the older one).
    pub(super) completion_bound: bool,
    /// Whether instructions may only come first (Mistral).
    pub(super) system_first: bool,
}

impl Dialect {
    pub(super) fn of_host(host: &str) -> Self {
        let mistral = host == "mistral.ai" || host.ends_with(".mistral.ai");
        Self {
            short_call_ids: mistral,
            system_first: mistral,
            completion_bound: host == "api.openai.com" || host.ends_with(".openai.azure.com"),
        }
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    /// Only beside tools: a choice of none is refused.
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
#[serde(tag = "role", rename_all = "lowercase")]
enum WireMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: Cow<'a, str>,
    },
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: &'a str,
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
    parameters: &'a Value,
}

/// The body of a request, for a stream unless nobody listens to the pieces.
pub(super) fn build_body(
    model: &str,
    request: &ModelRequest,
    dialect: Dialect,
    plain: bool,
) -> Result<Vec<u8>, serde_json::Error> {
    let tools = request.tools.iter().map(|tool| WireTool {
        kind: "function",
        function: WireToolFunction {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.parameters,
        },
    });
    let bound = request.answer_limit();
    serde_json::to_vec(&Body {
        model,
        messages: convert_messages(&request.messages, dialect),
        tools: tools.collect(),
        tool_choice: (!request.tools.is_empty()).then_some("auto"),
        stream: !request.whole,
        stream_options: (!plain && !request.whole).then_some(StreamOptions { include_usage: true }),
        max_tokens: bound.filter(|_| !dialect.completion_bound),
        max_completion_tokens: bound.filter(|_| dialect.completion_bound),
        response_format: request
            .structured
            .as_ref()
            .filter(|_| !plain)
            .map(|wanted| json!({"type": "json_schema", "json_schema": {"name": wanted.name, "schema": wanted.schema, "strict": true}})),
    })
}

/// Converts the messages, in order. Some servers accept system messages only at the beginning: for
/// them, a later system message is put in front of the tool result that precedes it.
fn convert_messages(all: &[Message], dialect: Dialect) -> Vec<WireMessage<'_>> {
    let mut out: Vec<WireMessage<'_>> = Vec::with_capacity(all.len());
    for one in all {
        match (one, out.last_mut()) {
            (Message::System { text }, Some(WireMessage::Tool { content, .. }))
                if dialect.system_first =>
            {
                *content = Cow::Owned(prepend_instructions(text, content))
            }
            (
                Message::System { text },
                Some(WireMessage::User { .. } | WireMessage::Assistant { .. }),
            ) if dialect.system_first => {
                out.push(WireMessage::User { content: text });
            }
            _ => out.push(convert_message(one, dialect)),
        }
    }
    out
}

fn convert_message(message: &Message, dialect: Dialect) -> WireMessage<'_> {
    match message {
        Message::System { text } => WireMessage::System { content: text },
        Message::User { text } => WireMessage::User { content: text },
        Message::Assistant { text, calls, .. } => WireMessage::Assistant {
            content: (calls.is_empty() || !text.is_empty()).then_some(text),
            tool_calls: calls
                .iter()
                .map(|call| WireCall {
                    id: call_id(call.id.as_str(), dialect),
                    kind: "function",
                    // Some servers parse the arguments of earlier calls and refuse the request when
                    // they cannot.
                    function: WireFunction {
                        name: &call.name,
                        arguments: json_or_empty(&call.arguments),
                    },
                })
                .collect(),
        },
        Message::Tool { call, content, .. } => WireMessage::Tool {
            tool_call_id: call_id(call.as_str(), dialect),
            content: Cow::Borrowed(content),
        },
    }
}

fn call_id(id: &str, dialect: Dialect) -> Cow<'_, str> {
    if dialect.short_call_ids { Cow::Owned(short_id(id)) } else { wire_id(id) }
}

#[cfg(test)]
mod tests {
    use engine::ports::{ModelCall, Structured, ToolDef};

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
        serde_json::from_slice(&build_body("m", request, Dialect::of_host(host), false).unwrap())
            .unwrap()
    }

    #[test]
    fn a_conversation_with_a_call() {
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
    fn a_wanted_shape_is_sent_until_it_is_refused() {
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
        let plain: Value =
            serde_json::from_slice(&build_body("m", &request, Dialect::default(), true).unwrap())
                .unwrap();
        assert!(plain.get("response_format").is_none());
    }

    #[test]
    fn guidance_after_a_result_stays_the_hosts_own() {
        let mut request = conversation();
        request.messages.push(Message::System { text: "Quote figures.".into() });
        let usual = written(&request, "localhost");
        assert_eq!(
            (&usual["messages"][3]["content"], &usual["messages"][4]["role"]),
            (&json!("ok"), &json!("system"))
        );
        let mistral = written(&request, "api.mistral.ai");
        assert_eq!(
            mistral["messages"][3]["content"],
            "<host_instructions>\nQuote figures.\n</host_instructions>\nok"
        );
        assert_eq!(mistral["messages"].as_array().unwrap().len(), 4);
    }

    #[test]
    fn a_hint_before_the_message_is_taken_everywhere() {
        let mut request = conversation();
        request.messages.splice(
            1..1,
            [
                Message::User { text: "Hi".into() },
                Message::Assistant { text: "Hello.".into(), calls: Vec::new(), opaque: None },
            ],
        );
        request.messages.insert(3, Message::System { text: "Product 2 is meant.".into() });
        let role = |host: &str| written(&request, host)["messages"][3]["role"].clone();
        assert_eq!((role("localhost"), role("api.mistral.ai")), (json!("system"), json!("user")));
    }

    #[test]
    fn an_answer_that_nobody_hears_in_pieces_is_asked_for_as_a_whole() {
        let whole = written(&ModelRequest { whole: true, ..conversation() }, "localhost");
        assert_eq!((&whole["stream"], whole.get("stream_options")), (&json!(false), None));
    }

    #[test]
    fn no_tools_means_no_member() {
        let request = ModelRequest { tools: Vec::new(), ..conversation() };
        let body = written(&request, "localhost");
        assert_eq!(
            (body.get("tools"), body.get("tool_choice")),
            (None, None),
            "an empty list and a choice of none are refused by servers"
        );
    }

    #[test]
    fn hosts_with_their_own_ways() {
        let openai = written(&conversation(), "api.openai.com");
        assert_eq!(openai["max_completion_tokens"], 100);
        assert!(openai.get("max_tokens").is_none());
        let mistral = written(&conversation(), "api.mistral.ai");
        let id = mistral["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
        assert_eq!(id.len(), 9);
        assert_eq!(mistral["messages"][3]["tool_call_id"], id, "call and result still pair up");
    }

    #[test]
    fn arguments_that_are_not_json_do_not_spoil_the_next_request() {
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
