//! A question in the message field without a language model: words that fit are taken with the
//! keyboard, a word that will not be used is underlined, and the answer has chips that can be
//! changed.

use kit::webdriver::{key, wait};
use serde_json::{Value, json};

use crate::{
    asking::{ADS, change_part, shows},
    given,
    world::{Journey, NOW, Page},
};

#[test]
fn a_question_is_completed_and_a_word_is_underlined() {
    let journey = Journey::with("typing", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
    given::source(&journey, "ads", ADS);
    let asked = json!({"language": "en", "limit": 1});
    let suggested = journey.call("question_suggestions", asked).expect("questions");
    let first = suggested["questions"][0].as_str().expect("a question");
    journey.chat(|page| {
        // The empty conversation reads its questions when it is shown.
        page.go("Data");
        page.go("Chat");
        page.named(".empty button", first, true);
        let field = page.named("textarea", "Message", true);
        field.click().expect("the message field can be clicked");

        page.session.type_text("zorgly spend by cam").expect("typing");
        offers(page, "campaign");
        page.session.press(&[&[key::TAB]]).expect("Tab");
        has_draft(page, "zorgly spend by campaign ");
        assert_eq!(page.focus(), "Message", "Tab took the words and not the focus");
        wait("the underlined word", || {
            (underlined(page)["words"] == json!(["zorgly"])).then_some(())
        });
        let underlined = underlined(page);
        assert_eq!(underlined["title"], "This word will not be used: “zorgly”.");
        assert_eq!(underlined["layer"], underlined["field"], "both have one shape");
    });
    journey.picture("typing/underlined.png");

    journey.chat(|page| {
        page.session.press(&[&[key::CONTROL, "a"]]).expect("Ctrl+A");
        page.session.type_text("spend by cam").expect("typing");
        offers(page, "campaign");
        page.session.press(&[&[key::DOWN]]).expect("Down");
        let marked = "return document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.querySelector('b')?.innerText ?? '';";
        wait("the marked words", || (page.script(marked) == "campaign").then_some(()));
    });
    journey.picture("typing/offered.png");
    journey.chat(|page| {
        page.session.press(&[&[key::ESCAPE]]).expect("Escape");
        wait("the list to close", || (words(page) == json!([])).then_some(()));
        page.session.type_text("p").expect("typing");
        offers(page, "campaign");
        page.session.press(&[&[key::TAB]]).expect("Tab");
        has_draft(page, "spend by campaign ");
        let before = page.answers();
        page.session.type_text("this month").expect("typing");
        page.session.press(&[&[key::ENTER]]).expect("Enter");
        page.answer_after(before);
        has_draft(page, "");
        assert_eq!(words(page), json!([]), "nothing is offered for an empty field");

        page.click("Table");
        shows(page, 0, &json!([["Autumn", "1,000.50"], ["Winter", "2,000.25"]]));
        change_part(page, "/period");
        page.choose("Period", "last_month");
        page.click("Apply");
        shows(page, 0, &json!([["Autumn", "300.75"], ["Winter", "40.25"]]));

        page.named("textarea", "Message", true).click().expect("clicked");
        page.session.press(&[&[key::TAB]]).expect("Tab");
        wait("the focus to go on", || (page.focus() != "Message").then_some(()));
    });
    journey.quit();
    journey.assert_log_verifies();
}

/// Returns the words that are offered.
fn words(page: &Page<'_>) -> Value {
    page.script(
        "return [...document.querySelectorAll('#composer-words b')].map((word) => word.innerText);",
    )
}

/// Waits until these words are offered first.
#[track_caller]
fn offers(page: &Page<'_>, first: &str) {
    wait(&format!("the words {first}"), || (words(page)[0] == first).then_some(()));
}

#[track_caller]
fn has_draft(page: &Page<'_>, text: &str) {
    let script = "return document.querySelector('.composer textarea').value;";
    wait(&format!("the draft {text:?}"), || (page.script(script) == text).then_some(()));
}

/// Returns the underlined words, and the shapes of the message field and of the layer behind it.
fn underlined(page: &Page<'_>) -> Value {
    page.script(
        "const field = document.querySelector('.composer textarea'), layer = document.querySelector('.composer .marks'); \
         const shape = (element) => { if (!element) return null; const style = getComputedStyle(element), box = element.getBoundingClientRect(); \
         return [style.fontFamily, style.fontSize, style.fontWeight, style.lineHeight, style.letterSpacing, style.paddingLeft, style.paddingTop, \
         element.clientWidth, Math.round(box.left), Math.round(box.top)]; }; \
         return { words: [...layer?.querySelectorAll('.unused') ?? []].map((word) => word.innerText), title: field.title, \
         field: shape(field), layer: shape(layer) };",
    )
}
