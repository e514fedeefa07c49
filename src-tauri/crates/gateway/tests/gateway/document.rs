//! Tests that the API's description is served and complete, and that the server follows it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::world::{Gateway, read};

const TOKEN: &str = "/v1/auth/simple/token";
const SECRET: &str = "0123456789abcdef0123456789abcdef";

#[tokio::test(flavor = "multi_thread")]
async fn the_openapi_document_is_served_and_lists_every_route() {
    let gateway = Gateway::start(
        &["--no-token"],
        &[
            ("DEBUG_RUNS_ENABLED", "1"),
            ("SIMPLE_AUTH_ENABLED", "1"),
            ("SIMPLE_AUTH_JWT_SECRET", SECRET),
        ],
    )
    .await;
    let (_, document) = read(gateway.get("/v1/openapi.json").await).await;
    assert_eq!(document["openapi"], "3.1.0");
    let routes: BTreeSet<&str> =
        document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    let known = [
        TOKEN,
        "/v1/chat",
        "/v1/chat/stream",
        "/v1/debug/replay/{runId}",
        "/v1/debug/runs",
        "/v1/debug/runs/{runId}",
        "/v1/health",
        "/v1/metrics",
        "/v1/openapi.json",
    ];
    assert_eq!(routes.into_iter().collect::<Vec<_>>(), known);
    for path in known {
        let answer = gateway.get(&path.replace("{runId}", "none")).await;
        // If only POST is supported, GET is refused because of the method and not because of the
        // route. A missing run is reported as missing.
        let (status, said) = (answer.status(), answer.text().await.unwrap());
        assert!(status != 404 || said.contains("RUN_NOT_FOUND"), "{path} answers {status}: {said}");
    }
}

/// Sends valid and invalid requests generated from the description, and checks that the server
/// never fails and that its answers match the description.
async fn schemathesis(gateway: &Gateway, more: &[&str]) {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../target"), Into::into);
    let program = Path::new(&target).join("gateway-python/bin/schemathesis");
    assert!(program.exists(), "`make setup-test` installs {}", program.display());
    let folder = gateway.path("schemathesis");
    std::fs::create_dir_all(&folder).unwrap();
    let checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance";
    let mut command = Command::new(program);
    command.arg("run").arg(format!("{}/v1/openapi.json", gateway.base)).args([
        "--checks",
        checks,
        "--max-examples",
        "25",
        "--seed",
        "1",
    ]);
    command
        .args(["--phases", "examples,coverage,fuzzing"])
        .args(more)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", &folder)
        .current_dir(&folder);
    let ran = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let out = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{out}\n{}", String::from_utf8_lossy(&ran.stderr));
    let alive: Value = read(gateway.get("/v1/health").await).await.1;
    assert_eq!(alive["status"], "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn schemathesis_finds_no_failure_and_no_undocumented_answer() {
    let gateway = Gateway::start(&["--no-token"], &[("DEBUG_RUNS_ENABLED", "1")]).await;
    schemathesis(&gateway, &["--exclude-path", TOKEN]).await;
}

/// Runs the same tests with visitors' tokens: the route that issues tokens, and the chat with and
/// without a token.
#[tokio::test(flavor = "multi_thread")]
async fn schemathesis_finds_no_failure_with_visitor_tokens() {
    let gateway = Gateway::start(
        &[],
        &[
            ("SIMPLE_AUTH_ENABLED", "1"),
            ("SIMPLE_AUTH_JWT_SECRET", SECRET),
            ("DEMO_RL_TOKEN_PER_MIN", "100000"),
            ("DEMO_RL_CHAT_PER_MIN", "40"),
        ],
    )
    .await;
    schemathesis(&gateway, &["--include-path", TOKEN, "--include-path", "/v1/chat"]).await;
    let (_, issued) = gateway.post(TOKEN, &serde_json::json!({"applicationId": "shop-web"})).await;
    let bearer = format!("Authorization: Bearer {}", issued["token"].as_str().unwrap());
    schemathesis(&gateway, &["--include-path", "/v1/chat", "--header", &bearer]).await;
}
