//! Items: every call has its output before anything else follows, and reasoning has its content.

use serde_json::Value;

use super::{Pairing, is_safe_name, list, text};

pub(super) fn violations_of(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if body.get("store").and_then(Value::as_bool) != Some(false) {
        found.push("the server is asked to keep the conversation".to_owned());
    }
    if body.get("tools").is_some() {
        super::tools(
            list(body, "tools").iter().map(|tool| (text(tool, "name"), tool.get("parameters"))),
            &mut found,
        );
    }
    let input = list(body, "input");
    if input.is_empty() {
        found.push("the request has no input".to_owned());
    }
    let mut pairing = Pairing::default();
    for item in input {
        match (text(item, "type"), text(item, "role")) {
            ("function_call", _) => {
                pairing.call(text(item, "call_id"), &mut found);
                if !is_safe_name(text(item, "name"))
                    || serde_json::from_str::<Value>(text(item, "arguments")).is_err()
                {
                    found.push(format!(
                        "the call `{}` has no usable name or arguments",
                        text(item, "call_id")
                    ));
                }
            }
            ("function_call_output", _) => {
                pairing.result(text(item, "call_id"), &mut found);
                if !item.get("output").is_some_and(Value::is_string) {
                    found.push(format!("the output of `{}` is no text", text(item, "call_id")));
                }
            }
            ("reasoning", _) if text(item, "encrypted_content").is_empty() => {
                found.push("reasoning without its content".to_owned())
            }
            ("reasoning", _) => {}
            ("message" | "", role @ ("user" | "assistant" | "developer")) => {
                if role != "assistant" {
                    pairing.require_answered("a message", &mut found);
                }
                if item.get("content").is_none_or(|content| content.is_null() || *content == "") {
                    found.push(format!("a `{role}` message without content"));
                }
            }
            (kind, role) => found.push(format!("an item `{kind}` of `{role}`")),
        }
    }
    pairing.require_answered("the end", &mut found);
    found
}
