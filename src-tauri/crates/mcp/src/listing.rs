//! Reads the list of a server's tools. If one tool cannot be read, only this tool is lost, and it
//! is reported with the reason. The module knows no connection except the peer that it asks.

use std::collections::HashSet;

use contract::{Text, text};
use rmcp::{
    Peer, RoleClient,
    model::{
        ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool,
    },
    service::ServiceError,
};
use secrecy::SecretString;
use serde_json::{Map, Value, json};

use crate::{
    Definition, failure,
    failure::{OpenError, TransportCause},
    words,
};

/// The maximum number of tools, pages and bytes of definitions that a server may list. A server
/// that lists more is not used.
const MAX_TOOLS: usize = 2_000;
const MAX_PAGES: usize = 200;
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The members that contain the schema if a server uses another protocol's spelling.
const OTHER_SCHEMA: [&str; 2] = ["input_schema", "parameters"];
/// The maximum number of characters of an unreadable tool's name.
const NAME: usize = 100;

/// The tools that a server lists.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<Definition>,
    pub(crate) unreadable: Vec<UnreadableTool>,
}

impl Listing {
    fn has(&self, tool: &Value) -> bool {
        self.tools.iter().any(|known| tool["name"] == known.name)
    }

    /// Adds a tool. A tool with the same name as an earlier tool could never be called, so it is
    /// omitted.
    fn add(&mut self, tool: Value, number: usize) {
        match read_tool(tool, number) {
            Ok(tool) if self.tools.iter().any(|known| known.name == tool.name) => {
                let name = tool.name.chars().take(NAME).collect();
                let why = "An earlier tool of the list has the same name.".into();
                self.unreadable.push(UnreadableTool { name, why });
            }
            Ok(tool) => self.tools.push(tool),
            Err(unreadable) => self.unreadable.push(unreadable),
        }
    }
}

/// A tool that cannot be used because a part of its description cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableTool {
    /// The tool's name, or its position in the list.
    pub name: String,
    /// The reason, as a sentence.
    pub why: Text,
}

#[derive(Default)]
struct Page {
    tools: Vec<Value>,
    next: Option<String>,
    /// Why the server did not return this page.
    fault: Option<Text>,
}

/// Asks for all tools. A server without a list has no tools. If a later page fails, only that page
/// is lost. Fails if the first page fails or a limit is exceeded.
pub(crate) async fn list_tools(
    peer: &Peer<RoleClient>,
    secrets: &[SecretString],
) -> Result<Listing, OpenError> {
    let (mut found, mut count, mut bytes, mut cursor) = (Listing::default(), 0, 0, None);
    let mut seen = HashSet::new();
    for _ in 0..MAX_PAGES {
        let Some(page) = ask_page(peer, cursor, secrets).await? else { return Ok(found) };
        match page.fault {
            Some(why) if count == 0 => return Err(OpenError::Because(why)),
            Some(why) => {
                let name = format!("#{}", count + 1);
                found.unreadable.push(UnreadableTool { name, why });
                return Ok(found);
            }
            None => {}
        }
        count += page.tools.len();
        if count > MAX_TOOLS {
            return Err(OpenError::Because(text!(
                "It lists more than {most} tools.",
                most = MAX_TOOLS
            )));
        }
        bytes += page.tools.iter().map(|tool| tool.to_string().len()).sum::<usize>();
        if bytes > MAX_BYTES {
            return Err(OpenError::Because(text!(
                "It describes its tools with more than {size} MiB.",
                size = MAX_BYTES / 1024 / 1024
            )));
        }
        // Some servers ignore the cursor, and return the first page with a new cursor each time.
        if !page.tools.is_empty() && page.tools.iter().all(|tool| found.has(tool)) {
            return Ok(found);
        }
        let first = count - page.tools.len();
        for (at, tool) in page.tools.into_iter().enumerate() {
            found.add(tool, first + at + 1);
        }
        // A cursor that was used before would start the list again.
        match page.next.filter(|next| seen.insert(next.clone())) {
            Some(next) => cursor = Some(next),
            None => return Ok(found),
        }
    }
    Err(OpenError::Because(text!(
        "It lists its tools on more than {most} pages.",
        most = MAX_PAGES
    )))
}

/// Returns a page of the list, or None if the server has no list.
async fn ask_page(
    peer: &Peer<RoleClient>,
    cursor: Option<String>,
    secrets: &[SecretString],
) -> Result<Option<Page>, OpenError> {
    let unlisted = |error: Text| text!("Its tools could not be listed: {error}.", error);
    let faulty = |error| Ok(Some(Page { fault: Some(unlisted(error)), ..Page::default() }));
    let request = ListToolsRequest {
        params: Some(PaginatedRequestParams::default().with_cursor(cursor)),
        ..ListToolsRequest::default()
    };
    match peer.send_request(ClientRequest::ListToolsRequest(request)).await {
        Ok(answer) => match read_page(plain(answer)) {
            Some(page) => Ok(Some(page)),
            None => faulty("its answer holds no list".into()),
        },
        Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => Ok(None),
        Err(ServiceError::McpError(error)) => faulty(words::refusal_kind(&error, secrets)),
        Err(error) => Err(match failure::request_cause(&error) {
            Some(TransportCause::Unauthorized(challenge)) => OpenError::SignIn(challenge),
            _ => OpenError::Because(unlisted(failure::request_kind(&error))),
        }),
    }
}

/// Returns an answer as a plain value. An answer that the library cannot parse already is a plain
/// value.
pub(crate) fn plain(answer: ServerResult) -> Value {
    match answer {
        ServerResult::CustomResult(odd) => odd.0,
        other => serde_json::to_value(other).unwrap_or_default(),
    }
}

fn read_page(mut answer: Value) -> Option<Page> {
    let tools = match answer.get_mut("tools")?.take() {
        Value::Array(tools) => tools,
        Value::Null => Vec::new(),
        _ => return None,
    };
    let next = match answer.get("nextCursor") {
        Some(Value::String(next)) if !next.is_empty() => Some(next.clone()),
        _ => None,
    };
    Some(Page { tools, next, fault: None })
}

/// Reads one tool. `number` identifies a tool without a name.
fn read_tool(tool: Value, number: usize) -> Result<Definition, UnreadableTool> {
    let named = |tool: &Value| match tool["name"].as_str().filter(|name| !name.trim().is_empty()) {
        Some(name) => name.chars().take(NAME).collect(),
        None => format!("#{number}"),
    };
    let unreadable = |tool: &Value, why: Text| UnreadableTool { name: named(tool), why };
    if !tool.is_object() {
        return Err(unreadable(&tool, "It is not a description of a tool.".into()));
    }
    if tool["name"].as_str().is_none_or(|name| name.trim().is_empty()) {
        return Err(unreadable(&tool, "It has no name.".into()));
    }
    let known = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];
    let mut members: Map<String, Value> = known
        .iter()
        .filter_map(|member| Some(((*member).to_owned(), tool.get(*member)?.clone())))
        .filter(|(_, value)| !value.is_null())
        .collect();
    members.entry("inputSchema").or_insert_with(|| {
        let other = OTHER_SCHEMA.iter().find_map(|member| tool.get(*member)?.as_object());
        other.map_or_else(|| json!({"type": "object"}), |schema| Value::Object(schema.clone()))
    });
    if let Ok(read) = serde_json::from_value::<Tool>(Value::Object(members.clone())) {
        return Ok(Definition::of(&read));
    }
    let alone = |member: &str| {
        let mut least = Map::from_iter([
            ("name".to_owned(), json!("a")),
            ("inputSchema".to_owned(), json!({"type": "object"})),
        ]);
        least.insert(member.to_owned(), members.get(member).cloned().unwrap_or_default());
        serde_json::from_value::<Tool>(Value::Object(least)).is_err()
    };
    let wrong: Vec<&str> =
        known.into_iter().filter(|member| members.contains_key(*member) && alone(member)).collect();
    Err(unreadable(&tool, text!("This part cannot be read: {parts}.", parts = wrong.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_without_a_schema_takes_an_object() {
        for tool in [json!({"name": "a"}), json!({"name": "a", "inputSchema": null})] {
            assert_eq!(read_tool(tool, 1).unwrap().input_schema, json!({"type": "object"}));
        }
        let schema = json!({"type": "object", "required": ["a"]});
        for member in OTHER_SCHEMA {
            let tool = json!({"name": "a", member: schema});
            assert_eq!(read_tool(tool, 1).unwrap().input_schema, schema, "{member}");
        }
        let odd = json!({"name": "list files (2)", "icons": 7, "_meta": [], "title": null, "execution": "x"});
        assert_eq!(read_tool(odd, 1).unwrap().name, "list files (2)");
    }

    #[test]
    fn an_unreadable_tool_is_reported_with_its_invalid_part() {
        let schema = json!({"type": "object"});
        for (tool, name, part) in [
            (json!({"name": "a", "inputSchema": []}), "a", "inputSchema"),
            (json!({"name": "a", "inputSchema": "{}"}), "a", "inputSchema"),
            (
                json!({"name": "a", "inputSchema": schema, "annotations": {"readOnlyHint": "yes"}}),
                "a",
                "annotations",
            ),
            (json!({"name": "a", "inputSchema": schema, "description": ["x"]}), "a", "description"),
            (json!({"name": "a", "inputSchema": schema, "outputSchema": 1}), "a", "outputSchema"),
            (json!({"name": 3}), "#7", "no name"),
            (json!({"name": " "}), "#7", "no name"),
            (json!("a"), "#7", "not a description"),
        ] {
            let odd = read_tool(tool.clone(), 7).unwrap_err();
            assert_eq!(odd.name, name, "{tool}");
            assert!(odd.why.contains(part), "{tool}: {}", odd.why);
        }
    }

    #[test]
    fn a_duplicate_tool_name_is_reported_and_the_first_tool_is_kept() {
        let mut found = Listing::default();
        for (at, tool) in ["a", "b", "a"].into_iter().enumerate() {
            found.add(json!({"name": tool, "description": at.to_string()}), at + 1);
        }
        let kept: Vec<_> = found.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(kept, ["a", "b"]);
        assert!(
            format!("{:?}", found.tools[0]).contains("\"0\""),
            "the first: {:?}",
            found.tools[0]
        );
        assert_eq!(found.unreadable.len(), 1);
        assert_eq!(found.unreadable[0].name, "a");
        assert!(found.unreadable[0].why.contains("same name"));
    }

    #[test]
    fn only_a_non_empty_text_cursor_requests_another_page() {
        let next =
            |cursor: Value| read_page(json!({"tools": [], "nextCursor": cursor})).unwrap().next;
        for end in [json!(""), json!(null), json!(1), json!({})] {
            assert_eq!(next(end.clone()), None, "{end}");
        }
        assert_eq!(next(json!("2")).as_deref(), Some("2"));
        assert!(read_page(json!({"tools": {}})).is_none() && read_page(json!([])).is_none());
    }
}
