//! What surrounds a search in a shop, whoever asks: plainer words and one broader try, the order in which results are shown and
//! counted, and ways on when nothing was found. It stands between the engine and the shop, so that models, the window and the chat
//! API see the same. Knows no transport and no session.

mod simplify;
mod texts;

use serde_json::{Value, json};

pub use simplify::names_a_dimension;
use simplify::{CHARS, Simple, simplify};

/// The shop contract's name of the tool.
pub(crate) const SEARCH: &str = "product.search";
pub(crate) const GET: &str = "product.get";
/// Items of one result that are kept when searches go out in plain words.
const ITEMS: usize = 10;
const REFINEMENTS: usize = 4;
/// Variants of a product that a chat API's model and customer get to choose from.
const VARIANTS: usize = 50;

/// How a search goes out, and in which language its ways on are worded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner<'a> {
    /// In plain words, with one broader try: the chat API's contract. Otherwise as it was asked, and plainer words are offered.
    pub(crate) plain: bool,
    pub(crate) locale: &'a str,
}

/// A search as it was asked for, and its first request.
#[derive(Clone, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) asked: &'a Value,
    pub(crate) sent: Value,
}

/// The first request of a read in plain words: a search without the words that name no thing, any other as it is.
pub(crate) fn request(tool: &str, mut arguments: Value) -> Value {
    if tool == SEARCH
        && let Some(said) = arguments["query"].as_str()
    {
        arguments["query"] = json!(plainly(said).query);
    }
    arguments
}

/// What a text searches for in plain words.
fn plainly(said: &str) -> Simple {
    quoted(said).map_or_else(|| simplify(said), Simple::exactly)
}

/// Searches. `ask` sends the first request to the shop, `further` the broader one.
pub(crate) async fn search<E, F, G>(manner: Manner<'_>, search: Search<'_>, ask: impl Fn(Value) -> F, further: impl Fn(Value) -> G) -> Result<Value, E>
where
    F: Future<Output = Result<Value, E>>,
    G: Future<Output = Result<Value, E>>,
{
    let Search { asked, sent } = search;
    let said = asked["query"].as_str().unwrap_or_default();
    let exact = quoted(said).filter(|_| manner.plain);
    let original = exact.unwrap_or(said).to_owned();
    let simple = if manner.plain { plainly(said) } else { simplify(said) };
    let exact = exact.is_some();
    let effective = if manner.plain { simple.query.clone() } else { original.clone() };
    let mut broader = sent.clone();
    let mut result = shaped(ask(sent).await?);
    // What is no result at all is left to the check of its shape.
    if !result.is_object() {
        return Ok(result);
    }
    let mut broadened = None;
    if manner.plain && !exact && is_empty(&result) && simple.has_several_words() {
        // The first answer stands when the second try fails.
        broader["query"] = json!(simple.first_word());
        if let Some(again) = further(broader).await.ok().map(shaped).filter(Value::is_object) {
            result = again;
        }
        broadened = Some(simple.first_word());
    }
    in_order(&mut result, manner.plain);
    let nothing = is_empty(&result);
    if manner.plain || nothing {
        let mut told = json!({
            "originalQuery": original,
            "effectiveQuery": effective,
            "wasSimplified": effective != original.trim(),
            "fallbackRetryAttempted": broadened.is_some(),
        });
        if manner.plain && !simple.dropped.is_empty() {
            told["droppedTokens"] = json!(simple.dropped);
        }
        if let Some(word) = broadened {
            told["broadenedQuery"] = json!(word);
        }
        result["querySimplification"] = told;
    }
    if nothing {
        let filters: Vec<&str> = asked["filters"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        result["refinements"] = json!(refinements(manner, &original, &simple, broadened.is_some(), filters));
        result["emptySearchMessage"] = json!(texts::NOTHING_FOUND);
    }
    Ok(result)
}

/// The words between “quotation marks”: they go out as they are, when they are one quotation of a search's length.
fn quoted(query: &str) -> Option<&str> {
    let words = query.trim().strip_prefix(['“', '”'])?.strip_suffix('”')?.trim();
    (!words.is_empty() && !words.contains(['“', '”']) && words.chars().count() <= CHARS).then_some(words)
}

/// A product with so many variants as the chat API's contract reads. What can be bought is not what is left out.
pub(crate) fn with_few_variants(mut product: Value) -> Value {
    if let Some(variants) = product.get_mut("variants").and_then(Value::as_array_mut).filter(|variants| variants.len() > VARIANTS) {
        variants.sort_by_key(|variant| variant["isBuyable"] != true);
        variants.truncate(VARIANTS);
    }
    product
}

/// A result as an object with its items.
fn shaped(result: Value) -> Value {
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

/// What can be had comes first: numbers of results mean the same to models and on every screen.
fn in_order(result: &mut Value, bounded: bool) {
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
    let value = stock["value"].as_f64().or_else(|| stock["value"].as_str()?.trim().parse().ok()).unwrap_or(0.0);
    match (stock.is_object(), stock["isActive"] == false) {
        (false, _) => 1,
        (true, true) => 3,
        (true, false) if value > 0.0 => 0,
        (true, false) => 2,
    }
}

/// Ways on after a search that found nothing. Their labels can be sent as messages.
fn refinements(manner: Manner<'_>, original: &str, simple: &Simple, retried: bool, filters: Vec<&str>) -> Vec<Value> {
    let sv = manner.locale == "sv";
    let one = |id: &str, label: String, payload: Value| json!({"id": id, "label": label, "payload": payload});
    let mut found = Vec::new();
    if !manner.plain {
        let broader = simple.first_word();
        if simple.has_several_words() {
            found.push(one("broaden_search", texts::look_for(broader, sv), json!({"type": "search_broaden", "query": broader})));
        }
        if !simple.dropped.is_empty() {
            found.push(one("search_keyword_only", texts::look_for(&simple.query, sv), json!({"type": "search_broaden", "query": simple.query})));
        }
    } else if original.trim() != simple.query {
        let label = texts::look_for_exactly(original.trim(), sv);
        found.push(one("retry_original", label, json!({"type": "search_retry", "query": original.trim()})));
    }
    let constraints: Vec<&str> = simple.dropped.iter().map(String::as_str).chain(filters.iter().copied()).collect();
    if !constraints.is_empty() {
        let said: Vec<&str> = simple.dropped.iter().map(String::as_str).chain(filters.iter().map(|name| texts::filter(name, sv))).collect();
        let label = texts::without(&said.join(", "), sv);
        found.push(one("remove_constraints", label, json!({"type": "remove_constraints", "constraintsToRemove": constraints})));
    }
    if retried || found.is_empty() {
        let (label, question) = texts::clarify(sv);
        found.push(one("ask_clarify", label.to_owned(), json!({"type": "ask_clarify", "questionId": "product_type", "question": question})));
    }
    found.truncate(REFINEMENTS);
    found
}

#[cfg(test)]
mod tests;
