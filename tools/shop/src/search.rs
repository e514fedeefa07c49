//! The search of `product.search`: finds the products that match the conditions and sorts them by
//! matches in the name, then by availability, then by popularity.

use rusqlite::Connection;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

use crate::{
    ShopError,
    catalogue::{Dimension, Locale, value_name},
    db::{self, ProductRow, Shelf, VariantRow},
    query::{self, Query},
    text,
};

/// The highest number of characters of a search, as stated in the manifest.
const LONGEST: usize = 300;
const NAMES: &str = "{name brand category part_no}";
const ANYWHERE: &str = "{name brand category part_no body}";

/// Filters besides the words of a search.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Filters {
    pub category: Option<String>,
    pub brand: Option<String>,
    pub color: Option<String>,
    #[serde(deserialize_with = "text_or_number")]
    pub size: Option<String>,
    #[serde(deserialize_with = "amount")]
    pub min_price: Option<f64>,
    #[serde(deserialize_with = "amount")]
    pub max_price: Option<f64>,
    pub in_stock: Option<bool>,
}

fn text_or_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(from)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Number(number) => Ok(Some(number.to_string())),
        other => Err(D::Error::custom(format!("{other} is neither a text nor a number"))),
    }
}

/// Parses kronor, as a number or as people write them. A blank text means no limit.
fn amount<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let value = Value::deserialize(from)?;
    let read = match &value {
        Value::Null => return Ok(None),
        Value::String(text) if text.trim().is_empty() => return Ok(None),
        Value::String(text) => query::amount(text),
        other => other.as_f64(),
    };
    read.map(Some).ok_or_else(|| D::Error::custom(format!("{value} is no amount")))
}

/// A found product, with its variants that match the conditions.
#[derive(Clone, Debug)]
pub struct Hit<'a> {
    pub product: &'a ProductRow,
    pub fitting: Vec<&'a VariantRow>,
    pub all: &'a [VariantRow],
}

/// Returns all products that match, best first. The shelves are sorted by popularity.
pub fn search<'a>(
    db: &Connection,
    shelves: &'a [Shelf],
    text: &str,
    filters: &Filters,
) -> Result<Vec<Hit<'a>>, ShopError> {
    if text.chars().count() > LONGEST {
        return Err(ShopError::BadArguments(format!(
            "query may have at most {LONGEST} characters"
        )));
    }
    let mut query = query::parse(text, |word, whole| db::knows_word(db, word, whole))?;
    if !query.unknown.is_empty() && !query.names_product_kind() {
        return Ok(Vec::new());
    }
    add_filters(&mut query, filters)?;
    if query.colors.iter().any(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let names: Vec<String> = text::words(text);
    let found = candidates(db, &query)?;
    let mut hits = Vec::new();
    for Shelf { product, variants } in shelves {
        if !product.active
            || found.as_ref().is_some_and(|ids| ids.binary_search(&product.id).is_err())
            || !fits_product(product, filters)
        {
            continue;
        }
        let fitting: Vec<&VariantRow> =
            variants.iter().filter(|variant| matches_filters(variant, &query, filters)).collect();
        if !fitting.is_empty() {
            hits.push(Hit { product, fitting, all: variants });
        }
    }
    // The sort is stable, because products are already sorted by popularity.
    hits.sort_by_cached_key(|hit| {
        std::cmp::Reverse((
            matching_words(hit.product, &names),
            hit.product.buyable && hit.fitting.iter().any(|variant| variant.in_stock()),
        ))
    });
    Ok(hits)
}

/// Returns the ids of the products that may match, in ascending order. None if every product may
/// match.
fn candidates(db: &Connection, query: &Query) -> Result<Option<Vec<i64>>, ShopError> {
    let Some(expression) = query::expression(query, NAMES) else { return Ok(None) };
    let ids = db::find_matching_ids(db, &expression)?;
    if !ids.is_empty() || query.words.is_empty() {
        return Ok(Some(ids));
    }
    // Descriptions are searched only if names have no match.
    match query::expression(query, ANYWHERE) {
        Some(expression) => Ok(Some(db::find_matching_ids(db, &expression)?)),
        None => Ok(Some(ids)),
    }
}

fn add_filters(query: &mut Query, filters: &Filters) -> Result<(), ShopError> {
    if let Some(color) = filters.color.as_deref().filter(|color| !color.trim().is_empty()) {
        let codes =
            text::words(color).iter().find_map(|word| crate::catalogue::colors::by_word(word));
        // An unknown colour becomes a group without colours, which no product matches.
        query.colors.push(codes.unwrap_or_default());
    }
    if let Some(size) = filters.size.as_deref().filter(|size| !size.trim().is_empty()) {
        query.sizes = vec![text::fold(size.trim())];
    }
    let ore = |kronor: f64| (kronor * 100.0).round() as i64;
    query.max_price = filters.max_price.map(ore).into_iter().chain(query.max_price).min();
    query.min_price = filters.min_price.map(ore).into_iter().chain(query.min_price).max();
    match (query.min_price, query.max_price) {
        (Some(low), Some(high)) if low > high => {
            Err(ShopError::BadArguments("the lowest price is above the highest".to_owned()))
        }
        _ => Ok(()),
    }
}

fn fits_product(product: &ProductRow, filters: &Filters) -> bool {
    let same = |wanted: &Option<String>, actual: &[&str]| {
        wanted
            .as_deref()
            .map(|text| text::fold(text.trim()))
            .filter(|text| !text.is_empty())
            .is_none_or(|text| actual.iter().any(|name| text::fold(name) == text))
    };
    same(&filters.category, &[product.category.en, product.category.sv, product.category.key])
        && same(&filters.brand, &[&product.brand])
}

fn matches_filters(variant: &VariantRow, query: &Query, filters: &Filters) -> bool {
    let color = variant.value(Dimension::Color);
    let size = |wanted: &String| {
        variant.values.iter().any(|(dimension, value)| {
            *dimension != Dimension::Color && {
                // In Swedish results, some values have other names.
                let (own, swedish) =
                    (text::fold(value), text::fold(&value_name(*dimension, value, Locale::Sv)));
                own == *wanted
                    || swedish == *wanted
                    || own.split(['-', ' ']).any(|part| part == wanted)
            }
        })
    };
    variant.active
        && query.colors.iter().all(|codes| color.is_some_and(|color| codes.contains(&color)))
        && (query.sizes.is_empty() || query.sizes.iter().any(size))
        && query.max_price.is_none_or(|most| variant.price <= most)
        && query.min_price.is_none_or(|least| variant.price >= least)
        && (!filters.in_stock.unwrap_or(false) || variant.in_stock())
}

/// Counts the words of the search in the product's own name, brand or number.
fn matching_words(product: &ProductRow, words: &[String]) -> usize {
    let own = text::words(&format!("{} {} {}", product.name, product.brand, product.part_no));
    words.iter().filter(|word| own.contains(word)).count()
}
