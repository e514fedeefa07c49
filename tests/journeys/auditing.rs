//! The audit view: questions with the actions taken for them, filters, and the links between a
//! question and its conversation.

use kit::webdriver::wait;
use serde_json::json;

use crate::{
    approving::ask_for_shoes,
    views::{fits, in_every_look, set},
    world::{Journey, Page},
};

/// Returns the texts of the list's rows.
fn rows(page: &Page<'_>) -> Vec<String> {
    let rows = page.script(
        "return [...document.querySelectorAll('ol button.row')].map((row) => row.innerText);",
    );
    serde_json::from_value(rows).unwrap_or_default()
}

fn open_row(page: &Page<'_>, name: &str) {
    page.named("ol button.row", name, false).click().expect("an entry can be opened");
    wait("the steps", || page.find("ol", "What was done", true));
}

#[test]
fn a_question_shows_its_asker_and_approvals_and_leads_to_its_message() {
    let journey = Journey::start("audit");
    let action = ask_for_shoes(&journey);
    journey.approval(|page| page.click_armed("Approve"));
    wait("the action to be done", || {
        (journey.stored_approval(&action["id"])["status"] == "done").then_some(())
    });
    journey.chat(|page| page.idle());
    journey.ask("What do you remember about account 17?");

    journey.chat(|page| {
        page.go("Audit");
        wait("the questions", || {
            let rows = rows(page);
            (rows.len() >= 3
                && page.text().contains("in the chat window")
                && rows.iter().any(|row| row.contains("What do you remember about account 17?")))
            .then_some(())
        });
        open_row(page, "Approved");
        page.says("Executed: ");
        let text = page.text();
        for said in ["Question asked", "Proposed: ", "Approved – ", "in the approval window, after"]
        {
            assert!(text.contains(said), "{said} in {text}");
        }
        let shown = page.script("return document.querySelector('li.decided dl')?.innerText ?? '';");
        assert!(
            shown.as_str().is_some_and(|shown| shown.contains("Quantity")),
            "the arguments that were approved: {shown}"
        );
    });
    in_every_look(&journey, |look| {
        journey.chat(|page| fits(page, &format!("an open question, {look}")));
        journey.look(format!("views/audit-question-{look}.png"));
    });
    set(&journey, "language", json!("sv"));
    journey.chat(|page| page.says("Fråga ställd"));
    journey.picture("views/audit-question-swedish.png");
    set(&journey, "language", json!("en"));
    set(&journey, "theme", json!("light"));

    // A link leads to the message, and another one from the answer back.
    journey.chat(|page| {
        page.click("Open in chat");
        page.named("[role=log]", "", false);
        page.named("textarea", "Message", true);
        let back = "const buttons = [...document.querySelectorAll('[role=log] button[aria-label=\"What was done for this answer\"]')]; \
                    buttons.at(-1)?.click(); return buttons.length > 0;";
        wait("the way to the log", || (page.script(back) == json!(true)).then_some(()));
        wait("the entry of the answer", || {
            page.find("li.open button.row", "What do you remember about account 17?", false)
        });
    });

    // The list is filtered by a decision, then by words.
    journey.chat(|page| {
        page.click("Filter");
        page.choose("Outcome", "approved");
        wait("one entry", || {
            let rows = rows(page);
            (rows.len() == 1 && rows[0].contains("Approved")).then_some(())
        });
        page.click("Clear");
        page.fill("Search", "remember account");
        wait("the question with these words", || {
            let rows = rows(page);
            (rows.len() == 1 && rows[0].contains("What do you remember")).then_some(())
        });
        page.click("Export");
        page.says("Export the whole log");
    });
    journey.picture("views/audit-export.png");

    // An erased conversation keeps its entries, which say that it was erased.
    journey.chat(|page| page.session.press(&[&[kit::webdriver::key::ESCAPE]]).expect("Escape"));
    journey
        .call("session_erase", json!({ "session": action["session"] }))
        .expect("the conversation is erased");
    journey.chat(|page| {
        page.go("Chat");
        page.go("Audit");
        page.says("The question was erased");
        page.click("Verify");
        page.says("Log verified");
    });
    journey.picture("views/audit-erased.png");

    let folder = journey.desktop.data_dir().join("exported");
    let folder = folder.to_str().expect("a plain path");
    journey.call("audit_export", json!({ "folder": folder })).expect("an export");
    let report =
        journey.call("audit_verify_folder", json!({ "folder": folder })).expect("a report");
    assert_eq!(report["ok"], true, "{report}");
    journey.quit();
    journey.assert_log_verifies();
}
