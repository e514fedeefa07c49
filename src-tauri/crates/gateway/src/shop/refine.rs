//! Builds suggestions after a search that found no products, and parses which suggestion the
//! customer chooses.

use serde_json::{Value, json};
use shop_adapter::product::items;

use crate::{call::Call, json::text, shop::tools};

/// The maximum number of stored suggestions.
const KEPT: usize = 8;

/// Returns the suggestions if the last search of the turn found no products.
pub(crate) fn build_suggestions(calls: &[Call]) -> Vec<Value> {
    empty_search(calls)
        .and_then(|search| search.data["refinements"].as_array().cloned())
        .unwrap_or_default()
}

/// Returns the suggestions to store for the next message, including earlier suggestions. Each
/// suggestion is stored with the words of the final search, so that the suggestion does not repeat
/// that search. A search that used only limits had no words.
pub(crate) fn suggestions_to_store(calls: &[Call], before: &[Value]) -> Vec<Value> {
    let search = empty_search(calls);
    let simplified =
        search.map_or(Value::Null, |search| search.data["querySimplification"].clone());
    let asked = || search.and_then(|search| search.args["query"].as_str());
    let words = simplified["effectiveQuery"].as_str().or_else(asked).unwrap_or_default();
    let dropped = |one: &Value| {
        simplified["droppedTokens"].as_array().is_some_and(|dropped| dropped.contains(one))
    };
    let mut kept = build_suggestions(calls);
    for one in &mut kept {
        let repeats = one["payload"]["constraintsToRemove"]
            .as_array()
            .is_some_and(|all| all.iter().all(dropped));
        one["repeats"] = json!(repeats);
        one["words"] = json!(words);
    }
    let older: Vec<Value> = before
        .iter()
        .filter(|old| kept.iter().all(|new| new["label"] != old["label"]))
        .cloned()
        .collect();
    kept.extend(older);
    kept.truncate(KEPT);
    kept
}

fn empty_search(calls: &[Call]) -> Option<&Call> {
    let is_search = |call: &&Call| call.result_of(tools::SEARCH).is_some();
    calls.iter().rev().find(is_search).filter(|search| items(&search.data).is_empty())
}

/// The suggestion that the customer chooses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Way {
    /// Search for exactly these words.
    Exactly(String),
    /// Search again without some words or limits; the text is the remaining search.
    Without(String),
    /// Ask the customer a question.
    Question(String),
    /// The search without these words was already made.
    AlreadySearched,
}

/// Returns the suggestion whose label the message is.
pub(crate) fn chosen_suggestion(message: &str, offered: &[Value]) -> Option<Way> {
    let one = offered.iter().find(|one| one["label"].as_str() == Some(message.trim()))?;
    let payload = &one["payload"];
    match payload["type"].as_str()? {
        "search_retry" => text(&payload["query"]).map(Way::Exactly),
        "remove_constraints" if one["repeats"] == true => Some(Way::AlreadySearched),
        "remove_constraints" => one["words"].as_str().map(|words| Way::Without(words.to_owned())),
        "ask_clarify" => text(&payload["question"]).map(Way::Question),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::tests::done;

    fn search(effective: &str, payloads: Value) -> Call {
        let offered: Vec<Value> = payloads
            .as_array()
            .into_iter()
            .flatten()
            .map(|payload| json!({"label": payload["type"], "payload": payload}))
            .collect();
        done(
            "product_search",
            json!({}),
            json!({"items": [], "refinements": offered, "querySimplification": {"effectiveQuery": effective}}),
        )
    }

    #[test]
    fn a_message_that_repeats_an_offered_label_applies_its_suggestion() {
        let first = search(
            "xyzzy",
            json!([{"type": "search_retry", "query": "red xyzzy"}, {"type": "remove_constraints", "constraintsToRemove": ["red", "maxPrice"]}]),
        );
        let second = search(
            "red xyzzy",
            json!([{"type": "ask_clarify", "questionId": "product_type", "question": "What kind?"}]),
        );
        let kept = suggestions_to_store(&[second], &suggestions_to_store(&[first], &[]));
        assert_eq!(
            chosen_suggestion(" search_retry ", &kept),
            Some(Way::Exactly("red xyzzy".into()))
        );
        assert_eq!(
            chosen_suggestion("remove_constraints", &kept),
            Some(Way::Without("xyzzy".into())),
            "the words of its own search"
        );
        assert_eq!(
            chosen_suggestion("ask_clarify", &kept),
            Some(Way::Question("What kind?".into()))
        );
        assert_eq!(chosen_suggestion("something else", &kept), None);

        let mut only_words = search(
            "xyzzy",
            json!([{"type": "remove_constraints", "constraintsToRemove": ["red"]}]),
        );
        only_words.data["querySimplification"]["droppedTokens"] = json!(["red"]);
        assert_eq!(
            chosen_suggestion("remove_constraints", &suggestions_to_store(&[only_words], &[])),
            Some(Way::AlreadySearched),
            "it would be the same search"
        );
    }

    #[test]
    fn removing_the_only_limits_of_a_search_repeats_it_without_limits() {
        let limits = json!([{"type": "remove_constraints", "constraintsToRemove": ["maxPrice"]}]);
        let unsaid = |args: Value| {
            let mut call = search("", limits.clone());
            call.args = args;
            call.data["querySimplification"] = Value::Null;
            call
        };
        for (call, words) in [
            (search("", limits.clone()), ""),
            (unsaid(json!({})), ""),
            (unsaid(json!({"query": "red xyzzy"})), "red xyzzy"),
        ] {
            assert_eq!(
                chosen_suggestion("remove_constraints", &suggestions_to_store(&[call], &[])),
                Some(Way::Without(words.into()))
            );
        }
    }
}
