//! The embedding endpoints of the providers: how a request is written and its answer is read.
//! Retries and connections are those of the shared transport.

use engine::ports::{Embedded, ModelError, TextRole};
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    http::{call::Shared, failure, once},
    wire::join_url,
};

/// The endpoints for embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// `/embeddings` of OpenAI, which many servers support.
    OpenAi,
    /// `batchEmbedContents` of Gemini.
    Gemini,
    /// The provider has no such endpoint.
    Missing,
}

/// Requests the vectors of texts.
pub(crate) async fn embed(
    shared: &Shared,
    endpoint: Endpoint,
    model: &str,
    texts: &[&str],
    role: TextRole,
) -> Result<Embedded, ModelError> {
    let (url, body) = match endpoint {
        Endpoint::OpenAi => {
            let body = json!({"model": model, "input": texts, "encoding_format": "float"});
            (join_url(&shared.base, "embeddings"), body)
        }
        Endpoint::Gemini => gemini_request(&shared.base, model, texts, role),
        Endpoint::Missing => return Err(failure::no_embeddings()),
    };
    let answer = once::post(shared, url, &body).await?;
    let read = match endpoint {
        Endpoint::Gemini => read_gemini(&answer),
        Endpoint::OpenAi | Endpoint::Missing => read_openai(&answer),
    };
    read.ok_or_else(failure::not_the_protocol)
}

fn gemini_request(base: &Url, model: &str, texts: &[&str], role: TextRole) -> (Url, Value) {
    let model = if model.contains('/') { model.to_owned() } else { format!("models/{model}") };
    let task = match role {
        TextRole::Memory => "RETRIEVAL_DOCUMENT",
        TextRole::Question => "RETRIEVAL_QUERY",
    };
    let one = |text: &&str| json!({"model": model, "content": {"parts": [{"text": text}]}, "taskType": task});
    let requests: Vec<Value> = texts.iter().map(one).collect();
    let url = join_url(base, &format!("{model}:batchEmbedContents"));
    (url, json!({"requests": requests}))
}

#[derive(Deserialize)]
struct OpenAiAnswer {
    data: Vec<OpenAiVector>,
    #[serde(default)]
    usage: Option<OpenAiUsage>,
}

#[derive(Deserialize)]
struct OpenAiVector {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Default, Deserialize)]
struct OpenAiUsage {
    #[serde(default)]
    prompt_tokens: u64,
}

/// Reads OpenAI's answer. The vectors may be in another order than the texts.
fn read_openai(answer: &[u8]) -> Option<Embedded> {
    let OpenAiAnswer { data, usage } = serde_json::from_slice(answer).ok()?;
    let mut placed: Vec<(usize, Vec<f32>)> = data
        .into_iter()
        .enumerate()
        .map(|(at, one)| (one.index.unwrap_or(at), one.embedding))
        .collect();
    placed.sort_by_key(|(place, _)| *place);
    let is_whole = placed.iter().enumerate().all(|(at, (place, _))| at == *place);
    let vectors = placed.into_iter().map(|(_, vector)| vector).collect();
    let input_tokens = usage.unwrap_or_default().prompt_tokens;
    is_whole.then_some(Embedded { vectors, input_tokens })
}

#[derive(Deserialize)]
struct GeminiAnswer {
    embeddings: Vec<GeminiVector>,
}

#[derive(Deserialize)]
struct GeminiVector {
    values: Vec<f32>,
}

/// Reads Gemini's answer, which contains no token count.
fn read_gemini(answer: &[u8]) -> Option<Embedded> {
    let GeminiAnswer { embeddings } = serde_json::from_slice(answer).ok()?;
    let vectors = embeddings.into_iter().map(|one| one.values).collect();
    Some(Embedded { vectors, input_tokens: 0 })
}
