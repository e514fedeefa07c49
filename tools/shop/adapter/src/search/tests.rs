//! Tests of searches against a scripted shop that records its requests.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{future::Future, sync::Mutex};

use contract::{CallerKind, pack_code::PackAdapter as _};

use super::*;
use crate::ShopAdapter;

/// The caller of a search and the language of its texts.
#[derive(Clone, Copy)]
struct Manner {
    caller: &'static CallerKind,
    locale: &'static str,
}

const PLAIN: Manner = Manner { caller: &CallerKind::ChatApi, locale: "en" };
const AS_ASKED: Manner = Manner { caller: &CallerKind::Window, locale: "en" };

/// Returns the result of a search through a shop that answers every request with `ask`. Calls the
/// adapter as the host does.
async fn through<E, F: Future<Output = Result<Value, E>>>(
    manner: Manner,
    asked: Value,
    ask: impl Fn(Value) -> F,
) -> Result<Value, E> {
    let call = PackCall {
        tool: SEARCH,
        is_read: true,
        is_remote: false,
        caller: manner.caller,
        locale: manner.locale,
        asked: &asked,
    };
    let sent = ShopAdapter.arguments(&call, asked.clone());
    let mut answer = ShopAdapter.answer(&call, ask(sent.clone()).await?);
    let further = ShopAdapter.follow_up_arguments(&call, &sent, &answer);
    let is_second = further.is_some();
    if let Some(further) = further
        && let Ok(second) = ask(further).await.map(|second| ShopAdapter.answer(&call, second))
        && second.is_object()
    {
        answer = second;
    }
    Ok(ShopAdapter.result(&call, answer, is_second))
}

/// Returns the result of a search, and the words that the shop was asked for.
async fn searched(manner: Manner, arguments: Value, has: &[&str]) -> (Value, Vec<String>) {
    let asked = Mutex::new(Vec::new());
    let ask = |arguments: Value| {
        let query = arguments["query"].as_str().unwrap().to_owned();
        let items: Vec<Value> = has
            .iter()
            .filter(|words| **words == query)
            .map(|words| json!({"productId": 1, "name": words}))
            .collect();
        asked.lock().unwrap().push(query);
        std::future::ready(Ok::<_, ()>(json!({"items": items, "totalCount": items.len()})))
    };
    let result = through(manner, arguments, ask).await.unwrap();
    (result, asked.into_inner().unwrap())
}

fn kinds(result: &Value) -> Vec<&str> {
    result["refinements"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| one["payload"]["type"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn chat_api_14_a_query_is_simplified_and_the_simplification_reported() {
    let (result, asked) =
        searched(PLAIN, json!({"query": "red running shoes size 42"}), &["running shoes"]).await;
    assert_eq!(asked, ["running shoes"]);
    assert_eq!(
        result["querySimplification"],
        json!({
            "originalQuery": "red running shoes size 42", "effectiveQuery": "running shoes", "wasSimplified": true,
            "droppedTokens": ["red", "size", "42"], "fallbackRetryAttempted": false
        })
    );
    assert!(result.get("refinements").is_none());
    let (result, _) = searched(PLAIN, json!({"query": "tent"}), &["tent"]).await;
    assert_eq!(result["querySimplification"]["wasSimplified"], false);
}

#[tokio::test]
async fn chat_api_14_a_search_without_hits_is_repeated_with_the_first_word() {
    let (result, asked) =
        searched(PLAIN, json!({"query": "trail unicorn saddle"}), &["trail"]).await;
    assert_eq!(asked, ["trail unicorn saddle", "trail"]);
    assert_eq!(
        (
            result["items"].as_array().unwrap().len(),
            &result["querySimplification"]["broadenedQuery"]
        ),
        (1, &json!("trail"))
    );
    let (_, asked) = searched(PLAIN, json!({"query": "unicorn"}), &[]).await;
    assert_eq!(asked, ["unicorn"], "one word is broad already");
}

#[tokio::test]
async fn chat_api_14_quoted_words_are_sent_unchanged_and_once() {
    let (result, asked) =
        searched(PLAIN, json!({"query": "“red wool socks 42”"}), &["red wool socks 42"]).await;
    assert_eq!(asked, ["red wool socks 42"]);
    assert_eq!(
        (
            &result["querySimplification"]["wasSimplified"],
            &result["querySimplification"]["effectiveQuery"]
        ),
        (&json!(false), &json!(asked[0]))
    );
    let (result, asked) = searched(PLAIN, json!({"query": "”röda sockor”"}), &[]).await;
    assert_eq!(
        (asked.len(), kinds(&result)),
        (1, vec!["ask_clarify"]),
        "the same is not offered again"
    );
    // Two quotations do not count as an exact search, and neither does a quotation that is longer
    // than a search may be.
    let (_, asked) =
        searched(PLAIN, json!({"query": "“tent” or “red backpack”"}), &["tent backpack"]).await;
    assert_eq!(asked.len(), 1);
    let long = format!("“{}”", "warm tent ".repeat(20));
    let (_, asked) = searched(PLAIN, json!({"query": long}), &["warm tent warm"]).await;
    assert_eq!(asked.len(), 1);
    let (_, asked) = searched(PLAIN, json!({"query": "“”"}), &[]).await;
    assert_eq!(asked.len(), 1);
}

#[tokio::test]
async fn chat_api_14_refinements_have_a_fixed_order() {
    let arguments = json!({"query": "blue quantum xylophone", "filters": {"maxPrice": 5}});
    let (result, _) = searched(PLAIN, arguments, &[]).await;
    assert_eq!(kinds(&result), ["search_retry", "remove_constraints", "ask_clarify"]);
    assert_eq!(
        result["refinements"][1]["payload"]["constraintsToRemove"],
        json!(["blue", "maxPrice"])
    );
    assert_eq!(result["refinements"][1]["label"], "Search without: blue, highest price");
    let (result, _) = searched(
        Manner { locale: "sv", ..PLAIN },
        json!({"query": "tält", "filters": {"maxPrice": 5, "inStock": true}}),
        &[],
    )
    .await;
    assert_eq!(result["refinements"][0]["label"], "Sök utan: i lager, högsta pris");
    let (result, _) = searched(PLAIN, json!({"query": "xylophone"}), &[]).await;
    assert_eq!(kinds(&result), ["ask_clarify"], "alone when there is nothing else");
    let swedish = Manner { locale: "sv", ..PLAIN };
    let (result, _) = searched(swedish, json!({"query": "xylophone"}), &[]).await;
    assert_eq!(result["refinements"][0]["label"], "Hjälp mig att beskriva det");
}

#[tokio::test]
async fn other_callers_search_with_the_original_words_and_are_offered_simpler_ones() {
    let (result, asked) = searched(
        AS_ASKED,
        json!({"query": "red rain jackets under 900"}),
        &["red rain jackets under 900"],
    )
    .await;
    assert_eq!(
        (asked.len(), result.get("querySimplification"), result.get("refinements")),
        (1, None, None)
    );
    let (result, asked) =
        searched(AS_ASKED, json!({"query": "red rain jackets"}), &["rain jackets"]).await;
    assert_eq!(asked, ["red rain jackets"]);
    assert_eq!(kinds(&result), ["search_broaden", "search_broaden", "remove_constraints"]);
    assert_eq!(result["refinements"][1]["label"], "Search for “rain jackets”");
}

#[tokio::test]
async fn chat_api_15_items_in_stock_come_first_in_every_format_of_result() {
    let item = |id: u32, stock: Value| json!({"productId": id, "name": "x", "onHand": stock});
    let items = json!([
        item(1, json!({"value": 3, "isActive": false})),
        item(2, json!({"value": 0})),
        item(3, Value::Null),
        item(4, json!({"value": "2"})),
        item(5, json!({"value": 9})),
    ]);
    for shape in [items.clone(), json!({"items": items}), json!({"products": items})] {
        let result = through(AS_ASKED, json!({"query": "x"}), |_| {
            std::future::ready(Ok::<_, ()>(shape.clone()))
        })
        .await
        .unwrap();
        let order: Vec<u64> = result["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["productId"].as_u64().unwrap())
            .collect();
        assert_eq!(order, [4, 5, 3, 2, 1]);
    }
    let many: Vec<Value> = (0..30).map(|id| item(id, json!({"value": 1}))).collect();
    let result = through(PLAIN, json!({"query": "x"}), |_| {
        std::future::ready(Ok::<_, ()>(json!({"items": many})))
    })
    .await
    .unwrap();
    assert_eq!(
        (result["items"].as_array().unwrap().len(), &result["truncated"]),
        (10, &json!(true))
    );
}

#[tokio::test]
async fn a_failed_broader_search_keeps_the_first_result() {
    let ask = |arguments: Value| {
        std::future::ready(if arguments["query"] == "Quantum" {
            Err("down")
        } else {
            Ok(json!({"items": []}))
        })
    };
    let result = through(PLAIN, json!({"query": "Quantum xylophone"}), ask).await.unwrap();
    assert_eq!(kinds(&result), ["ask_clarify"]);
    assert_eq!(
        through(PLAIN, json!({"query": "Quantum"}), ask).await,
        Err("down"),
        "the first one does not"
    );
}

#[test]
fn chat_api_6_at_most_fifty_variants_are_kept_with_buyable_ones_first() {
    let listed = |count: u32| {
        (0..count).map(|id| json!({"productId": id, "isBuyable": id % 4 == 3})).collect::<Vec<_>>()
    };
    let read = |count: u32| {
        with_few_variants(json!({"productId": 1, "variants": listed(count)}))["variants"]
            .as_array()
            .unwrap()
            .clone()
    };
    assert_eq!(read(50), listed(50), "as the shop lists them");
    let many = read(120);
    assert_eq!(
        (many.len(), many.iter().filter(|variant| variant["isBuyable"] == true).count()),
        (50, 30)
    );
    assert_eq!(
        (&many[0]["productId"], &many[29]["productId"], &many[30]["productId"]),
        (&json!(3), &json!(119), &json!(0))
    );
    assert_eq!(with_few_variants(json!("gone")), json!("gone"));
    assert_eq!(with_few_variants(json!({"productId": 1})), json!({"productId": 1}));
}
