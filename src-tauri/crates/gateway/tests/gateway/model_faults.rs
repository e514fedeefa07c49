//! Tests of a failing model on both routes: how often the model is called, the error, and that the
//! session continues.

use kit::model_server::{ModelServer, Reply};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::front::Front;
use crate::remote_faults::last;
use crate::remote_shop::{open, search};
use crate::world::{Event, Gateway, SHOE, message_of, model, names, without_ids};

const WORDS: &str = "project 12 may not say pumpernickel";

fn refuses(status: u16) -> Reply {
    Reply::refusal(status, &json!({"message": WORDS, "type": "error"})).header("retry-after", "0")
}

fn refuses_request(param: &str) -> Reply {
    Reply::refusal(400, &json!({"message": WORDS, "type": "invalid_request_error", "param": param}))
}

/// The expected result of a failure.
type Row = (StatusCode, &'static str, &'static str, bool);

const BUSY: Row = (StatusCode::TOO_MANY_REQUESTS, "upstream", "OPENAI_RATE_LIMIT", true);
const FAILED: Row = (StatusCode::SERVICE_UNAVAILABLE, "upstream", "OPENAI_API_ERROR", false);
const SCHEMA: Row =
    (StatusCode::INTERNAL_SERVER_ERROR, "upstream", "OPENAI_TOOL_SCHEMA_ERROR", false);

/// Sends a message that fails as described in `row`, on both routes. Returns the events of the
/// stream.
async fn fails(gateway: &Gateway, row: Row, what: &str) -> Vec<Event> {
    let (status, answer) = gateway.post("/v1/chat", &message_of("s", "hello")).await;
    let error = &answer["error"];
    let told = (
        status,
        error["category"].as_str().unwrap(),
        error["code"].as_str().unwrap(),
        error["retryable"].as_bool().unwrap(),
    );
    assert_eq!(told, row, "{what}: {answer}");
    assert_eq!(answer["text"], error["message"], "{what}");
    let events = gateway.events("/v1/chat/stream", &message_of("s", "hello")).await;
    assert_eq!(names(&events[events.len() - 2..]), ["error", "final"], "{what}: {events:?}");
    assert_eq!(events[events.len() - 2].data, last(&events)["error"], "{what}");
    assert_eq!(
        without_ids(last(&events)),
        without_ids(&answer),
        "{what}: both routes tell the same"
    );
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_and_22_1_each_model_failure_maps_to_its_error_on_both_routes() {
    for (what, reply, row, requests) in [
        ("429", refuses(429), BUSY, 3),
        ("500", refuses(500), FAILED, 3),
        ("503", refuses(503), FAILED, 3),
        ("401", refuses(401), FAILED, 1),
        ("403", refuses(403), FAILED, 1),
        ("400 about the tools", refuses_request("tools[0].function.parameters"), SCHEMA, 1),
        ("400 about something else", refuses_request("messages"), FAILED, 1),
    ] {
        let server = model([reply.repeated()]).await;
        let gateway = Gateway::with(&server, &[]).await;
        let events = fails(&gateway, row, what).await;
        assert_eq!(server.seen().len(), 2 * requests, "{what}: at each route");
        for word in ["pumpernickel", "project 12"] {
            assert!(
                !format!("{events:?}{}", gateway.written()).contains(word),
                "{what}: neither told nor kept"
            );
        }
        assert_eq!(server.violations(), Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_an_unreachable_model_maps_to_its_error_on_both_routes() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{nobody}/v1");
    let gateway = Gateway::start(
        &["--no-token"],
        &[("OPENAI_BASE_URL", &url), ("OPENAI_API_KEY", "sk-test-0123456789abcdef")],
    )
    .await;
    let events = fails(&gateway, FAILED, "a refused connection").await;
    assert!(!format!("{events:?}").contains(&nobody.to_string()), "{events:?}");
}

/// Returns the messages of the last request to the model as text.
fn first_input(server: &ModelServer) -> String {
    server.seen().pop().unwrap().body["messages"].to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_a_model_stream_cut_before_its_first_word_is_retried() {
    let server = model([Reply::new().cut(), Reply::text(["All of it."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "hello")).await;
    assert_eq!((last(&events)["text"].as_str(), server.seen().len()), (Some("All of it."), 2));
    assert!(!names(&events).contains(&"error"), "{events:?}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_and_11_a_model_stream_cut_inside_a_call_proposes_no_change() {
    let begun = json!({"index": 0, "id": "wire_0", "type": "function", "function": {"name": "cart_add_item", "arguments": "{\"partNo\": \"FJS"}});
    let whole = json!({"partNo": SHOE, "quantity": 1});
    for cut in [
        Reply::new().delta(&json!({"tool_calls": [begun]})).cut(),
        Reply::call("cart_add_item", whole).cut(),
    ] {
        let front = Front::start().await;
        let server = model([cut, Reply::text(["Yes what?"])]).await;
        let gateway = open(&front, &server, &[]).await;
        let events = gateway.events("/v1/chat/stream", &message_of("s", "a shoe")).await;
        assert_eq!(
            (names(&events[events.len() - 2..]), server.seen().len()),
            (vec!["error", "final"], 1),
            "it is not asked again: {events:?}"
        );
        assert_eq!(last(&events)["error"]["code"], "OPENAI_API_ERROR");
        assert!(
            last(&events).get("pendingAction").is_none()
                && names(&events).iter().all(|name| !name.starts_with("tool_")),
            "{events:?}"
        );
        assert_eq!(gateway.say("s", "yes").await["text"], "Yes what?", "nothing waits");
        assert_eq!(front.count("cart.addItem"), 0);
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_and_22_7_a_model_failure_after_a_tool_call_leaves_paired_messages() {
    for (route, code) in [("/v1/chat", 503), ("/v1/chat/stream", 200)] {
        let front = Front::start().await;
        let server = model([
            search(),
            refuses(500),
            refuses(500),
            refuses(500),
            Reply::text(["Here I am."]),
        ])
        .await;
        let gateway = open(&front, &server, &[]).await;
        let response = gateway
            .request(reqwest::Method::POST, route)
            .json(&message_of("s", "tents"))
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), code);
        let text = response.text().await.unwrap();
        let end: Value = if code == 200 {
            last(&crate::world::parse(&text)).clone()
        } else {
            serde_json::from_str(&text).unwrap()
        };
        let error = &end["error"];
        assert_eq!(
            (error["category"].as_str(), error["code"].as_str(), error["retryable"].as_bool()),
            (Some("upstream"), Some("OPENAI_API_ERROR"), Some(false))
        );
        assert_eq!(
            (front.count("product.search"), server.seen().len()),
            (1, 4),
            "the tool ran once, whatever the model did"
        );
        assert_eq!(gateway.say("s", "and now?").await["text"], "Here I am.");
        assert!(first_input(&server).contains("tents"), "what was asked is kept");
        server.assert_clean();
    }
}
