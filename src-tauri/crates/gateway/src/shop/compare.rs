//! Compares products of a turn: as a table for the text, and as rows for the shop's widget.

use messages::Language;
use serde::Serialize;
use serde_json::{Map, Value, json};
use shop_adapter::{
    cart::Amount,
    product::{Availability, Product},
};

use crate::{
    call::Call,
    json::{text, truncate_text},
    shop::tools,
    texts::{Text, language_of},
};

const PRODUCTS: usize = 3;
const ROWS: usize = 8;
const NAME: usize = 30;
/// Known features in the usual order, each with the contract's name and the name shown to people.
const ORDER: [(&str, Text); 12] = [
    ("price", Text::FeaturePrice),
    ("brand", Text::FeatureBrand),
    ("material", Text::FeatureMaterial),
    ("color", Text::FeatureColor),
    ("size", Text::FeatureSize),
    ("weight", Text::FeatureWeight),
    ("dimensions", Text::FeatureDimensions),
    ("category", Text::FeatureCategory),
    ("manufacturer", Text::FeatureManufacturer),
    ("model", Text::FeatureModel),
    ("warranty", Text::FeatureWarranty),
    ("availability", Text::FeatureAvailability),
];

/// Compares the products of a turn that looked up at least two products. If at least two of the
/// `wanted` products are among these, only the wanted products are compared.
pub(crate) fn compare_turn_products(
    calls: &[Call],
    wanted: &[String],
    locale: &str,
) -> Option<Value> {
    let mut products: Vec<Product> = Vec::new();
    for product in
        calls.iter().filter_map(|call| call.result_of(tools::GET)).filter_map(Product::read)
    {
        if products.iter().all(|known| known.id != product.id) {
            products.push(product);
        }
    }
    let is_wanted = |product: &Product| wanted.contains(&product.id);
    if products.iter().filter(|product| is_wanted(product)).count() > 1 {
        products.retain(is_wanted);
    }
    products.truncate(PRODUCTS);
    let mut items: Vec<ComparedItem> = products.iter().map(ComparedItem::of).collect();
    if items.len() < 2 {
        return None;
    }
    add_advantages(&mut items, &products, locale);
    let ids: Vec<&String> = items.iter().map(|item| &item.product_id).collect();
    let features = list_features(&items);
    let mut headers = vec![Text::Feature.localize(locale).to_owned()];
    headers.extend(items.iter().map(|item| truncate_text(&item.name, NAME)));
    let table: Vec<Value> = features
        .iter()
        .map(|feature| {
            let values: Vec<String> =
                items.iter().map(|item| feature_value(item, feature, locale)).collect();
            json!({"feature": feature_label(feature, locale), "values": values})
        })
        .collect();
    let rows: Vec<Value> = features
        .iter()
        .map(|feature| {
            let by_id: Map<String, Value> = items
                .iter()
                .map(|item| (item.product_id.clone(), json!(feature_value(item, feature, locale))))
                .collect();
            // The widget shows the key to the user, so the key is the translated name.
            json!({"key": feature_label(feature, locale), "values": by_id})
        })
        .collect();
    Some(
        json!({"title": comparison_title(&items, locale), "productIds": ids, "items": items, "table": {"headers": headers, "rows": table}, "rows": rows}),
    )
}

/// A product of a comparison.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ComparedItem {
    product_id: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    brand: Option<Value>,
    attributes: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The advantages that the product's data proves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    highlights: Vec<&'static str>,
}

impl ComparedItem {
    fn of(product: &Product) -> Self {
        let mut attributes = product.attributes.clone();
        let brand = attributes.remove("brand");
        for (name, value) in &product.own_attributes {
            let known =
                attributes.keys().any(|key| key.eq_ignore_ascii_case(name)) || name == "isBuyable";
            if !known && (value.is_string() || value.is_number() || value.is_boolean()) {
                attributes.insert(name.clone(), value.clone());
            }
        }
        let currency = product.currency.clone();
        let price = product.price.as_ref().map(|price| Amount {
            formatted: currency
                .as_ref()
                .map_or_else(|| price.clone(), |currency| format!("{price} {currency}")),
            amount: price.parse().ok(),
            currency,
        });
        Self {
            product_id: product.id.clone(),
            name: product.name.clone(),
            brand,
            attributes,
            price,
            url: product.url.clone(),
            highlights: Vec::new(),
        }
    }

    fn amount(&self) -> Option<f64> {
        self.price.as_ref()?.amount
    }

    fn currency(&self) -> Option<&String> {
        self.price.as_ref()?.currency.as_ref()
    }

    /// Returns an attribute, in whatever way its name is written.
    fn attribute(&self, feature: &str) -> Option<&Value> {
        self.attributes.iter().find_map(|(name, value)| is_same(name, feature).then_some(value))
    }
}

/// Adds the advantages that each product's data proves.
fn add_advantages(items: &mut [ComparedItem], products: &[Product], locale: &str) {
    let one_currency = items.iter().all(|item| item.currency() == items[0].currency());
    let amounts: Option<Vec<f64>> = items.iter().map(ComparedItem::amount).collect();
    let (least, most) = amounts
        .filter(|_| one_currency)
        .unwrap_or_default()
        .into_iter()
        .fold((f64::MAX, f64::MIN), |(a, b), p| (a.min(p), b.max(p)));
    let there: Vec<bool> = products
        .iter()
        .map(|product| product.stock.availability() == Availability::InStock)
        .collect();
    let some_only = there.contains(&true) && there.contains(&false);
    for (item, there) in items.iter_mut().zip(there) {
        let cheapest = least < most && item.amount() == Some(least);
        item.highlights = [(cheapest, Text::LowestPrice), (some_only && there, Text::InStock)]
            .into_iter()
            .filter(|(holds, _)| *holds)
            .map(|(_, text)| text.localize(locale))
            .collect();
    }
}

/// Returns the names of the compared features: known features in the usual order, then the other
/// features by name.
fn list_features(items: &[ComparedItem]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let price = items.iter().any(|item| item.price.is_some()).then(|| "price".to_owned());
    let brand = items.iter().any(|item| item.brand.is_some()).then(|| "brand".to_owned());
    let named = items.iter().flat_map(|item| item.attributes.keys().cloned());
    for name in price.into_iter().chain(brand).chain(named) {
        if !all.iter().any(|known| is_same(known, &name)) {
            all.push(name);
        }
    }
    all.sort_by_cached_key(|name| {
        (feature_position(name).unwrap_or(ORDER.len()), name.to_lowercase())
    });
    all.truncate(ROWS);
    all
}

/// Returns the position of a feature among the known features.
fn feature_position(feature: &str) -> Option<usize> {
    let feature = feature.to_lowercase();
    // A shop writes the names of features in its own language.
    let is_named =
        |text: Text| Language::all().any(|language| text.text(language).to_lowercase() == feature);
    ORDER.iter().position(|(name, text)| *name == feature || is_named(*text))
}

/// Whether two names mean the same feature.
fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
        || feature_position(one).is_some_and(|at| feature_position(other) == Some(at))
}

/// Returns a feature's name for the user. In English, this is the name that the shop uses.
fn feature_label<'a>(feature: &'a str, locale: &str) -> &'a str {
    let language = language_of(locale);
    let known = feature_position(feature).filter(|_| language != Language::ENGLISH);
    known.map_or(feature, |at| ORDER[at].1.text(language))
}

fn feature_value(item: &ComparedItem, feature: &str, locale: &str) -> String {
    let known = feature_position(feature).map(|at| ORDER[at].0);
    if let (Some("price"), Some(price)) = (known, &item.price) {
        return price.formatted.clone();
    }
    let brand = item.brand.as_ref().filter(|_| known == Some("brand"));
    match brand.or_else(|| item.attribute(feature)) {
        Some(Value::Bool(true)) => Text::Yes.localize(locale).into(),
        Some(Value::Bool(false)) => Text::No.localize(locale).into(),
        other => other.and_then(text).unwrap_or_else(|| "-".into()),
    }
}

fn comparison_title(items: &[ComparedItem], locale: &str) -> String {
    let category = |item: &ComparedItem| item.attribute("category").and_then(text);
    let first = items.first().and_then(category);
    match first {
        Some(one) if items.iter().all(|item| category(item).as_deref() == Some(one.as_str())) => {
            Text::CategoryComparison.localize_with(locale, &[("category", &one)])
        }
        Some(_) | None => format!("{} ({})", Text::Comparison.localize(locale), items.len()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::call::tests::done;

    fn get(id: u32, more: Value) -> Call {
        let mut product =
            json!({"productId": id, "name": format!("Tent number {id} with a name that is long")});
        product.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        done("product_get", json!({"productId": id}), product)
    }

    fn features(comparison: &Value) -> Vec<&str> {
        comparison["table"]["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["feature"].as_str().unwrap())
            .collect()
    }

    #[test]
    fn chat_api_13_comparison_rows_have_a_fixed_order_and_a_dash_for_unknown_values() {
        let one = get(
            1,
            json!({"priceIncVat": "10.00", "currency": "SEK", "attributes": {"zebra": 1, "Weight": "2 kg", "apple": true, "category": "Tents"}}),
        );
        let two = get(
            2,
            json!({"priceIncVat": "9.50", "currency": "SEK", "manufacturerName": "Acme", "attributes": {"apple": false, "category": "Tents"}}),
        );
        let comparison = compare_turn_products(&[one, two], &[], "en").unwrap();
        assert_eq!(
            features(&comparison),
            ["price", "brand", "Weight", "category", "apple", "zebra"]
        );
        assert_eq!(comparison["table"]["headers"][1].as_str().unwrap().chars().count(), 30);
        let row = |at: usize| comparison["table"]["rows"][at]["values"].clone();
        assert_eq!(
            (row(0), row(1), row(4)),
            (json!(["10.00 SEK", "9.50 SEK"]), json!(["-", "Acme"]), json!(["Yes", "No"]))
        );
        assert_eq!(
            comparison["rows"][0],
            json!({"key": "price", "values": {"1": "10.00 SEK", "2": "9.50 SEK"}})
        );
        assert_eq!(
            (comparison["title"].as_str(), &comparison["items"][1]["highlights"]),
            (Some("Tents Comparison"), &json!(["lowest price"]))
        );
    }

    #[test]
    fn chat_api_13_a_feature_has_one_row_regardless_of_its_spelling() {
        let one = get(
            1,
            json!({"color": "red", "brand": "Acme", "attributes": {"Zip": true, "apple": 1}}),
        );
        let two = get(2, json!({"attributes": {"Color": "blue", "zip": false, "Brand": "Fell"}}));
        let comparison = compare_turn_products(&[one, two], &[], "en").unwrap();
        assert_eq!(features(&comparison), ["brand", "color", "apple", "Zip"]);
        let values: Vec<&Value> = comparison["table"]["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| &row["values"])
            .collect();
        assert_eq!(
            values,
            [
                &json!(["Acme", "Fell"]),
                &json!(["red", "blue"]),
                &json!(["1", "-"]),
                &json!(["Yes", "No"])
            ]
        );
    }

    #[test]
    fn a_comparison_in_swedish_has_swedish_feature_names_and_title() {
        let one = get(
            1,
            json!({"priceIncVat": "10.00", "currency": "SEK", "brand": "Fell", "color": "Röd", "attributes": {"Kategori": "Tält", "Färg": "Röd", "Dragkedja": true}}),
        );
        let two = get(
            2,
            json!({"priceIncVat": "9.50", "currency": "SEK", "attributes": {"Kategori": "Tält", "Färg": "Blå"}}),
        );
        let comparison = compare_turn_products(&[one, two], &[], "sv").unwrap();
        assert_eq!(features(&comparison), ["Pris", "Märke", "Färg", "Kategori", "Dragkedja"]);
        assert_eq!(
            (&comparison["table"]["headers"][0], comparison["title"].as_str()),
            (&json!("Egenskap"), Some("Jämförelse: Tält"))
        );
        assert_eq!(
            comparison["rows"][2],
            json!({"key": "Färg", "values": {"1": "Röd", "2": "Blå"}})
        );
        assert_eq!(comparison["rows"][4]["values"]["1"], "Ja");
    }

    #[test]
    fn chat_api_13_at_most_three_products_are_compared_and_only_requested_ones() {
        let calls: Vec<Call> = (1..=5).map(|id| get(id, json!({}))).collect();
        let ids = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|id| (*id).to_owned()).collect();
            compare_turn_products(&calls, &wanted, "sv")
                .map(|comparison| comparison["productIds"].to_string())
        };
        assert_eq!(ids(&[]).unwrap(), "[\"1\",\"2\",\"3\"]");
        assert_eq!(ids(&["5", "2"]).unwrap(), "[\"2\",\"5\"]");
        assert_eq!(ids(&["5", "9"]).unwrap(), "[\"1\",\"2\",\"3\"]", "one alone is no comparison");
        assert!(compare_turn_products(&calls[..1], &[], "en").is_none());
    }

    #[test]
    fn chat_api_13_a_comparison_has_at_most_eight_rows() {
        let many: Map<String, Value> =
            (0..20).map(|n| (format!("feature {n}"), json!(n))).collect();
        let calls = [get(1, json!({"attributes": many})), get(2, json!({}))];
        assert_eq!(features(&compare_turn_products(&calls, &[], "en").unwrap()).len(), 8);
    }
}
