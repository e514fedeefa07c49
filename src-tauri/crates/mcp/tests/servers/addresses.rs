//! Tests of how connections to addresses open and how their calls end: servers that react
//! unexpectedly to the first request, that forget sessions, or that are not MCP servers at all. A
//! function for each test acts as the server.

use std::{
    process::exit,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    body::Bytes,
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use mcp::{Servers, ToolFailure};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    LONG, members,
    opening::{GOOD, done},
};

/// A request to an address, as its test receives it.
struct Asked {
    method: Method,
    path: String,
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

/// A function that answers the requests to an address.
type Answering = fn(&Asked) -> Response;

/// The status that stands for no answer at all.
const SILENCE: u16 = 599;

/// Serves an address with a function.
async fn address(answer: impl Fn(&Asked) -> Response + Send + Sync + 'static) -> Servers {
    let answer = Arc::new(answer);
    let app =
        Router::new().fallback(move |uri: Uri, method: Method, headers: HeaderMap, body: Bytes| {
            let answer = Arc::clone(&answer);
            async move {
                let body = serde_json::from_slice(&body).unwrap_or_default();
                let answer = answer(&Asked { method, path: uri.path().to_owned(), headers, body });
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
async fn an_address_is_used_with_any_answer_to_the_first_request() {
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
async fn a_protocol_version_that_an_address_supports_is_found() {
    let servers = address(|asked| match asked.rpc() {
        "initialize" if asked.body["params"]["protocolVersion"] != "2024-11-05" => {
            Json(json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": {"code": -32602, "message": "Unsupported protocol version"}})).into_response()
        }
        _ => asked.usual(),
    })
    .await;
    assert_eq!(call_far(&servers).await.unwrap(), json!({"done": true}));
    servers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_without_an_event_stream_or_with_a_redirected_path_is_used() {
    for status in [400, 404, 406, 500, 307] {
        let servers = address(move |asked| {
            if asked.method == Method::GET || asked.method == Method::DELETE {
                return StatusCode::from_u16(status).unwrap().into_response();
            }
            // Many servers redirect a path without a trailing slash.
            if status == 307 && asked.path == "/mcp" {
                return (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/mcp/")])
                    .into_response();
            }
            let mut answer = asked.usual();
            answer.headers_mut().insert("mcp-session-id", "s".parse().unwrap());
            answer
        })
        .await;
        for _ in 0..2 {
            assert_eq!(call_far(&servers).await.unwrap(), json!({"done": true}), "{status}");
        }
        servers.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_non_conforming_initialize_answer_is_repaired_and_its_version_is_used() {
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
async fn an_address_that_is_no_mcp_server_is_reported_with_a_hint() {
    let not_here: Answering = |_| StatusCode::NOT_FOUND.into_response();
    let cases: [(Answering, &[&str]); 7] = [
        (
            |_| {
                let to = [(header::LOCATION, "http://mcp.example.invalid/mcp/?key=abc")];
                (StatusCode::TEMPORARY_REDIRECT, to).into_response()
            },
            &["redirects to http://mcp.example.invalid/mcp/,", "a / at its end"],
        ),
        (
            |asked| match asked.method {
                Method::GET => (
                    [(header::CONTENT_TYPE, "text/event-stream")],
                    "event: endpoint\ndata: /messages?session=1\n\n",
                )
                    .into_response(),
                _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
            },
            &["old SSE transport", "mcp-remote"],
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

/// Reports once that the session of a call is not known.
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
async fn a_read_with_a_forgotten_session_is_repeated_in_a_new_session() {
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

/// Allows every call to continue.
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
async fn a_change_with_a_forgotten_session_fails_and_is_not_repeated() {
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
async fn an_error_without_an_id_ends_the_request_that_it_answers() {
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
    // A parallel call continues until its timeout.
    let (slow, told) = tokio::join!(call("slow", short), call("unread", LONG));
    assert_eq!((slow, told), ((None, true), (Some(-32700), false)));
    assert_eq!(call("streams", LONG).await, (Some(-32700), false));
    assert_eq!(call("breaks", LONG).await, (Some(-32603), true));
    servers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_in_an_event_keep_their_digits() {
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
async fn json_that_is_no_message_fails_the_call_with_the_reason() {
    let servers = address(|asked| match asked.rpc() {
        "tools/call" => Json(json!({"status": "queued"})).into_response(),
        _ => asked.usual(),
    })
    .await;
    let since = Instant::now();
    let failure = call_far(&servers).await.unwrap_err();
    assert!(since.elapsed() < LONG / 2 && failure.may_have_happened, "{failure:?}");
    assert!(failure.error.message.contains("no message of the protocol"), "{failure:?}");
    servers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_in_a_non_conforming_envelope_is_read() {
    let servers = address(|asked| match asked.rpc() {
        "tools/call" => {
            let id = &asked.body["id"];
            let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
            let done = done();
            let events =
                format!("data: [{log},{{\"id\":{id},\"result\":{done},\"error\":null}}]\n\n");
            ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
        }
        _ => asked.usual(),
    })
    .await;
    assert_eq!(call_far(&servers).await.unwrap(), json!({"done": true}));
    servers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_ends_without_an_answer_fails_the_call() {
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
async fn a_remote_server_is_reached_through_the_proxy() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let app = Router::new().fallback(move |uri: Uri, body: Bytes| {
        noted.lock().unwrap().push(uri.host().unwrap_or_default().to_owned());
        let body = serde_json::from_slice(&body).unwrap_or_default();
        let (path, headers) = (uri.path().to_owned(), HeaderMap::new());
        let asked = Asked { method: Method::POST, path, headers, body };
        async move { asked.usual() }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    // The client runs in a child process, because the environment of this process belongs to all
    // tests.
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
    // This proxy supports no tunnels.
    let (_, told) = client("https://mcp.example.invalid/mcp", "").await;
    assert!(told.contains("The proxy before mcp.example.invalid"), "{told}");
}

/// The client process that uses a proxy.
pub(crate) fn proxied() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let servers = crate::http::server_at(&std::env::var("URL").unwrap());
    let done = runtime.block_on(call_far(&servers));
    if let Err(failure) = &done {
        eprintln!("{}", failure.error.message);
    }
    exit(i32::from(done.is_err()));
}
