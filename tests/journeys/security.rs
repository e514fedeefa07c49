//! The permissions of pages: every command from every kind of window, events, and new windows. Only
//! the approval window decides.

use contract::commands::{APPROVAL_COMMANDS, CHAT_COMMANDS};
use kit::webdriver::wait;
use serde_json::{Value, json};

use crate::{approving::ask_for_shoes, world::Journey};

/// Whether Tauri refused a command of a window without permission, before the app's code ran.
fn is_refused(answer: &Result<Value, Value>) -> bool {
    answer
        .as_ref()
        .is_err_and(|error| error.as_str().is_some_and(|text| text.contains("not allowed")))
}

#[test]
fn only_the_approval_window_can_approve() {
    let journey = Journey::with("security", "", &[("COUNTERSIGN_TEST_PROBE_WINDOW", "1")]);
    let action = ask_for_shoes(&journey);
    journey.approval(|page| page.says("Reject"));
    let decision = json!({ "params": { "id": action["id"], "hash": action["hash"], "decision": { "decision": "approve_once" } } });

    for label in ["main", "probe"] {
        journey.within(label, |_| ());
        let answer = journey.with_app(|app| app.invoke("approval_decide", &decision));
        assert!(is_refused(&answer), "approval_decide from {label}: {answer:?}");
        for command in APPROVAL_COMMANDS {
            let answer = journey.with_app(|app| app.invoke(command, &json!({ "params": {} })));
            assert!(is_refused(&answer), "{command} from {label}: {answer:?}");
        }
    }
    for label in ["probe", "approval"] {
        journey.within(label, |_| ());
        for command in CHAT_COMMANDS.iter().filter(|command| {
            label == "probe" || !["settings_get", "server_tools"].contains(*command)
        }) {
            let answer = journey.with_app(|app| app.invoke(command, &json!({ "params": {} })));
            assert!(is_refused(&answer), "{command} from {label}: {answer:?}");
        }
    }
    for label in ["main", "approval", "probe"] {
        journey.within(label, |_| ());
        for (command, arguments) in shell_attempts() {
            let answer = journey.with_app(|app| app.invoke(command, &arguments));
            assert!(is_refused(&answer), "{command} from {label}: {answer:?}");
        }
    }
    // The commands of the chat window cannot decide about an approval either.
    journey.within("main", |_| ());
    for command in CHAT_COMMANDS {
        let _ = journey.with_app(|app| app.invoke(command, &json!({ "params": {} })));
    }
    journey.chat(|page| {
        let opened = page.script("return window.open('approval.html') === null;");
        assert_eq!(opened, json!(true), "a page opens no window");
        let leaked =
            page.script("try { return typeof eval('1'); } catch (e) { return 'blocked'; }");
        assert_eq!(leaked, json!("blocked"), "the content policy forbids eval");
        assert_eq!(page.script("return Object.isFrozen(Object.prototype);"), json!(true));
    });
    journey.with_app(|app| {
        assert_eq!(app.session().windows().expect("windows").len(), 3, "no window came of it")
    });
    assert_eq!(
        journey.stored_approval(&action["id"])["status"],
        "pending",
        "after all of that the action still waits"
    );

    journey.approval(|_| ());
    let wrong = json!({ "params": { "id": action["id"], "hash": "0".repeat(64), "decision": { "decision": "approve_once" } } });
    let answer = journey.with_app(|app| app.invoke("approval_decide", &wrong));
    assert!(answer.is_err(), "another hash is refused: {answer:?}");
    let answer = journey.with_app(|app| app.invoke("approval_decide", &decision));
    assert!(answer.is_ok(), "the approval window decides: {answer:?}");
    let again = journey.with_app(|app| app.invoke("approval_decide", &decision));
    assert!(again.is_err(), "once: {again:?}");
    wait("the action to be done", || {
        (journey.stored_approval(&action["id"])["status"] == "done").then_some(())
    });
}

/// Returns commands of Tauri's plugins that a page could call to bypass the command list.
fn shell_attempts() -> Vec<(&'static str, Value)> {
    let window = json!({ "options": { "label": "approval", "url": "approval.html" } });
    vec![
        ("plugin:event|emit", json!({ "event": "approved", "payload": {} })),
        (
            "plugin:event|emit_to",
            json!({ "target": { "kind": "AnyLabel", "label": "approval" }, "event": "approved", "payload": {} }),
        ),
        (
            "plugin:event|listen",
            json!({ "event": "tauri://focus", "target": { "kind": "Any" }, "handler": 1 }),
        ),
        ("plugin:webview|create_webview_window", window.clone()),
        ("plugin:webview|create_webview", window.clone()),
        ("plugin:window|create", window),
        ("plugin:window|set_focus", json!({ "label": "approval" })),
        ("plugin:dialog|open", json!({ "options": {} })),
        ("plugin:fs|read_file", json!({ "path": "/etc/passwd" })),
        ("plugin:notification|notify", json!({ "options": { "title": "x" } })),
        ("plugin:window-state|save_window_state", json!({ "flags": 1 })),
        ("plugin:app|version", json!({})),
    ]
}
