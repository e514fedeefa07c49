//! What somebody else decides than the caller who was asked: a person at a terminal, at the gateway's own folder. How the caller hears of
//! it, and what gateways that share sessions leave to the caller alone.

use std::process::Child;

use kit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};

use crate::cart::{add, pieces, until};
use crate::front::{Break, Front};
use crate::redis::Redis;
use crate::world::{Gateway, model};

/// A gateway at which terminals may decide.
async fn open(server: &ModelServer, more: &[(&str, &str)]) -> Gateway {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("data/countersign.toml"), "decide_from_terminal = true\n").unwrap();
    let url = server.base_url();
    let mut all = vec![("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "sk-test-0123456789abcdef"), ("OPENAI_MODEL", "scripted")];
    all.extend(more);
    Gateway::start_in(folder, &["--no-token"], &all).await
}

/// Id and hash of what waits in a caller's session.
fn waiting(gateway: &Gateway, session: &str) -> (String, String) {
    let list = gateway.csign(&["approvals", "list"]);
    let row = list.as_array().unwrap().iter().find(|row| row["session"] == format!("shop-web:{session}")).unwrap_or_else(|| panic!("{list}"));
    (row["id"].as_str().unwrap().to_owned(), row["hash"].as_str().unwrap().to_owned())
}

fn approves(gateway: &Gateway, session: &str) -> Child {
    let (id, hash) = waiting(gateway, session);
    gateway.terminal(&["approvals", "approve", &id, "--hash", &hash]).spawn().unwrap()
}

/// What it said, and whether it did what it was told.
fn ended(terminal: Child) -> (String, bool) {
    let output = terminal.wait_with_output().unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success())
}

#[tokio::test(flavor = "multi_thread")]
async fn section_11_what_a_terminal_approves_is_told_while_it_runs_and_when_it_has_ended() {
    let front = Front::start().await;
    let server = model([add(1), add(1), Reply::text(["You are welcome."])]).await;
    let variables = front.variables();
    let gateway = open(&server, &variables.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>()).await;
    gateway.say("s", "one shoe").await;
    front.breaks("cart.addItem", [Break::Slow(2_000)]);
    let terminal = approves(&gateway, "s");
    until(|| front.count("cart.addItem") == 1).await;
    let meanwhile = gateway.say("s", "yes").await;
    assert!(meanwhile["text"].as_str().unwrap().contains("may or may not have happened"), "{meanwhile}");
    let (told, went) = ended(terminal);
    assert!(went, "{told}");
    let after = gateway.say("s", "yes").await;
    assert_eq!((after["text"].as_str(), pieces(&after)), (Some("That has been done already."), 1), "{after}");

    gateway.say("s", "another one").await;
    assert!(ended(approves(&gateway, "s")).1);
    let later = gateway.say("s", "thanks").await;
    assert_eq!((later["text"].as_str(), pieces(&later)), (Some("You are welcome."), 2), "the cart is the one of now: {later}");
    assert_eq!(front.count("cart.addItem"), 2);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn section_11_and_22_5_what_gateways_share_its_caller_alone_approves() {
    let redis = Redis::start().await;
    let server = model([add(1), add(1), Reply::text(["Good."])]).await;
    let url = redis.url();
    let env = [("SESSION_STORE", "redis"), ("REDIS_URL", url.as_str())];
    let one = open(&server, &env).await;
    let other = one.beside(&server, &env).await;
    one.say("s", "one shoe").await;
    let (told, went) = ended(approves(&one, "s"));
    assert!(!went && told.contains("only its customer approves this"), "{told}");

    // A no is heard everywhere.
    one.say("t", "one shoe").await;
    let (told, went) = ended(one.terminal(&["approvals", "reject", &waiting(&one, "t").0]).spawn().unwrap());
    assert!(went, "{told}");
    let closed = other.say("t", "yes").await;
    assert!(closed["text"].as_str().unwrap().starts_with("That question is not open any more."), "{closed}");
    assert_eq!(other.say("t", "ok").await["text"], "Good.", "which is said once");

    // Nobody would hear of what is decided in the folder alone.
    let (id, _) = waiting(&one, "s");
    let folder = one.stopped();
    let output = Gateway::command(&folder).args(["--json", "approvals", "reject", &id]).output().unwrap();
    let refused: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("JSON, but {error}: {output:?}"));
    assert_eq!(refused["error"]["details"]["reason"], json!("not_shared_here"), "{refused}");
    assert_eq!(pieces(&other.say("s", "yes").await), 1);
    server.assert_clean();
}
