use std::fs;

use serde_json::json;

use super::*;
use crate::SystemClock;

fn definition(name: &str, description: &str) -> Definition {
    serde_json::from_value(
        json!({"name": name, "description": description, "input_schema": {"type": "object"}}),
    )
    .unwrap()
}

fn pins(folder: &std::path::Path, own: &[&str]) -> Pins {
    Pins::open(
        folder.join("tool-definitions.json"),
        own.iter().map(|name| (*name).to_owned()).collect(),
        Arc::new(SystemClock),
    )
}

fn check(pins: &Pins, tool: &str) -> bool {
    pins.check(&"mail".into(), "post", tool).is_ok()
}

#[test]
fn the_first_list_is_accepted_and_a_change_switches_off_until_it_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let (pack, first) =
        (PackId::from("mail"), [definition("send", "Sends."), definition("read", "Reads.")]);
    let pins_now = pins(folder.path(), &[]);
    assert!(!pins_now.is_known("mail/post"));
    pins_now.record_tools(&pack, "post", &first);
    assert!(check(&pins_now, "send") && check(&pins_now, "read") && !check(&pins_now, "other"));
    // After a restart, one tool is described differently, one is new, one is gone.
    let pins_now = pins(folder.path(), &[]);
    let second = [definition("send", "Sends. Also to me."), definition("burn", "Burns.")];
    pins_now.record_tools(&pack, "post", &second);
    assert!(!check(&pins_now, "send") && !check(&pins_now, "burn") && !check(&pins_now, "read"));
    let tools = pins_now.list_tools(|_, _| None);
    let states: Vec<(&str, DefinitionState)> =
        tools.iter().map(|tool| (tool.name.as_str(), tool.state)).collect();
    assert_eq!(
        states,
        [
            ("burn", DefinitionState::New),
            ("read", DefinitionState::Gone),
            ("send", DefinitionState::Changed)
        ]
    );
    let changed: Vec<(Change, &str)> = tools[2]
        .diff
        .iter()
        .filter(|line| line.change != Change::Same)
        .map(|l| (l.change, l.text.trim()))
        .collect();
    assert_eq!(
        changed,
        [
            (Change::Removed, "\"description\": \"Sends.\","),
            (Change::Added, "\"description\": \"Sends. Also to me.\",")
        ]
    );
    // Only the definition that was shown is accepted.
    let stale = definition("send", "Sends.").hash(&pack, "post");
    assert_eq!(
        pins_now.accept_definition(&pack, "post", "send", &stale).unwrap_err().reason_text(),
        Some("changed")
    );
    pins_now.accept_definition(&pack, "post", "send", &tools[2].hash).unwrap();
    assert!(check(&pins_now, "send") && !check(&pins_now, "burn"));
    let again = pins(folder.path(), &[]);
    again.record_tools(&pack, "post", &second);
    assert!(check(&again, "send") && !check(&again, "burn"), "it is remembered");
}

#[test]
fn a_file_that_cannot_be_read_accepts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tool-definitions.json"), "{").unwrap();
    let pins = pins(folder.path(), &[]);
    pins.record_tools(&"mail".into(), "post", &[definition("send", "Sends.")]);
    assert!(!check(&pins, "send"));
    let hash = pins.list_tools(|_, _| None)[0].hash.clone();
    pins.accept_definition(&"mail".into(), "post", "send", &hash).unwrap();
    assert!(check(&pins, "send"));
}

#[test]
fn the_apps_own_servers_change_with_the_app() {
    let folder = tempfile::tempdir().unwrap();
    let pins = pins(folder.path(), &["mail/post"]);
    pins.record_tools(&"mail".into(), "post", &[definition("send", "Sends.")]);
    pins.record_tools(&"mail".into(), "post", &[definition("send", "Sends better.")]);
    assert!(check(&pins, "send"));
}

#[test]
fn a_tool_is_a_write_until_the_user_says_otherwise() {
    let with = |annotations: serde_json::Value| Definition {
        annotations: Some(annotations),
        ..definition("x", "X.")
    };
    assert_eq!(effect_or_default(&definition("x", "X."), None), Effect::Write);
    assert_eq!(
        effect_or_default(&with(json!({"readOnlyHint": true})), None),
        Effect::Write,
        "a server's own word lowers nothing"
    );
    assert_eq!(
        effect_or_default(&with(json!({"destructiveHint": true})), None),
        Effect::Destructive
    );
    assert_eq!(
        effect_or_default(&with(json!({"destructiveHint": true})), Some(Effect::ReadOnly)),
        Effect::ReadOnly
    );
}
