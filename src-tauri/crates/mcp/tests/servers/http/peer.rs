//! An HTTP server for the tests that can also fail, be unreachable, require a sign-in and grant
//! one. The server records every request.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

/// How requests are answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Normal,
    Status(u16),
    Silence,
    Redirect(String),
    /// Requests with this method get this status and body. `$ID` in the body is replaced with the
    /// request's id.
    Only(&'static str, u16, String),
}

/// A request to the server itself.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn text(&self) -> String {
        format!("{:?} {}", self.headers, self.body)
    }
}

#[derive(Default)]
struct Inside {
    stateless: bool,
    base: String,
    answer: Option<Answer>,
    description: String,
    protected: bool,
    unexplained: bool,
    seen: Vec<Request>,
    granted: Vec<String>,
    tokens: u32,
    challenge: Option<String>,
    /// The base URL of the server that issues tokens, if that is another server.
    issuer: Option<String>,
    /// The forms that were posted to get a token.
    asked: Vec<String>,
}

#[derive(Clone)]
pub(crate) struct Peer {
    inside: Arc<Mutex<Inside>>,
    port: u16,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Peer {
    pub(crate) async fn start(stateless: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let base = format!("http://127.0.0.1:{port}");
        let inside = Inside { stateless, base, description: "Adds.".into(), ..Inside::default() };
        let peer = Self { inside: Arc::new(Mutex::new(inside)), port, task: Arc::default() };
        peer.serve(listener);
        peer
    }

    fn serve(&self, listener: TcpListener) {
        let app = Router::new().fallback(all).with_state(self.clone());
        *self.task.lock().unwrap() =
            Some(tokio::spawn(async move { axum::serve(listener, app).await.unwrap() }));
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.inside.lock().unwrap().seen.clone()
    }

    pub(crate) fn granted_tokens(&self) -> Vec<String> {
        self.inside.lock().unwrap().granted.clone()
    }

    pub(crate) fn answer_with(&self, answer: Answer) {
        self.inside.lock().unwrap().answer = Some(answer);
    }

    pub(crate) fn describe(&self, description: &str) {
        self.inside.lock().unwrap().description = description.to_owned();
    }

    /// From now on, answers only signed-in clients.
    pub(crate) fn protect(&self) {
        self.inside.lock().unwrap().protected = true;
    }

    /// Does the same as `protect`, but does not say where to sign in.
    pub(crate) fn protect_without_hint(&self) {
        self.inside.lock().unwrap().unexplained = true;
        self.protect();
    }

    /// From now on, sends clients to another server to sign in.
    pub(crate) fn sign_in_at(&self, other: &Peer) {
        self.inside.lock().unwrap().issuer = Some(other.inside.lock().unwrap().base.clone());
    }

    pub(crate) fn token_requests(&self) -> Vec<String> {
        self.inside.lock().unwrap().asked.clone()
    }

    pub(crate) fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Invalidates all tokens issued so far.
    pub(crate) fn revoke(&self) {
        self.inside.lock().unwrap().tokens += 1;
    }

    pub(crate) fn close(&self) {
        self.answer_with(Answer::Silence);
        if let Some(task) = self.task.lock().unwrap().take() {
            task.abort();
        }
    }

    pub(crate) async fn open_again(&self) {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).await.unwrap();
        self.serve(listener);
    }
}

async fn all(
    State(peer): State<Peer>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if uri.path() != "/mcp" {
        return sign_in(&peer, &uri, &body);
    }
    if method != Method::POST {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let body: Value = serde_json::from_slice(&body).unwrap();
    let name = body["method"].as_str().unwrap_or_default().to_owned();
    let headers: BTreeMap<String, String> = headers
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    let answer = {
        let mut inside = peer.inside.lock().unwrap();
        let valid = format!("Bearer access-{}", inside.tokens);
        if inside.protected && headers.get("authorization") != Some(&valid) {
            if inside.unexplained {
                return StatusCode::UNAUTHORIZED.into_response();
            }
            let challenge = format!(
                "Bearer resource_metadata=\"{}/.well-known/oauth-protected-resource/mcp\"",
                inside.base
            );
            return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)])
                .into_response();
        }
        inside.seen.push(Request { method: name.clone(), headers, body: body.clone() });
        inside.answer.clone().unwrap_or(Answer::Normal)
    };
    match answer {
        Answer::Normal => {}
        Answer::Status(status) => {
            return (StatusCode::from_u16(status).unwrap(), [(header::RETRY_AFTER, "7")])
                .into_response();
        }
        Answer::Redirect(to) => {
            return (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to)]).into_response();
        }
        Answer::Silence => std::future::pending().await,
        Answer::Only(method, status, text) if method == name => {
            let text = text.replace("$ID", &body["id"].to_string());
            return (
                StatusCode::from_u16(status).unwrap(),
                [(header::CONTENT_TYPE, "application/json")],
                text,
            )
                .into_response();
        }
        Answer::Only(..) => {}
    }
    if body.get("id").is_none() {
        return StatusCode::ACCEPTED.into_response();
    }
    if name == "tools/call" && body["params"]["name"] == "hang" {
        std::future::pending().await
    }
    let answered = peer.inside.lock().unwrap().result(&name, &body["params"]);
    let mut whole = json!({"jsonrpc": "2.0", "id": body["id"]});
    match answered {
        Ok(result) => whole["result"] = result,
        Err(error) => whole["error"] = error,
    }
    Json(whole).into_response()
}

impl Inside {
    fn result(&self, method: &str, params: &Value) -> Result<Value, Value> {
        let info = json!({"name": "peer", "version": "1"});
        let mut result = match method {
            "server/discover" if self.stateless => {
                json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "serverInfo": info, "ttlMs": 0, "cacheScope": "private"})
            }
            "initialize" if !self.stateless => {
                json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
            }
            "tools/list" => {
                let tools = ["add", "ask", "hang"].map(|name| json!({"name": name, "description": self.description, "inputSchema": {"type": "object"}}));
                json!({"tools": tools, "ttlMs": 0, "cacheScope": "private"})
            }
            "tools/call" if params["name"] == "ask" => match params.get("inputResponses") {
                None => return Ok(asking()),
                Some(answers) => text(answers["which"].get("content").unwrap_or(&answers["which"])),
            },
            "tools/call" => text(&params["arguments"]),
            _ => return Err(json!({"code": -32601, "message": "unknown method"})),
        };
        if self.stateless {
            result["resultType"] = json!("complete");
        }
        Ok(result)
    }
}

fn text(value: &Value) -> Value {
    json!({"content": [{"type": "text", "text": value.to_string()}]})
}

fn asking() -> Value {
    let schema = json!({"type": "object", "properties": {"account": {"type": "string"}}, "required": ["account"]});
    let form = json!({"mode": "form", "message": "Which account?", "requestedSchema": schema});
    json!({"resultType": "input_required", "requestState": "kept", "inputRequests": {"which": {"method": "elicitation/create", "params": form}}})
}

/// The authorization server: metadata, registration, consent, tokens.
fn sign_in(peer: &Peer, uri: &Uri, body: &Bytes) -> Response {
    let mut inside = peer.inside.lock().unwrap();
    let base = inside.base.clone();
    let issuer = inside.issuer.as_ref().unwrap_or(&base);
    match uri.path() {
        "/.well-known/oauth-protected-resource/mcp" => Json(json!({"resource": format!("{base}/mcp"), "authorization_servers": [issuer]})).into_response(),
        "/.well-known/oauth-authorization-server" => Json(json!({
            "issuer": base, "authorization_endpoint": format!("{base}/authorize"), "token_endpoint": format!("{base}/token"),
            "registration_endpoint": format!("{base}/register"), "code_challenge_methods_supported": ["S256"], "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_post"]
        }))
        .into_response(),
        "/register" => {
            let asked: Value = serde_json::from_slice(body).unwrap();
            (StatusCode::CREATED, Json(json!({"client_id": "registered", "redirect_uris": asked["redirect_uris"]}))).into_response()
        }
        "/authorize" => {
            let whole = format!("{base}{uri}");
            inside.challenge = Some(query(&whole, "code_challenge"));
            let back = format!("{}?code=granted&state={}", query(&whole, "redirect_uri"), query(&whole, "state"));
            (StatusCode::FOUND, [(header::LOCATION, back)]).into_response()
        }
        "/token" => {
            inside.asked.push(String::from_utf8_lossy(body).into_owned());
            let form = format!("{base}/?{}", String::from_utf8_lossy(body));
            let grant = query(&form, "grant_type");
            let good = match grant.as_str() {
                "client_credentials" => query(&form, "client_secret") == "app-secret",
                "refresh_token" => query(&form, "refresh_token") == "refresh-1",
                "authorization_code" => query(&form, "code") == "granted" && !query(&form, "code_verifier").is_empty() && inside.challenge.is_some(),
                _ => false,
            };
            if !good || query(&form, "resource") != format!("{base}/mcp") {
                return (StatusCode::BAD_REQUEST, Json(json!({"error": "invalid_grant"}))).into_response();
            }
            if inside.granted.is_empty() {
                inside.tokens = 1;
            }
            inside.granted.push(grant.clone());
            let mut token = json!({"access_token": format!("access-{}", inside.tokens), "token_type": "Bearer", "expires_in": 3600});
            if grant != "client_credentials" {
                token["refresh_token"] = json!("refresh-1");
            }
            Json(token).into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Returns a parameter of an address's query.
pub(crate) fn query(url: &str, name: &str) -> String {
    let url = url::Url::parse(url).unwrap();
    url.query_pairs()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

/// Follows redirects as a browser would.
pub(crate) async fn browse(url: &str) {
    let browser = reqwest::Client::builder().no_proxy().build().unwrap();
    browser.get(url).send().await.unwrap();
}
