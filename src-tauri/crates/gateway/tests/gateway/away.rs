//! Tests of a shared Redis that stops and returns, and of gateways that are killed during a change:
//! no change is made twice or lost, and an unknown outcome is reported as unknown.

use std::sync::Arc;
use std::time::Duration;

use kit::model_server::Reply;
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::cart::{add, pieces, until};
use crate::front::{Break, Front};
use crate::redis::Redis;
use crate::remote_shop::open;
use crate::sessions::end_at;
use crate::sharing::{gateway, two};
use crate::world::{Gateway, SHOE, message_of, model, names};

const UNKNOWN: &str = "may or may not have happened";
const NOT_OPEN: &str = "That question is not open any more.";

/// Asserts the contract's error for a session that cannot be reached.
fn is_away(status: StatusCode, answer: &Value) {
    let error = &answer["error"];
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{answer}");
    assert_eq!(
        (error["code"].as_str(), error["retryable"].as_bool()),
        (Some("SESSION_STORE_UNAVAILABLE"), Some(true)),
        "{answer}"
    );
    assert_eq!((&answer["text"], answer["sessionId"].as_str()), (&error["message"], Some("s")));
    assert!(error["requestId"].is_string() && answer["turnId"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_a_turn_during_which_redis_fails_is_completed_and_shared_later() {
    let mut redis = Redis::start().await;
    let server = model([
        Reply::new().say("First ").wait_ms(1_500).say("answer."),
        Reply::text(["Second."]),
        Reply::text(["Third."]),
    ])
    .await;
    let (one, other) = two(&redis, &server).await;
    let request = one
        .request(reqwest::Method::POST, "/v1/chat/stream")
        .json(&message_of("s", "remember the violin"));
    let asking = tokio::spawn(async move {
        crate::world::parse(&request.send().await.unwrap().text().await.unwrap())
    });
    while server.seen().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    redis.kill();
    let events = asking.await.unwrap();
    let names = names(&events);
    assert_eq!(names[names.len() - 2..], ["error", "final"], "{names:?}");
    is_away(StatusCode::SERVICE_UNAVAILABLE, &events.last().unwrap().data);
    let (status, answer) = one.post("/v1/chat", &message_of("s", "hello?")).await;
    is_away(status, &answer);
    assert_eq!(server.seen().len(), 1, "no model is asked for a session that cannot be reached");

    redis.back().await;
    // The gateway continues without a restart, and the other gateway gets the messages that were
    // sent during the outage.
    while redis.keys().iter().all(|key| key != "agent:sess:shop-web:s") {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    other.say("s", "what did I say?").await;
    let heard = server.seen()[1].body["messages"].to_string();
    assert!(heard.contains("violin") && heard.contains("First answer."), "{heard}");
    one.say("s", "go on").await;
    assert!(server.seen()[2].body["messages"].to_string().contains("Second."));
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_confirmation_during_a_redis_outage_is_refused_and_later_applied_once() {
    let mut redis = Redis::start().await;
    let server = model([add(1)]).await;
    let (one, other) = two(&redis, &server).await;
    one.say("s", "one shoe").await;
    redis.kill();
    for gateway in [&one, &other, &one] {
        let (status, answer) = gateway.post("/v1/chat", &message_of("s", "yes")).await;
        is_away(status, &answer);
    }
    redis.back().await;
    let done = other.say("s", "yes").await;
    assert_eq!(pieces(&done), 1, "{done}");
    let again = one.say("s", "yes").await;
    assert_eq!((again["text"].as_str(), pieces(&again)), (Some("That has been done already."), 1));
    server.assert_clean();
}

/// Stops Redis after the decision and before the shop gets the change. `asked` breaks the reads for
/// the question.
async fn kept_and_nothing_more(asked: &[Break]) {
    let (mut redis, front) = (Redis::start().await, Front::start().await);
    let server = model([add(1), Reply::text(["Good."])]).await;
    let url = redis.url();
    let gateway = open(&front, &server, &[("SESSION_STORE", "redis"), ("REDIS_URL", &url)]).await;
    front.breaks("product.get", asked.iter().cloned());
    gateway.say("s", "one shoe").await;
    front.assert_broken();
    // The read after the decision is answered only after Redis has stopped.
    let gone = Arc::new(Barrier::new(2));
    front.breaks("product.get", [Break::Meet(Arc::clone(&gone))]);
    let looks = front.count("product.get");
    let deciding = tokio::spawn(
        gateway.request(reqwest::Method::POST, "/v1/chat").json(&message_of("s", "yes")).send(),
    );
    until(|| front.count("product.get") > looks).await;
    redis.kill();
    gone.wait().await;
    let (status, answer) = crate::world::read(deciding.await.unwrap().unwrap()).await;
    is_away(status, &answer);
    redis.back().await;
    let again = gateway.say("s", "yes").await;
    assert!(again["text"].as_str().unwrap().starts_with(NOT_OPEN), "{again}");
    assert_eq!(
        (gateway.say("s", "yes").await["text"].as_str(), front.count("cart.addItem")),
        (Some("Good."), 0)
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_repeated_confirmation_is_answered_if_redis_kept_only_the_decision() {
    kept_and_nothing_more(&[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_repeated_confirmation_after_a_price_change_is_answered() {
    let dearer = json!({"productId": 1001, "partNo": SHOE, "name": "Shoe", "priceIncVat": "SEK 9 999.00", "currency": "SEK"});
    kept_and_nothing_more(&[Break::Result(dearer.clone()), Break::Result(dearer)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_a_session_lost_by_redis_continues_without_its_pending_action() {
    let mut redis = Redis::start().await;
    let server = model([Reply::text(["A violin."]), add(1), Reply::text(["What?"])]).await;
    let gateway = gateway(&redis, &server).await;
    gateway.say("s", "remember the violin").await;
    gateway.say("s", "one shoe").await;
    redis.kill();
    redis.back_empty().await;
    // The gateway cannot know whether another gateway has made the change in the meantime.
    assert!(gateway.say("s", "yes").await["text"].as_str().unwrap().starts_with(NOT_OPEN));
    assert_eq!(gateway.say("s", "yes").await["text"], "What?");
    assert!(server.seen()[2].body["messages"].to_string().contains("violin"));
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_and_11_the_log_records_the_expiry_of_an_action_whose_session_redis_lost() {
    let redis = Redis::start().await;
    let server = model([add(1), Reply::text(["Hello."])]).await;
    let gateway = gateway(&redis, &server).await;
    gateway.say("s", "one shoe").await;
    redis.ask(&["DEL", "agent:sess:shop-web:s"]);
    assert_eq!(redis.keys().len(), 1, "the action is still known there");
    end_at(&gateway, chrono::Utc::now().timestamp_millis() - 1);
    assert_eq!(gateway.say("s", "yes").await["text"], "Hello.");
    let ended = gateway.csign(&["audit", "list", "--type", "approval_resolved"]).to_string();
    assert!(ended.contains("expired"), "{ended}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_messages_not_shared_before_a_stop_are_shared_at_the_next_start() {
    let mut redis = Redis::start().await;
    let server =
        model([Reply::new().say("First ").wait_ms(1_000).say("answer."), Reply::text(["Second."])])
            .await;
    let (one, other) = two(&redis, &server).await;
    let request = one
        .request(reqwest::Method::POST, "/v1/chat")
        .json(&message_of("s", "remember the violin"));
    let asking = tokio::spawn(async move { request.send().await.unwrap().status() });
    while server.seen().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    redis.kill();
    assert_eq!(asking.await.unwrap(), StatusCode::SERVICE_UNAVAILABLE);
    let (url, base) = (redis.url(), server.base_url());
    let model_env = [
        ("OPENAI_BASE_URL", base.as_str()),
        ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
        ("OPENAI_MODEL", "scripted"),
    ];
    let env: Vec<_> = model_env
        .into_iter()
        .chain([("SESSION_STORE", "redis"), ("REDIS_URL", url.as_str())])
        .collect();
    let stopped = one.stopped();
    redis.back().await;
    let _one = Gateway::start_in(stopped, &["--no-token"], &env).await;
    while redis.keys().iter().all(|key| key != "agent:sess:shop-web:s") {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    other.say("s", "what did I say?").await;
    assert!(server.seen()[1].body["messages"].to_string().contains("violin"));
    server.assert_clean();
}

/// Kills a gateway at a point of the confirmed change. Another gateway answers the repeated
/// confirmation.
async fn dies_at(point: &str, expected: u64, unknown: bool) {
    let redis = Redis::start().await;
    let server = model([add(1), add(1), Reply::text(["Good."])]).await;
    let other = gateway(&redis, &server).await;
    other.say("s", "one shoe").await;
    assert_eq!(pieces(&other.say("s", "yes").await), 1);
    let url = redis.url();
    let env = [
        ("SESSION_STORE", "redis"),
        ("REDIS_URL", url.as_str()),
        ("COUNTERSIGN_TEST_CRASH_AT", point),
    ];
    let one = other.beside(&server, &env).await;
    one.say("s", "another one").await;
    let died =
        one.request(reqwest::Method::POST, "/v1/chat").json(&message_of("s", "yes")).send().await;
    assert!(died.is_err(), "{point}: it was to die");
    let answer = other.say("s", "yes").await;
    assert!(
        answer["text"].as_str().unwrap().contains(if unknown { UNKNOWN } else { NOT_OPEN }),
        "{point}: {answer}"
    );
    assert_eq!(pieces(&answer), expected, "{point}: what is in the cart is shown: {answer}");
    assert_eq!(
        other.say("s", "yes").await["text"],
        "Good.",
        "{point}: and a further yes is the model's"
    );
    let told = server.seen().last().unwrap().body["messages"].to_string();
    assert!(
        told.contains("\"role\":\"tool\""),
        "{point}: the model knows that the call has ended: {told}"
    );
    server.assert_clean();
    // The killed gateway starts again and finds that the action is decided.
    let one =
        one.restart(&["--no-token"], &[("SESSION_STORE", "redis"), ("REDIS_URL", &url)]).await;
    let reminded = one.post("/v1/chat", &message_of("other", "yes")).await;
    assert!(reminded.1.get("pendingAction").is_none());
    assert_eq!(
        redis.json("agent:sess:shop-web:s")["values"]["$gateway"]["cart"]["items"][0]["quantity"],
        json!(expected),
        "{point}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_5_a_crash_before_the_change_leaves_it_undone() {
    dies_at("AfterApprovalDecided", 1, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_5_a_crash_between_intent_and_change_is_reported_as_unknown() {
    dies_at("BetweenIntentAndEffect", 1, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_5_a_crash_after_the_change_does_not_repeat_it() {
    dies_at("BetweenEffectAndOutcome", 2, true).await;
}

/// The same case without another gateway: the killed gateway starts again.
#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_5_a_change_interrupted_by_a_crash_is_not_repeated_after_a_restart() {
    let server = model([add(1), add(1), Reply::text(["Good."])]).await;
    let url = server.base_url();
    let env = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
        ("OPENAI_MODEL", "scripted"),
    ];
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "one shoe").await;
    gateway.say("s", "yes").await;
    let crashing: Vec<_> =
        env.into_iter().chain([("COUNTERSIGN_TEST_CRASH_AT", "BetweenEffectAndOutcome")]).collect();
    let gateway = gateway.restart(&["--no-token"], &crashing).await;
    gateway.say("s", "another one").await;
    let died = gateway
        .request(reqwest::Method::POST, "/v1/chat")
        .json(&message_of("s", "yes"))
        .send()
        .await;
    assert!(died.is_err());
    let gateway = gateway.restart(&["--no-token"], &env).await;
    let answer = gateway.say("s", "yes").await;
    assert!(answer["text"].as_str().unwrap().contains(UNKNOWN), "{answer}");
    assert_eq!(pieces(&answer), 2, "it happened once");
    assert_eq!(gateway.say("s", "yes").await["text"], "Good.");
    server.assert_clean();
}
