//! A slow and simple reader of recordings, whose results are compared with those of the real
//! reader.

use std::path::Path;

use models::Api;
use serde_json::Value;

use crate::support::Answer;

/// Returns the events of one recorded answer.
pub fn events(text: &str) -> Vec<Value> {
    text.lines()
        .filter_map(|line| serde_json::from_str(line.trim_start_matches("data:").trim()).ok())
        .collect()
}

/// Returns the wire of a recording.
pub fn api_of(path: &Path) -> Api {
    let name = path.to_string_lossy();
    if name.contains("anthropic/") || name.contains("minimax") {
        Api::Anthropic
    } else if name.contains("google/") || name.contains("gemini/") {
        Api::Gemini
    } else if name.contains("openai-responses/") || name.contains("openai_resp/") {
        Api::Responses
    } else {
        Api::Chat
    }
}

pub fn answer(api: Api, events: &[Value]) -> Answer {
    match api {
        Api::Chat => chat(events),
        Api::Responses => responses(events),
        Api::Anthropic => anthropic(events),
        Api::Gemini => gemini(events),
    }
}

fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn number(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

fn chat(events: &[Value]) -> Answer {
    let mut answer = Answer::default();
    let mut calls: Vec<(u64, String, String)> = Vec::new();
    for chunk in events {
        if let Some(usage) = chunk.get("usage").filter(|u| u.is_object()) {
            answer.usage = (
                usage["prompt_tokens"].as_u64().unwrap(),
                usage["completion_tokens"].as_u64().unwrap(),
            );
        }
        let delta = chunk
            .pointer("/choices/0/delta")
            .or(chunk.pointer("/choices/0/message"))
            .cloned()
            .unwrap_or_default();
        match &delta["content"] {
            Value::String(text) => answer.text.push_str(text),
            Value::Array(parts) => {
                for part in parts {
                    answer.text.push_str(part["text"].as_str().unwrap_or_default());
                    answer.reasoning.push_str(
                        part.pointer("/thinking/0/text")
                            .and_then(Value::as_str)
                            .unwrap_or_default(),
                    );
                }
            }
            _ => {}
        }
        for member in ["reasoning_content", "reasoning"] {
            answer.reasoning.push_str(delta[member].as_str().unwrap_or_default());
        }
        for part in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = part["index"].as_u64().unwrap_or(0);
            if calls.iter().all(|(i, ..)| *i != index) {
                calls.push((index, String::new(), String::new()));
            }
            let call = calls.iter_mut().find(|(i, ..)| *i == index).unwrap();
            call.1.push_str(&text(part, "/function/name"));
            call.2.push_str(&text(part, "/function/arguments"));
        }
    }
    answer.calls = calls.into_iter().map(|(_, name, arguments)| (name, arguments)).collect();
    answer
}

fn anthropic(events: &[Value]) -> Answer {
    let mut answer = Answer::default();
    let mut calls: Vec<(u64, String, String)> = Vec::new();
    for event in events {
        for usage in ["/message/usage", "/usage"] {
            if let Some(input) = number(event, &format!("{usage}/input_tokens")) {
                let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"]
                    .map(|name| number(event, &format!("{usage}/{name}")).unwrap_or(0));
                answer.usage.0 = input + cached[0] + cached[1];
            }
            answer.usage.1 =
                number(event, &format!("{usage}/output_tokens")).unwrap_or(answer.usage.1);
        }
        let index = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                calls.clear();
                for block in event["message"]["content"].as_array().into_iter().flatten() {
                    calls.push((0, text(block, "/name"), block["input"].to_string()));
                }
            }
            "message" => {
                for block in event["content"].as_array().unwrap() {
                    answer.text.push_str(&text(block, "/text"));
                    answer.reasoning.push_str(&text(block, "/thinking"));
                }
            }
            "content_block_start" if event["content_block"]["type"] == "tool_use" => {
                // Arguments that come with the start are only used if no pieces follow.
                let given =
                    event["content_block"]["input"].as_object().filter(|input| !input.is_empty());
                let given =
                    given.map(|input| serde_json::to_string(input).unwrap()).unwrap_or_default();
                calls.push((index, text(event, "/content_block/name"), given));
            }
            "content_block_start" => {
                answer.text.push_str(if event["content_block"]["type"] == "text" {
                    event["content_block"]["text"].as_str().unwrap()
                } else {
                    ""
                });
            }
            "content_block_delta" => {
                answer.text.push_str(&text(event, "/delta/text"));
                answer.reasoning.push_str(&text(event, "/delta/thinking"));
                if let Some(call) = calls.iter_mut().find(|(i, ..)| *i == index) {
                    call.2.push_str(&text(event, "/delta/partial_json"));
                }
            }
            _ => {}
        }
    }
    answer.calls = calls
        .into_iter()
        .map(|(_, name, json)| (name, if json.is_empty() { "{}".to_owned() } else { json }))
        .collect();
    answer
}

fn gemini(events: &[Value]) -> Answer {
    let mut answer = Answer::default();
    for event in events {
        answer.usage.0 = number(event, "/usageMetadata/promptTokenCount")
            .map_or(answer.usage.0, |input| {
                input + number(event, "/usageMetadata/toolUsePromptTokenCount").unwrap_or(0)
            });
        let output = ["candidatesTokenCount", "thoughtsTokenCount"]
            .map(|name| number(event, &format!("/usageMetadata/{name}")));
        if output.iter().any(Option::is_some) {
            answer.usage.1 = output.iter().flatten().sum();
        }
        for part in event
            .pointer("/candidates/0/content/parts")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let said =
                if part["thought"] == true { &mut answer.reasoning } else { &mut answer.text };
            said.push_str(&text(part, "/text"));
            if let Some(name) = part.pointer("/functionCall/name").and_then(Value::as_str) {
                let arguments = part
                    .pointer("/functionCall/args")
                    .map_or_else(|| "{}".to_owned(), Value::to_string);
                answer.calls.push((name.to_owned(), arguments));
            }
        }
    }
    answer
}

fn responses(events: &[Value]) -> Answer {
    let mut answer = Answer::default();
    for event in events {
        match event["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" | "response.refusal.delta" => {
                answer.text.push_str(&text(event, "/delta"))
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                answer.reasoning.push_str(&text(event, "/delta"))
            }
            "response.reasoning_summary_part.added"
                if number(event, "/summary_index") > Some(0) =>
            {
                answer.reasoning.push_str("\n\n")
            }
            "response.output_item.done" if event["item"]["type"] == "function_call" => {
                answer.calls.push((text(event, "/item/name"), text(event, "/item/arguments")));
            }
            "response.completed" | "response.incomplete" => {
                answer.usage = (
                    number(event, "/response/usage/input_tokens").unwrap_or(0),
                    number(event, "/response/usage/output_tokens").unwrap_or(0),
                );
            }
            _ => {}
        }
    }
    answer
}
