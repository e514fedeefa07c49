//! "Test connection" names the problem, and servers on this computer are found.

use contract::ConnectionProblem as Problem;
use kit::model_server::{ModelServer, Reply};
use models::{Api, Config, Diagnosis, Provider, local};
use serde_json::json;

use crate::failures::untrusted_server;
use crate::support::{config, on, world};

async fn problem_at(base: &str) -> Diagnosis {
    Provider::new(config(base), world()).unwrap().check().await.unwrap_err()
}

fn closed_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[tokio::test]
async fn what_stands_between_here_and_a_server() {
    // A label longer than names may have, so no resolver is used.
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
async fn what_a_server_does_not_like() {
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

#[tokio::test]
async fn a_model_that_is_not_there_is_told_with_those_that_are() {
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
async fn servers_on_this_machine_are_found_by_what_they_say() {
    let server = ModelServer::start([]).await;
    let found = local::find(&[("Ollama", server.port()), ("vLLM", closed_port())]).await;
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].name.as_str(), found[0].models.as_slice()),
        ("Ollama", ["scripted".to_owned()].as_slice())
    );
    let provider =
        Provider::new(Config { base_url: found[0].base_url.clone(), ..config("") }, world());
    assert!(provider.is_ok());
}
