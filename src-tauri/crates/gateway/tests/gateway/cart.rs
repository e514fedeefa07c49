//! Tests of the two steps of a cart change: the pending change, the messages that decide it, and
//! that the change is made only once.

use std::time::Duration;

use kit::model_server::Reply;
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::front::{Break, Front};
use crate::limits::uuid_like;
use crate::world::{Event, Gateway, SHOE, message_of, model, names, shown};

/// Another part that is in stock.
const OTHER: &str = "FJS-TR1001-BLK-43";

pub(crate) fn add(quantity: u64) -> Reply {
    Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": quantity}))
}

pub(crate) fn pieces(answer: &Value) -> u64 {
    answer["cart"]["items"]
        .as_array()
        .map_or(0, |items| items.iter().filter_map(|item| item["quantity"].as_u64()).sum())
}

fn ends(events: &[Event]) -> Vec<(&str, &str)> {
    events
        .iter()
        .filter(|event| event.name.starts_with("tool_"))
        .map(|event| (event.name.as_str(), event.data["tool"].as_str().unwrap()))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_cart_change_happens_only_after_confirmation() {
    let server = model([add(2)]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let events =
        gateway.events("/v1/chat/stream?debug=1", &message_of("s", "two of the trail shoes")).await;
    let asked = &events.last().unwrap().data;
    assert!(
        !names(&events).iter().any(|name| name.starts_with("tool_") || *name == "delta"),
        "nothing is told of what waits: {:?}",
        names(&events)
    );
    let (pending, confirmation) = (&asked["pendingAction"], &asked["confirmation"]);
    assert!(uuid_like(&pending["pendingActionId"]), "{asked}");
    assert_eq!(confirmation["id"], pending["pendingActionId"]);
    insta::assert_snapshot!("a_change_waits_for_a_yes", shown(asked));
    assert_eq!(asked["debug"]["toolTrace"][0]["pendingActionCreated"], true);
    assert_eq!(asked["debug"]["toolTrace"][0]["blockedByPolicy"], true);

    let events = gateway.events("/v1/chat/stream?debug=1", &message_of("s", " Yes ")).await;
    assert_eq!(
        ends(&events),
        [
            ("tool_start", "cart_add_item"),
            ("tool_end", "cart_add_item"),
            ("tool_start", "cart_get"),
            ("tool_end", "cart_get")
        ]
    );
    assert!(!names(&events).contains(&"delta"));
    let done = &events.last().unwrap().data;
    assert_eq!(
        (pieces(done), done["cart"]["itemCount"].as_u64(), done.get("pendingAction")),
        (2, Some(1), None),
        "{done}"
    );
    assert!(
        done["cart"]["cartId"].is_string() && done["cart"]["totals"]["total"]["amount"].is_number()
    );
    assert_eq!(done["cart"]["items"][0]["productId"], SHOE);
    assert_eq!(done["debug"]["toolTrace"][0]["pendingActionExecuted"], true);
    assert_eq!(server.seen().len(), 1, "no model is asked for a yes");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_only_the_first_of_two_changes_is_pending_and_shown() {
    let both = Reply::new()
        .ask("cart_add_item", &json!({"partNo": SHOE, "quantity": 2}))
        .ask("cart_add_item", &json!({"partNo": OTHER, "quantity": 1}));
    let server = model([both, Reply::text(["What else?"])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let asked = gateway.say("s", "two of these and one of those").await;
    assert!(asked["pendingAction"]["description"].as_str().unwrap().contains(SHOE), "{asked}");
    let done = gateway.say("s", "yes").await;
    let parts: Vec<&str> = done["cart"]["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|item| item["productId"].as_str())
        .collect();
    assert_eq!((parts, pieces(&done)), (vec![SHOE], 2), "{done}");
    assert!(
        gateway.say("s", "and now?").await.get("pendingAction").is_none(),
        "nothing waits unseen"
    );
    let told = server.seen().pop().unwrap().body["messages"].to_string();
    assert!(told.contains("one change at a time"), "the model knows what was not run: {told}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_further_changes_of_a_message_are_listed_as_not_yet_done() {
    let both = || {
        Reply::new()
            .ask("cart_add_item", &json!({"partNo": SHOE, "quantity": 2}))
            .ask("cart_add_item", &json!({"partNo": OTHER, "quantity": 1}))
    };
    let server = model([both(), both(), add(1)]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let left = [
        ("en-GB", format!("One change is made at a time. Ask again for: 1 × {OTHER}.")),
        ("sv-SE", format!("En ändring görs i taget. Be igen om: 1 × {OTHER}.")),
    ];
    for (culture, left) in left {
        let mut body = message_of(culture, "two of these and one of those");
        body["context"]["cultureCode"] = json!(culture);
        let (_, asked) = gateway.post("/v1/chat", &body).await;
        let prompt = asked["confirmation"]["prompt"].as_str().unwrap();
        assert_eq!(asked["text"], format!("{prompt} {left}"));
        body["message"] = json!("ja");
        let (_, done) = gateway.post("/v1/chat", &body).await;
        assert!(done["text"].as_str().unwrap().ends_with(&left), "{done}");
        assert_eq!(pieces(&done), 2);
    }
    let alone = gateway.say("en-GB", "one more").await;
    assert_eq!(alone["text"], alone["confirmation"]["prompt"], "nothing is left of one");
    assert_eq!(gateway.say("en-GB", "yes").await["text"], "Done. Your cart is up to date.");
    server.assert_clean();
}

/// Waits until another task has made the condition true.
pub(crate) async fn until(what: impl Fn() -> bool) {
    tokio::time::timeout(Duration::from_secs(30), async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .expect("it comes about");
}

/// Waits until the gateway's counters contain these values.
async fn counts(gateway: &Gateway, all: &[&str]) {
    let told = async {
        loop {
            let page = gateway.get("/v1/metrics").await.text().await.unwrap();
            if all.iter().all(|one| page.contains(one)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), told).await.unwrap_or_else(|_| panic!("{all:?}"));
}

/// Sends a message and does not read the answer. Returns when the turn has begun.
pub(crate) async fn sends(gateway: &Gateway, message: &str) -> TcpStream {
    let (body, place) =
        (message_of("s", message).to_string(), gateway.base.trim_start_matches("http://"));
    let mut client = TcpStream::connect(place).await.unwrap();
    let request = format!(
        "POST /v1/chat HTTP/1.1\r\nhost: {place}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    client.write_all(request.as_bytes()).await.unwrap();
    counts(gateway, &["csign_gateway_turns_running 1\n"]).await;
    client
}

/// Disconnects, and waits until the gateway has closed the connection, too.
pub(crate) async fn disconnect(mut client: TcpStream) {
    client.shutdown().await.unwrap();
    assert_eq!(client.read_to_end(&mut Vec::new()).await.unwrap(), 0, "nothing was answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_and_22_18_a_yes_does_not_confirm_an_action_of_a_cancelled_turn() {
    let front = Front::start().await;
    front.breaks("product.search", [Break::Hang]);
    let beside = Reply::new()
        .ask("cart_add_item", &json!({"partNo": SHOE, "quantity": 1}))
        .ask("product_search", &json!({"query": "tent"}));
    let server = model([beside, Reply::text(["Yes what?"])]).await;
    let gateway = crate::remote_shop::open(&front, &server, &[]).await;
    let request = gateway
        .request(reqwest::Method::POST, "/v1/chat")
        .json(&message_of("s", "a shoe, and tents"));
    let asking = tokio::spawn(request.send());
    until(|| gateway.csign(&["approvals", "list"]).to_string().contains(SHOE)).await;
    asking.abort();
    assert_eq!(gateway.say("s", "yes").await["text"], "Yes what?", "nothing waits");
    assert_eq!(front.count("cart.addItem"), 0);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_and_22_18_a_question_that_reached_no_client_is_asked_again() {
    let front = Front::start().await;
    let server = model([add(1)]).await;
    let gateway = crate::remote_shop::open(&front, &server, &[]).await;
    // The read of the preview is answered at once; the search for variants takes longer than the
    // client stays connected.
    front.breaks("product.get", [Break::Slow(0), Break::Slow(4_000)]);
    let request =
        gateway.request(reqwest::Method::POST, "/v1/chat").json(&message_of("s", "a shoe"));
    let asking = tokio::spawn(request.send());
    until(|| front.count("product.get") > 1).await;
    asking.abort();
    let asked = gateway.say("s", "yes").await;
    assert!(
        asked["pendingAction"].is_object() && asked["text"].as_str().unwrap().contains(SHOE),
        "it is shown first: {asked}"
    );
    assert_eq!(front.count("cart.addItem"), 0);
    assert_eq!(pieces(&gateway.say("s", "yes").await), 1);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_and_22_18_an_undelivered_reminder_does_not_reset_the_question() {
    let server = model([add(1)]).await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "one shoe").await;
    // The reminder is stored only after its client has disconnected.
    let writer = crate::sessions::database(&gateway);
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    disconnect(sends(&gateway, "hm").await).await;
    writer.execute_batch("COMMIT").unwrap();
    counts(
        &gateway,
        &["csign_gateway_turns_total{status=\"2xx\"} 2\n", "csign_gateway_clients_left_total 1\n"],
    )
    .await;
    assert_eq!(pieces(&gateway.say("s", "yes").await), 1);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_4_a_round_that_only_proposes_changes_sends_no_tool_events() {
    let both = Reply::new()
        .ask("cart_add_item", &json!({"partNo": SHOE, "quantity": 2}))
        .ask("cart_add_item", &json!({"partNo": OTHER, "quantity": 1}));
    let server = model([both]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let events =
        gateway.events("/v1/chat/stream", &message_of("s", "two of these and one of those")).await;
    assert!(names(&events).iter().all(|name| !name.starts_with("tool_")), "{events:?}");
    assert!(!format!("{events:?}").contains("could not be reached"), "{events:?}");
    assert!(
        events.last().unwrap().data["pendingAction"]["description"]
            .as_str()
            .unwrap()
            .contains(SHOE)
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_changed_price_creates_a_new_proposal() {
    let front = Front::start().await;
    let server = model([add(1)]).await;
    let gateway = crate::remote_shop::open(&front, &server, &[]).await;
    let asked = gateway.say("s", "one shoe").await;
    assert!(asked["pendingAction"].is_object(), "{asked}");
    // The product has this data when the confirmation arrives.
    let dearer = json!({"productId": 1001, "partNo": SHOE, "name": "Shoe", "priceIncVat": "SEK 9 999.00", "currency": "SEK"});
    front.breaks("product.get", std::iter::repeat_n(Break::Result(dearer), 8));
    let changed = gateway.say("s", "yes").await;
    assert!(uuid_like(&changed["pendingAction"]["pendingActionId"]), "{changed}");
    assert_ne!(
        changed["pendingAction"]["pendingActionId"],
        asked["pendingAction"]["pendingActionId"]
    );
    assert_eq!(front.count("cart.addItem"), 0, "nothing was sent under the old signature");
    assert!(
        changed["text"].as_str().unwrap().contains("9,999.00 SEK"),
        "the new price can be seen: {changed}"
    );
    assert_eq!(changed["confirmation"]["prompt"], changed["pendingAction"]["description"]);
    assert_eq!(pieces(&gateway.say("s", "yes").await), 1);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_4_and_22_11_an_answer_without_a_model_call_has_only_status_and_final() {
    let server = model([add(1), add(1)]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let hear =
        async |message: &str| gateway.events("/v1/chat/stream", &message_of("s", message)).await;
    hear("a shoe").await;
    assert_eq!(names(&hear("what was that?").await), ["status", "final"], "a reminder");
    assert_eq!(names(&hear("nej").await), ["status", "final"], "cancelled");
    hear("a shoe").await;
    let done = hear("ja").await;
    let end = done
        .iter()
        .find(|event| event.name == "tool_end" && event.data["tool"] == "cart_add_item")
        .unwrap();
    assert_eq!(end.data["resultSummary"], json!({"success": true}));
    assert_eq!(names(&hear("ja").await), ["status", "final"], "done already");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_7_a_change_beside_other_calls_leaves_paired_messages() {
    let beside = Reply::new()
        .ask("cart_add_item", &json!({"partNo": SHOE, "quantity": 1}))
        .ask("product_search", &json!({"query": "tent"}));
    let server = model([beside, Reply::text(["Hello."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    assert!(gateway.say("s", "a shoe, and show me tents").await["pendingAction"].is_object());
    gateway.say("s", "no").await;
    assert_eq!(gateway.say("s", "hello").await["text"], "Hello.");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_only_whole_yes_or_no_words_decide_and_other_messages_get_a_reminder() {
    let server = model([add(1), Reply::text(["All right."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let asked = gateway.say("s", "one shoe").await;
    for other in ["yesterday", "okay but in red", "what does it cost?"] {
        let reminded = gateway.say("s", other).await;
        assert_eq!(reminded["pendingAction"], asked["pendingAction"], "{other}");
        assert!(reminded["confirmation"].is_object() && reminded.get("debug").is_none());
    }
    let cancelled = gateway.say("s", "Nej").await;
    assert!(
        cancelled.get("pendingAction").is_none() && cancelled.get("cart").is_none(),
        "{cancelled}"
    );
    assert_eq!(server.seen().len(), 1, "the model was not asked");
    // The model receives the result, but not the reminders.
    gateway.say("s", "thanks").await;
    let heard = server.seen()[1].body["messages"].to_string();
    assert!(heard.contains("Nej") && !heard.contains("yesterday"), "{heard}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_and_22_5_concurrent_confirmations_add_the_item_once() {
    let server = model([add(1)]).await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "one shoe").await;
    let answers = futures_of(&gateway, "yes", 6).await;
    assert!(answers.iter().all(|answer| pieces(answer) == 1), "{answers:?}");
    let again = gateway.say("s", "ja").await;
    assert_eq!(pieces(&again), 1, "a repeat changes nothing");
    assert_ne!(again["text"], "", "and is answered");
    assert_eq!(server.seen().len(), 1);
}

async fn futures_of(gateway: &Gateway, message: &str, count: usize) -> Vec<Value> {
    let body = message_of("s", message);
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..count {
        let request = gateway.request(reqwest::Method::POST, "/v1/chat").json(&body);
        asking.spawn(async move { request.send().await.unwrap().json::<Value>().await.unwrap() });
    }
    asking.join_all().await
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_9_a_yes_without_a_pending_action_goes_to_the_model() {
    let server = model([add(1), Reply::text(["Anything else?"]), Reply::text(["Good."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let mut body = message_of("s", "en sko");
    body["context"]["cultureCode"] = json!("sv-SE");
    let (_, asked) = gateway.post("/v1/chat", &body).await;
    assert_eq!(asked["confirmation"]["options"][0]["value"], "ja");
    body["message"] = json!("ja");
    let (_, done) = gateway.post("/v1/chat", &body).await;
    let (_, again) = gateway.post("/v1/chat", &body).await;
    assert_ne!(done["text"], again["text"]);
    assert_eq!(again["text"], "Det är redan gjort.");
    gateway.say("s", "what about socks?").await;
    assert_eq!(gateway.say("s", "yes").await["text"], "Good.");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_quantity_changes_and_removals_also_need_confirmation() {
    let set = Reply::call("cart_set_item_quantity", json!({"productId": SHOE, "quantity": 3}));
    let remove = Reply::call("cart_remove_item", json!({"productId": SHOE}));
    let server = model([add(1), set, remove]).await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "add").await;
    gateway.say("s", "yes").await;
    let asked = gateway.say("s", "make it three").await;
    assert_eq!(asked["pendingAction"]["tool"], "cart_set_item_quantity");
    assert_eq!(pieces(&asked), 1, "the cart is in every turn");
    assert_eq!(pieces(&gateway.say("s", "ok").await), 3);
    let asked = gateway.say("s", "remove them").await;
    let description = asked["pendingAction"]["description"].as_str().unwrap();
    assert!(description.contains(SHOE), "{description}");
    let done = gateway.say("s", "gör det").await;
    assert_eq!((pieces(&done), done["cart"]["itemCount"].as_u64()), (0, Some(0)));
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_changed_customer_or_price_list_creates_a_new_proposal() {
    for (name, value) in
        [("customerId", json!(77)), ("priceListIds", json!([5, 6])), ("currencyCode", json!("EUR"))]
    {
        let server = model([add(1)]).await;
        let gateway = Gateway::with(&server, &[]).await;
        let asked = gateway.say("s", "one shoe").await;
        let mut body = message_of("s", "yes");
        body["context"][name] = value;
        let (status, changed) = gateway.post("/v1/chat", &body).await;
        assert_eq!(status, StatusCode::OK);
        assert!(uuid_like(&changed["pendingAction"]["pendingActionId"]), "{name}: {changed}");
        assert_ne!(
            changed["pendingAction"]["pendingActionId"], asked["pendingAction"]["pendingActionId"],
            "{name}"
        );
        assert!(changed.get("cart").is_none());
        let (_, done) = gateway.post("/v1/chat", &body).await;
        assert_eq!(pieces(&done), 1, "{name}: {done}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_pending_action_survives_a_restart_and_runs_once() {
    let server = model([add(1)]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let asked = gateway.say("s", "one shoe").await;
    let gateway = gateway.restart(&["--no-token"], &[]).await;
    let reminded = gateway.say("s", "hm").await;
    assert_eq!(
        reminded["pendingAction"]["pendingActionId"],
        asked["pendingAction"]["pendingActionId"]
    );
    assert_eq!(pieces(&gateway.say("s", "yes").await), 1);
    assert_eq!(pieces(&gateway.say("s", "yes").await), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_and_22_11_a_change_refused_by_the_shop_ends_without_quoting_it() {
    let server = model([
        Reply::call("cart_add_item", json!({"partNo": "NO-SUCH-PART", "quantity": 1})),
        Reply::text(["Sorry."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "one of those").await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "yes")).await;
    let done = &events.last().unwrap().data;
    assert!(done.get("error").is_none() && done.get("pendingAction").is_none(), "{done}");
    let end = events.iter().find(|event| event.name == "tool_end").unwrap();
    assert_eq!((end.data["ok"].as_bool(), end.data.get("resultSummary")), (Some(false), None));
    assert!(!format!("{events:?}").contains("NO-SUCH-PART is"), "the shop's words stay here");
    assert_eq!(
        gateway.say("s", "yes").await["text"],
        "Sorry.",
        "nothing waits and nothing was done"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_3_invalid_and_huge_quantities_are_refused() {
    for quantity in [json!(1.5), json!(-1), json!(1_000_000), json!(null)] {
        let server = model([
            Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": quantity})),
            Reply::text(["How many?"]),
        ])
        .await;
        let gateway = Gateway::with(&server, &[]).await;
        let answer = gateway.say("s", "add").await;
        let asked = answer["pendingAction"]["description"].as_str().unwrap_or_default();
        assert!(
            asked.is_empty() || (quantity.is_null() && asked.contains('1')),
            "{quantity}: {answer}"
        );
        assert!(server.violations().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_adding_a_parent_product_offers_variants_that_a_number_chooses() {
    let script = [
        Reply::call("product_get", json!({"productId": "1001"})),
        Reply::call("cart_add_item", json!({"partNo": "FJS-TR1001", "quantity": 2})),
    ];
    let server = model(script.into_iter().chain([Reply::text(["Sure."])])).await;
    let gateway = Gateway::with(&server, &[]).await;
    let asked = gateway.say("s", "two of the trail shoes").await;
    assert!(asked.get("pendingAction").is_none(), "{asked}");
    let choices = &asked["choices"];
    let options = choices["options"].as_array().unwrap_or_else(|| panic!("choices: {asked}"));
    assert_eq!(
        (choices["kind"].as_str(), (1..=6).contains(&options.len())),
        (Some("variant"), true)
    );
    insta::assert_snapshot!("variants_to_choose_from", shown(&asked));
    let stocks: Vec<f64> = options
        .iter()
        .filter(|option| option["meta"]["inStock"] == true)
        .filter_map(|option| option["meta"]["onHand"].as_f64())
        .collect();
    assert!(stocks.windows(2).all(|pair| pair[0] >= pair[1]), "more stock first: {stocks:?}");
    let chosen = gateway.say("s", "Option 2").await;
    let part = options[1]["meta"]["partNo"].as_str().unwrap();
    let description = chosen["pendingAction"]["description"]
        .as_str()
        .unwrap_or_else(|| panic!("a proposal: {chosen}"));
    assert!(description.contains(part) && description.contains('2'), "{description}");
    assert_eq!(server.seen().len(), 2, "no model is needed to choose");
    assert_eq!(pieces(&gateway.say("s", "yes").await), 2);
    // Used choices can no longer be chosen.
    let later = gateway.say("s", "option 1").await;
    assert_eq!((later["text"].as_str(), later.get("pendingAction")), (Some("Sure."), None));
    server.assert_clean();
}
