//! Tests of the requests that a search sends to the shop, of the single broader retry, and of what
//! the model is told about both searches and the found products.

use kit::model_server::Reply;
use serde_json::{Value, json};

use crate::front::{Break, Front};
use crate::memory::{hints, result};
use crate::remote_shop::{open, search};
use crate::world::{Gateway, message_of, model};

fn nothing() -> Break {
    Break::Result(json!({"items": [], "totalCount": 0}))
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_14_a_query_is_reduced_to_at_most_three_plain_words() {
    let searches = [
        ("  Warm   jackets ", "Warm jackets", json!(null)),
        (
            "tent for 3-4 persons, 10 kg, under 500 EUR",
            "tent persons",
            json!(["for", "3-4", "10", "kg", "under", "500", "EUR"]),
        ),
        (
            "men's black waterproof hiking boots leather size 42 in stock",
            "waterproof hiking boots",
            json!(["men's", "black", "size", "42", "in", "stock"]),
        ),
        ("the red one", "one", json!(["the", "red"])),
        ("XL red", "XL", json!(["red"])),
        (
            "mountaineering-overtrousers breathable-windproof ultralight",
            "mountaineering-overtrousers breathable-windproof",
            json!(null),
        ),
    ];
    let front = Front::start().await;
    let found = || Break::Result(json!([{"productId": 1, "name": "Boot"}]));
    front.breaks("product.search", searches.iter().map(|_| found()));
    let round = |queries: &[(&str, &str, Value)]| {
        queries.iter().fold(Reply::new(), |reply, (query, ..)| {
            reply.ask("product_search", &json!({"query": query}))
        })
    };
    let server =
        model([round(&searches[..3]), round(&searches[3..]), Reply::text(["Here."])]).await;
    let gateway = open(&front, &server, &[]).await;
    let (_, answer) = gateway.post("/v1/chat?debug=1", &message_of("s", "many things")).await;
    for (at, (query, effective, dropped)) in searches.iter().enumerate() {
        let told = &answer["debug"]["toolTrace"][at]["querySimplification"];
        assert_eq!(
            (&told["originalQuery"], &told["effectiveQuery"]),
            (&json!(query), &json!(effective)),
            "{answer}"
        );
        assert_eq!(
            told.get("droppedTokens"),
            Some(dropped).filter(|dropped| !dropped.is_null()),
            "{query}"
        );
        assert_eq!(told["fallbackRetryAttempted"], false);
    }
    let mut sent: Vec<String> = front
        .sent("product.search")
        .iter()
        .map(|sent| sent["query"].as_str().unwrap().to_owned())
        .collect();
    sent.sort();
    let mut wanted = searches.map(|(_, effective, _)| effective.to_owned());
    wanted.sort();
    assert_eq!(sent, wanted, "calls of a round run at the same time");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_14_a_broadened_search_keeps_filters_and_page_size_and_runs_once() {
    let front = Front::start().await;
    front.breaks("product.search", [nothing(), nothing()]);
    let asked = json!({"query": "blue trail unicorn saddle", "filters": {"maxPrice": 5, "brand": "Own"}, "pageSize": 7, "statusSeed": "own"});
    let server = model([Reply::call("product_search", asked), Reply::text(["Nothing."])]).await;
    let gateway = open(&front, &server, &[("NORCE_STATUS_SEED", "seed-1")]).await;
    let mut body = message_of("s", "a saddle");
    body["context"] = json!({"cultureCode": "sv-SE", "priceListIds": [7], "customerId": 4});
    let (_, answer) = gateway.post("/v1/chat?debug=1", &body).await;
    let with = |query: &str| json!({"query": query, "filters": {"maxPrice": 5, "brand": "Own"}, "pageSize": 7, "statusSeed": "seed-1", "context": {"cultureCode": "sv-SE", "priceListIds": [7], "customerId": 4}});
    assert_eq!(front.sent("product.search"), [with("trail unicorn saddle"), with("trail")]);
    let told = result(&server, 1);
    assert_eq!(
        told["querySimplification"],
        json!({
            "originalQuery": "blue trail unicorn saddle", "effectiveQuery": "trail unicorn saddle", "wasSimplified": true, "droppedTokens": ["blue"],
            "fallbackRetryAttempted": true, "broadenedQuery": "trail"
        })
    );
    assert_eq!(told["querySimplification"], answer["debug"]["toolTrace"][0]["querySimplification"]);
    assert!(told["emptySearchMessage"].as_str().is_some_and(|text| !text.is_empty()), "{told}");
    assert_eq!(
        (&told["refinements"], told["items"].as_array().map(Vec::len)),
        (&answer["refinements"], Some(0)),
        "the model knows what is offered"
    );
    assert_eq!(
        answer["refinements"][0]["payload"],
        json!({"type": "search_retry", "query": "blue trail unicorn saddle"})
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_14_only_a_search_of_several_words_without_hits_is_broadened() {
    let found = || Break::Result(json!({"items": [{"productId": 1, "name": "Trail boot"}]}));
    for (query, answers, asked, empty) in [
        ("red unicorn", vec![nothing()], vec!["unicorn"], true),
        ("trail unicorn", vec![nothing(), found()], vec!["trail unicorn", "trail"], false),
        ("trail boot", vec![found()], vec!["trail boot"], false),
    ] {
        let front = Front::start().await;
        front.breaks("product.search", answers);
        let server = model([
            Reply::call("product_search", json!({"query": query, "statusSeed": "own"})),
            Reply::text(["Well."]),
        ])
        .await;
        let gateway = open(&front, &server, &[]).await;
        let answer = gateway.say("s", "please").await;
        let sent = front.sent("product.search");
        assert_eq!(
            sent.iter().map(|sent| sent["query"].as_str().unwrap()).collect::<Vec<_>>(),
            asked
        );
        assert!(
            sent.iter().all(|sent| sent.get("statusSeed").is_none()),
            "a model's own goes nowhere: {sent:?}"
        );
        let told = result(&server, 1);
        assert_eq!(
            (
                told.get("emptySearchMessage").is_some(),
                answer["refinements"].is_array(),
                answer["cards"].is_array()
            ),
            (empty, empty, !empty),
            "{told}"
        );
        assert_eq!(told["querySimplification"]["fallbackRetryAttempted"], asked.len() > 1);
        front.assert_broken();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_16_the_model_reads_a_short_description_of_the_shown_products() {
    let front = Front::start().await;
    let values = |of: usize| {
        (0..7).map(move |n| json!({"name": format!("D{of}"), "value": format!("v{n}")}))
    };
    let variants: Vec<Value> = (0..6)
        .flat_map(values)
        .map(|one| json!({"productId": 9, "isBuyable": false, "parametrics": [one]}))
        .collect();
    let product = json!({
        "productId": 7, "partNo": "P-7", "name": format!("Boot {}", "ö".repeat(60)), "description": "d".repeat(200), "brand": "Own", "color": "red", "price": "1299.50",
        "currency": "SEK", "onHand": {"value": 3}, "url": "/boots/7", "variants": variants
    });
    front.breaks("product.get", [Break::Result(product)]);
    let found = json!([{"productId": 8, "name": "Sock"}, {"productId": "x", "name": "Shoe", "onHand": {"value": 1}, "price": 5}]);
    front.breaks("product.search", [Break::Result(found)]);
    let server = model([
        Reply::call("product_get", json!({"productId": 7})),
        Reply::text(["A boot."]),
        Reply::text(["Red."]),
    ])
    .await;
    let gateway = open(&front, &server, &[]).await;
    for message in ["the boot", "what now?"] {
        gateway.say("s", message).await;
    }
    let memory = |request: usize| {
        let told = hints(&server, request).remove(0);
        let (_, json) = told.split_once('\n').unwrap_or_else(|| panic!("a memory: {told}"));
        let value: Value = serde_json::from_str(json).unwrap();
        assert_eq!(json, value.to_string(), "compact");
        value
    };
    let five = json!(["v0", "v1", "v2", "v3", "v4"]);
    let boot = json!({
        "index": 1, "id": "7", "partNo": "P-7", "name": format!("Boot {}", "ö".repeat(45)), "brand": "Own", "color": "red", "price": "1299.5 SEK",
        "availability": "in_stock", "dimensions": {"D0": five, "D1": five, "D2": five, "D3": five}
    });
    assert_eq!(
        hints(&server, 0),
        Vec::<String>::new(),
        "there is nothing to tell before the first"
    );
    assert_eq!(memory(2), json!({"lastResults": [boot], "shortlist": ["7"]}));
    // A new result replaces the first result; products that were looked up stay.
    for reply in [search(), Reply::text(["Those."]), Reply::text(["Hm."])] {
        server.push(reply);
    }
    for message in ["tents", "and now?"] {
        gateway.say("s", message).await;
    }
    let shoe =
        json!({"index": 1, "id": "x", "name": "Shoe", "price": "5", "availability": "in_stock"});
    let sock = json!({"index": 2, "id": "8", "name": "Sock", "availability": "unknown"});
    assert_eq!(memory(5), json!({"lastResults": [shoe, sock], "shortlist": ["7"]}));
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_16_a_hint_is_given_only_for_a_message_that_refers_to_shown_products() {
    let front = Front::start().await;
    let found = json!([{"productId": 4711, "partNo": "SOCK-1", "name": "Sock"}, {"productId": "shoe-2", "name": "Shoe"}]);
    front.breaks("product.search", [Break::Result(found)]);
    let server = model([search(), Reply::text(["Those."])]).await;
    let gateway = open(&front, &server, &[]).await;
    gateway.say("s", "socks").await;
    for (message, named) in [
        ("Tell me more about option 2", Some(("shoe-2", 2))),
        ("I like the first one best", Some(("4711", 1))),
        ("is sock-1 warm?", Some(("4711", 1))),
        ("does 4711 come in wool?", Some(("4711", 1))),
        ("do you ship to Norway?", None),
        ("option 3", None),
        ("that is nice", None),
        ("14711", None),
    ] {
        server.push(Reply::text(["Well."]));
        gateway.say("s", message).await;
        let told = hints(&server, server.seen().len() - 1);
        assert_eq!(told.len(), 1 + usize::from(named.is_some()), "{message}: {told:?}");
        if let Some((id, index)) = named {
            assert!(
                told[1].contains(&format!("productId {id} (number {index} ")),
                "{message}: {told:?}"
            );
        }
    }
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_14_and_23_the_retry_label_searches_for_the_original_words() {
    let front = Front::start().await;
    // The shop is searched with simplified words, then with the first word only, and then with the
    // words as written.
    let there = Break::Result(json!([{"productId": 1, "name": "Sock"}]));
    front.breaks("product.search", [nothing(), nothing(), there]);
    let server = model([
        Reply::call("product_search", json!({"query": "red wool socks"})),
        Reply::text(["Nothing."]),
    ])
    .await;
    let gateway = open(&front, &server, &[]).await;
    let empty = gateway.say("s", "red wool socks").await;
    let label =
        empty["refinements"][0]["label"].as_str().unwrap_or_else(|| panic!("a way on: {empty}"));
    let found = gateway.say("s", label).await;
    let sent: Vec<Value> =
        front.sent("product.search").iter().map(|sent| sent["query"].clone()).collect();
    assert_eq!(sent, ["wool socks", "wool", "red wool socks"]);
    assert_eq!(
        (found["cards"][0]["title"].as_str(), found["text"].as_str()),
        (Some("Sock"), Some("This is what I found.")),
        "{found}"
    );
    assert_eq!(server.seen().len(), 2, "no model is asked");
    server.push(Reply::text(["Well."]));
    assert_eq!(gateway.say("s", label).await["text"], "Well.", "only the next message takes it");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_other_suggestion_labels_also_work_without_a_model_call() {
    let front = Front::start().await;
    let there = Break::Result(json!([{"productId": 1, "name": "Sock"}]));
    front.breaks("product.search", [nothing(), nothing(), nothing(), there]);
    let asked = json!({"query": "red wool socks", "filters": {"maxPrice": 5}});
    let server = model([Reply::call("product_search", asked), Reply::text(["Nothing."])]).await;
    let gateway = open(&front, &server, &[]).await;
    let empty = gateway.say("s", "red wool socks").await;
    let label = |kind: &str| {
        let offered = empty["refinements"].as_array().unwrap().iter();
        offered
            .filter(|one| one["payload"]["type"] == kind)
            .map(|one| one["label"].as_str().unwrap().to_owned())
            .next()
            .unwrap()
    };
    assert_eq!(label("remove_constraints"), "Search without: red, highest price");
    assert_eq!(
        gateway.say("s", &label("ask_clarify")).await["text"],
        "What kind of product are you looking for?"
    );
    gateway.say("s", &label("search_retry")).await;
    let found = gateway.say("s", &label("remove_constraints")).await;
    assert_eq!(
        found["cards"][0]["title"], "Sock",
        "an older button is on the screen as well: {found}"
    );
    let sent = front.sent("product.search");
    assert_eq!(
        (&sent[2]["query"], &sent[3]["query"], sent[3].get("filters")),
        (&json!("red wool socks"), &json!("wool socks"), None),
        "{sent:?}"
    );
    assert_eq!(server.seen().len(), 2, "no model is asked");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_offline_model_states_the_searched_words_and_the_ignored_ones() {
    let gateway = Gateway::open().await;
    let english =
        gateway.say("s", "find black trail shoes").await["text"].as_str().unwrap().to_owned();
    assert!(
        english.contains("for “trail shoes”") && english.contains("Not limited to: black."),
        "{english}"
    );
    let mut body = message_of("sv", "visa svarta ryggsäckar under 1000 kr");
    body["context"] = json!({"cultureCode": "sv-SE"});
    let (_, swedish) = gateway.post("/v1/chat", &body).await;
    let swedish = swedish["text"].as_str().unwrap();
    assert!(
        swedish.contains("för ”ryggsäckar”, högst 1\u{a0}000\u{a0}SEK")
            && swedish.contains("Inte begränsat till: svarta."),
        "{swedish}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_and_the_word_more_refer_to_the_shown_products_until_the_cart_changes() {
    let gateway = Gateway::open().await;
    gateway.say("s", "show me tents").await;
    let compared = gateway.say("s", "compare 1 and 3").await;
    assert_eq!(
        compared["comparison"]["productIds"].as_array().map(Vec::len),
        Some(2),
        "{compared}"
    );
    let more = gateway.say("s", "show more").await;
    assert!(
        more.get("cards").is_none()
            && !more["text"].as_str().unwrap().contains("nothing in the shop"),
        "{more}"
    );
    let asked = gateway.say("s", "add juniper stove and ridge pot to my cart").await;
    assert!(
        asked["pendingAction"].is_object()
            && asked["text"]
                .as_str()
                .unwrap()
                .contains("One change is made at a time. Ask again for"),
        "{asked}"
    );
}
