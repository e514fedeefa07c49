//! Conversations as a whole in the window: title, pin, archive, deletion with undo, search in the
//! conversation, copies and quotations, and files.

use std::{fs, path::Path};

use kit::webdriver::{key, wait};
use serde_json::{Value, json};

use crate::{
    choosers::{self, FOLDER},
    world::{Journey, Page},
};

const TITLE: &str = "Pacing of the seventeenth";

/// Chooses an action of the menu of the open conversation's row.
fn choose(page: &Page<'_>, action: &str) {
    page.named("li.current .actions button", "Actions for", false).click().expect("opened");
    page.named("[role=menuitem]", action, false).click().expect("chosen");
}

/// Gives the focus to the row of the open conversation.
fn focus_row(page: &Page<'_>) {
    page.script("document.querySelector('li.current [data-session]').focus();");
}

/// Returns the headings of the list of conversations.
fn headings(page: &Page<'_>) -> String {
    let script =
        "return [...document.querySelectorAll('.sessions h2')].map((h) => h.innerText).join();";
    page.script(script).as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_conversation_is_renamed_pinned_archived_deleted_and_taken_back() {
    let journey = Journey::start("conversations");
    journey.ask("hi");
    journey.ask("What do you remember about account 17?");
    journey.chat(|page| {
        wait("the title of the question", || {
            page.find("h1", "What do you remember about account 17?", true)
        });
        focus_row(page);
        page.session.press(&[&[key::F2]]).expect("F2");
        page.fill("Title", TITLE);
        page.named("dialog[open] footer button", "Save", true).click().expect("saved");
        page.named("h1", TITLE, true);
        choose(page, "Pin");
        wait("the group of pinned ones", || headings(page).contains("Pinned").then_some(()));
        choose(page, "Archive");
        wait("an empty list", || headings(page).is_empty().then_some(()));
        page.named(".sessions button", "Archived", true).click().expect("opened");
        choose(page, "Move out of archive");
        wait("the conversation", || headings(page).contains("Pinned").then_some(()));
    });
    journey.picture("conversations/list.png");
    journey.chat(|page| {
        focus_row(page);
        page.session.press(&[&[key::DELETE]]).expect("Delete");
        page.says("deleted. The audit log keeps its records.");
    });
    journey.picture("conversations/undo.png");
    let listed = || journey.call("sessions_list", json!({})).expect("the list")["sessions"].clone();
    assert_eq!(listed(), json!([]), "it is gone at once");
    journey.chat(|page| {
        page.named("button", "Undo", false).click().expect("undone");
        page.named("h1", TITLE, true);
        wait("the answer again", || (page.answers() >= 2).then_some(()));
    });
    assert_eq!(listed()[0]["title"], TITLE);
    journey.chat(|page| {
        focus_row(page);
        page.session.press(&[&[key::DELETE]]).expect("Delete");
        page.says("deleted. The audit log keeps its records.");
    });
    journey.quit();
    let left = journey.csign(&["--json", "sessions", "list"]);
    let left = String::from_utf8_lossy(&left.stdout).into_owned();
    assert!(!left.contains(TITLE), "closing the app finishes the deletion: {left}");
    journey.assert_log_verifies();
}

/// Checks that a folder has the conversation in each format, with a word of the question.
fn assert_exported(folder: &Path, word: &str) {
    let mut kinds = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder").flatten() {
        let (path, text) = (entry.path(), fs::read_to_string(entry.path()).expect("text"));
        assert!(text.contains(word), "{}: {text}", path.display());
        let kind = path.extension().expect("an ending").to_string_lossy().into_owned();
        match kind.as_str() {
            "html" => assert!(text.starts_with("<!"), "{text}"),
            "json" => drop(serde_json::from_str::<Value>(&text).expect("JSON")),
            _ => assert!(text.starts_with('#'), "{text}"),
        }
        kinds.push(kind);
    }
    kinds.sort();
    assert_eq!(kinds, ["html", "json", "md"]);
}

#[test]
fn a_text_is_found_in_the_conversation_quoted_and_exported() {
    let journey = Journey::start("finding");
    journey.ask("hello quixotelamp");
    journey.ask("What do you remember about account 17?");
    journey.chat(|page| {
        page.session.press(&[&[key::CONTROL, "f"]]).expect("Ctrl+F");
        wait("the field", || page.focus().contains("Find in this conversation").then_some(()));
        page.session.type_text("QuixoteL").expect("typed");
        page.says(" of ");
        let marked = "return document.querySelector('.entry.marked')?.innerText ?? '';";
        wait("the message", || page.script(marked).as_str()?.contains("quixotelamp").then_some(()));
        page.session.press(&[&[key::ENTER], &[key::SHIFT, key::ENTER]]).expect("to and fro");
        wait("the field to keep the focus", || {
            page.focus().contains("Find in this conversation").then_some(())
        });
    });
    journey.picture("conversations/find.png");
    journey.chat(|page| {
        page.session.press(&[&[key::ESCAPE]]).expect("Escape");
        wait("the bar to close", || (!page.has_button("Next match")).then_some(()));
        page.named("article button", "More for this answer", true).click().expect("opened");
        page.named("[role=menuitem]", "Quote", true).click().expect("quoted");
        let field = "return document.querySelector('textarea')?.value ?? '';";
        wait("the quotation", || page.script(field).as_str()?.starts_with("> ").then_some(()));
        choose(page, "Export…");
        page.named("dialog[open] button", "Markdown", false).click().expect("chosen");
    });
    let folder = journey.desktop.folder().join("home").join("exported");
    fs::create_dir(&folder).expect("a folder");
    choosers::choose(&journey, FOLDER, &folder);
    journey.chat(|page| page.says(" written to "));
    let sessions = journey.call("sessions_list", json!({})).expect("sessions");
    for format in ["html", "json"] {
        let session = &sessions["sessions"][0]["id"];
        let params = json!({"session": session, "format": format, "folder": folder});
        journey.call("session_export", params).expect("written");
    }
    assert_exported(&folder, "quixotelamp");
    journey.quit();
}
