//! The first minute of a new user: a page that explains the app, an answer without key and network,
//! and a restart that loses nothing.

use kit::webdriver::wait;
use serde_json::json;

use crate::world::Journey;

#[test]
fn a_new_user_can_try_the_app_offline() {
    let journey = Journey::prepare("first-run", &[]);
    journey.open();
    journey.chat(|page| {
        page.says("Welcome to Countersign");
        assert_eq!(
            page.script("return document.documentElement.scrollWidth <= innerWidth;"),
            json!(true),
            "nothing sticks out"
        );
    });
    journey.picture("first-run.png");
    journey.chat(|page| page.click("Try it offline"));
    journey.chat(|page| page.says("What would you like to know?"));

    // A click on a suggested question gives its answer.
    journey.chat(|page| {
        let before = page.answers();
        page.click("What do you remember about account 17?");
        page.answer_after(before);
    });
    let settings = journey.call("settings_get", json!({})).expect("settings");
    assert_eq!(settings["settings"]["welcomed"], true);
    assert_eq!(settings["keyring"]["state"], "ready", "the keyring of the desktop is used");
    journey.quit();

    journey.open();
    journey.chat(|page| {
        wait("the conversation, and no welcome", || {
            let text = page.text();
            (text.contains("What do you remember") && !text.contains("Welcome to Countersign"))
                .then_some(())
        });
    });
}
