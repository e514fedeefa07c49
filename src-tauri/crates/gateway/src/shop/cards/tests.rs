//! Tests with products and carts of shops that write their data in different ways.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use shop_adapter::{cart::Cart, product::Variant};

use super::*;
use crate::call::tests::done;

fn card(item: Value) -> Value {
    Card::from_item(&item).map_or(Value::Null, |card| json!(card))
}

fn read_cart(data: &Value) -> Option<Value> {
    Cart::read(data).map(|cart| json!(cart))
}

fn search(items: Value) -> Call {
    done("product_search", json!({"query": "x"}), json!({"items": items}))
}

fn get(id: &str, data: Value) -> Call {
    done("product_get", json!({"productId": id}), data)
}

fn ids(cards: &[Card]) -> Vec<&str> {
    cards.iter().map(|card| card.product_id.as_str()).collect()
}

#[test]
fn chat_api_15_a_card_needs_an_id_and_a_title_in_any_known_member() {
    for name in ["productId", "id", "partNo", "productNumber", "sku", "code"] {
        let mut item = json!({"name": " Boot "});
        item[name] = json!(4711);
        assert_eq!(
            (card(item.clone())["productId"].as_str(), card(item)["title"].as_str()),
            (Some("4711"), Some("Boot")),
            "{name}"
        );
    }
    for name in ["name", "title", "productName", "displayName"] {
        assert_eq!(card(json!({"productId": "a", name: "Boot"}))["title"], "Boot");
    }
    assert_eq!(
        card(json!({"productId": 1, "partNo": "A", "name": "x"}))["productId"],
        "1",
        "the first that is there"
    );
    assert_eq!(
        (card(json!({"name": "x"})), card(json!({"id": 1, "name": " "}))),
        (Value::Null, Value::Null)
    );
}

#[test]
fn chat_api_15_prices_are_shown_as_the_shop_wrote_them() {
    for (price, shown, currency) in [
        (json!(1499), "1499", None),
        (json!("1 499,00"), "1 499,00", None),
        (json!({"value": 12.5, "currency": "EUR"}), "12.5", Some("EUR")),
        (json!({"amount": "9", "currencyCode": "SEK"}), "9", Some("SEK")),
        (json!({"sellingPrice": 7, "currencySymbol": "$"}), "7", Some("$")),
        (json!({"listPrice": 8}), "8", None),
    ] {
        let card = card(json!({"id": 1, "name": "x", "price": price}));
        assert_eq!(
            (card["price"].as_str(), card["currency"].as_str()),
            (Some(shown), currency),
            "{price}"
        );
    }
    let own = card(json!({"id": 1, "name": "x", "price": "5", "currencyCode": "NOK"}));
    assert_eq!(own["currency"], "NOK");
}

#[test]
fn chat_api_15_pictures_attributes_and_variants_are_read_from_any_known_member() {
    for item in [
        json!({"image": "/a.jpg"}),
        json!({"thumbnail": "/a.jpg"}),
        json!({"images": ["/a.jpg"]}),
        json!({"images": [{"type": "main", "url": "/a.jpg"}]}),
        json!({"images": [{"src": "/a.jpg"}]}),
    ] {
        let mut item = item;
        (item["id"], item["name"]) = (json!(1), json!("x"));
        assert_eq!(card(item.clone())["imageUrl"], "/a.jpg", "{item}");
    }
    let whole = card(json!({
        "id": 1, "name": "x", "description": "d".repeat(200), "color": "Red", "variantName": 7, "thumbnailImageKey": 12,
        "attributes": {"color": "Blue", "material": "Wool", "weight": "1 kg", "size": 42}
    }));
    assert_eq!(
        whole["attributes"],
        json!({"color": "Red", "material": "Wool"}),
        "top level first, texts only"
    );
    assert_eq!(
        (
            whole["subtitle"].as_str().unwrap().len(),
            &whole["variantName"],
            whole["thumbnailImageKey"].as_str()
        ),
        (100, &Value::Null, Some("12"))
    );
    let bare = card(json!({"id": 1, "name": "x", "thumbnailImageKey": null}));
    assert!(
        bare.get("variantName").is_none()
            && bare["thumbnailImageKey"].is_null()
            && bare.get("thumbnailImageKey").is_some()
    );
}

#[test]
fn chat_api_15_availability_is_read_from_the_stock_on_hand() {
    for (on_hand, status) in [
        (Value::Null, "unknown"),
        (json!({"value": 3}), "in_stock"),
        (json!({"value": "3"}), "in_stock"),
        (json!({"value": 0}), "out_of_stock"),
        (json!({"value": 5, "isActive": false}), "inactive"),
    ] {
        assert_eq!(
            card(json!({"id": 1, "name": "x", "onHand": on_hand}))["availability"]["status"],
            status,
            "{on_hand}"
        );
    }
    let on_hand = json!({"value": "2", "incomingValue": 5, "nextDeliveryDate": null, "leadtimeDayCount": "3", "isActive": true});
    assert_eq!(
        card(json!({"id": 1, "name": "x", "onHand": on_hand}))["availability"],
        json!({"status": "in_stock", "onHandValue": 2, "incomingValue": 5, "nextDeliveryDate": null, "leadtimeDayCount": 3})
    );
}

#[test]
fn chat_api_15_at_most_six_cards_are_shown_with_available_products_first() {
    let item = |id: u32, on_hand: Value| json!({"id": id, "name": "x", "onHand": on_hand});
    let mut items = vec![
        item(1, json!({"value": 1, "isActive": false})),
        item(2, json!({"value": 0})),
        item(3, Value::Null),
    ];
    items.extend((4..9).map(|id| item(id, json!({"value": 1}))));
    assert_eq!(
        ids(&collect_turn_cards(&[search(json!(items))], &[])),
        ["4", "5", "6", "7", "8", "3"]
    );
}

#[test]
fn chat_api_10_and_15_after_product_lookups_only_the_looked_up_products_are_shown() {
    let found = search(
        json!([{"id": 1, "name": "One", "price": "5"}, {"id": 2, "name": "Two"}, {"id": 3, "name": "Three"}]),
    );
    let variants = json!([
        {"productId": 21, "variantParametrics": [{"name": "Size", "value": "38"}], "onHand": {"value": 0}},
        {"productId": 22, "parametrics": [{"name": "Size", "value": "39"}], "onHand": {"value": 4}},
        {"productId": 23, "parametrics": [{"name": "Size", "value": "39"}]}
    ]);
    let two = get(
        "2",
        json!({"productId": 2, "name": "Two", "onHand": {"value": 4}, "variants": variants}),
    );
    let cards = collect_turn_cards(&[found.clone(), two], &[]);
    assert_eq!(
        (ids(&cards), json!(cards[0].dimension_hints)),
        (vec!["2"], json!({"Size": ["38", "39"]}))
    );
    let variant = get(
        "21",
        json!({"productId": 2, "name": "Two", "onHand": {"value": 4}, "variants": variants}),
    );
    assert_eq!(
        collect_turn_cards(&[variant], &[])[0].availability.status.name(),
        "out_of_stock",
        "the variant that was asked for"
    );
    let failed = Call { outcome: Some(contract::ToolOutcome::Error), ..get("3", Value::Null) };
    assert_eq!(
        ids(&collect_turn_cards(&[found.clone(), failed.clone()], &[])),
        ["3"],
        "rebuilt from what the search found"
    );
    assert_eq!(
        ids(&collect_turn_cards(
            std::slice::from_ref(&failed),
            &[Card::from_item(&json!({"id": 3, "name": "Three"})).unwrap()]
        )),
        ["3"],
        "or an earlier one"
    );
    let unknown = Call { args: json!({"productId": "9"}), ..failed };
    assert_eq!(ids(&collect_turn_cards(&[found, unknown], &[])), ["1", "2", "3"]);
}

#[test]
fn chat_api_15_a_card_lists_at_most_20_values_of_a_dimension() {
    let variants: Vec<Value> = (0..30)
        .map(|n| json!({"parametrics": [{"name": "Voltage", "value": n.to_string()}]}))
        .collect();
    let cards = collect_turn_cards(
        &[get("1", json!({"productId": 1, "name": "x", "variants": variants}))],
        &[],
    );
    assert_eq!(cards[0].dimension_hints["Voltage"].as_array().unwrap().len(), 20);
}

#[test]
fn chat_api_12_dimensions_are_unique_by_code_and_the_primary_ones_come_first() {
    let variant = json!({
        "variantParametrics": [{"name": "Weight", "value": "1"}, {"name": "Size", "value": "38", "code": "s", "isPrimary": true}],
        "parametrics": [{"name": "Storlek", "value": "38", "code": "s"}, {"name": "Colour", "value": "Red"}, {"name": "", "value": "x"}]
    });
    let named: Vec<String> = Variant::read(&variant)
        .dimensions
        .into_iter()
        .map(|one| format!("{} {}", one.name, one.value))
        .collect();
    assert_eq!(named, ["Size 38", "Weight 1", "Colour Red"]);
}

#[test]
fn chat_api_3_and_21_a_cart_is_read_from_every_known_response_shape() {
    let line = json!({"partNo": "A-1", "name": "Boot", "quantity": 2, "unitPrice": "1.499,50 kr", "lineTotal": 5});
    let wanted = json!({
        "cartId": "88", "itemCount": 1, "items": [{"productId": "A-1", "name": "Boot", "quantity": 2, "price": {"formatted": "1.499,50 kr", "currency": "SEK"}}],
        "totals": {"subtotal": {"formatted": "20", "amount": 20.0, "currency": "SEK"}}
    });
    for data in [
        json!({"basketId": 88, "currencyCode": "SEK", "items": [line], "subtotal": 20}),
        json!({"basketId": 88, "basket": {"currencyCode": "SEK", "lineItems": [line], "subtotal": "20"}}),
        json!({"cart": {"basketId": "88", "currencyCode": "SEK", "cartItems": [line], "subtotal": {"value": 20}}}),
        json!({"basketId": 88, "currencyCode": "SEK", "cart": {"items": [line], "subtotal": "20"}}),
    ] {
        assert_eq!(read_cart(&data).unwrap(), wanted, "{data}");
    }
    let lines: Vec<Value> =
        (0..30).map(|n| json!({"partNo": n, "quantity": "1", "price": "2,50"})).collect();
    let many = read_cart(&json!({"items": lines, "grandTotal": 9})).unwrap();
    assert_eq!(
        (
            many["itemCount"].as_u64(),
            many["items"].as_array().unwrap().len(),
            many["items"][0]["price"]["amount"].as_f64()
        ),
        (Some(30), 20, Some(2.5))
    );
    assert_eq!((many["totals"]["total"]["amount"].as_f64(), many.get("cartId")), (Some(9.0), None));
    for discount in ["-50,00 kr", "\u{2212}50.00"] {
        let less =
            read_cart(&json!({"items": [{"partNo": "D", "name": "Discount", "price": discount}]}))
                .unwrap();
        assert_eq!(
            less["items"][0]["price"],
            json!({"formatted": discount, "amount": -50.0}),
            "a discount takes away"
        );
    }
}
