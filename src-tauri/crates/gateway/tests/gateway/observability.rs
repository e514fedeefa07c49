//! Tests of traces and metrics by OTLP, as received by a collector, and of the id that identifies a
//! request in answers, log and audit records.

use std::collections::HashMap;
use std::net::TcpListener;

use kit::model_server::Reply;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::cart::add;
use crate::collector::Receiver;
use crate::front::{Break, Front};
use crate::remote_shop::{open, search};
use crate::world::{Gateway, message_of, model};

fn attributes(span: &Span) -> HashMap<&str, String> {
    let text = |value: &Any| match value {
        Any::StringValue(text) => text.clone(),
        Any::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    span.attributes
        .iter()
        .filter_map(|one| Some((one.key.as_str(), text(one.value.as_ref()?.value.as_ref()?))))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn trace_spans_of_turn_model_and_tools_contain_ids_but_no_message_text() {
    let receiver = Receiver::start();
    let server = model([
        Reply::call("product_search", json!({"query": "quiet tents"})),
        Reply::text(["A loud answer."]),
    ])
    .await;
    let env = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-collector-key=collector-secret"),
        ("OTEL_SERVICE_NAME", "shop-assistant"),
    ];
    let mut gateway = Gateway::with(&server, &env).await;
    let body = message_of("visitor-1", "words of a customer");
    let response =
        gateway.request(Method::POST, "/v1/chat/stream").json(&body).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let request = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    assert!(response.text().await.unwrap().contains("A loud answer."));
    // The remaining data is sent when the gateway ends.
    assert_eq!(gateway.stop(), Some(0), "{}", gateway.log());

    let spans = receiver.spans();
    let named = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let [chat] = named("chat")[..] else { panic!("one request: {spans:?}") };
    let [turn] = named("turn")[..] else { panic!("one turn: {spans:?}") };
    let [tool] = named("tool_call")[..] else { panic!("one tool call: {spans:?}") };
    let calls = named("model_call");
    assert_eq!(calls.len(), 2, "{spans:?}");
    assert_eq!(attributes(chat)["requestId"], request);
    assert_eq!(
        (
            attributes(chat)["http.response.status_code"].as_str(),
            attributes(chat)["http.route"].as_str()
        ),
        ("200", "POST /v1/chat/stream")
    );
    assert_eq!(
        (attributes(turn)["request_id"].as_str(), attributes(turn)["status"].as_str()),
        (request.as_str(), "ok")
    );
    assert_eq!(
        (attributes(tool)["tool"].as_str(), attributes(tool)["outcome"].as_str()),
        ("product.search", "ok")
    );
    assert_eq!(
        (attributes(calls[0])["calls"].as_str(), attributes(calls[1])["status"].as_str()),
        ("1", "ok")
    );
    assert_eq!(turn.parent_span_id, chat.span_id);
    for inner in calls.into_iter().chain([tool]) {
        assert_eq!(
            (&inner.parent_span_id, &inner.trace_id),
            (&turn.span_id, &chat.trace_id),
            "{inner:?}"
        );
    }

    let metrics = receiver.metrics();
    for name in [
        "csign.turns",
        "csign.turn.duration_ms",
        "csign.tool_calls",
        "csign.tool.duration_ms",
        "csign.streams.open",
    ] {
        assert!(metrics.iter().any(|metric| metric == name), "{name} is sent: {metrics:?}");
    }
    let text = receiver.text();
    assert!(text.contains("shop-assistant"), "the service has the name it was given");
    for said in ["words of a customer", "quiet tents", "loud answer", "sk-test", "collector-secret"]
    {
        assert!(!text.contains(said), "{said} left with the traces");
    }
    assert!(
        receiver
            .sent
            .lock()
            .unwrap()
            .iter()
            .all(|sent| sent.head.contains("x-collector-key: collector-secret")),
        "the collector's own key is sent"
    );
    assert!(!gateway.log().contains("collector-secret"), "{}", gateway.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_trace_is_sent_if_the_environment_disables_tracing() {
    let receiver = Receiver::start();
    for off in [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")] {
        let env = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url.as_str()),
            off,
            ("OTEL_METRICS_EXPORTER", "none"),
        ];
        let mut gateway = Gateway::start(&["--no-token"], &env).await;
        gateway.say("s", "find trail shoes").await;
        assert_eq!(gateway.stop(), Some(0), "{}", gateway.log());
        assert_eq!(receiver.sent.lock().unwrap().len(), 0, "{off:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unsupported_trace_protocol_is_reported_at_startup() {
    let folder = tempfile::tempdir().unwrap();
    let env = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
    ];
    let ran = Gateway::command(&folder).envs(env).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_in_place_of_the_certificate_file_is_reported_at_startup() {
    let folder = tempfile::tempdir().unwrap();
    // The certificates are read for plain HTTP, too.
    let env =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"), ("SSL_CERT_FILE", "/dev/null")];
    let ran = Gateway::command(&folder).envs(env).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("SSL_CERT_FILE names /dev/null"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_trace_collector_does_not_affect_answers() {
    // This port was free a moment ago, so no server listens on it.
    let away = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = format!("http://{away}");
    let mut gateway =
        Gateway::start(&["--no-token"], &[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str())])
            .await;
    gateway.say("s", "find trail shoes").await;
    assert_eq!(gateway.stop(), Some(0), "{}", gateway.log());
}

/// Sends a message. Returns the id in the answer's header, and the last JSON of the answer.
async fn post_and_read_id(gateway: &Gateway, path: &str, body: &Value) -> (String, Value) {
    let response = gateway.request(Method::POST, path).json(body).send().await.unwrap();
    let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    let text = response.text().await.unwrap();
    let last = text.trim_end().rsplit("data: ").next().unwrap_or_default();
    (id, serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {text}")))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_record_of_a_confirmed_change_contains_its_request_id() {
    let server = model([add(1)]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let (asked, _) = post_and_read_id(&gateway, "/v1/chat", &message_of("s", "one shoe")).await;
    let (confirmed, done) =
        post_and_read_id(&gateway, "/v1/chat/stream", &message_of("s", "yes")).await;
    assert_eq!(done["cart"]["itemCount"], 1, "{done}");
    let page = gateway.csign(&["audit", "list", "--all", "--limit", "100"]);
    let records: Vec<&Value> = page["records"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|record| record["session"] == "shop-web:s")
        .collect();
    let of = |kind: &str| {
        let tool = |record: &&&Value| {
            record["record_type"] == kind
                && [&json!("cart.addItem"), &Value::Null].contains(&&record["tool"])
        };
        records
            .iter()
            .filter(tool)
            .map(|record| record["fields"]["request_id"].as_str().unwrap_or_default())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("approval_requested"), [&asked], "{records:?}");
    assert_eq!(of("approval_resolved"), [&confirmed, &confirmed], "approved and done: {records:?}");
    for kind in ["tool_intent", "tool_outcome"] {
        assert_eq!(of(kind), [&confirmed], "{kind}: {records:?}");
    }
    for record in &records {
        let id = record["fields"]["request_id"].as_str().unwrap_or_default();
        assert!([asked.as_str(), &confirmed].contains(&id), "{record}");
    }
    assert!(
        of("run_ended").contains(&confirmed.as_str()),
        "the answer is on record when it is heard: {records:?}"
    );
    for record in records.iter().filter(|record| record["fields"]["request_id"] == *confirmed) {
        assert_eq!(
            record["fields"]["correlation_id"], done["turnId"],
            "and the turn as the caller knows it: {record}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_header_error_and_log_of_a_failure_contain_the_request_id() {
    let server = model((0..2).map(|_| Reply::refusal(401, &json!({"message": "no"})))).await;
    let mut gateway = Gateway::with(&server, &[("ALLOWED_APPLICATION_IDS", "shop-web")]).await;
    let stranger = json!({"applicationId": "other", "sessionId": "s", "message": "hello"});
    let mut ids = Vec::new();
    for (path, body, status) in [
        ("/v1/chat", &json!({"sessionId": "s"}), 400),
        ("/v1/chat/stream", &json!({"sessionId": "s"}), 400),
        ("/v1/chat", &stranger, 403),
        ("/v1/chat", &message_of("s", "hello"), 503),
        ("/v1/chat/stream", &message_of("s", "hello"), 503),
    ] {
        let (id, answer) = post_and_read_id(&gateway, path, body).await;
        assert_eq!(answer["error"]["requestId"], id, "{path}: {answer}");
        assert!(!ids.contains(&(id.clone(), status)), "each has its own");
        ids.push((id, status));
    }
    assert_eq!(gateway.stop(), Some(0));
    let log = gateway.log();
    let lines: Vec<Value> =
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for (id, status) in ids {
        let told: Vec<&Value> = lines
            .iter()
            .filter(|line| line["requestId"] == id && line["status"].is_number())
            .collect();
        assert_eq!(
            (told.len(), told[0]["status"].as_u64()),
            (1, Some(status)),
            "one line for each: {log}"
        );
        if status == 503 {
            let why = lines
                .iter()
                .find(|line| line["requestId"] == id && line["reason"] == "provider_unauthorized");
            let why = why.and_then(|line| line["why"].as_str()).unwrap_or_default();
            assert!(
                why.contains("rejected the API key") && !why.contains("sk-test"),
                "the log says why: {log}"
            );
        }
    }
}

fn lines(log: &str) -> Vec<Value> {
    log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_is_logged_and_counted_once_with_its_request_id() {
    let env = [
        ("DEBUG_RUNS_ENABLED", "1"),
        ("SIMPLE_AUTH_ENABLED", "1"),
        ("SIMPLE_AUTH_JWT_SECRET", "0123456789abcdef0123456789abcdef"),
        ("ALLOWED_APPLICATION_IDS", "shop-web"),
        ("DEMO_RL_TOKEN_PER_MIN", "2"),
    ];
    let mut gateway = Gateway::start(&[], &env).await;
    let request = |method: Method, path: &str| {
        gateway.http.request(method, format!("{}{path}", gateway.base))
    };
    let token = |body: &Value| request(Method::POST, "/v1/auth/simple/token").json(body);
    let mut refused = Vec::new();
    for (status, route, request) in [
        (403, "GET /v1/health", request(Method::GET, "/v1/health").header("host", "evil.example")),
        (
            403,
            "POST /v1/chat",
            request(Method::POST, "/v1/chat").header("origin", "https://evil.example"),
        ),
        (
            403,
            "OPTIONS /v1/chat",
            request(Method::OPTIONS, "/v1/chat").header("origin", "https://evil.example"),
        ),
        (404, "GET unknown", request(Method::GET, "/v1/words-of-a-stranger")),
        (405, "GET /v1/chat", request(Method::GET, "/v1/chat")),
        (401, "GET /v1/debug/runs", request(Method::GET, "/v1/debug/runs")),
        (400, "GET /v1/debug/runs", gateway.request(Method::GET, "/v1/debug/runs?limit=none")),
        (404, "GET /v1/debug/runs/{id}", gateway.request(Method::GET, "/v1/debug/runs/none")),
        (401, "POST /v1/debug/replay/{id}", request(Method::POST, "/v1/debug/replay/none")),
        (404, "POST /v1/debug/replay/{id}", gateway.request(Method::POST, "/v1/debug/replay/none")),
        (
            415,
            "POST /v1/debug/replay/{id}",
            gateway.request(Method::POST, "/v1/debug/replay/none").body("x"),
        ),
        (400, "POST /v1/auth/simple/token", token(&json!({}))),
        (403, "POST /v1/auth/simple/token", token(&json!({"applicationId": "other"}))),
        (429, "POST /v1/auth/simple/token", token(&json!({"applicationId": "shop-web"}))),
        (401, "POST /v1/chat", request(Method::POST, "/v1/chat").json(&message_of("s", "hello"))),
        (
            400,
            "POST /v1/chat/stream",
            request(Method::POST, "/v1/chat/stream")
                .header("content-type", "application/json")
                .body("{"),
        ),
    ] {
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{route}");
        let id = response
            .headers()
            .get("x-request-id")
            .unwrap_or_else(|| panic!("{status} of {route} names its id"));
        refused.push((id.to_str().unwrap().to_owned(), status, route));
    }
    let page = gateway.get("/v1/metrics").await.text().await.unwrap();
    assert!(
        page.contains(&format!(
            "csign_gateway_refused_total{{status=\"4xx\"}} {}\n",
            refused.len()
        )),
        "{page}"
    );
    assert_eq!(gateway.stop(), Some(0));
    let log = gateway.log();
    for (id, status, route) in refused {
        let told: Vec<Value> =
            lines(&log).into_iter().filter(|line| line["requestId"] == id).collect();
        assert_eq!(told.len(), 1, "one line of {status} {route}: {log}");
        assert_eq!(
            (&told[0]["status"], &told[0]["route"], &told[0]["message"]),
            (&json!(status), &json!(route), &json!("refused"))
        );
    }
    assert!(!log.contains("words-of-a-stranger"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_log_line_of_a_request_contains_its_id_with_any_log_filter() {
    for filter in ["warn,gateway=info", "", "off,engine=warn", "debug,hyper=off"] {
        let front = Front::start().await;
        front.breaks("product.search", [Break::Result(json!("no list"))]);
        front.breaks(
            "cart.addItem",
            [Break::Result(json!({"basketId": 1, "basket": {"items": "no list"}}))],
        );
        let server = model([search(), add(1)]).await;
        let mut gateway = open(&front, &server, &[("COUNTERSIGN_LOG", filter)]).await;
        let (asked, _) = post_and_read_id(&gateway, "/v1/chat", &message_of("s", "one shoe")).await;
        let (confirmed, _) =
            post_and_read_id(&gateway, "/v1/chat/stream", &message_of("s", "yes")).await;
        assert_eq!(gateway.stop(), Some(0));
        let log = gateway.log();
        let told: Vec<Value> = lines(&log)
            .into_iter()
            .filter(|line| line["message"] == "a result does not fit its schema")
            .collect();
        assert_eq!(told.len(), 2, "{filter}: {log}");
        for (line, id) in told.iter().zip([asked, confirmed]) {
            let spans = line["spans"].as_array().cloned().unwrap_or_default();
            assert!(
                spans.iter().any(|span| span["name"] == "chat" && span["requestId"] == id),
                "{filter}: {line}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panicked_turn_is_reported_once_recorded_as_failed_and_the_server_continues() {
    let server = model([add(1), Reply::text(["Here I am."])]).await;
    let env =
        [("COUNTERSIGN_TEST_PANIC_AT", "BetweenIntentAndEffect"), ("DEBUG_RUNS_ENABLED", "1")];
    let mut gateway = Gateway::with(&server, &env).await;
    gateway.say("s", "one shoe").await;
    let (id, answer) = post_and_read_id(&gateway, "/v1/chat", &message_of("s", "yes")).await;
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["requestId"]),
        (&json!("INTERNAL_ERROR"), &json!(id)),
        "{answer}"
    );
    let run = gateway
        .get(&format!("/v1/debug/runs/{}", answer["turnId"].as_str().unwrap()))
        .await
        .json::<Value>()
        .await
        .unwrap();
    assert_eq!(
        (&run["result"]["status"], &run["result"]["httpStatus"]),
        (&json!("error"), &json!(500)),
        "{run}"
    );
    let page = gateway.get("/v1/metrics").await.text().await.unwrap();
    assert!(page.contains("csign_gateway_turns_total{status=\"5xx\"} 1\n"), "{page}");
    assert_eq!(gateway.say("t", "are you there?").await["text"], "Here I am.");
    assert_eq!(gateway.stop(), Some(0));
    let log = gateway.log();
    let of_request: Vec<Value> =
        lines(&log).into_iter().filter(|line| line.to_string().contains(&id)).collect();
    let [panicked, turn] = &of_request[..] else {
        panic!("where it was, and that the turn failed: {log}")
    };
    assert_eq!(
        (&panicked["level"], &panicked["message"]),
        (&json!("ERROR"), &json!("panicked")),
        "{panicked}"
    );
    assert!(
        panicked["place"].as_str().is_some_and(|place| place.contains("testing.rs:")),
        "{panicked}"
    );
    assert_eq!(
        (&turn["message"], &turn["status"], &turn["code"]),
        (&json!("turn"), &json!(500), &json!("INTERNAL_ERROR")),
        "{turn}"
    );
    let kept = std::fs::read_to_string(gateway.path("data/logs/csign.log")).unwrap_or_default();
    for text in [&log, &kept] {
        assert!(
            !text.contains("stopped because of a fault") && !text.contains("words of a panic"),
            "{text}"
        );
    }
}
