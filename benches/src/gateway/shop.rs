//! The shop as the bare loop uses it: one token, then JSON-RPC over HTTP, with one session for all
//! requests.

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Outcome;

const VERSION: &str = "2025-06-18";
/// The client id with which both sides log in.
pub(super) const CLIENT: &str = "bench";
pub(super) const SECRET: &str = "bench-secret-0123456789";
pub(super) const SCOPE: &str = "shop";

/// Returns the token endpoint of a shop at this address.
pub(super) fn token_url(shop: &str) -> String {
    format!("{}/oauth/token", shop.trim_end_matches("/mcp"))
}

pub(super) struct Shop {
    http: reqwest::Client,
    url: String,
    token: String,
    session: Option<String>,
    id: AtomicU64,
}

impl Shop {
    pub(super) async fn open(http: reqwest::Client, url: &str) -> Outcome<Self> {
        let form = format!(
            "grant_type=client_credentials&client_id={CLIENT}&client_secret={SECRET}&scope={SCOPE}"
        );
        let login = http
            .post(token_url(url))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form)
            .send()
            .await?
            .error_for_status()?;
        let given: Value = login.json().await?;
        let token = given["access_token"].as_str().ok_or("the shop gave no token")?.to_owned();
        let mut shop =
            Self { http, url: url.to_owned(), token, session: None, id: AtomicU64::new(0) };
        let client = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "bare", "version": "0"}});
        let response = shop
            .send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}))
            .await?;
        shop.session = response
            .headers()
            .get("mcp-session-id")
            .and_then(|id| id.to_str().ok())
            .map(str::to_owned);
        response.bytes().await?;
        shop.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(shop)
    }

    async fn send(&self, message: &Value) -> Outcome<reqwest::Response> {
        let mut request = self
            .http
            .post(&self.url)
            .header(ACCEPT, "application/json, text/event-stream")
            .header("mcp-protocol-version", VERSION);
        request = request
            .header(AUTHORIZATION, format!("Bearer {}", self.token))
            .header("application-id", CLIENT);
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        Ok(request
            .header(CONTENT_TYPE, "application/json")
            .body(message.to_string())
            .send()
            .await?
            .error_for_status()?)
    }

    async fn request(&self, method: &str, params: &Value) -> Outcome<Value> {
        let id = self.id.fetch_add(1, Ordering::Relaxed) + 1;
        let text = self
            .send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await?
            .text()
            .await?;
        // The body is one JSON object, or lines of an event stream.
        let answers = text
            .lines()
            .map(|line| line.strip_prefix("data:").unwrap_or(line).trim())
            .filter(|line| line.starts_with('{'));
        let mut answers = answers.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut answer =
            answers.find(|answer| answer["id"] == id).ok_or("the shop did not answer")?;
        answer
            .get_mut("result")
            .map(Value::take)
            .ok_or_else(|| format!("the shop refused: {answer}").into())
    }

    /// Returns the shop's tools in the model's format.
    pub(super) async fn tools(&self) -> Outcome<Value> {
        Ok(crate::turn::bare::model_tools(&self.request("tools/list", &json!({})).await?))
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Outcome<String> {
        let result =
            self.request("tools/call", &json!({"name": tool, "arguments": arguments})).await?;
        if result["isError"] == true {
            return Err(format!("the tool failed: {result}").into());
        }
        Ok(result.pointer("/content/0/text").and_then(Value::as_str).ok_or("no text")?.to_owned())
    }
}
