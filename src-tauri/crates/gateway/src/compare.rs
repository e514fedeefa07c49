//! Products of a turn side by side: as a table, and as the rows that the shop's widget draws.

use serde_json::{Map, Value, json};

use crate::{
    cards,
    json::{cut, first, text},
    teller::Call,
    texts::Text,
};

const PRODUCTS: usize = 3;
const ROWS: usize = 8;
const NAME: usize = 30;
const ORDER: [&str; 13] =
    ["price", "brand", "material", "color", "size", "weight", "dimensions", "category", "manufacturer", "model", "warranty", "availability", "stock"];

/// The comparison of a turn that looked at two products or more.
pub(crate) fn of_turn(calls: &[Call], locale: &str) -> Option<Value> {
    let mut products: Vec<&Value> = Vec::new();
    for product in calls.iter().filter_map(|call| call.result_of("product_get")) {
        if text(&product["productId"]).is_some() && products.iter().all(|known| known["productId"] != product["productId"]) {
            products.push(product);
        }
    }
    products.truncate(PRODUCTS);
    if products.len() < 2 {
        return None;
    }
    let items: Vec<Value> = products.iter().filter_map(|product| item(product)).collect();
    let ids: Vec<&Value> = items.iter().map(|item| &item["productId"]).collect();
    let features = features(&items);
    let mut headers = vec![json!("Feature")];
    headers.extend(items.iter().map(|item| json!(cut(item["name"].as_str().unwrap_or_default(), NAME))));
    let values = |feature: &str| items.iter().map(|item| value(item, feature)).collect::<Vec<_>>();
    let table: Vec<Value> = features.iter().map(|feature| json!({"feature": feature, "values": values(feature)})).collect();
    let rows: Vec<Value> = features
        .iter()
        .map(|feature| {
            let by_id: Map<String, Value> =
                items.iter().map(|item| (item["productId"].as_str().unwrap_or_default().to_owned(), json!(value(item, feature)))).collect();
            json!({"key": feature, "values": by_id})
        })
        .collect();
    Some(json!({"title": title(&items, locale), "productIds": ids, "items": items, "table": {"headers": headers, "rows": table}, "rows": rows}))
}

fn item(product: &Value) -> Option<Value> {
    let mut item = json!({"productId": text(&product["productId"])?, "name": first(product, &["name", "title"])?});
    let mut attributes = cards::attributes(product);
    if let Some(brand) = attributes.remove("brand") {
        item["brand"] = brand;
    }
    for (name, value) in product["attributes"].as_object().into_iter().flatten() {
        let known = attributes.keys().any(|key| key.eq_ignore_ascii_case(name)) || name == "isBuyable";
        if !known && (value.is_string() || value.is_number() || value.is_boolean()) {
            attributes.insert(name.clone(), value.clone());
        }
    }
    item["attributes"] = Value::Object(attributes);
    let (price, currency) = cards::price(product);
    if let Some(price) = price {
        let mut shown = json!({"formatted": currency.as_ref().map_or_else(|| price.clone(), |currency| format!("{price} {currency}"))});
        if let Ok(amount) = price.parse::<f64>() {
            shown["amount"] = json!(amount);
        }
        if let Some(currency) = currency {
            shown["currency"] = json!(currency);
        }
        item["price"] = shown;
    }
    Some(item)
}

/// What is compared: known features in their order, the rest by name.
fn features(items: &[Value]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let named = items.iter().flat_map(|item| item["attributes"].as_object().into_iter().flatten().map(|(name, _)| name.clone()));
    let has = |name: &str| items.iter().any(|item| !item[name].is_null()).then(|| name.to_owned());
    for name in has("price").into_iter().chain(has("brand")).chain(named) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    let place = |name: &str| ORDER.iter().position(|known| known.eq_ignore_ascii_case(name)).unwrap_or(ORDER.len());
    all.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.cmp(b)));
    all.truncate(ROWS);
    all
}

fn value(item: &Value, feature: &str) -> String {
    let found = match feature {
        "price" => &item["price"]["formatted"],
        "brand" => &item["brand"],
        other => &item["attributes"][other],
    };
    match found {
        Value::Bool(true) => "Yes".into(),
        Value::Bool(false) => "No".into(),
        other => text(other).unwrap_or_else(|| "-".into()),
    }
}

fn title(items: &[Value], locale: &str) -> String {
    let word = Text::Comparison.of(locale);
    let category = |item: &Value| text(&item["attributes"]["category"]);
    let first = items.first().and_then(category);
    match first {
        Some(one) if items.iter().all(|item| category(item).as_deref() == Some(one.as_str())) => format!("{one} {word}"),
        Some(_) | None => format!("{word} ({})", items.len()),
    }
}
