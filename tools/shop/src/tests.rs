//! Tests of the shop from a caller's side: search results, and changes of carts. Delivery days
//! count from a fixed day.

use chrono::NaiveDate;
use serde_json::{Map, Value, json};

use crate::{DEFAULT_SEED, Locale, Options, Shop, ShopError};

fn shop() -> Shop {
    let day = NaiveDate::from_ymd_opt(2026, 11, 21).unwrap();
    Shop::open(Options { data_dir: None, seed: DEFAULT_SEED, today: Box::new(move || day) })
        .unwrap()
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn call(shop: &Shop, tool: &str, arguments: Value) -> Result<Value, ShopError> {
    shop.call(tool, &object(arguments)).map_err(|(error, _)| error)
}

fn search(shop: &Shop, query: &str, filters: Value) -> Vec<Value> {
    let found =
        call(shop, "product.search", json!({"query": query, "filters": filters, "pageSize": 50}))
            .unwrap();
    found["items"].as_array().unwrap().clone()
}

fn every(items: &[Value], field: &str, allowed: &[&str]) {
    assert!(!items.is_empty());
    for item in items {
        assert!(
            allowed.iter().any(|part| item[field].as_str().unwrap().contains(part)),
            "{} is {}",
            item["name"],
            item[field]
        );
    }
}

#[test]
fn searches_find_the_intended_products() {
    let shop = shop();
    let find = |query: &str| search(&shop, query, json!({}));
    let black = find("black trail shoes");
    every(&black, "category", &["Trail running shoes"]);
    every(&black, "color", &["Black"]);
    assert!((2..=8).contains(&black.len()) && black[0]["productId"] == 1001);
    every(&find("svarta löparskor"), "category", &["running shoes"]);
    assert_eq!(find("svarta traillöparskor"), black);
    assert_eq!(find("BLACK trailskor"), black);
    every(&find("tält"), "category", &["Tents"]);
    every(&find("vandringskängor storlek 42"), "size", &["42"]);
    every(&find("blue backpacks"), "color", &["Blue", "Navy"]);
    every(&find("termos"), "category", &["Vacuum flasks"]);
    every(&find("sovsäckar"), "category", &["Sleeping bags"]);
    every(&find("vattenflaska 0,75 l"), "category", &["Water bottles"]);
    every(&find("2-person tent"), "size", &["2 persons"]);
    every(&find("waterproof jackets in M"), "category", &["jackets"]);
    assert_eq!(find("FJS-TR1001")[0]["productId"], 1001);
    assert_eq!(find("ridge runner")[0]["productId"], 1001);
    for nothing in ["gaming laptop", "red car", "pink elephant", "\"; DROP TABLE product; --"] {
        assert!(find(nothing).is_empty(), "{nothing}");
    }
}

#[test]
fn search_filters_narrow_results_and_page_sizes_are_limited() {
    let shop = shop();
    let cheap = search(&shop, "shoes under 1000", json!({"inStock": true}));
    assert!(
        cheap.iter().all(|item| item["price"].as_str().unwrap().parse::<f64>().unwrap() <= 1000.0
            && item["onHand"]["value"].as_i64() > Some(0))
    );
    every(&search(&shop, "shoes", json!({"color": "red"})), "color", &["Red"]);
    every(&search(&shop, "", json!({"brand": "Fjällstig"})), "brand", &["Fjällstig"]);
    every(&search(&shop, "", json!({"category": "tents"})), "category", &["Tents"]);
    assert!(search(&shop, "shoes", json!({"color": "plaid"})).is_empty());
    let all = call(&shop, "product.search", json!({"query": ""})).unwrap();
    assert_eq!(
        (all["items"].as_array().unwrap().len(), all["totalCount"].as_u64() > Some(200)),
        (10, true)
    );
    let page = call(&shop, "product.search", json!({"query": "shoes", "pageSize": 3})).unwrap();
    assert_eq!(page["items"].as_array().unwrap().len(), 3);
    assert!(matches!(call(&shop, "product.search", json!({})), Err(ShopError::BadArguments(_))));
    for endless in ["ull".repeat(150_000) + "q", "x".repeat(301)] {
        assert!(matches!(
            call(&shop, "product.search", json!({"query": endless})),
            Err(ShopError::BadArguments(_))
        ));
    }
    let written = search(&shop, "shoes", json!({"maxPrice": "1 000 kr", "size": 42}));
    assert!(!written.is_empty());
    assert_eq!(written, search(&shop, "shoes under 1000", json!({"size": "42"})));
    // A number may have any number of decimals.
    assert_eq!(
        search(&shop, "shoes", json!({"maxPrice": 999.995})),
        search(&shop, "shoes", json!({"maxPrice": 1000}))
    );
    assert!(matches!(
        call(&shop, "product.search", json!({"query": "", "filters": {"maxPrice": "cheap"}})),
        Err(ShopError::BadArguments(_))
    ));
}

#[test]
fn products_are_described_in_the_callers_language() {
    let shop = shop();
    let get = |arguments: Value| call(&shop, "product.get", arguments).unwrap();
    let swedish = json!({"cultureCode": "sv-SE"});
    let tents = call(
        &shop,
        "product.search",
        json!({"query": "tält", "filters": {"size": "2 personer"}, "context": swedish}),
    )
    .unwrap();
    let tent = get(json!({"productId": tents["items"][0]["productId"], "context": swedish}));
    assert!(
        !tent.to_string().contains("persons")
            && tent["variants"][0]["variantName"]
                .as_str()
                .is_some_and(|name| name.ends_with("personer")),
        "{tent}"
    );
    let swedish = get(json!({"productId": 1001, "context": {"cultureCode": "sv-SE"}}));
    assert_eq!(
        swedish["variants"][0]["variantParametrics"][0],
        json!({"name": "Färg", "value": "Svart", "code": "color", "isPrimary": true})
    );
    let part = swedish["variants"][0]["partNo"].as_str().unwrap();
    let variant = get(json!({"partNo": part}));
    assert_eq!(
        (variant["productId"].as_i64(), variant["partNo"].as_str(), variant.get("variants")),
        (Some(100_101), Some(part), None)
    );
    assert_eq!(get(json!({"productId": "1001"}))["productId"], 1001);
    assert_eq!(get(json!({"partNo": "fjs-tr1001"}))["productId"], 1001);
    assert!(matches!(
        call(&shop, "product.get", json!({"productId": 5})),
        Err(ShopError::UnknownProduct(_))
    ));
    let single = (1193..=1204)
        .map(|id| get(json!({"productId": id})))
        .find(|p| p["attributes"]["isBuyable"] == true)
        .unwrap();
    assert_eq!(single.get("variants"), None);
}

/// Returns the shop's first variant that fits.
fn variant(shop: &Shop, fits: impl Fn(&Value) -> bool) -> (Value, i64) {
    (1001..1301)
        .filter_map(|id| call(shop, "product.get", json!({"productId": id})).ok())
        .find_map(|product| {
            let buyable = product["attributes"]["isBuyable"] == true;
            let found =
                product["variants"].as_array()?.iter().find(|v| buyable && fits(v))?.clone();
            let stock = found["onHand"]["value"].as_i64()?;
            Some((found["partNo"].clone(), stock))
        })
        .unwrap()
}

#[test]
fn a_cart_takes_no_more_than_can_be_delivered() {
    let shop = shop();
    let add = |part: &Value, quantity: i64, basket: Option<i64>| {
        call(
            &shop,
            "cart.addItem",
            json!({"partNo": part, "quantity": quantity, "clientIp": "127.0.0.1", "basketId": basket}),
        )
    };
    let (here, stock) =
        variant(&shop, |v| v["isBuyable"] == true && v["onHand"]["value"].as_i64() > Some(2));
    let basket = add(&here, stock, None).unwrap()["basketId"].as_i64().unwrap();
    assert!(
        matches!(add(&here, 1, Some(basket)), Err(ShopError::TooMany { left, .. }) if left == stock)
    );
    let (ordered, _) = variant(&shop, |v| {
        v["isBuyable"] == true
            && v["onHand"]["value"] == 0
            && v["onHand"]["leadtimeDayCount"].is_number()
    });
    assert!(add(&ordered, 50, Some(basket)).is_ok(), "made to order: any number up to the most");
    let (coming, _) = variant(&shop, |v| {
        v["isBuyable"] == true
            && v["onHand"]["value"] == 0
            && v["onHand"]["incomingValue"].is_number()
    });
    assert!(matches!(add(&coming, 500, Some(basket)), Err(ShopError::TooMany { .. })));
    let (gone, _) = variant(&shop, |v| v["isBuyable"] == false && v["onHand"]["value"] == 0);
    assert!(matches!(add(&gone, 1, Some(basket)), Err(ShopError::NotForSale(_))));
    assert!(matches!(add(&json!("undefined"), 1, None), Err(ShopError::UnknownPart(_))));
    assert!(matches!(add(&json!(""), 1, None), Err(ShopError::BadArguments(_))));
    assert!(matches!(
        call(&shop, "cart.removeItem", json!({"productId": here})),
        Err(ShopError::EmptyCart)
    ));
    let renewed = add(&here, 1, Some(4_711)).unwrap();
    assert_ne!(
        renewed["basketId"].as_i64(),
        Some(4_711),
        "an unknown basket is replaced by a new one"
    );
    assert_eq!(call(&shop, "cart.get", json!({"basketId": 4_712})).unwrap()["items"], json!([]));
    assert!(matches!(call(&shop, "cart.clear", json!({})), Err(ShopError::UnknownTool(_))));
}

#[test]
fn a_variant_can_be_selected_by_its_product_id() {
    let shop = shop();
    let variant =
        call(&shop, "product.get", json!({"productId": 1001})).unwrap()["variants"][0].clone();
    let number = variant["productId"].to_string();
    assert_eq!(
        call(&shop, "product.get", json!({"partNo": number})).unwrap()["partNo"],
        variant["partNo"]
    );
    let added = call(
        &shop,
        "cart.addItem",
        json!({"partNo": number, "quantity": 1, "clientIp": "127.0.0.1"}),
    )
    .unwrap();
    let line = |result: &Value| {
        (
            result["basket"]["items"][0]["partNo"].clone(),
            result["basket"]["items"][0]["quantity"].clone(),
        )
    };
    assert_eq!(line(&added), (variant["partNo"].clone(), json!(1)));
    let of = |more: Value| {
        let mut arguments =
            json!({"productId": format!(" {number} "), "basketId": added["basketId"]});
        arguments.as_object_mut().unwrap().extend(object(more));
        arguments
    };
    assert_eq!(
        line(&call(&shop, "cart.setItemQuantity", of(json!({"quantity": 2}))).unwrap()).1,
        json!(2)
    );
    assert_eq!(
        call(&shop, "cart.removeItem", of(json!({}))).unwrap()["basket"]["items"],
        json!([])
    );
}

#[test]
fn the_choices_of_a_product_are_all_variants_that_can_be_added() {
    let shop = shop();
    let add = |part: &Value| {
        call(&shop, "cart.addItem", json!({"partNo": part, "quantity": 1, "clientIp": "127.0.0.1"}))
    };
    let products =
        (1001..1301).filter_map(|id| call(&shop, "product.get", json!({"productId": id})).ok());
    let mut made_to_order = 0;
    for product in products.filter(|product| {
        product["variants"].is_array() && product["attributes"]["isBuyable"] == true
    }) {
        let variants = product["variants"].as_array().unwrap();
        let can_be_had: Vec<&Value> =
            variants.iter().filter(|variant| add(&variant["partNo"]).is_ok()).collect();
        let here = can_be_had
            .iter()
            .filter(|variant| variant["onHand"]["value"].as_i64() > Some(0))
            .count();
        match add(&product["partNo"]) {
            Err(ShopError::NeedsVariant { choices, .. }) => {
                let named: Vec<&str> = choices.split("; ").collect();
                assert_eq!(named.len(), can_be_had.len().min(8), "{choices}");
                let first = can_be_had
                    .iter()
                    .find(|variant| here == 0 || variant["onHand"]["value"].as_i64() > Some(0))
                    .unwrap();
                assert!(
                    named[0].ends_with(first["partNo"].as_str().unwrap()),
                    "what is here comes first: {choices}"
                );
                made_to_order += usize::from(here == 0);
            }
            Err(ShopError::NotForSale(_)) => {
                assert!(can_be_had.is_empty(), "{}", product["partNo"])
            }
            other => panic!("{}: {other:?}", product["partNo"]),
        }
    }
    assert!(made_to_order > 0);
}

#[test]
fn baskets_without_changes_are_deleted_after_a_month() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        Shop::open(Options { data_dir: Some(folder.path().to_owned()), ..Options::default() })
            .unwrap()
    };
    let carts = || rusqlite::Connection::open(folder.path().join("carts.db")).unwrap();
    // The basket table looks as in a file of an earlier version.
    carts().execute_batch("CREATE TABLE basket(id INTEGER PRIMARY KEY AUTOINCREMENT, created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)").unwrap();
    carts().execute("INSERT INTO basket DEFAULT VALUES", []).unwrap();
    let shop = open();
    let part =
        variant(&shop, |v| v["isBuyable"] == true && v["onHand"]["value"].as_i64() > Some(9)).0;
    let add = |basket: Value| {
        call(
            &shop,
            "cart.addItem",
            json!({"partNo": part, "quantity": 1, "clientIp": "127.0.0.1", "basketId": basket}),
        )
        .unwrap()
    };
    assert_eq!(add(json!(1))["basketId"], 1, "the earlier basket is kept");
    let (old, touched) =
        (add(Value::Null)["basketId"].clone(), add(Value::Null)["basketId"].clone());
    carts()
        .execute("UPDATE basket SET touched_at = datetime('now', '-31 days') WHERE id > 1", [])
        .unwrap();
    add(touched.clone());
    add(Value::Null);
    let left = |basket: &Value| {
        call(&shop, "cart.get", json!({"basketId": basket})).unwrap()["items"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((left(&old), left(&touched), left(&json!(1))), (1, 1, 1));
    let count = || -> i64 {
        carts().query_row("SELECT COUNT(*) FROM basket", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count(), 4, "a clock that is ahead once deletes nothing");
    // One day later the newest basket confirms the clock.
    carts()
        .execute(
            "UPDATE basket SET touched_at = datetime('now', '-1 day', '-1 minute') WHERE id = 4",
            [],
        )
        .unwrap();
    add(Value::Null);
    assert_eq!((left(&old), left(&touched), left(&json!(1))), (0, 1, 1));
    assert_eq!(count(), 4, "the one that was touched, the earlier one and the newest two");
}

#[test]
fn a_damaged_or_foreign_catalogue_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let open = |seed| {
        Shop::open(Options { data_dir: Some(folder.path().to_owned()), seed, ..Options::default() })
            .unwrap()
    };
    let name = |shop: &Shop| {
        call(shop, "product.get", json!({"productId": 1002})).unwrap()["name"].clone()
    };
    let (first, other) = (name(&open(1)), name(&open(2)));
    assert_ne!(first, other);
    std::fs::write(folder.path().join("catalogue.db"), b"not a database").unwrap();
    assert_eq!(name(&open(1)), first);
}

#[test]
fn refusals_are_worded_in_both_languages() {
    let error = ShopError::TooMany { name: "Ridge Runner".into(), left: 3 };
    let (en, sv) = (error.sentence(Locale::En), error.sentence(Locale::Sv));
    assert!(en.contains("Only 3") && sv.contains("bara att få 3") && en != sv);
    assert_eq!((Locale::of_culture("sv-SE"), Locale::of_culture("fi")), (Locale::Sv, Locale::En));
}
