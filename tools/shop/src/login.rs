//! A small version of a real shop's login, with tokens for one client (OAuth client credentials).
//! Requests to the tools need a token and the name of the calling application, and a session
//! belongs to the application that opened it. Knows no tools.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    Form, Json, Router,
    extract::{Request, State, rejection::FormRejection},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;

/// The highest numbers of tokens and sessions that are kept. The oldest are dropped first.
const MAX_TOKENS: usize = 20_000;
const APPLICATION: &str = "application-id";
const SESSION: &str = "mcp-session-id";

/// The client that may log in, and the scope of its tokens.
#[derive(Clone)]
pub struct Login {
    pub id: String,
    pub secret: String,
    pub scope: String,
    /// How long a token is valid.
    pub lasts: Duration,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login")
            .field("id", &self.id)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// Issued tokens or sessions by name, in the order of issue.
struct IssuedTokens<T> {
    by_name: HashMap<String, T>,
    order: VecDeque<String>,
}

impl<T> Default for IssuedTokens<T> {
    fn default() -> Self {
        Self { by_name: HashMap::new(), order: VecDeque::new() }
    }
}

impl<T> IssuedTokens<T> {
    fn add(&mut self, name: String, value: T) {
        if self.order.len() >= MAX_TOKENS
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_name.remove(&oldest);
        }
        self.order.push_back(name.clone());
        self.by_name.insert(name, value);
    }
}

struct LoginState {
    login: Login,
    /// The expiry of each token.
    tokens: Mutex<IssuedTokens<Instant>>,
    /// The application that each session belongs to.
    sessions: Mutex<IssuedTokens<String>>,
}

/// Adds the login to the tools, and the token endpoint.
pub(crate) fn protect(tools: Router, login: Login) -> Router {
    let door = Arc::new(LoginState { login, tokens: Mutex::default(), sessions: Mutex::default() });
    let tools = tools.layer(middleware::from_fn_with_state(Arc::clone(&door), check_token));
    tools.merge(Router::new().route("/oauth/token", post(token)).with_state(door))
}

fn refusal(status: StatusCode, error: &str) -> Response {
    (status, Json(json!({"error": error}))).into_response()
}

/// Issues a token to a client that presents its secret.
async fn token(
    State(door): State<Arc<LoginState>>,
    form: Result<Form<HashMap<String, String>>, FormRejection>,
) -> Response {
    let Ok(Form(form)) = form else { return refusal(StatusCode::BAD_REQUEST, "invalid_request") };
    let given = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    if given("grant_type") != "client_credentials" {
        return refusal(StatusCode::BAD_REQUEST, "unsupported_grant_type");
    }
    let login = &door.login;
    if given("client_id") != login.id
        || !bool::from(given("client_secret").as_bytes().ct_eq(login.secret.as_bytes()))
    {
        return refusal(StatusCode::UNAUTHORIZED, "invalid_client");
    }
    if given("scope") != login.scope {
        return refusal(StatusCode::BAD_REQUEST, "invalid_scope");
    }
    let mut random = [0; 32];
    if getrandom::fill(&mut random).is_err() {
        return refusal(StatusCode::INTERNAL_SERVER_ERROR, "server_error");
    }
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    door.tokens
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .add(token.clone(), Instant::now() + login.lasts);
    let answer = json!({"access_token": token, "token_type": "Bearer", "expires_in": login.lasts.as_secs(), "scope": login.scope});
    ([(header::CACHE_CONTROL, "no-store")], Json::<Value>(answer)).into_response()
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers
        .get(name)
        .and_then(|value| std::str::from_utf8(value.as_bytes()).ok())
        .map(str::to_owned)
}

/// Passes on a request with a valid token and an application's name. The request's session must
/// belong to that application.
async fn check_token(
    State(door): State<Arc<LoginState>>,
    request: Request,
    next: Next,
) -> Response {
    let (bearer, application, asked) = (
        text(request.headers(), header::AUTHORIZATION.as_str()),
        text(request.headers(), APPLICATION),
        text(request.headers(), SESSION),
    );
    let token = bearer
        .and_then(|value| value.strip_prefix("Bearer ").map(str::to_owned))
        .unwrap_or_default();
    let lasts = door
        .tokens
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .by_name
        .get(&token)
        .is_some_and(|ends| *ends > Instant::now());
    if !lasts {
        let mut response = refusal(StatusCode::UNAUTHORIZED, "invalid_token");
        response.headers_mut().insert(
            header::WWW_AUTHENTICATE,
            header::HeaderValue::from_static("Bearer error=\"invalid_token\""),
        );
        return response;
    }
    let Some(application) = application.filter(|id| !id.trim().is_empty()) else {
        return refusal(StatusCode::BAD_REQUEST, "application-id is missing");
    };
    let foreign = |sessions: &IssuedTokens<String>, session: &str| {
        sessions.by_name.get(session).is_some_and(|owner| *owner != application)
    };
    if asked.is_some_and(|session| {
        foreign(&door.sessions.lock().unwrap_or_else(PoisonError::into_inner), &session)
    }) {
        return refusal(StatusCode::NOT_FOUND, "no such session");
    }
    let response = next.run(request).await;
    if let Some(opened) = response.headers().get(SESSION).and_then(|value| value.to_str().ok()) {
        let mut sessions = door.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if !sessions.by_name.contains_key(opened) {
            sessions.add(opened.to_owned(), application);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_tokens_are_dropped_first() {
        let mut given = IssuedTokens::default();
        (0..=MAX_TOKENS).for_each(|n| given.add(n.to_string(), ()));
        assert!(given.by_name.len() == MAX_TOKENS && !given.by_name.contains_key("0"));
    }
}
