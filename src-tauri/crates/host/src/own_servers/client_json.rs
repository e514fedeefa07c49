//! The settings of other MCP clients: Claude Desktop and Cursor (`mcpServers`), VS Code (`servers`)
//! and Zed (`context_servers`). Reads servers from their JSON, with comments. Starts nothing.

use std::collections::BTreeMap;

use contract::{AgentError, NewServer, Text, text};
use serde_json::{Map, Value};

use super::command_line::{self, slug};

/// The members that hold servers by name.
const MEMBERS: [&str; 3] = ["mcpServers", "context_servers", "servers"];

/// A server as another client has it, and why it cannot be used as it is.
pub(super) type Found = (NewServer, Option<Text>);

/// Reads all servers of a JSON text.
pub(super) fn read_client_json(text: &str) -> Result<Vec<Found>, AgentError> {
    let value: Value = serde_json::from_str(&strip_comments(text)).map_err(|error| {
        AgentError::invalid(text!(
            "The text is not valid JSON: {error}.",
            error = error.to_string()
        ))
        .hint("Paste the whole file, or the part with mcpServers, servers or context_servers.")
    })?;
    let none = || {
        AgentError::invalid("The JSON holds no MCP servers.")
            .hint("Paste the whole file, or the part with mcpServers, servers or context_servers.")
    };
    let entries = entries_of(&value).ok_or_else(none)?;
    if entries.is_empty() {
        return Err(none());
    }
    Ok(entries.iter().map(|(name, entry)| read_entry(name, entry)).collect())
}

/// Returns the entries by name: in one of the usual members, in VS Code's settings below `mcp`, as
/// the whole text, or a single entry.
fn entries_of(value: &Value) -> Option<Map<String, Value>> {
    let object = value.as_object()?;
    let inside = |object: &Map<String, Value>| {
        MEMBERS.iter().find_map(|member| object.get(*member)?.as_object().cloned())
    };
    if let Some(found) =
        inside(object).or_else(|| object.get("mcp").and_then(Value::as_object).and_then(inside))
    {
        return Some(found);
    }
    if is_entry(value) {
        return Some(std::iter::once((String::new(), value.clone())).collect());
    }
    (!object.is_empty() && object.values().all(is_entry)).then(|| object.clone())
}

fn is_entry(value: &Value) -> bool {
    ["command", "url", "serverUrl"].iter().any(|member| value.get(member).is_some())
}

fn read_entry(name: &str, entry: &Value) -> Found {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    // Zed also has the program, its arguments and variables in `command`.
    let program = entry.get("command").filter(|command| command.is_object()).unwrap_or(entry);
    let command = match entry.get("command") {
        Some(Value::Object(command)) => text(command.get("path")),
        other => text(other),
    };
    let mut server = NewServer {
        name: slug(name),
        command,
        args: read_list(program.get("args")),
        env: read_texts(program.get("env")),
        url: text(entry.get("url").or_else(|| entry.get("serverUrl"))),
        headers: read_texts(entry.get("headers")),
        network: entry.get("network").and_then(Value::as_bool).unwrap_or(true),
        not_keys: read_list(entry.get("not_keys")),
        ..NewServer::default()
    };
    if name.is_empty() {
        let place = if server.command.is_empty() { &server.url } else { &server.command };
        server.name = command_line::suggest_name(&server.args, place);
    }
    let problem = find_problem(&server, entry);
    (server, problem)
}

fn read_list(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn read_texts(value: Option<&Value>) -> BTreeMap<String, String> {
    let members = value.and_then(Value::as_object).into_iter().flatten();
    let plain = members.filter_map(|(name, value)| match value {
        Value::String(text) => Some((name.clone(), text.clone())),
        Value::Number(_) | Value::Bool(_) => Some((name.clone(), value.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    });
    plain.collect()
}

fn find_problem(server: &NewServer, entry: &Value) -> Option<Text> {
    if entry.get("type").and_then(Value::as_str) == Some("sse") {
        return Some("It uses the old transport SSE, which Countersign does not speak. Use the server's address for streamable HTTP.".into());
    }
    if server.command.is_empty() && server.url.is_empty() {
        return Some("It has neither a command nor an address.".into());
    }
    let values = server.env.values().chain(server.headers.values()).chain(&server.args);
    let open =
        values.chain([&server.command, &server.url]).find_map(|value| find_placeholder(value))?;
    Some(text!("Replace {placeholder} by its value.", placeholder = open))
}

/// Returns the first placeholder of another client in a text, such as `${input:key}`.
fn find_placeholder(text: &str) -> Option<String> {
    let begin = text.find("${")?;
    let end = text[begin..].find('}')?;
    Some(text[begin..=begin + end].to_owned())
}

/// Removes comments and commas before a closing bracket, which VS Code and Zed allow.
fn strip_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut in_text = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' if in_text => {
                plain.push(c);
                plain.extend(chars.next());
                continue;
            }
            '"' => in_text = !in_text,
            '/' if !in_text && chars.peek() == Some(&'/') => {
                chars.by_ref().find(|c| *c == '\n');
                continue;
            }
            '/' if !in_text && chars.peek() == Some(&'*') => {
                let mut before = ' ';
                chars.by_ref().skip(1).find(|c| {
                    let is_end = before == '*' && *c == '/';
                    before = *c;
                    is_end
                });
                continue;
            }
            '}' | ']' if !in_text => {
                let kept = plain.trim_end();
                if let Some(kept) = kept.strip_suffix(',') {
                    plain.truncate(kept.len());
                }
            }
            _ => {}
        }
        plain.push(c);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Found {
        let mut found = read_client_json(text).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    #[test]
    fn the_files_of_four_clients_are_read() {
        let claude = r#"{"mcpServers": {"Brave Search": {"command": "npx", "args": ["-y", "brave"], "env": {"BRAVE_API_KEY": "abc"}}}}"#;
        let (server, problem) = one(claude);
        assert_eq!((server.name.as_str(), server.command.as_str()), ("brave-search", "npx"));
        assert_eq!((server.env["BRAVE_API_KEY"].as_str(), problem), ("abc", None));

        let vs_code = r#"{
            // Asked for once
            "inputs": [],
            "servers": { "gh": { "type": "http", "url": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer ${input:key}"}, }, },
        }"#;
        let (server, problem) = one(vs_code);
        assert_eq!(server.url, "https://api.example.com/mcp");
        assert_eq!(problem.unwrap().to_string(), "Replace ${input:key} by its value.");

        let zed = r#"{"context_servers": {"time": {"command": {"path": "uvx", "args": ["mcp-server-time"], "env": {"A": "b"}}}}}"#;
        let (server, _) = one(zed);
        assert_eq!((server.command.as_str(), server.args.len()), ("uvx", 1));
        assert_eq!(server.env["A"], "b");

        let settings =
            r#"{"mcp": {"servers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}}"#;
        assert_eq!(one(settings).0.name, "time");
        let cursor_entry = r#"{"command": "npx", "args": ["-y", "@scope/server-files"] /* one */}"#;
        assert_eq!(one(cursor_entry).0.name, "files");
    }

    #[test]
    fn what_holds_no_server_is_refused_with_the_remedy() {
        for text in ["{}", "[1]", r#"{"mcpServers": {}}"#, "{"] {
            assert!(read_client_json(text).unwrap_err().hint_text().is_some(), "{text}");
        }
        let (_, problem) =
            one(r#"{"mcpServers": {"old": {"type": "sse", "url": "https://a.example/sse"}}}"#);
        assert!(problem.unwrap().contains("SSE"));
    }
}
