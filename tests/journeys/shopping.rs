//! A customer's whole purchase in the window, with a shop behind an address and its login: search,
//! refine, compare, choose a variant, and a cart that changes only with an approval. A rejected or
//! expired change has no effect, and a restart loses nothing.

use std::time::{Duration, Instant};

use kit::{
    front::{CLIENT_ID, Front, SECRET},
    webdriver::{key, wait},
};
use serde_json::{Value, json};

use crate::{
    views::{SIZES, fits, in_every_look},
    world::{Journey, Page},
};

/// The buttons of the cart panel, in any language.
const IN_CART: &str = "aside:not(.list) button";

#[test]
fn a_shopper_searches_compares_and_approves_each_change_of_the_cart() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let shop = runtime.block_on(Front::start());
    let mut journey = Journey::prepare("shopping", &[]);
    journey
        .desktop
        .start_child("dbus-monitor", &["--session", "interface='org.freedesktop.Notifications'"]);
    settings_name(&journey, &shop);
    journey.open();
    logs_in(&journey, shop.base.trim_start_matches("http://"));
    searches(&journey);
    compares(&journey);
    let line = adds(&journey);
    changes(&journey, &line);
    rejects(&journey, &line);
    lets_one_expire(&journey, &line);
    starts_again(&journey, &line);
    removes_in_swedish(&journey, &line);
    journey.quit();
    journey.assert_log_verifies();
    journey.assert_in_no_file(SECRET);
    assert_heard(&shop);
}

/// Writes the settings that describe the shop as a web shop: over HTTP, with tokens.
fn settings_name(journey: &Journey, shop: &Front) {
    let base = &shop.base;
    journey.settings(&format!(
        "[packs.shop]\nprivate_network = true\n[packs.shop.settings]\nmcp_base_url = \"{base}/mcp\"\noauth_token_url = \"{base}/oauth/token\"\n\
         oauth_client_id = \"{CLIENT_ID}\"\noauth_scope = \"shop\"\n"
    ));
}

/// Asserts that every request to the shop had a token, and that each change of the cart was sent as
/// often as it was approved.
fn assert_heard(shop: &Front) {
    let heard = shop.requests();
    assert_eq!(
        heard.first().map(|one| one.what.as_str()),
        Some("token"),
        "nobody asks without one"
    );
    for one in heard.iter().filter(|one| one.what != "token" && !one.what.starts_with('/')) {
        assert!(
            one.header("authorization").is_some_and(|value| value.starts_with("Bearer ")),
            "{} had no token",
            one.what
        );
    }
    for (change, signed) in
        [("cart.addItem", 1), ("cart.setItemQuantity", 1), ("cart.removeItem", 1)]
    {
        assert_eq!(shop.count(change), signed, "{change}");
    }
    for read in ["initialize", "product.search", "product.get", "cart.get"] {
        assert!(shop.count(read) > 0, "{read}");
    }
}

/// Enters the client's secret in the settings, which store it in the keyring.
fn logs_in(journey: &Journey, address: &str) {
    let answer = journey.ask("show me shoes");
    assert!(answer.contains("needs the key"), "without its secret nobody is asked: {answer}");
    journey.chat(|page| {
        page.go("Settings");
        page.click("Keys and access");
        page.fill("Key for Shop", SECRET);
        // Other packs have keys, too, so the shop's field is selected.
        let of_the_shop =
            "return [...document.querySelectorAll('.key')].find((key) => key.innerText.includes('NORCE_OAUTH'))?.querySelector('button') ?? null;";
        wait("a click on \"Save key\"", || page.session.find(of_the_shop, json!([])).ok().flatten()?.click().ok());
    });
    journey.confirm("NORCE_OAUTH_CLIENT_SECRET");
    journey.chat(|page| {
        page.says("Stored");
        page.go("Tools");
        page.named("[role=tab]", "Servers", false).click().expect("the tab");
        page.says(address);
        page.go("Chat");
    });
}

/// Checks the cards with picture, price and stock, and the refinements after many results and after
/// none.
fn searches(journey: &Journey) {
    journey.ask("show me shoes");
    journey.chat(|page| {
        fits(page, "the cards that were found");
        let cards = page.script("return [...[...document.querySelectorAll('[role=log] .tool ul')].at(-1).children].map((card) => card.innerText);");
        let cards: Vec<&str> = cards.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        assert!(cards.len() >= 3, "{cards:?}");
        for card in cards {
            assert!(card.contains("SEK") && card.contains("Details"), "{card}");
            assert!(["in stock", "Out of stock", "Expected"].iter().any(|stock| card.contains(stock)), "{card}");
        }
        // Pictures come from the shop through the host. A product without a picture gets a tile.
        let loaded = "return [...[...document.querySelectorAll('[role=log] .tool ul')].at(-1).querySelectorAll('img')].some((img) => img.naturalWidth > 0);";
        wait("a picture of the shop", || (page.script(loaded) == json!(true)).then_some(()));
    });
    let (asked, all) = (queries(journey), found(journey));
    journey.chat(|page| {
        let before = page.answers();
        wait("a click on a way to go on", || way(page).click().ok());
        page.answer_after(before);
    });
    assert!(found(journey) < all, "it narrows what was found");
    let narrower = queries(journey);
    assert!(
        narrower.len() > asked.len()
            && narrower.last().is_some_and(|query| query.contains("shoes")),
        "{narrower:?}"
    );

    let answer = journey.ask("show me purple unicorn saddles");
    assert!(answer.contains("nothing"), "{answer}");
    journey.chat(|page| {
        wait("ways to go on from nothing", || page.find("button", "Rephrase", false));
        fits(page, "a search without result");
    });
    journey.picture("nothing-found.png");
    journey.chat(|page| {
        page.click("Rephrase");
        wait("the words in the message field", || {
            let draft = page.script("return document.querySelector('textarea').value;");
            (draft.as_str().is_some_and(|draft| draft.contains("unicorn"))
                && page.focus().contains("Message"))
            .then_some(())
        });
        page.session.press(&[&[key::CONTROL, "a"]]).expect("all of it");
        page.session.type_text("show me black trail shoes").expect("other words");
        let before = page.answers();
        page.session.press(&[&[key::ENTER]]).expect("Enter");
        page.answer_after(before);
    });
}

/// Checks that one table replaces several product cards.
fn compares(journey: &Journey) {
    journey.ask("compare the first two");
    journey.chat(|page| {
        page.named("[role=region]", "Comparison of", false);
        let rows = page.script(
            "return [...document.querySelectorAll('[role=log] [role=region] tr')].map((row) => [...row.children].map((cell) => cell.innerText.trim()));",
        );
        let rows: Vec<Vec<String>> = serde_json::from_value(rows).expect("rows of cells");
        assert!(rows.iter().all(|row| row.len() == 3), "two products beside the names of the rows: {rows:?}");
        for name in ["Price", "Stock", "Brand", "Size"] {
            assert!(rows.iter().any(|row| row[0] == name && row[1..].iter().all(|cell| !cell.is_empty())), "{name} in {rows:?}");
        }
        assert_eq!(page.script("return document.querySelectorAll('[role=log] section.product').length;"), json!(0), "neither is shown a second time");
    });
    in_every_look(journey, |look| {
        journey.chat(|page| {
            page.script("document.querySelector('[role=log] [role=region]').scrollIntoView({ block: 'center' });");
            fits(page, &format!("a comparison, {look}"));
        });
        journey.look(format!("views/compare-{look}.png"));
    });
    usual_look(journey);
}

/// Goes from the table to the variants of one product, and from a variant to an approved change.
/// Returns the line's part number.
fn adds(journey: &Journey) -> String {
    let answers = journey.chat(|page| page.answers());
    let more = || journey.chat(|page| (page.answers() > answers).then_some(()));
    press_for(journey, "[role=region] button", "Details", more);
    let part = journey.chat(|page| {
        page.idle();
        fits(page, "a product with its variants");
        page.script("return document.querySelector('section.product td button').closest('tr').querySelector('.part').innerText.trim();")
    });
    let action = change_by(journey, "section.product td button", "Add to cart", "cart.addItem");
    let arguments: Value =
        serde_json::from_str(action["arguments"].as_str().expect("canonical text")).expect("JSON");
    assert_eq!(
        (&arguments["partNo"], &arguments["quantity"]),
        (&part, &json!(1)),
        "the very variant"
    );
    approve(journey, &action);
    let cart = journey.results("cart.addItem").pop().expect("a cart");
    assert_eq!(
        cart["data"]["basket"]["items"][0]["partNo"], part,
        "what was signed is what is in it"
    );
    part.as_str().expect("a part number").to_owned()
}

/// A quantity in the cart panel becomes a pending change, which the panel shows until it is
/// decided.
fn changes(journey: &Journey, line: &str) {
    enter_quantity(journey, "3");
    let action = waiting_change(journey, "cart.setItemQuantity");
    journey.chat(|page| {
        page.named("aside section", "Waiting for your approval", false);
        let decided_first = page.named(IN_CART, "Remove", false).enabled().expect("its state");
        assert!(!decided_first, "nothing else can be asked for before that is decided");
    });
    in_every_look(journey, |look| {
        journey.chat(|page| {
            page.open_cart();
            fits(page, &format!("a cart with a change that waits, {look}"));
        });
        journey.look(format!("views/cart-waiting-{look}.png"));
    });
    usual_look(journey);
    assert_eq!(quantity(journey, line), Some(1), "nothing has changed yet");
    approve(journey, &action);
    assert_eq!(quantity(journey, line), Some(3));
    journey.chat(|page| wait("the new quantity", || (shown_quantity(page) == "3").then_some(())));
}

fn rejects(journey: &Journey, line: &str) {
    let action = change_by(journey, IN_CART, "Remove", "cart.removeItem");
    journey.approval(|page| {
        page.named("textarea, input[type=text], input:not([type])", "", false)
            .send("I want to keep them")
            .expect("a reason");
        page.click("Reject");
    });
    let decided = wait("the decision", || {
        Some(journey.stored_approval(&action["id"])).filter(|a| a["status"] == "rejected")
    });
    assert_eq!(decided["reason"], "I want to keep them");
    journey.chat(|page| {
        page.idle();
        page.says("Rejected");
        assert_eq!(shown_quantity(page), "3", "the cart stays");
    });
    journey.picture("rejected.png");
    assert_eq!(quantity(journey, line), Some(3));
}

fn lets_one_expire(journey: &Journey, line: &str) {
    expiry(journey, 8);
    let action = change_by(journey, IN_CART, "One more", "cart.setItemQuantity");
    let decided = wait("the expiry", || {
        Some(journey.stored_approval(&action["id"])).filter(|a| a["status"] == "expired")
    });
    assert!(
        decided["reason"].as_str().is_some_and(|reason| !reason.is_empty()),
        "it says why: {decided}"
    );
    journey.chat(|page| {
        page.idle();
        page.says("Expired");
    });
    wait("the notification", || {
        journey.desktop.log("dbus-monitor").contains("An approval has expired").then_some(())
    });
    assert_eq!(quantity(journey, line), Some(3));
    expiry(journey, 600);
}

/// Checks that after a restart the pending action has ended, was not run, and the cart is
/// unchanged.
fn starts_again(journey: &Journey, line: &str) {
    let action = change_by(journey, IN_CART, "One more", "cart.setItemQuantity");
    let made = || {
        journey
            .results("cart.setItemQuantity")
            .iter()
            .filter(|result| result["outcome"] == "ok")
            .count()
    };
    let before = made();
    journey.quit();
    journey.open();
    let stored = journey.stored_approval(&action["id"]);
    assert!(
        ["expired", "cancelled"].contains(&stored["status"].as_str().unwrap_or_default()),
        "{stored}"
    );
    assert_eq!(made(), before, "nothing was run by the restart");
    journey.chat(|page| wait("the cart", || (shown_quantity(page) == "3").then_some(())));
    let answer = journey.ask("What is in my cart?");
    assert!(answer.contains("3 ×"), "{answer}");
    assert_eq!(quantity(journey, line), Some(3));
}

fn removes_in_swedish(journey: &Journey, line: &str) {
    set(journey, |settings| settings["language"] = json!("sv"));
    journey.chat(|page| {
        page.named("aside h2", "Varukorg", true);
        fits(page, "the shop in Swedish");
    });
    journey.picture("cart-swedish.png");
    let action = change_by(journey, IN_CART, "Ta bort", "cart.removeItem");
    journey.approval(|page| page.click_armed("Godkänn"));
    wait("the action to be done", || {
        (journey.stored_approval(&action["id"])["status"] == "done").then_some(())
    });
    journey.chat(|page| page.says("Varukorgen är tom"));
    assert_eq!(quantity(journey, line), None);
}

/// Clicks a button in a part of the page once it is enabled and does not move. Tries again while it
/// is covered, because the page still scrolls at the end of an answer.
#[track_caller]
fn press(page: &Page<'_>, selector: &str, name: &str) {
    let mut seen = (Value::Null, Instant::now());
    wait(&format!("a click on \"{name}\""), || {
        let button =
            page.find(selector, name, false).filter(|button| button.enabled().unwrap_or(false))?;
        let place = button.place().ok()?;
        if place != seen.0 {
            seen = (place, Instant::now());
        }
        if seen.1.elapsed() < Duration::from_millis(400) {
            return None;
        }
        // A button that the composer covers in part is scrolled to, as a person would.
        button.click().ok().or_else(|| {
            page.script(&format!(
                "[...document.querySelectorAll('{selector}')].find((one) => one.innerText.includes('{name}'))?.scrollIntoView({{ block: 'center' }});"
            ));
            None
        })
    });
}

/// Clicks until the click has an effect. If the page moved under the pointer, the click missed; a
/// person would click again.
#[track_caller]
fn press_for<T>(journey: &Journey, selector: &str, name: &str, came: impl Fn() -> Option<T>) -> T {
    let mut pressed = None::<Instant>;
    wait(&format!("what comes of \"{name}\""), || {
        let done = came();
        let is_past = pressed.is_none_or(|at| at.elapsed() > Duration::from_secs(5));
        if done.is_none() && is_past && journey.chat(|page| !page.runs()) {
            journey.chat(|page| press(page, selector, name));
            pressed = Some(Instant::now());
        }
        done
    })
}

#[track_caller]
fn change_by(journey: &Journey, selector: &str, name: &str, tool: &str) -> Value {
    let action = press_for(journey, selector, name, || journey.pending().into_iter().next());
    assert_eq!(action["tool"], tool);
    action
}

/// Approves an action in the approval window.
fn approve(journey: &Journey, action: &Value) {
    journey.approval(|page| page.click_armed("Approve"));
    wait("the action to be done", || {
        (journey.stored_approval(&action["id"])["status"] == "done").then_some(())
    });
    journey.chat(|page| page.idle());
}

#[track_caller]
fn waiting_change(journey: &Journey, tool: &str) -> Value {
    let action = wait("the change to wait", || journey.pending().into_iter().next());
    assert_eq!(action["tool"], tool);
    action
}

/// Returns the first refinement of the search, once it no longer moves.
fn way<'s>(page: &Page<'s>) -> kit::webdriver::Element<'s> {
    page.at_rest("[role=group][aria-label=\"Ways to go on searching\"] button")
}

/// Returns the queries of all searches shown, oldest first.
fn queries(journey: &Journey) -> Vec<String> {
    let calls = journey.items().into_iter().map(|item| item["body"].clone());
    let searches =
        calls.filter(|body| body["kind"] == "tool_call" && body["tool"] == "product.search");
    searches
        .map(|body| body["arguments"]["query"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Returns the number of products that the newest search found.
fn found(journey: &Journey) -> u64 {
    journey
        .results("product.search")
        .last()
        .and_then(|result| result["data"]["totalCount"].as_u64())
        .unwrap_or_default()
}

/// Returns the quantity of this part in the conversation's newest cart.
fn quantity(journey: &Journey, line: &str) -> Option<u64> {
    let is_cart = |body: &Value| {
        body["kind"] == "tool_result" && body["view"]["view"] == "cart" && body["outcome"] == "ok"
    };
    let cart = journey.items().into_iter().map(|item| item["body"].clone()).rfind(is_cart)?["data"]
        .clone();
    let cart = if cart["basket"].is_object() { &cart["basket"] } else { &cart };
    cart["items"].as_array()?.iter().find(|item| item["partNo"] == line)?["quantity"].as_u64()
}

fn enter_quantity(journey: &Journey, quantity: &str) {
    journey.chat(|page| {
        wait("a click into the quantity", || {
            let field = page
                .find("aside:not(.list) input", "Quantity of", false)
                .filter(|field| field.enabled().unwrap_or(false))?;
            field.click().ok()
        });
        page.session.press(&[&[key::CONTROL, "a"]]).expect("all of it");
        page.session.type_text(quantity).expect("typed");
        page.session.press(&[&[key::ENTER]]).expect("Enter");
    });
}

/// Returns the quantity in the cart panel.
fn shown_quantity(page: &Page<'_>) -> String {
    page.script("return document.querySelector('aside li input')?.value ?? '';")
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn expiry(journey: &Journey, seconds: u32) {
    set(journey, |settings| settings["limits"]["approval_expiry_s"] = json!(seconds));
}

fn usual_look(journey: &Journey) {
    set(journey, |settings| settings["theme"] = json!("light"));
    journey.chat(|page| page.session.resize(SIZES[0].0, SIZES[0].1).expect("a size"));
}

fn set(journey: &Journey, change: impl Fn(&mut Value)) {
    let mut settings =
        journey.call("settings_get", json!({})).expect("settings")["settings"].clone();
    change(&mut settings);
    journey.call("settings_set", json!({ "settings": settings })).expect("settings are taken");
}
