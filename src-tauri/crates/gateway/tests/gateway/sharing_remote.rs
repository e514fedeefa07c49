//! Tests of two gateways with one Redis and one remote shop with a login. The gateways share the
//! conversation and its open session at the shop, and the shop gets a proposed change once,
//! whichever gateway receives the confirmation.

use kit::model_server::{ModelServer, Reply};

use crate::cart::{add, pieces, until};
use crate::front::{Break, Front};
use crate::redis::Redis;
use crate::remote_shop::{open, search};
use crate::sharing::at_once;
use crate::world::{Gateway, message_of, model};

async fn two(redis: &Redis, front: &Front, server: &ModelServer) -> (Gateway, Gateway) {
    let url = redis.url();
    let shared = [("SESSION_STORE", "redis"), ("REDIS_URL", url.as_str())];
    (open(front, server, &shared).await, open(front, server, &shared).await)
}

/// Returns the sessions at the shop that were used for calls of a tool.
fn sessions(front: &Front, tool: &str) -> Vec<String> {
    front.of(tool).iter().map(|one| one.header("mcp-session-id").unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_and_17_a_change_confirmed_at_another_gateway_uses_the_same_shop_session() {
    let (redis, front) = (Redis::start().await, Front::start().await);
    let server =
        model([search(), Reply::text(["Tents."]), add(2), search(), Reply::text(["Tents."])]).await;
    let (one, other) = two(&redis, &front, &server).await;
    one.say("s", "tents").await;
    one.say("s", "two of the trail shoes").await;
    assert_eq!(front.count("cart.addItem"), 0, "nothing is sent before the yes");
    let done = other.say("s", "yes").await;
    assert_eq!((pieces(&done), front.count("cart.addItem")), (2, 1), "{done}");
    let again = one.say("s", "yes").await;
    assert_eq!(
        (again["text"].as_str(), pieces(&again)),
        (Some("That has been done already."), 2),
        "{again}"
    );
    other.say("s", "tents again").await;
    assert_eq!(
        (
            front.count("cart.addItem"),
            front.count("initialize"),
            front.count("notifications/initialized")
        ),
        (1, 1, 1)
    );
    let searched = sessions(&front, "product.search");
    assert_eq!(
        (&searched[0], &sessions(&front, "cart.addItem")),
        (&searched[1], &vec![searched[0].clone()]),
        "one session for both"
    );
    let mut ids: Vec<u64> =
        front.requests().iter().filter_map(|one| one.body["id"].as_u64()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "no number is used twice in it");
    assert_eq!(front.count("token"), 2, "each gateway has its own token, which never leaves it");
    front.assert_untold(&[&redis.contents(), &one.log(), &other.log()]);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_yes_sent_to_another_gateway_before_the_question_does_not_confirm_it() {
    let (redis, front) = (Redis::start().await, Front::start().await);
    let server = model([add(3)]).await;
    let (one, other) = two(&redis, &front, &server).await;
    front.breaks("product.get", [Break::Slow(0), Break::Slow(1_500)]);
    let asking = tokio::spawn(
        one.request(reqwest::Method::POST, "/v1/chat").json(&message_of("s", "three shoes")).send(),
    );
    until(|| front.count("product.get") > 1).await;
    let answered = other.say("s", "ok").await;
    asking.await.unwrap().unwrap();
    assert!(answered["pendingAction"].is_object(), "it is shown: {answered}");
    assert_eq!(front.count("cart.addItem"), 0);
    assert_eq!((pieces(&one.say("s", "ok").await), front.count("cart.addItem")), (3, 1));
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_15_a_forgotten_shop_session_is_opened_again_for_both_gateways() {
    let (redis, front) = (Redis::start().await, Front::start().await);
    let server =
        model((0..3).flat_map(|_| [search(), Reply::text(["Tents."])]).chain([add(1)])).await;
    let (one, other) = two(&redis, &front, &server).await;
    one.say("s", "tents").await;
    for gateway in [&other, &one] {
        front.breaks("product.search", [Break::Status(404)]);
        assert!(gateway.say("s", "tents").await["cards"].is_array());
        front.assert_broken();
    }
    let searched = sessions(&front, "product.search");
    let (old, new) = (&searched[0], &searched[2]);
    assert_eq!(
        searched.iter().collect::<Vec<_>>(),
        [old, old, new, old, new],
        "the first one goes on in the one that the other has opened"
    );
    assert_eq!((old == new, front.count("initialize")), (false, 2));
    other.say("s", "a shoe").await;
    assert_eq!(
        (
            pieces(&one.say("s", "yes").await),
            front.count("cart.addItem"),
            front.count("initialize")
        ),
        (1, 1, 2)
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_5_and_22_6_concurrent_confirmations_at_two_gateways_send_one_change() {
    let (redis, front) = (Redis::start().await, Front::start().await);
    front.breaks("cart.addItem", [Break::Slow(200)]);
    let server = model([add(1)]).await;
    let (one, other) = two(&redis, &front, &server).await;
    one.say("s", "one shoe").await;
    let answers = at_once(&[&one, &other], 3, "yes").await;
    assert!(
        answers.iter().all(|answer| pieces(answer) == 1 && answer.get("pendingAction").is_none()),
        "{answers:?}"
    );
    let done =
        answers.iter().filter(|answer| answer["text"] == "Done. Your cart is up to date.").count();
    assert_eq!((done, front.count("cart.addItem")), (1, 1), "one of them did it: {answers:?}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_6_a_change_with_unknown_outcome_is_not_sent_again_by_another_gateway() {
    let (redis, front) = (Redis::start().await, Front::start().await);
    front.breaks("cart.addItem", [Break::DoneBut(504)]);
    let server = model([add(1), Reply::text(["Anything else?"])]).await;
    let (one, other) = two(&redis, &front, &server).await;
    one.say("s", "one shoe").await;
    let unknown = one.say("s", "yes").await;
    assert!(unknown["text"].as_str().unwrap().contains("may or may not"), "{unknown}");
    assert_eq!(other.say("s", "yes").await["text"], "Anything else?", "nothing waits there either");
    assert_eq!(front.count("cart.addItem"), 1);
    server.assert_clean();
}
