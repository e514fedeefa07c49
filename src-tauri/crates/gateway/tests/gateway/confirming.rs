//! Tests of the question before a cart change and of its answer: the wording in both languages, the
//! words that decide, the state after a rejection, and changes that are refused without a question.

use kit::model_server::Reply;
use serde_json::{Value, json};

use crate::cart::{add, pieces, until};
use crate::front::{Break, Front};
use crate::remote_shop::open;
use crate::world::{Gateway, SHOE, message_of, model};

const YES_EN: &str =
    "y, yes, ok, okay, confirm, sure, yep, yeah, go ahead, do it, please, please do";
const YES_SV: &str = "ja, japp, jo, visst, absolut, självklart, gör det, kör";
const NO_EN: &str = "n, no, cancel, stop, nope, nah, don't, dont, never mind, nevermind";
const NO_SV: &str = "nej, nä, nää, avbryt, stopp, strunt, glöm det";

fn in_culture(session: &str, message: &str, culture: &str) -> Value {
    let mut body = message_of(session, message);
    body["context"]["cultureCode"] = json!(culture);
    body
}

async fn say_in(gateway: &Gateway, culture: &str, session: &str, message: &str) -> Value {
    gateway.post("/v1/chat", &in_culture(session, message, culture)).await.1
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_yes_and_no_words_of_both_languages_decide_in_either_language() {
    let server = model([add(1).repeated()]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let lists = [
        (YES_EN, "sv-SE", true),
        (YES_SV, "en-GB", true),
        (NO_EN, "sv-SE", false),
        (NO_SV, "en-GB", false),
    ];
    let mut asked = 0;
    for (words, culture, yes) in lists {
        for word in words.split(", ") {
            let session = format!("{culture} {word}");
            assert!(
                say_in(&gateway, culture, &session, "one shoe").await["pendingAction"].is_object()
            );
            let decided =
                say_in(&gateway, culture, &session, &format!(" {} ", word.to_uppercase())).await;
            assert_eq!(
                (pieces(&decided), decided.get("pendingAction")),
                (u64::from(yes), None),
                "{word}: {decided}"
            );
            asked += 1;
            assert_eq!(server.seen().len(), asked, "{word}: the model is not asked");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_yes_sent_before_the_question_does_not_confirm_it() {
    let front = Front::start().await;
    let server = model([add(3)]).await;
    let gateway = open(&front, &server, &[]).await;
    // The read of the preview is answered at once; the search for variants is slow and ends after
    // the action is pending.
    front.breaks("product.get", [Break::Slow(0), Break::Slow(1_500)]);
    let asking = tokio::spawn(
        gateway
            .request(reqwest::Method::POST, "/v1/chat")
            .json(&message_of("s", "three shoes"))
            .send(),
    );
    until(|| front.count("product.get") > 1).await;
    let answered = gateway.say("s", "ok").await;
    let asked: Value = asking.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(answered["pendingAction"], asked["pendingAction"], "it is shown: {answered}");
    assert!(
        answered["text"].as_str().unwrap().starts_with("First I need your answer to this: "),
        "{answered}"
    );
    assert_eq!(front.count("cart.addItem"), 0);
    assert_eq!(pieces(&gateway.say("s", "ok").await), 3);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_second_yes_does_not_confirm_the_proposal_that_the_first_one_replaced() {
    let front = Front::start().await;
    let server = model([add(1)]).await;
    let gateway = open(&front, &server, &[]).await;
    gateway.say("s", "one shoe").await;
    front.breaks("product.get", std::iter::repeat_n(Break::Slow(400), 3));
    let mut body = message_of("s", "yes");
    body["context"]["currencyCode"] = json!("EUR");
    let yes = || async { gateway.post("/v1/chat", &body).await.1 };
    let both = tokio::join!(yes(), yes());
    assert_eq!(front.count("cart.addItem"), 0, "nobody has seen the new question: {both:?}");
    assert!(
        both.0["pendingAction"].is_object() && both.0["pendingAction"] == both.1["pendingAction"],
        "{both:?}"
    );
    assert_eq!((pieces(&yes().await), front.count("cart.addItem")), (1, 1));
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_yes_does_not_confirm_an_action_that_was_never_shown() {
    let front = Front::start().await;
    let server = model([add(1)]).await;
    let gateway = open(&front, &server, &[]).await;
    let shown = gateway.say("s", "one shoe").await;
    // The action is replaced in the database, as if a person had approved it elsewhere after the
    // price had changed, or had edited it.
    let row = format!("approval_{}", "0".repeat(32));
    assert_eq!(
        crate::sessions::database(&gateway)
            .execute("UPDATE approval SET id = ?1, body = json_set(body, '$.id', ?1)", [&row])
            .unwrap(),
        1
    );
    let asked = gateway.say("s", "yes").await;
    assert!(
        asked["pendingAction"].is_object()
            && asked["pendingAction"]["pendingActionId"]
                != shown["pendingAction"]["pendingActionId"],
        "{asked}"
    );
    assert_eq!(front.count("cart.addItem"), 0, "nobody has seen it");
    assert_eq!((pieces(&gateway.say("s", "yes").await), front.count("cart.addItem")), (1, 1));
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_while_the_agent_is_disabled_a_no_decides_and_a_yes_does_not() {
    let front = Front::start().await;
    let server = model([add(1), add(1)]).await;
    let url = server.base_url();
    let variables = front.variables();
    let mut env: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    env.extend([
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
        ("OPENAI_MODEL", "scripted"),
    ]);
    let gateway = Gateway::start(&["--no-token"], &env).await;
    gateway.say("s", "one shoe").await;
    gateway.say("other", "one shoe").await;
    let off: Vec<(&str, &str)> = env.iter().copied().chain([("AGENT_ENABLED", "false")]).collect();
    let gateway = gateway.restart(&["--no-token"], &off).await;
    let (status, refused) = gateway.post("/v1/chat", &message_of("s", "yes")).await;
    assert_eq!(
        (status.as_u16(), refused["error"]["code"].as_str()),
        (503, Some("AGENT_DISABLED")),
        "{refused}"
    );
    assert_eq!(gateway.say("other", "no").await["text"], "All right, nothing was changed.");
    let gateway = gateway.restart(&["--no-token"], &env).await;
    assert_eq!((pieces(&gateway.say("s", "yes").await), front.count("cart.addItem")), (1, 1));
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_confirmation_that_could_not_run_leaves_no_pending_action() {
    let front = Front::start().await;
    let server = model([add(1), Reply::text(["Good."])]).await;
    let url = server.base_url();
    let variables = front.variables();
    let mut env: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    env.extend([
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
        ("OPENAI_MODEL", "scripted"),
    ]);
    let gateway = Gateway::start(&["--no-token"], &env).await;
    gateway.say("s", "one shoe").await;
    let settings = gateway.path("data/countersign.toml");
    std::fs::write(&settings, "[switches]\ntools_off = [\"cart.addItem\"]\n").unwrap();
    let gateway = gateway.restart(&["--no-token"], &env).await;
    let refused = gateway.say("s", "yes").await;
    assert_eq!(
        refused["text"], "Sorry, the cart could not be changed. Please ask for it again.",
        "{refused}"
    );
    std::fs::remove_file(&settings).unwrap();
    let gateway = gateway.restart(&["--no-token"], &env).await;
    assert_eq!(gateway.say("s", "ok").await["text"], "Good.", "nothing waits");
    assert_eq!(
        (front.count("cart.addItem"), gateway.csign(&["approvals", "list"])),
        (0, json!([]))
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_no_ends_the_action_without_calling_the_shop() {
    for (culture, no, said) in [
        ("en-GB", "never mind", "All right, nothing was changed."),
        ("sv-SE", "glöm det", "Okej, inget ändrades."),
    ] {
        let front = Front::start().await;
        let server = model([add(1), Reply::text(["Good."]), Reply::text(["Still good."])]).await;
        let gateway = open(&front, &server, &[]).await;
        say_in(&gateway, culture, "s", "one shoe").await;
        let (_, refused) = gateway.post("/v1/chat?debug=1", &in_culture("s", no, culture)).await;
        assert_eq!(refused["text"], said, "{refused}");
        for block in ["pendingAction", "confirmation", "cart", "debug", "error"] {
            assert!(refused.get(block).is_none(), "{block}: {refused}");
        }
        assert_eq!(server.seen().len(), 1, "no model is asked for a no");
        // The change was not made, so the answer does not report it as done.
        assert_eq!(say_in(&gateway, culture, "s", "yes").await["text"], "Good.");
        assert_eq!(say_in(&gateway, culture, "s", "no").await["text"], "Still good.");
        let heard = server.seen()[1].body["messages"].to_string();
        assert!(
            heard.contains(no) && heard.contains(said),
            "the model knows how it ended: {heard}"
        );
        assert_eq!(front.count("cart.addItem") + front.count("cart.get"), 0);
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_a_question_names_item_and_quantity_in_the_callers_language() {
    let script = || {
        let set = Reply::call("cart_set_item_quantity", json!({"productId": SHOE, "quantity": 37}));
        [add(24), set, Reply::call("cart_remove_item", json!({"productId": SHOE}))]
    };
    let en = (
        ["Add 24 × ", "Change the quantity of ", "Remove "],
        [" to the cart?", " to 37?", " from the cart?"],
        ["Yes", "No"],
        ["yes", "no"],
    );
    let sv = (
        ["Lägga 24 × ", "Ändra antalet av ", "Ta bort "],
        [" i varukorgen?", " till 37?", " ur varukorgen?"],
        ["Ja", "Nej"],
        ["ja", "nej"],
    );
    for (culture, (begins, ends, labels, values)) in
        [("en-US", &en), ("sv", &sv), ("sv-FI", &sv), ("de-DE", &en)]
    {
        let server = model(script()).await;
        let gateway = Gateway::with(&server, &[]).await;
        for (begin, end) in begins.iter().zip(ends) {
            let asked = say_in(&gateway, culture, "s", "change my cart").await;
            let description =
                asked["pendingAction"]["description"].as_str().unwrap_or_else(|| panic!("{asked}"));
            assert!(
                description.starts_with(begin) && description.ends_with(end),
                "{culture}: {description}"
            );
            assert!(
                description.contains("Ridge ") && description.contains(&format!("({SHOE})")),
                "{culture}: {description}"
            );
            assert_eq!(
                (&asked["confirmation"]["prompt"], &asked["text"]),
                (&json!(description), &json!(description))
            );
            let options = &asked["confirmation"]["options"];
            assert_eq!(
                options,
                &json!([
                    {"id": "confirm", "label": labels[0], "value": values[0], "style": "primary"},
                    {"id": "cancel", "label": labels[1], "value": values[1], "style": "secondary"}
                ])
            );
            // The text of the button decides.
            assert!(say_in(&gateway, culture, "s", values[0]).await.get("pendingAction").is_none());
        }
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_18_a_confirmation_in_swedish_is_swedish_throughout() {
    let set = Reply::call("cart_set_item_quantity", json!({"productId": SHOE, "quantity": 3}));
    let server =
        model([add(1), set, Reply::call("cart_remove_item", json!({"productId": SHOE}))]).await;
    let gateway = Gateway::with(&server, &[]).await;
    for name in ["Lägg i varukorgen", "Ändra antal", "Ta bort ur varukorgen"] {
        say_in(&gateway, "sv-SE", "s", "ändra").await;
        let reminded = say_in(&gateway, "sv-SE", "s", "va?").await;
        assert!(
            reminded["text"]
                .as_str()
                .unwrap()
                .starts_with("Först behöver jag ditt svar på det här: "),
            "{reminded}"
        );
        let events = gateway.events("/v1/chat/stream", &in_culture("s", "ja", "sv-SE")).await;
        let shown: Vec<&Value> = events
            .iter()
            .filter(|event| event.name.starts_with("tool_"))
            .map(|event| &event.data["displayName"])
            .collect();
        assert_eq!(shown, [name, name, "Varukorg", "Varukorg"]);
        assert_eq!(events.last().unwrap().data["text"], "Klart. Varukorgen är uppdaterad.");
    }
    let again = gateway.events("/v1/chat/stream", &in_culture("s", "ja", "sv-SE")).await;
    assert_eq!(again.last().unwrap().data["text"], "Det är redan gjort.");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_9_a_repeated_yes_is_recognised_only_right_after_the_change() {
    let server = model([add(1), Reply::text(["Hello."]), add(2)]).await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "one shoe").await;
    gateway.say("s", "yes").await;
    for again in ["ok", "please", "gör det"] {
        let repeated = gateway.say("s", again).await;
        assert_eq!(
            (repeated["text"].as_str(), pieces(&repeated)),
            (Some("That has been done already."), 1),
            "{again}: {repeated}"
        );
    }
    assert_eq!(server.seen().len(), 1, "a repeat is for no model");
    // A second "no" is an ordinary message, and so is the next message.
    assert_eq!(gateway.say("s", "no").await["text"], "Hello.");
    let next = gateway.say("s", "yes").await;
    assert!(
        next["pendingAction"]["description"].as_str().is_some_and(|text| text.contains("2 ×")),
        "a new action replaces the old one: {next}"
    );
    assert_eq!(pieces(&gateway.say("s", "yes").await), 3);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_2_and_22_3_a_missing_item_or_invalid_quantity_is_reported_to_the_model() {
    let set = |product: Value, quantity: Value| {
        ("cart_set_item_quantity", json!({"productId": product, "quantity": quantity}))
    };
    let odd = [
        json!(0),
        json!(-2),
        json!(1.5),
        json!("1.5"),
        json!("two"),
        json!(1_000_000),
        json!("1e9"),
        json!(true),
    ];
    let adds =
        odd.iter().map(|quantity| ("cart_add_item", json!({"partNo": SHOE, "quantity": quantity})));
    let sets = odd.iter().map(|quantity| set(json!(SHOE), quantity.clone()));
    let unnamed = [json!(null), json!("")]
        .into_iter()
        .flat_map(|no| [set(no.clone(), json!(1)), ("cart_remove_item", json!({"productId": no}))]);
    let missing = [
        ("cart_remove_item", json!({})),
        ("cart_set_item_quantity", json!({"quantity": 1})),
        set(json!(SHOE), Value::Null),
    ];
    let server = model([Reply::text(["Which one?"]).when("error").repeated()]).await;
    let gateway = Gateway::with(&server, &[]).await;
    for (at, (tool, arguments)) in adds.chain(sets).chain(unnamed).chain(missing).enumerate() {
        server.push(Reply::call(tool, arguments.clone()));
        let answer = gateway.say(&format!("s{at}"), "change my cart").await;
        assert_eq!(
            (answer["text"].as_str(), answer.get("pendingAction")),
            (Some("Which one?"), None),
            "{tool} {arguments}: {answer}"
        );
    }
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_2_a_change_of_an_unnamed_item_is_not_proposed() {
    let front = Front::start().await;
    let server = model([
        Reply::text(["Hello."]).when("yes").repeated(),
        Reply::text(["Which one?"]).when("error").repeated(),
    ])
    .await;
    let gateway = open(&front, &server, &[]).await;
    for (at, nothing) in ["  ", "null", "undefined", "Undefined "].into_iter().enumerate() {
        let of = json!({"productId": nothing, "quantity": 1});
        for (tool, arguments) in [
            ("cart_add_item", json!({"partNo": nothing})),
            ("cart_set_item_quantity", of),
            ("cart_remove_item", json!({"productId": nothing})),
        ] {
            let session = format!("{tool} {at}");
            server.push(Reply::call(tool, arguments));
            let (_, answer) =
                gateway.post("/v1/chat?debug=1", &message_of(&session, "change my cart")).await;
            // If the product is not in the cart, the model receives an error. The host checks the
            // product that would be added.
            let (said, blocked, error) = match tool {
                "cart_add_item" => (
                    "Sorry, the cart could not be changed. Please ask for it again.",
                    json!(true),
                    "failed",
                ),
                _ => ("Which one?", Value::Null, "VALIDATION_REQUEST_INVALID"),
            };
            assert_eq!(answer["text"], said, "{session}: {answer}");
            let trace = &answer["debug"]["toolTrace"][0];
            assert_eq!(
                (answer.get("pendingAction"), &trace["blockedByPolicy"], &trace["error"]),
                (None, &blocked, &json!(error)),
                "{answer}"
            );
            assert_eq!(gateway.say(&session, "yes").await["text"], "Hello.", "nothing waits");
        }
    }
    assert_eq!(
        front.count("cart.addItem")
            + front.count("cart.setItemQuantity")
            + front.count("cart.removeItem"),
        0
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_an_item_not_in_the_cart_is_reported_to_the_model_and_not_proposed() {
    let server = model([
        Reply::text(["Sure."]).when("yes").repeated(),
        Reply::text(["There is no such line."]).when("error").repeated(),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    let changes = ["cart_set_item_quantity", "cart_remove_item"].map(|tool| {
        let quantity = (tool == "cart_set_item_quantity").then_some(2);
        move |part: &str| {
            quantity.map_or_else(
                || Reply::call(tool, json!({"productId": part})),
                |n| Reply::call(tool, json!({"productId": part, "quantity": n})),
            )
        }
    });
    for change in &changes {
        server.push(change(SHOE));
        let empty = gateway.say("empty", "change it").await;
        assert_eq!(
            (empty["text"].as_str(), empty.get("pendingAction")),
            (Some("There is no such line."), None),
            "{empty}"
        );
        let told = server.seen().pop().unwrap().body["messages"].to_string();
        assert!(told.contains("The cart is empty"), "{told}");
        assert_eq!(gateway.say("empty", "yes").await["text"], "Sure.", "nothing waits");
    }
    server.push(add(1));
    gateway.say("s", "a shoe").await;
    assert_eq!(pieces(&gateway.say("s", "yes").await), 1);
    for change in &changes {
        server.push(change("FJS-TR1001-BLK-43"));
        let other = gateway.say("s", "the other").await;
        assert_eq!(
            (other["text"].as_str(), other.get("pendingAction")),
            (Some("There is no such line."), None),
            "{other}"
        );
        let told = server.seen().pop().unwrap().body["messages"].to_string();
        assert!(
            told.contains("FJS-TR1001-BLK-43 is not in the cart")
                && told.contains(&format!("= {SHOE}")),
            "what is there is told: {told}"
        );
    }
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_refused_by_the_shop_gets_a_helpful_error_text() {
    let server =
        model([Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": 900}))]).await;
    let gateway = Gateway::with(&server, &[]).await;
    assert!(gateway.say("s", "900 shoes").await["pendingAction"].is_object());
    let refused = gateway.say("s", "yes").await;
    assert_eq!(
        refused["text"],
        "Sorry, the shop did not accept that change. Perhaps fewer are left; try a smaller number.",
        "{refused}"
    );
    assert!(refused.get("pendingAction").is_none(), "{refused}");
    server.assert_clean();

    // For a quantity of one, the answer suggests no smaller number.
    let front = Front::start().await;
    front.breaks("cart.addItem", [Break::Quote]);
    let server = model([add(1)]).await;
    let gateway = open(&front, &server, &[]).await;
    gateway.say("s", "a shoe").await;
    assert_eq!(
        gateway.say("s", "yes").await["text"],
        "Sorry, the shop did not accept that change."
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_11_the_model_reads_a_confirmation_its_answer_and_the_cart_once() {
    let server = model([add(2), Reply::text(["Here."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    for message in ["two shoes", "yes"] {
        gateway.say("s", message).await;
    }
    gateway.say("s", "what is in my cart?").await;
    let told = server.seen()[1].body["messages"].clone();
    let said = |role: &str, text: &str| {
        told.as_array()
            .unwrap()
            .iter()
            .filter(|one| one["role"] == role && one["content"] == text)
            .count()
    };
    assert_eq!(
        (said("user", "yes"), said("assistant", "Done. Your cart is up to date.")),
        (1, 1),
        "{told}"
    );
    let tools = told.as_array().unwrap().iter().filter(|one| one["role"] == "tool");
    let results: Vec<Value> = tools.map(crate::memory::result_in).collect();
    let [change, cart] = &results[..] else { panic!("the change and the look behind it: {told}") };
    assert_eq!(
        (&cart["items"][0]["partNo"], &cart["items"][0]["quantity"]),
        (&json!(SHOE), &json!(2)),
        "{cart}"
    );
    assert_eq!(change["basket"]["items"], cart["items"], "the result of the change is the cart");
    server.assert_clean();
}
