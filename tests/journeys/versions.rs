//! Versions of messages in the window: a question is edited, another answer is asked for, versions
//! are switched, and a question is deleted and taken back.

use kit::webdriver::{Element, key, wait};
use serde_json::{Value, json};

use crate::world::{Journey, Page};

const QUESTION: &str = "What do you remember about account 17?";

/// Returns the questions that are shown, oldest first.
fn questions(page: &Page<'_>) -> Vec<String> {
    let script = "return [...document.querySelectorAll('[role=log] .entry.user .message > p')].map((p) => p.innerText);";
    serde_json::from_value(page.script(script)).unwrap_or_default()
}

/// Returns which version of a question is shown, such as `2 of 3`; empty without versions.
fn version(page: &Page<'_>) -> String {
    let script = "return document.querySelector('[role=log] .versions .num')?.innerText ?? '';";
    page.script(script).as_str().unwrap_or_default().to_owned()
}

/// Waits until this version is shown and answered.
#[track_caller]
fn shows(page: &Page<'_>, expected: &str, answers: u64) {
    wait(&format!("version {expected} with its answer"), || {
        (version(page) == expected && page.answers() >= answers && !page.runs()).then_some(())
    });
}

/// Clicks the last button with this name in the conversation.
#[track_caller]
fn click_last(page: &Page<'_>, name: &str) {
    let script = "return [...document.querySelectorAll('[role=log] button')].filter((e) => e.getAttribute('aria-label') === arguments[0]).at(-1) ?? null;";
    wait(&format!("a click on the last \"{name}\""), || {
        let button: Element<'_> = page.session.find(script, json!([name])).ok().flatten()?;
        button.to_the_middle().and_then(|()| button.click()).ok()
    });
}

/// Returns the distance of the buttons for versions from the top of the window.
fn height(page: &Page<'_>) -> f64 {
    let script =
        "return document.querySelector('[role=log] .versions').getBoundingClientRect().top;";
    page.script(script).as_f64().unwrap_or(f64::NAN)
}

/// Waits until the focus is on the element with this name.
#[track_caller]
fn focused(page: &Page<'_>, name: &str) {
    wait(&format!("the focus on {name}"), || (page.focus() == name).then_some(()));
}

/// Returns all versions of the messages that the newest conversation shows.
fn stored_versions(journey: &Journey) -> Value {
    let sessions = journey.call("sessions_list", json!({})).expect("sessions");
    let session = &sessions["sessions"][0]["id"];
    journey.call("session_open", json!({ "session": session })).expect("the session")["versions"]
        .clone()
}

#[test]
fn a_question_is_edited_answered_again_deleted_and_taken_back() {
    let journey = Journey::start("versions");
    journey.ask("hi");
    journey.ask(QUESTION);
    journey.chat(|page| {
        focused(page, "Message");
        page.session.press(&[&[key::UP]]).expect("the up arrow");
        focused(page, "Edited question");
        page.session.type_text(" please").expect("typed");
        page.session.press(&[&[key::ENTER]]).expect("Enter");
        shows(page, "2 of 2", 2);
        assert_eq!(questions(page), ["hi".to_owned(), format!("{QUESTION} please")]);
        let before = height(page);
        page.named("button", "Previous version", true).click().expect("clicked");
        shows(page, "1 of 2", 2);
        assert_eq!(questions(page), ["hi", QUESTION]);
        focused(page, "Previous version");
        wait("the version to stand where the other one was", || {
            ((height(page) - before).abs() <= 2.0).then_some(())
        });
    });
    journey.picture("conversations/versions.png");
    journey.chat(|page| {
        click_last(page, "Regenerate answer");
        shows(page, "3 of 3", 2);
        assert_eq!(questions(page), ["hi", QUESTION]);
    });
    assert_eq!(stored_versions(&journey)[0]["siblings"].as_array().map(Vec::len), Some(3));
    journey.chat(|page| {
        click_last(page, "More for this question");
        page.named("[role=menuitem]", "Delete question and answer", true).click().expect("deleted");
        page.says("deleted, with 2 other versions. The audit log keeps its records.");
        wait("the question to be gone", || (questions(page) == ["hi"]).then_some(()));
    });
    journey.picture("conversations/message_undo.png");
    journey.chat(|page| {
        page.named("button", "Undo", false).click().expect("undone");
        shows(page, "3 of 3", 2);
        assert_eq!(questions(page), ["hi", QUESTION]);
    });
    journey.quit();
    journey.assert_log_verifies();
}

#[test]
fn messages_after_an_edited_question_stay_with_its_earlier_version() {
    let journey = Journey::start("earlier_version");
    journey.ask("hi");
    journey.ask(QUESTION);
    journey.chat(|page| {
        let edit = || page.named(".entry.user button", "Edit question", true);
        edit().to_the_middle().and_then(|()| edit().click()).expect("opened");
        focused(page, "Edited question");
        page.says("The messages after this one stay with the earlier version.");
        page.session.press(&[&[key::ESCAPE]]).expect("Escape");
        focused(page, "Edit question");
        page.session.press(&[&[key::ENTER]]).expect("Enter");
        focused(page, "Edited question");
        page.session.type_text(" there").expect("typed");
        page.session.press(&[&[key::ESCAPE]]).expect("Escape");
        page.says("Discard your changes?");
        focused(page, "Keep editing");
        page.session.press(&[&[key::ENTER]]).expect("Enter");
        focused(page, "Edited question");
        page.session.press(&[&[key::CONTROL, key::ENTER]]).expect("Ctrl+Enter");
        shows(page, "2 of 2", 1);
        assert_eq!(questions(page), ["hi there"]);
        page.named("button", "Previous version", true).click().expect("clicked");
        shows(page, "1 of 2", 2);
        assert_eq!(questions(page), ["hi", QUESTION]);
    });
    journey.quit();
}
