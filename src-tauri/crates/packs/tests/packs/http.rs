//! Tests requests to a server on this machine: the allowed targets, the contents of a request, and
//! the result for each response.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, Query, State},
    http::{HeaderMap, Method, StatusCode, Uri},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use contract::{AgentError, ErrorCode, ToolSpec, ToolTarget, manifest::IdempotencyStrategy};
use engine::ports::ToolFailure;
use futures::future::BoxFuture;
use packs::run::{HttpRunner, Lookup, Permit};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::running::{request, spec, target};

type RequestLog = Arc<Mutex<Vec<Value>>>;

/// A resolver for the test names that counts the lookups of each name.
#[derive(Default)]
struct Names {
    known: HashMap<&'static str, Vec<&'static str>>,
    asked: Mutex<HashMap<String, usize>>,
}

impl Lookup for Names {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let mut asked = self.asked.lock().unwrap();
        let times = asked.entry(host.clone()).or_default();
        let found = self
            .known
            .get(host.as_str())
            .map(|list| list[(*times).min(list.len() - 1)].parse().unwrap());
        *times += 1;
        Box::pin(
            async move { found.map(|ip| vec![ip]).ok_or_else(|| io::Error::other("unknown name")) },
        )
    }
}

struct Server {
    at: SocketAddr,
    seen: RequestLog,
    names: Arc<Names>,
    runner: HttpRunner,
}

async fn echo(
    State(seen): State<RequestLog>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let headers: HashMap<String, String> = headers
        .iter()
        .map(|(n, v)| (n.to_string(), String::from_utf8_lossy(v.as_bytes()).into_owned()))
        .collect();
    let saw = json!({"method": method.as_str(), "uri": uri.to_string(), "headers": headers, "body": String::from_utf8_lossy(&body)});
    seen.lock().unwrap().push(saw.clone());
    axum::Json(saw).into_response()
}

async fn status(Path(code): Path<u16>, Query(query): Query<HashMap<String, String>>) -> Response {
    let mut response =
        (StatusCode::from_u16(code).unwrap(), axum::Json(json!({"error": "because"})))
            .into_response();
    for name in ["retry-after", "date", "location"] {
        if let Some(value) = query.get(name) {
            let name = axum::http::HeaderName::from_static(match name {
                "retry-after" => "retry-after",
                "date" => "date",
                _ => "location",
            });
            response.headers_mut().insert(name, value.parse().unwrap());
        }
    }
    response
}

impl Server {
    async fn start() -> Self {
        let seen = RequestLog::default();
        let router = Router::new()
            .route("/echo/{*rest}", any(echo))
            .route("/status/{code}", any(status))
            .route("/big", get(|| async { "x".repeat(100_000) }))
            .route("/text", get(|| async { "plain words" }))
            .route("/empty", any(|| async { StatusCode::NO_CONTENT }))
            .with_state(Arc::clone(&seen));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        let names = Arc::new(Names {
            known: [
                ("api.test", vec!["127.0.0.1"]),
                ("api.localhost", vec!["127.0.0.1"]),
                ("moved.localhost", vec!["93.184.216.34"]),
                ("other.test", vec!["127.0.0.1"]),
                ("rebinds.test", vec!["93.184.216.34", "127.0.0.1"]),
                ("metadata.test", vec!["169.254.169.254"]),
                ("metadata.google.internal", vec!["127.0.0.1"]),
                ("metadata.google.internal.", vec!["127.0.0.1"]),
                ("instance-data", vec!["127.0.0.1"]),
            ]
            .into(),
            ..Names::default()
        });
        Self { at, seen, runner: HttpRunner::new(Arc::clone(&names) as _), names }
    }

    fn url(&self, path: &str) -> String {
        format!("http://api.test:{}{path}", self.at.port())
    }

    /// Returns a URL with a name of this computer. Keys may be sent to this host without
    /// encryption.
    fn here(&self, path: &str) -> String {
        format!("http://api.localhost:{}{path}", self.at.port())
    }

    fn tool(&self, path: &str, mut call: Value) -> ToolSpec {
        call["url"] = json!(self.url(path));
        call["private_network"] = json!(true);
        spec(json!({"http": call}))
    }

    async fn run(
        &self,
        spec: &ToolSpec,
        arguments: Value,
        permit: &Permit,
    ) -> Result<Value, ToolFailure> {
        let ToolTarget::Http { call } = target(spec) else { panic!("an HTTP tool") };
        let mut request = request(spec, arguments);
        request.idempotency_key =
            (spec.idempotency != IdempotencyStrategy::None).then(|| "key-1".to_owned());
        self.runner.run(call, &request, permit, &CancellationToken::new()).await
    }

    async fn get(&self, path: &str) -> Result<Value, ToolFailure> {
        self.run(&self.tool(path, json!({})), json!({"id": "x"}), &open_permit()).await
    }
}

fn open_permit() -> Permit {
    Permit { private_network: true, secret: None }
}

fn error(result: Result<Value, ToolFailure>) -> AgentError {
    result.unwrap_err().error
}

#[tokio::test]
async fn a_request_is_sent_as_the_manifest_declares() {
    let server = Server::start().await;
    let mut call = json!({"method": "POST", "query": {"q": "{q}"}, "headers": {"X-Number": "{n}"}, "body": {"id": "{id}", "n": "{n}"}});
    call["url"] = json!(server.here("/echo/things/{id}"));
    call["private_network"] = json!(true);
    let spec = spec(
        json!({"http": call, "side_effect_level": "write", "idempotency": {"strategy": "header"}, "auth": {"kind": "bearer_token", "env_var": "TOKEN"}}),
    );
    let permit = Permit { private_network: true, secret: Some("s3cret".to_owned().into()) };
    let saw = server.run(&spec, json!({"id": "a/b", "q": "x y", "n": 7}), &permit).await.unwrap();
    assert_eq!(
        (saw["method"].as_str(), saw["uri"].as_str()),
        (Some("POST"), Some("/echo/things/a%2Fb?q=x+y"))
    );
    assert_eq!(saw["headers"]["x-number"], "7");
    assert_eq!(saw["headers"]["authorization"], "Bearer s3cret");
    assert_eq!(saw["headers"]["idempotency-key"], "key-1");
    assert_eq!(
        serde_json::from_str::<Value>(saw["body"].as_str().unwrap()).unwrap(),
        json!({"id": "a/b", "n": 7})
    );
    assert!(saw["headers"].get("cookie").is_none() && saw["headers"].get("referer").is_none());
}

#[tokio::test]
async fn private_addresses_need_permission_of_manifest_and_user() {
    let server = Server::start().await;
    let asks = server.tool("/echo/x", json!({}));
    for (spec, permit) in [(&asks, Permit::default())] {
        let refused = error(server.run(spec, json!({"id": "x"}), &permit).await);
        assert_eq!(
            (refused.code, refused.reason_text(), refused.retryable),
            (ErrorCode::ToolHttpError, Some("private_address"), false)
        );
        assert!(refused.hint_text().is_some_and(|hint| hint.contains("Settings")));
    }
    // Names and addresses of this computer, in every notation, are refused without the manifest's
    // permission.
    for host in [
        "api.test",
        "metadata.test",
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "2130706433",
        "0x7f.1",
        "127.1",
    ] {
        let spec =
            spec(json!({"http": {"url": format!("https://{host}:{}/echo/x", server.at.port())}}));
        let failure = server.run(&spec, json!({"id": "x"}), &open_permit()).await.unwrap_err();
        assert_eq!(
            failure.error.reason_text(),
            Some("private_address"),
            "{host}: {}",
            failure.error
        );
        assert!(!failure.may_have_happened);
    }
    assert!(server.seen.lock().unwrap().is_empty(), "nothing was sent");
}

/// Cloud providers serve keys at these addresses, so neither the manifest nor the user can allow
/// them.
#[tokio::test]
async fn metadata_addresses_stay_blocked_even_if_the_private_network_is_allowed() {
    let server = Server::start().await;
    let hosts = [
        "169.254.169.254",
        "2852039166",
        "0xa9.0xfe.0xa9.0xfe",
        "0251.0376.0251.0376",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "100.100.100.200",
        // In this test, these names resolve to this computer.
        "metadata.google.internal",
        "METADATA.google.internal.",
        "instance-data",
        "metadata.test",
    ];
    for host in hosts {
        for scheme in ["http", "https"] {
            let spec = spec(
                json!({"http": {"url": format!("{scheme}://{host}:{}/echo/x", server.at.port()), "private_network": true}}),
            );
            let failure = server.run(&spec, json!({"id": "x"}), &open_permit()).await.unwrap_err();
            assert_eq!(
                (failure.error.reason_text(), failure.may_have_happened),
                (Some("private_address"), false),
                "{host}: {}",
                failure.error
            );
        }
    }
    assert!(server.seen.lock().unwrap().is_empty(), "nothing was sent");
}

#[tokio::test]
async fn a_request_connects_only_to_the_checked_address_of_a_host_name() {
    let server = Server::start().await;
    // The first lookup returns a public address, every later lookup returns this computer. The
    // connection uses only the checked address.
    let looked_at_before = server.names.lookup("rebinds.test".to_owned()).await.unwrap();
    assert!(packs::run::may_reach(looked_at_before[0], false));
    let spec =
        spec(json!({"http": {"url": format!("https://rebinds.test:{}/echo/x", server.at.port())}}));
    assert_eq!(
        error(server.run(&spec, json!({"id": "x"}), &open_permit()).await).reason_text(),
        Some("private_address")
    );
    assert!(server.seen.lock().unwrap().is_empty());
}

/// The names resolve to this computer in this test, but they are not names of this computer.
#[tokio::test]
async fn a_key_may_be_sent_only_over_https_or_to_this_computer() {
    let server = Server::start().await;
    let permit = Permit { private_network: true, secret: Some("s3cret".to_owned().into()) };
    let port = server.at.port();
    for auth in [
        json!({"kind": "api_key", "env_var": "K"}),
        json!({"kind": "api_key", "env_var": "K", "query": "key"}),
        json!({"kind": "bearer_token", "env_var": "K"}),
    ] {
        for url in [
            server.url("/echo/x"),
            format!("http://api.localhost.test:{port}/echo/x"),
            format!("http://API.LOCALHOST.TEST:{port}/x/://api.localhost/y"),
        ] {
            let spec =
                spec(json!({"http": {"url": url.clone(), "private_network": true}, "auth": auth}));
            let failure = server.run(&spec, json!({"id": "x"}), &permit).await.unwrap_err();
            assert!(!failure.may_have_happened, "{url}");
            assert_eq!(failure.error.reason_text(), Some("key_in_plain_text"), "{url}");
            assert!(!serde_json::to_string(&failure.error).unwrap().contains("s3cret"));
        }
        let spec = spec(
            json!({"http": {"url": format!("http://moved.localhost:{port}/echo/x"), "private_network": true}, "auth": auth}),
        );
        assert!(
            server.run(&spec, json!({"id": "x"}), &permit).await.is_err(),
            "a name of this computer leads nowhere else"
        );
    }
    assert!(server.seen.lock().unwrap().is_empty(), "nothing was sent");
}

#[tokio::test]
async fn each_hop_of_a_redirect_is_checked() {
    let server = Server::start().await;
    let port = server.at.port();
    let to = |code: u16, place: &str| {
        format!("/status/{code}?location={}", place.replace('/', "%2F").replace(':', "%3A"))
    };
    let follow = async |code: u16, place: &str, call: Value, extra: Value| {
        let mut tool = json!({"http": call});
        // The query of the redirecting address comes from the test server, not from the manifest.
        let (path, query) =
            to(code, place).split_once('?').map(|(p, q)| (p.to_owned(), q.to_owned())).unwrap();
        tool["http"]["url"] = json!(server.here(&path));
        tool["http"]["query"] = json!({"location": percent(&query)});
        tool["http"]["private_network"] = json!(true);
        for (name, value) in extra.as_object().unwrap() {
            tool[name] = value.clone();
        }
        let permit = Permit { private_network: true, secret: Some("s3cret".to_owned().into()) };
        server.run(&spec(tool), json!({"id": "x"}), &permit).await
    };
    let auth = json!({"auth": {"kind": "api_key", "env_var": "K"}});
    let same = follow(302, "/echo/here", json!({}), auth.clone()).await.unwrap();
    assert_eq!(same["headers"]["x-api-key"], "s3cret", "the same server keeps the key");
    let elsewhere = format!("http://other.test:{port}/echo/there");
    assert_eq!(
        error(follow(302, &elsewhere, json!({}), auth.clone()).await).reason_text(),
        Some("host_not_allowed")
    );
    let listed =
        follow(302, &elsewhere, json!({"hosts": [format!("other.test:{port}")]}), auth.clone())
            .await
            .unwrap();
    assert!(listed["headers"].get("x-api-key").is_none(), "another server never gets it");
    for place in [
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        "http://user:pw@api.test/",
        "ftp://api.test/",
    ] {
        assert!(follow(302, place, json!({}), json!({})).await.is_err(), "{place}");
    }
    let write = json!({"side_effect_level": "write"});
    let again =
        follow(307, "/echo/again", json!({"method": "POST", "body": {"a": 1}}), write.clone())
            .await
            .unwrap();
    assert_eq!(
        (again["method"].as_str(), again["body"].as_str()),
        (Some("POST"), Some("{\"a\":1}"))
    );
    let read =
        follow(303, "/echo/after", json!({"method": "POST", "body": {"a": 1}}), write.clone())
            .await
            .unwrap();
    assert_eq!((read["method"].as_str(), read["body"].as_str()), (Some("GET"), Some("")));
    let moved = follow(302, "/echo/x", json!({"method": "POST", "body": {"a": 1}}), write).await;
    assert_eq!(
        error(moved).code,
        ErrorCode::ToolHttpError,
        "a write is not sent to another place by an unclear redirect"
    );
    let circle = follow(302, "/status/302?location=%2Fstatus%2F302", json!({}), json!({})).await;
    assert!(circle.is_err());
}

fn percent(query: &str) -> String {
    let value = query.trim_start_matches("location=");
    value.replace("%2F", "/").replace("%3A", ":")
}

#[tokio::test]
async fn each_http_status_maps_to_its_error_code() {
    let server = Server::start().await;
    for (number, code, retryable, happened) in [
        (400, ErrorCode::ToolHttpError, false, false),
        (404, ErrorCode::ToolHttpError, false, false),
        (429, ErrorCode::RateLimited, true, false),
        (500, ErrorCode::ToolHttpError, true, true),
        (502, ErrorCode::ToolHttpError, true, true),
        (501, ErrorCode::ToolHttpError, true, false),
        (503, ErrorCode::ToolHttpError, true, true),
    ] {
        let failure = server.get(&format!("/status/{number}")).await.unwrap_err();
        assert_eq!(
            (failure.error.code, failure.error.retryable, failure.may_have_happened),
            (code, retryable, happened),
            "{number}"
        );
        assert_eq!(failure.error.details["status"], number);
        assert_eq!(
            failure.error.details["answer"],
            json!({"error": "because"}),
            "the model sees what the server said"
        );
    }
    let asks = |query: Value| {
        let mut call = json!({"url": server.url("/status/429"), "private_network": true});
        call["query"] = query;
        spec(json!({"http": call}))
    };
    let seconds = error(
        server.run(&asks(json!({"retry-after": "7"})), json!({"id": "x"}), &open_permit()).await,
    );
    assert_eq!(seconds.details["retry_after_ms"], 7_000);
    let dated = json!({"retry-after": "Sun, 22 Nov 2026 10:00:30 GMT", "date": "Sun, 22 Nov 2026 10:00:00 GMT"});
    assert_eq!(
        error(server.run(&asks(dated), json!({"id": "x"}), &open_permit()).await).details["retry_after_ms"],
        30_000
    );
}

#[tokio::test]
async fn responses_are_read_in_the_declared_format_up_to_a_size_limit() {
    let server = Server::start().await;
    let text = server
        .run(&server.tool("/text", json!({"response": "text"})), json!({"id": "x"}), &open_permit())
        .await
        .unwrap();
    assert_eq!(text, json!({"text": "plain words"}));
    assert_eq!(server.get("/empty").await.unwrap(), json!({}));
    let wrong = server.get("/text").await.unwrap_err();
    assert_eq!(
        (wrong.error.code, wrong.error.reason_text(), wrong.may_have_happened),
        (ErrorCode::InternalError, Some("invalid_response"), true)
    );
    let big = server.tool("/big", json!({"response": "text", "max_response_bytes": 5000}));
    assert_eq!(
        error(server.run(&big, json!({"id": "x"}), &open_permit()).await).reason_text(),
        Some("response_too_large")
    );
}

#[tokio::test]
async fn an_unreachable_server_is_reported_without_its_address() {
    let server = Server::start().await;
    let closed =
        tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let spec = spec(
        json!({"http": {"url": format!("http://api.localhost:{closed}/x"), "private_network": true}, "auth": {"kind": "api_key", "env_var": "K", "query": "key"}}),
    );
    let permit = Permit { private_network: true, secret: Some("s3cret".to_owned().into()) };
    let failure = server.run(&spec, json!({"id": "x"}), &permit).await.unwrap_err();
    assert_eq!(
        (failure.error.code, failure.error.retryable, failure.may_have_happened),
        (ErrorCode::ToolHttpError, true, false)
    );
    assert_eq!(failure.error.details["status"], Value::Null);
    assert!(!serde_json::to_string(&failure.error).unwrap().contains("s3cret"));
}

/// One row per strategy: the part of a repeated request that contains the key. The key must occur
/// nowhere else.
#[tokio::test]
async fn agent_run_6_the_idempotency_key_is_sent_where_the_strategy_declares() {
    let server = Server::start().await;
    let body = |saw: &Value| serde_json::from_str::<Value>(saw["body"].as_str().unwrap()).unwrap();
    let header = |saw: &Value, name: &str| saw["headers"].get(name).cloned().unwrap_or_default();
    let arguments = json!({"id": "order-9", "n": 2});
    for (idempotency, expected_headers, expected_body) in [
        (json!({"strategy": "none"}), [Value::Null, Value::Null], arguments.clone()),
        (json!({"strategy": "header"}), [json!("key-1"), Value::Null], arguments.clone()),
        (
            json!({"strategy": "header", "key_ref": "X-Request"}),
            [Value::Null, json!("key-1")],
            arguments.clone(),
        ),
        (
            json!({"strategy": "payload_field"}),
            [Value::Null, Value::Null],
            json!({"id": "order-9", "n": 2, "idempotency_key": "key-1"}),
        ),
        (
            json!({"strategy": "payload_field", "key_ref": "ref"}),
            [Value::Null, Value::Null],
            json!({"id": "order-9", "n": 2, "ref": "key-1"}),
        ),
        (json!({"strategy": "hash_payload"}), [json!("key-1"), Value::Null], arguments.clone()),
        // The engine uses the argument itself as the key, so the server also finds it in the
        // argument's usual place.
        (
            json!({"strategy": "external_key", "key_ref": "id"}),
            [json!("key-1"), Value::Null],
            arguments.clone(),
        ),
    ] {
        let call =
            json!({"method": "POST", "url": server.url("/echo/orders"), "private_network": true});
        let spec =
            spec(json!({"http": call, "side_effect_level": "write", "idempotency": idempotency}));
        for _try in 0..2 {
            let saw = server.run(&spec, arguments.clone(), &open_permit()).await.unwrap();
            assert_eq!(
                [header(&saw, "idempotency-key"), header(&saw, "x-request")],
                expected_headers,
                "{idempotency}"
            );
            assert_eq!(body(&saw), expected_body, "{idempotency}");
        }
    }
}
