//! The window and `csign` on one profile: the terminal joins the open window, sees the same
//! sessions, and decides nothing unless the approval window has allowed it.

use kit::webdriver::wait;
use serde_json::{Value, json};

use crate::{approving::ask_for_shoes, world::Journey};

#[test]
fn csign_uses_the_session_of_the_open_window() {
    let journey = Journey::start("terminal");
    let output = journey.csign(&["--json", "ask", "what can you do"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The window shows the session of `csign` at once.
    journey.chat(|page| page.says("what can you do"));

    let action = ask_for_shoes(&journey);
    let output = journey.csign(&["--json", "approvals", "list"]);
    let listed: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert!(
        listed.to_string().contains(action["id"].as_str().expect("an id")),
        "the terminal sees what waits: {listed}"
    );

    let (id, hash) =
        (action["id"].as_str().expect("an id"), action["hash"].as_str().expect("a hash"));
    let output = journey.csign(&["--json", "approvals", "approve", id, "--hash", hash]);
    assert!(!output.status.success(), "a terminal without permission decides nothing");
    assert_eq!(journey.stored_approval(&action["id"])["status"], "pending");

    let output = journey.csign(&["--json", "audit", "verify"]);
    assert!(
        output.status.success(),
        "the open log verifies: {}",
        String::from_utf8_lossy(&output.stdout)
    );
    journey.approval(|page| page.click("Reject"));
    wait("the rejection", || {
        (journey.stored_approval(&action["id"])["status"] == "rejected").then_some(())
    });
    assert_eq!(journey.call("audit_verify", json!({})).expect("a report")["ok"], true);
}
