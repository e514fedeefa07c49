//! One request and its answer: JSON-RPC by POST, answered as JSON or as events. This module checks
//! statuses, sizes and time limits, but not the content of an answer.

use std::time::Duration;

use reqwest::{
    Client, Response,
    header::{self, HeaderMap, HeaderValue},
};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tokio::time::timeout;
use url::Url;

use super::{Token, call_error::CallError};
use crate::{failure, http::PrivateAddress};

/// The maximum number of bytes of an answer.
const LARGEST: usize = 16 * 1024 * 1024;
const SESSION: &str = "mcp-session-id";
const APPLICATION: &str = "application-id";

/// A request, and the application that sends it.
pub(super) struct WireRequest<'a> {
    /// The request's id. None for a notification, which has no answer.
    pub(super) id: Option<u64>,
    pub(super) method: &'a str,
    pub(super) params: Value,
    pub(super) token: &'a Token,
    pub(super) application: &'a str,
    pub(super) session: Option<&'a str>,
}

/// The answer to a request.
pub(super) struct WireAnswer {
    pub(super) result: Value,
    /// The session's name, if the server returned one.
    pub(super) session: Option<String>,
}

pub(super) struct Wire {
    client: Client,
    url: Url,
    patience: Duration,
}

impl Wire {
    pub(super) fn new(client: Client, url: Url, patience: Duration) -> Self {
        Self { client, url, patience }
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Sends a request and waits for the answer.
    pub(super) async fn ask(&self, asked: WireRequest<'_>) -> Result<WireAnswer, CallError> {
        let id = asked.id.unwrap_or_default();
        timeout(self.patience, async {
            let response = self.send(asked).await?;
            let session = response
                .headers()
                .get(SESSION)
                .and_then(|name| name.to_str().ok())
                .map(str::to_owned);
            let message = if is_events(&response) {
                read_events(response, id).await?
            } else {
                read_json(response, id).await?
            };
            result(message).map(|result| WireAnswer { result, session })
        })
        .await
        .unwrap_or(Err(CallError::TimedOut))
    }

    /// Sends a notification without waiting for an answer.
    pub(super) async fn notify(&self, asked: WireRequest<'_>) -> Result<(), CallError> {
        timeout(self.patience, self.send(asked)).await.unwrap_or(Err(CallError::TimedOut)).map(drop)
    }

    async fn send(&self, asked: WireRequest<'_>) -> Result<Response, CallError> {
        let mut message = json!({"jsonrpc": "2.0", "method": asked.method});
        if let Some(id) = asked.id {
            message["id"] = json!(id);
        }
        if !asked.params.is_null() {
            message["params"] = asked.params;
        }
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            header::ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        let mut bearer = value(&format!("Bearer {}", asked.token.expose_secret()))?;
        // Sensitive values are omitted when a request is written to a log.
        bearer.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, bearer);
        headers.insert(APPLICATION, value(asked.application)?);
        if let Some(session) = asked.session {
            headers.insert(SESSION, value(session)?);
        }
        let response = self
            .client
            .post(self.url.clone())
            .headers(headers)
            .body(message.to_string())
            .send()
            .await
            .map_err(|error| request_error(&error))?;
        match response.status() {
            status if status.is_success() => Ok(response),
            status => Err(CallError::Status(status.as_u16())),
        }
    }

    /// Fetches a picture that a result refers to, from the same server only: the reference is an
    /// absolute path with its query, or a whole URL. The request does not name the application.
    pub(super) async fn picture(&self, reference: &str, most: usize) -> Result<Vec<u8>, CallError> {
        let url = resolve_reference(&self.url, reference)
            .ok_or(CallError::Odd("the picture does not lie on it"))?;
        timeout(self.patience, async {
            let response =
                self.client.get(url).send().await.map_err(|error| request_error(&error))?;
            match response.status() {
                status if status.is_success() => read(response, most).await,
                status => Err(CallError::Status(status.as_u16())),
            }
        })
        .await
        .unwrap_or(Err(CallError::TimedOut))
    }
}

/// Resolves the reference to a picture. Returns None if the picture is on another server.
fn resolve_reference(server: &Url, reference: &str) -> Option<Url> {
    // The reference is resolved from the root, because it must not depend on the path of the calls.
    let url = server.join("/").and_then(|top| top.join(reference)).ok()?;
    (url.origin() == server.origin() && url.username().is_empty() && url.password().is_none())
        .then_some(url)
}

fn value(text: &str) -> Result<HeaderValue, CallError> {
    HeaderValue::from_bytes(text.as_bytes()).map_err(|_| CallError::Unsendable)
}

/// Maps a transport error. Drops addresses in the error.
pub(super) fn request_error(error: &reqwest::Error) -> CallError {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = next {
        if cause.is::<PrivateAddress>() {
            return CallError::Private;
        }
        next = cause.source();
    }
    match (error.is_connect(), error.is_timeout()) {
        (true, _) => CallError::Unreachable,
        (false, true) => CallError::TimedOut,
        (false, false) => CallError::Broken,
    }
}

fn is_events(response: &Response) -> bool {
    let kind = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}

/// Reads the whole body, up to a maximum size.
pub(super) async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, CallError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| CallError::Broken)? {
        // The bytes are counted on arrival, because the announced length may be wrong.
        if body.len() + chunk.len() > most {
            return Err(CallError::Odd("the answer is too large"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

async fn read_json(response: Response, id: u64) -> Result<Value, CallError> {
    let body = read(response, LARGEST).await?;
    let message: Value =
        serde_json::from_slice(&body).map_err(|_| CallError::Odd("the answer is no JSON"))?;
    match message {
        Value::Array(all) => choose(all, id),
        one => choose(vec![one], id),
    }
    .ok_or(CallError::Odd("it is no answer to the request"))
}

/// Returns the message with the request's id, or else the last answer.
fn choose(messages: Vec<Value>, id: u64) -> Option<Value> {
    let mut answers: Vec<Value> = messages.into_iter().filter(is_answer).collect();
    match answers.iter().position(|message| is_of(message, id)) {
        Some(at) => Some(answers.swap_remove(at)),
        None => answers.pop(),
    }
}

fn is_answer(message: &Value) -> bool {
    message.get("result").is_some() || message.get("error").is_some_and(Value::is_object)
}

fn is_of(message: &Value, id: u64) -> bool {
    message["id"].as_u64() == Some(id)
        || message["id"].as_str().is_some_and(|text| text == id.to_string())
}

/// Reads events until the answer has arrived. Other messages are ignored.
async fn read_events(mut response: Response, id: u64) -> Result<Value, CallError> {
    let (mut lines, mut taken) = (Lines::default(), 0);
    let mut last = None;
    loop {
        let chunk = response.chunk().await.map_err(|_| CallError::Broken)?;
        taken += chunk.as_ref().map_or(0, |chunk| chunk.len());
        if taken > LARGEST {
            return Err(CallError::Odd("the answer is too large"));
        }
        let ended = chunk.is_none();
        let found = match chunk {
            Some(chunk) => lines.take(&chunk),
            None => lines.stream_ends().into_iter().collect(),
        };
        let answers = found
            .iter()
            .filter_map(|data| serde_json::from_str::<Value>(data).ok())
            .filter(is_answer);
        for message in answers {
            if is_of(&message, id) {
                return Ok(message);
            }
            last = Some(message);
        }
        if ended {
            return last.ok_or(CallError::Odd("the events hold no answer"));
        }
    }
}

/// Assembles events from pieces of a stream, and returns the `data` of each event.
#[derive(Default)]
struct Lines {
    /// The current line, which is not complete yet.
    line: Vec<u8>,
    data: Vec<String>,
}

impl Lines {
    fn take(&mut self, chunk: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.ends_with(b"\n") {
                events.extend(self.line_ends());
            }
        }
        events
    }

    fn line_ends(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            return self.event_ends();
        }
        let data = line.strip_prefix("data:")?;
        self.data.push(data.strip_prefix(' ').unwrap_or(data).to_owned());
        None
    }

    /// Ends the stream. An incomplete line counts as complete.
    fn stream_ends(&mut self) -> Option<String> {
        if self.line.is_empty() {
            self.event_ends()
        } else {
            self.line_ends().or_else(|| self.event_ends())
        }
    }

    /// Returns the data of the event that ended, if there is any.
    fn event_ends(&mut self) -> Option<String> {
        let data = std::mem::take(&mut self.data).join("\n");
        (!data.is_empty()).then_some(data)
    }
}

/// Returns the result of an answer. Some servers add an empty result to an error. The text of an
/// error is dropped. For an error without a code, it is unknown whether the call took effect.
fn result(mut message: Value) -> Result<Value, CallError> {
    match message.get("error").filter(|error| error.is_object()) {
        Some(error) => Err(CallError::Refused(error["code"].as_i64().unwrap_or(failure::INTERNAL))),
        None => Ok(message["result"].take()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_events_are_assembled_from_pieces_of_any_size() {
        let stream = ": hello\r\nid: 1\r\ndata:\r\n\r\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"x\"}\n\ndata: {\"id\":2,\"result\":1}\n\n";
        for size in 1..stream.len() {
            let mut lines = Lines::default();
            let found: Vec<String> =
                stream.as_bytes().chunks(size).flat_map(|chunk| lines.take(chunk)).collect();
            assert_eq!(
                found,
                ["{\"jsonrpc\":\"2.0\",\n\"method\":\"x\"}", "{\"id\":2,\"result\":1}"]
            );
        }
    }

    #[test]
    fn picture_references_are_resolved_only_on_the_same_server() {
        let server = Url::parse("https://shop.example.com/api/mcp?tenant=7").unwrap();
        let of = |reference: &str| resolve_reference(&server, reference).map(|url| url.to_string());
        let here = |path: &str| Some(format!("https://shop.example.com{path}"));
        for (reference, path) in [
            ("/img/4711.jpg?w=200", "/img/4711.jpg?w=200"),
            ("img/2.jpg", "/img/2.jpg"),
            ("https://shop.example.com/img/4711.jpg?w=200", "/img/4711.jpg?w=200"),
            ("//shop.example.com/img/1.jpg", "/img/1.jpg"),
            ("/img/två.jpg", "/img/tv%C3%A5.jpg"),
        ] {
            assert_eq!(of(reference), here(path), "{reference}");
        }
        for elsewhere in [
            "https://other.example.com/1.jpg",
            "//other.example.com/1.jpg",
            "http://shop.example.com/1.jpg",
            "https://me:pw@shop.example.com/1.jpg",
            "file:///etc/passwd",
            "data:image/png,x",
        ] {
            assert_eq!(of(elsewhere), None, "{elsewhere}");
        }
    }

    #[test]
    fn the_last_event_needs_no_final_line_break() {
        for (stream, found) in [
            ("data: 1\n\ndata: 2", Some("2")),
            ("data: 1\ndata: 2\n", Some("1\n2")),
            ("data: 1\nid: 7", Some("1")),
            ("id: 7", None),
            ("", None),
        ] {
            let mut lines = Lines::default();
            lines.take(stream.as_bytes());
            assert_eq!(lines.stream_ends().as_deref(), found, "{stream:?}");
            assert_eq!(lines.stream_ends(), None, "it ends once");
        }
    }

    #[test]
    fn the_answer_is_the_message_with_the_request_id_or_else_the_last_one() {
        let all = vec![
            json!({"id": 1, "result": "a"}),
            json!({"id": "2", "result": "b"}),
            json!({"method": "note"}),
            json!({"id": 3, "error": {"code": 1}}),
        ];
        assert_eq!(choose(all.clone(), 2).unwrap()["result"], "b");
        assert_eq!(result(choose(all, 9).unwrap()), Err(CallError::Refused(1)));
        assert!(choose(vec![json!({"method": "note"}), json!("text")], 1).is_none());
    }
}
