//! Memory and search in the window: an answer shows its memories and leads to the message that a
//! memory was made from; the memory view edits, pins, deletes and exports; a search leads to a
//! message.

use kit::{
    model_server::{ModelServer, Reply},
    webdriver::{key, wait},
};
use serde_json::{Value, json};

use crate::world::{Journey, Page};

/// A script that returns the text of the entry that a link led to, once the entry has the focus and
/// is in sight.
const MARKED: &str = "const entry = document.querySelector('.entry.marked'); if (!entry || document.activeElement !== entry) return null; \
    const { top, bottom } = entry.getBoundingClientRect(), frame = entry.closest('[role=log]').getBoundingClientRect(); \
    return top >= frame.top - 1 && bottom <= frame.bottom + 1 ? entry.innerText : null;";

fn marked(page: &Page<'_>, text: &str) {
    wait(&format!("\"{text}\" to be marked and in sight"), || {
        page.script(MARKED).as_str().is_some_and(|marked| marked.contains(text)).then_some(())
    });
}

/// Opens the line of an answer that lists its memories.
fn open_remembered(page: &Page<'_>) {
    page.says("Remembered 1");
    let line = page.named("summary", "Remembered 1", false);
    line.to_the_middle().expect("in sight");
    wait("the line to have the focus", || {
        page.script("const line = [...document.querySelectorAll('summary')].findLast((e) => e.innerText.includes('Remembered')); line?.focus(); return line === document.activeElement;").as_bool().filter(|is| *is)
    });
    page.session.press(&[&[key::ENTER]]).expect("Enter");
}

/// An answer with everything that is drawn: line breaks, formulas, code, and text that is written
/// from right to left.
const ANSWER: &str = "In Helsinki time.\nThat is two hours ahead, for $5 and $10 alike.\n\nThe share is $\\frac{a_1}{b}$ and \\(x^2\\):\n\n$$\n\\sum_{i=1}^{n} i\n= \\frac{n(n+1)}{2}\n$$\n\n```sql\nSELECT 1\n```\n\nالوقت في هلسنكي هو $t+2$.";

/// Checks how the answer is drawn: the number of each kind of element, and the direction of the
/// Arabic paragraph.
fn assert_drawn(page: &Page<'_>) {
    let drawn = page.script(
        "const prose = [...document.querySelectorAll('.prose')].at(-1), count = (what) => prose.querySelectorAll(what).length; \
         const [formula, block] = ['math mfrac', 'math[display=block]'].map((what) => prose.querySelector(what).getBoundingClientRect()); \
         const last = [...prose.querySelectorAll('p')].find((p) => p.innerText.includes('الوقت')), range = document.createRange(); range.selectNodeContents(last); \
         const [words, box] = [range.getBoundingClientRect(), last.getBoundingClientRect()]; \
         return { breaks: count('p > br'), formulas: count('math'), stacked: formula.height > 20, wide: block.width > 0, \
           right: box.right - words.right < 4 && words.left - box.left > 40, code: getComputedStyle(prose.querySelector('pre')).direction };",
    );
    assert_eq!(
        drawn,
        json!({"breaks": 1, "formulas": 4, "stacked": true, "wide": true, "right": true, "code": "ltr"})
    );
    page.says("for $5 and $10 alike");
    page.says("Corrected: Describe a data source");
    assert!(!page.text().contains("do not fit"), "what the model was told is in the details only");
    page.named(".copy-code", "Copy", true).click().expect("copied");
    page.named(".copy-code", "Copied", true);
}

fn memories(journey: &Journey) -> Value {
    journey
        .call("memory_list", json!({"session": null, "used_in": null, "offset": 0, "limit": 0}))
        .expect("memories")["memories"]
        .clone()
}

#[test]
fn an_answer_shows_the_used_memories_and_links_to_their_source() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let refused = json!({"search": "zones", "colour": "red"});
    let server = runtime.block_on(ModelServer::start([
        Reply::call("data_describe", refused),
        Reply::call("data_describe", json!({"search": "zones"})),
        Reply::text([ANSWER]),
    ]));
    let settings = format!(
        "[model]\nprovider = \"openai_compatible\"\nbase_url = \"{}\"\nmodel = \"scripted\"\n",
        server.base_url()
    );
    let journey = Journey::with("remembering", &settings, &[]);
    // The offline model takes the text to remember from the message.
    let params = json!({"session": null, "text": "Remember that account 17 reports in Helsinki time",
        "model": "offline", "agent": null, "headless": false});
    journey.call("turn_start", params).expect("sent");
    wait("the note to wait for a yes", || (!journey.pending().is_empty()).then_some(()));
    journey.approval(|page| page.click_armed("Approve"));
    wait("the note", || (memories(&journey) != json!([])).then_some(()));
    journey.chat(|page| page.session.press(&[&[key::CONTROL, "n"]]).expect("Ctrl+N"));
    journey.ask("@Data In which time does account 17 report?");
    journey.chat(assert_drawn);
    journey.picture("memory/drawn.png");
    journey.chat(open_remembered);
    journey.chat(|page| page.says("account 17 reports in Helsinki time"));
    journey.picture("memory/remembered.png");
    journey.chat(|page| {
        page.click("From “Remember that account 17");
        marked(page, "Remember that account 17 reports in Helsinki time");
    });
    journey.picture("memory/source.png");

    // The same line is there after a restart, and says when the memory was forgotten.
    journey.quit();
    journey.open();
    journey.chat(|page| {
        page.click("In which time does account 17 report?");
        page.says("Remembered 1");
        page.go("Memory");
        page.says("account 17 reports in Helsinki time");
        page.click("Pin: give it");
        page.says("1 pinned memory adds");
        page.click("Edit");
        page.fill("Text", "Account 17 reports in Berlin time");
        page.click("Save");
        page.says("The memory was changed.");
    });
    assert_eq!(memories(&journey)[0]["text"], "Account 17 reports in Berlin time");
    assert_eq!(memories(&journey)[0]["pinned"], true);
    journey.picture("memory/page.png");
    journey.chat(|page| {
        page.click("Delete");
        page.says("Delete this memory?");
        page.named("dialog[open] footer button", "Delete", true).click().expect("deleted");
        page.says("Nothing is remembered yet");
        page.go("Chat");
        open_remembered(page);
        page.says("This memory was forgotten.");
        page.click("Memory is on in this conversation");
        wait("the switch", || page.has_button("Memory is off in this conversation").then_some(()));
    });
    journey.picture("memory/forgotten.png");
    assert_eq!(memories(&journey), json!([]));
    journey.assert_log_verifies();
}

#[test]
fn a_search_hit_opens_the_message_in_a_long_conversation() {
    let journey = Journey::start("searching");
    journey.ask("show me black trail shoes");
    for number in 0..12 {
        let asked = format!("What do you remember about account {}?", number + 10);
        journey.ask(&asked);
    }
    journey.chat(|page| {
        page.session.press(&[&[key::CONTROL, "n"]]).expect("Ctrl+N");
        page.session.press(&[&[key::CONTROL, "k"]]).expect("Ctrl+K");
        wait("the search to have the focus", || page.focus().contains("Search").then_some(()));
        page.session.type_text("black \"trail sho").expect("typed");
        page.says("In messages");
        wait("marked words", || {
            let words = page.script("return [...document.querySelectorAll('mark')].map((e) => e.innerText.toLowerCase());");
            words.as_array().is_some_and(|words| words.contains(&json!("trail")) && words.contains(&json!("shoes"))).then_some(())
        });
    });
    journey.picture("memory/search.png");
    journey.chat(|page| {
        page.click("You · ");
        marked(page, "show me black trail shoes");
    });
    journey.picture("memory/found.png");
}
