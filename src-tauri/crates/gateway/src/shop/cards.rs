//! Products and carts of the shop as blocks of an answer. Amounts, names and pictures stay as the shop wrote them.

use serde_json::{Map, Value, json};

use crate::{
    chat::relay::Call,
    json::{cut, first, number, numeral, text},
    shop::tools,
};

/// Cards of one answer.
const CARDS: usize = 6;
const SUBTITLE: usize = 100;
/// Values of one dimension.
const VALUES: usize = 20;
const CART_LINES: usize = 20;

/// The items of a search result.
pub(crate) fn items(data: &Value) -> &[Value] {
    let list = data.as_array().or_else(|| data["items"].as_array()).or_else(|| data["products"].as_array());
    list.map_or(&[], Vec::as_slice)
}

/// The lines of a cart.
pub(crate) fn lines(cart: &Value) -> &[Value] {
    let cart = if cart["cart"].is_object() { &cart["cart"] } else { cart };
    ["items", "lineItems", "cartItems"].iter().find_map(|name| cart[*name].as_array()).map_or(&[], Vec::as_slice)
}

/// The cards of a turn: of the products that were looked at, else of everything that was found. A product that could not be looked
/// at is shown as a search found it, in this turn or `earlier`.
pub(crate) fn of_turn(calls: &[Call], earlier: &[Value]) -> Vec<Value> {
    let searched: Vec<Value> = calls.iter().filter_map(|call| call.result_of(tools::SEARCH)).flat_map(items).filter_map(of_item).collect();
    let looked_at: Vec<&Call> = calls.iter().filter(|call| call.tool == tools::GET && call.outcome.is_some() && call.asked).collect();
    let mut cards: Vec<Value> = Vec::new();
    let mut add = |card: Value| {
        if cards.iter().all(|known| known["productId"] != card["productId"]) {
            cards.push(card);
        }
    };
    for call in looked_at {
        let asked = text(&call.args["productId"]);
        let known = |id: &Value| searched.iter().chain(earlier).find(|card| card["productId"] == *id).cloned();
        match call.result_of(tools::GET) {
            Some(product) => {
                let Some(own) = of_item(product) else { continue };
                let card = searched.iter().find(|card| card["productId"] == own["productId"]).cloned();
                add(enriched(card.unwrap_or(own), product, asked.as_deref()));
            }
            None => asked.and_then(|id| known(&json!(id))).into_iter().for_each(&mut add),
        }
    }
    if cards.is_empty() {
        for card in searched {
            if cards.iter().all(|known| known["productId"] != card["productId"]) {
                cards.push(card);
            }
        }
        cards.sort_by_key(rank);
    } else {
        cards.sort_by(|a, b| rank(a).cmp(&rank(b)).then(on_hand(b).total_cmp(&on_hand(a))));
    }
    cards.truncate(CARDS);
    cards
}

/// Cards with the values that their products' variants have.
pub(crate) fn with_dimensions(cards: &mut [Value], products: &[Value]) {
    for card in cards {
        let product = products.iter().find(|product| text(&product["productId"]).as_deref() == card["productId"].as_str());
        if let Some(hints) = product.map(dimension_hints).filter(|hints| !hints.is_empty()) {
            card["dimensionHints"] = Value::Object(hints);
        }
    }
}

fn rank(card: &Value) -> u8 {
    match card["availability"]["status"].as_str() {
        Some("in_stock") => 0,
        Some("out_of_stock") => 2,
        Some("inactive") => 3,
        Some(_) | None => 1,
    }
}

fn on_hand(card: &Value) -> f64 {
    number(&card["availability"]["onHandValue"]).unwrap_or(0.0)
}

/// A card of a product, when it has an id and a name.
pub(crate) fn of_item(item: &Value) -> Option<Value> {
    let id = first(item, &["productId", "id", "partNo", "productNumber", "sku", "code"])?;
    let title = first(item, &["name", "title", "productName", "displayName"])?;
    let mut card = Map::new();
    let mut put = |name: &str, value: Option<Value>| card.extend(value.map(|value| (name.to_owned(), value)));
    put("productId", Some(json!(id)));
    put("title", Some(json!(title)));
    put("subtitle", text(&item["description"]).map(|text| json!(cut(&text, SUBTITLE))));
    put("variantName", item.get("variantName").map(|name| if name.is_string() { name.clone() } else { Value::Null }));
    let (price, currency) = price(item);
    put("price", price.map(Value::from));
    put("currency", currency.map(Value::from));
    put("imageUrl", image(item).map(Value::from));
    put("thumbnailImageKey", item.get("thumbnailImageKey").map(|key| text(key).map_or(Value::Null, Value::from)));
    let attributes = attributes(item);
    put("attributes", (!attributes.is_empty()).then_some(Value::Object(attributes)));
    put("availability", Some(availability(&item["onHand"])));
    Some(Value::Object(card))
}

/// Price and currency of a product, as written.
pub(crate) fn price(item: &Value) -> (Option<String>, Option<String>) {
    let of = |value: &Value| text(value).or_else(|| first(value, &["value", "amount", "price", "sellingPrice", "listPrice"]));
    let price = of(&item["price"]).or_else(|| of(&item["priceIncVat"]));
    let currency = first(&item["price"], &["currency", "currencyCode", "currencySymbol"]).or_else(|| first(item, &["currency", "currencyCode"]));
    (price, currency)
}

fn image(item: &Value) -> Option<String> {
    first(item, &["imageUrl", "image", "primaryImage", "thumbnailUrl", "thumbnail"]).or_else(|| {
        let one = item["images"].as_array()?.first()?;
        text(one).or_else(|| first(one, &["url", "src", "imageUrl"]))
    })
}

/// What is told of a product beside its name and price.
pub(crate) fn attributes(item: &Value) -> Map<String, Value> {
    let of = |name: &str| item[name].as_str().or_else(|| item["attributes"][name].as_str()).filter(|text| !text.trim().is_empty()).map(|text| json!(text));
    let named = ["color", "size", "material", "brand", "category", "manufacturer"];
    let mut found: Map<String, Value> = named.iter().filter_map(|name| Some(((*name).to_owned(), of(name)?))).collect();
    if !found.contains_key("brand")
        && let Some(maker) = of("manufacturerName")
    {
        found.insert("brand".into(), maker);
    }
    found
}

/// Whether it can be had.
pub(crate) fn availability(on_hand: &Value) -> Value {
    if !on_hand.is_object() {
        return json!({"status": "unknown"});
    }
    let value = number(&on_hand["value"]).unwrap_or(0.0);
    let status = match (on_hand["isActive"] == false, value > 0.0) {
        (true, _) => "inactive",
        (false, true) => "in_stock",
        (false, false) => "out_of_stock",
    };
    let mut found = json!({"status": status});
    for (name, from) in [("onHandValue", "value"), ("incomingValue", "incomingValue"), ("leadtimeDayCount", "leadtimeDayCount")] {
        if let Some(value) = numeral(&on_hand[from]) {
            found[name] = value;
        }
    }
    match on_hand.get("nextDeliveryDate") {
        Some(Value::String(day)) => found["nextDeliveryDate"] = json!(day),
        Some(Value::Null) => found["nextDeliveryDate"] = Value::Null,
        Some(_) | None => {}
    }
    found
}

/// A card with what the product's details add: its stock, and which values its variants have.
fn enriched(mut card: Value, product: &Value, asked: Option<&str>) -> Value {
    let variants = product["variants"].as_array().map_or(&[] as &[Value], Vec::as_slice);
    let variant = variants.iter().find(|variant| asked.is_some() && text(&variant["productId"]).as_deref() == asked);
    card["availability"] = availability(variant.map_or(&product["onHand"], |variant| &variant["onHand"]));
    let hints = dimension_hints(product);
    if !hints.is_empty() {
        card["dimensionHints"] = Value::Object(hints);
    }
    card
}

/// Which values the variants of a product have.
fn dimension_hints(product: &Value) -> Map<String, Value> {
    let mut hints: Map<String, Value> = Map::new();
    for (name, value) in product["variants"].as_array().into_iter().flatten().flat_map(dimensions) {
        if let Some(values) = hints.entry(name).or_insert_with(|| json!([])).as_array_mut()
            && values.len() < VALUES
            && !values.contains(&json!(value))
        {
            values.push(json!(value));
        }
    }
    hints
}

/// The dimensions of a variant, the primary ones first, each once.
pub(crate) fn dimensions(variant: &Value) -> Vec<(String, String)> {
    let lists = ["variantParametrics", "parametrics"].iter().filter_map(|name| variant[*name].as_array()).flatten();
    let mut all: Vec<(bool, String, String, String)> = Vec::new();
    for one in lists {
        let (Some(name), Some(value)) = (text(&one["name"]), text(&one["value"])) else { continue };
        let key = text(&one["code"]).unwrap_or_else(|| name.clone());
        if all.iter().all(|(_, known, _, _)| *known != key) {
            all.push((one["isPrimary"] != true, key, name, value));
        }
    }
    all.sort_by_key(|(secondary, ..)| *secondary);
    all.into_iter().map(|(_, _, name, value)| (name, value)).collect()
}

/// A cart as the answer shows it.
pub(crate) fn cart(data: &Value) -> Option<Value> {
    let cart = [&data["basket"], &data["cart"]].into_iter().find(|inner| inner.is_object()).unwrap_or(data);
    if !cart.is_object() {
        return None;
    }
    let own = first(cart, &["currencyCode", "currency"]).or_else(|| first(data, &["currencyCode", "currency"]));
    let amount = |raw: &Value, currency: Option<&str>| -> Option<Value> {
        let raw = text(raw).or_else(|| first(raw, &["value", "amount"]))?;
        let digits: String = raw.chars().filter(|c| c.is_ascii_digit() || matches!(c, ',' | '.')).collect::<String>().replacen(',', ".", 1);
        // A discount is a line that takes away.
        let sign = if raw.starts_with(['-', '\u{2212}']) { -1.0 } else { 1.0 };
        let mut price = json!({"formatted": raw});
        if let Ok(amount) = digits.parse::<f64>() {
            price["amount"] = json!(sign * amount);
        }
        if let Some(currency) = currency {
            price["currency"] = json!(currency);
        }
        Some(price)
    };
    let of_line = |line: &Value| -> Option<Value> {
        let mut item = json!({
            "productId": first(line, &["partNo", "productId", "id"])?,
            "quantity": numeral(&line["quantity"]).unwrap_or_else(|| json!(1)),
        });
        if let Some(name) = first(line, &["name", "title"]) {
            item["name"] = json!(name);
        }
        let raw = ["unitPrice", "price"].iter().map(|name| &line[*name]).find(|value| !value.is_null());
        if let Some(price) = raw.and_then(|raw| amount(raw, first(line, &["currency", "currencyCode"]).or_else(|| own.clone()).as_deref())) {
            item["price"] = price;
        }
        Some(item)
    };
    let lines = lines(cart);
    let items: Vec<Value> = lines.iter().filter_map(of_line).take(CART_LINES).collect();
    let mut shown = json!({"itemCount": lines.len(), "items": items});
    if let Some(id) = text(&cart["basketId"]).or_else(|| text(&data["basketId"])) {
        shown["cartId"] = json!(id);
    }
    let total = |names: &[&str]| names.iter().map(|name| &cart[*name]).find_map(|raw| amount(raw, own.as_deref()));
    let mut totals = Map::new();
    totals.extend(total(&["subtotal"]).map(|price| ("subtotal".to_owned(), price)));
    totals.extend(total(&["total", "grandTotal"]).map(|price| ("total".to_owned(), price)));
    if !totals.is_empty() {
        shown["totals"] = Value::Object(totals);
    }
    Some(shown)
}

#[cfg(test)]
mod tests;
