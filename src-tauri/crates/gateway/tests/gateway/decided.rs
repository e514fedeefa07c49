//! Tests of decisions by someone other than the caller, at a terminal in the gateway's folder: how
//! the caller is informed, and which decisions only the caller may make if gateways share sessions.

use std::process::Child;
use std::sync::Arc;

use kit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::cart::{add, disconnect, pieces, sends, until};
use crate::front::{Break, Front};
use crate::redis::Redis;
use crate::world::{Gateway, message_of, model};

const REFUSED: &str = "Sorry, the shop did not accept that change.";

/// A gateway whose actions may be decided in terminals.
async fn open(server: &ModelServer, more: &[(&str, &str)]) -> Gateway {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("data/countersign.toml"), "decide_from_terminal = true\n")
        .unwrap();
    let url = server.base_url();
    let mut all = vec![
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
        ("OPENAI_MODEL", "scripted"),
    ];
    all.extend(more);
    Gateway::start_in(folder, &["--no-token"], &all).await
}

/// Like `open`, but the shop is a remote server at an address.
async fn gateway_behind(front: &Front, server: &ModelServer) -> Gateway {
    let variables = front.variables();
    open(server, &variables.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>())
        .await
}

/// Returns id and hash of the pending action in a caller's session.
fn waiting(gateway: &Gateway, session: &str) -> (String, String) {
    let list = gateway.csign(&["approvals", "list"]);
    let row = list
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["session"] == format!("shop-web:{session}"))
        .unwrap_or_else(|| panic!("{list}"));
    (row["id"].as_str().unwrap().to_owned(), row["hash"].as_str().unwrap().to_owned())
}

fn spawn_approval(gateway: &Gateway, session: &str) -> Child {
    let (id, hash) = waiting(gateway, session);
    gateway.terminal(&["approvals", "approve", &id, "--hash", &hash]).spawn().unwrap()
}

/// Returns the terminal's output, and whether it succeeded.
fn wait_for_end(terminal: Child) -> (String, bool) {
    let output = terminal.wait_with_output().unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success())
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_an_action_approved_at_a_terminal_is_reported_while_running_and_when_done() {
    let front = Front::start().await;
    let server = model([add(1), add(1), Reply::text(["You are welcome."])]).await;
    let gateway = gateway_behind(&front, &server).await;
    gateway.say("s", "one shoe").await;
    let answers = Arc::new(Barrier::new(2));
    front.breaks("cart.addItem", [Break::Meet(Arc::clone(&answers))]);
    let terminal = spawn_approval(&gateway, "s");
    until(|| front.count("cart.addItem") == 1).await;
    for message in ["yes", "no"] {
        let (_, meanwhile) = gateway.post("/v1/chat?debug=1", &message_of("s", message)).await;
        assert!(
            meanwhile["text"].as_str().unwrap().starts_with("That is being done right now."),
            "{meanwhile}"
        );
        assert!(meanwhile.get("debug").is_none(), "as a repeated yes: {meanwhile}");
    }
    answers.wait().await;
    let (told, went) = wait_for_end(terminal);
    assert!(went, "{told}");
    let after = gateway.say("s", "no").await;
    assert_eq!(
        (after["text"].as_str(), pieces(&after)),
        (Some("That has been done already."), 1),
        "{after}"
    );

    gateway.say("s", "another one").await;
    assert!(wait_for_end(spawn_approval(&gateway, "s")).1);
    let later = gateway.say("s", "thanks").await;
    assert_eq!(
        (later["text"].as_str(), pieces(&later)),
        (Some("You are welcome."), 2),
        "the cart is the one of now: {later}"
    );
    assert_eq!(front.count("cart.addItem"), 2);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_an_action_approved_elsewhere_and_refused_by_the_shop_is_reported() {
    let front = Front::start().await;
    let server = model([add(1), add(1), add(2), Reply::text(["Hello."])]).await;
    let gateway = gateway_behind(&front, &server).await;
    for message in ["yes", "no"] {
        gateway.say("s", "one shoe").await;
        front.breaks("cart.addItem", [Break::Quote]);
        wait_for_end(spawn_approval(&gateway, "s"));
        assert_eq!(gateway.say("s", message).await["text"], REFUSED);
    }

    // The customer confirmed this change, but did not read the answer.
    gateway.say("s", "two shoes").await;
    let (answers, looks) = (Arc::new(Barrier::new(2)), front.count("product.get"));
    front.breaks("product.get", [Break::Meet(Arc::clone(&answers))]);
    front.breaks("cart.addItem", [Break::Quote]);
    let client = sends(&gateway, "yes").await;
    until(|| front.count("product.get") > looks).await;
    disconnect(client).await;
    answers.wait().await;
    let again = gateway.say("s", "yes").await;
    assert_eq!(again["text"], format!("{REFUSED} Perhaps fewer are left; try a smaller number."));
    assert_eq!(
        (gateway.say("s", "yes").await["text"].as_str(), front.count("cart.addItem")),
        (Some("Hello."), 3)
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_repeated_no_is_answered_if_its_answer_was_not_delivered() {
    let server = model([add(1), Reply::text(["Hello."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "one shoe").await;
    let writer = crate::sessions::database(&gateway);
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    disconnect(sends(&gateway, "no").await).await;
    writer.execute_batch("COMMIT").unwrap();
    assert_eq!(gateway.say("s", "no").await["text"], "All right, nothing was changed.");
    assert_eq!(gateway.say("s", "no").await["text"], "Hello.");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_the_end_of_an_action_is_reported_even_after_a_failed_turn() {
    let front = Front::start().await;
    let server = model([
        add(1),
        add(1),
        Reply::refusal(401, &json!({"error": {"message": "no"}})),
        add(1),
        Reply::text(["Hm."]),
        Reply::text(["Good."]),
        add(1),
    ])
    .await;
    let gateway = gateway_behind(&front, &server).await;
    gateway.say("s", "one shoe").await;
    gateway.say("s", "yes").await;
    gateway.say("s", "another one").await;
    assert!(wait_for_end(spawn_approval(&gateway, "s")).1);
    let (status, failed) = gateway.post("/v1/chat", &message_of("s", "hm?")).await;
    assert!(status.is_server_error(), "{failed}");
    let told = gateway.say("s", "yes").await;
    assert_eq!(
        (told["text"].as_str(), pieces(&told)),
        (Some("That has been done already."), 2),
        "{told}"
    );

    gateway.say("s", "another one").await;
    assert!(wait_for_end(spawn_approval(&gateway, "s")).1);
    front.breaks("cart.get", [Break::Quote]);
    assert!(gateway.say("s", "hm?").await.get("cart").is_none(), "nobody knows the cart");
    assert_eq!(pieces(&gateway.say("s", "good?").await), 3);

    // If the change was not started, the cart is unchanged.
    gateway.say("s", "another one").await;
    let rejects =
        gateway.terminal(&["approvals", "reject", &waiting(&gateway, "s").0]).spawn().unwrap();
    assert!(wait_for_end(rejects).1);
    front.breaks("cart.get", [Break::Quote]);
    let told = gateway.say("s", "no").await;
    assert_eq!(
        (told["text"].as_str(), pieces(&told)),
        (Some("All right, nothing was changed."), 3),
        "{told}"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_and_22_5_a_shared_action_can_be_approved_only_by_its_caller() {
    let redis = Redis::start().await;
    let server = model([add(1), add(1), Reply::text(["Good."])]).await;
    let url = redis.url();
    let env = [("SESSION_STORE", "redis"), ("REDIS_URL", url.as_str())];
    let one = open(&server, &env).await;
    let other = one.beside(&server, &env).await;
    one.say("s", "one shoe").await;
    let (told, went) = wait_for_end(spawn_approval(&one, "s"));
    assert!(!went && told.contains("only its customer approves this"), "{told}");

    // A rejection takes effect at all gateways.
    one.say("t", "one shoe").await;
    let (told, went) = wait_for_end(
        one.terminal(&["approvals", "reject", &waiting(&one, "t").0]).spawn().unwrap(),
    );
    assert!(went, "{told}");
    let closed = other.say("t", "yes").await;
    assert!(
        closed["text"].as_str().unwrap().starts_with("That question is not open any more."),
        "{closed}"
    );
    assert_eq!(other.say("t", "ok").await["text"], "Good.", "which is said once");

    // A decision in one gateway's folder would not reach the other gateways.
    let (id, _) = waiting(&one, "s");
    let folder = one.stopped();
    let output = Gateway::csign_command(&folder)
        .args(["--json", "approvals", "reject", &id])
        .output()
        .unwrap();
    let refused: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("JSON, but {error}: {output:?}"));
    assert_eq!(refused["error"]["details"]["reason"], json!("not_shared_here"), "{refused}");
    assert_eq!(pieces(&other.say("s", "yes").await), 1);
    server.assert_clean();
}
