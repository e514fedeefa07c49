//! How connections open and how calls end: servers that do odd things with the first question, that
//! leave out parts of their answer, that take long, or that are no MCP servers at all. This binary
//! plays the programs itself; addresses are played by a function for each test.

use std::{
    io::{BufRead, Write},
    process::exit,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    body::Bytes,
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use mcp::{Servers, Timings, ToolFailure};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{LONG, members, odd_parts::Listed, quick_timings, server};

const GOOD: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}"#;

/// Plays a program. `MODE` says what it does with the first questions.
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
    let (mut spoiled, mut asked) = (false, 0);
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

/// Plays tools that take long, with and without a word about it.
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

fn done() -> Value {
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

    /// Starts it with the definitions that are told what it lists.
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
async fn whatever_a_program_does_with_the_first_question_it_is_used() {
    for (mode, starts) in [
        // They know the older protocol.
        ("ends at the question", 2),
        ("ends later", 2),
        ("hangs", 2),
        ("is spoiled", 2),
        ("only as the first", 2),
        ("garbles", 1),
        ("answers without an id", 1),
        ("answers nonsense", 1),
        // They know the newest protocol only.
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
async fn a_program_may_take_its_whole_time_for_each_question() {
    let config = |played: &Played| {
        let mut timings = Timings { probe: Duration::from_millis(30), ..quick_timings() };
        timings.start = Duration::from_millis(1_300);
        let starts = played.folder.path().join("starts");
        let env = [("MODE", "starts slowly"), ("STARTS", starts.to_str().unwrap())];
        Servers::builder(vec![server("odd", "opening", &env)]).timings(timings).build()
    };
    // It reads its first question after much more than the time for one answer.
    let played = Played::start("newest", &[]);
    let slow = Played { servers: config(&played), folder: played.folder };
    assert_eq!(slow.call("echo", LONG).await.unwrap(), json!({"done": true}));
    assert_eq!(slow.starts(), 1);
    slow.servers.shut_down().await;
}

#[tokio::test]
async fn a_program_that_ends_before_it_reads_is_started_once_and_its_end_is_told() {
    let played = Played::start("ends at once", &[]);
    let failure = played.call("echo", LONG).await.unwrap_err();
    assert_eq!(played.starts(), 1);
    assert!(failure.error.message.contains("exit status: 7"), "{}", failure.error.message);
    played.servers.shut_down().await;
}

#[tokio::test]
async fn the_words_of_a_refusal_are_quoted() {
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
async fn an_answer_to_initialize_may_be_sloppy() {
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
async fn progress_of_a_call_begins_its_time_again() {
    let played = Played::start("", &[]);
    played.call("echo", LONG).await.unwrap();
    let short = Duration::from_millis(600);
    assert_eq!(played.call("progresses", short).await.unwrap(), json!({"done": true}));
    for tool in ["progresses for another", "falls silent"] {
        let failure = played.call(tool, short).await.unwrap_err();
        assert_eq!(failure.error.reason_text(), Some("mcp_timeout"), "{tool}");
        // A call that is answered between two that are not keeps the server.
        played.call("echo", LONG).await.unwrap();
    }
    played.servers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_progressed_has_its_time_again_after_a_question() {
    let played = Played::start("newest", &[]);
    played.call("echo", LONG).await.unwrap();
    let short = Duration::from_millis(600);
    assert_eq!(played.call("progresses and asks", short).await.unwrap(), json!({"done": true}));
    played.servers.shut_down().await;
}

#[tokio::test]
async fn an_error_without_an_id_ends_the_call_that_it_can_only_mean() {
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
    // The answer to the cancellation comes while one of these calls is open.
    played.call("echo", LONG).await.unwrap();
    played.call("echo", LONG).await.unwrap();
    // The error can also be a late answer to the call that was given up.
    let failure = played.call("cannot be read", LONG).await.unwrap_err();
    assert!(failure.may_have_happened, "{failure:?}");
    played.servers.shut_down().await;
}

/// A request to an address, as its test sees it.
struct Asked {
    method: Method,
    headers: HeaderMap,
    body: Value,
}

impl Asked {
    fn rpc(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn answer(&self, result: &Value) -> Response {
        Json(json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})).into_response()
    }

    /// Answers as a server of the older protocol does.
    fn usual(&self) -> Response {
        match self.rpc() {
            "initialize" => self.answer(&serde_json::from_str(GOOD).unwrap()),
            "tools/call" => self.answer(&done()),
            _ if self.body.get("id").is_none() => StatusCode::ACCEPTED.into_response(),
            _ => Json(json!({"jsonrpc": "2.0", "id": self.body["id"], "error": {"code": -32601, "message": "unknown method"}})).into_response(),
        }
    }
}

/// Answers the requests to an address.
type Answering = fn(&Asked) -> Response;

/// The status of an answer that does not come.
const SILENCE: u16 = 599;

/// Serves an address with a function.
async fn address(answer: impl Fn(&Asked) -> Response + Send + Sync + 'static) -> Servers {
    let answer = Arc::new(answer);
    let app = Router::new().fallback(move |method: Method, headers: HeaderMap, body: Bytes| {
        let answer = Arc::clone(&answer);
        async move {
            let body = serde_json::from_slice(&body).unwrap_or_default();
            let answer = answer(&Asked { method, headers, body });
            if answer.status() == SILENCE {
                std::future::pending::<()>().await;
            }
            answer
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    crate::http::server_at(&format!("http://127.0.0.1:{port}/mcp"))
}

async fn call_far(servers: &Servers) -> Result<Value, ToolFailure> {
    let cancel = CancellationToken::new();
    servers.call("test/far", "echo", json!({}), LONG, cancel).await.map(members)
}

fn html() -> Response {
    ([(header::CONTENT_TYPE, "text/html")], "<!doctype html><p>Hello").into_response()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_an_address_says_to_the_first_question_it_is_used() {
    let answers: [Answering; 7] = [
        |_| StatusCode::from_u16(SILENCE).unwrap().into_response(),
        |_| StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        |_| (StatusCode::NOT_FOUND, "no such method").into_response(),
        |_| html(),
        |_| Json(json!({"error": "what?"})).into_response(),
        |asked| asked.answer(&json!({})),
        |_| {
            Json(json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "Not initialized"}})).into_response()
        },
    ];
    for (number, first) in answers.into_iter().enumerate() {
        let servers =
            address(
                move |asked| {
                    if asked.rpc() == "server/discover" { first(asked) } else { asked.usual() }
                },
            )
            .await;
        assert_eq!(call_far(&servers).await.unwrap(), json!({"done": true}), "{number}");
        servers.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sloppy_answer_of_an_address_is_repaired_and_its_version_is_kept_to() {
    let versions: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
    let seen = Arc::clone(&versions);
    let servers = address(move |asked| {
        let version = asked.header("mcp-protocol-version").to_owned();
        seen.lock().unwrap().push((asked.rpc().to_owned(), version));
        match asked.rpc() {
            "initialize" => asked.answer(&json!({"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}, "serverInfo": {"name": "odd"}})),
            _ => asked.usual(),
        }
    })
    .await;
    assert_eq!(call_far(&servers).await.unwrap(), json!({"done": true}));
    servers.shut_down().await;
    let versions = versions.lock().unwrap();
    let of_call = versions.iter().find(|(rpc, _)| rpc == "tools/call");
    assert_eq!(of_call.map(|(_, version)| version.as_str()), Some("2025-03-26"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_mcp_server_is_named_with_the_remedy() {
    let not_here: Answering = |_| StatusCode::NOT_FOUND.into_response();
    let cases: [(Answering, &[&str]); 6] = [
        (
            |asked| match asked.method {
                Method::GET => (
                    [(header::CONTENT_TYPE, "text/event-stream")],
                    "event: endpoint\ndata: /messages?session=1\n\n",
                )
                    .into_response(),
                _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
            },
            &["old transport over SSE", "mcp-remote"],
        ),
        (not_here, &["404", "no MCP server at this path", "/mcp"]),
        (|_| html(), &["web page", "no MCP server at this path"]),
        (|_| StatusCode::UNAUTHORIZED.into_response(), &["sign-in"]),
        (
            |_| {
                (StatusCode::FORBIDDEN, Json(json!({"error": {"message": "Plan expired"}})))
                    .into_response()
            },
            &["403", "\u{201c}Plan expired\u{201d}"],
        ),
        (
            |_| (StatusCode::PROXY_AUTHENTICATION_REQUIRED, "x").into_response(),
            &["proxy", "HTTPS_PROXY"],
        ),
    ];
    for (answer, words) in cases {
        let servers = address(answer).await;
        let failure = call_far(&servers).await.unwrap_err();
        for word in words {
            assert!(failure.error.message.contains(word), "{word}: {}", failure.error.message);
        }
        servers.shut_down().await;
    }
}

/// Says that the session of a call is not known, once.
fn forgets(asked: &Asked, forgotten: &Mutex<bool>, status: StatusCode, id: &Value) -> Response {
    let mut forgotten = forgotten.lock().unwrap();
    if asked.rpc() == "tools/call" && !std::mem::replace(&mut *forgotten, true) {
        let error = json!({"code": -32000, "message": "Bad Request: No valid session ID provided"});
        let body = json!({"jsonrpc": "2.0", "id": id, "error": error});
        return (status, Json(body)).into_response();
    }
    let mut answer = asked.usual();
    if asked.rpc() == "initialize" {
        answer.headers_mut().insert("mcp-session-id", "s".parse().unwrap());
    }
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_whose_session_is_forgotten_is_repeated_in_a_new_one() {
    for (status, id) in [
        (StatusCode::BAD_REQUEST, Value::Null),
        (StatusCode::BAD_REQUEST, json!("server-error")),
        (StatusCode::OK, Value::Null),
        (StatusCode::NOT_FOUND, json!("server-error")),
    ] {
        let (forgotten, opened) = (Mutex::default(), Arc::new(Mutex::new(0)));
        let count = Arc::clone(&opened);
        let servers = address(move |asked| {
            *count.lock().unwrap() += u32::from(asked.rpc() == "initialize");
            forgets(asked, &forgotten, status, &id)
        })
        .await;
        let since = Instant::now();
        assert_eq!(call_far(&servers).await.unwrap(), json!({"done": true}), "{status}");
        assert!(since.elapsed() < LONG / 2);
        assert_eq!(*opened.lock().unwrap(), 2, "{status}");
        servers.shut_down().await;
    }
}

/// Lets every call go on.
struct Goes;

#[async_trait::async_trait]
impl mcp::Resume for Goes {
    async fn resume(&self, _: &Value) -> Result<(), contract::AgentError> {
        Ok(())
    }
    async fn again(&self, _: &Value) -> Result<(), contract::AgentError> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_whose_session_is_forgotten_ends_at_once_and_is_not_repeated() {
    let (forgotten, calls) = (Mutex::default(), Arc::new(Mutex::new(0)));
    let count = Arc::clone(&calls);
    let servers = address(move |asked| {
        *count.lock().unwrap() += u32::from(asked.rpc() == "tools/call");
        forgets(asked, &forgotten, StatusCode::BAD_REQUEST, &Value::Null)
    })
    .await;
    let since = Instant::now();
    let cancel = CancellationToken::new();
    let done = servers.call_effect("test/far", "echo", json!({}), LONG, cancel, &Goes).await;
    let failure = done.unwrap_err();
    assert!(since.elapsed() < LONG / 2 && !failure.may_have_happened, "{failure:?}");
    assert!(failure.error.message.contains("No valid session ID"), "{failure:?}");
    assert_eq!(*calls.lock().unwrap(), 1);
    servers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_without_an_id_ends_the_request_of_its_own_post() {
    let servers = address(|asked| {
        let error = |code: i32| json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": "what?"}});
        match asked.rpc() {
            "tools/call" => match asked.body["params"]["name"].as_str().unwrap() {
                "slow" => StatusCode::from_u16(SILENCE).unwrap().into_response(),
                "streams" => {
                    let events = format!("data: {}\n\n", error(-32700));
                    ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
                }
                "breaks" => (StatusCode::INTERNAL_SERVER_ERROR, Json(error(-32603))).into_response(),
                _ => Json(error(-32700)).into_response(),
            },
            "notifications/initialized" => Json(error(-32601)).into_response(),
            _ => asked.usual(),
        }
    })
    .await;
    let call = async |tool: &str, timeout: Duration| {
        let cancel = CancellationToken::new();
        let done = servers.call_effect("test/far", tool, json!({}), timeout, cancel, &Goes).await;
        let failure = done.unwrap_err();
        (failure.error.details.get("code").and_then(Value::as_i64), failure.may_have_happened)
    };
    let short = Duration::from_millis(900);
    // A call beside it goes on until its time is over.
    let (slow, told) = tokio::join!(call("slow", short), call("unread", LONG));
    assert_eq!((slow, told), ((None, true), (Some(-32700), false)));
    assert_eq!(call("streams", LONG).await, (Some(-32700), false));
    assert_eq!(call("breaks", LONG).await, (Some(-32603), true));
    servers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_digits_of_an_event_are_kept() {
    const LONG_NUMBER: &str = r#"{"id":123456789012345678901234567890,"price":1.10}"#;
    let servers = address(|asked| match asked.rpc() {
        "tools/call" => {
            let result = format!(r#"{{"content":[],"structuredContent":{LONG_NUMBER}}}"#);
            let id = &asked.body["id"];
            let events = format!(r#"data: {{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
            ([(header::CONTENT_TYPE, "text/event-stream")], format!("{events}\n\n")).into_response()
        }
        _ => asked.usual(),
    })
    .await;
    let cancel = CancellationToken::new();
    let done = servers.call("test/far", "echo", json!({}), LONG, cancel).await.unwrap();
    assert_eq!(done, json!(LONG_NUMBER));
    servers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_ends_without_an_answer_ends_the_call() {
    let servers = address(|asked| match asked.rpc() {
        "tools/call" => {
            ([(header::CONTENT_TYPE, "text/event-stream")], ": bye\n\n").into_response()
        }
        _ => asked.usual(),
    })
    .await;
    let since = Instant::now();
    let failure = call_far(&servers).await.unwrap_err();
    assert!(since.elapsed() < LONG / 2 && failure.may_have_happened, "{failure:?}");
    servers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_outside_is_reached_through_the_proxy() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let app = Router::new().fallback(move |uri: axum::http::Uri, body: Bytes| {
        noted.lock().unwrap().push(uri.host().unwrap_or_default().to_owned());
        let body = serde_json::from_slice(&body).unwrap_or_default();
        let asked = Asked { method: Method::POST, headers: HeaderMap::new(), body };
        async move { asked.usual() }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    // The environment of this process belongs to all tests, so a child is the client.
    let client = |url: &'static str, but: &'static str| {
        let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "role_proxied", "--nocapture", "--test-threads=1"])
            .envs([("ROLE", "proxied"), ("URL", url), ("NO_PROXY", but)])
            .envs([("HTTP_PROXY", &proxy), ("HTTPS_PROXY", &proxy)]);
        async move {
            let ended = command.output().await.unwrap();
            (ended.status.success(), String::from_utf8_lossy(&ended.stderr).into_owned())
        }
    };
    assert!(client("http://mcp.example.invalid/mcp", "").await.0);
    assert!(seen.lock().unwrap().iter().all(|host| host == "mcp.example.invalid"));
    seen.lock().unwrap().clear();
    for (url, but) in [
        ("http://127.0.0.1:9/mcp", ""),
        ("http://localhost:9/mcp", ""),
        ("http://mcp.example.invalid/mcp", "example.invalid"),
    ] {
        assert!(!client(url, but).await.0, "{url}");
        assert!(seen.lock().unwrap().is_empty(), "{url}");
    }
    // This proxy makes no tunnels.
    let (_, told) = client("https://mcp.example.invalid/mcp", "").await;
    assert!(told.contains("The proxy before mcp.example.invalid"), "{told}");
}

/// The client of a proxy.
pub(crate) fn proxied() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let servers = crate::http::server_at(&std::env::var("URL").unwrap());
    let done = runtime.block_on(call_far(&servers));
    if let Err(failure) = &done {
        eprintln!("{}", failure.error.message);
    }
    exit(i32::from(done.is_err()));
}
