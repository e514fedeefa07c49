//! Converts results from the formats of other shops to the format of the shop pack's manifest, with
//! one name for each property. Amounts keep their text, relative addresses stay relative, and
//! unknown members stay unchanged.

use contract::{AgentError, arguments::LARGEST_INTEGER};
use serde_json::{Map, Value, json};

use crate::{
    read::{first, text},
    sum::Exact,
    tools,
};

const IDS: [&str; 6] = ["productId", "id", "partNo", "productNumber", "sku", "code"];
const NAMES: [&str; 4] = ["name", "title", "productName", "displayName"];
const AMOUNTS: [&str; 5] = ["value", "amount", "price", "sellingPrice", "listPrice"];
const CURRENCIES: [&str; 3] = ["currency", "currencyCode", "currencySymbol"];
/// Optional members of a product that must be texts.
const TEXTS: [&str; 8] = [
    "description",
    "imageUrl",
    "brand",
    "color",
    "size",
    "material",
    "category",
    "manufacturerName",
];
/// Optional members of a product that must be texts; a number becomes its digits.
const CODES: [&str; 4] = ["partNo", "uniqueName", "eanCode", "uom"];
/// Optional members of a product that must be lists.
const LISTS: [&str; 4] = ["variants", "images", "variantParametrics", "parametrics"];

/// Returns the result of a call that needs no request: without a basket the cart is empty, and a
/// change of the cart is an error.
pub(crate) fn known(tool: &str, arguments: &Value) -> Option<Result<Value, AgentError>> {
    if arguments.get("basketId").is_some_and(|id| !id.is_null()) {
        return None;
    }
    match tool {
        tools::CART => Some(Ok(json!({"items": [], "subtotal": "0.00", "total": "0.00"}))),
        tools::SET_QUANTITY | tools::REMOVE => {
            Some(Err(AgentError::invalid("The cart is empty.").hint("Add a product first.")))
        }
        _ => None,
    }
}

/// Converts arguments to the form that shops expect: ids of digits become numbers, unless the
/// number is so long that readers would round it.
pub(crate) fn normalize_arguments(tool: &str, mut arguments: Value) -> Value {
    let names: &[&str] = if tool == tools::GET { &["productId"] } else { &["basketId"] };
    for name in names {
        let Some(id) = arguments
            .get(*name)
            .and_then(text)
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        else {
            continue;
        };
        arguments[*name] = match id.parse::<u64>() {
            Ok(number) if number <= LARGEST_INTEGER => json!(number),
            Ok(_) | Err(_) => json!(id),
        };
    }
    arguments
}

/// Converts a result to the manifest's format as far as its content allows.
pub(crate) fn normalize_result(tool: &str, result: Value) -> Value {
    match tool {
        tools::SEARCH => normalize_search_result(result),
        tools::GET => priced(normalize_product(result)),
        tools::CART => normalize_cart(result),
        tools::ADD | tools::SET_QUANTITY | tools::REMOVE => normalize_change_result(result),
        _ => result,
    }
}

/// Reads a search result: a list, or an object that has the list under one of two names. Items
/// without id or name are dropped.
fn normalize_search_result(result: Value) -> Value {
    let (mut all, list) = match result {
        Value::Array(list) => (Map::new(), Some(list)),
        Value::Object(mut all) => {
            let name = ["items", "products"]
                .into_iter()
                .find(|name| all.get(*name).is_some_and(Value::is_array));
            let list = name.and_then(|name| all.remove(name)).and_then(list_of);
            (all, list)
        }
        other => return other,
    };
    let Some(list) = list else { return Value::Object(all) };
    let items: Vec<Value> = list
        .into_iter()
        .filter(|item| first(item, &IDS).is_some() && first(item, &NAMES).is_some())
        .map(normalize_product)
        .map(with_texts)
        .collect();
    if let Some(count) = all.get_mut("totalCount") {
        whole(count);
    }
    all.insert("items".into(), Value::Array(items));
    Value::Object(all)
}

/// Keeps only attributes of a found product that are texts. Whether the product can be bought is
/// known only from its details.
fn with_texts(mut product: Value) -> Value {
    if let Some(attributes) = product.get_mut("attributes").and_then(Value::as_object_mut) {
        attributes.retain(|_, value| value.is_string());
    }
    product
}

fn list_of(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        _ => None,
    }
}

/// Converts a product or one of its variants.
fn normalize_product(value: Value) -> Value {
    let (id, name, currency) = (
        first(&value, &IDS),
        first(&value, &NAMES),
        first(&value["price"], &CURRENCIES).or_else(|| first(&value, &CURRENCIES[..2])),
    );
    let Value::Object(mut all) = value else { return value };
    if !all.get("productId").is_some_and(|id| id.is_string() || id.is_i64() || id.is_u64()) {
        put(&mut all, "productId", id);
    }
    put(&mut all, "name", name);
    put(&mut all, "currency", currency);
    for price in ["price", "priceIncVat", "priceExVat"] {
        let amount = all.get(price).and_then(amount);
        put(&mut all, price, amount);
    }
    for text in TEXTS {
        if all.get(text).is_some_and(|known| !known.is_string()) {
            all.remove(text);
        }
    }
    for code in CODES {
        let text = all.get(code).and_then(text);
        put(&mut all, code, text);
    }
    if let Some(count) = all.get_mut("uomCount") {
        number(count);
    }
    all.retain(|name, value| match name.as_str() {
        "uomCount" => value.is_number(),
        name => value.is_array() || !LISTS.contains(&name),
    });
    if let Some(name) = all.get_mut("variantName").filter(|name| !name.is_string()) {
        *name = Value::Null;
    }
    if let Some(key) = all.get_mut("thumbnailImageKey") {
        *key = text(key).map_or(Value::Null, Value::from);
    }
    if all.get_mut("onHand").is_some_and(|stock| !normalize_stock(stock)) {
        all.remove("onHand");
    }
    for dimensions in ["variantParametrics", "parametrics"] {
        if let Some(Value::Array(list)) = all.get_mut(dimensions) {
            *list = std::mem::take(list).into_iter().filter_map(dimension).collect();
        }
    }
    match all.get_mut("attributes") {
        Some(Value::Object(attributes)) => attributes
            .retain(|_, value| value.is_string() || value.is_number() || value.is_boolean()),
        Some(_) => drop(all.remove("attributes")),
        None => {}
    }
    if let Some(Value::Array(variants)) = all.get_mut("variants") {
        let list = std::mem::take(variants);
        *variants = list.into_iter().map(normalize_variant).collect();
    }
    if let Some(Value::Array(images)) = all.get_mut("images") {
        let named = |image: Value| {
            let url = text(&image).or_else(|| first(&image, &["url", "src", "imageUrl"]))?;
            let mut all = if let Value::Object(all) = image { all } else { Map::new() };
            all.insert("url".into(), json!(url));
            Some(Value::Object(all))
        };
        *images = std::mem::take(images).into_iter().filter_map(named).collect();
    }
    Value::Object(all)
}

/// Copies a price to the manifest's member if the shop has only one price.
fn priced(mut product: Value) -> Value {
    if let Some(price) =
        product.get("price").filter(|_| product.get("priceIncVat").is_none()).cloned()
    {
        product["priceIncVat"] = price;
    }
    product
}

fn normalize_variant(value: Value) -> Value {
    let mut variant = normalize_product(value);
    if let Some(all) = variant.as_object_mut() {
        let buyable = all.get("isBuyable").is_some_and(|buyable| *buyable == true);
        all.insert("isBuyable".into(), json!(buyable));
    }
    variant
}

/// Converts a dimension of a variant. Returns None without a name or a value.
fn dimension(value: Value) -> Option<Value> {
    let Value::Object(mut all) = value else { return None };
    for name in ["name", "value", "code", "groupName"] {
        let text = all.get(name).and_then(text);
        put(&mut all, name, text);
    }
    if all.get("isPrimary").is_some_and(|known| !known.is_boolean()) {
        all.remove("isPrimary");
    }
    (all.contains_key("name") && all.contains_key("value")).then_some(Value::Object(all))
}

/// Converts the stock. Returns false if the shop does not report the number of pieces, which does
/// not mean zero pieces.
fn normalize_stock(stock: &mut Value) -> bool {
    for name in ["value", "incomingValue", "leadtimeDayCount"] {
        if let Some(member) = stock.get_mut(name) {
            number(member);
        }
    }
    let Some(all) = stock.as_object_mut() else { return false };
    all.retain(|name, value| match name.as_str() {
        "value" | "incomingValue" => value.is_number(),
        "leadtimeDayCount" => value.is_i64() || value.is_u64(),
        "nextDeliveryDate" => value.is_string() || value.is_null(),
        "isActive" => value.is_boolean(),
        _ => true,
    });
    if all.get("isActive") == Some(&json!(false)) {
        all.entry("value").or_insert_with(|| json!(0));
    }
    all.contains_key("value")
}

/// Converts a cart, given directly or under `cart`. The cart has its lines under one of three
/// names.
fn normalize_cart(result: Value) -> Value {
    let mut all = match result {
        Value::Object(mut outer) if outer.get("cart").is_some_and(Value::is_object) => {
            match outer.remove("cart") {
                Some(Value::Object(inner)) => {
                    for (name, value) in inner {
                        // A null in the cart does not replace a value in the enclosing object.
                        if !value.is_null() || !outer.contains_key(&name) {
                            outer.insert(name, value);
                        }
                    }
                    outer
                }
                _ => outer,
            }
        }
        Value::Object(all) => all,
        other => return other,
    };
    basket_id(&mut all);
    let currency = first(&Value::Object(all.clone()), &["currencyCode", "currency"]);
    let name = ["items", "lineItems", "cartItems"]
        .into_iter()
        .find(|name| all.get(*name).is_some_and(Value::is_array));
    let lines = name.and_then(|name| all.remove(name)).and_then(list_of);
    if let Some(lines) = lines {
        let lines: Vec<Value> = lines
            .into_iter()
            .enumerate()
            .map(|(index, value)| normalize_cart_line(index, value, currency.as_deref()))
            .collect();
        all.insert("items".into(), Value::Array(lines));
    }
    put(&mut all, "currencyCode", currency);
    let subtotal = all.get("subtotal").and_then(amount);
    let total = ["total", "grandTotal"].iter().find_map(|name| amount(all.get(*name)?));
    let nothing = || {
        all.get("items")
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty)
            .then(|| "0.00".to_owned())
    };
    let subtotal = subtotal.or_else(|| sum_of_lines(&all, total.as_deref()?));
    let total = total.or_else(|| subtotal.clone()).or_else(nothing);
    put(&mut all, "total", total);
    put(&mut all, "subtotal", subtotal);
    Value::Object(all)
}

/// Converts a cart line. A line without a currency gets the cart's currency.
fn normalize_cart_line(index: usize, value: Value, of_cart: Option<&str>) -> Value {
    let currency =
        first(&value, &["currency", "currencyCode"]).or_else(|| of_cart.map(str::to_owned));
    let part = first(&value, &["partNo", "productId", "id"]);
    let name = first(&value, &["name", "title"]);
    let each = ["unitPrice", "price"].iter().find_map(|name| amount(&value[*name]));
    let together =
        ["totalPrice", "lineTotal", "total"].iter().find_map(|name| amount(&value[*name]));
    let Value::Object(mut all) = value else { return value };
    // Lines for freight and fees have a name and no part number.
    put(&mut all, "partNo", part.clone().or_else(|| name.clone()));
    put(&mut all, "name", name.or(part));
    put(&mut all, "currency", currency);
    put(&mut all, "unitPrice", each);
    put(&mut all, "totalPrice", together);
    if !all.get("lineNo").is_some_and(|number| number.is_i64() || number.is_u64()) {
        all.insert("lineNo".into(), json!(index + 1));
    }
    let quantity = all.entry("quantity").or_insert(Value::Null);
    if quantity.is_null() {
        *quantity = json!(1);
    }
    whole(quantity);
    if let Some(key) = all.get_mut("imageKey") {
        *key = text(key).map_or(Value::Null, Value::from);
    }
    Value::Object(all)
}

/// Adds up the lines of a converted cart, for a shop that sends only the total. Returns None unless
/// each line has an amount that can be read in one way, all in one currency.
fn sum_of_lines(cart: &Map<String, Value>, total: &str) -> Option<String> {
    let lines = cart.get("items")?.as_array()?;
    let currency = cart.get("currencyCode").or_else(|| lines.first()?.get("currency"));
    let amount = |line: &Value| {
        if line.get("currency") != currency {
            return None;
        }
        let read = |name: &str| Exact::read(line[name].as_str()?);
        let quantity = || Exact::read(&text(&line["quantity"])?);
        read("totalPrice").or_else(|| read("unitPrice")?.times(quantity()?))
    };
    let sum = lines.iter().try_fold(Exact::ZERO, |sum, line| sum.plus(amount(line)?))?;
    sum.written_like(Exact::read(total))
}

/// Converts the result of a change to the basket's number and the cart. Some shops return the cart
/// alone.
fn normalize_change_result(result: Value) -> Value {
    let Value::Object(mut all) = result else { return result };
    let inner =
        ["basket", "cart"].into_iter().find(|name| all.get(*name).is_some_and(Value::is_object));
    let outer = first(&Value::Object(all.clone()), &["currencyCode", "currency"]);
    let basket = match inner {
        Some(name) => {
            let mut basket = all.remove(name).unwrap_or_default();
            if let (Some(currency), Some(members)) = (outer, basket.as_object_mut())
                && ["currency", "currencyCode"]
                    .iter()
                    .all(|name| members.get(*name).is_none_or(Value::is_null))
            {
                members.insert("currencyCode".into(), json!(currency));
            }
            basket
        }
        None if all.contains_key("items")
            || all.contains_key("lineItems")
            || all.contains_key("cartItems") =>
        {
            Value::Object(all.clone())
        }
        None => return Value::Object(all),
    };
    let basket = normalize_cart(basket);
    basket_id(&mut all);
    if !all.contains_key("basketId")
        && let Some(id) = basket.get("basketId")
    {
        all.insert("basketId".into(), id.clone());
    }
    all.insert("basket".into(), basket);
    Value::Object(all)
}

/// Converts the basket's number, which later calls send. Removes the member if it is not a number.
fn basket_id(all: &mut Map<String, Value>) {
    let Some(id) = all.get_mut("basketId") else { return };
    whole(id);
    if !id.is_i64() && !id.is_u64() {
        all.remove("basketId");
    }
}

/// Sets a text member, or removes the member if there is no text.
fn put(all: &mut Map<String, Value>, name: &str, text: Option<String>) {
    match text {
        Some(text) => drop(all.insert(name.to_owned(), json!(text))),
        None => drop(all.remove(name)),
    }
}

/// Returns the text of an amount, given directly or within an object.
fn amount(value: &Value) -> Option<String> {
    text(value).or_else(|| first(value, &AMOUNTS))
}

/// Converts a number that is written as text.
fn number(value: &mut Value) {
    if let Some(read) = value
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text.trim()).ok())
        .filter(Value::is_number)
    {
        *value = read;
    }
}

/// Converts a number to a whole number: 2.0 becomes 2.
fn whole(value: &mut Value) {
    number(value);
    #[allow(
        clippy::cast_possible_truncation,
        reason = "only whole numbers within the range of exact floats"
    )]
    if let Some(number) =
        value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9.0e15)
    {
        *value = json!(number as i64);
    }
}

#[cfg(test)]
mod tests;
