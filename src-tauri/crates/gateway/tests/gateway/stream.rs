//! Tests of a stream's headers, and of its tool events in order.

use std::collections::BTreeSet;

use kit::model_server::Reply;
use reqwest::{Method, Version, header};
use serde_json::{Value, json};

use crate::world::{Event, Gateway, message_of, model, names};

/// Returns the messages of the statuses, in order.
fn statuses(events: &[Event]) -> Vec<&str> {
    events
        .iter()
        .filter(|event| event.name == "status")
        .map(|event| event.data["message"].as_str().unwrap())
        .collect()
}

fn ends(events: &[Event]) -> Vec<&Value> {
    events.iter().filter(|event| event.name == "tool_end").map(|event| &event.data).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_4_and_8_a_stream_has_no_cache_and_cors_headers() {
    let gateway =
        Gateway::start(&["--no-token"], &[("CORS_ORIGINS", "https://shop.example")]).await;
    for (origin, named) in
        [(Some("https://shop.example"), Some("https://shop.example")), (None, None)]
    {
        let request =
            gateway.request(Method::POST, "/v1/chat/stream").json(&message_of("s", "hello"));
        let request = if let Some(origin) = origin {
            request.header(header::ORIGIN, origin)
        } else {
            request
        };
        let response = request.send().await.unwrap();
        assert_eq!(response.version(), Version::HTTP_11);
        for (name, value) in [
            ("content-type", Some("text/event-stream; charset=utf-8")),
            ("cache-control", Some("no-cache")),
            ("connection", Some("keep-alive")),
            ("x-accel-buffering", Some("no")),
            ("access-control-allow-origin", named),
        ] {
            let values: Vec<&header::HeaderValue> =
                response.headers().get_all(name).iter().collect();
            assert_eq!(values, value.iter().collect::<Vec<_>>(), "{name} with {origin:?}");
        }
        assert!(response.text().await.unwrap().contains("event: final"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_4_each_tool_call_has_a_status_event_before_and_an_end_event_after() {
    let script = [
        Reply::call("product_search", json!({"query": "tent"})),
        Reply::call("product_get", json!({"productId": "1001"})),
        Reply::call("product_get", json!({"productId": "999999"})),
        Reply::text(["There."]),
    ];
    let server = model(script).await;
    let gateway = Gateway::with(&server, &[]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "tents")).await;
    let tool = ["status", "tool_start", "tool_end"];
    let found = [&["status", "status"][..], &tool, &["status"]].concat();
    let looked = [&["status"][..], &tool].concat();
    let failed = [&["status"][..], &tool, &["status"]].concat();
    assert_eq!(
        names(&events),
        [found, looked, failed, vec!["status", "delta", "final"]].concat(),
        "one more status after what was found, and after what failed"
    );
    let told = statuses(&events);
    let [start, thinking, searching, hit, refining, looking, ..] = told[..] else {
        panic!("{told:?}")
    };
    let failure = told[told.len() - 2];
    let distinct: BTreeSet<&str> =
        [start, thinking, searching, hit, refining, looking, failure].into();
    assert_eq!(distinct.len(), 7, "each says something of its own: {told:?}");
    assert!(
        told[6] != refining && told.iter().all(|text| !text.is_empty()),
        "only what follows a search refines: {told:?}"
    );
    assert_eq!(
        ends(&events).iter().map(|end| end["ok"] == true).collect::<Vec<_>>(),
        [true, true, false]
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_4_and_22_11_a_tool_end_event_summarises_a_result_in_two_members() {
    let both = Reply::new()
        .ask("product_search", &json!({"query": "tent", "pageSize": 2}))
        .ask("product_get", &json!({"productId": "1001"}));
    let server = model([both, Reply::text(["There."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "tents")).await;
    let result = |at: usize| -> Value {
        let messages = server.seen()[1].body["messages"].clone();
        let results = messages
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message["role"] == "tool")
            .cloned()
            .collect::<Vec<_>>();
        crate::memory::result_in(&results[at])
    };
    let (found, product) = (result(0), result(1));
    let [search, get] = ends(&events)[..] else { panic!("{events:?}") };
    assert!(found["totalCount"].as_u64() > Some(2), "more than were asked for: {found}");
    assert_eq!(search["resultSummary"], json!({"itemCount": 2, "totalCount": found["totalCount"]}));
    assert_eq!(get["resultSummary"], json!({"productId": "1001", "title": product["name"]}));
    assert!(
        product["name"].is_string() && search.get("error").is_none() && get.get("error").is_none(),
        "{product}"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_4_a_call_of_an_unknown_tool_has_only_an_end_event() {
    let server =
        model([Reply::call("no_such_tool", json!({"a": 1})), Reply::text(["Well."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "hello")).await;
    assert_eq!(names(&events), ["status", "status", "tool_end", "status", "delta", "final"]);
    let end = ends(&events)[0];
    assert_eq!(
        (&end["tool"], &end["ok"], end.get("resultSummary")),
        (&json!("no_such_tool"), &json!(false), None)
    );
    assert!(end["error"].is_string(), "{end}");
    server.assert_clean();
}
