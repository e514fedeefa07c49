//! Tests of the embedding endpoints: the requests to each provider, reading of answers, retries and
//! errors.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    extract::Request,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use engine::ports::{ModelErrorKind, TextRole};
use models::{Api, Config, Provider};
use serde_json::{Value, json};

use crate::support::{config, world};

/// A request as it arrived.
#[derive(Clone, Debug)]
struct Arrived {
    path: String,
    key: String,
    body: Value,
}

/// A server with prepared answers, and all requests so far.
struct Server {
    address: String,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

impl Server {
    async fn start(answers: Vec<(u16, String)>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let arrived = Arc::<Mutex<Vec<Arrived>>>::default();
        let (seen, answers) = (Arc::clone(&arrived), Arc::new(Mutex::new(answers)));
        let handle = move |request: Request| {
            let (seen, answers) = (Arc::clone(&seen), Arc::clone(&answers));
            async move { answer(request, &seen, &answers).await }
        };
        let router = Router::new().fallback(handle);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, arrived }
    }

    fn provider(&self, api: Api) -> Provider {
        let base_url = format!("{}/v1", self.address);
        let config = Config { api, model: "embedder".into(), ..config(&base_url) };
        Provider::new(config, world()).unwrap()
    }

    fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().unwrap().clone()
    }
}

async fn answer(
    request: Request,
    seen: &Mutex<Vec<Arrived>>,
    answers: &Mutex<Vec<(u16, String)>>,
) -> Response {
    let (parts, body) = request.into_parts();
    let header = |name: &str| {
        let value = parts.headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let key = format!("{}{}", header("authorization"), header("x-goog-api-key"));
    let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let body = serde_json::from_slice(&bytes).unwrap();
    seen.lock().unwrap().push(Arrived { path: parts.uri.path().to_owned(), key, body });
    let (status, text) = answers.lock().unwrap().remove(0);
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::from_u16(status).unwrap(), kind, text).into_response()
}

fn ok(body: &Value) -> (u16, String) {
    (200, body.to_string())
}

#[tokio::test]
async fn openai_embeddings_are_matched_to_their_texts_by_index() {
    let body = json!({
        "data": [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.5]}],
        "usage": {"prompt_tokens": 7, "total_tokens": 7},
    });
    for api in [Api::Chat, Api::Responses] {
        let server = Server::start(vec![ok(&body)]).await;
        let made = server.provider(api).embed(&["one", "två"], TextRole::Memory).await.unwrap();
        assert_eq!(made.vectors, [[1.0, 0.5], [0.0, 1.0]]);
        assert_eq!(made.input_tokens, 7);
        let arrived = server.arrived();
        assert_eq!(arrived[0].path, "/v1/embeddings");
        assert_eq!(arrived[0].key, "Bearer sk-test-SECRET");
        assert_eq!(
            arrived[0].body,
            json!({"model": "embedder", "input": ["one", "två"], "encoding_format": "float"})
        );
    }
}

#[tokio::test]
async fn gemini_embeddings_are_requested_in_one_batch_with_the_role_of_the_texts() {
    let body = json!({"embeddings": [{"values": [1.0]}, {"values": [2.0]}]});
    let server = Server::start(vec![ok(&body), ok(&body)]).await;
    let provider = server.provider(Api::Gemini);
    let made = provider.embed(&["one", "two"], TextRole::Memory).await.unwrap();
    assert_eq!((made.vectors, made.input_tokens), (vec![vec![1.0], vec![2.0]], 0));
    provider.embed(&["one"], TextRole::Question).await.unwrap();
    let arrived = server.arrived();
    assert_eq!(arrived[0].path, "/v1/models/embedder:batchEmbedContents");
    assert_eq!(arrived[0].key, "sk-test-SECRET");
    let first = &arrived[0].body["requests"][0];
    assert_eq!(first["model"], "models/embedder");
    assert_eq!(first["content"], json!({"parts": [{"text": "one"}]}));
    assert_eq!(first["taskType"], "RETRIEVAL_DOCUMENT");
    assert_eq!(arrived[1].body["requests"][0]["taskType"], "RETRIEVAL_QUERY");
}

#[tokio::test]
async fn embedding_is_retried_after_a_temporary_failure_but_not_after_a_refusal() {
    let body = json!({"data": [{"embedding": [1.0]}]});
    let busy = || (503, "{}".to_owned());
    let server = Server::start(vec![busy(), ok(&body)]).await;
    let made = server.provider(Api::Chat).embed(&["one"], TextRole::Memory).await.unwrap();
    assert_eq!((made.vectors.len(), made.input_tokens), (1, 0));
    assert_eq!(server.arrived().len(), 2);

    let refused = (401, json!({"error": {"message": "bad key"}}).to_string());
    let server = Server::start(vec![refused]).await;
    let error = server.provider(Api::Chat).embed(&["one"], TextRole::Memory).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Unauthorized);
    assert_eq!(server.arrived().len(), 1);
    assert!(!format!("{error:?}").contains("sk-test"), "{error:?}");
}

#[tokio::test]
async fn a_malformed_embedding_response_is_a_protocol_error() {
    for body in [
        "",
        "[]",
        "{\"data\": [{\"embedding\": \"AAAA\"}]}",
        "{\"data\": [{\"index\": 1, \"embedding\": [1.0]}]}",
        "{\"data\": [{\"index\": 0, \"embedding\": [1.0]}, {\"index\": 0, \"embedding\": [1.0]}]}",
        "<html>",
    ] {
        let server = Server::start(vec![(200, body.into())]).await;
        let error = server.provider(Api::Chat).embed(&["one"], TextRole::Memory).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Protocol, "{body}");
    }
    let server = Server::start(vec![]).await;
    let error =
        server.provider(Api::Anthropic).embed(&["one"], TextRole::Memory).await.unwrap_err();
    assert!(error.message.as_str().contains("no embedding models"), "{error:?}");
    assert!(server.arrived().is_empty(), "nothing is sent");
}
