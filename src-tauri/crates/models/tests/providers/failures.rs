//! Tests of failures on the way to a server: which failures are retried, and their messages.

use engine::ports::{Finish, Model, ModelErrorKind};
use kit::model_server::{ModelServer, Reply};
use models::Provider;
use serde_json::json;

use crate::support::{answer, config, provider, question, world, world_after};

fn refusal(status: u16) -> Reply {
    Reply::refusal(status, &json!({"message": "upstream SECRET words"}))
}

/// Returns a refusal that asks for a wait of zero, so that no test waits.
fn at_once(status: u16) -> Reply {
    refusal(status).header("retry-after", "0")
}

#[tokio::test]
async fn temporary_failures_are_retried_before_the_first_output() {
    for status in [408, 409, 429, 500, 502, 503] {
        let server =
            ModelServer::start([at_once(status), at_once(status), Reply::text(["fine"])]).await;
        let got = answer(&provider(&server)).await;
        assert_eq!((got.text.as_str(), got.error), ("fine", None), "{status}");
        server.assert_clean();
    }
}

#[tokio::test]
async fn an_unavailable_server_is_called_three_times() {
    let server = ModelServer::start([at_once(503).repeated()]).await;
    let error = answer(&provider(&server)).await.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Unavailable);
    assert_eq!(server.requests().len(), 3, "one call and two retries");
}

#[tokio::test]
async fn permanent_failures_are_not_retried() {
    let table = [
        (400, ModelErrorKind::BadRequest),
        (401, ModelErrorKind::Unauthorized),
        (403, ModelErrorKind::Unauthorized),
        (404, ModelErrorKind::BadRequest),
    ];
    for (status, kind) in table {
        let server = ModelServer::start([at_once(status).repeated()]).await;
        let error = answer(&provider(&server)).await.error.unwrap();
        assert_eq!((error.kind, server.requests().len()), (kind, 1), "{status}");
        // A server's text about a rejected key is not shown, and other texts are quoted.
        let is_quoted =
            error.message_with_quote().contains("The server said: “upstream SECRET words”");
        assert_eq!(is_quoted, status != 401, "{error:?}");
        assert!(!format!("{error:?}").contains("sk-test"), "{error:?}");
        assert!(error.hint.is_some());
    }
}

#[tokio::test]
async fn a_long_retry_after_time_is_shown_instead_of_awaited() {
    let server = ModelServer::start([refusal(429).header("retry-after", "120")]).await;
    let error = answer(&provider(&server)).await.error.unwrap();
    assert_eq!((error.kind, error.retry_after_ms), (ModelErrorKind::RateLimited, Some(120_000)));
    assert_eq!(error.hint.as_deref(), Some("Try again in 120 seconds."));
}

#[tokio::test]
async fn an_error_object_in_the_stream_is_retried_only_before_the_first_text() {
    let overloaded =
        json!({"error": {"message": "SECRET", "type": "overloaded_error"}}).to_string();
    let server =
        ModelServer::start([Reply::raw(format!("data: {overloaded}\n\n")), Reply::text(["fine"])])
            .await;
    // The first wait is a quarter of a second, because the randomness is fixed at its minimum.
    assert_eq!(answer(&provider(&server)).await.text, "fine");
    server.assert_clean();

    let server =
        ModelServer::start([Reply::text(["half"]).data(&overloaded), Reply::text(["never"])]).await;
    let got = answer(&provider(&server)).await;
    assert_eq!((got.text.as_str(), server.requests().len()), ("half", 1));
    assert!(got.error.unwrap().message_with_quote().contains("The server said: “SECRET”"));
}

#[tokio::test]
async fn a_stream_cut_after_text_is_an_error_and_returns_no_calls() {
    let half = Reply::new().say("half").ask("pace", &json!({"account": 17}));
    for reply in [
        half.clone().cut(),
        Reply::raw("data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n"),
    ] {
        let server = ModelServer::start([reply]).await;
        let got = answer(&provider(&server)).await;
        assert_eq!((got.text.as_str(), got.calls.len(), got.finish), ("half", 0, None));
        assert_eq!(got.error.unwrap().kind, ModelErrorKind::Broken);
        server.assert_clean();
    }
}

#[tokio::test]
async fn a_stream_cut_after_its_finish_reason_is_a_complete_answer() {
    let reply = Reply::raw(
        "data: {\"choices\":[{\"delta\":{\"content\":\"all\"},\"finish_reason\":\"stop\"}]}\n\n",
    )
    .cut();
    let server = ModelServer::start([reply]).await;
    let got = answer(&provider(&server)).await;
    assert_eq!((got.text.as_str(), got.finish, got.error), ("all", Some(Finish::Stop), None));
}

#[tokio::test]
async fn after_a_refusal_of_token_counts_requests_are_sent_without_that_option() {
    let refused = Reply::refusal(400, &json!({"message": "Unknown parameter: stream_options"}));
    let server = ModelServer::start([
        refused,
        Reply::text(["fine"]),
        Reply::text(["again"]),
        Reply::text(["later"]),
        Reply::text(["now"]),
    ])
    .await;
    assert_eq!(answer(&provider(&server)).await.text, "fine");
    // Another provider for the same server, as it is created for a later message.
    assert_eq!(answer(&provider(&server)).await.text, "again");
    // The server may have been updated, so the part is sent again after an hour, even if there were
    // requests without the part in between.
    for (minutes, text) in [(50, "later"), (70, "now")] {
        let after = Provider::new(config(&server.base_url()), world_after(minutes)).unwrap();
        assert_eq!(answer(&after).await.text, text);
    }
    let counted: Vec<bool> =
        server.requests().iter().map(|request| request.get("stream_options").is_some()).collect();
    assert_eq!(
        counted,
        [true, false, false, false, true],
        "what was refused once is not offered again for an hour"
    );
}

#[tokio::test]
async fn a_response_that_is_no_valid_answer_is_a_protocol_error() {
    let page = Reply::raw("<html>Welcome</html>").header("content-type", "text/html");
    for reply in [
        page,
        Reply::json(200, &json!({"hello": 1})),
        Reply::raw("data: {oops\n\n"),
        Reply::raw(b"data: \xff\xfe\n\n".to_vec()),
    ] {
        let server = ModelServer::start([reply]).await;
        assert_eq!(answer(&provider(&server)).await.error.unwrap().kind, ModelErrorKind::Protocol);
    }
}

#[tokio::test]
async fn a_closed_port_is_reported_as_an_unavailable_server() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nobody =
        Provider::new(config_without_retry(&format!("http://127.0.0.1:{port}/v1")), world())
            .unwrap();
    let error = answer(&nobody).await.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Unavailable);
    assert!(error.message.contains("127.0.0.1"), "{error:?}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let moved = Reply::json(308, &json!({})).header("location", "http://127.0.0.1:1/");
    let server = ModelServer::start([moved]).await;
    assert_eq!(answer(&provider(&server)).await.error.unwrap().kind, ModelErrorKind::BadRequest);
}

#[tokio::test]
async fn an_unencrypted_server_at_an_https_address_is_reported_as_such() {
    let server = ModelServer::start([]).await;
    let https = server.base_url().replace("http:", "https:");
    let provider = Provider::new(config_without_retry(&https), world()).unwrap();
    let error = answer(&provider).await.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Unavailable);
    assert!(error.message.contains("does not speak TLS"), "{error:?}");
}

/// A server behind a proxy that inspects traffic: its certificate chain ends at a root that this
/// computer does not trust.
pub async fn untrusted_server() -> (String, tokio::task::JoinHandle<()>) {
    use tokio_rustls::rustls::{ServerConfig, pki_types::PrivateKeyDer};

    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/tls");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let key = PrivateKeyDer::Pkcs8(read("localhost-key.der").into());
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![read("localhost.der").into(), read("root.der").into()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(std::sync::Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}/v1", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            drop(acceptor.accept(socket).await);
        }
    });
    (base, server)
}

#[tokio::test]
async fn the_error_for_an_untrusted_certificate_names_the_issuer() {
    let (base, server) = untrusted_server().await;
    let provider = Provider::new(config_without_retry(&base), world()).unwrap();
    let error = answer(&provider).await.error.unwrap();
    server.abort();
    assert_eq!(error.kind, ModelErrorKind::Unavailable);
    assert!(
        error.message.contains("Example Inspection Root") && error.message.contains("Example Corp"),
        "{error:?}"
    );
    assert!(error.hint.unwrap().contains("SSL_CERT_FILE"));
}

/// The variable that marks the child process, whose certificates are a pipe.
const CHILD: &str = "COUNTERSIGN_TEST_CERTIFICATES";

/// The environment belongs to a process, so the test runs itself again as a child process.
#[tokio::test]
async fn a_certificate_file_that_is_a_pipe_or_a_device_is_reported() {
    if std::env::var_os(CHILD).is_some() {
        let (base, server) = untrusted_server().await;
        let provider = Provider::new(config_without_retry(&base), world()).unwrap();
        let error = answer(&provider).await.error.unwrap();
        server.abort();
        assert!(error.message.contains("SSL_CERT_FILE"), "{error:?}");
        return;
    }
    let folder = std::env::temp_dir().join(format!("certificates-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let pipe = folder.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for named in [pipe.as_path(), std::path::Path::new("/dev/zero")] {
        let run = tokio::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "failures::a_certificate_file_that_is_a_pipe_or_a_device_is_reported",
            ])
            .env("SSL_CERT_FILE", named)
            .env(CHILD, "1")
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(std::time::Duration::from_secs(60), run).await;
        let output = output.expect("it does not wait").unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

fn config_without_retry(base: &str) -> models::Config {
    models::Config { max_retries: 0, ..config(base) }
}

#[tokio::test]
async fn the_connection_test_lists_models_and_requests_a_short_answer() {
    let server = ModelServer::start([Reply::text(["ready"])]).await;
    let checked = provider(&server).check().await.unwrap();
    assert_eq!((checked.models, checked.answer.as_str()), (vec!["scripted".to_owned()], "ready"));
    assert_eq!(server.seen()[0].headers["authorization"], "Bearer sk-test-SECRET");
    server.push(refusal(401));
    assert_eq!(
        provider(&server).check().await.unwrap_err().error.kind,
        ModelErrorKind::Unauthorized
    );
}

#[tokio::test]
async fn a_providers_label_names_model_and_host() {
    let server = ModelServer::start([]).await;
    let provider = provider(&server);
    assert!(provider.label().starts_with("scripted at 127.0.0.1:"));
    assert!(!provider.is_local(), "an address does not say what runs there");
    drop(provider.stream(question()));
    assert!(server.requests().is_empty(), "nothing is sent before someone listens");
}
