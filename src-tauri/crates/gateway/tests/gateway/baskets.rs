//! Tests of the carts of a remote shop: the request of each change, and the form of every kind of
//! cart in an answer.

use kit::model_server::Reply;
use reqwest::Method;
use serde_json::{Value, json};

use crate::front::{Break, Front};
use crate::remote_shop::open;
use crate::world::{Gateway, SHOE, message_of, model};

/// Another part that is in stock.
const OTHER: &str = "FJS-TR1001-BLK-43";

fn add(part: &str) -> Reply {
    Reply::call("cart_add_item", json!({"partNo": part, "quantity": 1}))
}

/// Sends a message and confirms it, through two proxies.
async fn say_and_confirm(gateway: &Gateway, message: &str) -> Value {
    let say = async |message: &str| {
        let request = gateway.request(Method::POST, "/v1/chat").json(&message_of("s", message));
        let request = request
            .header("x-real-ip", "198.51.100.2")
            .header("x-forwarded-for", "10.0.0.1, ::ffff:203.0.113.9 , 127.0.0.1 ");
        request.send().await.unwrap().json::<Value>().await.unwrap()
    };
    let asked = say(message).await;
    assert!(asked["pendingAction"].is_object(), "{asked}");
    say("yes").await
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_16_and_21_only_adding_to_the_cart_sends_the_clients_address() {
    let front = Front::start().await;
    let set = Reply::call(
        "cart_set_item_quantity",
        json!({"productId": SHOE, "quantity": "3", "basketId": 5, "clientIp": "192.0.2.1"}),
    );
    let remove = Reply::call("cart_remove_item", json!({"productId": OTHER, "quantity": 9}));
    let server = model([add(SHOE), add(OTHER), set, remove]).await;
    let gateway = open(&front, &server, &[]).await;
    let first = say_and_confirm(&gateway, "a shoe").await;
    let basket: u64 = first["cart"]["cartId"].as_str().unwrap().parse().unwrap();
    for message in ["the other", "three of them"] {
        say_and_confirm(&gateway, message).await;
    }
    let done = say_and_confirm(&gateway, "without the other").await;
    assert_eq!(
        (&done["cart"]["cartId"], &done["cart"]["items"][0]["quantity"]),
        (&json!(basket.to_string()), &json!(3)),
        "{done}"
    );
    let context = json!({"cultureCode": "en-GB", "currencyCode": "SEK"});
    let ip = "203.0.113.9";
    assert_eq!(
        front.sent("cart.addItem"),
        [
            json!({"partNo": SHOE, "quantity": 1, "clientIp": ip, "context": context}),
            json!({"partNo": OTHER, "quantity": 1, "clientIp": ip, "basketId": basket, "context": context})
        ]
    );
    assert_eq!(
        front.sent("cart.setItemQuantity"),
        [json!({"productId": SHOE, "quantity": 3, "basketId": basket, "context": context})]
    );
    assert_eq!(
        front.sent("cart.removeItem"),
        [json!({"productId": OTHER, "basketId": basket, "context": context})]
    );
    let carts = front.sent("cart.get");
    assert!(
        carts.len() >= 4
            && carts.iter().all(|sent| *sent == json!({"basketId": basket, "context": context})),
        "{carts:?}"
    );
    let with_ip: Vec<String> = front
        .requests()
        .into_iter()
        .filter(|one| one.text.contains(ip))
        .map(|one| one.what)
        .collect();
    assert_eq!(with_ip, ["cart.addItem", "cart.addItem"], "nobody else is told who asks");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_16_the_client_address_comes_from_a_proxy_header_or_the_connection() {
    for (headers, expected) in [
        (vec![("x-real-ip", "::ffff:203.0.113.7")], "203.0.113.7"),
        (vec![("x-forwarded-for", "203.0.113.9, 2001:db8::7")], "2001:db8::7"),
        (vec![("x-forwarded-for", ""), ("x-real-ip", "203.0.113.7")], "203.0.113.7"),
        (vec![("forwarded", "for=203.0.113.1")], "127.0.0.1"),
    ] {
        let front = Front::start().await;
        let server = model([add(SHOE)]).await;
        let gateway = open(&front, &server, &[]).await;
        for message in ["a shoe", "yes"] {
            let request = gateway.request(Method::POST, "/v1/chat").json(&message_of("s", message));
            let request = headers
                .iter()
                .fold(request, |request, (name, value)| request.header(*name, *value));
            assert!(request.send().await.unwrap().status().is_success());
        }
        assert_eq!(front.sent("cart.addItem")[0]["clientIp"], expected, "{headers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_21_numeric_ids_are_sent_as_numbers_only_where_the_shop_needs_them() {
    let front = Front::start().await;
    let asked = [
        json!({"productId": "4711"}),
        json!({"productId": 4712}),
        json!({"productId": "A-4711"}),
        json!({"partNo": "4711"}),
    ];
    front.breaks(
        "product.get",
        asked.iter().map(|_| Break::Result(json!({"productId": 1, "name": "Boot"}))),
    );
    let server = model(
        asked
            .clone()
            .map(|one| Reply::call("product_get", one))
            .into_iter()
            .chain([Reply::text(["Those."])]),
    )
    .await;
    let gateway = open(&front, &server, &[]).await;
    gateway.say("s", "show me").await;
    let sent: Vec<Value> = front
        .sent("product.get")
        .into_iter()
        .map(|mut sent| sent.as_object_mut().unwrap().remove("context").map(|_| sent).unwrap())
        .collect();
    assert_eq!(
        sent,
        [
            json!({"productId": 4711}),
            json!({"productId": 4712}),
            json!({"productId": "A-4711"}),
            json!({"partNo": "4711"})
        ]
    );

    // In a cart, a line's id is always a text and the basket's id a number, whatever the shop
    // writes.
    let cart = json!({"items": [{"partNo": "4711", "name": "Boot", "quantity": 1}]});
    for tool in ["cart.addItem", "cart.setItemQuantity", "cart.removeItem"] {
        front.breaks(tool, [Break::Result(json!({"basketId": "88", "basket": cart}))]);
        // The cart is read for the question, after the confirmation, and after the change.
        front.breaks("cart.get", (0..3).map(|_| Break::Result(cart.clone())));
    }
    let set = Reply::call("cart_set_item_quantity", json!({"productId": 4711, "quantity": 2}));
    for reply in [add(SHOE), set, Reply::call("cart_remove_item", json!({"productId": 4711}))] {
        server.push(reply);
    }
    for message in ["a boot", "two of them", "none"] {
        say_and_confirm(&gateway, message).await;
    }
    let context = json!({"cultureCode": "en-GB", "currencyCode": "SEK"});
    assert_eq!(
        front.sent("cart.setItemQuantity"),
        [json!({"productId": "4711", "quantity": 2, "basketId": 88, "context": context})]
    );
    assert_eq!(
        front.sent("cart.removeItem"),
        [json!({"productId": "4711", "basketId": 88, "context": context})]
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_21_a_cart_without_a_basket_is_empty_without_asking_the_shop() {
    let front = Front::start().await;
    let server = model([
        Reply::call("cart_get", json!({})),
        Reply::text(["Empty."]),
        Reply::text(["Still."]),
    ])
    .await;
    let gateway = open(&front, &server, &[]).await;
    for message in ["my cart?", "and now?"] {
        let answer = gateway.say("s", message).await;
        let cart = &answer["cart"];
        assert_eq!(
            (&cart["itemCount"], &cart["items"], cart.get("cartId")),
            (&json!(0), &json!([]), None),
            "{answer}"
        );
    }
    assert!(front.requests().is_empty(), "not even for a token: {:?}", front.requests());
    assert_eq!(crate::memory::result(&server, 1)["items"], json!([]), "the model is told");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_21_every_response_shape_of_a_cart_gives_the_same_cart() {
    let front = Front::start().await;
    let lines = json!([
        {"partNo": "A-1", "name": "Boot", "quantity": "2", "unitPrice": "1 234,50 kr", "price": 1, "totalPrice": "2 469,00 kr", "imageKey": null},
        {"productId": 4711, "title": "Sock", "quantity": 1, "price": {"value": 49.9}, "currencyCode": "EUR"},
        {"id": "fee", "name": "Fee", "price": "SEK 1.50"}
    ]);
    let forms = [
        json!({"basketId": 88, "currencyCode": "SEK", "items": lines, "subtotal": "2 520,40", "total": 2600}),
        json!({"basketId": "88", "currency": "SEK", "lineItems": lines, "subtotal": {"value": "2 520,40", "currency": "EUR"}, "total": 2600.0}),
        json!({"basketId": 88.0, "currencyCode": "SEK", "cartItems": lines, "subtotal": "2 520,40", "grandTotal": "2600"}),
        json!({"cart": {"basketId": 88, "currencyCode": "SEK", "items": lines, "subtotal": "2 520,40", "total": 2600}}),
        json!({"basketId": 88, "cart": {"currencyCode": "SEK", "cartItems": lines, "subtotal": "2 520,40", "grandTotal": 2600}}),
    ];
    let server = model([add(SHOE)]).await;
    let gateway = open(&front, &server, &[]).await;
    say_and_confirm(&gateway, "a shoe").await;
    let wanted = json!({
        "cartId": "88", "itemCount": 3,
        "items": [
            {"productId": "A-1", "name": "Boot", "quantity": 2, "price": {"amount": 1234.5, "formatted": "1 234,50 kr", "currency": "SEK"}},
            {"productId": "4711", "name": "Sock", "quantity": 1, "price": {"amount": 49.9, "formatted": "49.9", "currency": "EUR"}},
            {"productId": "fee", "name": "Fee", "quantity": 1, "price": {"amount": 1.5, "formatted": "SEK 1.50", "currency": "SEK"}}
        ],
        "totals": {
            "subtotal": {"amount": 2520.4, "formatted": "2 520,40", "currency": "SEK"},
            "total": {"amount": 2600.0, "formatted": "2600", "currency": "SEK"}
        }
    });
    for form in forms {
        front.breaks("cart.get", [Break::Result(form.clone())]);
        server.push(Reply::call("cart_get", json!({})));
        server.push(Reply::text(["There."]));
        let answer = gateway.say("s", "my cart?").await;
        assert_eq!(answer["cart"], wanted, "{form}");
    }
    let foreign = json!({"basketId": 88, "items": [{"partNo": "A", "name": "A", "quantity": 1, "price": "5"}], "subtotal": "gratis"});
    front.breaks("cart.get", [Break::Result(foreign)]);
    server.push(Reply::call("cart_get", json!({})));
    server.push(Reply::text(["There."]));
    let cart = gateway.say("s", "my cart?").await["cart"].clone();
    assert_eq!(
        cart["totals"]["subtotal"],
        json!({"formatted": "gratis"}),
        "no figure and no currency is made up: {cart}"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_21_a_long_cart_shows_its_first_lines_and_the_full_count() {
    let front = Front::start().await;
    let lines: Vec<Value> = (0..23)
        .map(|n| json!({"partNo": format!("P-{n}"), "name": "Peg", "quantity": 2}))
        .collect();
    front.breaks("cart.get", [Break::Result(json!({"basketId": 88, "items": lines}))]);
    let server = model([add(SHOE)]).await;
    let gateway = open(&front, &server, &[]).await;
    let cart = say_and_confirm(&gateway, "a shoe").await["cart"].clone();
    let shown: Vec<&str> = cart["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["productId"].as_str().unwrap())
        .collect();
    let wanted: Vec<String> = (0..20).map(|n| format!("P-{n}")).collect();
    assert_eq!(
        (shown, &cart["itemCount"]),
        (wanted.iter().map(String::as_str).collect(), &json!(23))
    );
}
