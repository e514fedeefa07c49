//! "Test connection": which models the server lists, and whether the chosen one answers.

use std::sync::Arc;
use std::time::Duration;

use engine::ports::{Message, ModelError, ModelEvent, ModelRequest};
use futures::StreamExt;
use reqwest::Url;
use reqwest::header::AUTHORIZATION;
use serde::Deserialize;

use super::failure;
use super::stream::{self, Shared};

/// How long the list of models may take; the question itself has the stream's own timer.
const LIST_TIME: Duration = Duration::from_secs(15);
/// Longer lists and answers are of no use here.
const LIST_BYTES: u64 = 4 * 1024 * 1024;
const MAX_MODELS: usize = 500;

/// What a test found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Ids as the server lists them; empty when it lists none.
    pub models: Vec<String>,
    /// The chosen model's answer to a request for one word.
    pub answer: String,
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    data: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    id: String,
}

pub(super) async fn run(shared: &Arc<Shared>, base: &Url) -> Result<Checked, ModelError> {
    let models = list(shared, base).await?;
    let request = ModelRequest { messages: vec![Message::User { text: "Answer with the single word: ready".into() }], ..ModelRequest::default() };
    let once = Shared { max_retries: 0, ..shared.as_ref().clone() };
    let mut events = stream::start(Arc::new(once), request);
    let mut answer = String::new();
    while let Some(event) = events.next().await {
        if let ModelEvent::Text(text) = event? {
            answer.push_str(&text);
        }
        if answer.len() > 200 {
            break;
        }
    }
    Ok(Checked { models, answer: answer.trim().chars().take(80).collect() })
}

/// The server's models. Servers without a list are fine; a refused key or no connection is not.
async fn list(shared: &Shared, base: &Url) -> Result<Vec<String>, ModelError> {
    let mut url = base.clone();
    url.set_path(&format!("{}/models", base.path().trim_end_matches('/')));
    let mut request = shared.http.get(url).timeout(LIST_TIME);
    if let Some(key) = &shared.key {
        request = request.header(AUTHORIZATION, key.clone());
    }
    let response = request.send().await.map_err(|error| failure::of_transport(&shared.host, &error).error)?;
    if matches!(response.status().as_u16(), 401 | 403) {
        return Err(stream::refused(shared, response).await.error);
    }
    if !response.status().is_success() || response.content_length().is_some_and(|n| n > LIST_BYTES) {
        return Ok(Vec::new());
    }
    let list: List = response.json().await.unwrap_or(List { data: Vec::new() });
    Ok(list.data.into_iter().map(|m| m.id).filter(|id| !id.is_empty()).take(MAX_MODELS).collect())
}
