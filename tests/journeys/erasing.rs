//! Erasing a conversation in the window: the confirmation word has to be typed, no text of the
//! conversation stays in a file, and conversations that got its memories can be erased, too. Also
//! takes pictures of the replay of a run and of the test of rules.

use kit::webdriver::{key, wait};
use serde_json::json;

use crate::world::{Journey, Page};

const SECRET: &str = "quixotelamp";

/// Opens the dialog that erases the conversation that is shown.
fn ask_to_erase(page: &Page<'_>) {
    page.named("li.current .actions button", "Actions for", false).click().expect("clicked");
    page.named("[role=menuitem]", "Erase with all traces", false).click().expect("clicked");
    page.says("Erase this conversation?");
}

/// Types the confirmation word, and erases the conversation of the dialog.
fn confirm(page: &Page<'_>) {
    page.fill("Type “erase” to confirm", "erase");
    page.named("dialog[open] footer button", "Erase", true).click().expect("erased");
    page.says("The conversation is erased");
}

#[test]
fn a_conversation_is_erased_after_the_confirmation_word_was_typed() {
    let journey = Journey::with("erasing", "", &[]);
    journey.ask(&format!("show me {SECRET} tents"));
    journey.chat(|page| {
        page.go("Audit");
        page.click("All records");
        page.click("Answer given");
        page.click("Replay this run");
        page.says("The replay wrote the same");
    });
    journey.picture("erasing/replay.png");
    journey.chat(|page| {
        page.go("Tools");
        page.click("Policy");
    });
    journey.picture("erasing/policy.png");
    journey.chat(|page| {
        page.go("Chat");
        ask_to_erase(page);
        page.at_rest("dialog[open]");
        assert!(!page.named("dialog[open] footer button", "Erase", true).enabled().expect("read"));
    });
    journey.picture("erasing/confirm.png");
    journey.chat(|page| {
        confirm(page);
        page.click("Close");
    });
    wait("the conversation to be gone", || {
        let list = journey.call("sessions_list", json!({"query": "", "offset": 0, "limit": 0}));
        list.ok().filter(|list| list["sessions"] == json!([]))
    });
    journey.picture("erasing/erased.png");
    journey.quit();
    journey.assert_in_no_file(SECRET);
    journey.assert_log_verifies();
}

#[test]
fn conversations_that_used_erased_memories_can_be_erased_too() {
    let journey = Journey::with("erasing-memories", "", &[]);
    let note = format!("Remember that {SECRET} reports in Helsinki time");
    let params =
        json!({"session": null, "text": note, "model": null, "agent": null, "headless": false});
    journey.call("turn_start", params).expect("sent");
    wait("the note to wait for a yes", || (!journey.pending().is_empty()).then_some(()));
    journey.approval(|page| page.click_armed("Approve"));
    wait("the note", || {
        let all = json!({"session": null, "used_in": null, "offset": 0, "limit": 0});
        let list = journey.call("memory_list", all);
        list.ok().filter(|list| list["memories"] != json!([]))
    });
    journey.chat(|page| page.session.press(&[&[key::CONTROL, "n"]]).expect("Ctrl+N"));
    journey.ask(&format!("What do you remember about {SECRET}?"));
    journey.chat(|page| {
        page.says("reports in Helsinki time");
        page.click("Remember that");
        ask_to_erase(page);
        confirm(page);
        page.says("These conversations received memories from it");
        page.at_rest("dialog[open]");
    });
    journey.picture("erasing/others.png");
    journey.chat(|page| {
        page.click("Erase too: What do you remember about");
        page.says("Erase this conversation?");
        confirm(page);
        assert!(!page.text().contains("These conversations received memories"));
        page.click("Close");
    });
    journey.quit();
    journey.assert_in_no_file(SECRET);
    journey.assert_log_verifies();
}
