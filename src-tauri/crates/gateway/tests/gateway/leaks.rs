//! Tests that a shop's error texts, and values that it echoes from a request, do not appear
//! anywhere: not in answers, events and stored runs, not in the model's input, not in the most
//! verbose log, and not in counters, spans and metrics.

use kit::model_server::Reply;
use serde_json::{Value, json};

use crate::collector::Receiver;
use crate::front::{Break, Front, LEAK};
use crate::remote_faults::{ask, last};
use crate::remote_shop::{open, search};
use crate::world::{Gateway, message_of, model, read};

const ROUTES: [&str; 2] = ["/v1/chat?debug=1", "/v1/chat/stream?debug=1"];

/// Runs a search that breaks in this way, on both routes, with all output enabled, and asserts that
/// no output contains the shop's texts.
async fn assert_told_nowhere(what: &str, how: Break) {
    let front = Front::start().await;
    let receiver = Receiver::start();
    let server = model((0..2).flat_map(|_| [search(), Reply::text(["So it is."])])).await;
    let env = [
        ("COUNTERSIGN_LOG", "trace"),
        ("DEBUG_RUNS_ENABLED", "1"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url.as_str()),
        ("OTEL_TRACES_SAMPLER", "always_on"),
    ];
    let mut gateway = open(&front, &server, &env).await;
    let mut told = String::new();
    for route in ROUTES {
        front.breaks(what, [how.clone()]);
        let events = ask(&gateway, route, "tents").await;
        assert_eq!(last(&events)["text"], "So it is.", "{what}: {how:?}");
        let run = last(&events)["turnId"].as_str().unwrap();
        let (_, run): (_, Value) = read(gateway.get(&format!("/v1/debug/runs/{run}")).await).await;
        assert_eq!(run["toolTrace"][0]["outcome"], "error", "{what}: {how:?}: {run}");
        told.push_str(&format!("{events:?}{run}"));
    }
    told.push_str(&gateway.get("/v1/metrics").await.text().await.unwrap());
    told.push_str(&json!(server.requests()).to_string());
    assert_eq!(gateway.stop(), Some(0));
    assert!(
        gateway.log().contains("\"TRACE\"")
            && receiver.spans().iter().any(|span| span.name == "tool_call"),
        "everything is on"
    );
    front.assert_untold(&[&told, &gateway.written(), &receiver.text()]);
    front.assert_broken();
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_11_error_texts_of_a_shop_are_in_no_answer_log_run_metric_or_span() {
    let failed = json!({"jsonrpc": "2.0", "id": 2, "result": {"isError": true, "content": [{"type": "text", "text": LEAK}]}}).to_string();
    for (what, how) in [
        ("product.search", Break::Status(500)),
        ("product.search", Break::Json(format!("{{\"jsonrpc\": \"2.0\", {LEAK}"))),
        ("product.search", Break::Json(failed)),
        ("token", Break::Status(500)),
    ] {
        assert_told_nowhere(what, how).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_and_22_11_a_request_echoed_by_the_shop_is_repeated_nowhere() {
    for (what, how) in [
        ("token", Break::Echo(500)),
        ("token", Break::Echo(200)),
        ("product.search", Break::Echo(500)),
        ("product.search", Break::Echo(200)),
        ("product.search", Break::Quote),
    ] {
        assert_told_nowhere(what, how).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_key_in_an_id_or_the_context_is_refused_and_written_to_no_file() {
    const KEY: &str = "sk-test-0123456789abcdef";
    let server = model([Reply::text(["Hello."])]).await;
    let mut gateway =
        Gateway::with(&server, &[("COUNTERSIGN_LOG", "trace"), ("DEBUG_RUNS_ENABLED", "1")]).await;
    let asking = |change: &dyn Fn(&mut Value)| {
        let mut body = message_of("s", "Hello?");
        change(&mut body);
        body
    };
    for body in [
        asking(&|body| body["applicationId"] = json!(KEY)),
        asking(&|body| body["sessionId"] = json!(format!("s {KEY}"))),
        asking(&|body| body["context"]["cultureCode"] = json!(KEY)),
        asking(&|body| body["context"]["currencyCode"] = json!(KEY)),
        asking(&|body| body["context"]["currencyCode"] = json!("SEK".repeat(1_000))),
    ] {
        let (status, answer) = gateway.post("/v1/chat", &body).await;
        assert_eq!(status, 400, "{answer}");
        assert!(!answer.to_string().contains(KEY), "{answer}");
    }
    let request = gateway
        .request(reqwest::Method::POST, "/v1/chat")
        .header("x-correlation-id", KEY)
        .json(&message_of("s", "Hello?"));
    let answered = request.send().await.unwrap();
    assert!(answered.headers().get("x-correlation-id").is_none());
    assert_eq!(read(answered).await.0, 200);
    assert_eq!(gateway.stop(), Some(0));
    assert!(!gateway.written().contains(KEY) && !gateway.log().contains(KEY));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_the_environment_of_a_connecting_csign_is_written_to_no_file() {
    const KEY: &str = "tok-77aa51d09be2c4f8";
    // The name of the second variable does not look like a credential, but a pack declares that
    // variable as a credential.
    for variable in ["OTHER_API_TOKEN", "CRM_PAT"] {
        keeps_out(variable, KEY).await;
    }
}

async fn keeps_out(variable: &str, key: &str) {
    let folder = tempfile::tempdir().unwrap();
    let manifest = std::fs::read_to_string("../../../tools/web-api-example/pack.json").unwrap();
    let pack = folder.path().join("data/tools/crm");
    std::fs::create_dir_all(&pack).unwrap();
    let manifest = manifest.replace("DEMO_API_TOKEN", "CRM_PAT").replace("web-api-example", "crm");
    std::fs::write(pack.join("pack.json"), manifest).unwrap();
    let server = model([Reply::text(["Hello."])]).await;
    let url = server.base_url();
    let env = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
        ("OPENAI_MODEL", "scripted"),
        ("COUNTERSIGN_LOG", "trace"),
    ];
    let mut gateway = Gateway::start_in(folder, &[], &env).await;
    let joined = |args: &[&str]| {
        let output = gateway.terminal(args).env(variable, key).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    joined(&["ask", "--session", "joined", &format!("Hello {key}, who are you?")]);
    let refused =
        joined(&["tools", "call", "product.search", "--args", &json!({"query": key}).to_string()]);
    assert!(refused.contains("contains a stored key"), "{variable}: {refused}");
    let written = gateway.written();
    assert!(written.contains("who are you?"), "the rest of the message is kept");
    assert_eq!(gateway.stop(), Some(0));
    assert!(!(written + &gateway.written()).contains(key), "{variable}");
}
