//! "Test connection": lists the server's models, tests whether the chosen model answers, and finds
//! out why if it does not. Also lists only the models, for a server that is not configured yet.

use std::sync::Arc;
use std::time::Duration;

use contract::ConnectionProblem;
use engine::ports::{Message, ModelError, ModelErrorKind, ModelEvent, ModelRequest};
use futures::StreamExt;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;

use super::between;
use super::call::{self, Shared};
use super::failure::{self, Failure};

/// The maximum time for the list of models. The test request uses the stream's own timer.
const LIST_TIME: Duration = Duration::from_secs(15);
/// The maximum number of bytes of a list or an answer.
const LIST_BYTES: usize = 4 * 1024 * 1024;
const MAX_MODELS: usize = 500;

/// The result of a successful test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionCheck {
    /// The ids that the server lists. Empty if the server has no list.
    pub models: Vec<String>,
    /// The chosen model's answer to a request for one word.
    pub answer: String,
}

/// Why the model cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    pub problem: ConnectionProblem,
    pub error: ModelError,
    /// The issuer of an untrusted certificate.
    pub issuer: Option<String>,
    /// The models that the server lists, if the chosen model is not listed.
    pub models: Vec<String>,
}

impl Diagnosis {
    /// Makes the diagnosis of a problem that is known before sending: the address, the form of the
    /// key, or the keyring.
    pub fn before_request(error: ModelError) -> Self {
        let problem = match error.kind {
            ModelErrorKind::Unauthorized => ConnectionProblem::KeyUnusable,
            ModelErrorKind::Unavailable | ModelErrorKind::Broken => ConnectionProblem::Tls,
            ModelErrorKind::BadRequest
            | ModelErrorKind::TooLong
            | ModelErrorKind::RateLimited
            | ModelErrorKind::Protocol => ConnectionProblem::Address,
        };
        Self { problem, error, issuer: None, models: Vec::new() }
    }

    /// Makes the diagnosis if the settings do not allow cloud models, so that no request was sent.
    pub fn cloud_models_off(error: ModelError) -> Self {
        Self { problem: ConnectionProblem::CloudModelsOff, ..Self::before_request(error) }
    }
}

impl From<Failure> for Diagnosis {
    fn from(failure: Failure) -> Self {
        Self {
            problem: failure.problem,
            error: failure.error,
            issuer: failure.issuer,
            models: Vec::new(),
        }
    }
}

/// Lists the models, and requests an answer of one word. No request is retried.
pub(crate) async fn check_connection(
    shared: &Shared,
    model: &str,
) -> Result<ConnectionCheck, Diagnosis> {
    let listed = fetch_model_list(shared).await?;
    let request = ModelRequest {
        messages: vec![Message::User { text: "Answer with the single word: ready".into() }],
        ..ModelRequest::default()
    };
    let once = Arc::new(Shared { max_retries: 0, ..shared.clone() });
    let mut events = call::stream_with_diagnosis(once, request);
    let mut answer = String::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(ModelEvent::Text(text)) => answer.push_str(&text),
            Ok(_) => {}
            Err(failure) => return Err(diagnose(failure, listed, &shared.host, model)),
        }
        if answer.len() > 200 {
            break;
        }
    }
    Ok(ConnectionCheck {
        models: listed.unwrap_or_default(),
        answer: answer.trim().chars().take(80).collect(),
    })
}

/// Lists the models, without a request to any of them.
pub(crate) async fn list_models(shared: &Shared) -> Result<Vec<String>, Diagnosis> {
    Ok(fetch_model_list(shared).await?.unwrap_or_default())
}

/// Explains "not found". If the server lists its models, the model is wrong, otherwise the address.
fn diagnose(failure: Failure, listed: Option<Vec<String>>, host: &str, model: &str) -> Diagnosis {
    let mut found = Diagnosis::from(failure);
    let Some(models) = listed else {
        if found.problem == ConnectionProblem::Model {
            found.problem = ConnectionProblem::Api;
            found.error = failure::not_the_protocol();
        }
        return found;
    };
    let refused = matches!(found.problem, ConnectionProblem::Model | ConnectionProblem::Refused);
    if refused && !models.is_empty() && !models.iter().any(|name| name == model) {
        found.problem = ConnectionProblem::Model;
        found.error = failure::unknown_model(host, model);
        found.models = models;
    }
    found
}

/// Returns the server's models, or None if the server has no list. A refused key or a failed
/// connection is an error.
async fn fetch_model_list(shared: &Shared) -> Result<Option<Vec<String>>, Failure> {
    let url = shared.checked_url(shared.wire.list_url(&shared.base)).map_err(Failure::permanent)?;
    let request = shared.http.get(url).timeout(LIST_TIME).headers(shared.wire.headers().clone());
    let response =
        request.send().await.map_err(|error| between::transport_failure(&shared.host, &error))?;
    if matches!(response.status().as_u16(), 400 | 401 | 403 | 407) {
        let failure = call::read_refusal(shared, response).await;
        // Google refuses a key with status 400. Any other 400 only means that there is no list, and
        // a key that may not list the models may still use a model.
        let matters = matches!(
            failure.problem,
            ConnectionProblem::Key | ConnectionProblem::KeyMissing | ConnectionProblem::Proxy
        );
        return if matters { Err(failure) } else { Ok(None) };
    }
    let json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_none_or(|kind| kind.to_str().is_ok_and(|kind| kind.contains("json")));
    if !response.status().is_success() || !json {
        return Ok(None);
    }
    let body = call::read_beginning(response, LIST_BYTES).await;
    let listed = serde_json::from_slice::<Value>(&body)
        .ok()
        .and_then(|list| shared.wire.parse_model_list(&list));
    Ok(listed.map(|models| models.into_iter().take(MAX_MODELS).collect()))
}
