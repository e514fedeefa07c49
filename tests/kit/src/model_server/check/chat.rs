//! Chat completions: calls and results pair up right after each other, tools have schemas, names
//! and ids are plain.

use std::collections::BTreeSet;

use serde_json::Value;

use super::is_safe_name;

/// Returns all violations of a chat-completions request; empty if there are none.
pub(super) fn violations_of(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    tools(body.get("tools"), &mut found);
    match body.get("messages").and_then(Value::as_array) {
        Some(messages) if !messages.is_empty() => conversation(messages, &mut found),
        Some(_) | None => found.push("the request has no messages".to_owned()),
    }
    found
}

fn tools(tools: Option<&Value>, found: &mut Vec<String>) {
    let Some(tools) = tools else { return };
    let Some(list) = tools.as_array().filter(|list| !list.is_empty()) else {
        found.push("`tools` is present but empty".to_owned());
        return;
    };
    let mut names = BTreeSet::new();
    for tool in list {
        let name = tool.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
        if tool.get("type").and_then(Value::as_str) != Some("function") || !is_safe_name(name) {
            found.push(format!("`{name}` is not a tool that models accept"));
        }
        if !names.insert(name) {
            found.push(format!("the tool `{name}` is offered twice"));
        }
        match tool.pointer("/function/parameters").filter(|schema| schema.is_object()) {
            None => found.push(format!("the tool `{name}` has no parameter schema")),
            Some(schema) => found.extend(
                super::schemas::problems(schema)
                    .into_iter()
                    .map(|problem| format!("the schema of the tool `{name}` {problem}")),
            ),
        }
    }
}

/// Checks that calls and results pair up: every call is answered once, directly after its message,
/// and only calls are answered.
fn conversation(messages: &[Value], found: &mut Vec<String>) {
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let mut before = "";
    for message in messages {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        found.extend(out_of_turn(before, role));
        before = role;
        if role != "tool" && !open.is_empty() {
            found.push(format!(
                "calls without a result before a `{role}` message: {}",
                join_ids(&open)
            ));
            open.clear();
        }
        match role {
            "system" | "developer" | "user" => {
                if !message.get("content").is_some_and(|c| c.is_string() || c.is_array()) {
                    found.push(format!("a `{role}` message without content"));
                }
            }
            "assistant" => assistant(message, &mut open, &mut known, found),
            "tool" => {
                let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
                if !open.remove(id) {
                    found.push(format!("a result for `{id}`, which no open call has"));
                }
                if message.get("content").is_none_or(Value::is_null) {
                    found.push(format!("the result for `{id}` has no content"));
                }
            }
            other => found.push(format!("the role `{other}` is unknown")),
        }
    }
    if !open.is_empty() {
        found.push(format!("calls without a result at the end: {}", join_ids(&open)));
    }
}

/// Returns the error of a strict chat template about a message after another one.
fn out_of_turn(before: &str, role: &str) -> Option<String> {
    let fits = match role {
        "system" | "developer" => before.is_empty(),
        "user" => matches!(before, "" | "system" | "developer" | "assistant"),
        "assistant" => matches!(before, "user" | "tool"),
        "tool" => matches!(before, "assistant" | "tool"),
        _ => true,
    };
    (!fits).then(|| format!("a `{role}` message after `{before}`"))
}

fn assistant<'a>(
    message: &'a Value,
    open: &mut BTreeSet<&'a str>,
    known: &mut BTreeSet<&'a str>,
    found: &mut Vec<String>,
) {
    let calls = message.get("tool_calls");
    if calls.is_none() && message.get("content").is_none_or(Value::is_null) {
        found.push("an `assistant` message with neither content nor calls".to_owned());
    }
    let Some(calls) = calls else { return };
    let Some(list) = calls.as_array().filter(|list| !list.is_empty()) else {
        found.push("`tool_calls` is present but empty".to_owned());
        return;
    };
    for call in list {
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        if id.is_empty() || id.len() > 40 || !known.insert(id) {
            found.push(format!("the call id `{id}` is empty, too long or used twice"));
        }
        open.insert(id);
        if !is_safe_name(call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default())
        {
            found.push(format!("the call `{id}` has no usable name"));
        }
        let arguments =
            call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default();
        if serde_json::from_str::<Value>(arguments).is_err() {
            found.push(format!("the arguments of the call `{id}` are not JSON text"));
        }
    }
}

fn join_ids(ids: &BTreeSet<&str>) -> String {
    ids.iter().copied().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(messages: Value) -> Vec<String> {
        violations_of(&json!({"model": "m", "messages": messages}))
    }

    fn call(id: &str) -> Value {
        json!({"id": id, "type": "function", "function": {"name": "pace", "arguments": "{}"}})
    }

    #[test]
    fn a_conversation_with_paired_calls_has_no_violations() {
        let messages = json!([
            {"role": "system", "content": "s"}, {"role": "user", "content": "u"},
            {"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]},
            {"role": "tool", "tool_call_id": "b", "content": ""}, {"role": "tool", "tool_call_id": "a", "content": "x"},
            {"role": "assistant", "content": "done"}
        ]);
        assert_eq!(request(messages), Vec::<String>::new());
    }

    #[test]
    fn unpaired_calls_and_results_are_reported() {
        let lone = json!([{"role": "user", "content": "u"}, {"role": "assistant", "tool_calls": [call("a")]}]);
        assert_eq!(request(lone).len(), 1, "no result at the end");
        let late = json!([{"role": "user", "content": "u"}, {"role": "assistant", "tool_calls": [call("a")]}, {"role": "user", "content": "u"}, {"role": "tool", "tool_call_id": "a", "content": "x"}]);
        assert_eq!(
            request(late).len(),
            3,
            "missing when the user speaks, unknown and out of turn when it comes"
        );
        let twice = json!([{"role": "user", "content": "u"}, {"role": "assistant", "tool_calls": [call("a")]}, {"role": "tool", "tool_call_id": "a", "content": "x"}, {"role": "tool", "tool_call_id": "a", "content": "x"}]);
        assert_eq!(request(twice).len(), 1, "answered twice");
        assert_eq!(request(json!([{"role": "robot", "content": "x"}])).len(), 1);
    }

    #[test]
    fn roles_that_do_not_alternate_are_reported() {
        let said = |roles: &[&str]| {
            let one = |role: &&str| json!({"role": role, "content": "x"});
            request(roles.iter().map(one).collect()).len()
        };
        assert_eq!(said(&["system", "user", "assistant", "user"]), 0);
        assert_eq!(said(&["user", "user"]), 1);
        assert_eq!(said(&["user", "system"]), 1);
        assert_eq!(said(&["system", "assistant"]), 1);
    }

    #[test]
    fn empty_and_invalid_tool_definitions_are_reported() {
        let with = |tools: Value| {
            violations_of(
                &json!({"model": "m", "messages": [{"role": "user", "content": "u"}], "tools": tools}),
            )
        };
        assert_eq!(with(json!([])).len(), 1);
        assert_eq!(with(json!([{"type": "function", "function": {"name": "a.b", "parameters": {"type": "object"}}}])).len(), 1, "dots are refused");
        assert!(with(json!([{"type": "function", "function": {"name": "a_b", "parameters": {"type": "object"}}}])).is_empty());
    }
}
