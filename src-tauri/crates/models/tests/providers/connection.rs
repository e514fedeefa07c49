//! Tests that "Test connection" names the problem, and that servers on this computer are found.

use contract::ConnectionProblem as Problem;
use kit::model_server::{ModelServer, Reply};
use models::{Api, Config, Diagnosis, Provider, local};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::failures::untrusted_server;
use crate::support::{config, on, world};

async fn problem_at(base: &str) -> Diagnosis {
    Provider::new(config(base), world()).unwrap().check().await.unwrap_err()
}

fn closed_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[tokio::test]
async fn a_connection_test_names_dns_network_and_certificate_problems() {
    // This label is longer than names may be, so no resolver is used.
    let nowhere = problem_at(&format!("http://{}.example/v1", "x".repeat(70))).await;
    assert_eq!(nowhere.problem, Problem::Dns, "{nowhere:?}");
    assert_eq!(
        problem_at(&format!("http://127.0.0.1:{}/v1", closed_port())).await.problem,
        Problem::NoConnection
    );
    let (base, task) = untrusted_server().await;
    let untrusted = problem_at(&base).await;
    task.abort();
    assert_eq!(untrusted.problem, Problem::TlsIssuer);
    assert!(untrusted.issuer.unwrap().contains("Example Inspection Root"));
    let server = ModelServer::start([]).await;
    assert_eq!(
        problem_at(&server.base_url().replace("http:", "https:")).await.problem,
        Problem::Tls
    );
    assert_eq!(
        problem_at(&server.base_url().replace("/v1", "/nothing")).await.problem,
        Problem::Api
    );
}

#[tokio::test]
async fn a_connection_test_names_the_cause_of_a_servers_refusal() {
    let google_key = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}});
    let table = [
        (Api::Chat, Reply::refusal(401, &json!({})), Problem::Key),
        (
            Api::Anthropic,
            Reply::refusal(401, &json!({"type": "authentication_error"})),
            Problem::Key,
        ),
        (Api::Gemini, Reply::json(400, &google_key), Problem::Key),
        (
            Api::Responses,
            Reply::refusal(429, &json!({"code": "insufficient_quota"})),
            Problem::Limit,
        ),
        (Api::Chat, Reply::refusal(407, &json!({})), Problem::Proxy),
        (
            Api::Anthropic,
            Reply::refusal(529, &json!({"type": "overloaded_error"})),
            Problem::Server,
        ),
        (
            Api::Chat,
            Reply::raw("<html>Welcome</html>").header("content-type", "text/html"),
            Problem::Api,
        ),
    ];
    for (api, reply, problem) in table {
        let server = ModelServer::start([reply]).await;
        let found = on(api, &server, "scripted").check().await.unwrap_err();
        assert_eq!(found.problem, problem, "{api:?}");
        assert!(found.error.hint.is_some(), "{api:?} says what to do");
    }
}

/// Starts a server that gives every request the same answer. Returns its base URL and its task.
async fn answering(status: u16, body: &'static str) -> (String, tokio::task::JoinHandle<()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = Vec::new();
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                if socket.read_buf(&mut request).await.unwrap_or(0) == 0 {
                    break;
                }
            }
            let answer = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = socket.write_all(answer.as_bytes()).await;
        }
    });
    (base, task)
}

#[tokio::test]
async fn a_connection_test_distinguishes_missing_rejected_and_restricted_keys() {
    let (base, task) = answering(401, "{}").await;
    let with_key = Provider::new(config(&base), world()).unwrap();
    let without = Provider::new(Config { api_key: None, ..config(&base) }, world()).unwrap();
    for (provider, problem) in [(&with_key, Problem::Key), (&without, Problem::KeyMissing)] {
        assert_eq!(provider.list_models().await.unwrap_err().problem, problem);
        assert_eq!(provider.check().await.unwrap_err().problem, problem);
    }
    task.abort();
    let (base, task) = answering(403, r#"{"error": {"type": "permission_error"}}"#).await;
    let restricted = Provider::new(config(&base), world()).unwrap();
    assert_eq!(
        restricted.list_models().await.unwrap(),
        Vec::<String>::new(),
        "a key that may not list the models may still use one"
    );
    assert_eq!(restricted.check().await.unwrap_err().problem, Problem::KeyPermission);
    task.abort();
}

#[tokio::test]
async fn listing_models_sends_no_request_to_a_model() {
    for api in Api::ALL {
        let server = ModelServer::start([]).await;
        let listed = on(api, &server, "").list_models().await.unwrap();
        assert_eq!(listed, ["scripted"], "{api:?}");
        assert!(server.requests().is_empty(), "{api:?}");
    }
}

#[tokio::test]
async fn a_connection_test_with_a_missing_model_lists_the_available_models() {
    for api in Api::ALL {
        let server =
            ModelServer::start([Reply::refusal(404, &json!({"type": "not_found_error"}))]).await;
        let found = on(api, &server, "gpt-6-typo").check().await.unwrap_err();
        assert_eq!(
            (found.problem, found.models),
            (Problem::Model, vec!["scripted".to_owned()]),
            "{api:?}"
        );
        assert!(found.error.message.contains("gpt-6-typo"));
    }
}

#[tokio::test]
async fn model_servers_on_this_machine_are_found_with_their_models() {
    let server = ModelServer::start([]).await;
    let found = local::find_servers(&[("Ollama", server.port()), ("vLLM", closed_port())]).await;
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].name.as_str(), found[0].models.as_slice()),
        ("Ollama", ["scripted".to_owned()].as_slice())
    );
    let provider =
        Provider::new(Config { base_url: found[0].base_url.clone(), ..config("") }, world());
    assert!(provider.is_ok());
}
