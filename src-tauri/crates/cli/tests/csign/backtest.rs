//! Tests of `csign policy backtest`: proposed rules on a log with calls that were allowed, needed
//! approval, were denied, or were erased.

use std::fs;

use serde_json::{Value, json};

use crate::terminal::Terminal;
use crate::world::{SHOE, World, text};

fn call(world: &World, session: &str, tool: &str, args: &Value, code: i32) {
    let args = args.to_string();
    world
        .run(&["--json", "tools", "call", tool, "--session", session, "--args", &args])
        .ends_with(code);
}

/// Writes rules to a file beside the profile and returns its path.
fn propose(world: &World, rules: &Value) -> String {
    let file = world.path("proposed.json");
    fs::write(&file, rules.to_string()).expect("written");
    file.display().to_string()
}

fn test_rules(world: &World, rules: &Value) -> Value {
    let file = propose(world, rules);
    world.run(&["--json", "policy", "backtest", &file]).ends_with(0).json()
}

/// Returns the listed calls of a tool, each with the earlier and the proposed decision.
fn changes(answer: &Value, tool: &str) -> Vec<(String, Option<String>)> {
    let calls = answer["calls"].as_array().expect("a list");
    calls
        .iter()
        .filter(|call| call["tool"] == tool)
        .map(|call| (text(call, "then").to_owned(), call["now"].as_str().map(str::to_owned)))
        .collect()
}

fn counted(answer: &Value, tool: &str, then: &str, now: &Value) -> u64 {
    let counts = answer["counts"].as_array().expect("a list");
    counts
        .iter()
        .find(|row| row["tool"] == tool && row["then"] == then && row["now"] == *now)
        .map_or(0, |row| row["calls"].as_u64().expect("a number"))
}

/// Makes calls that are allowed, need approval, are denied, or are refused because of their
/// arguments.
fn make_past(world: &World) {
    call(world, "s1", "product.search", &json!({"query": "ridge"}), 0);
    call(world, "s1", "product.search", &json!({"query": "tent"}), 0);
    call(world, "s1", "cart.addItem", &json!({"partNo": SHOE, "quantity": 2}), 3);
    fs::write(
        world.data().join("policy.json"),
        json!({"rules": [{"id": "no", "action": "deny", "tool": "product.search"}]}).to_string(),
    )
    .expect("written");
    call(world, "s2", "product.search", &json!({"query": "ridge"}), 4);
    fs::remove_file(world.data().join("policy.json")).expect("removed");
    call(world, "s2", "cart.addItem", &json!({"quantity": 2}), 1);
}

#[test]
fn proposed_rules_are_compared_with_recorded_decisions() {
    let world = World::new();
    make_past(&world);

    let none = test_rules(&world, &json!({}));
    assert_eq!(
        changes(&none, "product.search"),
        [("deny".to_owned(), Some("allow".to_owned()))],
        "only the denied search differs: {none}"
    );
    assert_eq!(counted(&none, "product.search", "allow", &json!("allow")), 2, "{none}");
    assert_eq!(counted(&none, "cart.addItem", "ask", &json!("ask")), 1, "{none}");
    assert_eq!(none["not_by_rules"], 1, "the call without a part number: {none}");

    let rules = json!({"rules": [
        {"id": "tents", "action": "ask", "tool": "product.*", "arguments": {"query": "tent"}},
        {"id": "carts", "action": "deny", "tool": "cart.*", "effect": "write", "reason": "Not now."},
    ]});
    let answer = test_rules(&world, &rules);
    assert_eq!(
        changes(&answer, "product.search"),
        [
            ("allow".to_owned(), Some("ask".to_owned())),
            ("deny".to_owned(), Some("allow".to_owned()))
        ],
        "{answer}"
    );
    assert_eq!(
        changes(&answer, "cart.addItem"),
        [("ask".to_owned(), Some("deny".to_owned()))],
        "{answer}"
    );
    let cart = &answer["calls"].as_array().expect("a list")[1];
    assert_eq!(
        (text(cart, "why"), &cart["arguments"]["quantity"], &cart["session"]),
        ("Rule carts denies cart.*: Not now.", &json!(2), &json!("s1")),
        "{answer}"
    );
    let record =
        world.run(&["--json", "audit", "show", &cart["seq"].to_string()]).ends_with(0).json();
    assert_eq!(record["record_type"], "approval_requested", "{record}");

    let proposed = propose(&world, &rules);
    insta::assert_snapshot!(world.transcript(&[&["policy", "backtest", &proposed]]));
    let later = "2026-11-22";
    let file = propose(&world, &rules);
    let later = world.run(&["--json", "policy", "backtest", &file, "--since", later]).json();
    assert_eq!((&later["calls"], &later["counts"]), (&json!([]), &json!([])), "{later}");
}

#[test]
fn a_rule_test_reports_calls_that_it_cannot_judge_because_their_arguments_were_erased() {
    let world = World::new();
    make_past(&world);
    let mut terminal = Terminal::start(&world, &["audit", "erase", "--session", "s1"]);
    terminal.wait_for("Type the id of the conversation to erase it:");
    terminal.type_in("s1\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");

    let by_arguments = json!({"rules": [
        {"id": "tents", "action": "ask", "tool": "product.*", "arguments": {"query": "tent"}},
    ]});
    let answer = test_rules(&world, &by_arguments);
    assert_eq!(
        changes(&answer, "product.search"),
        [
            ("allow".to_owned(), None),
            ("allow".to_owned(), None),
            ("deny".to_owned(), Some("allow".to_owned()))
        ],
        "{answer}"
    );
    let first = &answer["calls"][0];
    assert_eq!(first.get("arguments"), None, "{first}");
    assert!(text(first, "why").contains("erased"), "{first}");

    let whatever = json!({"rules": [{"id": "no", "action": "deny", "tool": "product.*"}]});
    let answer = test_rules(&world, &whatever);
    assert_eq!(
        changes(&answer, "product.search"),
        [
            ("allow".to_owned(), Some("deny".to_owned())),
            ("allow".to_owned(), Some("deny".to_owned()))
        ],
        "rules without arguments decide erased calls, too: {answer}"
    );
}

#[test]
fn a_rule_test_reports_invalid_rules_and_leaves_the_policy_unchanged() {
    let world = World::new();
    make_past(&world);
    let file = world.path("proposed.json");
    fs::write(
        &file,
        "{\"rules\": [\n  {\"id\": \"b\", \"action\": \"permit\", \"tool\": \"*\"}\n]}",
    )
    .expect("written");
    let file = file.display().to_string();
    let ran = world.run(&["policy", "backtest", &file]).ends_with(1);
    assert!(
        ran.err.contains("fault rules[0], line 2: the field `action`: unknown variant"),
        "{}",
        ran.err
    );
    world.run(&["policy", "backtest", "/nowhere/rules.json"]).ends_with(1);

    let count = || {
        let list = world.run(&["--json", "audit", "list"]).ends_with(0).json();
        list["total"].as_u64().expect("a number")
    };
    let (first, second) = (count(), count());
    test_rules(&world, &json!({}));
    assert_eq!(count() - second, 2 * (second - first), "it writes no more than to open the log");
}

#[test]
fn a_rule_test_with_many_wildcards_is_fast_and_too_many_rules_are_refused() {
    let world = World::new();
    make_past(&world);
    let rules = |tool: &str, count: usize| {
        let rule = |id: usize| json!({"id": format!("r{id}"), "action": "deny", "tool": tool});
        json!({"rules": (0..count).map(rule).collect::<Vec<_>>()})
    };
    let stars = rules(&format!("{}x", "*a".repeat(99)), 500);
    let answer = test_rules(&world, &stars);
    let denied = |(_, now): &(String, Option<String>)| now.as_deref() == Some("deny");
    assert!(!changes(&answer, "product.search").iter().any(denied), "{answer:#}");
    fs::write(
        world.data().join("policy.json"),
        rules(&format!("{}x", "*".repeat(40)), 1).to_string(),
    )
    .expect("written");
    call(&world, "s9", "product.search", &json!({"query": "ridge"}), 0);
    for (tool, count, words) in
        [("*a".repeat(101), 1, "200 characters"), ("a".to_owned(), 1_001, "more than 1000 rules")]
    {
        let file = propose(&world, &rules(&tool, count));
        let ran = world.run(&["--json", "policy", "backtest", &file]).ends_with(1);
        assert!(ran.json()["faults"].to_string().contains(words), "{}", ran.out);
    }
    let file = propose(&world, &rules(&"a".repeat(190), 1_200));
    let ran = world.run(&["policy", "backtest", &file]).ends_with(1);
    assert!(ran.err.contains("larger than 256 KiB"), "{}", ran.err);
    let pipe = world.path("pipe").display().to_string();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("runs").success());
    for place in [pipe.as_str(), "/dev/zero"] {
        let ran = world.run(&["policy", "backtest", place]).ends_with(1);
        assert!(ran.err.contains("a pipe, a socket or a device"), "{}", ran.err);
    }
}
