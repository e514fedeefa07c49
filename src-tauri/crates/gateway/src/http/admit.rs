//! Turns a request into an admitted message. Checks in the order of the contract: body, visitor,
//! rate, shape, application, length.

use std::{net::IpAddr, sync::Arc, time::Instant};

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use chrono::Utc;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    chat::{
        request::{AdmittedRequest, ChatRequest, read_session_id},
        sse,
    },
    fault::{Category, Fault},
    http::{
        app::App,
        auth::Visitor,
        limits::{Kind, Left, UsedUp},
        origin::{self, Peer},
    },
    texts::{Text, locale_for_culture},
};

/// The id of an HTTP request, used in its answer, its errors and its log lines.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

/// An admitted message, and how many requests the visitor has left in this minute.
pub(crate) struct Admitted {
    pub(crate) ask: AdmittedRequest,
    pub(crate) left: Option<Left>,
}

/// Makes a refusal in the HTTP server's standard form.
pub(crate) fn plain_refusal(status: StatusCode, message: &str) -> Response {
    let body = json!({"statusCode": status.as_u16(), "error": status.canonical_reason().unwrap_or("Error"), "message": message});
    json_response(status, &body)
}

pub(crate) fn json_response(status: StatusCode, body: &impl Serialize) -> Response {
    let mut response = (status, sse::to_json_text(body)).into_response();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    response
}

/// Makes a refusal that contains only the error envelope.
pub(crate) fn envelope_refusal(fault: &Fault, request_id: &str, debug: bool) -> Response {
    let mut response =
        json_response(fault.status, &json!({"error": fault.envelope(request_id, debug)}));
    if fault.status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some(seconds) = fault.retry_after_ms.map(|ms| ms.div_ceil(1_000)) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Makes the refusal for too many requests.
pub(crate) fn refuse_too_many(
    used_up: UsedUp,
    locale: &str,
    request_id: &str,
    debug: bool,
) -> Response {
    let mut response =
        envelope_refusal(&Fault::rate_limited(used_up.wait_ms, locale), request_id, debug);
    write_rate_headers(response.headers_mut(), used_up.left);
    response
}

/// Writes the remaining requests of the minute into the headers.
pub(crate) fn write_rate_headers(headers: &mut HeaderMap, left: Left) {
    headers.insert("x-ratelimit-remaining", HeaderValue::from(left.remaining));
    headers.insert("x-ratelimit-reset", HeaderValue::from(left.reset));
}

/// Reads the body as JSON. Returns null for a missing body if the body may be empty.
pub(crate) async fn json_body(
    app: &App,
    headers: &HeaderMap,
    body: Body,
    may_be_empty: bool,
) -> Result<Value, Response> {
    let declared = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let too_large = || refuse_and_close(StatusCode::PAYLOAD_TOO_LARGE, "Request body is too large");
    // A too long request is refused before its body is read.
    if declared.is_some_and(|length| length > app.chat.config.body_limit as u64) {
        return Err(too_large());
    }
    let kind =
        headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_json = kind
        .split(';')
        .next()
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    let empty = declared == Some(0)
        || (declared.is_none() && !headers.contains_key(header::TRANSFER_ENCODING));
    if !(is_json || may_be_empty && empty) {
        return Err(refuse_and_close(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Unsupported Media Type"));
    }
    let read = tokio::time::timeout(
        app.chat.config.body_time,
        axum::body::to_bytes(body, app.chat.config.body_limit),
    )
    .await;
    let bytes: Bytes = match read {
        Err(_) => {
            return Err(refuse_and_close(
                StatusCode::REQUEST_TIMEOUT,
                "The body did not come in time",
            ));
        }
        Ok(Err(error)) if is_too_long(&error) => return Err(too_large()),
        Ok(Err(_)) => {
            return Err(refuse_and_close(StatusCode::BAD_REQUEST, "The body could not be read"));
        }
        Ok(Ok(bytes)) => bytes,
    };
    if bytes.is_empty() && may_be_empty {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&bytes)
        .map_err(|_| plain_refusal(StatusCode::BAD_REQUEST, "Body is not valid JSON"))
}

/// Refuses a request and closes the connection, because the unread rest of the request's body would
/// precede the next request.
fn refuse_and_close(status: StatusCode, message: &str) -> Response {
    let mut response = plain_refusal(status, message);
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn is_too_long(error: &axum::Error) -> bool {
    std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source())
        .any(|error| error.to_string().contains("length limit"))
}

/// Marks a refusal because the application is not allowed, so that the record of the refusal names
/// the application.
#[derive(Clone)]
pub(crate) struct UnknownApplication(pub(crate) String);

/// Whether the caller sent the token of the token file, or needs no token.
pub(crate) fn is_privileged(app: &App, headers: &HeaderMap) -> bool {
    match &app.token {
        Some(token) => token.is_sent_in(headers),
        None => app.chat.config.simple_auth.is_none(),
    }
}

fn check_visitor(app: &App, headers: &HeaderMap) -> Result<Option<Visitor>, Fault> {
    let wrong = || Fault::unauthorized("Please sign in again.");
    if let Some(auth) = &app.chat.config.simple_auth {
        return auth.verify_visitor(headers, Utc::now().timestamp()).map(Some).ok_or_else(wrong);
    }
    if is_privileged(app, headers) { Ok(None) } else { Err(wrong()) }
}

/// Counts a visitor's message, both for the visitor and for its address. Returns the lower of the
/// two remainders.
fn count_message(app: &App, visitor: &Visitor, client_ip: IpAddr) -> Result<Left, UsedUp> {
    let now_ms = Utc::now().timestamp_millis();
    // The visitor is counted first, because a visitor over its limit must not use up the limit of
    // its network.
    let own = app.limits.count_request(Kind::Chat, &visitor.sid, now_ms)?;
    let of_address =
        app.limits.count_request(Kind::ChatOfAddress, &origin::network_name(client_ip), now_ms)?;
    Ok(if of_address.remaining < own.remaining { of_address } else { own })
}

/// Admits a message, or refuses it with a response.
pub(crate) async fn admit_request(
    app: &Arc<App>,
    peer: Peer,
    id: &RequestId,
    request: Request,
    route: &'static str,
) -> Result<Admitted, Response> {
    let began = Instant::now();
    let (parts, body) = request.into_parts();
    let headers = &parts.headers;
    let asked_debug =
        parts.uri.query().is_some_and(|query| query.split('&').any(|part| part == "debug=1"));
    let debug = app.chat.config.debug || (asked_debug && is_privileged(app, headers));
    let mut body = json_body(app, headers, body, false).await?;
    let visitor =
        check_visitor(app, headers).map_err(|fault| envelope_refusal(&fault, &id.0, debug))?;
    let client_ip = origin::client_ip(headers, peer.0.ip(), &app.chat.config);
    let mut left = None;
    if let Some(visitor) = &visitor {
        let taken = count_message(app, visitor, client_ip);
        left = Some(taken.map_err(|used_up| {
            refuse_too_many(
                used_up,
                locale_for_culture(body["context"]["cultureCode"].as_str()),
                &id.0,
                debug,
            )
        })?);
    }
    let turn = uuid::Uuid::new_v4().to_string();
    let no = |fault: Fault, body: &Value| {
        app.chat.runs.store_refusal(
            route,
            (&turn, &id.0),
            body,
            &fault,
            || app.chat.model(),
            Utc::now().timestamp_millis(),
        );
        let answer = json!({"turnId": turn, "sessionId": read_session_id(body), "text": fault.safe_message(), "error": fault.envelope(&id.0, debug)});
        json_response(fault.status, &answer)
    };
    app.check_for_secrets(&body).await.map_err(|fault| no(fault, &Value::Null))?;
    let mut read =
        ChatRequest::parse_body(&body, &app.chat.config).map_err(|fault| no(fault, &body))?;
    if let Some(visitor) = &visitor {
        read.application.clone_from(&visitor.application);
        body["applicationId"] = json!(visitor.application);
    }
    read.check_allowed(&app.chat.config).map_err(|fault| {
        let is_unknown = fault.status == StatusCode::FORBIDDEN;
        let mut response = no(fault, &body);
        if is_unknown {
            response.extensions_mut().insert(UnknownApplication(read.application.clone()));
        }
        response
    })?;
    if let Some(alarm) = app.chat.host.alarm() {
        tracing::error!(target: "gateway", requestId = %id.0, "refused: {}", alarm.message);
        let text =
            Text::SwitchedOff.localize(locale_for_culture(body["context"]["cultureCode"].as_str()));
        let fault =
            Fault::new(StatusCode::SERVICE_UNAVAILABLE, Category::Policy, "AGENT_DISABLED", text);
        return Err(no(fault, &body));
    }
    let client_ip = client_ip.to_string();
    let correlation = app.correlation(headers);
    let visitor = visitor.map(|visitor| visitor.sid);
    let ask = AdmittedRequest {
        request: read,
        turn,
        visitor,
        request_id: id.0.clone(),
        correlation,
        client_ip,
        debug,
        route,
        began,
    };
    Ok(Admitted { ask, left })
}
