//! Tests of an answer's debug block: who gets the block, and its data about each call.

use kit::model_server::Reply;
use serde_json::{Value, json};

use crate::cart::add;
use crate::front::{Break, Front};
use crate::remote_shop::{open, search};
use crate::world::{Event, Gateway, message_of, model};

const JSON: &str = "/v1/chat?debug=1";
const STREAM: &str = "/v1/chat/stream?debug=1";

/// Returns the texts of a trace entry, excluding its tool, arguments and time.
fn entry_texts(entry: &Value) -> Vec<&str> {
    let usual = ["tool", "args", "ms", "result"];
    entry
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .filter(|name| !usual.contains(name))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_19_an_answer_without_a_model_call_has_no_debug_block() {
    let server = model([add(1), add(1)]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let hear = async |message: &str| {
        gateway
            .events(STREAM, &message_of("s", message))
            .await
            .pop()
            .map(|event: Event| event.data)
            .unwrap()
    };
    let ask = async |message: &str| gateway.post(JSON, &message_of("s", message)).await.1;
    assert!(ask("a shoe").await["debug"].is_object());
    for reminded in [ask("in red?").await, hear("in blue?").await] {
        assert!(
            reminded["pendingAction"].is_object() && reminded.get("debug").is_none(),
            "{reminded}"
        );
    }
    let cancelled = ask("no").await;
    assert!(
        cancelled.get("pendingAction").is_none() && cancelled.get("debug").is_none(),
        "{cancelled}"
    );
    assert!(hear("a shoe").await["debug"].is_object());
    assert!(hear("yes").await["debug"]["toolTrace"].is_array(), "the change itself is traced");
    for again in [ask("yes").await, hear("ja").await] {
        assert!(
            again["text"] == "That has been done already." && again.get("debug").is_none(),
            "{again}"
        );
    }
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_19_the_trace_of_a_comparison_lists_its_products_and_the_lookup_count() {
    let look =
        |reply: Reply, id: u32| reply.ask("product_get", &json!({"productId": id.to_string()}));
    let server = model([
        look(look(look(Reply::new(), 1001), 1002), 1003),
        Reply::text(["Those."]),
        look(Reply::new(), 1001),
        Reply::text(["That."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    let (_, answer) = gateway.post(JSON, &message_of("s", "Compare 1001 and 1003")).await;
    let compare = &answer["debug"]["compare"];
    assert_eq!(compare["productIds"], answer["comparison"]["productIds"], "{answer}");
    assert_eq!(
        (compare["productIds"].is_array(), compare["productGetCallCount"].as_u64()),
        (true, Some(3)),
        "{compare}"
    );
    assert_eq!(compare.as_object().unwrap().len(), 2, "{compare}");
    let (_, alone) = gateway.post(JSON, &message_of("s", "tell me about 1001")).await;
    assert!(
        alone["debug"].get("compare").is_none() && alone.get("comparison").is_none(),
        "{alone}"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_19_a_trace_contains_for_each_call_only_the_members_that_apply() {
    let reads = Reply::new()
        .ask("product_search", &json!({"query": "tent", "pageSize": 4}))
        .ask("product_get", &json!({"partNo": "NO-SUCH-PART"}));
    let server = model([reads, Reply::text(["Four."]), add(1)]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let mut body = message_of("s", "tents");
    body.as_object_mut().unwrap().remove("context");
    let (_, answer) = gateway.post(JSON, &body).await;
    let trace = &answer["debug"]["toolTrace"];
    let searched = &trace[0];
    assert_eq!(trace.as_array().unwrap().len(), 2, "{trace}");
    assert_eq!(
        entry_texts(searched),
        ["querySimplification", "thumbnailsPresentCount"],
        "without a context none is told"
    );
    assert_eq!(
        (searched["thumbnailsPresentCount"].as_u64(), searched["result"]["itemCount"].as_u64()),
        (Some(4), Some(4)),
        "{searched}"
    );
    assert_eq!((entry_texts(&trace[1]), trace[1].get("result")), (vec!["error"], None), "{trace}");
    let (_, asked) = gateway.post(JSON, &message_of("s", "a shoe")).await;
    let proposed = &asked["debug"]["toolTrace"][0];
    assert_eq!(
        entry_texts(proposed),
        ["blockedByPolicy", "effectiveContext", "pendingActionCreated"],
        "{proposed}"
    );
    assert_eq!(
        (&proposed["args"]["quantity"], proposed.get("result")),
        (&json!(1), None),
        "{proposed}"
    );
    let (_, done) = gateway.post(JSON, &message_of("s", "yes")).await;
    let trace = done["debug"]["toolTrace"].as_array().unwrap();
    assert_eq!(
        (entry_texts(&trace[0]), entry_texts(&trace[1])),
        (vec!["effectiveContext", "pendingActionExecuted"], vec!["effectiveContext"]),
        "{trace:?}"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_19_the_trace_counts_pictures_instead_of_listing_results() {
    let front = Front::start().await;
    let items = json!([{"productId": 1, "name": "One", "thumbnailImageKey": "k1"}, {"productId": 2, "name": "Two", "thumbnailImageKey": null},
        {"productId": 3, "name": "Three", "thumbnailImageKey": 33}, {"productId": 4, "name": "Four"}]);
    front.breaks("product.search", [Break::Result(json!({"items": items}))]);
    let server = model([search(), Reply::text(["Four."])]).await;
    let gateway = open(&front, &server, &[]).await;
    let (_, answer) = gateway.post(JSON, &message_of("s", "tents")).await;
    let trace = &answer["debug"]["toolTrace"][0];
    assert_eq!(
        (trace["result"]["itemCount"].as_u64(), trace["thumbnailsPresentCount"].as_u64()),
        (Some(4), Some(2)),
        "{trace}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_and_19_adding_a_parent_product_is_traced_as_blocked() {
    let server =
        model([Reply::call("cart_add_item", json!({"partNo": "FJS-TR1001", "quantity": 1}))]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let (_, asked) = gateway.post(JSON, &message_of("s", "the trail shoe")).await;
    let blocked = &asked["debug"]["toolTrace"][0];
    assert_eq!(
        (asked["choices"]["kind"].as_str(), asked.get("pendingAction")),
        (Some("variant"), None),
        "{asked}"
    );
    assert_eq!(entry_texts(blocked), ["blockedByPolicy", "effectiveContext", "error"], "{blocked}");
    assert_eq!(
        (&blocked["blockedByPolicy"], &blocked["args"]["partNo"]),
        (&json!(true), &json!("FJS-TR1001")),
        "{blocked}"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_16_and_19_the_trace_mentions_a_context_only_if_the_model_gave_one() {
    let offered = |arguments: Value| Reply::call("product_search", arguments);
    let server = model([
        offered(json!({"query": "tent"})),
        offered(json!({"query": "lamp", "context": {"currencyCode": "EUR", "customerId": 9}})),
        offered(json!({"query": "stove", "context": {"customerId": 9}})),
        Reply::text(["Here."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    let (_, answer) = gateway.post(JSON, &message_of("s", "tents")).await;
    let trace = answer["debug"]["toolTrace"].as_array().unwrap();
    let told: Vec<(&Value, &Value)> = trace
        .iter()
        .map(|entry| (&entry["modelContextIgnored"], &entry["modelProvidedContextPreview"]))
        .collect();
    let yes = json!(true);
    assert_eq!(
        told,
        [
            (&Value::Null, &Value::Null),
            (&yes, &json!({"currencyCode": "EUR"})),
            (&yes, &Value::Null)
        ],
        "two codes of it, and no customer"
    );
    assert!(
        trace.iter().all(|entry| entry["effectiveContext"]
            == json!({"cultureCode": "en-GB", "currencyCode": "SEK"})),
        "the caller's holds: {trace:?}"
    );
    server.assert_clean();
}
