//! Tests of pending actions without a person: they stay pending, can be viewed, and expire, and no
//! program decides for the user.

use crate::world::{World, text};

const LATER: &str = "2026-11-21T10:30:00Z";

#[test]
fn a_write_without_a_terminal_exits_with_3_and_stays_pending() {
    let world = World::new();
    let ran = world
        .run(&["ask", "--session", "s1", "add 2 ridge runner black size 42 to my cart"])
        .ends_with(3);
    let list = world.run(&["--json", "approvals", "list"]).ends_with(0).json();
    let [pending] = list.as_array().expect("a list").as_slice() else {
        panic!("one waits: {list}")
    };
    let id = text(pending, "id");
    assert!(ran.err.contains(&format!("csign approvals show {id}")), "{}", ran.err);
    assert_eq!((text(pending, "tool"), text(pending, "status")), ("cart.addItem", "pending"));
    insta::assert_snapshot!(
        world.transcript(&[&["approvals", "list"], &["approvals", "show", id]])
    );
    assert_eq!(world.run(&["--json", "approvals", "show", id]).ends_with(0).json(), *pending);
    assert_eq!(world.shoes("s1"), 0, "nothing was done");
}

#[test]
fn json_events_name_the_pending_action() {
    let world = World::new();
    let ran =
        world.run(&["ask", "--json", "add 2 ridge runner black size 42 to my cart"]).ends_with(3);
    let last: serde_json::Value =
        serde_json::from_str(ran.out.lines().last().expect("events")).expect("JSON");
    assert_eq!((text(&last, "type"), text(&last, "status")), ("final", "approval_required"));
    assert!(ran.out.lines().any(|line| line.contains(r#""type":"approval_requested""#)));
}

#[test]
fn a_pending_action_expires() {
    let world = World::new();
    let pending = world.pending();
    let (id, hash) = (text(&pending, "id"), text(&pending, "hash"));
    let args = ["approvals", "list"];
    insta::assert_snapshot!(world.run_at(LATER, &args).shown(&args));
    let all = world.run_at(LATER, &["--json", "approvals", "list", "--all"]).ends_with(0).json();
    assert_eq!((text(&all[0], "id"), text(&all[0], "status")), (id, "expired"));
    assert!(all[0]["reason"].is_string(), "it says why");
    world.run_at(LATER, &["approvals", "reject", id]).ends_with(4);
    world.run_at(LATER, &["approvals", "approve", id, "--hash", hash]).ends_with(3);
    assert_eq!(world.shoes("direct"), 0);
}

#[test]
fn approving_needs_a_terminal_and_rejecting_does_not() {
    let world = World::new();
    let pending = world.pending();
    let (id, hash) = (text(&pending, "id"), text(&pending, "hash"));
    std::fs::write(world.data().join("countersign.toml"), "decide_from_terminal = true\n")
        .expect("written");
    let error =
        world.run(&["--json", "approvals", "approve", id, "--hash", hash]).ends_with(3).json();
    assert_eq!(error["error"]["details"]["reason"], "no_terminal");
    let rejected = world
        .run(&["--json", "approvals", "reject", id, "--reason", "too many"])
        .ends_with(0)
        .json();
    assert_eq!((text(&rejected, "status"), text(&rejected, "reason")), ("rejected", "too many"));
    world.run(&["approvals", "reject", id]).ends_with(4);
    assert_eq!(world.shoes("direct"), 0);
}
