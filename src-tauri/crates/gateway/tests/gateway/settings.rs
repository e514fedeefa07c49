//! Tests of the sources of settings: the environment, a named file, and flags.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use kit::model_server::Reply;
use reqwest::StatusCode;
use serde_json::json;

use crate::world::{Gateway, message_of, model, not_started, refusal_to_start};

/// Returns the gateway's command without an address, in its own folder that contains a file.
fn with_file(name: &str, text: &str) -> (tempfile::TempDir, Command) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    let mut command = Gateway::command(&folder);
    command.args(["--no-token"]).current_dir(&folder).env("PORT", "0");
    (folder, command)
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_20_variables_of_the_env_file_do_not_override_the_environment() {
    let lines = "# what a shop sets\n\nexport DEBUG=\"true\"\n  ALLOWED_APPLICATION_IDS = 'shop-web'\nMAX_MESSAGE_CHARS=10\nPORT=none\n";
    let (folder, mut command) = with_file("shop.env", lines);
    command.args(["--env-file", "shop.env"]).env("MAX_MESSAGE_CHARS", "20");
    let gateway = Gateway::run(folder, command);
    let asked = async |application: &str, message: &str| {
        let mut body = message_of("s", message);
        body["applicationId"] = json!(application);
        gateway.post("/v1/chat", &body).await
    };
    let (status, answer) = asked("shop-web", &"x".repeat(20)).await;
    assert!(status == StatusCode::OK && answer["debug"].is_object(), "{status}: {answer}");
    assert_eq!(
        asked("shop-web", &"x".repeat(21)).await.0,
        StatusCode::BAD_REQUEST,
        "what is set stays"
    );
    assert_eq!(asked("stranger", "hello").await.0, StatusCode::FORBIDDEN);
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_20_an_env_file_is_read_only_if_it_is_named() {
    // Files with secrets are read only if they are named, wherever the program is started.
    let (folder, command) = with_file(".env", "AGENT_MAX_ROUNDS=many\nDEBUG=1\n");
    let gateway = Gateway::run(folder, command);
    assert!(gateway.say("s", "hello").await.get("debug").is_none());
    for (file, said) in [
        (".env", "AGENT_MAX_ROUNDS"),
        ("missing.env", "missing.env"),
        ("broken.env", "Line 2 of broken.env"),
    ] {
        let (folder, mut command) = with_file(".env", "AGENT_MAX_ROUNDS=many\n");
        std::fs::write(folder.path().join("broken.env"), "DEBUG=1\nhidden-7c1\n").unwrap();
        command.args(["--env-file", file]);
        let (code, err) = not_started(command);
        assert!(
            code == Some(2) && err.contains(said) && !err.contains("hidden-7c1"),
            "{file}: {err}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_20_the_port_variable_is_used_unless_an_address_is_given() {
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = held.local_addr().unwrap().port().to_string();
    let (_folder, mut command) = with_file("unused", "");
    command.env("PORT", &port);
    let (code, err) = not_started(command);
    assert!(
        code == Some(1) && err.contains(&format!("127.0.0.1:{port}")),
        "it wants the port that is taken: {err}"
    );
    let (folder, mut command) = with_file("unused", "");
    command.env("PORT", &port).args(["--listen", "127.0.0.1:0"]);
    let gateway = Gateway::run(folder, command);
    assert_eq!(gateway.get("/v1/health").await.status(), StatusCode::OK, "the flag counts");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_20_a_comment_after_a_value_in_the_env_file_is_ignored() {
    let lines = "MAX_MESSAGE_CHARS=10 # ten are enough\nALLOWED_APPLICATION_IDS=\"shop-web\"\t# the one shop\nDEBUG='true'\nCORS_ORIGINS= # none\n";
    let (folder, mut command) = with_file("shop.env", lines);
    command.args(["--env-file", "shop.env"]);
    let gateway = Gateway::run(folder, command);
    assert!(gateway.say("s", "hello").await["debug"].is_object());
    assert_eq!(
        gateway.post("/v1/chat", &message_of("s", "hello there")).await.0,
        StatusCode::BAD_REQUEST
    );
    let preflight = gateway
        .request(reqwest::Method::OPTIONS, "/v1/chat")
        .header("origin", "http://localhost:5173")
        .send()
        .await
        .unwrap();
    assert_eq!(preflight.status(), StatusCode::FORBIDDEN, "no page is listed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_variable_that_is_not_utf_8_is_ignored() {
    let (folder, mut command) = with_file("unused", "");
    command.env("ODD", OsStr::from_bytes(b"\xff")).env(OsStr::from_bytes(b"ODD_\xff"), "1");
    let gateway = Gateway::run(folder, command);
    gateway.say("s", "hello").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_log_filter_is_reported_at_startup() {
    let err = refusal_to_start(&[], &[("COUNTERSIGN_LOG", "gateway=loud")]);
    assert!(err.contains("COUNTERSIGN_LOG"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setting_that_prevents_answers_is_reported_at_startup() {
    for args in [&["--no-token"][..], &["--no-token", "--json"]] {
        let gateway = Gateway::start(args, &[("AGENT_ENABLED", "off")]).await;
        let told = || gateway.log().contains("switched off");
        for _ in 0..100 {
            if told() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert!(told(), "{}", gateway.log());
    }
    // Without the shop's tools, the gateway could not answer any message, so it does not start.
    let folder = tempfile::tempdir().unwrap();
    let faulty = folder.path().join("packs/shop");
    std::fs::create_dir_all(&faulty).unwrap();
    std::fs::write(faulty.join("pack.json"), "{}").unwrap();
    for (packs, said) in [
        ("/nonexistent", "No packs were found"),
        (faulty.parent().unwrap().to_str().unwrap(), "There are no shop tools"),
    ] {
        let mut command = Gateway::command(&folder);
        command.args(["--no-token", "--listen", "127.0.0.1:0"]).env("COUNTERSIGN_TOOLS_DIR", packs);
        let (code, err) = not_started(command);
        assert!(code == Some(1) && err.contains(said), "{packs}: {code:?} {err}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_in_the_settings_file_is_reported_to_the_operator_only() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("data")).unwrap();
    std::fs::write(
        folder.path().join("data/countersign.toml"),
        "[model]\nprovider = \"anthropc\"\n",
    )
    .unwrap();
    let server = model([Reply::text(["I should not answer."])]).await;
    let url = server.base_url();
    let env = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "sk-test-0123456789abcdef")];
    let gateway = Gateway::start_in(folder, &["--no-token"], &env).await;
    let (status, answer) = gateway.post("/v1/chat", &message_of("s", "hello")).await;
    assert_eq!(
        (status, &answer["error"]["code"], &answer["error"]["category"]),
        (StatusCode::SERVICE_UNAVAILABLE, &json!("INTERNAL_ERROR"), &json!("internal")),
        "{answer}"
    );
    let told = answer["text"].as_str().unwrap();
    assert!(told.contains("setup") && !told.contains("switched off"), "{told}");
    assert!(!answer.to_string().contains("countersign.toml"), "{answer}");
    let log = gateway.log();
    assert!(
        log.contains("line 2: There is no provider anthropc.") && !log.contains("switched off"),
        "{log}"
    );
    assert!(server.seen().is_empty());
}
