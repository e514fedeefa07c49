//! Tests of the limits of a request, and of the answers when a model fails.

use std::time::{Duration, Instant};

use kit::model_server::Reply;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::world::{Gateway, message_of, model, names};

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_2_and_22_24_an_invalid_request_is_refused_with_its_problem() {
    let gateway = Gateway::open().await;
    let good = message_of("s", "hello");
    let with = |name: &str, value: Value| {
        let mut body = good.clone();
        body[name] = value;
        body
    };
    let without = |name: &str| {
        let mut body = good.clone();
        body.as_object_mut().unwrap().remove(name);
        body
    };
    let bad = [
        json!([]),
        json!(null),
        json!({}),
        without("applicationId"),
        without("sessionId"),
        without("message"),
        with("applicationId", json!("")),
        with("applicationId", json!("a".repeat(101))),
        with("sessionId", json!("s".repeat(201))),
        with("message", json!("")),
        with("message", json!(" \n")),
        with("message", json!(7)),
        with("message", json!("m".repeat(4_001))),
        with("context", json!("sv")),
        with("context", json!({"cultureCode": 1})),
        with("context", json!({"priceListIds": ["1"]})),
        with("context", json!({"priceListIds": 1})),
        with("context", json!({"customerId": "1"})),
        with("context", json!({"currencyCode": 752})),
        with("context", json!({"salesAreaId": "1"})),
        with("context", json!({"companyId": [1]})),
    ];
    for body in bad {
        for path in ["/v1/chat", "/v1/chat/stream"] {
            let (status, answer) = gateway.post(path, &body).await;
            assert_eq!(
                (status, answer["error"]["code"].as_str()),
                (StatusCode::BAD_REQUEST, Some("VALIDATION_REQUEST_INVALID")),
                "{body}"
            );
            assert_eq!(
                (answer["error"]["category"].as_str(), answer["error"]["retryable"].as_bool()),
                (Some("validation"), Some(false))
            );
            assert_eq!(answer["text"], answer["error"]["message"]);
            let session =
                body["sessionId"].as_str().filter(|id| id.len() <= 200).unwrap_or("unknown");
            assert_eq!(answer["sessionId"], session, "{body}");
            assert!(uuid_like(&answer["turnId"]), "{answer}");
        }
    }
    // Unknown keys are ignored, and a missing context counts as empty.
    assert_eq!(gateway.post("/v1/chat", &without("context")).await.0, StatusCode::OK);
    let page = with(
        "context",
        json!({"cultureCode": "sv-SE", "page": {"url": "/"}, "timestamp": "2026-11-22"}),
    );
    assert_eq!(gateway.post("/v1/chat", &page).await.0, StatusCode::OK);
    assert_eq!(
        gateway.post("/v1/chat", &with("message", json!("å".repeat(4_000)))).await.0,
        StatusCode::OK,
        "4,000 characters fit"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_2_and_6_a_request_with_values_of_maximum_length_is_accepted() {
    let server = model((0..3).map(|_| Reply::text(["Yes."]))).await;
    let gateway = Gateway::with(&server, &[("MAX_MESSAGE_CHARS", "9000")]).await;
    let with = |name: &str, value: String| {
        let mut body = message_of("s", "hello");
        body[name] = json!(value);
        body
    };
    let fits = [
        with("applicationId", "a".repeat(100)),
        with("sessionId", "s".repeat(200)),
        with("message", "å".repeat(4_800)),
    ];
    for body in fits {
        assert_eq!(gateway.post("/v1/chat", &body).await.0, StatusCode::OK);
    }
    assert_eq!(
        gateway.post("/v1/chat", &with("message", "å".repeat(4_801))).await.0,
        StatusCode::PAYLOAD_TOO_LARGE,
        "more than 1,200 tokens by the estimate"
    );
    for (message, said) in [
        ("å".repeat(4_801), "Meddelandet är för långt. Korta gärna av det."),
        ("å".repeat(9_001), "Meddelandet är för långt. Korta gärna av det."),
        (" ".into(), "Meddelandet är tomt. Skriv gärna något."),
    ] {
        let mut swedish = with("message", message);
        swedish["context"] = json!({"cultureCode": "sv-SE"});
        assert_eq!(gateway.post("/v1/chat", &swedish).await.1["text"], said);
    }
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_a_turn_that_exceeds_its_time_limit_fails() {
    let server = model([Reply::new().say("a").hang()]).await;
    let gateway = Gateway::with(
        &server,
        &[("OPENAI_STREAM_TIMEOUT_MS", "700"), ("OPENAI_TIMEOUT_MS", "60000")],
    )
    .await;
    let (status, answer) = gateway.post("/v1/chat", &message_of("s", "hello")).await;
    let error = &answer["error"];
    assert_eq!(
        (status, error["code"].as_str(), error["retryable"].as_bool()),
        (StatusCode::GATEWAY_TIMEOUT, Some("TIMEOUT_REQUEST"), Some(true)),
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_a_busy_or_failing_model_is_retried_but_a_refused_key_is_not() {
    for (status, requests) in [(429, 3), (500, 3), (401, 1)] {
        let server =
            model((0..4).map(|_| {
                Reply::refusal(status, &json!({"message": "the words of the model's host"}))
            }))
            .await;
        let gateway = Gateway::with(&server, &[]).await;
        let events = gateway.events("/v1/chat/stream?debug=1", &message_of("s", "hello")).await;
        assert_eq!(
            (server.seen().len(), names(&events[events.len() - 2..])),
            (requests, vec!["error", "final"]),
            "{status}"
        );
        let mut kept = format!("{events:?}{}", gateway.log());
        for entry in std::fs::read_dir(gateway.path("data"))
            .unwrap()
            .map(Result::unwrap)
            .filter(|entry| entry.path().is_file())
        {
            kept.push_str(&String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()));
        }
        assert!(!kept.contains("the words of the model's host"), "{status}: neither told nor kept");
    }
}

pub(crate) fn uuid_like(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.len() == 36 && text.chars().filter(|c| *c == '-').count() == 4)
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_6_a_message_over_the_token_estimate_is_refused() {
    let gateway = Gateway::start(
        &["--no-token"],
        &[("MAX_MESSAGE_CHARS", "9000"), ("ALLOWED_APPLICATION_IDS", "shop-web, other")],
    )
    .await;
    let (status, answer) = gateway.post("/v1/chat", &message_of("s", &"word ".repeat(961))).await;
    assert_eq!(
        (status, answer["error"]["code"].as_str()),
        (StatusCode::PAYLOAD_TOO_LARGE, Some("VALIDATION_REQUEST_INVALID"))
    );
    assert_eq!(answer["error"]["retryable"], false);
    let mut foreign = message_of("s", &"word ".repeat(961));
    foreign["applicationId"] = json!("stranger");
    let (status, answer) = gateway.post("/v1/chat", &foreign).await;
    assert_eq!(
        (status, answer["error"]["category"].as_str(), answer["error"]["code"].as_str()),
        (StatusCode::FORBIDDEN, Some("auth"), Some("AUTHZ_FORBIDDEN"))
    );
    assert_eq!((&answer["error"]["retryable"], &answer["sessionId"]), (&json!(false), &json!("s")));
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_and_22_1_a_model_failure_has_its_code_and_its_text_is_not_shown() {
    let secret = "the api token sk-very-secret of project 12 is wrong";
    let table = [
        (429, 429, "upstream", "OPENAI_RATE_LIMIT", true),
        (500, 503, "upstream", "OPENAI_API_ERROR", false),
        (401, 503, "upstream", "OPENAI_API_ERROR", false),
        (403, 503, "upstream", "OPENAI_API_ERROR", false),
    ];
    for (from, status, category, code, retryable) in table {
        let refusal =
            Reply::refusal(from, &json!({"message": secret, "type": "error", "code": "x"}))
                .repeated();
        let server = model([refusal.header("retry-after", "0")]).await;
        let gateway = Gateway::with(&server, &[]).await;
        let (got, answer) = gateway.post("/v1/chat", &message_of("s", "hello")).await;
        assert_eq!(
            (got.as_u16(), answer["error"]["code"].as_str()),
            (status, Some(code)),
            "{from}: {answer}"
        );
        assert_eq!(
            (answer["error"]["category"].as_str(), answer["error"]["retryable"].as_bool()),
            (Some(category), Some(retryable))
        );
        let events = gateway.events("/v1/chat/stream?debug=1", &message_of("s", "hello")).await;
        let tail = &events[events.len() - 2..];
        assert_eq!(names(tail), ["error", "final"]);
        assert_eq!(
            (&tail[0].data, &tail[1].data["text"]),
            (&tail[1].data["error"], &tail[0].data["message"])
        );
        let told = format!("{answer}{events:?}{}", gateway.log());
        assert!(!told.contains("sk-very-secret") && !told.contains("project 12"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_and_22_23_the_text_of_a_models_refusal_is_not_shown() {
    let words = "Invalid schema: the reply mentions pumpernickel";
    let tools = json!({"message": words, "type": "invalid_request_error", "param": "tools[0].function.parameters", "code": "invalid_function_parameters"});
    let other = json!({"message": words, "type": "invalid_request_error", "param": "messages"});
    for (error, status, code) in
        [(tools, 500, "OPENAI_TOOL_SCHEMA_ERROR"), (other, 503, "OPENAI_API_ERROR")]
    {
        let server = model([Reply::refusal(400, &error).repeated()]).await;
        let gateway = Gateway::with(&server, &[]).await;
        let (got, answer) = gateway.post("/v1/chat?debug=1", &message_of("s", "hello")).await;
        assert_eq!(
            (
                got.as_u16(),
                answer["error"]["code"].as_str(),
                answer["error"]["retryable"].as_bool()
            ),
            (status, Some(code), Some(false)),
            "{answer}"
        );
        assert!(!format!("{answer}{}", gateway.log()).contains("pumpernickel"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_an_interrupted_model_is_retried_only_before_its_first_word() {
    let server = model([
        Reply::text(["Half an"]).cut(),
        Reply::text(["All of it."]),
        Reply::text(["Half an"]).cut(),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    assert_eq!(
        gateway.say("s", "hello").await["text"],
        "All of it.",
        "nobody has seen anything of the first one"
    );
    let events = gateway.events("/v1/chat/stream", &message_of("t", "hello")).await;
    let end = &events.last().unwrap().data;
    assert_eq!(names(&events[events.len() - 2..]), ["error", "final"]);
    assert_eq!(
        (end["error"]["code"].as_str(), end["error"]["retryable"].as_bool()),
        (Some("OPENAI_API_ERROR"), Some(false)),
        "{end}"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_an_unreachable_model_is_reported() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{nobody}/v1");
    let gateway = Gateway::start(
        &["--no-token"],
        &[("OPENAI_BASE_URL", &url), ("OPENAI_API_KEY", "sk-test-0123456789abcdef")],
    )
    .await;
    let (got, answer) = gateway.post("/v1/chat", &message_of("s", "hello")).await;
    assert_eq!(
        (got, answer["error"]["code"].as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("OPENAI_API_ERROR")),
        "{answer}"
    );
    assert!(!answer.to_string().contains(&nobody.to_string()), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_20_a_model_is_retried_as_often_as_configured() {
    for (most, requests, status) in
        [("0", 1, StatusCode::SERVICE_UNAVAILABLE), ("1", 2, StatusCode::OK)]
    {
        let server =
            model([Reply::refusal(500, &json!({"message": "x"})), Reply::text(["Here."])]).await;
        let gateway = Gateway::with(&server, &[("OPENAI_MAX_RETRIES", most)]).await;
        let (got, answer) = gateway.post("/v1/chat", &message_of("s", "hello")).await;
        assert_eq!((got, server.seen().len()), (status, requests), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_a_model_that_does_not_respond_times_out() {
    let server = model([Reply::new().hang()]).await;
    let gateway = Gateway::with(&server, &[("OPENAI_TIMEOUT_MS", "300")]).await;
    let (status, answer) = gateway.post("/v1/chat", &message_of("s", "hello")).await;
    assert_eq!(
        (status, answer["error"]["code"].as_str()),
        (StatusCode::GATEWAY_TIMEOUT, Some("OPENAI_TIMEOUT")),
        "{answer}"
    );
    // The session continues.
    server.push(Reply::text(["Here I am."]));
    assert_eq!(gateway.say("s", "and now?").await["text"], "Here I am.");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_a_fallback_model_answers_for_one_that_does_not_respond() {
    let server = model((0..2).map(|_| Reply::new().hang())).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("data")).unwrap();
    std::fs::write(
        folder.path().join("data/countersign.toml"),
        "[model.fallback]\nprovider = \"offline\"\n",
    )
    .unwrap();
    let url = server.base_url();
    let env = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
        ("OPENAI_MODEL", "scripted"),
        ("OPENAI_TIMEOUT_MS", "3000"),
    ];
    let gateway = Gateway::start_in(folder, &["--no-token"], &env).await;
    let answer = gateway.say("s", "hello").await;
    assert!(answer["text"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
    let events = gateway.events("/v1/chat/stream", &message_of("t", "hello")).await;
    assert_eq!(events.last().unwrap().data["error"], json!(null), "{events:?}");
    assert_eq!(server.seen().len(), 2, "both were asked, and given up in time");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_two_models_that_do_not_respond_share_one_time_limit() {
    let server = model((0..4).map(|_| Reply::new().hang())).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("data")).unwrap();
    let url = server.base_url();
    let second = format!(
        "[model.fallback]\nprovider = \"openai_compatible\"\nbase_url = \"{url}\"\nmodel = \"another\"\n"
    );
    std::fs::write(folder.path().join("data/countersign.toml"), second).unwrap();
    let env = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
        ("OPENAI_MODEL", "scripted"),
        ("OPENAI_TIMEOUT_MS", "3000"),
    ];
    let mut gateway = Gateway::start_in(folder, &["--no-token"], &env).await;
    let began = Instant::now();
    let (status, answer) = gateway.post("/v1/chat", &message_of("s", "hello")).await;
    let events = gateway.events("/v1/chat/stream", &message_of("t", "hello")).await;
    assert_eq!(
        (status, answer["error"]["code"].as_str()),
        (StatusCode::GATEWAY_TIMEOUT, Some("OPENAI_TIMEOUT")),
        "{answer}"
    );
    assert_eq!(events.last().unwrap().data["error"]["code"], "OPENAI_TIMEOUT", "{events:?}");
    assert!(
        began.elapsed() < Duration::from_millis(8_500),
        "three seconds each, and not four and a half: {:?}",
        began.elapsed()
    );
    assert_eq!(server.seen().len(), 4);
    assert_eq!(gateway.stop(), Some(0));
    let log = gateway.log();
    assert_eq!(
        log.lines()
            .filter(|line| line.contains("a turn failed") && line.contains("OPENAI_TIMEOUT"))
            .count(),
        2,
        "the log says why: {log}"
    );
}

/// Asserts that a stream ends with this failure, that the connection to the model is closed, and
/// that the session continues.
async fn stream_given_up(reply: Reply, env: &[(&str, &str)], code: &str, retryable: bool) {
    let server = model([reply]).await;
    let gateway = Gateway::with(&server, env).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "hello")).await;
    let error = &events.last().unwrap().data["error"];
    assert_eq!(names(&events[events.len() - 2..]), ["error", "final"], "{events:?}");
    assert_eq!(
        (error["code"].as_str(), error["retryable"].as_bool()),
        (Some(code), Some(retryable)),
        "{error}"
    );
    server.client_left(1).await;
    assert_eq!(server.seen().len(), 1, "it is not asked again");
    server.push(Reply::text(["Here I am."]));
    assert_eq!(gateway.say("s", "and now?").await["text"], "Here I am.");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_and_20_a_stream_ends_when_its_model_stalls_or_its_time_is_over() {
    let silence = [("OPENAI_TIMEOUT_MS", "300"), ("OPENAI_STREAM_TIMEOUT_MS", "30000")];
    stream_given_up(Reply::new().hang(), &silence, "OPENAI_TIMEOUT", false).await;
    stream_given_up(Reply::new().say("Half an").hang(), &silence, "OPENAI_TIMEOUT", false).await;
    let whole = [("OPENAI_TIMEOUT_MS", "60000"), ("OPENAI_STREAM_TIMEOUT_MS", "700")];
    stream_given_up(Reply::new().say("Half an").hang(), &whole, "TIMEOUT_REQUEST", true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_a_disabled_agent_is_reported() {
    let gateway = Gateway::start(&["--no-token"], &[("AGENT_ENABLED", "false")]).await;
    let (status, answer) = gateway.post("/v1/chat", &message_of("s", "hello")).await;
    assert_eq!(
        (status, answer["error"]["code"].as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("AGENT_DISABLED"))
    );
}
