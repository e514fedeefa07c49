//! Contents of parts: roles alternate, and every call is answered by name in the next content.

use serde_json::Value;

use super::{list, text};

pub(super) fn violations_of(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if body.get("tools").is_some() {
        let declared =
            list(body, "tools").iter().flat_map(|tool| list(tool, "functionDeclarations"));
        super::tools(
            declared.map(|tool| (text(tool, "name"), tool.get("parametersJsonSchema"))),
            &mut found,
        );
    }
    let contents = list(body, "contents");
    if contents.first().map(|content| text(content, "role")) != Some("user") {
        found.push("the conversation does not begin with the user".to_owned());
    }
    let (mut before, mut open) = ("", Vec::new());
    for content in contents {
        let (role, parts) = (text(content, "role"), list(content, "parts"));
        if role == before || !matches!(role, "user" | "model") || parts.is_empty() {
            found.push(format!(
                "a `{role}` content after a `{before}` content, or one without parts"
            ));
        }
        before = role;
        if role == "user" {
            check_answered(&std::mem::take(&mut open), parts, &mut found);
        }
        for part in parts {
            match (part.get("functionCall"), part.get("functionResponse"), part.get("text")) {
                (Some(call), None, None)
                    if role == "model" && call.get("args").is_some_and(Value::is_object) =>
                {
                    open.push(call.clone())
                }
                (None, Some(result), None)
                    if role == "user" && result.get("response").is_some_and(Value::is_object) => {}
                (None, None, Some(text)) if text.is_string() => {}
                _ => found.push(format!("a part of no known kind in a `{role}` content")),
            }
        }
    }
    if !open.is_empty() {
        found.push("calls without a result at the end".to_owned());
    }
    found
}

/// Checks that the responses match the calls in number, name and (if there is one) id.
fn check_answered(calls: &[Value], parts: &[Value], found: &mut Vec<String>) {
    let results: Vec<&Value> =
        parts.iter().filter_map(|part| part.get("functionResponse")).collect();
    let same = |call: &Value, result: &&Value| {
        text(call, "name") == text(result, "name") && call.get("id") == result.get("id")
    };
    if calls.len() != results.len()
        || !calls.iter().zip(&results).all(|(call, result)| same(call, result))
    {
        found.push(format!(
            "{} calls are followed by {} responses that are not theirs",
            calls.len(),
            results.len()
        ));
    }
}
