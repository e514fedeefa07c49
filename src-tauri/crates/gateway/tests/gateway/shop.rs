//! Tests of the shop's answer blocks: cards, refinements, comparison, and the caller's context.

use kit::model_server::Reply;
use serde_json::{Value, json};

use crate::front::{Break, Front};
use crate::remote_shop::open;
use crate::world::{Gateway, message_of, model};

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_15_cards_contain_the_shops_products_in_the_format_of_the_contract() {
    let server = model([
        Reply::call("product_search", json!({"query": "jacket", "pageSize": 20})),
        Reply::text(["Here."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    let answer = gateway.say("s", "jackets").await;
    let cards = answer["cards"].as_array().unwrap();
    assert_eq!(cards.len(), 6);
    let rank = |card: &Value| {
        ["in_stock", "unknown", "out_of_stock", "inactive"]
            .iter()
            .position(|status| card["availability"]["status"] == *status)
            .unwrap()
    };
    assert!(cards.windows(2).all(|pair| rank(&pair[0]) <= rank(&pair[1])), "{cards:?}");
    for card in cards {
        assert!(
            card["productId"].is_string()
                && card["title"].is_string()
                && card["price"].is_string()
                && card["currency"].is_string(),
            "{card}"
        );
        assert!(card["imageUrl"].as_str().unwrap().starts_with('/'), "pictures stay relative");
        assert!(card["subtitle"].as_str().unwrap().chars().count() <= 100);
        assert!(
            card.as_object().unwrap().contains_key("variantName")
                && card["thumbnailImageKey"].is_string()
        );
        assert!(card["attributes"]["brand"].is_string());
    }
    assert!(
        answer.get("refinements").is_none()
            && answer.get("cart").is_none()
            && answer.get("comparison").is_none()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_15_and_22_22_looked_up_products_are_the_cards_with_their_dimensions() {
    let server = model([
        Reply::call("product_search", json!({"query": "shoes"})),
        Reply::call("product_get", json!({"partNo": "FJS-TR1001"})),
        Reply::text(["This one."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    let answer = gateway.say("s", "tell me about it").await;
    let cards = answer["cards"].as_array().unwrap();
    assert_eq!(cards.len(), 1, "also when it was looked up by its part number: {answer}");
    assert!(
        cards[0]["dimensionHints"]
            .as_object()
            .is_some_and(|hints| hints.values().all(Value::is_array)),
        "{answer}"
    );
    assert!(cards[0]["availability"]["onHandValue"].is_number());
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_13_and_23_a_comparison_contains_a_table_and_rows_for_the_widget() {
    let look = |id: u64| json!({"productId": id.to_string()});
    let both = Reply::new().ask("product_get", &look(1001)).ask("product_get", &look(1002));
    let server = model([both, Reply::text(["The first."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let answer = gateway.say("s", "compare 1 and 2").await;
    let comparison = &answer["comparison"];
    let ids =
        comparison["productIds"].as_array().unwrap_or_else(|| panic!("a comparison: {answer}"));
    assert_eq!((ids.len(), comparison["items"].as_array().unwrap().len()), (2, 2));
    let (headers, rows) = (
        comparison["table"]["headers"].as_array().unwrap(),
        comparison["table"]["rows"].as_array().unwrap(),
    );
    assert_eq!((headers[0].as_str(), headers.len()), (Some("Feature"), 3));
    assert!((1..=8).contains(&rows.len()) && rows[0]["feature"] == "price", "{rows:?}");
    assert!(rows.iter().all(|row| row["values"].as_array().unwrap().len() == 2));
    for row in comparison["rows"].as_array().unwrap() {
        assert!(
            row["key"].is_string()
                && ids.iter().all(|id| row["values"][id.as_str().unwrap()].is_string()),
            "{row}"
        );
    }
    assert_eq!(server.seen().len(), 2, "no further model call for highlights");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_3_and_13_compared_items_contain_the_known_values_of_each_product() {
    let front = Front::start().await;
    let one = json!({
        "productId": 7, "name": "Dome", "manufacturerName": "Fell", "priceIncVat": 899.5, "currency": "SEK", "url": "/tents/dome",
        "attributes": {"Weight": 3, "Waterproof": true, "category": "Tents", "isBuyable": true}
    });
    let two = json!({"productId": "8", "name": "Ridge", "brand": "Moor", "price": {"value": "1 299,00", "currency": "EUR"}});
    let three = json!({"productId": "9", "name": "Bivouac"});
    front.breaks("product.get", [one, two, three].map(Break::Result));
    // The products are looked up one after the other, because the front answers in the order of
    // requests.
    let look = |id: &str| Reply::call("product_get", json!({"productId": id}));
    let server = model([look("7"), look("8"), look("9"), Reply::text(["Compared."])]).await;
    let gateway = open(&front, &server, &[]).await;
    let answer = gateway.say("s", "which one?").await;
    assert_eq!(
        answer["comparison"]["items"],
        json!([
            {
                "productId": "7", "name": "Dome", "brand": "Fell", "price": {"amount": 899.5, "currency": "SEK", "formatted": "899.5 SEK"},
                "attributes": {"Weight": 3, "Waterproof": true, "category": "Tents"}, "url": "/tents/dome"
            },
            {"productId": "8", "name": "Ridge", "brand": "Moor", "price": {"currency": "EUR", "formatted": "1 299,00 EUR"}, "attributes": {}},
            {"productId": "9", "name": "Bivouac", "attributes": {}}
        ]),
        "and what is not known is absent: {answer}"
    );
    assert_eq!(answer["comparison"]["productIds"], json!(["7", "8", "9"]));
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_3_and_14_suggestions_after_an_empty_search_depend_on_the_query() {
    let retry = |query: &str| json!({"id": "retry_original", "payload": {"type": "search_retry", "query": query}});
    let remove = |words: &[&str]| json!({"id": "remove_constraints", "payload": {"type": "remove_constraints", "constraintsToRemove": words}});
    let clarify = || json!({"id": "ask_clarify", "payload": {"type": "ask_clarify"}});
    for (query, wanted) in [
        ("xylophone", vec![clarify()]),
        ("quantum xylophone", vec![clarify()]),
        ("red xylophone", vec![retry("red xylophone"), remove(&["red"])]),
        ("big quantum xylophone stand", vec![retry("big quantum xylophone stand"), clarify()]),
        (
            "blue quantum xylophone under 500",
            vec![
                retry("blue quantum xylophone under 500"),
                remove(&["blue", "under", "500"]),
                clarify(),
            ],
        ),
    ] {
        let server = model([
            Reply::call("product_search", json!({"query": query})),
            Reply::text(["Nothing."]),
        ])
        .await;
        let gateway = Gateway::with(&server, &[]).await;
        let answer = gateway.say("s", "look").await;
        let mut offered =
            answer["refinements"].as_array().unwrap_or_else(|| panic!("{query}: {answer}")).clone();
        for one in &mut offered {
            let label = one.as_object_mut().unwrap().remove("label").unwrap();
            assert!(label.as_str().is_some_and(|label| !label.is_empty()), "{query}: {answer}");
            let payload = one["payload"].as_object_mut().unwrap();
            if payload["type"] == "ask_clarify" {
                // The wording is not fixed, so only parts are compared.
                assert!(
                    payload.remove("question").unwrap().is_string()
                        && payload.remove("questionId").unwrap().is_string()
                );
            }
        }
        assert_eq!(offered, wanted, "{query}");
        server.assert_clean();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_14_and_22_21_only_a_search_without_hits_has_suggestions() {
    let empty = || {
        Reply::call(
            "product_search",
            json!({"query": "blue xylophone quantum", "filters": {"maxPrice": 5}}),
        )
    };
    let server = model([
        empty(),
        Reply::text(["Nothing."]),
        empty(),
        Reply::call("product_search", json!({"query": "tent"})),
        Reply::text(["A tent."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    let answer = gateway.say("s", "a quantum xylophone under 5").await;
    let refinements =
        answer["refinements"].as_array().unwrap_or_else(|| panic!("refinements: {answer}"));
    let types: Vec<&str> = refinements
        .iter()
        .map(|refinement| refinement["payload"]["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["search_retry", "remove_constraints", "ask_clarify"]);
    assert!(
        refinements
            .iter()
            .all(|refinement| refinement["id"].is_string() && refinement["label"].is_string())
    );
    assert!(answer.get("cards").is_none());
    let answer = gateway.say("s", "then a tent").await;
    assert!(answer.get("refinements").is_none() && answer["cards"].is_array(), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_16_22_12_and_22_14_the_callers_context_is_used_and_the_models_only_traced() {
    let offered = json!({"query": "tent", "context": {"cultureCode": "de-DE", "currencyCode": "EUR", "customerId": 9}, "color": "red"});
    let server = model([Reply::call("product_search", offered), Reply::text(["Here."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let mut body = message_of("s", "tents");
    body["context"]["customerId"] = json!(4_711_990);
    body["context"]["cultureCode"] = json!("sv-SE");
    let (_, answer) = gateway.post("/v1/chat?debug=1", &body).await;
    let trace = &answer["debug"]["toolTrace"][0];
    assert_eq!(trace["args"], json!({"query": "tent"}), "what is not the model's is dropped");
    assert_eq!(
        (trace["modelContextIgnored"].as_bool(), &trace["modelProvidedContextPreview"]),
        (Some(true), &json!({"cultureCode": "de-DE", "currencyCode": "EUR"}))
    );
    assert_eq!(trace["effectiveContext"], json!({"cultureCode": "sv-SE", "currencyCode": "SEK"}));
    assert!(answer["cards"].is_array());
    // Neither the model nor the debug data gets the customer or the address.
    let told = format!("{}{answer}", json!(server.requests()));
    assert!(!told.contains("4711990") && !told.contains("127.0.0.1\""), "{told}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_offline_model_supports_shopping_from_search_to_cart() {
    let gateway = Gateway::open().await;
    let found = gateway.say("s", "find trail shoes").await;
    assert!(
        found["cards"].is_array() && found["text"].as_str().unwrap().contains("trail"),
        "{found}"
    );
    let mut answer = gateway.say("s", "add one of the black trail shoes in 42 to my cart").await;
    for _ in 0..3 {
        if answer.get("choices").is_none() {
            break;
        }
        answer = gateway.say("s", "option 1").await;
    }
    assert_eq!(answer["pendingAction"]["tool"], "cart_add_item", "{answer}");
    let done = gateway.say("s", "yes").await;
    assert_eq!(done["cart"]["itemCount"], 1, "{done}");
    let cart = gateway.say("s", "what is in my cart?").await;
    assert_eq!(cart["cart"]["itemCount"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_3_and_12_the_offline_model_offers_variants_with_their_details() {
    for (culture, message) in
        [("en-GB", "add 2 FJS-TR1001 to my cart"), ("sv-SE", "lägg 2 FJS-TR1001 i varukorgen")]
    {
        let gateway = Gateway::open().await;
        let mut body = message_of("s", message);
        body["context"]["cultureCode"] = json!(culture);
        let (_, asked) = gateway.post("/v1/chat", &body).await;
        let (choices, meta) = (&asked["choices"], &asked["choices"]["options"][1]["meta"]);
        assert_eq!(
            (choices["kind"].as_str(), meta["inStock"].as_bool()),
            (Some("variant"), Some(true)),
            "{asked}"
        );
        let text = asked["text"].as_str().unwrap();
        for (at, option) in choices["options"].as_array().unwrap().iter().enumerate() {
            let sizes = option["meta"]["dimsMap"]
                .as_object()
                .unwrap()
                .values()
                .map(|value| value.as_str().unwrap())
                .collect::<Vec<_>>();
            let line = text
                .lines()
                .find(|line| line.starts_with(&format!("{}. ", at + 1)))
                .unwrap_or_else(|| panic!("a line of the option: {asked}"));
            assert!(sizes.iter().all(|size| line.contains(size)), "{option} is {line}");
        }
        body["message"] = json!("2");
        let (_, chosen) = gateway.post("/v1/chat", &body).await;
        let description = chosen["pendingAction"]["description"]
            .as_str()
            .unwrap_or_else(|| panic!("a proposal: {chosen}"));
        assert!(
            description.contains(meta["partNo"].as_str().unwrap()) && description.contains("2 ×"),
            "as many as were asked for: {description}"
        );
    }
}
