//! The settings files of other MCP clients: Claude Desktop, Cursor, Windsurf, Cline and Gemini CLI
//! (`mcpServers`), VS Code (`servers`), Zed (`context_servers`) and Codex (`mcp_servers`, as TOML).
//! Finds the servers in them, also with comments. Starts nothing.

use std::collections::{BTreeMap, BTreeSet};

use contract::{AgentError, text};
use serde_json::{Map, Value};

use super::{
    command_line::{LONGEST_NAME, slug},
    entry::{Found, is_entry, read_entry},
    placeholders::{Filling, read_inputs},
};

/// The members that hold servers by name.
const MEMBERS: [&str; 5] =
    ["mcpServers", "context_servers", "servers", "mcp_servers", "amp.mcpServers"];
const HINT: &str =
    "Paste the whole file, or the part with mcpServers, servers, context_servers or mcp_servers.";

/// The most servers that are read at once.
const MOST: usize = 200;

/// Whether a text is a settings file, and neither a command line nor an address.
pub(super) fn is_settings(text: &str) -> bool {
    is_toml(text) || text.trim_start().starts_with(['{', '[', '/']) && text.contains('{')
}

fn is_toml(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start().trim_start_matches('[');
        line.strip_prefix("mcp_servers").is_some_and(|rest| rest.starts_with(['.', ' ', '=', ']']))
    })
}

/// Reads all servers of a settings file, with these values for its placeholders.
pub(super) fn read_settings(
    text: &str,
    values: &BTreeMap<String, String>,
) -> Result<Vec<Found>, AgentError> {
    let file = parse(text)?;
    let none = || AgentError::invalid("The settings hold no MCP servers.").hint(HINT);
    let entries = entries_of(&file).ok_or_else(none)?;
    if entries.is_empty() {
        return Err(none());
    }
    if entries.len() > MOST {
        return Err(AgentError::invalid(text!(
            "The settings hold {found} MCP servers. At most {most} are read at once.",
            found = entries.len(),
            most = MOST
        ))
        .hint("Paste only the servers that you want to add."));
    }
    let inputs = read_inputs(&file);
    let read = |(name, entry): &(String, Map<String, Value>)| {
        read_entry(name, entry, Filling::new(values, &inputs))
    };
    let mut found: Vec<Found> = entries.iter().map(read).collect();
    separate_names(&mut found);
    Ok(found)
}

fn parse(text: &str) -> Result<Value, AgentError> {
    let (format, parsed) = if is_toml(text) {
        ("TOML", toml::from_str(text).map_err(|error| error.message().to_owned()))
    } else {
        ("JSON", serde_json::from_str(&plain_json(text)).map_err(|error| error.to_string()))
    };
    parsed.map_err(|error| {
        AgentError::invalid(text!("The text is not valid {format}: {error}.", format, error))
            .hint(HINT)
    })
}

/// Returns the entries by name: in the usual members, also below `mcp` and in the projects of Claude
/// Code, as the whole text, or a single entry.
fn entries_of(file: &Value) -> Option<Vec<(String, Map<String, Value>)>> {
    let object = file.as_object()?;
    let projects = object.get("projects").and_then(Value::as_object);
    let below = object.get("mcp").into_iter().chain(projects.into_iter().flat_map(Map::values));
    let places = std::iter::once(object).chain(below.filter_map(Value::as_object));
    let mut found: Vec<_> = places
        .flat_map(|place| MEMBERS.iter().filter_map(|member| place.get(*member)))
        .map(named_entries)
        .collect();
    if found.is_empty() && is_entry(file) {
        return Some(vec![(String::new(), object.clone())]);
    }
    if found.is_empty() {
        let only = |value: &Value| {
            let object = value.as_object();
            object.is_some_and(|object| !object.is_empty() && object.values().all(is_entry))
        };
        let whole = [Some(file), object.get("mcp")].into_iter().flatten().find(|it| only(it))?;
        found.push(named_entries(whole));
    }
    Some(found.concat())
}

/// Returns the servers of an object, or of a list whose items have names.
fn named_entries(servers: &Value) -> Vec<(String, Map<String, Value>)> {
    let named = |name: &str, entry: &Value| {
        (name.to_owned(), entry.as_object().cloned().unwrap_or_default())
    };
    match servers {
        Value::Object(servers) => servers.iter().map(|(name, entry)| named(name, entry)).collect(),
        Value::Array(servers) => servers
            .iter()
            .map(|entry| {
                named(entry.get("name").and_then(Value::as_str).unwrap_or_default(), entry)
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Gives each server a name of its own: `Git Hub` and `git-hub` would get the same one.
fn separate_names(found: &mut [Found]) {
    let mut taken = BTreeSet::new();
    for one in found {
        let name = one.server.name.clone();
        if taken.insert(name.clone()) {
            continue;
        }
        let mut numbered = (2..).map(|number| with_number(&name, number));
        let Some(other) = numbered.find(|other| !taken.contains(other)) else { return };
        one.notes.push(text!(
            "Another server of these settings is also called {name}, so this one is called {other}.",
            name,
            other = other.as_str()
        ));
        taken.insert(other.clone());
        one.server.name = other;
    }
}

/// Returns a name with a number, which is cut where the number needs its place.
fn with_number(name: &str, number: usize) -> String {
    let end = format!("-{number}");
    let kept = LONGEST_NAME.saturating_sub(end.len());
    slug(&format!("{name:.kept$}{end}"))
}

/// Removes comments and commas before a closing bracket, which VS Code and Zed allow. Writes numbers
/// as texts, because they become arguments and variables: `1.10` keeps its digits.
fn plain_json(text: &str) -> String {
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
            '0'..='9' | '-' if !in_text => {
                let is_part = |c: &char| c.is_ascii_alphanumeric() || "+-.".contains(*c);
                plain.extend(['"', c]);
                while let Some(c) = chars.next_if(is_part) {
                    plain.push(c);
                }
                plain.push('"');
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
mod tests;
