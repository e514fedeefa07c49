//! A shop behind an address with its own tokens. The shop answers as planned and records every
//! request.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// How one call of a tool is answered. `$ID` is replaced with the request's id.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Status(u16),
    Json(String),
    Events(String),
}

#[derive(Default)]
struct Inside {
    plan: VecDeque<Answer>,
    token_seconds: u64,
    tokens: u32,
    /// The session of each call.
    calls: Vec<String>,
    sessions: u32,
}

#[derive(Clone)]
pub(crate) struct Shop {
    inside: Arc<Mutex<Inside>>,
    pub(crate) base: String,
}

impl Shop {
    pub(crate) async fn start(token_seconds: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let shop = Self {
            inside: Arc::new(Mutex::new(Inside { token_seconds, ..Inside::default() })),
            base,
        };
        let app = Router::new().fallback(answer).with_state(shop.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        shop
    }

    /// Plans the answers of the next calls. A call without a plan succeeds.
    pub(crate) fn answers(&self, plan: impl IntoIterator<Item = Answer>) {
        self.inside.lock().unwrap().plan.extend(plan);
    }

    /// Returns how many tokens were issued.
    pub(crate) fn tokens(&self) -> u32 {
        self.inside.lock().unwrap().tokens
    }

    /// Returns the session of each call.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.inside.lock().unwrap().calls.clone()
    }
}

async fn answer(State(shop): State<Shop>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let mut inside = shop.inside.lock().unwrap();
    if uri.path() == "/token" {
        inside.tokens += 1;
        return Json(json!({"access_token": format!("token-{}", inside.tokens), "expires_in": inside.token_seconds})).into_response();
    }
    let body: Value = serde_json::from_slice(&body).unwrap();
    match body["method"].as_str() {
        Some("initialize") => {
            inside.sessions += 1;
            let answer = json!({"jsonrpc": "2.0", "id": body["id"], "result": {}});
            ([("mcp-session-id", format!("visit-{}", inside.sessions))], Json(answer))
                .into_response()
        }
        Some("tools/call") => {
            let session = headers["mcp-session-id"].to_str().unwrap().to_owned();
            inside.calls.push(session);
            let id = body["id"].to_string();
            let plain = |text: &str| text.replace("$ID", &id);
            match inside.plan.pop_front().unwrap_or_else(|| Answer::Json(ok_answer("done"))) {
                Answer::Status(status) => (
                    StatusCode::from_u16(status).unwrap(),
                    "Bad Request: No valid session ID provided",
                )
                    .into_response(),
                Answer::Json(text) => {
                    ([(header::CONTENT_TYPE, "application/json")], plain(&text)).into_response()
                }
                Answer::Events(text) => {
                    ([(header::CONTENT_TYPE, "text/event-stream")], plain(&text)).into_response()
                }
            }
        }
        _ => StatusCode::ACCEPTED.into_response(),
    }
}

/// Returns an answer with this value.
pub(crate) fn ok_answer(value: &str) -> String {
    let content = json!([{"type": "text", "text": json!(value).to_string()}]);
    json!({"jsonrpc": "2.0", "id": "$ID", "result": {"content": content}})
        .to_string()
        .replace("\"$ID\"", "$ID")
}

/// Returns an answer with this error.
pub(crate) fn error(error: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": "$ID", "error": error}).to_string().replace("\"$ID\"", "$ID")
}
