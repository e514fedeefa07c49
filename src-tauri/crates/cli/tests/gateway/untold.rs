//! What a shop says of its own failures, or gives back of what it was asked, is told and written nowhere: not in answers, events and kept
//! runs, not to the model, not in the log at its loudest, not in counters, spans and metrics.

use kit::model_server::Reply;
use serde_json::{Value, json};

use crate::collector::Receiver;
use crate::front::{Break, Front, LEAK};
use crate::remote_faults::{ask, last};
use crate::remote_shop::{open, search};
use crate::world::{model, read};

const ROUTES: [&str; 2] = ["/v1/chat?debug=1", "/v1/chat/stream?debug=1"];

/// A search at both routes that breaks in this way, with everything on that tells of it.
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
    assert!(gateway.log().contains("\"TRACE\"") && receiver.spans().iter().any(|span| span.name == "tool_call"), "everything is on");
    front.assert_untold(&[&told, &gateway.written(), &receiver.text()]);
    front.assert_broken();
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn section_22_11_a_shops_failure_is_told_in_no_answer_log_run_metric_or_span() {
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
async fn section_17_and_22_11_what_is_given_back_of_a_request_is_told_nowhere() {
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
