//! Assigns the answers of a server behind an address to their requests. Each request has its own
//! POST, so an error that names no request gets the id of the request in its POST. Events are
//! converted to valid messages; a plain answer has already been read by the library. The module
//! must not know what the requests ask.

use std::{collections::HashMap, sync::Arc};

use futures::{StreamExt as _, stream};
use http::{HeaderName, HeaderValue};
use rmcp::{
    model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::{
        common::client_side_sse::BoxedSseResponse,
        streamable_http_client::{
            StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
        },
    },
};

use crate::{
    lenient::messages_in,
    transport::{LONGEST_LINE, OpenRequests, is_ours},
};

/// A client whose answers name their requests.
#[derive(Clone)]
pub(crate) struct Posts<C> {
    inner: C,
    requests: OpenRequests,
}

impl<C> Posts<C> {
    pub(crate) fn new(inner: C, requests: OpenRequests) -> Self {
        Self { inner, requests }
    }
}

/// Assigns an error that names no request of this app to the request that the error answers.
fn tie(message: &mut ServerJsonRpcMessage, asked: &RequestId, requests: &OpenRequests) -> bool {
    let JsonRpcMessage::Error(error) = message else { return false };
    if error.id.as_ref().is_some_and(is_ours) {
        return false;
    }
    error.id = Some(asked.clone());
    requests.note_unread(asked);
    true
}

/// Converts the data of each event to valid messages. Each message gets its own event.
fn mend_events(
    events: BoxedSseResponse,
    tie: impl Fn(&str) -> Option<String> + Send + 'static,
) -> BoxedSseResponse {
    let mended = events.flat_map(move |event| {
        let Ok(mut event) = event else { return stream::iter(vec![event]) };
        let Some(data) = event.data.take() else { return stream::iter(vec![Ok(event)]) };
        let messages = messages_in(data.as_bytes()).unwrap_or_else(|| vec![data]);
        let of = |message: String| {
            let mut event = event.clone();
            event.data = Some(tie(&message).unwrap_or(message));
            Ok(event)
        };
        stream::iter(messages.into_iter().map(of).collect::<Vec<_>>())
    });
    mended.boxed()
}

/// Returns the data of an event with its request's id inserted, or None if the data need not be
/// changed.
fn tie_event(data: &str, asked: &RequestId, requests: &OpenRequests) -> Option<String> {
    // Most events are not errors, and some events are large, so only events with this word are
    // parsed.
    if !data.contains("\"error\"") {
        return None;
    }
    let mut message = serde_json::from_str(data).ok()?;
    if tie(&mut message, asked, requests) { serde_json::to_string(&message).ok() } else { None }
}

impl<C: StreamableHttpClient + Sync> StreamableHttpClient for Posts<C> {
    type Error = C::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<Self::Error>> {
        self.post_message_with_max_sse_event_size(
            uri,
            message,
            session,
            token,
            headers,
            LONGEST_LINE,
        )
        .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        longest: usize,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<Self::Error>> {
        let asked = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let answer = self
            .inner
            .post_message_with_max_sse_event_size(uri, message, session, token, headers, longest)
            .await?;
        let Some(asked) = asked else { return Ok(answer) };
        Ok(match answer {
            StreamableHttpPostResponse::Json(mut message, session) => {
                tie(&mut message, &asked, &self.requests);
                StreamableHttpPostResponse::Json(message, session)
            }
            StreamableHttpPostResponse::Sse(events, session) => {
                let requests = self.requests.clone();
                let tie = move |data: &str| tie_event(data, &asked, &requests);
                StreamableHttpPostResponse::Sse(mend_events(events, tie), session)
            }
            other => other,
        })
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxedSseResponse, StreamableHttpError<Self::Error>> {
        self.get_stream_with_max_sse_event_size(
            uri,
            session,
            last_event,
            token,
            headers,
            LONGEST_LINE,
        )
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        longest: usize,
    ) -> Result<BoxedSseResponse, StreamableHttpError<Self::Error>> {
        let events = self
            .inner
            .get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, longest)
            .await?;
        Ok(mend_events(events, |_| None))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), StreamableHttpError<Self::Error>> {
        self.inner.delete_session(uri, session, token, headers).await
    }
}
