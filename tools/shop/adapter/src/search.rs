//! Prepares a search and its result: simpler words, one broader second attempt, the order in which
//! results are shown and numbered, and refinements if no product was found. Models, the window and
//! the chat API get the same result.

mod simplify;
mod texts;

use contract::pack_code::PackCall;
use serde_json::{Value, json};

pub use simplify::names_a_dimension;
use simplify::{CHARS, Simple, simplify};

use crate::tools::SEARCH;

/// The number of items that are kept in the result of a simplified search.
const ITEMS: usize = 10;
const REFINEMENTS: usize = 4;
/// The highest number of variants of a product that the chat API passes on.
const VARIANTS: usize = 50;

/// Returns the arguments with a simplified query if the call is a search, and the arguments
/// unchanged otherwise.
pub(crate) fn simplify_search_arguments(tool: &str, mut arguments: Value) -> Value {
    if tool == SEARCH
        && let Some(query) = arguments["query"].as_str()
    {
        arguments["query"] = json!(plain_query(query).query);
    }
    arguments
}

/// Simplifies a query. A quoted query stays unchanged.
fn plain_query(query: &str) -> Simple {
    quoted(query).map_or_else(|| simplify(query), Simple::exactly)
}

/// A search with its original and its simplified words.
pub(crate) struct Search<'a> {
    /// Whether the search is sent in simplified form with one broader second attempt, as the chat
    /// API's contract requires. Otherwise the original words are sent, and simpler words are only
    /// suggested.
    is_plain: bool,
    /// The language of the refinements.
    locale: String,
    /// The original words, without the quotation marks of an exact search.
    original: &'a str,
    is_exact: bool,
    simple: Simple,
    filters: Vec<&'a str>,
}

impl<'a> Search<'a> {
    pub(crate) fn of(call: &PackCall<'a>) -> Self {
        let asked = call.asked;
        let query = asked["query"].as_str().unwrap_or_default();
        let is_plain = call.caller.is_remote();
        let exact = quoted(query).filter(|_| is_plain);
        Self {
            is_plain,
            locale: locale_of(call),
            original: exact.unwrap_or(query),
            is_exact: exact.is_some(),
            simple: if is_plain { plain_query(query) } else { simplify(query) },
            filters: asked["filters"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| name.as_str())
                .collect(),
        }
    }

    /// Returns the arguments of the broader second attempt if the first one found no product.
    pub(crate) fn broader(&self, sent: &Value, answer: &Value) -> Option<Value> {
        if !self.is_plain || self.is_exact || !is_empty(answer) || !self.simple.has_several_words()
        {
            return None;
        }
        let mut broader = sent.clone();
        broader["query"] = json!(self.simple.first_word());
        Some(broader)
    }

    /// Returns the result with sorted items, with the words that were sent, and with refinements if
    /// no product was found.
    pub(crate) fn completed(&self, mut result: Value, is_broadened: bool) -> Value {
        // A result that is not an object stays unchanged. The schema check will report it.
        if !result.is_object() {
            return result;
        }
        sort_by_availability(&mut result, self.is_plain);
        let found_nothing = is_empty(&result);
        if self.is_plain || found_nothing {
            result["querySimplification"] = self.describe_simplification(is_broadened);
        }
        if found_nothing {
            result["refinements"] = json!(self.refinements(is_broadened));
            result["emptySearchMessage"] = json!(texts::NOTHING_FOUND);
        }
        result
    }

    /// Returns the original words and the words that were sent.
    fn describe_simplification(&self, is_broadened: bool) -> Value {
        let effective = if self.is_plain { self.simple.query.as_str() } else { self.original };
        let mut told = json!({
            "originalQuery": self.original,
            "effectiveQuery": effective,
            "wasSimplified": effective != self.original.trim(),
            "fallbackRetryAttempted": is_broadened,
        });
        if self.is_plain && !self.simple.dropped.is_empty() {
            told["droppedTokens"] = json!(self.simple.dropped);
        }
        if is_broadened {
            told["broadenedQuery"] = json!(self.simple.first_word());
        }
        told
    }

    /// Returns suggestions for further searches after a search without results. Their labels can be
    /// sent as messages.
    fn refinements(&self, is_broadened: bool) -> Vec<Value> {
        let (locale, simple, original) = (self.locale.as_str(), &self.simple, self.original);
        let one = |id: &str, label: String, payload: Value| json!({"id": id, "label": label, "payload": payload});
        let mut found = Vec::new();
        if !self.is_plain {
            let broader = simple.first_word();
            if simple.has_several_words() {
                found.push(one(
                    "broaden_search",
                    texts::look_for(broader, locale),
                    json!({"type": "search_broaden", "query": broader}),
                ));
            }
            if !simple.dropped.is_empty() {
                found.push(one(
                    "search_keyword_only",
                    texts::look_for(&simple.query, locale),
                    json!({"type": "search_broaden", "query": simple.query}),
                ));
            }
        } else if original.trim() != simple.query {
            let label = texts::look_for_exactly(original.trim(), locale);
            found.push(one(
                "retry_original",
                label,
                json!({"type": "search_retry", "query": original.trim()}),
            ));
        }
        let constraints: Vec<&str> =
            simple.dropped.iter().map(String::as_str).chain(self.filters.iter().copied()).collect();
        if !constraints.is_empty() {
            let said: Vec<&str> = simple
                .dropped
                .iter()
                .map(String::as_str)
                .chain(self.filters.iter().map(|name| texts::filter(name, locale)))
                .collect();
            let label = texts::without(&said.join(", "), locale);
            found.push(one(
                "remove_constraints",
                label,
                json!({"type": "remove_constraints", "constraintsToRemove": constraints}),
            ));
        }
        if is_broadened || found.is_empty() {
            let (label, question) = texts::clarify(locale);
            found.push(one(
                "ask_clarify",
                label.to_owned(),
                json!({"type": "ask_clarify", "questionId": "product_type", "question": question}),
            ));
        }
        found.truncate(REFINEMENTS);
        found
    }
}

/// Returns the caller's language: the one in the arguments, or else the host's.
fn locale_of(call: &PackCall<'_>) -> String {
    let culture = call.asked["context"]["cultureCode"].as_str().map(str::to_ascii_lowercase);
    let locale = culture.unwrap_or_else(|| call.locale.to_owned());
    locale.split(['-', '_']).next().unwrap_or_default().to_owned()
}

/// Returns the words if the query consists of a single quotation of allowed length. Such words are
/// sent unchanged.
fn quoted(query: &str) -> Option<&str> {
    let words = query.trim().strip_prefix(['“', '”'])?.strip_suffix('”')?.trim();
    (!words.is_empty() && !words.contains(['“', '”']) && words.chars().count() <= CHARS)
        .then_some(words)
}

/// Limits a product to the number of variants that the chat API's contract allows. Variants that
/// can be bought are kept first.
pub(crate) fn with_few_variants(mut product: Value) -> Value {
    if let Some(variants) = product
        .get_mut("variants")
        .and_then(Value::as_array_mut)
        .filter(|variants| variants.len() > VARIANTS)
    {
        variants.sort_by_key(|variant| variant["isBuyable"] != true);
        variants.truncate(VARIANTS);
    }
    product
}

/// Returns a search result as an object with its items.
pub(crate) fn with_items(result: Value) -> Value {
    match result {
        Value::Array(items) => json!({"items": items}),
        Value::Object(mut members) => {
            if !members.contains_key("items")
                && let Some(products) = members.remove("products").filter(Value::is_array)
            {
                members.insert("items".into(), products);
            }
            Value::Object(members)
        }
        other => other,
    }
}

fn is_empty(result: &Value) -> bool {
    result["items"].as_array().is_some_and(Vec::is_empty)
}

/// Sorts the items by availability, so that a result's number means the same item for every model
/// and on every screen.
fn sort_by_availability(result: &mut Value, bounded: bool) {
    let said = result["truncated"] == true;
    let Some(items) = result["items"].as_array_mut() else { return };
    items.sort_by_key(availability);
    if bounded {
        let truncated = said || items.len() > ITEMS;
        items.truncate(ITEMS);
        result["truncated"] = json!(truncated);
    }
}

fn availability(item: &Value) -> u8 {
    let stock = &item["onHand"];
    let value = stock["value"]
        .as_f64()
        .or_else(|| stock["value"].as_str()?.trim().parse().ok())
        .unwrap_or(0.0);
    match (stock.is_object(), stock["isActive"] == false) {
        (false, _) => 1,
        (true, true) => 3,
        (true, false) if value > 0.0 => 0,
        (true, false) => 2,
    }
}

#[cfg(test)]
mod tests;
