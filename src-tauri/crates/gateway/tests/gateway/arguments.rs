//! Tests of the model's tool calls: coerced arguments, unknown names, parallel calls, the limit of
//! rounds, and text in the same round as calls.

use std::sync::Arc;

use kit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::cart::pieces;
use crate::front::{Break, Front};
use crate::remote_shop::open;
use crate::world::{Gateway, SHOE, message_of, model, names};

/// Returns the tool results that the model received after the newest message.
fn results(server: &ModelServer, request: usize) -> Vec<Value> {
    let body = server.seen()[request].body.clone();
    let messages = body["messages"].as_array().unwrap().clone();
    let user = messages.iter().rposition(|message| message["role"] == "user").unwrap();
    messages[user..].iter().filter(|message| message["role"] == "tool").cloned().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_18_and_21_a_missing_quantity_is_confirmed_and_sent_as_one() {
    for given in [json!({"partNo": SHOE}), json!({"partNo": SHOE, "quantity": null})] {
        let front = Front::start().await;
        let server = model([Reply::call("cart_add_item", given)]).await;
        let gateway = open(&front, &server, &[]).await;
        let asked = gateway.say("s", "one shoe").await;
        assert!(asked["pendingAction"]["description"].as_str().unwrap().contains('1'), "{asked}");
        assert_eq!(pieces(&gateway.say("s", "yes").await), 1);
        let sent = front.sent("cart.addItem");
        assert_eq!((sent.len(), &sent[0]["quantity"]), (1, &json!(1)), "{sent:?}");
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_10_arguments_are_coerced_to_their_types_and_unknown_ones_dropped() {
    let front = Front::start().await;
    let looks = Reply::new()
        .ask("product_get", &json!({"productId": 1001, "verbose": true}))
        .ask("product_search", &json!({"query": 1042, "pageSize": "2", "color": "red"}));
    let change = Reply::call(
        "cart_add_item",
        json!({"partNo": SHOE, "quantity": "2", "note": "a gift", "basketId": 9}),
    );
    let set = Reply::call(
        "cart_set_item_quantity",
        json!({"productId": 4_711, "quantity": "3", "partNo": SHOE}),
    );
    let server = model([looks, change, set]).await;
    let gateway = open(&front, &server, &[]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "two of them")).await;
    let started = |tool: &str| {
        events
            .iter()
            .find(|event| event.name == "tool_start" && event.data["tool"] == tool)
            .unwrap()
            .data["args"]
            .clone()
    };
    assert_eq!(started("product_get"), json!({"productId": "1001"}), "an id is a text");
    assert_eq!(started("product_search"), json!({"query": "1042", "pageSize": 2}));
    let sent = |tool: &str| front.of(tool).last().unwrap().body["params"]["arguments"].clone();
    assert_eq!(sent("product.search")["pageSize"], 2);
    assert!(
        sent("product.search").get("color").is_none()
            && sent("product.get").get("verbose").is_none()
    );
    let (_, done) = gateway.post("/v1/chat?debug=1", &message_of("s", "yes")).await;
    assert_eq!(pieces(&done), 2, "{done}");
    assert_eq!(done["debug"]["toolTrace"][0]["args"], json!({"partNo": SHOE, "quantity": 2}));
    let added = sent("cart.addItem");
    assert_eq!(
        (&added["partNo"], &added["quantity"], added.get("note"), added.get("basketId")),
        (&json!(SHOE), &json!(2), None, None),
        "{added}"
    );
    // A change of a line that is not in the cart is not proposed.
    let cart = json!({"items": [{"partNo": "4711", "name": "Boot", "quantity": 1}]});
    front.breaks("cart.get", (0..3).map(|_| Break::Result(cart.clone())));
    gateway.say("s", "three").await;
    gateway.say("s", "yes").await;
    let set = sent("cart.setItemQuantity");
    assert_eq!(
        (&set["productId"], &set["quantity"], set.get("partNo")),
        (&json!("4711"), &json!(3), None),
        "{set}"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_10_a_call_of_an_unknown_tool_is_reported_to_the_model_and_not_forwarded() {
    let front = Front::start().await;
    // Real endpoints do not accept the second name in a later request, because it contains a space.
    let unknown = Reply::new()
        .ask("cart_empty", &json!({"all": true}))
        .ask("shop.search now", &json!({"query": "tent"}));
    let server = model([unknown, Reply::text(["I cannot."])]).await;
    let gateway = open(&front, &server, &[]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "empty my cart")).await;
    let ends: Vec<(&str, &Value)> = events
        .iter()
        .filter(|e| e.name.starts_with("tool_"))
        .map(|e| (e.name.as_str(), &e.data))
        .collect();
    let heard: Vec<(&str, &str)> =
        ends.iter().map(|(name, data)| (*name, data["tool"].as_str().unwrap())).collect();
    assert_eq!(
        heard,
        [("tool_end", "cart_empty"), ("tool_end", "shop_search_now")],
        "unknown tools only end"
    );
    assert!(
        ends.iter().all(|(_, end)| end["ok"] == false
            && end["error"].is_string()
            && end.get("resultSummary").is_none()),
        "{ends:?}"
    );
    let told = results(&server, 1);
    assert_eq!(told.len(), 2, "each call has its result");
    for result in told {
        let told: Value = crate::memory::result_in(&result);
        assert!(
            told["error"].to_string().contains("no tool named")
                && result["tool_call_id"].is_string(),
            "{told}"
        );
    }
    assert_eq!(events.last().unwrap().data["text"], "I cannot.");
    assert!(front.requests().is_empty(), "nobody was asked: {:?}", front.requests());
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_10_a_tool_called_by_its_dotted_name_is_recognised() {
    let server = model([
        Reply::call("product.get", json!({"productId": "1001"})),
        Reply::call("cart.addItem", json!({"partNo": SHOE})),
        Reply::text(["Hm."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "one shoe")).await;
    let tools: Vec<&Value> = events
        .iter()
        .filter(|event| event.name.starts_with("tool_"))
        .map(|event| &event.data["tool"])
        .collect();
    assert_eq!(tools, ["product_get", "product_get"], "under the name that the contract has");
    assert_eq!(events.last().unwrap().data["pendingAction"]["tool"], "cart_add_item");
    gateway.say("s", "no").await;
    gateway.say("s", "never mind").await;
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_10_a_turn_out_of_rounds_apologises_and_keeps_its_results() {
    let english = "I could not finish within the steps allowed for one message. What was found so far is above; ask again for the rest.";
    let swedish = "Jag hann inte klart inom de steg som ett meddelande får ta. Det som hittats står ovan; fråga igen om resten.";
    for (culture, apology) in [("en-GB", english), ("sv-SE", swedish), ("fi-FI", english)] {
        let both = Reply::new()
            .ask("product_get", &json!({"productId": "1001"}))
            .ask("product_get", &json!({"productId": "1002"}));
        let server = model([
            Reply::call("product_search", json!({"query": "shoes"})),
            both,
            Reply::new(),
            Reply::text(["Yes?"]),
        ])
        .await;
        let gateway = Gateway::with(&server, &[("AGENT_MAX_ROUNDS", "2")]).await;
        let mut body = message_of("s", "compare shoes");
        body["context"]["cultureCode"] = json!(culture);
        let (status, answer) = gateway.post("/v1/chat", &body).await;
        assert_eq!(
            (status.as_u16(), answer["text"].as_str(), answer.get("error")),
            (200, Some(apology), None),
            "{answer}"
        );
        assert_eq!(answer["comparison"]["productIds"], json!(["1001", "1002"]), "{answer}");
        let mut cards: Vec<&str> = answer["cards"]
            .as_array()
            .unwrap()
            .iter()
            .map(|card| card["productId"].as_str().unwrap())
            .collect();
        cards.sort_unstable();
        assert_eq!(cards, ["1001", "1002"], "what was found so far");
        gateway.say("s", "go on").await;
        let messages = server.seen()[3].body["messages"].as_array().unwrap().clone();
        let said: Vec<&Value> = messages
            .iter()
            .filter(|message| message["content"] == apology)
            .map(|message| &message["role"])
            .collect();
        assert_eq!(said, ["assistant"], "{messages:?}");
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_20_reads_of_one_round_run_in_parallel_and_results_keep_their_order() {
    let front = Front::start().await;
    // No call is answered until all three calls have arrived.
    let all = Arc::new(Barrier::new(3));
    front.breaks("product.get", (0..3).map(|_| Break::Meet(Arc::clone(&all))));
    let looks = [1003, 1001, 1002].into_iter().fold(Reply::new(), |reply, id| {
        reply.ask("product_get", &json!({"productId": id.to_string()}))
    });
    let server = model([looks, Reply::text(["Three."])]).await;
    let gateway = open(&front, &server, &[]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "these three")).await;
    let tools: Vec<(&str, &str)> = events
        .iter()
        .filter(|event| event.name.starts_with("tool_"))
        .map(|event| {
            (
                event.name.as_str(),
                event.data["args"]["productId"]
                    .as_str()
                    .or(event.data["resultSummary"]["productId"].as_str())
                    .unwrap_or("failed"),
            )
        })
        .collect();
    let pair = |id| [("tool_start", id), ("tool_end", id)];
    assert_eq!(tools, [pair("1003"), pair("1001"), pair("1002")].concat());
    let told: Vec<Value> = results(&server, 1)
        .iter()
        .map(|one| crate::memory::result_in(one)["productId"].clone())
        .collect();
    assert_eq!(told, [1003, 1001, 1002], "the model has its results in the order of its calls");
    front.assert_broken();
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_20_text_beside_calls_appears_once_in_answer_and_conversation() {
    let aside = |text: &str, query: &str| {
        Reply::new().say(text).ask("product_search", &json!({"query": query}))
    };
    let server = model([
        aside("First tents.", "tent"),
        aside("Then mats.", "mat"),
        Reply::text(["Both."]),
        Reply::text(["Yes?"]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    assert_eq!(
        gateway.say("s", "for the night").await["text"],
        "First tents.\n\nThen mats.\n\nBoth."
    );
    gateway.say("s", "and?").await;
    let heard = server.seen()[3].body["messages"].to_string();
    for said in ["First tents.", "Then mats.", "Both."] {
        assert_eq!(heard.matches(said).count(), 1, "{said}: {heard}");
    }
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn thoughts_sent_as_text_are_removed_from_the_answer() {
    let server = model([
        Reply::new()
            .say("The visitor wants a tent.")
            .say("\n</think>\n\nFirst tents.")
            .ask("product_search", &json!({"query": "tent"})),
        Reply::text(["Hm.", "\n</think>\n\nBoth."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    let events = gateway.events("/v1/chat/stream?debug=1", &message_of("s", "a tent")).await;
    let answer = events.iter().rfind(|event| event.name == "final").unwrap();
    assert_eq!(answer.data["text"], "First tents.\n\nBoth.");
    let rounds: Vec<u64> = events.iter().filter_map(|event| event.data["round"].as_u64()).collect();
    assert_eq!(rounds, [1, 2], "{:?}", names(&events));
    assert!(events.iter().any(|event| event.data["stage"] == "output_replaced"));
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_20_text_beside_a_proposed_change_is_replaced_by_the_question() {
    let server = model([Reply::new()
        .say("I will add it.")
        .ask("cart_add_item", &json!({"partNo": SHOE, "quantity": 1}))])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "one shoe")).await;
    let answer = &events.last().unwrap().data;
    assert_eq!(answer["text"], answer["confirmation"]["prompt"], "{answer}");
    let replaced = events.iter().position(|event| event.data["stage"] == "output_replaced");
    let delta = events.iter().rposition(|event| event.name == "delta").unwrap();
    assert!(
        replaced.is_some_and(|at| at > delta),
        "what was streamed does not count: {:?}",
        names(&events)
    );
}
