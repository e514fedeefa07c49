//! Tests of the choice of a variant before a product is added to the cart: the choices, their order
//! and names, how the next message chooses, and variants that cannot be bought. A proxy replaces
//! the shop's answers with products in unusual forms.

use kit::model_server::Reply;
use serde_json::{Value, json};

use crate::front::{Break, Front};
use crate::remote_shop::open;
use crate::world::{Gateway, SHOE, message_of, model, names};

fn add(part: &str, quantity: u64) -> Reply {
    Reply::call("cart_add_item", json!({"partNo": part, "quantity": quantity}))
}

/// Starts a shop with one product, which can be read any number of times.
async fn shop_of(product: &Value) -> Front {
    let front = Front::start().await;
    front.breaks("product.get", (0..200).map(|_| Break::Result(product.clone())));
    front
}

fn boot(variants: Value) -> Value {
    json!({"productId": 70, "partNo": "BOOT", "name": "Boot", "price": "10", "attributes": {"isBuyable": true}, "variants": variants})
}

/// Returns a variant with a size and a stock.
fn sized_variant(id: u32, size: &str, stock: i64) -> Value {
    json!({
        "productId": id, "partNo": format!("BOOT-{size}"), "uniqueName": format!("boot-eu-{size}"), "eanCode": format!("73500{id}"), "price": "10",
        "isBuyable": true, "onHand": {"value": stock, "isActive": true}, "variantParametrics": [{"name": "Size", "value": size}]
    })
}

fn with(mut variant: Value, more: Value) -> Value {
    variant.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    variant
}

/// Returns the description of the change that waits for confirmation.
fn proposed(answer: &Value) -> &str {
    answer["pendingAction"]["description"]
        .as_str()
        .unwrap_or_else(|| panic!("a proposal: {answer}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_a_variant_that_cannot_be_bought_is_refused_without_a_proposal() {
    let no = |id: u32, size: &str, more: Value| with(sized_variant(id, size, 4), more);
    let closed = json!([
        no(71, "41", json!({"isBuyable": false})),
        no(72, "42", json!({"partNo": null})),
        no(73, "43", json!({"partNo": " "}))
    ]);
    let alone = json!({"productId": 70, "partNo": "BOOT", "name": "Boot", "price": "10", "attributes": {"isBuyable": false}});
    for product in [boot(closed), alone.clone(), with(alone, json!({"attributes": {}}))] {
        let front = shop_of(&product).await;
        let server = model([
            Reply::call("product_get", json!({"productId": "70"})),
            add("BOOT", 1),
            Reply::text(["Nothing waits."]),
        ])
        .await;
        let gateway = open(&front, &server, &[]).await;
        let mut body = message_of("s", "put the boot in");
        body["context"]["cultureCode"] = json!("sv-SE");
        let (_, answer) = gateway.post("/v1/chat?debug=1", &body).await;
        assert_eq!(answer["text"], "Den produkten går inte att köpa just nu.", "{answer}");
        assert!(
            ["pendingAction", "confirmation", "choices", "cart"]
                .iter()
                .all(|block| answer.get(block).is_none()),
            "{answer}"
        );
        let trace = &answer["debug"]["toolTrace"][1];
        assert_eq!(
            (trace["tool"].as_str(), trace["blockedByPolicy"].as_bool()),
            (Some("cart_add_item"), Some(true)),
            "{trace}"
        );
        assert!(
            trace["error"].is_string()
                && trace.get("result").is_none()
                && trace.get("pendingActionCreated").is_none(),
            "{trace}"
        );
        assert_eq!(gateway.say("s", "yes").await["text"], "Nothing waits.");
        let heard = server.seen()[2].body["messages"].to_string();
        assert!(
            heard.contains("cannot be bought") && !heard.contains("choose a variant"),
            "the model knows why: {heard}"
        );
        assert_eq!(front.count("cart.addItem"), 0);
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_the_demo_shops_unbuyable_product_is_refused_with_or_without_a_lookup() {
    let front = Front::start().await;
    let look = || Reply::call("product_get", json!({"productId": "1011"}));
    let server = model([look(), Reply::text(["Found."])]).await;
    let gateway = open(&front, &server, &[]).await;
    gateway.say("s", "that shoe").await;
    let sent = server.seen()[1].body["messages"].clone();
    let result = sent.as_array().unwrap().iter().rfind(|message| message["role"] == "tool");
    let told: Value = crate::memory::result_in(result.unwrap());
    let variants = told["variants"].as_array().unwrap();
    assert!(
        !variants.is_empty() && variants.iter().all(|variant| variant["isBuyable"] == false),
        "{told}"
    );
    let part = |product: &Value| add(product["partNo"].as_str().unwrap(), 1);
    for script in [vec![part(&told)], vec![look(), part(&told)], vec![look(), part(&variants[0])]] {
        script.into_iter().for_each(|reply| server.push(reply));
        let answer = gateway.say("s", "put it in").await;
        assert_eq!(
            (answer["text"].as_str(), answer.get("pendingAction")),
            (Some("That product cannot be bought at the moment."), None),
            "{answer}"
        );
    }
    assert_eq!(front.count("cart.addItem"), 0);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_at_most_six_options_are_ordered_by_availability() {
    let comes =
        |day: &str| json!({"onHand": {"value": 0, "isActive": true, "nextDeliveryDate": day}});
    let variants = json!([
        with(sized_variant(71, "36", 0), comes("2031-05-01")),
        sized_variant(72, "37", 2),
        with(sized_variant(73, "38", 0), comes("2031-04-01")),
        with(
            sized_variant(74, "39", 0),
            json!({"onHand": {"value": 50, "isActive": false, "nextDeliveryDate": "2031-04-15"}})
        ),
        sized_variant(75, "40", 0),
        sized_variant(76, "41", 12),
        sized_variant(77, "42", 3),
        with(sized_variant(78, "43", 99), json!({"isBuyable": false})),
    ]);
    let front = shop_of(&boot(variants)).await;
    let server = model([add("BOOT", 1), add("BOOT", 1)]).await;
    let gateway = open(&front, &server, &[]).await;
    let asked = gateway.say("s", "the boot").await;
    let options =
        asked["choices"]["options"].as_array().unwrap_or_else(|| panic!("choices: {asked}"));
    let ids: Vec<&str> = options.iter().map(|option| option["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        ["76", "77", "72", "73", "74", "71"],
        "more first, then what comes first, and no more than six"
    );
    let stock: Vec<(Option<bool>, Option<i64>)> = options
        .iter()
        .map(|o| (o["meta"]["inStock"].as_bool(), o["meta"]["onHand"].as_i64()))
        .collect();
    assert_eq!(
        stock[0..4],
        [
            (Some(true), Some(12)),
            (Some(true), Some(3)),
            (Some(true), Some(2)),
            (Some(false), Some(0))
        ]
    );
    assert_eq!(
        stock[4],
        (Some(false), Some(50)),
        "what is withdrawn is not in stock, however much there is"
    );
    assert!(
        asked["choices"]["prompt"] == asked["text"] && asked.get("pendingAction").is_none(),
        "{asked}"
    );
    let again = gateway.say("other", "the boot").await;
    assert!(
        again["choices"]["id"].is_string() && again["choices"]["id"] != asked["choices"]["id"],
        "each set is its own"
    );
    assert_eq!(again["choices"]["options"], asked["choices"]["options"]);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_an_option_label_has_three_dimensions_and_stock_and_meta_has_all() {
    let four = json!({"variantParametrics": [{"name": "Volume", "value": "40 l"}, {"name": "Colour", "value": "Red", "isPrimary": true}], "parametrics": [
        {"name": "Back", "value": "Long"}, {"name": "Belt", "value": "Wide"}]});
    let none = json!({"variantParametrics": [], "variantName": "Plain one"});
    let variants =
        json!([with(sized_variant(71, "1", 5), four), with(sized_variant(72, "2", 0), none)]);
    for (culture, there, gone) in
        [("en-GB", "in stock", "out of stock"), ("sv-SE", "i lager", "slut i lager")]
    {
        let front = shop_of(&boot(variants.clone())).await;
        let server = model([add("BOOT", 1)]).await;
        let gateway = open(&front, &server, &[]).await;
        let mut body = message_of("s", "the boot");
        body["context"]["cultureCode"] = json!(culture);
        let (_, asked) = gateway.post("/v1/chat", &body).await;
        let dims = json!({"Colour": "Red", "Volume": "40 l", "Back": "Long", "Belt": "Wide"});
        let meta = |stock: u32, dims: Value, part: &str| json!({"onHand": stock, "isBuyable": true, "dimsMap": dims, "partNo": part, "inStock": stock > 0});
        assert_eq!(
            asked["choices"]["options"],
            json!([
                {"id": "71", "label": format!("Colour: Red, Volume: 40 l, Back: Long ({there})"), "meta": meta(5, dims, "BOOT-1")},
                {"id": "72", "label": format!("Plain one ({gone})"), "meta": meta(0, json!({}), "BOOT-2")}
            ]),
            "{asked}"
        );
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_every_way_to_choose_an_option_proposes_it_without_a_model_call() {
    let front = shop_of(&boot(json!([
        sized_variant(7_100, "41", 9),
        sized_variant(7_200, "42", 5),
        sized_variant(7_300, "43", 1)
    ])))
    .await;
    let server = model([add("BOOT", 1).repeated()]).await;
    let gateway = open(&front, &server, &[]).await;
    let numbers = ["#2", "option 2", "Option 2", "number 2", "nr 2", "nr. 2", "2nd", "2", " 2 "];
    let names = ["7200", "the BOOT-42, please", "boot-42", "is 735007200 the one?", "BOOT-EU-42"];
    for (at, way) in numbers.into_iter().chain(names).enumerate() {
        let session = format!("s{at}");
        assert!(gateway.say(&session, "the boot").await["choices"].is_object());
        let chosen = gateway.say(&session, way).await;
        assert!(
            proposed(&chosen).contains("BOOT-42") && proposed(&chosen).contains("1 ×"),
            "{way}: {chosen}"
        );
        assert!(chosen.get("choices").is_none());
        assert_eq!(server.seen().len(), at + 1, "{way}: no model is needed");
    }
    for (way, part) in [("1st", "BOOT-41"), ("3rd", "BOOT-43")] {
        assert!(gateway.say(way, "the boot").await["choices"].is_object());
        assert!(proposed(&gateway.say(way, way).await).contains(part), "{way}");
    }
    assert_eq!(front.count("cart.addItem"), 0, "what is chosen still waits for a yes");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_a_message_that_chooses_no_option_goes_to_the_model() {
    let front =
        shop_of(&boot(json!([sized_variant(7_100, "41", 9), sized_variant(7_200, "42", 5)]))).await;
    let server = model([
        Reply::text(["What do you mean?"]).when("say: ").repeated(),
        add("BOOT", 1).repeated(),
    ])
    .await;
    let gateway = open(&front, &server, &[]).await;
    assert!(gateway.say("s", "the boot").await["choices"].is_object());
    for way in ["say: 1", "say: BOOT-4", "say: 720", "say: boot"] {
        let answer = gateway.say("s", way).await;
        assert_eq!(
            (answer["text"].as_str(), answer.get("pendingAction")),
            (Some("What do you mean?"), None),
            "{way}: {answer}"
        );
    }
    assert!(
        proposed(&gateway.say("s", "BOOT-42").await).contains("BOOT-42"),
        "the choices still stand"
    );
    for out in ["option 3", "0", "#9", "4th"] {
        assert!(gateway.say(out, "the boot").await["choices"].is_object());
        let before = server.seen().len();
        let answer = gateway.say(out, out).await;
        assert_eq!(
            (server.seen().len(), answer.get("pendingAction")),
            (before + 1, None),
            "{out}: {answer}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_a_variant_or_a_product_without_variants_is_proposed_directly() {
    let variants = json!([sized_variant(7_100, "41", 9), sized_variant(7_200, "42", 5)]);
    let plain = json!({"productId": 80, "partNo": "CUP", "name": "Cup", "price": "10", "attributes": {"isBuyable": true}});
    for (product, named, part) in [
        (boot(variants.clone()), "BOOT-42", "BOOT-42"),
        (boot(variants), "7200", "BOOT-42"),
        (plain, "CUP", "CUP"),
    ] {
        let front = shop_of(&product).await;
        let server =
            model([Reply::call("product_get", json!({"productId": "7200"})), add(named, 3)]).await;
        let gateway: Gateway = open(&front, &server, &[]).await;
        let answer = gateway.say("s", "three of it").await;
        assert!(
            proposed(&answer).contains(part) && proposed(&answer).contains("3 ×"),
            "{named}: {answer}"
        );
        assert!(answer.get("choices").is_none());
        gateway.say("s", "yes").await;
        let sent = front.of("cart.addItem")[0].body["params"]["arguments"].clone();
        assert_eq!((sent["partNo"].as_str(), sent["quantity"].as_u64()), (Some(part), Some(3)));
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmed_change_shows_name_and_price_of_the_variant_not_of_its_parent() {
    let big = with(
        sized_variant(7_200, "42", 5),
        json!({"variantName": "Size 42", "price": null, "priceIncVat": "25.00"}),
    );
    let dearer = with(big.clone(), json!({"priceIncVat": "30.00"}));
    let of = |variant: Value| {
        with(
            boot(json!([sized_variant(7_100, "41", 9), variant])),
            json!({"priceIncVat": "10.00", "currency": "SEK"}),
        )
    };
    let front = Front::start().await;
    // The product is read twice for the question, and has a higher price after the confirmation.
    front.breaks(
        "product.get",
        std::iter::repeat_n(Break::Result(of(big)), 2)
            .chain(std::iter::repeat_n(Break::Result(of(dearer)), 20)),
    );
    let server = model([add("BOOT-42", 3)]).await;
    let gateway = open(&front, &server, &[]).await;
    let asked = gateway.say("s", "three of it").await;
    assert_eq!(proposed(&asked), "Add 3 × Boot (Size 42) (BOOT-42) to the cart?");
    assert!(
        gateway.csign(&["approvals", "list"]).to_string().contains("75.00 SEK"),
        "three of the variant"
    );
    let changed = gateway.say("s", "yes").await;
    assert!(proposed(&changed).ends_with("(90.00 SEK)"), "{changed}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_a_number_after_a_variant_question_refers_to_an_option() {
    let front =
        shop_of(&boot(json!([sized_variant(7_100, "41", 9), sized_variant(7_200, "42", 5)]))).await;
    let server = model([]).await;
    let gateway = open(&front, &server, &[]).await;
    let asked = async |session: &str| {
        server.push(Reply::call("product_search", json!({"query": "tent"})));
        server.push(Reply::text(["Tents."]));
        server.push(add("BOOT", 1));
        gateway.say(session, "tents").await;
        assert!(gateway.say(session, "the boot").await["choices"].is_object());
    };
    for way in ["the second one", "den andra"] {
        asked(way).await;
        assert!(proposed(&gateway.say(way, way).await).contains("BOOT-42"), "{way}");
    }
    asked("s").await;
    server.push(Reply::text(["The 42."]));
    gateway.say("s", "is the second one good for rain?").await;
    let told = crate::memory::hints(&server, server.seen().len() - 1);
    assert!(told.iter().all(|hint| !hint.contains("The message below means")), "{told:?}");
    assert!(
        told.iter().any(|hint| hint.contains("2: Size: 42") && hint.contains("BOOT-42")),
        "{told:?}"
    );
    // After another question, numbers refer to what is on the screen.
    server.push(Reply::text(["It is warm."]));
    gateway.say("s", "is the second one warm?").await;
    let told = crate::memory::hints(&server, server.seen().len() - 1);
    assert!(told.iter().all(|hint| !hint.contains("choose one of these options")), "{told:?}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_4_and_12_a_chosen_option_is_answered_without_tool_events() {
    let closed = boot(json!([with(sized_variant(7_300, "43", 1), json!({"isBuyable": false}))]));
    for (product, told) in [
        (boot(json!([sized_variant(7_100, "41", 9), sized_variant(7_200, "42", 5)])), "choices"),
        (closed, "text"),
    ] {
        let front = shop_of(&product).await;
        let server = model([add("BOOT", 1)]).await;
        let gateway = open(&front, &server, &[]).await;
        let hear = async |message: &str| {
            gateway.events("/v1/chat/stream", &message_of("s", message)).await
        };
        let asked = hear("the boot").await;
        let end = &asked.last().unwrap().data;
        assert_eq!(
            names(&asked),
            ["status", "status", "final"],
            "start, thinking, and the question or why not: {asked:?}"
        );
        assert!(end.get(told).is_some() && end.get("pendingAction").is_none(), "{end}");
        if told == "choices" {
            let chosen = hear("option 2").await;
            assert_eq!(names(&chosen), ["status", "final"], "{chosen:?}");
            assert!(proposed(&chosen.last().unwrap().data).contains("BOOT-42"));
        }
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_4_a_parent_is_not_proposed_while_the_shop_cannot_be_reached() {
    let broken = Break::Events(format!(
        "data: {}\n\n",
        r#"{"jsonrpc": "2.0", "id": $ID, "error": {"code": -32603, "message": "x"}}"#
    ));
    for (how, tries) in [
        (Break::Status(500), 1),
        (Break::Hang, 3),
        (Break::Json("{\"jsonrpc\"".into()), 1),
        (broken, 1),
    ] {
        let front = Front::start().await;
        let server = model([add("FJS-TR1001", 1), Reply::text(["Yes what?"])]).await;
        let gateway = open(&front, &server, &[("MCP_CALL_TIMEOUT_MS", "400")]).await;
        // Both the preview of the proposal and the search for variants fail.
        front.breaks("product.get", vec![how.clone(); 2 * tries]);
        let mut body = message_of("s", "one of those shoes");
        body["context"]["cultureCode"] = json!("sv-SE");
        let (_, answer) = gateway.post("/v1/chat?debug=1", &body).await;
        assert_eq!(
            answer["text"], "Butiken svarade inte. Försök igen senare.",
            "{how:?}: {answer}"
        );
        assert!(
            ["pendingAction", "confirmation", "choices", "error"]
                .iter()
                .all(|block| answer.get(block).is_none()),
            "{answer}"
        );
        assert_eq!(answer["debug"]["toolTrace"][0]["blockedByPolicy"], true, "{answer}");
        assert_eq!(gateway.say("s", "yes").await["text"], "Yes what?", "nothing waits");
        assert_eq!(front.count("cart.addItem"), 0);
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_and_22_4_if_variant_lookups_are_denied_the_named_part_is_proposed() {
    let off = "[switches]\ntools_off = [\"product.get\"]\n";
    let denied = r#"{"rules": [{"id": "no-looks", "action": "deny", "tool": "product.get"}]}"#;
    for (file, content) in [("countersign.toml", off), ("policy.json", denied)] {
        let server = model([add(SHOE, 1), add("FJS-TR1001", 1)]).await;
        let url = server.base_url();
        let env = [
            ("OPENAI_BASE_URL", url.as_str()),
            ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
            ("OPENAI_MODEL", "scripted"),
        ];
        let gateway = Gateway::with(&server, &[]).await;
        std::fs::write(gateway.path("data").join(file), content).unwrap();
        let gateway = gateway.restart(&["--no-token"], &env).await;
        assert!(proposed(&gateway.say("s", "that one").await).contains(SHOE), "{file}");
        // A change of a parent product (one without a variant) is sent to the shop, which refuses
        // it.
        assert!(proposed(&gateway.say("parent", "those").await).contains("FJS-TR1001"), "{file}");
        assert_eq!(
            gateway.say("parent", "yes").await["text"],
            "Sorry, the shop did not accept that change.",
            "{file}"
        );
        let looked = gateway.csign(&["audit", "list", "--type", "tool_intent"]).to_string();
        assert!(
            looked.contains("cart.addItem") && !looked.contains("product.get"),
            "{file}: {looked}"
        );
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_and_22_4_a_variant_already_read_in_this_turn_is_not_read_again() {
    let front = Front::start().await;
    let server =
        model([Reply::call("product_get", json!({"partNo": "FJS-TR1001"})), add(SHOE, 1)]).await;
    let gateway = open(&front, &server, &[]).await;
    front.breaks("product.get", [Break::Slow(0)]);
    front.breaks("product.get", vec![Break::Status(500); 4]);
    assert!(proposed(&gateway.say("s", "that one").await).contains(SHOE));
    server.assert_clean();
}
