//! Difficult layouts in light and dark and in two sizes: cards, text that is being written, a
//! failure, long names, long words of other languages. No content overflows, and every
//! picture of a product is loaded. The journey `looks` goes through all views.

use kit::{
    model_server::{ModelServer, Reply},
    webdriver::{key, wait},
};
use serde_json::{Value, json};

use crate::{
    approving::ask_for_shoes,
    world::{Journey, Page},
};

pub const SIZES: [(u32, u32); 2] = [(1280, 800), (800, 600)];
const THEMES: [&str; 2] = ["light", "dark"];

#[test]
fn cards_long_words_and_long_titles_fit_the_window_in_light_and_dark() {
    let journey = Journey::start("views");
    journey.ask("show me black trail shoes");
    in_every_look(&journey, |look| {
        journey.chat(|page| fits(page, &format!("the cards of products, {look}")));
        journey.look(format!("views/chat-{look}.png"));
        journey.chat(|page| {
            // The script is repeated until the position stays, because the list follows the end
            // while the answer and the window still change.
            let up = "const first = document.querySelector('[role=log] .entry.user'), there = first.getBoundingClientRect().top >= 0; \
                      if (!there) first.scrollIntoView({ block: 'start' }); return there;";
            let mut stayed = 0;
            wait("the question to stay in sight", || {
                stayed = if page.script(up) == json!(true) { stayed + 1 } else { 0 };
                (stayed >= 15).then_some(())
            });
            fits(page, &format!("the way to the newest message, {look}"));
        });
    });

    // Swedish has the longer words, so it is shown in the smallest size.
    set(&journey, "language", json!("sv"));
    for (view, name) in [
        ("Chatt", "chat"),
        ("Granskning", "audit"),
        ("Verktyg", "tools"),
        ("Data", "data"),
        ("Minne", "memory"),
        ("Tavlor", "boards"),
        ("Inställningar", "settings"),
    ] {
        journey.chat(|page| {
            page.go(view);
            fits(page, &format!("{view}, in Swedish"));
        });
        journey.look(format!("views/{name}-swedish-800x600.png"));
    }
    set(&journey, "language", json!("en"));

    let session =
        journey.call("sessions_list", json!({})).expect("sessions")["sessions"][0]["id"].clone();
    for (kind, title) in [("words", "a name of many words ".repeat(10)), ("word", "w".repeat(200))]
    {
        let title: String = title.chars().take(200).collect();
        journey
            .call("session_rename", json!({ "session": session, "title": title }))
            .expect("a long title");
        journey.chat(|page| page.go("Chat"));
        in_every_look(&journey, |look| {
            journey.chat(|page| fits(page, &format!("a title of 200 characters ({kind}), {look}")));
            journey.look(format!("views/long-{kind}-{look}.png"));
        });
    }
}

#[test]
fn streaming_and_failed_answers_fit_the_window_in_light_and_dark() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let long = "unbreakable".repeat(19);
    let slow = (0..4000)
        .fold(Reply::new().say(&format!("A word of 209 letters: {long}\n\n")), |reply, n| {
            reply.wait_ms(50).say(&format!("word{n} "))
        });
    let server = runtime.block_on(ModelServer::start([
        Reply::route("guardian"),
        slow,
        Reply::refusal(401, &json!({ "message": "no such key" })),
    ]));
    let settings = format!(
        "[model]\nprovider = \"openai_compatible\"\nbase_url = \"{}\"\nmodel = \"scripted\"\n",
        server.base_url()
    );
    let journey = Journey::with("states", &settings, &[]);
    journey.chat(|page| {
        page.send("Tell me something long");
        page.says("word5");
    });
    in_every_look(&journey, |look| {
        journey.chat(|page| fits(page, &format!("an answer being written, {look}")));
        journey.look(format!("views/writing-{look}.png"));
    });
    journey.chat(|page| {
        page.click("Stop");
        page.idle();
        page.send("And now?");
        page.says("requires an API key, and none is stored");
    });
    in_every_look(&journey, |look| {
        journey.chat(|page| fits(page, &format!("a failed answer, {look}")));
        journey.look(format!("views/failed-{look}.png"));
    });
    journey.chat(|page| {
        page.button("Try again");
        page.click("Model settings");
        page.named("label", "Key", true);
    });
    in_every_look(&journey, |look| {
        journey.chat(|page| fits(page, &format!("the settings of a model, {look}")));
        journey.look(format!("views/model-{look}.png"));
    });
}

#[test]
fn empty_pages_an_action_and_the_cart_fit_the_window_in_light_and_dark() {
    let journey = Journey::prepare("first-views", &[]);
    journey.open();
    journey.chat(|page| page.says("Welcome to Countersign"));
    take_picture(&journey, "main", "first-run");
    journey.chat(|page| {
        page.click("Try it offline");
        page.says("What would you like to know?");
    });
    take_picture(&journey, "main", "empty-chat");
    journey.chat(|page| {
        page.go("Audit");
        page.named("[role=tab]", "Questions", true);
        // The log itself is never empty, because its opening is its first record.
        page.named("input", "", false).send("nothing like this").expect("the field takes text");
        page.says("Nothing matches");
    });
    take_picture(&journey, "main", "empty-audit");
    journey.chat(|page| {
        page.session.resize(SIZES[0].0, SIZES[0].1).expect("a size");
        page.go("Chat");
    });
    ask_for_shoes(&journey);
    journey.approval(|page| page.says("Expires in"));
    take_picture(&journey, "approval", "action");
    journey.approval(|page| page.click_armed("Approve"));
    journey.chat(|page| {
        page.idle();
        page.open_cart();
        page.says("Total");
    });
    take_picture(&journey, "main", "cart");
    // A panel that covers the conversation is closed by Escape and by a click beside it.
    let closed = |page: &Page<'_>| {
        wait("the cart to be closed", || (!page.has_button("Hide the cart")).then_some(()))
    };
    journey.chat(|page| {
        page.open_cart();
        page.session.press(&[&[key::ESCAPE]]).expect("Escape");
        closed(page);
        page.open_cart();
        page.named(".scrim", "Hide the cart", true).click().expect("a click beside the cart");
        closed(page);
        // Escape works wherever the focus is, and the panel does not stay over another
        // conversation.
        page.open_cart();
        page.script("document.querySelector('textarea').focus();");
        page.session.press(&[&[key::ESCAPE]]).expect("Escape");
        closed(page);
        page.open_cart();
        page.session.press(&[&[key::CONTROL, "n"]]).expect("Ctrl+N");
        closed(page);
    });
}

/// Checks that a window fits in every look.
fn take_picture(journey: &Journey, label: &str, name: &str) {
    in_every_look_of(journey, label, |look| {
        journey.within(label, |page| fits(page, &format!("{name}, {look}")));
        journey.look(format!("views/{name}-{look}.png"));
    });
}

/// Runs code for each theme and size of the chat window, with the name of both.
pub fn in_every_look(journey: &Journey, act: impl Fn(&str)) {
    in_every_look_of(journey, "main", act);
}

fn in_every_look_of(journey: &Journey, label: &str, act: impl Fn(&str)) {
    for theme in THEMES {
        set(journey, "theme", json!(theme));
        for (width, height) in SIZES {
            journey.within(label, |page| resize(page, width, height));
            act(&format!("{theme}-{width}x{height}"));
        }
    }
}

/// Waits until the page has adapted to its new size.
pub fn resize(page: &Page<'_>, width: u32, height: u32) {
    page.session.resize(width, height).expect("a size");
    wait("the new size", || {
        (page.script("return [innerWidth, innerHeight];") == json!([width, height])).then_some(())
    });
    let frames = "const done = arguments[arguments.length - 1]; requestAnimationFrame(() => requestAnimationFrame(() => done()));";
    page.session.run_async(frames, json!([])).expect("two frames");
}

pub fn set(journey: &Journey, name: &str, value: Value) {
    let mut settings =
        journey.call("settings_get", json!({})).expect("settings")["settings"].clone();
    settings[name] = value;
    journey.call("settings_set", json!({ "settings": settings })).expect("the setting is kept");
}

/// Asserts that no content is wider than the window, no button's text is cut off, no element covers
/// the button to the newest message, and every visible picture has been loaded.
pub fn fits(page: &Page<'_>, what: &str) {
    let script = "return document.documentElement.scrollWidth <= innerWidth + 1;";
    wait(&format!("{what}: the page to fit"), || {
        (page.script(script) == json!(true)).then_some(())
    });
    let cut = page.script(
        "return [...document.querySelectorAll('button, h1, h2')].filter((e) => e.getClientRects().length && e.clientWidth > 2 && e.scrollWidth > e.clientWidth + 2 \
         && getComputedStyle(e).overflowX === 'hidden' && getComputedStyle(e).textOverflow !== 'ellipsis').map((e) => e.textContent.trim());",
    );
    assert_eq!(cut, json!([]), "{what}: texts that are cut off");
    let below = page.script(
        "const box = document.querySelector('.jump')?.getBoundingClientRect(); if (!box?.width) return []; \
         const xs = [box.left + 1, (box.left + box.right) / 2, box.right - 1], ys = [box.top + 1, (box.top + box.bottom) / 2, box.bottom - 1]; \
         return xs.flatMap((x) => ys.flatMap((y) => document.elementsFromPoint(x, y))).filter((e) => e.closest('[role=log], .status, .composer')) \
         .map((e) => e.textContent.trim());",
    );
    assert_eq!(below, json!([]), "{what}: texts below the way to the newest message");
    let missing = "return [...document.images].filter((i) => { const r = i.getBoundingClientRect(); return r.width > 0 && r.bottom > 0 && r.top < innerHeight \
                   && !(i.complete && i.naturalWidth > 0); }).length;";
    wait(&format!("{what}: the pictures in sight to be loaded"), || {
        (page.script(missing) == json!(0)).then_some(())
    });
}
