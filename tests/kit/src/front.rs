//! The demo shop with its login as a separate process, and a small faulty server in front of it.
//! That server records each request, and passes it on or breaks it as planned.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::programs::program;

pub const CLIENT_ID: &str = "shop-client";
pub const SECRET: &str = "client-secret-9f2d61c07b";
/// The content of error answers, which must not reach any output.
pub const LEAK: &str = "stack trace at db07.internal, password hunter2";

/// The real demo shop.
struct Shop {
    child: Child,
    base: String,
}

impl Shop {
    fn start(token_seconds: u64) -> Self {
        let mut command = Command::new(program("countersign-shop"));
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("SHOP_CLIENT_ID", CLIENT_ID)
            .env("SHOP_CLIENT_SECRET", SECRET);
        command.args(["--http", "127.0.0.1:0", "--token-seconds", &token_seconds.to_string()]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let base = first
            .trim()
            .strip_prefix("listening on ")
            .and_then(|url| url.strip_suffix("/mcp"))
            .unwrap_or_else(|| panic!("{first}"))
            .to_owned();
        Self { child, base }
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How the front breaks a request.
#[derive(Clone, Debug)]
pub enum Break {
    /// Answers with this status and a body that reveals too much.
    Status(u16),
    /// The shop executes the request, and the answer has this status.
    DoneBut(u16),
    /// Answers with this body as JSON and the status 200.
    Json(String),
    /// Answers with these events and the status 200. `$ID` becomes the request's id.
    Events(String),
    /// Answers with this result of the call, in the protocol's envelope.
    Result(Value),
    /// Never answers.
    Hang,
    /// Passes the request on after this many milliseconds.
    Slow(u64),
    /// Answers once all requests that share the barrier have arrived.
    Meet(Arc<tokio::sync::Barrier>),
    /// Closes the connection in the middle of the answer.
    Cut,
    /// Answers with this status and the whole request, including its headers.
    Echo(u16),
    /// The tool reports an error that contains the token.
    Quote,
}

/// Planned breaks: a method of the protocol, the name of a tool, or `token`.
type Plan = VecDeque<(String, Break)>;

/// A request that the server received.
#[derive(Clone, Debug)]
pub struct FrontRequest {
    pub headers: HeaderMap,
    pub body: Value,
    pub text: String,
    /// The kind of request: the JSON-RPC method, the tool's name for a call, `token`, or else the
    /// path.
    pub what: String,
}

impl FrontRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| std::str::from_utf8(value.as_bytes()).ok())
    }
}

#[derive(Default)]
struct Notes {
    heard: Mutex<Vec<FrontRequest>>,
    plan: Mutex<Plan>,
    /// Tokens that the shop has issued.
    tokens: Mutex<Vec<String>>,
}

#[derive(Clone)]
struct FrontState {
    shop: String,
    notes: Arc<Notes>,
    http: reqwest::Client,
}

/// The shop and the faulty server in front of it.
pub struct Front {
    _shop: Shop,
    notes: Arc<Notes>,
    pub base: String,
}

impl Front {
    pub async fn start() -> Self {
        Self::with_tokens_of(3_600).await
    }

    pub async fn with_tokens_of(seconds: u64) -> Self {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let shop = Shop::start(seconds);
        let notes = Arc::<Notes>::default();
        let door = FrontState {
            shop: shop.base.clone(),
            notes: Arc::clone(&notes),
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
        };
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let router = axum::Router::new().fallback(answer).with_state(door);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { _shop: shop, notes, base }
    }

    /// Returns the variables that make `csign serve` use this server, with short waits.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("NORCE_MCP_BASE_URL", format!("{}/mcp", self.base)),
            ("NORCE_OAUTH_TOKEN_URL", format!("{}/oauth/token", self.base)),
            ("NORCE_OAUTH_CLIENT_ID", CLIENT_ID.into()),
            ("NORCE_OAUTH_CLIENT_SECRET", SECRET.into()),
            ("NORCE_OAUTH_SCOPE", "shop".into()),
            ("RETRY_BASE_DELAY_MS", "10".into()),
            ("RETRY_JITTER_MS", "5".into()),
        ]
    }

    /// Breaks the next requests of this kind, in order.
    pub fn breaks(&self, what: &str, how: impl IntoIterator<Item = Break>) {
        self.notes.plan.lock().unwrap().extend(how.into_iter().map(|how| (what.to_owned(), how)));
    }

    pub fn requests(&self) -> Vec<FrontRequest> {
        self.notes.heard.lock().unwrap().clone()
    }

    /// Returns the received requests of this kind.
    pub fn of(&self, what: &str) -> Vec<FrontRequest> {
        self.requests().into_iter().filter(|heard| heard.what == what).collect()
    }

    /// Returns the arguments of all calls of a tool, as the shop got them.
    pub fn sent(&self, tool: &str) -> Vec<Value> {
        self.of(tool).iter().map(|one| one.body["params"]["arguments"].clone()).collect()
    }

    pub fn count(&self, what: &str) -> usize {
        self.of(what).len()
    }

    /// Asserts that all planned breaks have happened.
    pub fn assert_broken(&self) {
        assert!(self.notes.plan.lock().unwrap().is_empty(), "everything that was to break has");
    }

    /// Asserts that the texts contain no secret and no content of error answers.
    pub fn assert_untold(&self, texts: &[&str]) {
        let tokens = self.notes.tokens.lock().unwrap().clone();
        let secrets =
            [SECRET, "hunter2", "db07.internal"].into_iter().map(str::to_owned).chain(tokens);
        for secret in secrets {
            for text in texts {
                assert!(!text.contains(&secret), "{secret} was told: {text}");
            }
        }
    }
}

fn next_break(door: &FrontState, what: &str) -> Option<Break> {
    let mut plan = door.notes.plan.lock().unwrap();
    let at = plan.iter().position(|(of, _)| of == what)?;
    plan.remove(at).map(|(_, how)| how)
}

async fn answer(
    State(door): State<FrontState>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let text = String::from_utf8_lossy(&body).into_owned();
    let json: Value = serde_json::from_str(&text).unwrap_or_default();
    let method = json["method"].as_str().unwrap_or_default();
    let what = match (uri.path(), method) {
        ("/oauth/token", _) => "token",
        (_, "tools/call") => json["params"]["name"].as_str().unwrap_or_default(),
        (path, "") => path,
        (_, method) => method,
    };
    let what = what.to_owned();
    let id = json["id"].clone();
    let bearer = headers
        .get(header::AUTHORIZATION)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .unwrap_or_default();
    let echo = json!({"authorization": bearer, "body": text}).to_string();
    door.notes.heard.lock().unwrap().push(FrontRequest {
        headers: headers.clone(),
        body: json,
        text,
        what: what.clone(),
    });
    let events =
        |text: String| ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response();
    match next_break(&door, &what) {
        None => pass(&door, &uri, headers, body).await,
        Some(Break::Status(status)) => {
            (StatusCode::from_u16(status).unwrap(), LEAK).into_response()
        }
        Some(Break::DoneBut(status)) => {
            let _ = pass(&door, &uri, headers, body).await;
            (StatusCode::from_u16(status).unwrap(), LEAK).into_response()
        }
        Some(Break::Json(text)) => {
            ([(header::CONTENT_TYPE, "application/json")], text).into_response()
        }
        Some(Break::Events(text)) => events(text.replace("$ID", &id.to_string())),
        Some(Break::Echo(status)) => (
            StatusCode::from_u16(status).unwrap(),
            [(header::CONTENT_TYPE, "application/json")],
            echo,
        )
            .into_response(),
        Some(Break::Quote) => {
            let content = json!([{"type": "text", "text": format!("Nobody is known as {}.", bearer.trim_start_matches("Bearer "))}]);
            axum::Json(json!({"jsonrpc": "2.0", "id": id, "result": {"isError": true, "content": content}})).into_response()
        }
        Some(Break::Result(value)) => {
            let content = json!([{"type": "text", "text": value.to_string()}]);
            axum::Json(json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}}))
                .into_response()
        }
        Some(Break::Hang) => {
            tokio::time::sleep(Duration::from_secs(3_600)).await;
            StatusCode::GATEWAY_TIMEOUT.into_response()
        }
        Some(Break::Slow(ms)) => {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            pass(&door, &uri, headers, body).await
        }
        Some(Break::Meet(others)) => {
            others.wait().await;
            pass(&door, &uri, headers, body).await
        }
        Some(Break::Cut) => {
            let _ = pass(&door, &uri, headers, body).await;
            let pieces = [Ok("data: {\"jsonrpc\""), Err(std::io::Error::other("cut"))];
            (
                [(header::CONTENT_TYPE, "text/event-stream")],
                Body::from_stream(futures::stream::iter(pieces)),
            )
                .into_response()
        }
    }
}

/// Passes a request to the real shop and returns its answer.
async fn pass(door: &FrontState, uri: &Uri, headers: HeaderMap, body: Bytes) -> Response {
    let mut request = door.http.request(
        if body.is_empty() { reqwest::Method::GET } else { reqwest::Method::POST },
        format!("{}{}", door.shop, uri.path()),
    );
    for (name, value) in &headers {
        if *name != header::HOST && *name != header::CONTENT_LENGTH {
            request = request.header(name, value);
        }
    }
    let response = request.body(body).send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let body = response.bytes().await.unwrap();
    let token = serde_json::from_slice::<Value>(&body)
        .ok()
        .and_then(|answer| answer["access_token"].as_str().map(str::to_owned));
    door.notes.tokens.lock().unwrap().extend(token);
    let mut answer = (status, body).into_response();
    for (name, value) in &headers {
        if *name != header::TRANSFER_ENCODING && *name != header::CONTENT_LENGTH {
            answer.headers_mut().insert(name, value.clone());
        }
    }
    answer
}
