//! Tests of `csign ask`: events, only the answer on standard output, and continued sessions.

use serde_json::Value;

use crate::world::{World, text};

fn events(out: &str) -> Vec<Value> {
    out.lines()
        .map(|line| {
            serde_json::from_str(line)
                .unwrap_or_else(|e| panic!("an event a line, but {e}: {line}"))
        })
        .collect()
}

#[test]
fn ask_with_json_prints_the_events_of_one_turn() {
    let world = World::new();
    let ran = world.run(&["ask", "--json", "What do you remember about account 17?"]).ends_with(0);
    let events = events(&ran.out);
    assert!(
        events.windows(2).all(|pair| pair[0]["n"].as_u64() < pair[1]["n"].as_u64()),
        "in order"
    );
    assert!(events.iter().all(|event| event["turn"] == events[0]["turn"]), "of one turn");
    let finals: Vec<&Value> = events.iter().filter(|event| event["type"] == "final").collect();
    let [last] = finals.as_slice() else { panic!("exactly one final") };
    assert_eq!(Some(*last), events.last());
    assert_eq!(last["status"], "ok");
    assert!(text(last, "text").contains("account 17"), "{last}");
    let deltas: String = events
        .iter()
        .filter(|event| event["type"] == "delta")
        .map(|event| text(event, "text"))
        .collect();
    assert_eq!(deltas, text(last, "text"), "the deltas make up the answer");
    let kinds: Vec<&str> = events.iter().map(|event| text(event, "type")).collect();
    let position =
        |kind| kinds.iter().position(|k| *k == kind).unwrap_or_else(|| panic!("no {kind}"));
    assert!(
        position("tool_start") < position("tool_end") && position("tool_end") < position("delta")
    );
    let end = events.iter().find(|event| event["type"] == "tool_end").expect("there");
    assert_eq!((text(end, "tool"), text(end, "outcome")), ("recall", "ok"));
    assert!(ran.err.is_empty(), "{}", ran.err);
}

#[test]
fn ask_without_json_prints_only_the_answer_on_standard_output() {
    let world = World::new();
    // Without a terminal there is no colour, because the snapshot would contain the escape
    // sequences.
    insta::assert_snapshot!(
        world.transcript(&[&["ask", "What do you remember about account 17?"]])
    );
}

#[test]
fn ask_continues_a_session_and_reads_the_message_from_a_pipe() {
    let world = World::new();
    world.run(&["ask", "--session", "desk", "What do you remember about account 17?"]).ends_with(0);
    let mut command = world.command(&["ask", "--json", "--session", "desk", "-"]);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    std::io::Write::write_all(&mut child.stdin.take().expect("piped"), b"what can you do?\n")
        .expect("written");
    let output = child.wait_with_output().expect("ended");
    assert!(output.status.success());
    let events = events(&String::from_utf8(output.stdout).expect("UTF-8"));
    assert!(events.iter().all(|event| event["session"] == "desk"));
    assert!(events.iter().any(
        |event| event["type"] == "item" && event["item"]["body"]["text"] == "what can you do?"
    ));
}

#[test]
fn the_model_option_selects_the_model_that_answers() {
    let world = World::new();
    let ran = world.run(&["ask", "--model", "offline", "hello"]).ends_with(0);
    assert!(!ran.out.trim().is_empty());
}

#[test]
fn the_agent_option_selects_the_specialist_that_answers() {
    let world = World::new();
    let ran = world
        .run(&["ask", "--json", "--agent", "shopper", "What do you remember about account 17?"])
        .ends_with(0);
    let events = events(&ran.out);
    let started: Vec<&str> = events
        .iter()
        .filter(|event| event["type"] == "agent_start")
        .map(|event| text(event, "agent"))
        .collect();
    assert_eq!(started, ["shopper"]);
    assert!(!events.iter().any(|event| event["type"] == "tool_start"), "memory is not its field");
    let unknown = world.run(&["ask", "--agent", "nobody", "hello"]).ends_with(1);
    assert!(
        unknown.err.contains("There is no specialist nobody") && unknown.err.contains("guardian"),
        "{}",
        unknown.err
    );
}
