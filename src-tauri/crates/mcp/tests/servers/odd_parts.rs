//! Tests that one invalid part of a list of tools or of a result only affects that part. The server
//! sends its answers exactly as the tests write them.

use std::{sync::Arc, sync::Mutex};

use contract::{AgentError, PackId};
use mcp::{Definition, Definitions, Servers, UnreadableTool};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{LONG, quick_timings, server};

/// Records the tools that a server lists.
#[derive(Default)]
pub(crate) struct Listed {
    tools: Mutex<Vec<Definition>>,
    unreadable: Mutex<Vec<UnreadableTool>>,
}

impl Definitions for Listed {
    fn record_unreadable(&self, _: &PackId, _: &str, tools: &[UnreadableTool]) {
        *self.unreadable.lock().unwrap() = tools.to_vec();
    }
    fn record_tools(&self, _: &PackId, _: &str, tools: &[Definition]) {
        *self.tools.lock().unwrap() = tools.to_vec();
    }
    fn check(&self, _: &PackId, _: &str, _: &str) -> Result<(), AgentError> {
        Ok(())
    }
}

impl Listed {
    pub(crate) fn names(&self) -> Vec<String> {
        self.tools.lock().unwrap().iter().map(|tool| tool.name.clone()).collect()
    }
}

/// Starts a server with these pages of tools, by cursor, and these results, by tool.
fn scripted(lists: &[(&str, String)], results: &[(&str, &str)]) -> (Servers, Arc<Listed>) {
    let lines = |all: Vec<(&str, &str)>| {
        all.iter().map(|(name, result)| format!("{name}\t{result}\n")).collect::<String>()
    };
    let lists = lines(lists.iter().map(|(cursor, page)| (*cursor, page.as_str())).collect());
    let config = server(
        "odd",
        "odd",
        &[("ODD_MODE", "script"), ("LISTS", &lists), ("RESULTS", &lines(results.to_vec()))],
    );
    let listed = Arc::new(Listed::default());
    let servers = Servers::builder(vec![config])
        .timings(quick_timings())
        .definitions(Arc::clone(&listed) as _)
        .build();
    (servers, listed)
}

async fn call(servers: &Servers, tool: &str) -> Result<Value, mcp::ToolFailure> {
    servers.call("test/odd", tool, json!({}), LONG, CancellationToken::new()).await
}

const SAID: &str = r#"{"content": [{"type": "text", "text": "done"}]}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invalid_tool_is_reported_and_the_others_are_kept() {
    let schema = json!({"type": "object"});
    let page = json!({"tools": [
        {"name": "first", "inputSchema": schema},
        {"name": "annotated", "inputSchema": schema, "annotations": {"readOnlyHint": "yes"}},
        {"name": "array", "inputSchema": []},
        {"name": "none"},
        {"name": "null", "inputSchema": null},
        {"inputSchema": schema},
        "text",
        {"name": "described", "description": {"en": "x"}, "inputSchema": schema},
        {"name": "odd name (2)", "inputSchema": schema, "icons": 7, "_meta": "x"},
        {"name": "last", "inputSchema": schema, "title": null, "outputSchema": null, "annotations": null},
    ]});
    let (servers, listed) = scripted(&[("", page.to_string())], &[("none", SAID), ("last", SAID)]);
    for tool in ["none", "last"] {
        assert_eq!(call(&servers, tool).await.unwrap(), json!("done"));
    }
    assert_eq!(listed.names(), ["first", "none", "null", "odd name (2)", "last"]);
    let schemas: Vec<Value> =
        listed.tools.lock().unwrap().iter().map(|tool| tool.input_schema.clone()).collect();
    assert!(schemas.iter().all(|of| *of == schema), "{schemas:?}");
    let named: Vec<String> = listed
        .unreadable
        .lock()
        .unwrap()
        .iter()
        .map(|tool| format!("{}: {}", tool.name, tool.why))
        .collect();
    assert_eq!(
        named,
        [
            "annotated: This part cannot be read: annotations.",
            "array: This part cannot be read: inputSchema.",
            "#6: It has no name.",
            "#7: It is not a description of a tool.",
            "described: This part cannot be read: description.",
        ]
    );
    servers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_error_text_of_a_failed_tool_list_is_shown() {
    let refusal = r#"null, "error": {"code": -32000, "message": "Run login first."}"#;
    let (servers, _) = scripted(&[("", refusal.to_owned())], &[]);
    let failure = servers.wait_until_ready("test/odd", LONG).await.unwrap_err();
    assert!(failure.error.message.contains("Run login first."), "{}", failure.error.message);
    servers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invalid_cursor_ends_the_tool_list() {
    let page = |name: &str, next: Value| {
        json!({"tools": [{"name": name, "inputSchema": {"type": "object"}}], "nextCursor": next})
            .to_string()
    };
    for (pages, names) in [
        (vec![("", page("a", json!("")))], vec!["a"]),
        (
            vec![("", page("a", json!("again"))), ("again", page("b", json!("again")))],
            vec!["a", "b"],
        ),
        (vec![("", page("a", json!("2"))), ("2", page("b", json!(3)))], vec!["a", "b"]),
        (
            vec![
                ("", page("a", json!("2"))),
                ("2", page("b", json!("3"))),
                ("3", page("c", json!("2"))),
            ],
            vec!["a", "b", "c"],
        ),
        // This server does not know its own cursor.
        (
            vec![
                ("", page("a", json!("2"))),
                ("2", r#"null, "error": {"code": -32602, "message": "Invalid cursor"}"#.to_owned()),
            ],
            vec!["a"],
        ),
        // This server ignores the cursor.
        (vec![("", page("a", json!("7"))), ("7", page("a", json!("8")))], vec!["a"]),
    ] {
        let (servers, listed) = scripted(&pages, &[]);
        servers.wait_until_ready("test/odd", LONG).await.unwrap();
        assert_eq!(listed.names(), names);
        servers.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_is_passed_on_with_its_original_text_and_digits() {
    let blob = "A".repeat(40_000);
    let file = format!(
        r#"{{"content": [{{"type": "resource", "resource": {{"uri": "a://report.pdf", "mimeType": "application/pdf", "blob": "{blob}"}}}}]}}"#
    );
    let long = r#"{\"id\": 123456789012345678901234567890, \"price\": 1.10}"#;
    let long_text = format!(r#"{{"content": [{{"type": "text", "text": "{long}"}}]}}"#);
    let long_both = format!(
        r#"{{"content": [{{"type": "text", "text": "{long}"}}], "structuredContent": {}}}"#,
        long.replace('\\', "")
    );
    let results = [
        ("number", r#"{"content": [{"type": "text", "text": "1.10"}]}"#),
        ("exponent", r#"{"content": [{"type": "text", "text": "1e5"}]}"#),
        ("digits", r#"{"content": [{"type": "text", "text": "123456789012345678901234567890"}]}"#),
        ("long", long_text.as_str()),
        ("long_both", long_both.as_str()),
        (
            "beside",
            r#"{"content": [{"type": "text", "text": "{\"n\": 1}"}, {"type": "text", "text": "Only the first page."}], "structuredContent": {"n": 1}}"#,
        ),
        ("file", file.as_str()),
        (
            "text_file",
            r#"{"content": [{"type": "resource", "resource": {"uri": "a://a.csv", "mimeType": "text/csv", "blob": "YSwxLjEwCg=="}}]}"#,
        ),
        (
            "unknown",
            r#"{"content": [{"type": "text", "text": "before"}, {"type": "video", "seconds": 3}, {"type": "resource_link", "uri": "a://b", "name": "b"}]}"#,
        ),
        (
            "odd_member",
            r#"{"content": [{"type": "text", "text": "kept", "annotations": 7}], "isError": null}"#,
        ),
        ("error", r#"{"content": [], "structuredContent": {"code": "E42"}, "isError": true}"#),
        (
            "odd_error",
            r#"{"content": [{"type": "video"}, {"type": "text", "text": "No film."}], "isError": true}"#,
        ),
    ];
    let page = json!({"tools": [{"name": "number", "inputSchema": {"type": "object"}}]});
    let (servers, _) = scripted(&[("", page.to_string())], &results);
    let long = long.replace('\\', "");
    for (tool, said) in [
        ("number", json!("1.10")),
        ("exponent", json!("1e5")),
        ("digits", json!("123456789012345678901234567890")),
        ("long", json!(long)),
        ("long_both", json!(long)),
        ("beside", json!({"structuredContent": {"n": 1}, "content": ["Only the first page."]})),
        (
            "file",
            json!({"type": "resource", "resource": {"uri": "a://report.pdf", "mimeType": "application/pdf", "bytes": 30_000}}),
        ),
        (
            "text_file",
            json!({"type": "resource", "resource": {"uri": "a://a.csv", "mimeType": "text/csv", "text": "a,1.10\n"}}),
        ),
        (
            "unknown",
            json!(["before", {"type": "video", "seconds": 3, "note": "this kind of content is unknown to the app"},
                {"type": "resource_link", "uri": "a://b", "name": "b"}]),
        ),
        ("odd_member", json!("kept")),
    ] {
        assert_eq!(call(&servers, tool).await.unwrap(), said, "{tool}");
    }
    for (tool, said) in [("error", "{\"code\":\"E42\"}"), ("odd_error", "No film.")] {
        let failure = call(&servers, tool).await.unwrap_err().error;
        assert_eq!(
            (failure.message.as_str(), failure.reason_text()),
            (said, Some("mcp_tool_error"))
        );
    }
    servers.shut_down().await;
}

/// Tests answers in the forms that hand-written servers send, in the order in which the forms are
/// checked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_in_a_non_conforming_envelope_is_read() {
    let done = [
        (
            "null error",
            r#"{"content": [{"type": "text", "text": "done"}]}, "error": null"#,
            json!("done"),
        ),
        (
            "half a character",
            r#"{"content": [{"type": "text", "text": "one \ud83d"}]}"#,
            json!("one \u{fffd}"),
        ),
        (
            "raw control character",
            "{\"content\": [{\"type\": \"text\", \"text\": \"\u{1b}[31mred\"}]}",
            json!("\u{1b}[31mred"),
        ),
        (
            "no number",
            r#"{"content": [], "structuredContent": {"mean": NaN, "most": 1e400}}"#,
            json!({"mean": "NaN", "most": "1e400"}),
        ),
        ("bare text", r#""done""#, json!("done")),
        ("first version", r#"{"toolResult": {"n": 1}}"#, json!({"n": 1})),
        ("nothing", "null", json!({})),
    ];
    let refused = [
        (
            "data",
            r#"null, "error": {"code": -32603, "message": "Internal error", "data": "User(#19704) expected"}"#,
            (-32603, "Internal error User(#19704) expected"),
        ),
        (
            "both",
            r#"{"content": []}, "error": {"code": -32000, "message": "No."}"#,
            (-32000, "No."),
        ),
        ("words", r#"null, "error": "Unknown tool""#, (-32603, "Unknown tool")),
    ];
    let results = done.iter().map(|(tool, said, _)| (*tool, *said));
    let results = results.chain(refused.iter().map(|(tool, said, _)| (*tool, *said)));
    let page = json!({"tools": [{"name": "bare text"}]});
    let (servers, _) = scripted(&[("", page.to_string())], &results.collect::<Vec<(&str, &str)>>());
    for (tool, _, value) in &done {
        assert_eq!(call(&servers, tool).await.as_ref().unwrap(), value, "{tool}");
    }
    for (tool, _, (code, words)) in &refused {
        let failure = call(&servers, tool).await.unwrap_err().error;
        assert_eq!(failure.details["code"], *code, "{tool}");
        assert!(failure.message.ends_with(words), "{}", failure.message);
    }
    servers.shut_down().await;
}
