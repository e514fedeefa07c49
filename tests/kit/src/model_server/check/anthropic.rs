//! Messages of blocks: roles alternate, results stand first in the message directly after their
//! calls, and texts are not empty.

use serde_json::Value;

use super::{Pairing, is_safe_name, list, text};

pub(super) fn violations_of(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if body.get("max_tokens").and_then(Value::as_u64).is_none_or(|most| most == 0) {
        found.push("the request sets no `max_tokens`".to_owned());
    }
    if body.get("tools").is_some() {
        super::tools(
            list(body, "tools").iter().map(|tool| (text(tool, "name"), tool.get("input_schema"))),
            &mut found,
        );
    }
    conversation(body, &mut found);
    if let Some(budget) = body.pointer("/thinking/budget_tokens").and_then(Value::as_u64) {
        if body.get("max_tokens").and_then(Value::as_u64).is_some_and(|most| most <= budget) {
            found.push("the budget for thinking is not below `max_tokens`".to_owned());
        }
        check_thinking(body, &mut found);
    }
    found
}

fn conversation(body: &Value, found: &mut Vec<String>) {
    let messages = list(body, "messages");
    if messages.first().map(|message| text(message, "role")) != Some("user") {
        found.push("the conversation does not begin with the user".to_owned());
    }
    let mut pairing = Pairing::default();
    let mut before = "";
    for message in messages {
        let role = text(message, "role");
        if role == before || !matches!(role, "user" | "assistant") {
            found.push(format!("a `{role}` message after a `{before}` message"));
        }
        before = role;
        let blocks = list(message, "content");
        if blocks.is_empty() {
            found.push(format!("a `{role}` message without content"));
        }
        for block in blocks {
            if text(block, "type") != "tool_result" && role == "user" {
                pairing.require_answered("the user's words", found);
            }
            self::block(block, role, &mut pairing, body, found);
        }
        if role == "user" {
            pairing.require_answered("the next answer", found);
        }
    }
    pairing.require_answered("the end", found);
}

fn block(block: &Value, role: &str, pairing: &mut Pairing, body: &Value, found: &mut Vec<String>) {
    match (text(block, "type"), role) {
        ("text", _) if text(block, "text").trim().is_empty() => {
            found.push("a text block that says nothing".to_owned())
        }
        ("text", _) | ("redacted_thinking", "assistant") => {}
        ("thinking", "assistant") if text(block, "signature").is_empty() => {
            found.push("a thinking block without its signature".to_owned())
        }
        ("thinking", "assistant") => {}
        ("tool_use", "assistant") => {
            pairing.call(text(block, "id"), found);
            if !is_safe_name(text(block, "name"))
                || !block.get("input").is_some_and(Value::is_object)
            {
                found.push(format!(
                    "the call `{}` has no usable name or no object as input",
                    text(block, "id")
                ));
            }
            if body.get("tools").is_none() {
                found.push("calls in a conversation without `tools`".to_owned());
            }
        }
        ("tool_result", "user") => pairing.result(text(block, "tool_use_id"), found),
        (kind, role) => found.push(format!("a `{kind}` block in a `{role}` message")),
    }
}

/// Checks that an answer with unfinished calls begins with thinking, if thinking with a budget is
/// on.
fn check_thinking(body: &Value, found: &mut Vec<String>) {
    let newest = list(body, "messages").iter().rev().take_while(|message| {
        text(message, "role") == "assistant"
            || list(message, "content").iter().any(|block| text(block, "type") == "tool_result")
    });
    for message in newest.filter(|message| text(message, "role") == "assistant") {
        let blocks = list(message, "content");
        let calls = blocks.iter().any(|block| text(block, "type") == "tool_use");
        if calls && !blocks.first().is_some_and(|block| text(block, "type").ends_with("thinking")) {
            found.push("calls that are worked on do not begin with thinking".to_owned());
        }
    }
}
