//! A whole task with the keyboard only: ask, choose, approve, read the log.

use kit::webdriver::{key, wait};
use serde_json::json;

use crate::world::{Journey, Page};

/// Presses Tab until an element with this name has the focus.
#[track_caller]
pub fn tab_to(page: &Page<'_>, name: &str) {
    // Prices contain non-breaking spaces.
    let name = &name.split_whitespace().collect::<Vec<_>>().join(" ");
    for _ in 0..120 {
        if page.focus().contains(name.as_str()) {
            return;
        }
        page.session.press(&[&[key::TAB]]).expect("Tab");
    }
    panic!("{name} cannot be reached with Tab; the focus is on {}", page.focus());
}

/// Whether the focus is visible: an outline, border or shadow that differs from the page's own.
fn focus_is_visible(page: &Page<'_>) -> bool {
    let script = "const s = getComputedStyle(document.activeElement); const box = getComputedStyle(document.activeElement.parentElement); \
        return (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== 'none' || box.outlineStyle !== 'none';";
    page.script(script) == json!(true)
}

#[test]
fn a_task_can_be_done_with_the_keyboard_only() {
    let journey = Journey::start("keyboard");
    journey.chat(|page| {
        tab_to(page, "Message");
        page.session.type_text("add two of the black trail shoes to my cart").expect("typing");
        let before = page.answers();
        page.session.press(&[&[key::ENTER]]).expect("Enter");
        page.answer_after(before);
        // The answers ask which shoes and which size.
        for _ in 0..2 {
            let choice = page.first_choice().label().expect("a name");
            tab_to(page, &choice);
            assert!(focus_is_visible(page), "the focus is seen on a suggested answer");
            let before = page.answers();
            page.session.press(&[&[key::ENTER]]).expect("Enter");
            wait("the next step", || {
                (page.answers() > before || page.text().contains("Waiting for your approval"))
                    .then_some(())
            });
        }
    });
    let action = wait("the pending action", || journey.pending().first().cloned());

    journey.approval(|page| {
        wait("the focus on Reject", || page.focus().contains("Reject").then_some(()));
        // A further Enter of the same key press must not approve. The focus is on Reject, and
        // Approve is not enabled yet.
        tab_to(page, "Approve");
        assert!(focus_is_visible(page), "the focus is seen on Approve");
        wait("Approve to be armed", || {
            page.button("Approve").enabled().ok().filter(|enabled| *enabled)
        });
        page.session.press(&[&[key::ENTER]]).expect("Enter");
    });
    wait("the action to be done", || {
        (journey.stored_approval(&action["id"])["status"] == "done").then_some(())
    });

    journey.chat(|page| {
        page.idle();
        page.session.press(&[&[key::CONTROL, "2"]]).expect("Ctrl+2");
        wait("the audit view", || {
            (page.script("return document.querySelector('h1')?.textContent?.trim() ?? '';")
                == "Audit")
                .then_some(())
        });
        page.session.press(&[&[key::CONTROL, "1"]]).expect("Ctrl+1");
        wait("the chat view", || page.find("textarea", "Message", true));
    });
}

#[test]
fn the_palette_the_size_and_the_menu_of_a_field_need_no_mouse() {
    let journey = Journey::start("palette");
    journey.chat(|page| {
        wait("the message field", || (page.focus() == "Message").then_some(()));
        page.session.press(&[&[key::CONTROL, key::SHIFT, "p"]]).expect("Ctrl+Shift+P");
        wait("the palette", || page.focus().contains("Search actions").then_some(()));
        page.session.type_text("aud").expect("typing");
        let marked =
            "return document.querySelector('[role=option][aria-selected=true]')?.innerText ?? '';";
        wait("the marked view", || {
            page.script(marked).as_str()?.starts_with("Audit").then_some(())
        });
    });
    journey.picture("views/palette.png");
    journey.chat(|page| {
        page.session.press(&[&[key::ENTER]]).expect("Enter");
        wait("the audit view", || {
            (page.script("return document.querySelector('h1')?.textContent?.trim() ?? '';")
                == "Audit")
                .then_some(())
        });
        page.session.press(&[&[key::CONTROL, "l"]]).expect("Ctrl+L");
        wait("the message field", || (page.focus() == "Message").then_some(()));
        page.session.press(&[&[key::SHIFT, key::F10]]).expect("Shift+F10");
        wait("the menu of the field", || page.focus().contains("Cut").then_some(()));
        page.session.press(&[&[key::ESCAPE]]).expect("Escape");
        wait("the field again", || (page.focus() == "Message").then_some(()));
        let width = || page.script("return innerWidth;").as_f64();
        let before = width().expect("a width");
        page.session.press(&[&[key::CONTROL, "+"]]).expect("Ctrl and +");
        wait("everything to be larger", || (width()? < before).then_some(()));
    });
    let stored = journey.call("settings_get", json!({})).expect("settings");
    assert_eq!(stored["settings"]["zoom"], 110);
    journey.chat(|page| {
        page.session.press(&[&[key::CONTROL, "0"]]).expect("Ctrl+0");
    });
    wait("the normal size", || {
        let stored = journey.call("settings_get", json!({})).ok()?;
        (stored["settings"]["zoom"] == 100).then_some(())
    });
}
