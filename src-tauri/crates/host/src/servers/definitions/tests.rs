use std::fs;

use contract::{AcceptedTool, Change, ServerToolsAcceptParams};
use serde_json::json;

use super::*;
use crate::profile::SystemClock;

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

/// Accepts a tool of the server `mail/post` by its hash.
fn accept(pins: &Pins, tool: &str, hash: &str) -> Result<(), AgentError> {
    pins.accept_definitions(&ServerToolsAcceptParams {
        pack: "mail".into(),
        server: "post".into(),
        hashes: [(tool.to_owned(), hash.to_owned())].into(),
        numbers_may_change: None,
    })
}

fn check(pins: &Pins, tool: &str) -> bool {
    pins.check(&"mail".into(), "post", tool).is_ok()
}

#[test]
fn the_first_tool_list_is_accepted_and_a_changed_tool_is_off_until_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let (pack, first) =
        (PackId::from("mail"), [definition("send", "Sends."), definition("read", "Reads.")]);
    let pins_now = pins(folder.path(), &[]);
    assert!(!pins_now.is_known("mail/post"));
    pins_now.record_tools(&pack, "post", &first);
    assert!(check(&pins_now, "send") && check(&pins_now, "read") && !check(&pins_now, "other"));
    // After a restart, one tool has another description, one is new, and one is gone.
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
    // Only a definition that was shown can be accepted.
    let stale = definition("send", "Sends.").hash(&pack, "post");
    assert_eq!(accept(&pins_now, "send", &stale).unwrap_err().reason_text(), Some("changed"));
    accept(&pins_now, "send", &tools[2].hash).unwrap();
    assert!(check(&pins_now, "send") && !check(&pins_now, "burn"));
    let again = pins(folder.path(), &[]);
    again.record_tools(&pack, "post", &second);
    assert!(check(&again, "send") && !check(&again, "burn"), "it is remembered");
}

#[test]
fn no_tool_is_accepted_if_the_file_of_accepted_definitions_is_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tool-definitions.json"), "{").unwrap();
    let pins = pins(folder.path(), &[]);
    pins.record_tools(&"mail".into(), "post", &[definition("send", "Sends.")]);
    assert!(!check(&pins, "send"));
    let hash = pins.list_tools(|_, _| None)[0].hash.clone();
    accept(&pins, "send", &hash).unwrap();
    assert!(check(&pins, "send"));
}

#[test]
fn a_description_with_changed_numbers_is_usable_but_not_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let (pack, pins) = (PackId::of_added_server("bank"), pins(folder.path(), &[]));
    let of = |text: &str| [definition("pay", text)];
    let usable = |text: &str| {
        pins.record_tools(&pack, "bank", &of(text));
        pins.usable_pins(&pack, "bank").pop()
    };
    let seen = of("Pays to account 1111.");
    pins.record_tools(&pack, "bank", &seen);
    let accepted = ServerToolsAcceptParams {
        pack: pack.clone(),
        server: "bank".into(),
        hashes: [("pay".to_owned(), seen[0].hash(&pack, "bank"))].into(),
        numbers_may_change: Some(true),
    };
    pins.accept_definitions(&accepted).unwrap();
    let same = usable("Pays to account 1111.").unwrap();
    assert!(same.is_by_person() && same.hash == seen[0].hash(&pack, "bank"));
    let other = usable("Pays to account 9999.").unwrap();
    assert!(!other.is_by_person(), "a person has seen another text");
    assert_eq!(other.definition, of("Pays to account 9999.")[0]);
    assert_eq!(other.hash, other.definition.hash(&pack, "bank"), "the log names what is shown");
    assert!(usable("Pays to account 1111222233334444.").is_none(), "it grew too much");
}

#[test]
fn a_tool_accepted_without_an_effect_stays_unclassified() {
    let folder = tempfile::tempdir().unwrap();
    let (pack, pins) = (PackId::of_added_server("post"), pins(folder.path(), &[]));
    let listed = [definition("list", "Lists."), definition("send", "Sends.")];
    pins.record_tools(&pack, "post", &listed);
    let accepted = listed.each_ref().map(|definition| {
        let effect = (definition.name == "list").then_some(Effect::ReadOnly);
        let hash = definition.hash(&pack, "post");
        (definition.name.clone(), AcceptedTool { hash, effect })
    });
    assert!(pins.accept_list(&pack, "post", &accepted.into(), false).unwrap().is_ok());
    for (tool, is_classified) in [("list", true), ("send", false)] {
        let looked = pins.check_tool(&server_key(&pack, "post"), tool);
        assert!(!looked.off && looked.by_person.is_some(), "{tool}");
        assert_eq!(looked.is_classified, is_classified, "{tool}");
    }
}

#[test]
fn a_tools_classification_is_reset_if_its_server_declares_a_stronger_effect() {
    let folder = tempfile::tempdir().unwrap();
    let (pack, pins) = (PackId::from("mail"), pins(folder.path(), &[]));
    let of = |hints: Value| Definition { annotations: Some(hints), ..definition("look", "Looks.") };
    let effect_after = |said: Effect, before: Value, after: Value| {
        let (before, after) = (of(before), of(after));
        pins.record_tools(&pack, "post", std::slice::from_ref(&before));
        accept(&pins, "look", &before.hash(&pack, "post")).unwrap();
        pins.set_effect(&pack, "post", "look", said).unwrap();
        pins.record_tools(&pack, "post", std::slice::from_ref(&after));
        let shown = pins.list_tools(|_, _| None)[0].effect;
        accept(&pins, "look", &after.hash(&pack, "post")).unwrap();
        assert_eq!(pins.list_tools(|_, _| None)[0].effect, shown, "what is shown is accepted");
        shown
    };
    let (reads, writes) = (json!({"readOnlyHint": true}), json!({"readOnlyHint": false}));
    let burns = json!({"destructiveHint": true});
    let read = Effect::ReadOnly;
    assert_eq!(effect_after(read, reads.clone(), burns.clone()), Effect::Destructive);
    assert_eq!(effect_after(read, reads.clone(), writes.clone()), Effect::Write);
    assert_eq!(effect_after(read, reads.clone(), json!({})), Effect::Write);
    assert_eq!(effect_after(read, writes.clone(), reads.clone()), Effect::ReadOnly);
    let titled = json!({"destructiveHint": true, "title": "Look"});
    assert_eq!(effect_after(read, burns, titled), Effect::ReadOnly, "it says the same");
    assert_eq!(effect_after(Effect::Destructive, reads, writes), Effect::Destructive);
}

#[test]
fn a_tool_list_accepted_regardless_of_numbers_has_unaccepted_descriptions() {
    let folder = tempfile::tempdir().unwrap();
    let (pack, pins) = (PackId::of_added_server("bank"), pins(folder.path(), &[]));
    let shown = [definition("look", "Looks."), definition("pay", "Pays to account 1111.")];
    let listed = [definition("look", "Looks."), definition("pay", "Pays to account 9999.")];
    pins.record_tools(&pack, "bank", &listed);
    let accepted = shown.each_ref().map(|definition| {
        let hash = shown_hash(definition, &pack, "bank", true);
        (definition.name.clone(), AcceptedTool { hash, effect: None })
    });
    assert!(pins.accept_list(&pack, "bank", &accepted.into(), true).unwrap().is_ok());
    let usable = pins.usable_pins(&pack, "bank");
    let by_person: Vec<bool> = usable.iter().map(Pin::is_by_person).collect();
    assert_eq!(by_person, [true, false], "look has no number, pay has another one");
}

#[test]
fn removing_a_server_removes_its_notes() {
    let folder = tempfile::tempdir().unwrap();
    let (pack, pins) = (PackId::of_added_server("bank"), pins(folder.path(), &[]));
    let tool = UnreadableTool { name: "pay".into(), why: "no schema".into() };
    pins.record_unreadable(&pack, "bank", &[tool]);
    assert_eq!(pins.notes().len(), 1);
    pins.forget_server(&pack, "bank").unwrap();
    assert!(pins.notes().is_empty());
}

fn is_accepted(pins: &Pins, file: &serde_json::Value) -> bool {
    let pack = PackId::of_added_server("notes");
    pins.record_manifest(&pack, file);
    pins.is_manifest_accepted(&pack)
}

#[test]
fn only_a_server_file_as_written_by_the_app_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let (pack, file) = (PackId::of_added_server("notes"), json!({"name": "notes", "n": 1}));
    let first = pins(folder.path(), &[]);
    assert!(!is_accepted(&first, &file), "one that the app did not write waits");
    first.pin_server_file(&pack, &file).unwrap();
    assert!(is_accepted(&first, &file));
    let again = pins(folder.path(), &[]);
    assert!(is_accepted(&again, &file));
    assert!(!is_accepted(&again, &json!({"name": "notes", "n": 2})));
    assert!(is_accepted(&again, &file), "what was accepted stays accepted");
}

#[test]
fn the_server_file_of_an_earlier_version_is_accepted_once() {
    let folder = tempfile::tempdir().unwrap();
    let old = json!({"version": 1, "servers": {}}).to_string();
    fs::write(folder.path().join("tool-definitions.json"), old).unwrap();
    let first = pins(folder.path(), &[]);
    assert!(is_accepted(&first, &json!({"n": 1})));
    assert!(!is_accepted(&first, &json!({"n": 2})));
    assert!(!is_accepted(&pins(folder.path(), &[]), &json!({"n": 2})));
    assert!(is_accepted(&pins(folder.path(), &[]), &json!({"n": 1})));
}

#[test]
fn tool_changes_of_the_apps_own_servers_need_no_acceptance() {
    let folder = tempfile::tempdir().unwrap();
    let pins = pins(folder.path(), &["mail/post"]);
    pins.record_tools(&"mail".into(), "post", &[definition("send", "Sends.")]);
    pins.record_tools(&"mail".into(), "post", &[definition("send", "Sends better.")]);
    assert!(check(&pins, "send"));
}

#[test]
fn a_tool_counts_as_a_write_until_a_person_classifies_it() {
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
