//! The approval window of a change: the message that led to it, the origin of its values, the
//! values that an edit changed, and several actions at once. A scripted model calls the demo shop.

use kit::{
    model_server::{ModelServer, Reply},
    webdriver::wait,
};
use serde_json::{Value, json};

use crate::{
    views::{fits, resize, set},
    world::Journey,
};

const SIZES: [(u32, u32); 3] = [(1440, 900), (1024, 700), (480, 800)];

/// Checks that the approval window fits in each theme and size.
fn pictures(journey: &Journey, name: &str) {
    for theme in ["light", "dark"] {
        set(journey, "theme", json!(theme));
        for (width, height) in SIZES {
            let look = format!("{name}-{theme}-{width}x{height}");
            journey.approval(|page| {
                resize(page, width, height);
                fits(page, &look);
            });
            journey.look(format!("approval/{look}.png"));
        }
    }
}

/// Sends a message whose answer is a change, and returns the pending action. The model's answer to
/// the decision is queued later, because the server has one queue for all conversations.
fn propose(journey: &Journey, server: &ModelServer, message: &str, arguments: Value) -> Value {
    let before = journey.pending().len();
    server.push(Reply::call("cart_add_item", arguments));
    journey.chat(|page| page.send(message));
    wait("the action", || journey.pending().into_iter().nth(before))
}

#[test]
fn an_approval_shows_the_origin_of_its_values_and_the_edited_values() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let server = runtime.block_on(ModelServer::start([
        Reply::call("product_search", json!({"query": "trail shoe"})),
        Reply::text(["Here are some trail shoes."]),
    ]));
    let settings = format!(
        "[model]\nprovider = \"openai_compatible\"\nbase_url = \"{}\"\nmodel = \"scripted\"\n",
        server.base_url()
    );
    let journey = Journey::with("deciding", &settings, &[]);
    journey.ask("@Shopper Show me trail shoes");
    let found = journey.results("product.search").pop().expect("a result")["data"].clone();
    let product = found["items"][1].clone();
    server.push(Reply::call("product_get", json!({"productId": product["productId"]})));
    server.push(Reply::text(["It comes in several sizes."]));
    journey.ask("@Shopper Tell me more about the second one");
    let details = journey.results("product.get").pop().expect("a result")["data"].clone();
    let parts: Vec<&str> = details["variants"]
        .as_array()
        .expect("variants")
        .iter()
        .filter(|variant| variant["isBuyable"] != json!(false))
        .filter_map(|variant| variant["partNo"].as_str())
        .collect();
    let [first, second, ..] = parts.as_slice() else { panic!("two variants: {details}") };

    // A value that the user typed is not marked, even though the shop's answer contains it.
    let message = format!("@Shopper Put two of {first} into my cart");
    propose(&journey, &server, &message, json!({"partNo": first, "quantity": 2}));
    journey.approval(|page| {
        page.says(&message);
        page.says("Show me trail shoes");
        page.says("The values are yours.");
        assert!(!page.text().contains("Not from you"), "{}", page.text());
    });
    pictures(&journey, "yours");

    // An edit is a form, and the new proposal stays in view.
    journey.approval(|page| {
        page.click("Edit");
        page.fill("Quantity", "none");
        page.says("Enter a number");
        page.fill("Quantity", "1");
        page.says("Was: 2");
        page.says("The request before your change");
        let text = page.text();
        assert!(!text.contains("SHA-256"), "the hash of the earlier request: {text}");
    });
    pictures(&journey, "form");
    journey.approval(|page| {
        page.click("Edit as JSON");
        page.says("Arguments as JSON");
        page.click("Edit as a form");
        page.click("Submit edited request");
        page.says("2 changed to 1");
    });
    pictures(&journey, "edited");
    server.push(Reply::text(["Done."]));
    journey.approval(|page| page.click_armed("Approve"));
    journey.chat(|page| page.says("Done."));

    // A value that only the shop's answer contains is marked at its argument.
    let marked = json!({"partNo": second, "quantity": 1});
    propose(&journey, &server, "@Shopper Add whatever fits me", marked);
    journey.approval(|page| {
        page.says("Not from you.");
        assert!(!page.text().contains("The values are yours"), "{}", page.text());
        let quoted = page.script("return document.querySelector('[role=note] mark')?.innerText;");
        assert_eq!(quoted.as_str().map(str::to_lowercase), Some(second.to_lowercase()));
    });
    pictures(&journey, "marked");

    // Each of several actions has its own name, and all are rejected at once.
    journey.chat(|page| page.click("New conversation"));
    propose(&journey, &server, &message, json!({"partNo": first, "quantity": 2}));
    journey.approval(|page| {
        page.says("2 approvals pending");
        let names = page.script(
            "return [...document.querySelectorAll('[role=tab]')].map((tab) => tab.innerText.trim());",
        );
        let names = names.as_array().cloned().unwrap_or_default();
        assert!(names.len() == 2 && names[0] != names[1], "{names:?}");
        page.click("Reject all…");
        page.says("These 2 actions will be rejected");
        assert!(!page.has_button("Approve"), "the question stands beside another decision");
    });
    pictures(&journey, "several");
    server.push(Reply::text(["Not done."]));
    server.push(Reply::text(["Not done either."]));
    journey.approval(|page| page.click("Reject all 2"));
    wait("nothing to wait", || journey.pending().is_empty().then_some(()));
    journey.assert_log_verifies();
}
