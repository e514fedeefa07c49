//! The settings files of other MCP clients: Claude Desktop, Cursor, Windsurf, Cline and Gemini CLI
//! (`mcpServers`), VS Code (`servers`), Zed (`context_servers`) and Codex (`mcp_servers`, as TOML).
//! Finds the servers in these files, which may contain comments. Starts no server.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use contract::{AgentError, text};
use serde_json::{Map, Value};

use super::{
    command_line::{LONGEST_NAME, slug},
    entry::{Found, is_entry, is_entry_of, read_entry},
    placeholders::{Filling, read_inputs},
};

/// The members that contain servers by name. Some clients write a prefix and a dot before the name
/// of the member.
const MEMBERS: [&str; 5] =
    ["mcpServers", "context_servers", "servers", "mcp_servers", "modelContextProtocolServers"];
/// The maximum nesting depth of the servers below other settings.
const DEEPEST: usize = 4;
const HINT: &str =
    "Paste the whole file, or the part with mcpServers, servers, context_servers or mcp_servers.";

/// The maximum number of servers that are read at once.
const MOST: usize = 200;

/// Whether a text is a settings file, and not a command line or an address.
pub(super) fn is_settings(text: &str) -> bool {
    let text = whole(text);
    is_toml(&text) || text.starts_with(['{', '[', '/']) && text.contains('{')
}

/// Returns the text without what instructions add around it: removes the fences of Markdown, and
/// adds missing braces around a member.
fn whole(text: &str) -> Cow<'_, str> {
    let mut text = text.trim_start_matches('\u{feff}').trim();
    if let Some((_, rest)) = text.strip_prefix("```").and_then(|rest| rest.split_once('\n')) {
        text = rest.trim_end_matches('`').trim();
    }
    let mut quoted = text.strip_prefix('"').into_iter().flat_map(|rest| rest.split('"').skip(1));
    if quoted.next().is_some_and(|behind| behind.trim_start().starts_with(':')) {
        return Cow::Owned(format!("{{{text}}}"));
    }
    Cow::Borrowed(text)
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
    let file = parse(&whole(text))?;
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

type Entries = Vec<(String, Map<String, Value>)>;

/// Returns the entries by name: in the usual members, also below other settings such as `mcp` and
/// the projects of Claude Code, in the whole text, or as a single entry.
fn entries_of(file: &Value) -> Option<Entries> {
    let object = file.as_object()?;
    let mut found = Vec::new();
    let is_there = collect(object, 0, &mut found);
    if !is_there && is_entry(file) {
        let name = object.get("name").and_then(Value::as_str).unwrap_or_default();
        return Some(vec![(name.to_owned(), object.clone())]);
    }
    if !is_there {
        let only = |value: &Value| {
            let object = value.as_object();
            object.is_some_and(|object| !object.is_empty() && object.values().all(is_entry))
        };
        let whole = [Some(file), object.get("mcp")].into_iter().flatten().find(|it| only(it))?;
        return Some(named_entries(whole));
    }
    Some(found)
}

/// Collects the entries below an object. Returns whether there is a member for entries.
fn collect(object: &Map<String, Value>, depth: usize, found: &mut Entries) -> bool {
    let is_member = |name: &str, value: &Value| {
        let last = name.rsplit('.').next().unwrap_or(name);
        let rank = MEMBERS.iter().position(|member| *member == last)?;
        // Other settings may also contain servers.
        let entries = named_entries(value);
        let is_usual = depth == 0 && name == last;
        (is_usual || entries.iter().any(|(_, entry)| is_entry_of(entry))).then_some((rank, entries))
    };
    let mut here: Vec<_> =
        object.iter().filter_map(|(name, value)| is_member(name, value)).collect();
    here.sort_by_key(|(rank, _)| *rank);
    let mut is_there = !here.is_empty();
    found.extend(here.into_iter().flat_map(|(_, entries)| entries));
    if depth < DEEPEST {
        let below = object.iter().filter(|(name, value)| is_member(name, value).is_none());
        for object in below.filter_map(|(_, value)| value.as_object()) {
            is_there |= collect(object, depth + 1, found);
        }
    }
    is_there
}

/// Returns the servers in an object, or in a list whose items have names.
fn named_entries(servers: &Value) -> Entries {
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

/// Gives each server a unique name, because `Git Hub` and `git-hub` would otherwise get the same
/// name.
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

/// Returns a name with a number. The name is shortened if there is not enough space for the number.
fn with_number(name: &str, number: usize) -> String {
    let end = format!("-{number}");
    let kept = LONGEST_NAME.saturating_sub(end.len());
    slug(&format!("{name:.kept$}{end}"))
}

/// Removes comments and trailing commas, which VS Code and Zed allow. Writes numbers as texts,
/// because they become arguments and variables, so that `1.10` keeps its digits.
fn plain_json(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
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
