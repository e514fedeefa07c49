//! The routes, and the checks that apply to all routes: host name, origin and request id.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Instant};

use axum::{
    Extension, Router,
    body::Body,
    extract::{MatchedPath, Path, Request, State, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use chrono::{SecondsFormat, Utc};
use contract::ErrorCode;
use engine::Refused;
use futures::FutureExt as _;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, field::Empty};

use crate::{
    chat::{
        answer::Answer,
        request::{AdmittedRequest, ChatRequest},
        response::Outcome,
        service::ChatService,
        sessions,
        sse::{self, SseSink},
        turn::run_turn,
    },
    fault::{Category, Fault},
    http::{
        admit::{
            self, Admitted, RequestId, UnknownApplication, admit_request, envelope_refusal,
            is_privileged, json_response, plain_refusal, refuse_too_many, write_rate_headers,
        },
        app::App,
        auth::Visitor,
        limits::Kind,
        openapi,
        origin::{self, Origin, Peer},
    },
    texts::{Text, locale_for_culture},
};

const CHAT: &str = "POST /v1/chat";
const STREAM: &str = "POST /v1/chat/stream";
const TOKEN: &str = "/v1/auth/simple/token";

pub(crate) fn router(app: &Arc<App>) -> Router {
    let mut router = Router::new()
        .route("/v1/health", get(health))
        .route("/v1/openapi.json", get(openapi_document))
        .route("/v1/metrics", get(metrics))
        .route("/v1/chat", post(chat))
        .route("/v1/chat/stream", post(stream));
    if app.chat.config.simple_auth.is_some() {
        router = router.route(TOKEN, post(post_token));
    }
    if app.chat.config.debug_runs.is_some() {
        router = router
            .route("/v1/debug/runs", get(runs))
            .route("/v1/debug/runs/{id}", get(run))
            .route("/v1/debug/replay/{id}", post(replay));
    }
    router
        .fallback(|| async { plain_refusal(StatusCode::NOT_FOUND, "Route not found") })
        .method_not_allowed_fallback(|| async {
            plain_refusal(StatusCode::METHOD_NOT_ALLOWED, "This route does not take that method")
        })
        .layer(middleware::from_fn_with_state(Arc::clone(app), check_request))
        .with_state(Arc::clone(app))
}

/// Marks the response of a turn, because the turn itself is counted and logged.
#[derive(Clone, Copy)]
struct OfTurn;

/// Wraps every route. All refusals pass through here and are counted and logged only here.
async fn check_request(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let id = RequestId(uuid::Uuid::new_v4().to_string());
    let (method, path) =
        (request.method().clone(), request.extensions().get::<MatchedPath>().cloned());
    let headers = request.headers();
    let correlation = app.correlation(headers);
    // Only the token route identifies visitors by a cookie.
    let by_cookie = app.chat.config.simple_auth.is_some() && request.uri().path() == TOKEN;
    let is_ours = origin::is_own_host(headers, &app.chat.config);
    let origin = if is_ours { Origin::of(headers, &app.chat.config) } else { Origin::Foreign };
    let mut response = match (&origin, method == Method::OPTIONS) {
        _ if !is_ours => {
            plain_refusal(StatusCode::FORBIDDEN, "This server does not answer to that name")
        }
        (Origin::Foreign, _) if request.uri().path() != "/v1/health" => {
            plain_refusal(StatusCode::FORBIDDEN, "This page may not use the assistant")
        }
        (Origin::Allowed(_), true) => preflight(),
        (Origin::None | Origin::Allowed(_) | Origin::Foreign, _) => {
            request.extensions_mut().insert(id.clone());
            next.run(request).await
        }
    };
    let status = response.status();
    if (status.is_client_error() || status.is_server_error())
        && response.extensions().get::<OfTurn>().is_none()
    {
        app.chat.metrics.count_refusal(status.as_u16());
        // A client can send any path, so only known routes are logged by name.
        let route = format!("{method} {}", path.as_ref().map_or("unknown", MatchedPath::as_str));
        tracing::info!(target: "gateway", requestId = %id.0, correlationId = correlation.as_deref(), route, status = status.as_u16(), "refused");
        let unknown = response.extensions().get::<UnknownApplication>();
        if [CHAT, STREAM].contains(&route.as_str()) || unknown.is_some() {
            let reason = match unknown {
                Some(_) => "application_not_allowed".to_owned(),
                None => format!("http_{}", status.as_u16()),
            };
            let refused = Refused {
                request: "chat_request",
                code: refusal_code(status),
                reason: &reason,
                why: &route,
                request_id: Some(&id.0),
                correlation_id: correlation.as_deref(),
                session: None,
                asked: unknown.map_or("", |application| &application.0),
            };
            app.chat.host.engine().refused_requests.note(refused).await;
        }
    }
    let headers = response.headers_mut();
    if let Origin::Allowed(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        if by_cookie {
            headers
                .insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        }
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("X-Request-Id, X-Correlation-Id"),
        );
    }
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(id) = HeaderValue::from_str(&id.0) {
        headers.insert("x-request-id", id);
    }
    if let Some(id) = correlation.and_then(|id| HeaderValue::from_str(&id).ok()) {
        headers.insert("x-correlation-id", id);
    }
    response
}

/// Returns the run contract's code for a refusal.
fn refusal_code(status: StatusCode) -> &'static str {
    match status {
        StatusCode::TOO_MANY_REQUESTS => ErrorCode::RateLimited.name(),
        StatusCode::SERVICE_UNAVAILABLE => ErrorCode::AgentDisabled.name(),
        status if status.is_server_error() => ErrorCode::InternalError.name(),
        _ => ErrorCode::InvalidInput.name(),
    }
}

fn preflight() -> Response {
    let allow = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, OPTIONS")),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            HeaderValue::from_static("Authorization, Content-Type, X-Correlation-Id, traceparent"),
        ),
    ];
    (StatusCode::NO_CONTENT, allow).into_response()
}

/// Answers the health check. The check also fails if the audit log does not verify, because no
/// message is answered then until a person has seen the alarm.
async fn health(State(app): State<Arc<App>>) -> Response {
    let (code, status) = if app.chat.host.alarm().is_some() {
        (StatusCode::SERVICE_UNAVAILABLE, "audit_alarm")
    } else {
        (StatusCode::OK, "ok")
    };
    json_response(
        code,
        &json!({"status": status, "timestamp": Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true)}),
    )
}

async fn openapi_document() -> Response {
    let mut response = openapi::DOCUMENT.into_response();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    response
}

/// Serves the metrics to collectors on this computer, but not through a proxy.
async fn metrics(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
) -> Response {
    if !peer.0.ip().to_canonical().is_loopback() || origin::is_forwarded(&headers) {
        return plain_refusal(StatusCode::NOT_FOUND, "Route not found");
    }
    let sessions = sessions::count_sessions(&app.chat.host).await;
    let mut response = app.chat.metrics.render_page(app.chat.turns.len(), sessions).into_response();
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8"),
    );
    response
}

/// Runs a turn to its end, and converts a panic to an error response.
async fn run_catching_panics(
    app: Arc<App>,
    ask: AdmittedRequest,
    out: SseSink,
    leave: CancellationToken,
) -> Outcome {
    let counting = Arc::clone(&app.chat);
    let _open = (ask.route == STREAM).then(|| counting.metrics.open_stream());
    // The span has the level error, so that every log line inside contains the request's id
    // whatever the filter is.
    let span = tracing::error_span!(
        target: "spans", parent: None, "chat", otel.kind = "server", http.route = ask.route, requestId = %ask.request_id, turnId = %ask.turn,
        http.response.status_code = Empty, code = Empty
    );
    let asked = ask.clone();
    let turn = async {
        match AssertUnwindSafe(run_turn(Arc::clone(&app.chat), ask, out.clone(), leave))
            .catch_unwind()
            .await
        {
            Ok(outcome) => outcome,
            Err(_) => panic_outcome(&counting, &asked, &out),
        }
    };
    turn.instrument(span).await
}

/// Makes the outcome of a turn that panicked, which is counted, stored and reported like any other
/// failure. The log already contains the place of the panic.
fn panic_outcome(app: &ChatService, ask: &AdmittedRequest, out: &SseSink) -> Outcome {
    let answer = Answer::from_fault(Fault::internal(locale_for_culture(ask.request.culture())));
    let outcome = answer.to_outcome(ask);
    let (status, took) = (outcome.status.as_u16(), ask.began.elapsed());
    let code = outcome.fault.as_ref().map(|fault| fault.code);
    app.metrics.count_turn(ask.route, status, outcome.fault.as_ref(), took, &answer.calls);
    app.runs.keep(ask, &outcome, &answer, || app.model(), Utc::now().timestamp_millis());
    let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    tracing::Span::current().record("http.response.status_code", status).record("code", code);
    tracing::info!(target: "gateway", requestId = %ask.request_id, correlationId = ask.correlation.as_deref(), turnId = %ask.turn, route = ask.route, status, code, took_ms, "turn");
    if let Some(error) = &outcome.response.error {
        out.send_event("error", error);
    }
    out.send_event("final", &outcome.response);
    outcome
}

async fn chat(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let Admitted { ask, left } = match admit_request(&app, peer, &id, request, CHAT).await {
        Ok(admitted) => admitted,
        Err(refusal) => return refusal,
    };
    let locale = locale_for_culture(ask.request.culture());
    let leave = CancellationToken::new();
    let leaves = leave.clone().drop_guard();
    let ended = app
        .chat
        .turns
        .spawn(run_catching_panics(Arc::clone(&app), ask, SseSink::default(), leave))
        .await;
    leaves.disarm();
    let Ok(outcome) = ended else {
        return envelope_refusal(&Fault::internal(locale), &id.0, false);
    };
    let mut response = json_response(outcome.status, &outcome.response);
    response.extensions_mut().insert(OfTurn);
    if let Some(left) = left {
        write_rate_headers(response.headers_mut(), left);
    }
    if let Some(seconds) =
        outcome.fault.and_then(|fault| fault.retry_after_ms).map(|ms| ms.div_ceil(1_000))
    {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

async fn stream(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let Admitted { ask, .. } = match admit_request(&app, peer, &id, request, STREAM).await {
        Ok(admitted) => admitted,
        Err(refusal) => return refusal,
    };
    let leave = CancellationToken::new();
    let leaves = leave.clone().drop_guard();
    let (sender, events) = mpsc::unbounded_channel();
    app.chat.turns.spawn(run_catching_panics(Arc::clone(&app), ask, SseSink::new(sender), leave));
    let mut response = Body::from_stream(sse::stream_body(events, leaves)).into_response();
    let headers = response.headers_mut();
    headers
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("keep-alive"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

// --- demo tokens ---

async fn post_token(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let body = match admit::json_body(&app, &parts.headers, body, false).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    let client =
        origin::network_name(origin::client_ip(&parts.headers, peer.0.ip(), &app.chat.config));
    let left = match app.limits.count_request(Kind::Token, &client, Utc::now().timestamp_millis()) {
        Ok(left) => left,
        Err(used_up) => return refuse_too_many(used_up, "en", &id.0, false),
    };
    match issue_token(&app, &parts.headers, &body) {
        Ok((answer, cookie)) => {
            let mut response = json_response(StatusCode::OK, &answer);
            if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            write_rate_headers(response.headers_mut(), left);
            response
                .headers_mut()
                .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        Err(fault) => {
            let mut response = envelope_refusal(&fault, &id.0, false);
            if let Some(application) =
                body["applicationId"].as_str().filter(|_| fault.status == StatusCode::FORBIDDEN)
            {
                response.extensions_mut().insert(UnknownApplication(application.to_owned()));
            }
            response
        }
    }
}

/// Issues a token for a new or known visitor, and sets the cookie that identifies the visitor's
/// browser.
fn issue_token(
    app: &App,
    headers: &HeaderMap,
    body: &Value,
) -> Result<(Value, Option<String>), Fault> {
    let Some(auth) = &app.chat.config.simple_auth else { return Err(Fault::internal("en")) };
    let application =
        body["applicationId"].as_str().filter(|id| !id.is_empty() && id.chars().count() <= 100);
    let Some(application) = application else {
        return Err(Fault::invalid("applicationId must have 1 to 100 characters."));
    };
    if !app.chat.config.allows(application) {
        return Err(Fault::new(
            StatusCode::FORBIDDEN,
            Category::Auth,
            "AUTHZ_FORBIDDEN",
            Text::NotAllowed.localize("en"),
        ));
    }
    let now = Utc::now().timestamp();
    let new =
        || Visitor { sid: uuid::Uuid::new_v4().to_string(), application: application.to_owned() };
    let visitor = auth.known_visitor(headers, application, now).unwrap_or_else(new);
    let token = auth.issue_token(&visitor, now).ok_or_else(|| Fault::internal("en"))?;
    let cookie = auth.make_cookie(&visitor, headers, app.chat.config.session_ttl.as_secs(), now);
    Ok((json!({"token": token, "expiresInSeconds": auth.ttl_s, "sid": visitor.sid}), cookie))
}

// --- debug ---

/// Refuses a request that may not use the debug routes. Demo tokens do not allow them.
fn refused_debug(app: &App, headers: &HeaderMap, id: &RequestId) -> Option<Response> {
    (!is_privileged(app, headers))
        .then(|| envelope_refusal(&Fault::unauthorized("Please sign in again."), &id.0, false))
}

async fn runs(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    if let Some(refusal) = refused_debug(&app, request.headers(), &id) {
        return refusal;
    }
    let query: Vec<(String, String)> = axum::extract::Query::try_from_uri(request.uri())
        .map(|axum::extract::Query(query)| query)
        .unwrap_or_default();
    let value = |name: &str| {
        query
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    };
    let limit = match value("limit").map(str::parse::<usize>) {
        None => 50,
        Some(Ok(limit)) if (1..=10_000).contains(&limit) => limit,
        Some(_) => {
            return envelope_refusal(
                &Fault::invalid("limit must be a number from 1 to 10000."),
                &id.0,
                false,
            );
        }
    };
    json_response(
        StatusCode::OK,
        &app.chat.runs.list_runs(limit, value("applicationId"), value("sessionId")),
    )
}

fn unknown_run() -> Response {
    json_response(
        StatusCode::NOT_FOUND,
        &json!({"error": {"category": "NOT_FOUND", "code": "RUN_NOT_FOUND", "message": "There is no such run."}}),
    )
}

/// The id of a run in a path. An invalid id is reported only after the token was checked.
type RunId = Result<Path<String>, PathRejection>;

async fn run(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    run: RunId,
    headers: HeaderMap,
) -> Response {
    if let Some(refusal) = refused_debug(&app, &headers, &id) {
        return refusal;
    }
    let Ok(Path(run)) = run else { return unknown_run() };
    app.chat
        .runs
        .get(&run)
        .map_or_else(unknown_run, |(record, _)| json_response(StatusCode::OK, &record))
}

/// Sends the stored message again with the same context, in a new session. The original session
/// does not change, and no pending action in it is decided.
async fn replay(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    run: RunId,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(refusal) = refused_debug(&app, &parts.headers, &id) {
        return refusal;
    }
    let Ok(Path(run)) = run else { return unknown_run() };
    let body = match admit::json_body(&app, &parts.headers, body, true).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    let Some((_, Some((original, client_ip)))) = app.chat.runs.get(&run) else {
        return unknown_run();
    };
    let turn = uuid::Uuid::new_v4().to_string();
    let request = match build_replay_request(&app, original, &body, &turn) {
        Ok(request) => request,
        Err(fault) => return envelope_refusal(&fault, &id.0, true),
    };
    if let Err(fault) = app.check_for_secrets(&body).await {
        return envelope_refusal(&fault, &id.0, true);
    }
    let correlation = app.correlation(&parts.headers);
    let (request_id, began) = (id.0.clone(), Instant::now());
    let ask = AdmittedRequest {
        request,
        turn: turn.clone(),
        visitor: None,
        request_id,
        correlation,
        client_ip,
        debug: true,
        route: CHAT,
        began,
    };
    let leave = CancellationToken::new();
    let leaves = leave.clone().drop_guard();
    let ended = app
        .chat
        .turns
        .spawn(run_catching_panics(Arc::clone(&app), ask, SseSink::default(), leave))
        .await;
    leaves.disarm();
    let Ok(outcome) = ended else { return envelope_refusal(&Fault::internal("en"), &id.0, true) };
    json_response(
        StatusCode::OK,
        &json!({"originalRunId": run, "newRunId": turn, "result": outcome.response}),
    )
}

fn build_replay_request(
    app: &App,
    original: ChatRequest,
    body: &Value,
    turn: &str,
) -> Result<ChatRequest, Fault> {
    if !body.is_object() && !body.is_null() {
        return Err(Fault::invalid("The body must be a JSON object."));
    }
    let mut merged = json!({
        "applicationId": original.application,
        "sessionId": format!("replay-{turn}"),
        "message": original.message,
        "context": original.context,
    });
    for name in ["message", "context"] {
        if let Some(value) = body.get(name) {
            merged[name] = value.clone();
        }
    }
    let request = ChatRequest::parse_body(&merged, &app.chat.config)?;
    request.check_allowed(&app.chat.config)?;
    Ok(request)
}
