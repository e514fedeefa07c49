//! A scripted model server on a port of its own, for all wires: it answers with prepared replies,
//! keeps every request, and refuses (400, and a violation for the test to see) requests that a
//! strict provider would refuse.
//!
//! ```no_run
//! # async fn example() {
//! use kit::model_server::{ModelServer, Reply};
//! let server = ModelServer::start([Reply::call("pace", serde_json::json!({"account": 17})), Reply::text(["On ", "track."])]).await;
//! // ... talk to server.base_url() ...
//! server.assert_clean();
//! # }
//! ```

mod check;
mod reply;
mod script;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use futures::stream::{self, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use check::{Wire, violations_of};
pub use reply::{Chunking, Reply};
pub use script::{Script, ScriptError};

use check::Sealed;
use reply::Part;

/// A received request.
#[derive(Clone, Debug)]
pub struct Seen {
    pub wire: Wire,
    /// The last part of the path, which on Google's wire names the model.
    pub path: String,
    pub headers: HeaderMap,
    pub body: Value,
}

/// A running server. It ends when this value is dropped.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    state: Mutex<Played>,
    /// The number of replies whose client has disconnected.
    dropped: watch::Sender<usize>,
}

#[derive(Default)]
struct Played {
    replies: Vec<Reply>,
    seen: Vec<Seen>,
    violations: Vec<String>,
    sealed: Sealed,
}

impl ModelServer {
    /// Starts on a free port of the loopback address.
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        match Self::start_on(0, replies).await {
            Ok(server) => server,
            Err(error) => panic!("no port for the model server: {error}"),
        }
    }

    /// Starts on a given port. With port 0, the system chooses a free one.
    pub async fn start_on(port: u16, replies: impl IntoIterator<Item = Reply>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            state: Mutex::new(Played {
                replies: replies.into_iter().collect(),
                ..Played::default()
            }),
            dropped: watch::Sender::new(0),
        });
        let app = Router::new()
            .route("/v1/chat/completions", on(Wire::Chat))
            .route("/v1/responses", on(Wire::Responses))
            .route("/v1/messages", on(Wire::Anthropic))
            .route("/v1beta/models/{model}", on(Wire::Gemini))
            .route("/v1/models", get(models))
            .route("/v1beta/models", get(google_models))
            .with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            // The task ends only with the runtime, or when the server is dropped.
            drop(
                axum::serve(
                    axum::serve::ListenerExt::tap_io(listener, |socket| {
                        drop(socket.set_nodelay(true))
                    }),
                    app,
                )
                .await,
            );
        });
        Ok(Self { address, shared, task })
    }

    /// Returns the base URL for a provider's settings.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the base URL of Google's wire.
    pub fn google_url(&self) -> String {
        format!("http://{}/v1beta", self.address)
    }

    /// Returns the port of the server.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Adds a reply after the remaining ones.
    pub fn push(&self, reply: Reply) {
        self.shared.lock().replies.push(reply);
    }

    /// Returns the requests so far, oldest first.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.lock().seen.clone()
    }

    /// Returns the bodies of the requests so far, oldest first.
    pub fn requests(&self) -> Vec<Value> {
        self.shared.lock().seen.iter().map(|seen| seen.body.clone()).collect()
    }

    /// Returns the violations of the requests so far.
    pub fn violations(&self) -> Vec<String> {
        self.shared.lock().violations.clone()
    }

    /// Returns the number of remaining replies.
    pub fn left(&self) -> usize {
        self.shared.lock().replies.iter().filter(|reply| !reply.repeats()).count()
    }

    /// Panics if a request violated the protocol, or if a reply was not used.
    pub fn assert_clean(&self) {
        assert_eq!(self.violations(), Vec::<String>::new(), "every request follows the protocol");
        assert_eq!(self.left(), 0, "every reply was asked for");
    }

    /// Waits until clients have disconnected from `count` unfinished replies.
    pub async fn client_left(&self, count: usize) {
        let mut dropped = self.shared.dropped.subscribe();
        // The channel cannot close, because the sender lives as long as the server.
        drop(dropped.wait_for(|now| *now >= count).await);
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Played> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the request and returns its reply: the first one that fits the conversation's last
    /// message. If the request wants no stream, the reply is converted to one piece.
    fn take(
        &self,
        wire: Wire,
        path: String,
        headers: HeaderMap,
        body: &Bytes,
    ) -> Result<Reply, String> {
        let mut state = self.lock();
        let parsed: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let last = wire.last(&parsed);
        let whole = wire == Wire::Chat && parsed.get("stream") == Some(&Value::Bool(false));
        let results = ["\"tool_result\"", "functionResponse", "function_call_output"]
            .iter()
            .any(|kind| last.to_string().contains(kind));
        let mut found = violations_of(wire, &parsed);
        found.extend(state.sealed.violations_of(wire, &parsed, results));
        state.seen.push(Seen { wire, path, headers, body: parsed });
        if !found.is_empty() {
            let text = found.join("; ");
            state.violations.extend(found);
            return Err(text);
        }
        // Instructions of the host may follow the result of a tool, so the last message of another
        // kind is also compared.
        let parsed = state.seen.last().map(|seen| &seen.body);
        let said = parsed.and_then(last_said).cloned();
        let fits =
            |reply: &Reply| reply.fits(&last) || said.as_ref().is_some_and(|s| reply.fits(s));
        let Some(at) = state.replies.iter().position(fits) else {
            let text = "the script holds no reply for this request".to_owned();
            state.violations.push(text.clone());
            return Err(text);
        };
        let reply = match state.replies.get(at) {
            Some(reply) if reply.repeats() => reply.clone(),
            Some(_) | None => state.replies.remove(at),
        };
        if wire != Wire::Chat {
            state.sealed.given(wire, &reply.json_events());
        }
        Ok(if whole { reply.whole() } else { reply })
    }
}

async fn models() -> Json<Value> {
    Json(json!({"object": "list", "data": [{"id": "scripted", "object": "model"}]}))
}

async fn google_models() -> Json<Value> {
    Json(json!({"models": [
        {"name": "models/scripted", "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/embedder", "supportedGenerationMethods": ["embedContent"]}
    ]}))
}

/// Handles the requests of one wire. Google's path contains the model.
fn on(wire: Wire) -> MethodRouter<Arc<Shared>> {
    post(
        move |State(shared): State<Arc<Shared>>, uri: Uri, headers: HeaderMap, body: Bytes| async move {
            let path = uri.path().rsplit('/').next().unwrap_or_default().to_owned();
            answer(&shared, wire, path, headers, &body)
        },
    )
}

fn answer(
    shared: &Arc<Shared>,
    wire: Wire,
    path: String,
    headers: HeaderMap,
    body: &Bytes,
) -> Response {
    match shared.take(wire, path, headers, body) {
        Ok(reply) => play(shared, &reply),
        Err(text) => (
            StatusCode::BAD_REQUEST,
            Json(json!({"error": {"message": text, "type": "invalid_request_error"}})),
        )
            .into_response(),
    }
}

/// Returns the last message that is not an instruction of the host.
fn last_said(body: &Value) -> Option<&Value> {
    body.get("messages")?
        .as_array()?
        .iter()
        .rev()
        .find(|message| message.get("role").and_then(Value::as_str) != Some("system"))
}

/// A body that notices when the client disconnects before the reply is complete.
struct Watched {
    shared: Arc<Shared>,
    over: bool,
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !self.over {
            self.shared.dropped.send_modify(|count| *count += 1);
        }
    }
}

fn play(shared: &Arc<Shared>, reply: &Reply) -> Response {
    let watched = Watched { shared: Arc::clone(shared), over: false };
    let parts = stream::iter(reply.parts()).map(Some).chain(stream::once(async { None }));
    let body = parts.scan(watched, |watched, part| {
        watched.over = matches!(part, None | Some(Part::Cut));
        std::future::ready(part)
    });
    let body = body.filter_map(|part| async move {
        match part {
            Part::Bytes(bytes) => Some(Ok(Bytes::from(bytes))),
            Part::Wait(ms) => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                None
            }
            Part::Hang => std::future::pending().await,
            Part::Cut => {
                // Earlier bytes must be sent first, because a body that fails discards unsent
                // bytes.
                tokio::time::sleep(Duration::from_millis(20)).await;
                Some(Err(io::Error::new(io::ErrorKind::ConnectionReset, "cut by the script")))
            }
        }
    });
    let mut response = Response::builder().status(reply.status());
    for (name, value) in reply.headers() {
        response = response.header(name, value);
    }
    if !reply.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        response = response.header(header::CONTENT_TYPE, "text/event-stream");
    }
    response
        .body(Body::from_stream(body))
        .unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}
