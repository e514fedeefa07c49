//! The login that real shops have, in small: tokens for one client (OAuth client credentials), and at the tools' address a look at the
//! token, at whose application asks, and that a session stays with the application that opened it. Knows no tools.

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

/// Tokens and sessions that are remembered; the oldest go first.
const MOST: usize = 20_000;
const APPLICATION: &str = "application-id";
const SESSION: &str = "mcp-session-id";

/// Who may log in.
#[derive(Clone)]
pub struct Login {
    pub id: String,
    pub secret: String,
    pub scope: String,
    /// How long a token lasts.
    pub lasts: Duration,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("id", &self.id).field("scope", &self.scope).finish_non_exhaustive()
    }
}

/// What has been given out, by name, in the order in which it was.
struct Given<T> {
    by_name: HashMap<String, T>,
    order: VecDeque<String>,
}

impl<T> Default for Given<T> {
    fn default() -> Self {
        Self { by_name: HashMap::new(), order: VecDeque::new() }
    }
}

impl<T> Given<T> {
    fn add(&mut self, name: String, value: T) {
        if self.order.len() >= MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_name.remove(&oldest);
        }
        self.order.push_back(name.clone());
        self.by_name.insert(name, value);
    }
}

struct Door {
    login: Login,
    /// When each token ends.
    tokens: Mutex<Given<Instant>>,
    /// The application that each session belongs to.
    sessions: Mutex<Given<String>>,
}

/// The tools behind a login, and the address that gives tokens.
pub(crate) fn around(tools: Router, login: Login) -> Router {
    let door = Arc::new(Door { login, tokens: Mutex::default(), sessions: Mutex::default() });
    let tools = tools.layer(middleware::from_fn_with_state(Arc::clone(&door), look));
    tools.merge(Router::new().route("/oauth/token", post(token)).with_state(door))
}

fn refused(status: StatusCode, error: &str) -> Response {
    (status, Json(json!({"error": error}))).into_response()
}

/// A token for the client that shows its secret.
async fn token(State(door): State<Arc<Door>>, form: Result<Form<HashMap<String, String>>, FormRejection>) -> Response {
    let Ok(Form(form)) = form else { return refused(StatusCode::BAD_REQUEST, "invalid_request") };
    let given = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    if given("grant_type") != "client_credentials" {
        return refused(StatusCode::BAD_REQUEST, "unsupported_grant_type");
    }
    let login = &door.login;
    if given("client_id") != login.id || !bool::from(given("client_secret").as_bytes().ct_eq(login.secret.as_bytes())) {
        return refused(StatusCode::UNAUTHORIZED, "invalid_client");
    }
    if given("scope") != login.scope {
        return refused(StatusCode::BAD_REQUEST, "invalid_scope");
    }
    let mut random = [0; 32];
    if getrandom::fill(&mut random).is_err() {
        return refused(StatusCode::INTERNAL_SERVER_ERROR, "server_error");
    }
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    door.tokens.lock().unwrap_or_else(PoisonError::into_inner).add(token.clone(), Instant::now() + login.lasts);
    let answer = json!({"access_token": token, "token_type": "Bearer", "expires_in": login.lasts.as_secs(), "scope": login.scope});
    ([(header::CACHE_CONTROL, "no-store")], Json::<Value>(answer)).into_response()
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| std::str::from_utf8(value.as_bytes()).ok()).map(str::to_owned)
}

/// Lets through who has a token that lasts and says for whom it asks, to sessions of that application.
async fn look(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let (bearer, application, asked) =
        (text(request.headers(), header::AUTHORIZATION.as_str()), text(request.headers(), APPLICATION), text(request.headers(), SESSION));
    let token = bearer.and_then(|value| value.strip_prefix("Bearer ").map(str::to_owned)).unwrap_or_default();
    let lasts = door.tokens.lock().unwrap_or_else(PoisonError::into_inner).by_name.get(&token).is_some_and(|ends| *ends > Instant::now());
    if !lasts {
        let mut response = refused(StatusCode::UNAUTHORIZED, "invalid_token");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer error=\"invalid_token\""));
        return response;
    }
    let Some(application) = application.filter(|id| !id.trim().is_empty()) else {
        return refused(StatusCode::BAD_REQUEST, "application-id is missing");
    };
    let foreign = |sessions: &Given<String>, session: &str| sessions.by_name.get(session).is_some_and(|owner| *owner != application);
    if asked.is_some_and(|session| foreign(&door.sessions.lock().unwrap_or_else(PoisonError::into_inner), &session)) {
        return refused(StatusCode::NOT_FOUND, "no such session");
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
    fn the_oldest_go_first() {
        let mut given = Given::default();
        (0..=MOST).for_each(|n| given.add(n.to_string(), ()));
        assert!(given.by_name.len() == MOST && !given.by_name.contains_key("0"));
    }
}
