//! Checks each tool entry: references, retries, kinds, and the owner of each parameter.

use serde_json::Value;

use super::programs;
use crate::{
    fault::{Faults, join},
    kinds, names, refs,
    subject::{Subject, list, present, text},
};

pub(crate) fn check(subject: &Subject<'_>, faults: &mut Faults) {
    check_duplicates(subject, faults);
    for (at, tool) in subject.tools() {
        schema_refs(subject, &at, tool, faults);
        check_retry(&at, tool, faults);
        kinds::check(subject, &at, tool, faults);
        check_guidance(&at, tool, faults);
        check_grantable(&at, tool, faults);
        check_parameters(subject, &at, tool, faults);
        check_credential(&at, tool, faults);
        check_session_values(&at, tool, faults);
    }
}

fn check_duplicates(subject: &Subject<'_>, faults: &mut Faults) {
    let mut seen: Vec<(&str, String)> = Vec::new();
    for (at, tool) in subject.tools() {
        let Some(id) = text(tool, "id") else { continue };
        let name = names::model_name(id);
        if seen.iter().any(|(other, _)| *other == id) {
            faults.at(
                join(&at, "id"),
                format!("the tool id `{id}` occurs twice"),
                "give each tool its own id",
            );
        } else if let Some((other, _)) = seen.iter().find(|(_, n)| *n == name) {
            let problem = format!("`{id}` and `{other}` both become `{name}` for the model");
            faults.at(
                join(&at, "id"),
                problem,
                "choose ids that differ in more than dots and capitals",
            );
        }
        seen.push((id, name));
    }
}

fn schema_refs(subject: &Subject<'_>, at: &str, tool: &Value, faults: &mut Faults) {
    for member in ["input_schema_ref", "output_schema_ref", "error_schema_ref"] {
        let Some(name) = text(tool, member).and_then(refs::name_of) else { continue };
        let Some(schemas) = subject.manifest.get("schemas") else { continue };
        if schemas.get(name).is_none() {
            faults.at(
                join(at, member),
                format!("`schemas` has no `{name}`"),
                "add the schema or correct the name",
            );
        }
    }
    let input = text(tool, "input_schema_ref").and_then(|r| subject.schema(r));
    if input.is_some_and(|schema| text(schema, "type") != Some("object")) {
        faults.at(
            join(at, "input_schema_ref"),
            "the arguments of a tool must be an object",
            "give the input schema `\"type\": \"object\"`",
        );
    }
}

fn check_retry(at: &str, tool: &Value, faults: &mut Faults) {
    let attempts = tool.pointer("/retry/max_attempts").and_then(Value::as_u64).unwrap_or(0);
    let effect = text(tool, "side_effect_level");
    let strategy = tool.pointer("/idempotency/strategy").and_then(Value::as_str);
    if attempts > 1 && effect.is_some_and(|e| e != "read_only") && strategy == Some("none") {
        faults.at(
            format!("{at}/retry/max_attempts"),
            "a tool that changes something would be repeated without a way to notice the repetition",
            "set max_attempts to 1, or name an idempotency strategy that the tool's side honours",
        );
    }
    if let Some(lost) = strategy.filter(|s| {
        matches!(*s, "header" | "hash_payload" | "payload_field")
            && text(tool, "kind") == Some("mcp_server")
    }) {
        let problem = format!("the key of the strategy `{lost}` does not reach an MCP server");
        faults.at(
            format!("{at}/idempotency/strategy"),
            problem,
            "use `external_key` with an argument that the server takes for its key, or `none`",
        );
    }
}

fn check_guidance(at: &str, tool: &Value, faults: &mut Faults) {
    let says_when_not =
        list(tool.get("do_not_use_when")).any(|v| v.as_str().is_some_and(|s| !s.trim().is_empty()));
    if text(tool, "latency") == Some("slow") && !says_when_not {
        faults.at(
            join(at, "do_not_use_when"),
            "a slow tool must say when it is not to be used",
            "list at least one case, such as greetings",
        );
    }
}

fn check_grantable(at: &str, tool: &Value, faults: &mut Faults) {
    let effect = text(tool, "side_effect_level");
    if tool.get("grantable") == Some(&Value::Bool(true)) && effect.is_some_and(|e| e != "write") {
        faults.at(
            join(at, "grantable"),
            "only a tool with effect `write` can be allowed for a session",
            "remove `grantable`",
        );
    }
}

fn check_parameters(subject: &Subject<'_>, at: &str, tool: &Value, faults: &mut Faults) {
    let known = subject.parameters(tool);
    for (name, facts) in tool.get("parameters").and_then(Value::as_object).into_iter().flatten() {
        let pointer = join(&join(at, "parameters"), name);
        if known.as_ref().is_some_and(|names| !names.contains(&name.as_str())) {
            faults.at(
                &pointer,
                format!("the input schema has no parameter `{name}`"),
                "add it to the schema or correct the name",
            );
        }
        if facts.get("exempt_from_hash") == Some(&Value::Bool(true)) && name != "clientIp" {
            let problem = format!("`{name}` would not be bound by the approval");
            faults.at(
                join(&pointer, "exempt_from_hash"),
                problem,
                "only `clientIp` may be exempt; remove this member",
            );
        }
        if present(facts, "from").is_some() && text(facts, "owner") != Some("caller") {
            faults.at(
                join(&pointer, "from"),
                "`from` only means something for owner `caller`",
                "remove it or change the owner",
            );
        }
        let mutates = text(tool, "side_effect_level").is_some_and(|e| e != "read_only");
        if mutates && text(facts, "owner") == Some("default") {
            let problem =
                format!("`{name}` would be filled by default in a tool that changes something");
            faults.at(
                join(&pointer, "owner"),
                problem,
                "use `model` or `caller`: changes never rest on a guess",
            );
        }
    }
    for (index, slot) in list(tool.pointer("/offline/slots")).enumerate() {
        let Some(name) = text(slot, "parameter") else { continue };
        // In a name with dots, the first part is the parameter and the rest is a path within the
        // object.
        let first = name.split('.').next().unwrap_or(name);
        if known.as_ref().is_some_and(|names| !names.contains(&first)) {
            let pointer = format!("{at}/offline/slots/{index}/parameter");
            faults.at(
                pointer,
                format!("the input schema has no parameter `{name}`"),
                "add it to the schema or correct the name",
            );
        }
    }
}

fn check_credential(at: &str, tool: &Value, faults: &mut Faults) {
    let kind = tool.pointer("/auth/kind").and_then(Value::as_str);
    let variable = tool.pointer("/auth/env_var").and_then(Value::as_str);
    if kind.is_some_and(|k| k != "none") && variable.is_none() {
        faults.at(
            format!("{at}/auth/env_var"),
            "it is not said where the credential comes from",
            "name the variable that holds it, never its value",
        );
    }
    if let Some(name) = variable
        && !programs::is_variable(name)
    {
        faults.at(
            format!("{at}/auth/env_var"),
            format!("`{name}` is not the name of a variable"),
            "give the name only, never a value",
        );
    }
    if kind.is_some_and(|k| k != "none") && text(tool, "kind") == Some("mcp_server") {
        let fix =
            "declare it at the server: `auth` or `headers` of its `http`, or `env` of its program";
        faults.at(
            format!("{at}/auth"),
            "a tool of an MCP server is not shown a credential of its own",
            fix,
        );
    }
    for place in ["header", "query"] {
        if tool.pointer(&format!("/auth/{place}")).is_some()
            && text(tool, "kind") != Some("http_api")
        {
            faults.at(
                format!("{at}/auth/{place}"),
                format!("`{place}` only means something for kind `http_api`"),
                "remove it",
            );
        }
    }
}

fn check_session_values(at: &str, tool: &Value, faults: &mut Faults) {
    for (index, value) in list(tool.get("session_values")).enumerate() {
        let pointer = text(value, "pointer").unwrap_or("/");
        if !pointer.is_empty() && !pointer.starts_with('/') {
            let at = format!("{at}/session_values/{index}/pointer");
            faults.at(
                at,
                format!("`{pointer}` is not a JSON pointer"),
                "start it with a slash, such as `/basketId`",
            );
        }
    }
}
