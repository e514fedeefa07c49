//! Erasing a conversation in the window: its word has to be typed, and nothing of it stays in a file.
//! Also takes pictures of the replay of a run and of the test of rules.

use kit::webdriver::wait;
use serde_json::json;

use crate::world::Journey;

const SECRET: &str = "quixotelamp";

#[test]
fn a_conversation_is_erased_after_its_word_was_typed() {
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
        page.named("li.current .actions button", "Delete", false).click().expect("clicked");
        page.says("Delete this conversation?");
        page.click("Erase its traces too");
        page.says("Erase this conversation?");
        page.at_rest("dialog[open]");
        assert!(!page.named("dialog[open] footer button", "Erase", true).enabled().expect("read"));
    });
    journey.picture("erasing/confirm.png");
    journey.chat(|page| {
        page.fill("Type “erase” to confirm", "erase");
        page.named("dialog[open] footer button", "Erase", true).click().expect("erased");
        page.says("The conversation is erased");
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
