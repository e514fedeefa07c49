//! Tests of how connections to programs open and how their calls end: servers that react
//! unexpectedly to the first request, that omit parts of their answer, or that take long. This
//! binary itself acts as the programs.

use std::{
    io::{BufRead, Write},
    process::exit,
    sync::Arc,
    time::{Duration, Instant},
};

use mcp::{Servers, Timings, ToolFailure};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{LONG, members, odd_parts::Listed, quick_timings, server};

pub(crate) const GOOD: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}"#;

/// Acts as a program. `MODE` says how the program reacts to the first requests.
pub(crate) fn run() {
    let mode = std::env::var("MODE").unwrap();
    let initialized = std::env::var("ANSWER").unwrap_or_else(|_| GOOD.to_owned());
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(std::env::var("STARTS").unwrap())
        .unwrap()
        .write_all(b"x")
        .unwrap();
    match mode.as_str() {
        "starts slowly" => std::thread::sleep(Duration::from_millis(900)),
        "ends at once" => exit(7),
        _ => {}
    }
    let (mut spoiled, mut asked, mut asks) = (false, 0, Value::Null);
    let answers_notices = mode == "answers notifications";
    for line in std::io::stdin().lock().lines() {
        let Ok(request) = serde_json::from_str::<Value>(&line.unwrap()) else { continue };
        let id = request["id"].clone();
        let method = request["method"].as_str().unwrap_or_default();
        asked += 1;
        if answers_notices && method.starts_with("notifications/") {
            refuse(&id, -32601, "unknown method");
            refuse(&id, -32600, "no request");
        }
        match (method, mode.as_str()) {
            ("server/discover", "ends at the question") => exit(1),
            ("server/discover", "ends later") => {
                std::thread::sleep(Duration::from_millis(700));
                exit(1)
            }
            ("server/discover", "hangs") => loop {
                std::thread::park();
            },
            ("server/discover", "garbles") => say("what? \u{1b}[31m{\"jsonrpc\"\n"),
            ("server/discover", "is spoiled") => {
                spoiled = true;
                refuse(&id, -32602, "initialize first");
            }
            ("server/discover", "answers without an id") => refuse(&Value::Null, -32700, "no"),
            ("server/discover", "answers nonsense") => answer(&id, &json!({"ok": true})),
            ("server/discover", "starts slowly" | "newest") => answer(&id, &newest()),
            ("server/discover", "answers late") => {
                std::thread::sleep(Duration::from_millis(700));
                answer(&id, &newest());
            }
            ("initialize", "starts slowly" | "newest" | "answers late") => {
                refuse(&id, -32601, "no such method");
            }
            ("initialize", "writes null errors") => {
                say(&format!("{{\"id\":{id},\"result\":{initialized},\"error\":null}}\n"));
            }
            ("initialize", "answers in lists") => {
                let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
                say(&format!(
                    "[{log},{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"result\":{initialized}}}]\n"
                ));
            }
            ("initialize", "asks first") => {
                say("{\"jsonrpc\":\"2.0\",\"id\":\"r\",\"method\":\"roots/list\"}\n");
                asks = id;
            }
            ("", "asks first") if id == "r" => {
                answer(&asks, &serde_json::from_str(&initialized).unwrap())
            }
            ("initialize", "knows one version")
                if request["params"]["protocolVersion"] != "2025-03-26" =>
            {
                let error = json!({"code": -32602, "message": "Unsupported protocol version", "data": {"expected": "2025-03-26"}});
                say(&format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "error": error})));
            }
            ("initialize", "is silent at new versions")
                if request["params"]["protocolVersion"] != "2024-11-05" => {}
            ("initialize", "ends at new versions")
                if request["params"]["protocolVersion"] != "2024-11-05" =>
            {
                exit(0)
            }
            ("initialize", "refuses") => refuse(&id, -32000, "Set API_KEY; hunter2 is wrong"),
            ("initialize", _) if spoiled || (asked > 1 && mode == "only as the first") => {
                refuse(&id, -32600, "too late");
            }
            ("initialize", _) => answer(&id, &serde_json::from_str(&initialized).unwrap()),
            ("tools/call", _) => call(&id, &request["params"]),
            ("tools/list", _) if answers_notices => answer(
                &id,
                &json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
            ),
            _ if !id.is_null() => refuse(&id, -32601, "unknown method"),
            _ => {}
        }
    }
    exit(0);
}

/// Acts as tools that take long, with and without progress reports.
fn call(id: &Value, params: &Value) {
    let token = &params["_meta"]["progressToken"];
    let step = Duration::from_millis(150);
    let progress = |token: &Value, at: u32| {
        let params = json!({"progressToken": token, "progress": at, "total": 8});
        say(&format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        ));
    };
    match params["name"].as_str().unwrap_or_default() {
        "progresses" => (1..=8).for_each(|at| {
            std::thread::sleep(step);
            progress(token, at);
        }),
        "progresses in words" => (1..=8).for_each(|at| {
            std::thread::sleep(step);
            let params = json!({"progressToken": token, "progress": format!("{at} of 8")});
            say(&format!(
                "{}\n",
                json!({"jsonrpc": "2.0", "id": null, "method": "notifications/progress", "params": params})
            ));
        }),
        "progresses for another" => (1..=8).for_each(|at| {
            std::thread::sleep(step);
            progress(&json!("another"), at);
        }),
        "progresses and asks" if params["requestState"].is_null() => {
            (1..=8).for_each(|at| {
                std::thread::sleep(step);
                progress(token, at);
            });
            return answer(id, &json!({"resultType": "input_required", "requestState": "kept"}));
        }
        "progresses and asks" => std::thread::sleep(step),
        "falls silent" => {
            progress(token, 1);
            return;
        }
        "cannot be read" => return refuse(&Value::Null, -32700, "Parse error"),
        _ => {}
    }
    answer(id, &done());
}

pub(crate) fn done() -> Value {
    json!({"content": [{"type": "text", "text": "{\"done\": true}"}], "resultType": "complete"})
}

fn newest() -> Value {
    json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"})
}

fn answer(id: &Value, result: &Value) {
    say(&format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "result": result})));
}

fn refuse(id: &Value, code: i32, message: &str) {
    let error = json!({"code": code, "message": message});
    say(&format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "error": error})));
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).unwrap();
    out.flush().unwrap();
}

/// A program in a mode, and how often it was started.
struct Played {
    servers: Servers,
    folder: tempfile::TempDir,
}

impl Played {
    fn start(mode: &str, more: &[(&str, &str)]) -> Self {
        Self::listed(mode, more, None)
    }

    /// Starts the program with definitions that record the listed tools.
    fn listed(mode: &str, more: &[(&str, &str)], listed: Option<Arc<Listed>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let starts = folder.path().join("starts");
        let mut env = vec![("MODE", mode), ("STARTS", starts.to_str().unwrap())];
        env.extend(more);
        let config = server("odd", "opening", &env);
        let mut builder = Servers::builder(vec![config]).timings(quick_timings());
        if let Some(listed) = listed {
            builder = builder.definitions(listed);
        }
        let servers = builder.build();
        Self { servers, folder }
    }

    async fn call(&self, tool: &str, timeout: Duration) -> Result<Value, ToolFailure> {
        let cancel = CancellationToken::new();
        self.servers.call("test/odd", tool, json!({}), timeout, cancel).await.map(members)
    }

    fn starts(&self) -> usize {
        std::fs::read(self.folder.path().join("starts")).map_or(0, |starts| starts.len())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_is_used_with_any_reaction_to_the_first_request() {
    for (mode, starts) in [
        // These programs know the older protocol.
        ("ends at the question", 2),
        ("ends later", 2),
        ("hangs", 2),
        ("is spoiled", 2),
        ("only as the first", 2),
        ("garbles", 1),
        ("answers without an id", 1),
        ("answers nonsense", 1),
        ("writes null errors", 1),
        ("answers in lists", 1),
        ("asks first", 1),
        // These programs know only old versions of the older protocol.
        ("knows one version", 1),
        ("is silent at new versions", 2),
        ("ends at new versions", 3),
        // These programs know only the newest protocol.
        ("newest", 1),
        ("starts slowly", 1),
        ("answers late", 1),
    ] {
        let played = Played::start(mode, &[]);
        let done = played.call("echo", LONG).await;
        assert_eq!(done.unwrap(), json!({"done": true}), "{mode}");
        assert_eq!(played.starts(), starts, "{mode}");
        played.servers.shut_down().await;
    }
}

#[tokio::test]
async fn each_request_during_opening_has_the_full_time_limit() {
    let config = |played: &Played| {
        let mut timings = Timings { probe: Duration::from_millis(30), ..quick_timings() };
        timings.start = Duration::from_millis(1_300);
        let starts = played.folder.path().join("starts");
        let env = [("MODE", "starts slowly"), ("STARTS", starts.to_str().unwrap())];
        Servers::builder(vec![server("odd", "opening", &env)]).timings(timings).build()
    };
    // The program reads its first request only after much more than the time for one answer.
    let played = Played::start("newest", &[]);
    let slow = Played { servers: config(&played), folder: played.folder };
    assert_eq!(slow.call("echo", LONG).await.unwrap(), json!({"done": true}));
    assert_eq!(slow.starts(), 1);
    slow.servers.shut_down().await;
}

#[tokio::test]
async fn a_program_that_exits_before_reading_is_started_once_and_reported() {
    let played = Played::start("ends at once", &[]);
    let failure = played.call("echo", LONG).await.unwrap_err();
    assert_eq!(played.starts(), 1);
    assert!(failure.error.message.contains("exit status: 7"), "{}", failure.error.message);
    played.servers.shut_down().await;
}

#[tokio::test]
async fn the_error_text_of_a_refused_opening_is_quoted() {
    let played = Played::start("refuses", &[]);
    let failure = played.call("echo", LONG).await.unwrap_err();
    assert!(
        failure.error.message.contains("-32000 and says: \u{201c}Set API_KEY;"),
        "{}",
        failure.error.message
    );
    assert_eq!(played.starts(), 2, "it said that it does not speak the newest protocol");
    played.servers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_non_conforming_answer_to_initialize_is_accepted() {
    for said in [
        json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "odd"}}),
        json!({"protocolVersion": "2025-06-18", "serverInfo": {"version": 3}}),
        json!({"protocolVersion": "2099-01-01", "capabilities": null}),
        json!({"capabilities": {"tools": true, "prompts": 1}, "serverInfo": "odd"}),
    ] {
        let played = Played::start("", &[("ANSWER", &said.to_string())]);
        assert_eq!(played.call("echo", LONG).await.unwrap(), json!({"done": true}), "{said}");
        played.servers.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_notifications_restart_the_time_limit_of_a_call() {
    let played = Played::start("", &[]);
    played.call("echo", LONG).await.unwrap();
    let short = Duration::from_millis(600);
    for tool in ["progresses", "progresses in words"] {
        assert_eq!(played.call(tool, short).await.unwrap(), json!({"done": true}), "{tool}");
    }
    for tool in ["progresses for another", "falls silent"] {
        let failure = played.call(tool, short).await.unwrap_err();
        assert_eq!(failure.error.reason_text(), Some("mcp_timeout"), "{tool}");
        // An answered call between two unanswered calls keeps the server running.
        played.call("echo", LONG).await.unwrap();
    }
    played.servers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_time_limit_of_a_call_with_progress_restarts_after_a_question() {
    let played = Played::start("newest", &[]);
    played.call("echo", LONG).await.unwrap();
    let short = Duration::from_millis(600);
    assert_eq!(played.call("progresses and asks", short).await.unwrap(), json!({"done": true}));
    played.servers.shut_down().await;
}

#[tokio::test]
async fn an_error_without_an_id_ends_the_only_running_call() {
    let played = Played::start("", &[]);
    played.call("echo", LONG).await.unwrap();
    let since = Instant::now();
    let failure = played.call("cannot be read", LONG).await.unwrap_err();
    assert!(since.elapsed() < LONG / 2);
    assert_eq!(
        (failure.error.details["code"].as_i64(), failure.may_have_happened),
        (Some(-32700), false)
    );
    assert!(failure.error.message.contains("Parse error"));
    played.call("echo", LONG).await.unwrap();
    played.servers.shut_down().await;
}

#[tokio::test]
async fn an_error_that_answers_a_notification_ends_no_call() {
    let listed = Arc::new(Listed::default());
    let played = Played::listed("answers notifications", &[], Some(Arc::clone(&listed)));
    played.call("echo", LONG).await.unwrap();
    assert_eq!(listed.names(), ["echo"]);
    let short = Duration::from_millis(300);
    let failure = played.call("falls silent", short).await.unwrap_err();
    assert_eq!(failure.error.reason_text(), Some("mcp_timeout"));
    // The answer to the cancellation arrives while one of these calls is open.
    played.call("echo", LONG).await.unwrap();
    played.call("echo", LONG).await.unwrap();
    // The error can also be a late answer to the cancelled call.
    let failure = played.call("cannot be read", LONG).await.unwrap_err();
    assert!(failure.may_have_happened, "{failure:?}");
    played.servers.shut_down().await;
}
