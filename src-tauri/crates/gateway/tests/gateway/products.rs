//! Tests of how an answer shows products in the formats of different shops: cards from every form
//! of a result, looked-up products, and their comparison.

use kit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};

use crate::front::{Break, Front};
use crate::memory::hints;
use crate::remote_shop::{open, search};
use crate::world::{Gateway, model};

/// Returns the cards for search results, each from a separate conversation.
async fn cards_of(results: &[Value]) -> Vec<Vec<Value>> {
    let front = Front::start().await;
    front.breaks("product.search", results.iter().cloned().map(Break::Result));
    let server = model(results.iter().flat_map(|_| [search(), Reply::text(["Here."])])).await;
    let gateway = open(&front, &server, &[]).await;
    let mut all = Vec::new();
    for at in 0..results.len() {
        let answer = gateway.say(&at.to_string(), "tents").await;
        all.push(answer["cards"].as_array().unwrap_or_else(|| panic!("cards: {answer}")).clone());
    }
    front.assert_broken();
    server.assert_clean();
    all
}

/// Searches for items with an id and a name. Returns one member of each item's card.
async fn each<const N: usize>(items: [Value; N], member: &str) -> Vec<Option<Value>> {
    let numbered: Vec<Value> = items
        .iter()
        .enumerate()
        .map(|(at, item)| merge(json!({"productId": at, "name": "Boot"}), item))
        .collect();
    let groups: Vec<Value> = numbered.chunks(6).map(|items| json!({"items": items})).collect();
    let cards: Vec<Value> = cards_of(&groups).await.concat();
    (0..N)
        .map(|at| {
            cards
                .iter()
                .find(|card| card["productId"].as_str() == Some(&at.to_string()))
                .unwrap()
                .get(member)
                .cloned()
        })
        .collect()
}

fn merge(mut item: Value, more: &Value) -> Value {
    item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    item
}

/// Runs a turn in which the model reads products one after the other, and the shop returns
/// `products`.
async fn show_product(
    gateway: &Gateway,
    front: &Front,
    server: &ModelServer,
    session: &str,
    products: &[(u32, Value)],
) -> Value {
    for (asked, product) in products {
        front.breaks("product.get", [Break::Result(product.clone())]);
        server.push(Reply::call("product_get", json!({"productId": asked})));
    }
    server.push(Reply::text(["Those."]));
    gateway.say(session, "tell me about them").await
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_15_a_card_uses_the_first_present_id_and_title_member() {
    let named = ["productId", "id", "partNo", "productNumber", "sku", "code"];
    let titles = ["name", "title", "productName", "displayName"];
    let only = |at: usize| json!({named[at]: format!("by {}", named[at]), titles[at % 4]: format!(" {} ", titles[at % 4])});
    let from = |at: usize| {
        (at..6).fold(json!({}), |item, at| {
            merge(item, &json!({named[at]: format!("from {}", named[at])}))
        })
    };
    let titled = |at: usize| {
        (at..4).fold(json!({"id": at}), |item, at| merge(item, &json!({titles[at]: titles[at]})))
    };
    let all = [
        json!({"items": (0..6).map(only).collect::<Vec<_>>()}),
        json!({"items": (0..6).map(|at| merge(from(at), &json!({"name": "x"}))).collect::<Vec<_>>()}),
        json!({"items": (0..4).map(titled).chain([json!({"id": " ", "sku": 47.0, "name": "", "title": "Boot"})]).collect::<Vec<_>>()}),
        json!({"items": [{"name": "no id"}, {"id": 1}, {"id": 2, "name": " "}, {"id": 3, "name": "Boot"}]}),
    ];
    let cards = cards_of(&all).await;
    let of = |group: usize, member: &str| {
        cards[group]
            .iter()
            .map(|card| card[member].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(of(0, "productId"), named.map(|name| format!("by {name}")));
    assert_eq!(
        of(0, "title"),
        (0..6).map(|at| titles[at % 4]).collect::<Vec<_>>(),
        "without the space around them"
    );
    assert_eq!(
        of(1, "productId"),
        named.map(|name| format!("from {name}")),
        "the first that is there"
    );
    assert_eq!(
        (of(2, "title"), &of(2, "productId")[4]),
        (
            vec!["name", "title", "productName", "displayName", "Boot"]
                .into_iter()
                .map(str::to_owned)
                .collect(),
            &"47".to_owned()
        )
    );
    assert_eq!(of(3, "productId"), ["3"], "what has no id or no title is no card");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_15_prices_and_currencies_are_shown_as_the_shop_wrote_them() {
    let forms = [
        (json!({"price": 1499}), json!("1499"), None),
        (json!({"price": 1499.0}), json!("1499"), None),
        (json!({"price": 1_234_567.5, "currencyCode": "SEK"}), json!("1234567.5"), Some("SEK")),
        (json!({"price": "1 499,00 kr", "currency": "NOK"}), json!("1 499,00 kr"), Some("NOK")),
        (
            json!({"price": {"value": 5, "amount": 6, "currency": "EUR", "currencyCode": "XXX"}, "currency": "SEK"}),
            json!("5"),
            Some("EUR"),
        ),
        (
            json!({"price": {"amount": "9.90", "price": 1, "currencyCode": "DKK"}}),
            json!("9.90"),
            Some("DKK"),
        ),
        (
            json!({"price": {"price": 3, "sellingPrice": 4, "currencySymbol": "kr"}}),
            json!("3"),
            Some("kr"),
        ),
        (
            json!({"price": {"sellingPrice": 7, "listPrice": 8}, "currencyCode": "GBP"}),
            json!("7"),
            Some("GBP"),
        ),
        (json!({"price": {"listPrice": 8.25}}), json!("8.25"), None),
        (json!({"price": {"net": 8}}), Value::Null, None),
        (json!({}), Value::Null, None),
    ];
    let items = forms.clone().map(|(item, ..)| item);
    let (prices, currencies) = tokio::join!(each(items.clone(), "price"), each(items, "currency"));
    for (((form, price, currency), shown), of) in forms.iter().zip(prices).zip(currencies) {
        assert_eq!(
            (shown.unwrap_or_default(), of),
            (price.clone(), currency.map(Value::from)),
            "{form}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_15_the_first_picture_is_used_with_its_address_unchanged() {
    let forms = [
        (json!({"imageUrl": "/img/1 a.jpg?w=3", "image": "/no.jpg"}), Some("/img/1 a.jpg?w=3")),
        (json!({"image": "2.jpg", "primaryImage": "/no.jpg"}), Some("2.jpg")),
        (
            json!({"primaryImage": "https://cdn.example.com/3.jpg", "thumbnailUrl": "/no.jpg"}),
            Some("https://cdn.example.com/3.jpg"),
        ),
        (
            json!({"thumbnailUrl": "//cdn.example.com/4.jpg", "thumbnail": "/no.jpg"}),
            Some("//cdn.example.com/4.jpg"),
        ),
        (json!({"thumbnail": "/5.jpg", "images": ["/no.jpg"]}), Some("/5.jpg")),
        (json!({"images": ["/6.jpg", "/no.jpg"]}), Some("/6.jpg")),
        (
            json!({"images": [{"type": "main", "url": "/7.jpg", "src": "/no.jpg"}, {"url": "/no.jpg"}]}),
            Some("/7.jpg"),
        ),
        (json!({"images": [{"src": "/8.jpg", "imageUrl": "/no.jpg"}]}), Some("/8.jpg")),
        (json!({"images": [{"imageUrl": "/9.jpg"}]}), Some("/9.jpg")),
        (json!({"images": []}), None),
        (json!({}), None),
    ];
    let shown = each(forms.clone().map(|(item, _)| item), "imageUrl").await;
    for ((form, url), shown) in forms.iter().zip(shown) {
        assert_eq!(shown, url.map(Value::from), "{form}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_15_variant_names_thumbnails_and_attributes_are_texts_or_left_out() {
    let forms =
        [json!("Red 42"), json!(12), json!(null), json!(true), json!({"key": 1}), json!([1])];
    let items = |member: &str| forms.clone().map(|form| json!({member: form}));
    let keys = each(items("thumbnailImageKey"), "thumbnailImageKey").await;
    let null = Some(Value::Null);
    assert_eq!(
        keys,
        [
            Some(json!("Red 42")),
            Some(json!("12")),
            null.clone(),
            null.clone(),
            null.clone(),
            null.clone()
        ]
    );
    let names = each(items("variantName"), "variantName").await;
    assert_eq!(
        names,
        [Some(json!("Red 42")), null.clone(), null.clone(), null.clone(), null.clone(), null]
    );
    let missing = each([json!({})], "thumbnailImageKey").await;
    assert_eq!(
        (missing, each([json!({})], "variantName").await),
        (vec![None], vec![None]),
        "missing stays missing"
    );
    let top = json!({"color": "red", "size": 42, "material": null, "brand": "Own"});
    let inner = json!({"color": "blue", "size": "42", "material": "wool", "category": "Boots", "manufacturer": "Maker", "weight": "1 kg", "isBuyable": true});
    let shown = each(
        [
            merge(top, &json!({"attributes": inner})),
            json!({"attributes": {"size": 42, "brand": ["a"]}}),
        ],
        "attributes",
    )
    .await;
    let wanted = json!({"color": "red", "size": "42", "material": "wool", "brand": "Own", "category": "Boots", "manufacturer": "Maker"});
    assert_eq!(shown, [Some(wanted), None], "top level first, and six of them");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_15_at_most_six_cards_are_shown_ordered_by_availability() {
    let item = |id: &str, stock: Value| json!({"productId": id, "name": "Boot", "onHand": stock});
    let items = json!([
        item("gone", json!({"value": "7", "isActive": false})),
        item("none", json!({"value": "0", "incomingValue": "5", "leadtimeDayCount": "7", "nextDeliveryDate": "2027-01-01", "isActive": true})),
        item("unknown", Value::Null),
        item("one", json!({"value": 1})),
        item("empty", json!({"value": -1})),
        item("many", json!({"value": "20", "nextDeliveryDate": null})),
        {"productId": "silent", "name": "Boot"},
        item("some", json!({"value": 2.5})),
    ]);
    let cards = cards_of(&[items]).await.concat();
    let ids: Vec<&str> = cards.iter().map(|card| card["productId"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        ["one", "many", "some", "unknown", "silent", "none"],
        "as the shop had them within a status"
    );
    assert_eq!(
        cards[1]["availability"],
        json!({"status": "in_stock", "onHandValue": 20, "nextDeliveryDate": null})
    );
    assert_eq!(
        (&cards[2]["availability"]["onHandValue"], &cards[3]["availability"]),
        (&json!(2.5), &json!({"status": "unknown"}))
    );
    assert_eq!(
        cards[5]["availability"],
        json!({"status": "out_of_stock", "onHandValue": 0, "incomingValue": 5, "leadtimeDayCount": 7, "nextDeliveryDate": "2027-01-01"})
    );
    let inactive =
        each([json!({"onHand": {"value": "7", "isActive": false}})], "availability").await;
    assert_eq!(inactive, [Some(json!({"status": "inactive", "onHandValue": 7}))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_15_looked_up_products_are_ordered_by_availability() {
    let front = Front::start().await;
    let server = model([]).await;
    let gateway = open(&front, &server, &[]).await;
    let product = |id: u32, stock: Value| {
        (id, json!({"productId": id, "name": "Boot", "price": "5", "onHand": stock}))
    };
    let several = [
        product(1, json!({"value": 0})),
        product(2, json!({"value": 2})),
        product(3, Value::Null),
        product(4, json!({"value": "10"})),
        product(5, json!({"value": 9})),
    ];
    let shown = show_product(&gateway, &front, &server, "several", &several).await;
    let ids: Vec<&str> = shown["cards"]
        .as_array()
        .unwrap()
        .iter()
        .map(|card| card["productId"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["4", "5", "2", "3", "1"], "more comes first within a status, and as numbers");

    let variant = |id: u32, stock: Value| json!({"productId": id, "partNo": format!("V-{id}"), "isBuyable": true, "onHand": stock});
    let mut variants = vec![
        variant(21, json!({"value": 0})),
        variant(22, json!({"value": "4"})),
        json!({"productId": 23, "isBuyable": true}),
    ];
    for n in 0..30 {
        let values = json!([{"name": "Volt", "value": n}, {"name": "Colour", "value": if n % 2 == 0 { "Red" } else { "Blue" }}]);
        variants.push(json!({"productId": 100 + n, "isBuyable": false, "parametrics": values}));
    }
    let parent =
        json!({"productId": 2, "name": "Boot", "onHand": {"value": 9}, "variants": variants});
    for (asked, availability) in [
        (2, json!({"status": "in_stock", "onHandValue": 9})),
        (21, json!({"status": "out_of_stock", "onHandValue": 0})),
        (22, json!({"status": "in_stock", "onHandValue": 4})),
        (23, json!({"status": "unknown"})),
    ] {
        let shown =
            show_product(&gateway, &front, &server, &asked.to_string(), &[(asked, parent.clone())])
                .await;
        assert_eq!(shown["cards"][0]["availability"], availability, "{asked}: {shown}");
        let hints = &shown["cards"][0]["dimensionHints"];
        let volts: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        assert_eq!(
            (&hints["Volt"], &hints["Colour"]),
            (&json!(volts), &json!(["Red", "Blue"])),
            "twenty of each, each once"
        );
    }
    front.assert_broken();
    server.assert_clean();
}

/// Returns products with attributes, each with its own id, starting at 1.
fn described<const N: usize>(attributes: [Value; N]) -> Vec<(u32, Value)> {
    let name = |id: u32| format!("Tent {id} with a name of more than thirty letters");
    (1_u32..)
        .zip(attributes)
        .map(|(id, more)| (id, merge(json!({"productId": id, "name": name(id)}), &more)))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_13_and_23_comparison_features_have_a_fixed_order_also_in_the_widget() {
    let front = Front::start().await;
    let server = model([]).await;
    let gateway = open(&front, &server, &[]).await;
    let whole = json!({
        "zip": "long", "availability": "now", "warranty": "2 y", "model": "M", "manufacturer": "Acme", "category": "Tents", "Dimensions": "1x2", "WEIGHT": 3,
        "size": "L", "color": "red", "material": true, "apple": 1
    });
    let one = json!({"price": 499.5, "currency": "SEK", "brand": "North", "attributes": whole});
    let two = json!({"price": {"value": "500", "currency": "EUR"}, "attributes": {"material": false, "category": "Tents"}});
    let shown = show_product(&gateway, &front, &server, "first", &described([one, two])).await;
    let comparison = &shown["comparison"];
    let features =
        ["price", "brand", "material", "color", "size", "WEIGHT", "Dimensions", "category"];
    let values = [
        ["499.5 SEK", "500 EUR"],
        ["North", "-"],
        ["Yes", "No"],
        ["red", "-"],
        ["L", "-"],
        ["3", "-"],
        ["1x2", "-"],
        ["Tents", "Tents"],
    ];
    let table: Vec<Value> = features
        .iter()
        .zip(values)
        .map(|(feature, values)| json!({"feature": feature, "values": values}))
        .collect();
    assert_eq!(
        comparison["table"],
        json!({"headers": ["Feature", "Tent 1 with a name of more tha", "Tent 2 with a name of more tha"], "rows": table})
    );
    let rows: Vec<Value> = features
        .iter()
        .zip(values)
        .map(
            |(feature, values)| json!({"key": feature, "values": {"1": values[0], "2": values[1]}}),
        )
        .collect();
    assert_eq!(
        (&comparison["productIds"], &comparison["rows"]),
        (&json!(["1", "2"]), &json!(rows))
    );

    // These columns do not fit into the first table.
    let rest = json!({
        "zip": "long", "stock": "some", "apple": 1, "availability": "now", "warranty": "2 y", "model": "M", "manufacturer": "Acme", "category": "Tents", "zoo": 0
    });
    let shown = show_product(
        &gateway,
        &front,
        &server,
        "second",
        &described([json!({"attributes": rest}), json!({})]),
    )
    .await;
    let rows = shown["comparison"]["rows"].as_array().unwrap();
    let features: Vec<&str> = rows.iter().map(|row| row["key"].as_str().unwrap()).collect();
    assert_eq!(
        features,
        ["category", "manufacturer", "model", "warranty", "availability", "apple", "stock", "zip"],
        "by name behind the known ones, eight in all"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_13_a_comparison_is_titled_by_the_shared_category_or_the_product_count() {
    let front = Front::start().await;
    let server = model([]).await;
    let gateway = open(&front, &server, &[]).await;
    let tents = || json!({"category": "Tents"});
    for (session, products, title) in [
        (
            "shared",
            vec![tents(), json!({"attributes": {"Category": "Tents"}}), tents()],
            "Tents Comparison",
        ),
        ("other", vec![tents(), tents(), json!({"category": "Mats"})], "Comparison (3)"),
        ("first-without", vec![json!({}), tents()], "Comparison (2)"),
        (
            "last-without",
            vec![tents(), json!({"attributes": {"weight": "1 kg"}})],
            "Comparison (2)",
        ),
        ("none", vec![json!({}), json!({})], "Comparison (2)"),
    ] {
        let products: Vec<(u32, Value)> = (1_u32..)
            .zip(products)
            .map(|(id, more)| {
                (id, merge(json!({"productId": id, "name": format!("Tent {id}")}), &more))
            })
            .collect();
        let shown = show_product(&gateway, &front, &server, session, &products).await;
        assert_eq!(shown["comparison"]["title"], title, "{session}: {shown}");
    }
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_13_these_means_at_most_three_looked_up_products() {
    let front = Front::start().await;
    let server = model([]).await;
    let gateway = open(&front, &server, &[]).await;
    let four = || described([json!({}), json!({}), json!({}), json!({})]);
    let shown = show_product(&gateway, &front, &server, "s", &four()).await;
    assert_eq!(
        shown["comparison"]["productIds"],
        json!(["1", "2", "3"]),
        "the first three, when nobody said which"
    );
    for (message, ids) in
        [("which of these is better?", "2, 3, 4"), ("compare 4 and 2", "4, 2"), ("3 or 4?", "3, 4")]
    {
        server.push(Reply::text(["Well."]));
        gateway.say("s", message).await;
        let told = hints(&server, server.seen().len() - 1);
        let wanted =
            told.iter().filter(|hint| hint.contains("wants these compared")).collect::<Vec<_>>();
        assert!(
            wanted.len() == 1 && wanted[0].contains(&format!("productId {ids}.")),
            "{message}: {told:?}"
        );
    }
    for message in [
        "which one is better?",
        "these are nice",
        "what is the difference?",
        "2 of number 3, please",
    ] {
        server.push(Reply::text(["Well."]));
        gateway.say("s", message).await;
        let told = hints(&server, server.seen().len() - 1).concat();
        assert!(!told.contains("compared"), "{message}: {told}");
    }
    server.assert_clean();
}
