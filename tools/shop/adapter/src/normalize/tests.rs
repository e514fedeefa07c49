use super::*;

fn of(tool: &str, result: Value) -> Value {
    normalize_result(tool, result)
}

#[test]
fn ids_are_numbers_unless_a_reader_would_round_them() {
    let sent = |tool: &str, given: Value| normalize_arguments(tool, given);
    for (id, number) in [
        (json!("1001"), json!(1001)),
        (json!(" 7 "), json!(7)),
        (json!("9007199254740991"), json!(9_007_199_254_740_991_i64)),
    ] {
        assert_eq!(sent("product.get", json!({"productId": id})), json!({"productId": number}));
    }
    for id in [json!("9007199254740993"), json!(9_007_199_254_740_993_u64)] {
        assert_eq!(
            sent("cart.get", json!({"basketId": id})),
            json!({"basketId": "9007199254740993"}),
            "as text"
        );
    }
    assert_eq!(sent("product.get", json!({"productId": "A-1"})), json!({"productId": "A-1"}));
}

#[test]
fn products_are_found_under_each_known_name_of_their_list() {
    let item = json!({"sku": "A-1", "title": " Tent ", "price": {"amount": 499.5, "currencyCode": "SEK"}, "thumbnailImageKey": 7, "variantName": 3});
    let plain = json!({"productId": "A-1", "sku": "A-1", "name": "Tent", "title": " Tent ", "price": "499.5", "currency": "SEK", "thumbnailImageKey": "7", "variantName": null});
    for result in [
        json!([item]),
        json!({"products": [item]}),
        json!({"items": [item, {"name": "no id"}, {"id": 1}]}),
    ] {
        assert_eq!(of("product.search", result)["items"], json!([plain]));
    }
    assert_eq!(
        of("product.search", json!({"hits": 3})),
        json!({"hits": 3}),
        "no list is no result"
    );
    assert_eq!(
        super::normalize_result("product.other", json!([item])),
        json!([item]),
        "another tool's results stay as they are"
    );
}

#[test]
fn stock_values_become_numbers_and_a_missing_member_stays_missing() {
    let product = of(
        "product.get",
        json!({"productId": 4711, "name": "Tent", "onHand": {"value": "3", "leadtimeDayCount": "x"}, "variants": [{"productId": 1}]}),
    );
    assert_eq!(product["onHand"], json!({"value": 3}));
    let stock = |told: Value| {
        of("product.get", json!({"productId": 1, "name": "Tent", "onHand": told}))
            .get("onHand")
            .cloned()
    };
    assert_eq!(
        stock(json!({"isActive": true, "value": null})),
        None,
        "nobody said that there are none"
    );
    assert_eq!(stock(json!({"isActive": false})), Some(json!({"isActive": false, "value": 0})));
    assert_eq!(
        (
            &product["productId"],
            product.get("thumbnailImageKey"),
            &product["variants"][0]["isBuyable"]
        ),
        (&json!(4711), None, &json!(false))
    );
}

#[test]
fn optional_product_members_may_be_null() {
    let nothing = json!({"uniqueName": null, "eanCode": null, "uom": null, "uomCount": null, "images": null, "variants": null, "parametrics": null,
        "attributes": null, "onHand": null, "description": null, "partNo": null});
    let mut product = json!({"productId": 1, "name": "Tent", "price": 5});
    product
        .as_object_mut()
        .expect("an object")
        .extend(nothing.as_object().expect("an object").clone());
    assert_eq!(
        of("product.get", product),
        json!({"productId": 1, "name": "Tent", "price": "5", "priceIncVat": "5"})
    );
    let size =
        json!({"name": "Size", "value": 41, "code": null, "groupName": null, "isPrimary": null});
    let variant = json!({"productId": 2, "partNo": 77, "uniqueName": 5, "eanCode": 7350001, "uomCount": "2", "isBuyable": true,
        "variantParametrics": [size, {"name": "Colour", "value": null}, null]});
    let product = of("product.get", json!({"productId": 1, "name": "Boot", "variants": [variant]}));
    let told = json!({"productId": 2, "partNo": "77", "uniqueName": "5", "eanCode": "7350001", "uomCount": 2, "isBuyable": true,
        "variantParametrics": [{"name": "Size", "value": "41"}]});
    assert_eq!(product["variants"], json!([told]));
}

#[test]
fn numeric_ids_are_sent_to_the_shop_as_numbers() {
    let sent = |tool: &str, given: Value| normalize_arguments(tool, given);
    assert_eq!(sent("product.get", json!({"productId": "4711"})), json!({"productId": 4711}));
    assert_eq!(
        sent("product.get", json!({"productId": "A-1", "partNo": "12"})),
        json!({"productId": "A-1", "partNo": "12"})
    );
    assert_eq!(
        sent("cart.removeItem", json!({"productId": "4711", "basketId": "88"})),
        json!({"productId": "4711", "basketId": 88})
    );
    let signed = json!({"partNo": " A-1 ", "quantity": 1});
    assert_eq!(sent("cart.addItem", signed.clone()), signed, "what was signed is what is sent");
    assert_eq!(sent("product.get", json!({"productId": " 4711 "})), json!({"productId": 4711}));
}

#[test]
fn without_a_basket_the_cart_is_empty_and_no_request_is_sent() {
    let known = |tool: &str, arguments: Value| known(tool, &arguments);
    assert_eq!(known("cart.get", json!({})).unwrap().unwrap()["items"], json!([]));
    for change in ["cart.setItemQuantity", "cart.removeItem"] {
        let refused =
            known(change, json!({"productId": "A-1", "basketId": null})).unwrap().unwrap_err();
        assert_eq!(refused.message, "The cart is empty.");
        assert!(known(change, json!({"productId": "A-1", "basketId": 88})).is_none());
    }
    assert!(
        known("cart.get", json!({"basketId": 1})).is_none()
            && known("cart.addItem", json!({"partNo": "A-1"})).is_none()
    );
}

#[test]
fn carts_of_all_shops_get_one_format() {
    let lines =
        json!([{"productId": "A-1", "quantity": "2", "price": "1 299,00 kr", "lineTotal": 2598}]);
    let line = json!({"productId": "A-1", "partNo": "A-1", "name": "A-1", "lineNo": 1, "quantity": 2, "price": "1 299,00 kr", "unitPrice": "1 299,00 kr", "lineTotal": 2598, "totalPrice": "2598"});
    let cart = of(
        "cart.get",
        json!({"cart": {"basketId": "88", "cartItems": lines, "grandTotal": {"value": 2598}}}),
    );
    assert_eq!(
        (&cart["items"][0], &cart["basketId"], &cart["total"]),
        (&line, &json!(88), &json!("2598"))
    );
    for change in [
        json!({"basketId": 88.0, "basket": {"lineItems": lines}}),
        json!({"basketId": "88", "items": lines}),
        json!({"cart": {"basketId": 88, "items": lines}}),
    ] {
        let changed = of("cart.addItem", change);
        assert_eq!(
            (&changed["basketId"], &changed["basket"]["items"][0]["partNo"]),
            (&json!(88), &json!("A-1")),
            "{changed}"
        );
    }
    assert_eq!(of("cart.removeItem", json!("gone")), json!("gone"));
}

#[test]
fn cart_lines_without_a_currency_get_that_of_the_cart() {
    let lines = json!([{"partNo": "A-1", "quantity": 1, "price": "10"}, {"partNo": "A-2", "quantity": 1, "price": "9", "currencyCode": "EUR"}]);
    let got =
        of("cart.get", json!({"cart": {"basketId": 88, "currencyCode": "NOK", "items": lines}}));
    assert_eq!(
        (&got["currencyCode"], &got["items"][0]["currency"], &got["items"][1]["currency"]),
        (&json!("NOK"), &json!("NOK"), &json!("EUR"))
    );
    let changed = of(
        "cart.addItem",
        json!({"basketId": 88, "currencyCode": "NOK", "basket": {"lineItems": lines}}),
    );
    assert_eq!(
        (&changed["basket"]["currencyCode"], &changed["basket"]["items"][0]["currency"]),
        (&json!("NOK"), &json!("NOK"))
    );
}

#[test]
fn a_cart_without_a_subtotal_gets_the_sum_of_its_lines() {
    let subtotal = |lines: Value, of_cart: Value| {
        let mut cart = json!({"basketId": 88, "currencyCode": "SEK", "items": lines});
        for (name, value) in of_cart.as_object().into_iter().flatten() {
            cart[name] = value.clone();
        }
        of("cart.get", cart)["subtotal"].clone()
    };
    let line = |quantity: Value, price: &str| json!({"partNo": "A-1", "quantity": quantity, "unitPrice": price});
    let only_total = || json!({"total": "49.30"});
    for (lines, wanted) in [
        (json!([line(json!(2), "0.10"), line(json!(1), "0.20")]), json!("0.40")),
        (json!([line(json!("3"), "1 299,90 kr")]), json!("3899.70")),
        (
            json!([{"partNo": "A-1", "quantity": 2, "unitPrice": "10", "lineTotal": "19.80"}]),
            json!("19.80"),
        ),
        (
            json!([line(json!(2), "10"), {"name": "Discount", "quantity": 1, "price": "-5"}]),
            json!("15.00"),
        ),
        (json!([]), json!("0.00")),
        (json!([line(json!(2), "0.10"), {"partNo": "A-2", "quantity": 1}]), Value::Null),
        (json!([line(json!(2), "1.299")]), Value::Null),
        (json!([line(json!(2), "on request")]), Value::Null),
        (
            json!([line(json!(1), "5"), {"partNo": "A-2", "price": "5", "currency": "EUR"}]),
            Value::Null,
        ),
    ] {
        assert_eq!(subtotal(lines.clone(), only_total()), wanted, "{lines}");
    }
    let lines = || json!([line(json!(2), "10")]);
    assert_eq!(subtotal(lines(), json!({"grandTotal": {"value": 25}})), "20");
    assert_eq!(subtotal(lines(), json!({"total": "25", "subtotal": "19"})), "19", "the shop's own");
    assert_eq!(subtotal(lines(), json!({})), Value::Null, "the shop says no amount");
}

#[test]
fn a_null_member_does_not_replace_a_present_value() {
    let inner = json!({"basketId": null, "currency": null, "currencyCode": null, "total": null, "items": [{"partNo": "A-1", "quantity": null, "price": "10"}]});
    let outer =
        json!({"basketId": 88, "currencyCode": "NOK", "total": "10", "cart": inner.clone()});
    let got = of("cart.get", outer);
    assert_eq!(
        (&got["basketId"], &got["currencyCode"], &got["total"]),
        (&json!(88), &json!("NOK"), &json!("10"))
    );
    assert_eq!(
        (&got["items"][0]["currency"], &got["items"][0]["quantity"]),
        (&json!("NOK"), &json!(1))
    );
    for name in ["basket", "cart"] {
        let changed =
            of("cart.addItem", json!({"basketId": 88, "currencyCode": "NOK", name: inner.clone()}));
        assert_eq!(
            (&changed["basketId"], &changed["basket"]["currencyCode"]),
            (&json!(88), &json!("NOK")),
            "{changed}"
        );
        assert_eq!(changed["basket"]["items"][0]["currency"], "NOK", "{changed}");
    }
}
