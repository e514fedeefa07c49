//! Tests of sessions in the data folder: their expiry and the data deleted with them, the clean-up,
//! their maximum length, and stored products. The tests read the database directly, and set a
//! session's expiry to simulate time.

use std::time::Duration;

use chrono::Utc;
use kit::model_server::{ModelServer, Reply};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::cart::add;
use crate::front::{Break, Front};
use crate::remote_shop::open;
use crate::world::{Gateway, message_of, model};

const SESSION: &str = "shop-web:s";

pub(crate) fn database(gateway: &Gateway) -> Connection {
    let database = Connection::open(gateway.path("data/countersign.db")).unwrap();
    database.busy_timeout(Duration::from_secs(30)).unwrap();
    database
}

/// Returns the gateway's stored data of the session.
fn stored_session(gateway: &Gateway) -> Value {
    let read = "SELECT value FROM session_value WHERE session = ?1 AND name = '$gateway'";
    let text: String = database(gateway).query_row(read, [SESSION], |row| row.get(0)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Sets the time at which the session expires.
pub(crate) fn end_at(gateway: &Gateway, at_ms: i64) {
    let write = "UPDATE session_value SET value = json_set(value, '$.expiresAt', ?2) WHERE session = ?1 AND name = '$gateway'";
    assert_eq!(database(gateway).execute(write, (SESSION, at_ms)).unwrap(), 1);
}

/// Returns the number of a session's rows for each table.
fn rows(gateway: &Gateway, session: &str) -> Vec<(&'static str, i64)> {
    let database = database(gateway);
    let count = |table: &'static str, column: &str| {
        let count = format!("SELECT count(*) FROM {table} WHERE {column} = ?1");
        (table, database.query_row(&count, [session], |row| row.get(0)).unwrap())
    };
    vec![
        count("session", "id"),
        count("item", "session"),
        count("turn", "session"),
        count("approval", "session"),
        count("session_value", "session"),
    ]
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..1_500 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what}");
}

fn requests_of(server: &ModelServer) -> Vec<(&'static str, String)> {
    vec![
        ("OPENAI_BASE_URL", server.base_url()),
        ("OPENAI_API_KEY", "sk-test-0123456789abcdef".into()),
        ("OPENAI_MODEL", "scripted".into()),
    ]
}

/// Starts another process in the same folder.
async fn restart_gateway(gateway: Gateway, server: &ModelServer) -> Gateway {
    restart_with(gateway, server, &[]).await
}

async fn restart_with(gateway: Gateway, server: &ModelServer, more: &[(&str, &str)]) -> Gateway {
    let variables = requests_of(server);
    let env = variables.iter().map(|(name, value)| (*name, value.as_str()));
    let env: Vec<(&str, &str)> = env.chain(more.iter().copied()).collect();
    gateway.restart(&["--no-token"], &env).await
}

/// Returns the time in this many hours.
fn in_hours(hours: i64) -> String {
    (Utc::now() + chrono::TimeDelta::hours(hours)).to_rfc3339()
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_a_session_has_an_expiry_time_from_its_first_message() {
    let server = model([Reply::new().say("Never ").hang()]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let request =
        gateway.request(reqwest::Method::POST, "/v1/chat").json(&message_of("s", "hello"));
    let asking = tokio::spawn(request.send());
    until("the model is asked", || !server.seen().is_empty()).await;
    // If the gateway crashes now, the next start still deletes the session in time.
    assert!(
        stored_session(&gateway)["expiresAt"].as_i64().unwrap() > Utc::now().timestamp_millis()
    );
    asking.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_each_turn_renews_a_sessions_lifetime_and_an_expired_session_is_gone() {
    let failing = Reply::refusal(400, &json!({"message": "no", "type": "invalid_request_error"}));
    let server = model([
        Reply::text(["A violin."]),
        Reply::text(["Still."]),
        add(1),
        failing,
        Reply::text(["Who are you?"]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[("SESSION_TTL_SECONDS", "600")]).await;
    // Each message extends the session: an answer, an answer shortly before the expiry, a proposal,
    // a reminder, a refusal, and a turn that fails.
    for message in ["remember the violin", "still?", "one shoe", "hm", "no", "what now?"] {
        let before = Utc::now().timestamp_millis();
        gateway.post("/v1/chat", &message_of("s", message)).await;
        let ends = stored_session(&gateway)["expiresAt"].as_i64().unwrap();
        assert!(
            (before + 600_000..=Utc::now().timestamp_millis() + 600_000).contains(&ends),
            "{message}: {ends} after {before}"
        );
        end_at(&gateway, before + 60_000);
    }
    assert!(
        server.seen()[3].body["messages"].to_string().contains("violin"),
        "it has gone on all the time"
    );
    end_at(&gateway, Utc::now().timestamp_millis() - 1);
    assert_eq!(gateway.say("s", "and now?").await["text"], "Who are you?");
    let heard = server.seen()[4].body["messages"].to_string();
    assert!(!heard.contains("violin") && !heard.contains("shoe"), "{heard}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_and_11_a_pending_action_and_the_cart_expire_with_their_session() {
    let front = Front::start().await;
    let server = model([
        add(1),
        add(2),
        Reply::text(["Hello."]),
        Reply::call("cart_get", json!({})),
        Reply::text(["Empty."]),
    ])
    .await;
    let gateway = open(&front, &server, &[]).await;
    gateway.say("s", "one shoe").await;
    gateway.say("s", "yes").await;
    assert!(gateway.say("s", "two more").await["pendingAction"].is_object());
    end_at(&gateway, Utc::now().timestamp_millis() - 1);
    let answer = gateway.say("s", "yes").await;
    assert_eq!(
        (answer["text"].as_str(), answer.get("pendingAction"), answer.get("cart")),
        (Some("Hello."), None, None),
        "a message like any: {answer}"
    );
    assert_eq!(front.count("cart.addItem"), 1, "only what was confirmed in time");
    assert!(
        gateway
            .csign(&["approvals", "list", "--all"])
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["status"] != "pending")
    );
    let carts = front.count("cart.get");
    assert_eq!(
        gateway.say("s", "my cart").await["cart"]["itemCount"],
        0,
        "the basket has gone, too"
    );
    assert_eq!(
        (front.count("cart.get"), front.count("initialize")),
        (carts, 1),
        "without a basket nobody is asked"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_an_expired_session_is_removed_even_with_an_unfinished_change() {
    let server = model([add(1), Reply::text(["Hello."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "one shoe").await;
    assert_eq!(
        database(&gateway).execute("UPDATE approval SET status = 'executing'", []).unwrap(),
        1
    );
    end_at(&gateway, Utc::now().timestamp_millis() - 1);
    assert_eq!(gateway.say("s", "hello").await["text"], "Hello.");
    let ended = gateway.csign(&["audit", "list", "--type", "approval_resolved"]).to_string();
    assert!(ended.contains("failed"), "{ended}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_expired_sessions_are_removed_and_others_stay() {
    let server = model([add(1), add(1), Reply::text(["Yours."])]).await;
    // The records of another day make the clock trusted.
    let gateway = Gateway::with(&server, &[("COUNTERSIGN_TEST_NOW", &in_hours(-25))]).await;
    let gateway = restart_gateway(gateway, &server).await;
    gateway.say("s", "remember the violin").await;
    gateway.say("other", "one shoe").await;
    assert!(
        rows(&gateway, SESSION).iter().all(|(_, count)| *count > 0),
        "{:?}",
        rows(&gateway, SESSION)
    );
    end_at(&gateway, Utc::now().timestamp_millis() - 1);
    let gateway = restart_gateway(gateway, &server).await;
    until("what is over goes", || rows(&gateway, SESSION).iter().all(|(_, count)| *count == 0))
        .await;
    let lost: Vec<Value> =
        gateway.csign(&["approvals", "list", "--all"]).as_array().unwrap().clone();
    assert!(lost.iter().all(|row| row["session"] != SESSION), "{lost:?}");
    assert!(
        gateway.say("other", "hm").await["pendingAction"].is_object(),
        "what has time left waits on"
    );
    assert_eq!(gateway.say("s", "hello").await["text"], "Yours.");
    assert!(!server.seen()[2].body["messages"].to_string().contains("violin"));
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_a_clock_far_ahead_at_one_start_expires_no_session() {
    let server = model([Reply::text(["A."]), Reply::text(["B."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "remember the violin").await;
    let ahead = in_hours(400 * 24);
    let gateway = restart_with(gateway, &server, &[("COUNTERSIGN_TEST_NOW", &ahead)]).await;
    gateway.say("s", "what did I say?").await;
    assert!(server.seen()[1].body["messages"].to_string().contains("violin"));
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_and_22_16_a_long_conversation_is_bounded_for_the_model_and_on_disk() {
    let server = model([Reply::text(["All right."]).repeated()]).await;
    let gateway = Gateway::with(&server, &[]).await;
    for turn in 1..=255 {
        gateway.say("s", &format!("message {turn}")).await;
    }
    let heard = server
        .seen()
        .iter()
        .map(|seen| seen.body["messages"].as_array().unwrap().len())
        .max()
        .unwrap();
    // The maximum is the window, plus messages that may wait for a summary during the model's
    // cooldown.
    assert!(heard < 140, "{heard} messages went to the model");
    let gateway = restart_gateway(gateway, &server).await;
    let items = || rows(&gateway, SESSION)[1].1;
    until("the oldest items go", || items() <= 500).await;
    assert!(items() > 490, "and no others: {}", items());
    let left = |message: &str| {
        let count =
            "SELECT count(*) FROM item WHERE session = ?1 AND json_extract(body, '$.text') = ?2";
        database(&gateway).query_row(count, (SESSION, message), |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!((left("message 1"), left("message 255")), (0, 1));
    gateway.say("s", "one more").await;
    let newest = server.seen().pop().unwrap().body["messages"].to_string();
    assert!(newest.contains("message 255") && newest.contains("one more"), "{newest}");
    assert!(server.violations().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_and_16_shown_products_are_stored_in_full_and_described_briefly() {
    let front = Front::start().await;
    let red = json!({"productId": 11, "partNo": "T-11", "name": "Tent", "brand": "Own", "color": "Red", "price": "1299.50", "currency": "SEK", "url": "/p/11",
        "onHand": {"value": 7, "isActive": true}});
    let found = |items: Value| Break::Result(json!({"items": items}));
    let bare = json!({"productId": "12", "name": "Pole"});
    front.breaks(
        "product.search",
        [
            found(json!([bare, red])),
            found(json!([])),
            found(json!([{"productId": 13, "name": "Rope"}])),
        ],
    );
    let search =
        || [Reply::call("product_search", json!({"query": "tent"})), Reply::text(["Well."])];
    let server =
        model(search().into_iter().chain([Reply::text(["Hm."])]).chain(search()).chain(search()))
            .await;
    let gateway = open(&front, &server, &[]).await;
    gateway.say("s", "tents").await;
    let results = json!([
        {"index": 1, "productId": "11", "partNo": "T-11", "name": "Tent", "brand": "Own", "color": "Red", "price": 1299.5, "currency": "SEK", "url": "/p/11",
            "availabilityStatus": "in_stock", "onHandValue": 7.0},
        {"index": 2, "productId": "12", "name": "Pole", "availabilityStatus": "unknown"}
    ]);
    assert_eq!(stored_session(&gateway)["memory"]["lastResults"], results);
    let told = json!([
        {"index": 1, "id": "11", "partNo": "T-11", "name": "Tent", "brand": "Own", "color": "Red", "price": "1299.5 SEK", "availability": "in_stock"},
        {"index": 2, "id": "12", "name": "Pole", "availability": "unknown"}
    ]);
    gateway.say("s", "is it warm?").await;
    assert_eq!(crate::memory::told(&server, 2)["lastResults"], told);
    gateway.say("s", "other tents").await;
    assert_eq!(
        stored_session(&gateway)["memory"]["lastResults"],
        results,
        "neither talk nor an empty search replaces them"
    );
    gateway.say("s", "ropes").await;
    assert_eq!(crate::memory::told(&server, 5)["lastResults"], told);
    assert_eq!(
        stored_session(&gateway)["memory"]["lastResults"],
        json!([{"index": 1, "productId": "13", "name": "Rope", "availabilityStatus": "unknown"}])
    );
    server.assert_clean();
    front.assert_broken();
}
