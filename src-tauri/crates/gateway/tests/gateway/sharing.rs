//! Tests of sessions in a real Redis: two gateways serve the same sessions, and a change that one
//! gateway proposes is made once by the other gateway.

use std::time::Duration;

use engine::ports::SharedSessions as _;
use kit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};
use shared_sessions::RedisSessions;

use crate::cart::{add, pieces};
use crate::redis::Redis;
use crate::world::{Gateway, message_of, model};

const KEY: &str = "agent:sess:shop-web:s";

pub(crate) async fn gateway(redis: &Redis, server: &ModelServer) -> Gateway {
    let url = redis.url();
    Gateway::with(server, &[("SESSION_STORE", "redis"), ("REDIS_URL", &url)]).await
}

/// Starts two gateways with the same sessions and the same shop.
pub(crate) async fn two(redis: &Redis, server: &ModelServer) -> (Gateway, Gateway) {
    let one = gateway(redis, server).await;
    let url = redis.url();
    let other = one.beside(server, &[("SESSION_STORE", "redis"), ("REDIS_URL", &url)]).await;
    (one, other)
}

/// Sends the same message to several gateways at once.
pub(crate) async fn at_once(gateways: &[&Gateway], each: usize, message: &str) -> Vec<Value> {
    let mut asking = tokio::task::JoinSet::new();
    for gateway in gateways.iter().flat_map(|gateway| std::iter::repeat_n(gateway, each)) {
        let request =
            gateway.request(reqwest::Method::POST, "/v1/chat").json(&message_of("s", message));
        asking.spawn(async move { request.send().await.unwrap().json::<Value>().await.unwrap() });
    }
    asking.join_all().await
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_two_gateways_continue_the_same_conversation() {
    let redis = Redis::start().await;
    let server = model((1..=4).map(|n| Reply::text([format!("Answer {n}.")]))).await;
    let (one, other) = two(&redis, &server).await;
    one.say("s", "remember the violin").await;
    other.say("s", "and the cello").await;
    one.say("s", "what did I say?").await;
    let heard = server.seen()[2].body["messages"].to_string();
    for said in ["violin", "Answer 1.", "cello", "Answer 2."] {
        assert!(heard.contains(said), "{said}: {heard}");
    }
    // The same letters, split differently into application and session, are another session.
    other.post("/v1/chat", &json!({"applicationId": "shop-web:s", "sessionId": "s", "message": "hello", "context": {}})).await;
    assert!(!server.seen()[3].body["messages"].to_string().contains("violin"));
    assert_eq!(
        redis.keys(),
        ["agent:sess:shop-web%3As:s", "agent:sess:shop-web:s"],
        "no lock is left"
    );
    let left: i64 = redis.ask(&["PTTL", KEY]).parse().unwrap();
    assert!((3_500_000..=3_600_000).contains(&left), "{left}");
    assert_eq!(redis.json(KEY)["session"], "shop-web:s");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_an_action_proposed_by_one_gateway_can_be_confirmed_at_another() {
    let redis = Redis::start().await;
    let server = model([add(2), Reply::text(["Anything else?"]), Reply::text(["Good."])]).await;
    let (one, other) = two(&redis, &server).await;
    let asked = one.say("s", "two of the trail shoes").await;
    let reminded = other.say("s", "in red?").await;
    assert_eq!(
        reminded["pendingAction"], asked["pendingAction"],
        "it is the same action: {reminded}"
    );
    let done = other.say("s", "yes").await;
    assert_eq!((pieces(&done), done.get("pendingAction")), (2, None), "{done}");
    let again = one.say("s", "yes").await;
    assert_eq!(
        (again["text"].as_str(), pieces(&again)),
        (Some("That has been done already."), 2),
        "{again}"
    );
    let ended = one.csign(&["audit", "list", "--type", "approval_resolved"]).to_string();
    assert!(ended.contains("done"), "its end is in the log of each: {ended}");
    assert_eq!(
        one.say("s", "what about socks?").await["cart"],
        done["cart"],
        "the cart has come along"
    );
    assert_eq!(other.say("s", "yes").await["text"], "Good.", "and a later yes is the model's");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_shared_pending_action_has_the_same_id_in_each_profile() {
    let redis = Redis::start().await;
    let server = model([add(2)]).await;
    let (one, other) = two(&redis, &server).await;
    let asked = one.say("s", "two of the trail shoes").await;
    other.say("s", "wait a moment").await;
    let id = asked["pendingAction"]["pendingActionId"].as_str().unwrap().replace('-', "");
    let rows = |gateway: &Gateway| {
        gateway.csign(&["approvals", "list", "--all"]).as_array().unwrap().clone()
    };
    let (here, there) = (rows(&one), rows(&other));
    assert_eq!((here.len(), &here[0]["hash"]), (1, &there[0]["hash"]), "one row: {here:?}");
    assert!(
        here[0]["id"].as_str().unwrap().replace('-', "").ends_with(&id)
            && here[0]["id"] == there[0]["id"],
        "{here:?}"
    );
    assert_eq!(
        (here[0]["status"].as_str(), there[0]["status"].as_str()),
        (Some("pending"), Some("pending"))
    );
    other.say("s", "yes").await;
    one.say("s", "yes").await;
    assert_eq!(
        (rows(&one)[0]["status"].as_str(), rows(&other)[0]["status"].as_str()),
        (Some("done"), Some("done"))
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_and_22_5_concurrent_confirmations_at_two_gateways_add_the_item_once() {
    let redis = Redis::start().await;
    let server =
        model([add(1), Reply::call("cart_get", json!({})), Reply::text(["One shoe."])]).await;
    let (one, other) = two(&redis, &server).await;
    one.say("s", "one shoe").await;
    let answers = at_once(&[&one, &other], 4, "yes").await;
    assert!(answers.iter().all(|answer| pieces(answer) == 1), "{answers:?}");
    let done =
        answers.iter().filter(|answer| answer["text"] == "Done. Your cart is up to date.").count();
    assert_eq!(done, 1, "one of them did it: {answers:?}");
    assert_eq!(pieces(&other.say("s", "show my cart").await), 1, "the shop has it once");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_refusal_or_reminder_at_one_gateway_applies_to_all() {
    let redis = Redis::start().await;
    let server = model([add(1), Reply::text(["Good."])]).await;
    let (one, other) = two(&redis, &server).await;
    one.say("s", "one shoe").await;
    let cancelled = other.say("s", "nej").await;
    assert!(
        cancelled.get("pendingAction").is_none() && cancelled.get("cart").is_none(),
        "{cancelled}"
    );
    assert_eq!(one.say("s", "yes").await["text"], "Good.", "nothing waits any more");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_5_concurrent_messages_at_two_gateways_are_answered_in_sequence() {
    let redis = Redis::start().await;
    let server =
        model([Reply::text(["One."]).wait_ms(200), Reply::text(["Two."]), Reply::text(["Three."])])
            .await;
    let (one, other) = two(&redis, &server).await;
    let (first, second) = tokio::join!(one.say("s", "first"), other.say("s", "second"));
    assert_ne!(first["text"], second["text"]);
    one.say("s", "third").await;
    let heard = server.seen()[2].body["messages"].to_string();
    assert!(
        ["first", "second", "One.", "Two."].iter().all(|said| heard.contains(said)),
        "neither is lost: {heard}"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_choices_offered_by_one_gateway_are_accepted_by_another() {
    let redis = Redis::start().await;
    let script = [
        Reply::call("product_get", json!({"productId": "1001"})),
        Reply::call("cart_add_item", json!({"partNo": "FJS-TR1001", "quantity": 2})),
    ];
    let server = model(script).await;
    let (one, other) = two(&redis, &server).await;
    let asked = one.say("s", "two of the trail shoes").await;
    let part = asked["choices"]["options"][0]["meta"]["partNo"]
        .as_str()
        .unwrap_or_else(|| panic!("choices: {asked}"));
    let chosen = other.say("s", "Option 1").await;
    assert!(chosen["pendingAction"]["description"].as_str().unwrap().contains(part), "{chosen}");
    assert_eq!(pieces(&one.say("s", "ja").await), 2);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_sessions_in_redis_expire_unless_a_turn_renews_them() {
    let redis = Redis::start().await;
    let server = model((1..=4).map(|n| Reply::text([format!("Answer {n}.")]))).await;
    let url = redis.url();
    let env = [
        ("SESSION_STORE", "redis"),
        ("REDIS_URL", url.as_str()),
        ("SESSION_TTL_SECONDS", "3"),
        ("REDIS_PREFIX", "mine:"),
    ];
    let one = Gateway::with(&server, &env).await;
    let other = one.beside(&server, &env).await;
    one.say("s", "remember the violin").await;
    tokio::time::sleep(Duration::from_millis(1_800)).await;
    other.say("s", "still?").await;
    tokio::time::sleep(Duration::from_millis(1_800)).await;
    one.say("s", "and now?").await;
    assert!(
        server.seen()[2].body["messages"].to_string().contains("violin"),
        "each turn gives it its whole time again"
    );
    assert_eq!(redis.keys(), ["mine:shop-web:s"]);
    tokio::time::sleep(Duration::from_millis(3_300)).await;
    assert!(redis.keys().is_empty(), "its time was over");
    other.say("s", "who are you?").await;
    assert!(!server.seen()[3].body["messages"].to_string().contains("violin"));
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_a_session_deleted_at_one_gateway_is_continued_by_none() {
    let redis = Redis::start().await;
    let server = model((1..=4).map(|n| Reply::text([format!("Answer {n}.")]))).await;
    let (one, other) = two(&redis, &server).await;
    one.say("s", "remember the violin").await;
    other.say("s", "and the cello").await;
    let held = redis.json(KEY);
    let shared = RedisSessions::open(&redis.url(), "agent:sess:", Duration::from_secs(60)).await;
    let shared = shared.unwrap();
    // A deletion may be sent twice.
    for _ in 0..2 {
        shared.remove(&"shop-web:s".into()).await.unwrap();
    }
    assert_eq!(redis.keys(), ["agent:sess::deleted:shop-web:s"]);
    // A turn that began before the deletion stores nothing.
    let image: engine::ports::SessionImage = serde_json::from_value(held).unwrap();
    assert!(!shared.save(&image, &image.rev).await.unwrap());
    one.say("s", "what did I say?").await;
    other.say("s", "and now?").await;
    for seen in &server.seen()[2..] {
        let heard = seen.body["messages"].to_string();
        assert!(!heard.contains("violin") && !heard.contains("cello"), "{heard}");
    }
    let heard = server.seen()[3].body["messages"].to_string();
    assert!(heard.contains("what did I say?"), "the new session is shared: {heard}");
    assert_eq!(redis.keys(), [KEY]);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_an_unreadable_session_in_redis_is_deleted_and_started_again() {
    let redis = Redis::start().await;
    let server =
        model([Reply::text(["One."]), Reply::text(["Two."]), Reply::text(["Three."])]).await;
    let gateway = gateway(&redis, &server).await;
    for (key, session) in [
        (["SET", "agent:sess:shop-web:a", "{\"rev\":"], "a"),
        (["SADD", "agent:sess:shop-web:b", "x"], "b"),
    ] {
        redis.ask(&key);
        assert_ne!(gateway.say(session, "hello").await["text"], "");
        assert_eq!(redis.json(key[1])["session"], format!("shop-web:{session}"));
    }
    let whole = redis.ask(&["GET", "agent:sess:shop-web:a"]).replace("shop-web:a", "shop-web:z");
    redis.ask(&["SET", "agent:sess:shop-web:c", &whole]);
    gateway.say("c", "hello").await;
    assert_eq!(
        redis.json("agent:sess:shop-web:c")["session"],
        "shop-web:c",
        "another's is not taken for one's own"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_a_failed_first_turn_is_shared_with_other_gateways() {
    let redis = Redis::start().await;
    let failing = Reply::refusal(400, &json!({"message": "no", "type": "invalid_request_error"}));
    let server = model([failing, Reply::text(["A violin."])]).await;
    let (one, other) = two(&redis, &server).await;
    let (status, _) = one.post("/v1/chat", &message_of("s", "remember the violin")).await;
    assert!(status.is_server_error());
    other.say("s", "what did I say?").await;
    assert!(server.seen()[1].body["messages"].to_string().contains("violin"));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_written_to_redis() {
    let redis = Redis::start().await;
    redis.ask(&["CONFIG", "SET", "requirepass", "pass-0123456789"]);
    let url = redis.url().replace("redis://", "redis://:pass-0123456789@");
    let server = model([add(1), Reply::text(["Hello."])]).await;
    let gateway = Gateway::with(&server, &[("SESSION_STORE", "redis"), ("REDIS_URL", &url)]).await;
    gateway.say("s", "my key is sk-test-0123456789abcdef, add a shoe").await;
    redis.ask(&["-a", "pass-0123456789", "CONFIG", "SET", "requirepass", ""]);
    let contents = redis.contents();
    assert!(contents.contains("add a shoe"), "{contents}");
    for hidden in ["sk-test-0123456789abcdef", "pass-0123456789"] {
        assert!(!contents.contains(hidden), "{hidden}");
        assert!(!gateway.log().contains(hidden), "{hidden}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_20_an_unusable_session_store_is_reported_at_startup() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let away = format!("redis://user:secret-word@127.0.0.1:{free}");
    let encrypted = format!("REDISS://user:secret-word@127.0.0.1:{free}");
    let no_certificates = [
        ("SESSION_STORE", "redis"),
        ("REDIS_URL", encrypted.as_str()),
        ("SSL_CERT_FILE", "/dev/null"),
    ];
    let tries: [(&[(&str, &str)], &str); 5] = [
        (&no_certificates, "SSL_CERT_FILE names /dev/null"),
        (&[("SESSION_STORE", "redis")], "REDIS_URL"),
        (&[("SESSION_STORE", "redis"), ("REDIS_URL", "http://127.0.0.1")], "REDIS_URL"),
        (&[("SESSION_STORE", "redis"), ("REDIS_URL", &away)], "does not answer"),
        (&[("SESSION_STORE", "disk")], "sqlite, memory or redis"),
    ];
    for (env, said) in tries {
        let folder = tempfile::tempdir().unwrap();
        let output = Gateway::command(&folder)
            .args(["--no-token", "--listen", "127.0.0.1:0"])
            .envs(env.iter().copied())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && told.contains(said) && !told.contains("secret-word"),
            "{env:?}: {told}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_only_sessions_stored_on_disk_survive_a_restart() {
    let server = model((1..=6).map(|n| Reply::text([format!("Answer {n}.")]))).await;
    for (store, kept) in [("memory", false), ("sqlite", true)] {
        let model_url = server.base_url();
        let env = [
            ("SESSION_STORE", store),
            ("OPENAI_BASE_URL", model_url.as_str()),
            ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
            ("OPENAI_MODEL", "scripted"),
        ];
        let gateway = Gateway::start(&["--no-token"], &env).await;
        gateway.say("s", "remember the violin").await;
        gateway.say("s", "and?").await;
        assert!(server.seen().last().unwrap().body["messages"].to_string().contains("violin"));
        let database = gateway.path("data/countersign.db");
        assert_eq!(database.exists(), kept, "in memory nothing of a session lies in the folder");
        let gateway = gateway.restart(&["--no-token"], &env).await;
        gateway.say("s", "what did I say?").await;
        assert_eq!(
            server.seen().last().unwrap().body["messages"].to_string().contains("violin"),
            kept,
            "{store}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_16_a_long_conversation_is_bounded_for_the_model_and_in_redis() {
    let redis = Redis::start().await;
    let server = model([Reply::text(["All right."]).repeated()]).await;
    let gateway = gateway(&redis, &server).await;
    for turn in 1..=110 {
        gateway.say("s", &format!("message {turn}")).await;
    }
    let image = redis.json(KEY);
    let items = image["items"].as_array().unwrap();
    assert!((100..=200).contains(&items.len()), "{}", items.len());
    assert_eq!(items[0]["body"]["kind"], "user_message", "whole turns");
    assert!(items.last().unwrap()["seq"].as_u64().unwrap() > 200, "the newest ones");
    let heard = server
        .seen()
        .iter()
        .map(|seen| seen.body["messages"].as_array().unwrap().len())
        .max()
        .unwrap();
    // The maximum is the window, plus messages that may wait for a summary during the model's
    // cooldown.
    assert!(heard < 140, "{heard} messages went to the model");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_20_redis_tls_requires_a_valid_certificate() {
    let redis = Redis::start_tls().await;
    let server = model([Reply::text(["Hello."])]).await;
    let (url, root) = (redis.url(), redis.path("root.pem").display().to_string());
    let env =
        [("SESSION_STORE", "redis"), ("REDIS_URL", url.as_str()), ("SSL_CERT_FILE", root.as_str())];
    let gateway = Gateway::with(&server, &env).await;
    gateway.say("s", "hello").await;
    assert_eq!(redis.keys(), [KEY]);
    // Without the certificate authority, no data is sent.
    let folder = tempfile::tempdir().unwrap();
    let output = Gateway::command(&folder)
        .args(["--no-token", "--listen", "127.0.0.1:0"])
        .envs(env.iter().take(2).copied())
        .output()
        .unwrap();
    assert!(
        !output.status.success()
            && String::from_utf8_lossy(&output.stderr).contains("does not answer"),
        "{output:?}"
    );
}
