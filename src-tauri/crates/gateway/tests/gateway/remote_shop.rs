//! A remote shop for tests: the real demo shop over HTTP with its login, called by the real gateway
//! through a recorder.

use kit::model_server::{ModelServer, Reply};
use reqwest::Method;
use serde_json::{Value, json};

use crate::front::{Break, CLIENT_ID, Front, SECRET};
use crate::world::{Gateway, SHOE, message_of, model, refusal_to_start};

/// Starts a gateway with a scripted model and with the shop behind an address.
pub(crate) async fn open(front: &Front, server: &ModelServer, more: &[(&str, &str)]) -> Gateway {
    let variables = front.variables();
    let mut all: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    all.extend(more);
    Gateway::with(server, &all).await
}

pub(crate) fn search() -> Reply {
    Reply::call("product_search", json!({"query": "tent"}))
}

fn pieces(answer: &Value) -> u64 {
    answer["cart"]["items"]
        .as_array()
        .map_or(0, |items| items.iter().filter_map(|item| item["quantity"].as_u64()).sum())
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_a_conversation_uses_one_shop_session_and_one_token() {
    let front = Front::start().await;
    let call = |tool: &str, arguments: Value| Reply::call(tool, arguments);
    let server = model([
        call("product_search", json!({"query": "trail shoes"})),
        Reply::text(["These."]),
        call("product_get", json!({"productId": "1001"})),
        Reply::text(["That one."]),
        call("cart_add_item", json!({"partNo": SHOE, "quantity": 2})),
        call("cart_set_item_quantity", json!({"productId": SHOE, "quantity": 3})),
        call("cart_remove_item", json!({"productId": SHOE})),
    ])
    .await;
    let gateway = open(&front, &server, &[]).await;
    let found = gateway.say("s", "trail shoes").await;
    assert!(found["cards"][0]["imageUrl"].as_str().unwrap().starts_with('/'), "{found}");
    let looked = gateway.say("s", "tell me about the first").await;
    assert!(looked["cards"][0]["dimensionHints"].is_object(), "{looked}");
    let asked = gateway.say("s", "two of them").await;
    assert_eq!(asked["pendingAction"]["tool"], "cart_add_item");
    assert_eq!(front.count("cart.addItem"), 0, "nothing is sent before the yes");
    assert_eq!(pieces(&gateway.say("s", "yes").await), 2);
    gateway.say("s", "make it three").await;
    assert_eq!(pieces(&gateway.say("s", "ja").await), 3);
    gateway.say("s", "take them out").await;
    let done = gateway.say("s", "ok").await;
    assert_eq!(done["cart"]["itemCount"], 0, "{done}");
    for tool in ["cart.addItem", "cart.setItemQuantity", "cart.removeItem"] {
        assert_eq!(front.count(tool), 1, "{tool}");
    }

    let heard = front.requests();
    let order: Vec<&str> = heard.iter().take(4).map(|one| one.what.as_str()).collect();
    assert_eq!(order, ["token", "initialize", "notifications/initialized", "product.search"]);
    assert_eq!((front.count("token"), front.count("initialize")), (1, 1), "once for the session");
    let form = &heard[0];
    assert_eq!(form.header("content-type"), Some("application/x-www-form-urlencoded"));
    for part in [
        "grant_type=client_credentials".to_owned(),
        format!("client_id={CLIENT_ID}"),
        format!("client_secret={SECRET}"),
        "scope=shop".to_owned(),
    ] {
        assert!(form.text.split('&').any(|field| field == part), "{part}: {}", form.text);
    }
    let opening = &heard[1];
    assert_eq!(
        (&opening.body["params"]["protocolVersion"], &opening.body["params"]["capabilities"]),
        (&json!("2024-11-05"), &json!({}))
    );
    assert!(
        opening.body["params"]["clientInfo"]["name"].is_string()
            && opening.header("mcp-session-id").is_none()
    );
    let session = heard[2].header("mcp-session-id").unwrap().to_owned();
    for one in &heard[1..] {
        assert_eq!(one.header("content-type"), Some("application/json"));
        assert_eq!(one.header("accept"), Some("application/json, text/event-stream"));
        assert_eq!(one.header("application-id"), Some("shop-web"));
        assert!(
            one.header("authorization").unwrap().starts_with("Bearer ")
                && one.header("cookie").is_none()
        );
        assert_eq!(
            one.header("mcp-session-id"),
            (one.what != "initialize").then_some(session.as_str()),
            "{}",
            one.what
        );
        assert_eq!(one.body["jsonrpc"], "2.0");
    }
    let ids: Vec<u64> = heard[1..].iter().filter_map(|one| one.body["id"].as_u64()).collect();
    assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>(), "ids count up from 1");
    assert!(heard[2].body.get("id").is_none() && heard.iter().all(|one| one.what != "tools/list"));
    server.assert_clean();
    front.assert_untold(&[
        &gateway.log(),
        &json!(server.requests()).to_string(),
        &done.to_string(),
    ]);
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_each_conversation_has_its_shop_session_and_each_application_its_token() {
    let front = Front::start().await;
    let server = model((0..4).flat_map(|_| [search(), Reply::text(["Here."])])).await;
    let gateway = open(&front, &server, &[]).await;
    gateway.say("one", "tents").await;
    gateway.say("two", "tents").await;
    let mut other = message_of("one", "tents");
    other["applicationId"] = json!("app:två");
    gateway.post("/v1/chat", &other).await;
    gateway.say("one", "tents again").await;
    let applications: Vec<String> = front
        .of("initialize")
        .iter()
        .map(|one| one.header("application-id").unwrap().to_owned())
        .collect();
    assert_eq!(applications, ["shop-web", "shop-web", "app:två"], "once for each conversation");
    assert_eq!(front.count("token"), 2, "once for each application");
    let calls = front.of("product.search");
    let session = |at: usize| calls[at].header("mcp-session-id").unwrap().to_owned();
    assert!(session(0) == session(3) && session(0) != session(1) && session(0) != session(2));
    assert_eq!(calls[0].header("authorization"), calls[1].header("authorization"));
    assert_ne!(calls[0].header("authorization"), calls[2].header("authorization"));
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_the_shop_session_of_a_conversation_survives_a_restart() {
    let front = Front::start().await;
    let server = model((0..2).flat_map(|_| [search(), Reply::text(["Here."])])).await;
    let gateway = open(&front, &server, &[]).await;
    gateway.say("s", "tents").await;
    let variables = front.variables();
    let url = server.base_url();
    let mut env: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    env.extend([("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "sk-test-0123456789abcdef")]);
    let gateway = gateway.restart(&["--no-token"], &env).await;
    let answer = gateway.say("s", "tents again").await;
    assert!(answer["cards"].is_array(), "{answer}");
    assert_eq!(front.count("initialize"), 1);
    let calls = front.of("product.search");
    assert_eq!(calls[0].header("mcp-session-id"), calls[1].header("mcp-session-id"));
    assert_ne!(calls[0].body["id"], calls[1].body["id"], "no number is used twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_concurrent_calls_share_one_token_until_it_expires() {
    let front = Front::start().await;
    front.breaks("token", [Break::Slow(2_000)]);
    let server =
        model((0..12).map(|n| if n < 6 { search() } else { Reply::text(["Here."]) })).await;
    let gateway = open(&front, &server, &[]).await;
    let mut asking = tokio::task::JoinSet::new();
    for n in 0..6 {
        let request =
            gateway.request(Method::POST, "/v1/chat").json(&message_of(&format!("s{n}"), "tents"));
        asking.spawn(async move { request.send().await.unwrap().status() });
    }
    assert!(asking.join_all().await.iter().all(reqwest::StatusCode::is_success));
    assert_eq!((front.count("token"), front.count("initialize")), (1, 6));
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_a_token_that_expires_within_a_minute_is_not_reused() {
    let front = Front::with_tokens_of(60).await;
    let server = model([search(), Reply::text(["Here."]), search(), Reply::text(["Here."])]).await;
    let gateway = open(&front, &server, &[]).await;
    gateway.say("s", "tents").await;
    let before = front.count("token");
    gateway.say("s", "tents").await;
    assert_eq!(front.count("token"), before + 1);
}

/// Returns an answer of the protocol with these texts.
fn texts(id: &str, texts: &[&str]) -> String {
    let content: Vec<Value> =
        texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
    format!(r#"{{"jsonrpc": "2.0", "id": {id}, "result": {{"content": {}}}}}"#, json!(content))
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_a_shops_answer_is_read_from_json_or_from_an_event_stream() {
    let front = Front::start().await;
    let item = |name: &str| {
        json!({"items": [{"productId": 1, "name": name}], "totalCount": 1}).to_string()
    };
    let noise = "\u{feff}: comment\r\nid: 1\nretry: 3000\ndata:\n\nevent: message\ndata: {\"jsonrpc\": \"2.0\", \"method\": \"notifications/progress\"}\n\n";
    let with_id = format!(
        "{noise}data: {}\n\ndata: {}\n\n",
        texts("9999", &[&item("Other")]),
        texts("$ID", &[&item("By id")])
    );
    let last = format!(
        "data: {}\n\ndata: {}\n",
        texts("7777", &[&item("First")]),
        texts("8888", &[&item("Last")])
    );
    let json = texts("1", &[&item("Unparsed"), &item("As JSON"), "for people"]);
    front
        .breaks("product.search", [Break::Events(with_id), Break::Events(last), Break::Json(json)]);
    let server = model((0..3).flat_map(|_| [search(), Reply::text(["Here."])])).await;
    let gateway = open(&front, &server, &[]).await;
    for name in ["By id", "Last", "As JSON"] {
        let answer = gateway.say("s", "tents").await;
        assert_eq!(answer["cards"][0]["title"], name, "{answer}");
    }
    front.assert_broken();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_21_tool_arguments_are_mapped_for_the_shop_with_the_callers_context() {
    let front = Front::start().await;
    let server = model([
        Reply::new()
            .ask(
                "product_search",
                &json!({"query": "tent", "statusSeed": "own", "context": {"cultureCode": "de-DE"}}),
            )
            .ask("cart_get", &json!({})),
        Reply::call("product_get", json!({"productId": "1001"})),
        Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": 1})),
        Reply::call("cart_get", json!({})),
        Reply::text(["Here."]),
    ])
    .await;
    let gateway = open(&front, &server, &[("NORCE_STATUS_SEED", "7")]).await;
    let mut body = message_of("s", "tents");
    body["context"] = json!({"cultureCode": "sv-SE", "currencyCode": "SEK", "priceListIds": [1, 2], "salesAreaId": 3, "customerId": 4, "companyId": 5, "page": "/x"});
    gateway.post("/v1/chat", &body).await;
    body["message"] = json!("yes");
    gateway.post("/v1/chat", &body).await;
    body["message"] = json!("my cart");
    let (_, answer) = gateway.post("/v1/chat", &body).await;
    assert_eq!(answer["cart"]["itemCount"], 1, "{answer}");
    let mut context = body["context"].clone();
    context.as_object_mut().unwrap().remove("page");
    assert_eq!(
        front.sent("product.search"),
        [json!({"query": "tent", "statusSeed": "7", "context": context})],
        "nothing of the model's context, no retry"
    );
    assert_eq!(
        front.sent("product.get")[0],
        json!({"productId": 1001, "context": context}),
        "a number of digits is a number"
    );
    assert_eq!(
        front.sent("cart.addItem"),
        [json!({"partNo": SHOE, "quantity": 1, "clientIp": "127.0.0.1", "context": context})]
    );
    let carts = front.sent("cart.get");
    assert!(
        !carts.is_empty() && carts.iter().all(|cart| cart["basketId"].is_u64()),
        "without a basket nobody is asked: {carts:?}"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_15_cards_are_read_from_all_known_product_formats() {
    let front = Front::start().await;
    let items = json!([
        {"productId": 1, "name": " Plain ", "price": 499, "currencyCode": "SEK", "description": "d".repeat(150), "imageUrl": "/img/1.jpg", "onHand": {"value": "0", "isActive": true}},
        {"id": "two", "title": "Two", "price": "1 299,00 kr", "image": "img/2.jpg", "variantName": 7, "onHand": {"value": 3, "isActive": false}},
        {"partNo": "P-3", "productName": "Three", "price": {"sellingPrice": 5.5, "currencySymbol": "kr"}, "images": [{"src": "/3.jpg"}], "thumbnailImageKey": 33, "brand": 9},
        {"sku": "S-4", "displayName": "Four", "price": {"value": "7"}, "thumbnailImageKey": {"a": 1}, "attributes": {"color": "red", "size": 5, "brand": "Own"}, "onHand": {"value": "12", "incomingValue": "5", "nextDeliveryDate": null}},
        {"name": "Without an id"}, {"productId": 6}
    ]);
    let shapes = [json!({"items": items, "totalCount": 6}), json!({"products": items}), items];
    front.breaks("product.search", shapes.into_iter().map(Break::Result));
    let server = model((0..3).flat_map(|_| [search(), Reply::text(["Here."])])).await;
    let gateway = open(&front, &server, &[]).await;
    for _ in 0..3 {
        let answer = gateway.say("s", "tents").await;
        let cards = answer["cards"].as_array().unwrap_or_else(|| panic!("cards: {answer}"));
        let titles: Vec<&str> = cards.iter().map(|card| card["title"].as_str().unwrap()).collect();
        assert_eq!(
            titles,
            ["Four", "Three", "Plain", "Two"],
            "in stock, unknown, out of stock, inactive"
        );
        let (four, three, one, two) = (&cards[0], &cards[1], &cards[2], &cards[3]);
        assert_eq!(
            (&one["productId"], &two["productId"], &three["productId"], &four["productId"]),
            (&json!("1"), &json!("two"), &json!("P-3"), &json!("S-4"))
        );
        assert_eq!(
            (&one["price"], &two["price"], &three["price"], &four["price"]),
            (&json!("499"), &json!("1 299,00 kr"), &json!("5.5"), &json!("7"))
        );
        assert_eq!(
            (&one["currency"], two.get("currency"), &three["currency"]),
            (&json!("SEK"), None, &json!("kr"))
        );
        assert_eq!(
            (&one["imageUrl"], &two["imageUrl"], &three["imageUrl"]),
            (&json!("/img/1.jpg"), &json!("img/2.jpg"), &json!("/3.jpg")),
            "as it was"
        );
        assert_eq!(one["subtitle"].as_str().unwrap().chars().count(), 100);
        assert_eq!((one.get("variantName"), &two["variantName"]), (None, &Value::Null));
        assert_eq!(
            (one.get("thumbnailImageKey"), &three["thumbnailImageKey"], &four["thumbnailImageKey"]),
            (None, &json!("33"), &Value::Null)
        );
        assert_eq!(
            (&four["attributes"], three.get("attributes")),
            (&json!({"color": "red", "brand": "Own"}), None)
        );
        assert_eq!(
            four["availability"],
            json!({"status": "in_stock", "onHandValue": 12, "incomingValue": 5, "nextDeliveryDate": null})
        );
        assert_eq!(
            (&one["availability"]["status"], &three["availability"]),
            (&json!("out_of_stock"), &json!({"status": "unknown"}))
        );
    }
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_3_and_21_a_cart_line_may_be_a_fee_and_may_lack_a_price() {
    let front = Front::start().await;
    let lines = json!([{"partNo": SHOE, "name": "Shoe", "quantity": 1, "price": 100}, {"name": "Freight", "quantity": 1, "price": 49}, {"partNo": "GIFT", "quantity": 1}]);
    front.breaks(
        "cart.addItem",
        [Break::Result(json!({"basketId": 88, "basket": {"items": lines, "total": 149}}))],
    );
    front
        .breaks("cart.get", [Break::Result(json!({"basketId": 88, "items": lines, "total": 149}))]);
    let server =
        model([Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": 1}))]).await;
    let gateway = open(&front, &server, &[]).await;
    gateway.say("s", "one shoe").await;
    let done = gateway.say("s", "yes").await;
    let items = done["cart"]["items"].as_array().unwrap_or_else(|| panic!("a cart: {done}"));
    let ids: Vec<&str> = items.iter().map(|item| item["productId"].as_str().unwrap()).collect();
    assert_eq!(
        (ids, done["cart"]["itemCount"].as_u64()),
        (vec![SHOE, "Freight", "GIFT"], Some(3)),
        "{done}"
    );
    assert_eq!((&items[1]["price"]["amount"], items[2].get("price")), (&json!(49.0), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_13_compared_features_may_be_numbers_or_booleans() {
    let front = Front::start().await;
    let product = |id: u32, dry: bool| json!({"productId": id, "name": format!("Tent {id}"), "partNo": format!("T-{id}"), "price": "10", "attributes": {"Waterproof": dry, "Weight": id + 1}});
    front
        .breaks("product.get", [Break::Result(product(1, true)), Break::Result(product(2, false))]);
    let both = Reply::new()
        .ask("product_get", &json!({"productId": 1}))
        .ask("product_get", &json!({"productId": 2}));
    let server = model([both, Reply::text(["Compared."])]).await;
    let gateway = open(&front, &server, &[]).await;
    let answer = gateway.say("s", "compare them").await;
    // The two requests are sent at the same time, so their order is not fixed.
    let rows = answer["comparison"]["table"]["rows"]
        .as_array()
        .unwrap_or_else(|| panic!("rows: {answer}"));
    let mut values: Vec<String> = rows
        .iter()
        .filter(|row| {
            row["feature"] == "Waterproof"
                || row["feature"].as_str().is_some_and(|name| name.eq_ignore_ascii_case("weight"))
        })
        .map(|row| row["values"].to_string())
        .collect();
    values.sort();
    assert!(
        values.len() == 2
            && values.iter().any(|value| value.contains("Yes") && value.contains("No")),
        "{rows:?}"
    );
    assert!(values.iter().any(|value| value.contains('2') && value.contains('3')), "{rows:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_the_only_variant_of_a_product_is_proposed_directly() {
    let front = Front::start().await;
    let variant = json!({"productId": 11, "partNo": "TENT-RED", "name": "Tent", "isBuyable": true, "price": "10", "onHand": {"value": 3, "isActive": true}});
    let parent = json!({"productId": 10, "partNo": "TENT", "name": "Tent", "price": "10", "attributes": {"isBuyable": false}, "variants": [variant]});
    front.breaks("product.get", (0..2).map(|_| Break::Result(parent.clone())));
    let look = Reply::call("product_get", json!({"productId": 10}));
    let server = model([
        look,
        Reply::call("cart_add_item", json!({"partNo": "TENT", "quantity": 1})),
        Reply::text(["Hello."]),
    ])
    .await;
    let gateway = open(&front, &server, &[]).await;
    let asked = gateway.say("s", "put that tent in").await;
    assert!(
        asked["pendingAction"]["description"]
            .as_str()
            .is_some_and(|text| text.contains("TENT-RED")),
        "{asked}"
    );
    gateway.say("s", "no").await;
    gateway.say("s", "hello").await;
    let told = server.seen().pop().unwrap().body["messages"].to_string();
    assert_eq!(told.matches("put that tent in").count(), 1, "{told}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_16_the_visitors_address_is_sent_only_to_the_shop() {
    for (header, sent, expected) in [
        ("x-forwarded-for", "203.0.113.99, 203.0.113.9, 127.0.0.1", "203.0.113.9"),
        ("x-real-ip", "203.0.113.7", "203.0.113.7"),
        ("x-forwarded-for", "::ffff:203.0.113.5", "203.0.113.5"),
    ] {
        let front = Front::start().await;
        let server =
            model([Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": 1}))]).await;
        let gateway = open(&front, &server, &[]).await;
        let say = async |message: &str| {
            gateway
                .request(reqwest::Method::POST, "/v1/chat")
                .header(header, sent)
                .json(&message_of("s", message))
                .send()
                .await
                .unwrap()
        };
        say("one shoe").await;
        assert!(say("yes").await.status().is_success());
        assert_eq!(
            front.of("cart.addItem")[0].body["params"]["arguments"]["clientIp"],
            expected,
            "{header}: {sent}"
        );
        assert!(!json!(server.requests()).to_string().contains("203.0.113"), "no model is told");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_16_a_context_applies_only_to_its_message() {
    let front = Front::start().await;
    let server = model((0..2).flat_map(|_| [search(), Reply::text(["Here."])])).await;
    let gateway = open(&front, &server, &[]).await;
    let mut body = message_of("s", "tents");
    body["context"] = json!({"cultureCode": "sv-SE", "currencyCode": "SEK"});
    gateway.post("/v1/chat", &body).await;
    body.as_object_mut().unwrap().remove("context");
    gateway.post("/v1/chat", &body).await;
    let told: Vec<bool> = front
        .of("product.search")
        .iter()
        .map(|one| one.body["params"]["arguments"].get("context").is_some())
        .collect();
    assert_eq!(told, [true, false]);
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_16_and_22_12_customer_values_are_sent_only_to_the_shop() {
    let front = Front::start().await;
    let server = model([
        search(),
        Reply::text(["Here."]),
        Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": 1})),
    ])
    .await;
    let gateway = open(&front, &server, &[]).await;
    let mut body = message_of("s", "tents");
    body["context"]["customerId"] = json!(47_119_905);
    body["context"]["priceListIds"] = json!([88_123_777]);
    let (_, answer) = gateway.post("/v1/chat?debug=1", &body).await;
    body["message"] = json!("one shoe");
    let (_, asked) = gateway.post("/v1/chat?debug=1", &body).await;
    body["message"] = json!("yes");
    let (_, done) = gateway.post("/v1/chat?debug=1", &body).await;
    assert_eq!(pieces(&done), 1, "{done}");
    assert!(front.of("cart.addItem")[0].text.contains("47119905"), "the shop is told");
    let told = format!("{}{answer}{asked}{done}{}", json!(server.requests()), gateway.log());
    for hidden in ["47119905", "88123777", "effectiveContext\":{\"customerId"] {
        assert!(!told.contains(hidden), "{hidden} is the caller's and the shop's alone");
    }
    front.assert_untold(&[&told]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shop_packs_settings_can_name_a_local_shop_if_the_private_network_is_allowed() {
    let front = Front::start().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("data")).unwrap();
    let call = async |private: bool, secret: Option<&str>, id: &str| {
        let settings = format!(
            "[packs.shop]\nprivate_network = {private}\n[packs.shop.settings]\nmcp_base_url = \"{0}/mcp\"\noauth_token_url = \"{0}/oauth/token\"\noauth_client_id = \"{id}\"\noauth_scope = \"shop\"\n",
            front.base
        );
        std::fs::write(folder.path().join("data/countersign.toml"), settings).unwrap();
        let mut command = Gateway::csign_command(&folder);
        command.args([
            "--json",
            "tools",
            "call",
            "product.search",
            "--args",
            r#"{"query": "tent"}"#,
        ]);
        command.envs(secret.map(|secret| ("NORCE_OAUTH_CLIENT_SECRET", secret)));
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        serde_json::from_slice::<Value>(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"))
    };
    let refused = call(false, Some(SECRET), CLIENT_ID).await.to_string();
    assert!(refused.contains("lies on this computer"), "{refused}");
    let missing = call(true, Some(SECRET), "").await.to_string();
    assert!(missing.contains("oauth_client_id is not set"), "{missing}");
    let keyless = call(true, None, CLIENT_ID).await.to_string();
    assert!(keyless.contains("NORCE_OAUTH_CLIENT_SECRET"), "{keyless}");
    assert!(front.requests().is_empty(), "nothing was sent so far");
    let found = call(true, Some(SECRET), CLIENT_ID).await;
    assert!(found["data"]["items"].as_array().is_some_and(|items| !items.is_empty()), "{found}");
    assert_eq!(front.of("product.search")[0].header("application-id"), Some("desktop"));
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_20_incomplete_or_invalid_shop_settings_are_refused_at_startup() {
    let refused = |env: &[(&str, &str)]| refusal_to_start(&["--listen", "127.0.0.1:0"], env);
    let told = refused(&[
        ("NORCE_MCP_BASE_URL", "https://shop.example.com/mcp"),
        ("NORCE_OAUTH_CLIENT_ID", "me"),
        ("RETRY_MAX_ATTEMPTS", "99"),
    ]);
    for name in [
        "NORCE_OAUTH_TOKEN_URL",
        "NORCE_OAUTH_CLIENT_SECRET",
        "NORCE_OAUTH_SCOPE",
        "RETRY_MAX_ATTEMPTS",
    ] {
        assert!(told.contains(name), "{name}: {told}");
    }
    assert!(!told.contains("NORCE_OAUTH_CLIENT_ID"));
    let all = [
        ("NORCE_MCP_BASE_URL", "shop.example.com"),
        ("NORCE_OAUTH_TOKEN_URL", "ftp://shop.example.com/token"),
        ("NORCE_OAUTH_CLIENT_ID", "me"),
        ("NORCE_OAUTH_CLIENT_SECRET", "hidden-7c1"),
        ("NORCE_OAUTH_SCOPE", "shop"),
    ];
    let told = refused(&all);
    assert!(
        told.contains("NORCE_MCP_BASE_URL must be")
            && told.contains("NORCE_OAUTH_TOKEN_URL must be")
            && !told.contains("hidden-7c1"),
        "{told}"
    );
}
