//! Tests of failures between the gateway and a remote shop: which requests are retried, how many
//! requests the shop gets, which error is reported, and that no change is made twice.

use std::time::Duration;

use kit::model_server::{ModelServer, Reply};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::cart::{add, pieces};
use crate::front::{Break, Front, LEAK};
use crate::remote_shop::{open, search};
use crate::world::{Event, Gateway, SHOE, message_of, model, without_ids};

/// Both routes of the chat, with debug on.
const STREAM: &str = "/v1/chat/stream?debug=1";
const JSON: &str = "/v1/chat?debug=1";

/// Sends a message on the stream route. Returns the events.
async fn stream_events(gateway: &Gateway, message: &str) -> Vec<Event> {
    gateway.events(STREAM, &message_of("s", message)).await
}

/// Sends a message on either route. Returns the events of a stream, or the JSON answer as if it
/// were the last event.
pub(crate) async fn ask(gateway: &Gateway, route: &str, message: &str) -> Vec<Event> {
    if route.starts_with("/v1/chat/stream") {
        return gateway.events(route, &message_of("s", message)).await;
    }
    let (status, data) = gateway.post(route, &message_of("s", message)).await;
    assert_eq!(status, StatusCode::OK, "{data}");
    vec![Event { name: "final".into(), data }]
}

pub(crate) fn last(events: &[Event]) -> &Value {
    let last = events.last().unwrap();
    assert_eq!(last.name, "final");
    &last.data
}

fn oks(events: &[Event]) -> Vec<bool> {
    events
        .iter()
        .filter(|event| event.name == "tool_end")
        .map(|event| event.data["ok"].as_bool().unwrap())
        .collect()
}

/// Asserts that both routes return the same result, except for ids and times. Returns the stream's
/// events.
fn same<T: PartialEq + std::fmt::Debug>(
    (streamed, heard): (Vec<Event>, T),
    (plain, other): (Vec<Event>, T),
    how: &[Break],
) -> (Vec<Event>, T) {
    assert_eq!(
        (without_ids(last(&plain)), &other),
        (without_ids(last(&streamed)), &heard),
        "{how:?}"
    );
    (streamed, heard)
}

/// Asserts that the shop's error texts do not appear anywhere: not for the caller, the model, the
/// log, or stored runs.
fn assert_untold(front: &Front, gateway: &Gateway, server: &ModelServer, events: &[Event]) {
    front.assert_untold(&[
        &format!("{events:?}"),
        &json!(server.requests()).to_string(),
        &gateway.written(),
    ]);
}

/// Runs a search that breaks in this way, on both routes. Returns the events, the number of
/// requests to the shop, and how many requests were for a token and a session.
async fn broken_search(
    what: &str,
    how: &[Break],
    more: &[(&str, &str)],
) -> (Vec<Event>, [usize; 3]) {
    let of = async |route: &str| {
        let front = Front::start().await;
        front.breaks(what, how.iter().cloned());
        let server = model([search(), Reply::text(["So it is."])]).await;
        let gateway = open(&front, &server, more).await;
        let events = ask(&gateway, route, "tents").await;
        assert_eq!(last(&events)["text"], "So it is.", "the turn goes on: {events:?}");
        assert!(
            !events.iter().any(|event| event.name == "error")
                && last(&events).get("error").is_none()
        );
        assert_untold(&front, &gateway, &server, &events);
        front.assert_broken();
        server.assert_clean();
        (events, [front.count("product.search"), front.count("token"), front.count("initialize")])
    };
    let (streamed, plain) = tokio::join!(of(STREAM), of(JSON));
    same(streamed, plain, how)
}

/// Returns the error code of a failed call in the debug data.
fn code(events: &[Event]) -> &str {
    assert_eq!(oks(events), [false]);
    let end = events.iter().find(|event| event.name == "tool_end").unwrap();
    assert!(end.data["error"].is_string() && end.data.get("resultSummary").is_none(), "{end:?}");
    last(events)["debug"]["toolTrace"][0]["error"].as_str().unwrap()
}

const IMPATIENT: [(&str, &str); 1] = [("MCP_CALL_TIMEOUT_MS", "1500")];

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_reads_are_retried_after_transient_failures() {
    for how in [Break::Status(502), Break::Status(503), Break::Status(504), Break::Hang, Break::Cut]
    {
        let (events, counts) =
            broken_search("product.search", &[how.clone(), how.clone()], &IMPATIENT).await;
        assert_eq!((oks(&events), counts), (vec![true], [3, 1, 1]), "two further tries: {how:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_reads_fail_after_the_last_attempt() {
    for (how, expected) in [
        (Break::Status(503), "MCP_TRANSPORT_HTTP_ERROR"),
        (Break::Hang, "TIMEOUT_REQUEST"),
        (Break::Cut, "MCP_TRANSPORT_NETWORK_ERROR"),
    ] {
        let (events, counts) =
            broken_search("product.search", &[how.clone(), how.clone(), how.clone()], &IMPATIENT)
                .await;
        assert_eq!((code(&events), counts), (expected, [3, 1, 1]), "{how:?}");
    }
    let (events, counts) =
        broken_search("product.search", &[Break::Status(503)], &[("RETRY_MAX_ATTEMPTS", "0")])
            .await;
    assert_eq!((code(&events), counts[0]), ("MCP_TRANSPORT_HTTP_ERROR", 1), "as often as is set");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_permanent_failures_are_not_retried() {
    let refusal =
        json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -32_602, "message": LEAK}}).to_string();
    for (how, expected) in [
        (Break::Status(500), "MCP_TRANSPORT_HTTP_ERROR"),
        (Break::Status(403), "MCP_TRANSPORT_HTTP_ERROR"),
        (Break::Status(429), "MCP_TRANSPORT_HTTP_ERROR"),
        (Break::Status(302), "MCP_TRANSPORT_HTTP_ERROR"),
        (Break::Json("{\"jsonrpc\": \"2.0\", \"id\":".into()), "MCP_PROTOCOL_INVALID_RESPONSE"),
        (Break::Json("<html>busy</html>".into()), "MCP_PROTOCOL_INVALID_RESPONSE"),
        (Break::Json("[]".into()), "MCP_PROTOCOL_INVALID_RESPONSE"),
        (
            Break::Json("{\"jsonrpc\": \"2.0\", \"id\": 2, \"result\": {\"content\": [{\"type\": \"text\", \"text\": \"not JSON\"}]}}".into()),
            "MCP_PROTOCOL_INVALID_RESPONSE",
        ),
        (Break::Events(": nothing\n\n".into()), "MCP_PROTOCOL_INVALID_RESPONSE"),
        (Break::Result(json!({"hits": [1, LEAK]})), "MCP_PROTOCOL_INVALID_RESPONSE"),
        (Break::Result(json!({"items": LEAK})), "MCP_PROTOCOL_INVALID_RESPONSE"),
        (Break::Result(json!(LEAK)), "MCP_PROTOCOL_INVALID_RESPONSE"),
        (Break::Json(refusal), "MCP_TOOL_EXECUTION_FAILED"),
    ] {
        let (events, counts) = broken_search("product.search", std::slice::from_ref(&how), &[]).await;
        assert_eq!((code(&events), counts), (expected, [1, 1, 1]), "{how:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_a_shops_text_about_its_own_failure_is_not_shown() {
    let failed = json!({"jsonrpc": "2.0", "id": 2, "result": {"isError": true, "content": [{"type": "text", "text": LEAK}]}}).to_string();
    let (events, _) = broken_search("product.search", &[Break::Json(failed)], &[]).await;
    assert_eq!(oks(&events), [false]);
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_an_unreachable_token_endpoint_is_reported_without_details() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{nobody}/oauth/token");
    let front = Front::start().await;
    let server = model([search(), Reply::text(["So it is."])]).await;
    let gateway = open(&front, &server, &[("NORCE_OAUTH_TOKEN_URL", url.as_str())]).await;
    let events = stream_events(&gateway, "tents").await;
    assert_eq!((oks(&events), front.count("product.search")), (vec![false], 0));
    assert!(!format!("{events:?}").contains(&nobody.to_string()), "{events:?}");
    let told = server.seen().pop().unwrap().body["messages"].to_string();
    assert!(
        told.contains("The service did not answer.")
            && !told.contains("sign-in")
            && !told.contains("secret, and the scope"),
        "a customer's model: {told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_answer_of_the_shop_is_not_an_error() {
    let (events, counts) = broken_search("product.search", &[Break::Slow(400)], &[]).await;
    assert_eq!((oks(&events), counts), (vec![true], [1, 1, 1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_15_a_refused_token_is_renewed_once() {
    let (events, counts) = broken_search("product.search", &[Break::Status(401)], &[]).await;
    assert_eq!((oks(&events), counts), (vec![true], [2, 2, 1]));
    let (events, counts) =
        broken_search("product.search", &[Break::Status(401), Break::Status(401)], &[]).await;
    assert_eq!(
        (code(&events), counts),
        ("MCP_TRANSPORT_HTTP_ERROR", [2, 2, 1]),
        "and no more than once"
    );
    let (events, counts) = broken_search("initialize", &[Break::Status(401)], &[]).await;
    assert_eq!((oks(&events), counts), (vec![true], [1, 2, 2]));
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_15_a_lost_shop_session_is_opened_again_once() {
    for status in [400, 404] {
        let (events, counts) = broken_search("product.search", &[Break::Status(status)], &[]).await;
        assert_eq!((oks(&events), counts), (vec![true], [2, 1, 2]), "{status}");
        let (events, counts) =
            broken_search("product.search", &[Break::Status(status), Break::Status(status)], &[])
                .await;
        assert_eq!((code(&events), counts), ("MCP_TRANSPORT_HTTP_ERROR", [2, 1, 2]), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_15_a_shop_without_session_ids_is_initialised_once() {
    let front = Front::start().await;
    let opened = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}});
    front.breaks("initialize", [Break::Json(opened.to_string())]);
    front.breaks("notifications/initialized", [Break::Status(202)]);
    front.breaks(
        "product.search",
        (0..2).map(|_| Break::Result(json!({"items": [{"productId": 1, "name": "Tent"}]}))),
    );
    let server = model((0..2).flat_map(|_| [search(), Reply::text(["Here."])])).await;
    let gateway = open(&front, &server, &[]).await;
    for _ in 0..2 {
        assert!(gateway.say("s", "tents").await["cards"].is_array());
    }
    assert_eq!(front.count("initialize"), 1);
    assert!(front.of("product.search").iter().all(|one| one.header("mcp-session-id").is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_5_a_shop_session_that_cannot_be_opened_is_an_init_error() {
    for how in [Break::Status(500), Break::Json("{}".into()), Break::Status(404)] {
        let (events, counts) = broken_search("initialize", std::slice::from_ref(&how), &[]).await;
        assert_eq!((code(&events), counts), ("MCP_PROTOCOL_INIT_FAILED", [0, 1, 1]), "{how:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_the_shop_is_not_called_without_a_token() {
    let soon = [("OAUTH_TIMEOUT_MS", "200")];
    for how in [
        Break::Status(500),
        Break::Status(401),
        Break::Hang,
        Break::Json("no".into()),
        Break::Json("{\"access_token\": \"abc\"}".into()),
        Break::Json("{\"expires_in\": 60}".into()),
    ] {
        let (events, counts) = broken_search("token", std::slice::from_ref(&how), &soon).await;
        assert_eq!(
            (code(&events), counts),
            ("OAUTH_TOKEN_FETCH_FAILED", [0, 1, 0]),
            "asked once: {how:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_a_failed_token_request_is_not_cached() {
    let front = Front::start().await;
    front.breaks("token", [Break::Status(503)]);
    let server = model([search(), Reply::text(["Sorry."]), search(), Reply::text(["Here."])]).await;
    let gateway = open(&front, &server, &[]).await;
    assert!(gateway.say("s", "tents").await.get("cards").is_none());
    assert!(gateway.say("s", "tents").await["cards"].is_array());
    assert_eq!(front.count("token"), 2);
}

/// Confirms a change with "yes" while the shop fails as described in `how`, on both routes. Returns
/// the events, and the number of requests to the shop.
async fn broken_change(how: &[Break]) -> (Vec<Event>, usize) {
    let of = async |route: &str| {
        let front = Front::start().await;
        front.breaks("cart.addItem", how.iter().cloned());
        let server = model([add(1), Reply::text(["Anything else?"])]).await;
        let gateway = open(&front, &server, &IMPATIENT).await;
        let asked = gateway.say("s", "one shoe").await;
        assert!(asked["pendingAction"].is_object(), "{asked}");
        let events = ask(&gateway, route, "yes").await;
        assert!(
            last(&events).get("pendingAction").is_none() && last(&events).get("error").is_none(),
            "{events:?}"
        );
        // A second confirmation does not make the change again.
        let again = ask(&gateway, route, "yes").await;
        assert!(last(&again).get("pendingAction").is_none());
        assert_untold(&front, &gateway, &server, &[events.clone(), again].concat());
        front.assert_broken();
        server.assert_clean();
        (events, front.count("cart.addItem"))
    };
    let (streamed, plain) = tokio::join!(of(STREAM), of(JSON));
    same(streamed, plain, how)
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_6_an_addition_with_unknown_outcome_is_never_sent_again() {
    let malformed = Break::Json("{\"jsonrpc\"".into());
    for how in [
        Break::Status(500),
        Break::Status(502),
        Break::Status(503),
        Break::Status(504),
        Break::DoneBut(502),
        Break::DoneBut(504),
        Break::Hang,
        Break::Cut,
        Break::Json(
            json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32_603, "message": "x"}})
                .to_string(),
        ),
        malformed,
        Break::Result(json!({"basketId": 1, "basket": {"items": LEAK}})),
        Break::Result(json!([LEAK])),
    ] {
        let (events, count) = broken_change(std::slice::from_ref(&how)).await;
        assert_eq!((oks(&events)[0], count), (false, 1), "{how:?}");
        let text = last(&events)["text"].as_str().unwrap();
        assert!(text.contains("may or may not"), "it is said that nobody knows: {how:?}: {text}");
        // The id of a new basket is lost together with the answer, so no empty cart is shown.
        assert!(last(&events).get("cart").is_none(), "{how:?}: {events:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_6_a_quantity_or_removal_with_unknown_outcome_is_never_sent_again() {
    let set = (
        "cart.setItemQuantity",
        Reply::call("cart_set_item_quantity", json!({"productId": SHOE, "quantity": 3})),
        3,
    );
    let remove =
        ("cart.removeItem", Reply::call("cart_remove_item", json!({"productId": SHOE})), 0);
    for (tool, call, after) in [set, remove] {
        let front = Front::start().await;
        let server = model([]).await;
        let gateway = open(&front, &server, &IMPATIENT).await;
        let breaks = [
            (Break::Status(503), 1),
            (Break::Status(504), 1),
            (Break::DoneBut(502), after),
            (Break::DoneBut(504), after),
            (Break::Hang, 1),
            (Break::Cut, after),
        ];
        for (at, (how, left)) in breaks.into_iter().enumerate() {
            for route in ["/v1/chat", "/v1/chat/stream"] {
                let session = format!("{route} {at}");
                for reply in [add(1), call.clone(), Reply::text(["Anything else?"])] {
                    server.push(reply);
                }
                for message in ["one shoe", "yes", "change it"] {
                    gateway.say(&session, message).await;
                }
                let before = front.count(tool);
                front.breaks(tool, [how.clone()]);
                let body = message_of(&session, "yes");
                let told = match route {
                    "/v1/chat" => gateway.post(route, &body).await.1,
                    _ => last(&gateway.events(route, &body).await).clone(),
                };
                assert!(
                    told["text"].as_str().unwrap().contains("may or may not")
                        && told.get("pendingAction").is_none(),
                    "{tool} {how:?}: {told}"
                );
                assert_eq!(
                    pieces(&told),
                    left,
                    "the cart is as the shop has it now: {tool} {how:?}: {told}"
                );
                assert_eq!(
                    gateway.say(&session, "yes").await["text"],
                    "Anything else?",
                    "a later yes is the model's"
                );
                assert_eq!(front.count(tool), before + 1, "{tool} {how:?}");
                front.assert_broken();
            }
        }
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_6_and_22_18_a_client_that_disconnects_during_a_change_finds_it_made_once() {
    for route in ["/v1/chat", "/v1/chat/stream"] {
        let front = Front::start().await;
        let server = model([add(1)]).await;
        let gateway = open(&front, &server, &[]).await;
        gateway.say("s", "one shoe").await;
        front.breaks("cart.addItem", [Break::Slow(1_500)]);
        let leaving = gateway
            .request(Method::POST, route)
            .json(&message_of("s", "yes"))
            .timeout(Duration::from_millis(300))
            .send();
        let left = async { leaving.await?.text().await };
        assert!(left.await.is_err(), "nobody waits for the end: {route}");
        let told = gateway.say("s", "yes").await;
        assert_eq!(
            (pieces(&told), front.count("cart.addItem"), told.get("pendingAction")),
            (1, 1, None),
            "{route}: {told}"
        );
        assert_eq!(server.seen().len(), 1, "no model is asked for a yes");
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_6_a_possibly_outdated_cart_is_not_shown() {
    let front = Front::start().await;
    let add = || Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": 1}));
    let server =
        model([Reply::call("cart_get", json!({})), Reply::text(["It is empty."]), add(), add()])
            .await;
    let gateway = open(&front, &server, &IMPATIENT).await;
    assert_eq!(gateway.say("s", "show my cart").await["cart"]["itemCount"], 0);
    gateway.say("s", "one shoe").await;
    front.breaks("cart.addItem", [Break::DoneBut(504)]);
    let told = gateway.say("s", "yes").await;
    assert!(
        told["text"].as_str().unwrap().contains("may or may not") && told.get("cart").is_none(),
        "there is no number to read it by: {told}"
    );
    gateway.say("s", "one shoe").await;
    assert_eq!(gateway.say("s", "yes").await["cart"]["itemCount"], 1);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_6_after_an_unknown_outcome_the_answer_shows_the_current_cart() {
    for (how, pieces) in [(Break::DoneBut(504), 2), (Break::Status(504), 1)] {
        let front = Front::start().await;
        let add = || Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": 1}));
        let server = model([add(), add()]).await;
        let gateway = open(&front, &server, &IMPATIENT).await;
        gateway.say("s", "one shoe").await;
        gateway.say("s", "yes").await;
        gateway.say("s", "and another").await;
        front.breaks("cart.addItem", [how.clone()]);
        let told = gateway.say("s", "yes").await;
        assert!(told["text"].as_str().unwrap().contains("may or may not"), "{told}");
        assert_eq!(told["cart"]["items"][0]["quantity"], pieces, "{how:?}: {told}");
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_and_22_11_a_change_that_surely_did_not_happen_is_reported_as_failed() {
    let refusal = |code: i32| {
        Break::Json(
            json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "x"}}).to_string(),
        )
    };
    for how in [
        vec![Break::Status(400); 2],
        vec![Break::Status(403)],
        vec![refusal(-32_602)],
        vec![refusal(-1)],
    ] {
        let (events, count) = broken_change(&how).await;
        assert_eq!((oks(&events)[0], count), (false, how.len()), "{how:?}");
        assert!(
            last(&events)["text"].as_str().unwrap().contains("could not be changed"),
            "{events:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_6_a_change_with_an_expired_token_or_session_is_made_once() {
    for (how, tokens, sessions) in
        [(Break::Status(401), 2, 1), (Break::Status(404), 1, 2), (Break::Status(400), 1, 2)]
    {
        let front = Front::start().await;
        front.breaks("cart.addItem", [how.clone()]);
        let server =
            model([Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": 1}))]).await;
        let gateway = open(&front, &server, &[]).await;
        gateway.say("s", "one shoe").await;
        let done = gateway.say("s", "yes").await;
        assert_eq!(done["cart"]["items"][0]["quantity"], 1, "{how:?}: {done}");
        assert_eq!(
            (front.count("cart.addItem"), front.count("token"), front.count("initialize")),
            (2, tokens, sessions),
            "refused before anything was done"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_5_and_22_6_concurrent_confirmations_send_one_change() {
    let front = Front::start().await;
    front.breaks("cart.addItem", [Break::Slow(200)]);
    let server =
        model([Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": 1}))]).await;
    let gateway = open(&front, &server, &[]).await;
    gateway.say("s", "one shoe").await;
    let (one, two, three) =
        tokio::join!(gateway.say("s", "yes"), gateway.say("s", "yes"), gateway.say("s", "ja"));
    for answer in [one, two, three] {
        assert_eq!(answer["cart"]["items"][0]["quantity"], 1, "{answer}");
    }
    assert_eq!(front.count("cart.addItem"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_confirmation_without_a_shop_token_ends_the_action_unchanged() {
    let front = Front::with_tokens_of(60).await;
    let server = model([
        Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": 1})),
        Reply::text(["Anything else?"]),
    ])
    .await;
    let gateway = open(&front, &server, &[]).await;
    assert!(gateway.say("s", "one shoe").await["pendingAction"].is_object());
    front.breaks("token", vec![Break::Status(500); 8]);
    let events = stream_events(&gateway, "yes").await;
    assert_eq!((oks(&events), front.count("cart.addItem")), (vec![false], 0));
    assert!(last(&events)["text"].as_str().unwrap().contains("could not be changed"), "{events:?}");
    assert!(last(&events).get("pendingAction").is_none(), "{events:?}");
    assert_eq!(
        last(&stream_events(&gateway, "yes").await)["text"],
        "Anything else?",
        "a later yes is the model's"
    );
    assert_eq!(front.count("cart.addItem"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_the_cart_in_the_change_result_is_shown_if_it_cannot_be_read_again() {
    let front = Front::start().await;
    let server =
        model([Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": 2}))]).await;
    let gateway = open(&front, &server, &[]).await;
    gateway.say("s", "two shoes").await;
    front.breaks("cart.get", [Break::Status(500)]);
    let done = gateway.say("s", "yes").await;
    assert_eq!(done["cart"]["items"][0]["quantity"], 2, "{done}");
    front.assert_broken();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_shop_is_reported_and_the_turn_continues() {
    let server = model([search(), Reply::text(["Sorry."])]).await;
    // This port was free a moment ago, so no server listens on it.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let front = Front::start().await;
    let variables = front.variables();
    let url = format!("http://{gone}/mcp");
    let mut env: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    env.retain(|(name, _)| *name != "NORCE_MCP_BASE_URL");
    env.push(("NORCE_MCP_BASE_URL", &url));
    let gateway = Gateway::with(&server, &env).await;
    let events = stream_events(&gateway, "tents").await;
    assert_eq!(
        (code(&events), last(&events)["text"].as_str()),
        ("MCP_PROTOCOL_INIT_FAILED", Some("Sorry."))
    );
}
