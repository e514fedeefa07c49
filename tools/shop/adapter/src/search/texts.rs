//! Texts about a search without results: for people in their language, from the words of the pack,
//! and in English for models.

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::Value;

include!(concat!(env!("OUT_DIR"), "/words.rs"));

/// The language whose words are used if another language lacks them.
const FALLBACK: &str = "en";

/// The words of the pack by language and key.
static WORDS: LazyLock<BTreeMap<&str, Value>> = LazyLock::new(|| {
    let words =
        |(tag, text): &(&'static str, &str)| (*tag, serde_json::from_str(text).unwrap_or_default());
    FILES.iter().map(words).collect()
});

/// The instruction for the model if no product was found.
pub(super) const NOTHING_FOUND: &str =
    "Nothing was found. Say so, invent nothing, and offer one of the refinements.";

/// The filters that have names for people.
const FILTERS: [(&str, &str); 7] = [
    ("category", "filter_category"),
    ("brand", "filter_brand"),
    ("color", "filter_color"),
    ("size", "filter_size"),
    ("minPrice", "filter_least_price"),
    ("maxPrice", "filter_highest_price"),
    ("inStock", "filter_in_stock"),
];

pub(super) fn look_for(words: &str, locale: &str) -> String {
    say("look_for", locale).replace("{words}", words)
}

pub(super) fn look_for_exactly(words: &str, locale: &str) -> String {
    say("look_for_exactly", locale).replace("{words}", words)
}

pub(super) fn without(named: &str, locale: &str) -> String {
    say("look_without", locale).replace("{words}", named)
}

/// Returns a filter's name for the user. A filter that only one shop has keeps its own name.
pub(super) fn filter<'a>(name: &'a str, locale: &str) -> &'a str {
    let known = FILTERS.iter().find(|(filter, _)| *filter == name);
    known.map_or(name, |(_, key)| say(key, locale))
}

/// Returns the suggestion to describe the product, and the question that is then asked.
pub(super) fn clarify(locale: &str) -> (&'static str, &'static str) {
    (say("describe_it", locale), say("which_kind", locale))
}

/// Returns the word for a key in a language, or in English if the language lacks it.
fn say(key: &str, locale: &str) -> &'static str {
    let word = |tag: &str| WORDS.get(tag)?.get(key)?.as_str();
    word(locale).or_else(|| word(FALLBACK)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_api_18_refinement_labels_exist_in_both_languages_and_quote_the_query() {
        for said in [look_for, look_for_exactly, without] {
            let (en, sv) = (said("blue tents", "en"), said("blue tents", "sv"));
            assert_ne!(en, sv);
            assert!(en.contains("blue tents") && sv.contains("blue tents"), "{en}, {sv}");
            assert_eq!(said("blue tents", "fi"), en);
        }
        let (en, sv) = (clarify("en"), clarify("sv"));
        assert!(en.0 != sv.0 && en.1 != sv.1 && en.0 != en.1 && sv.0 != sv.1, "{en:?}, {sv:?}");
        for (_, key) in FILTERS {
            assert!(!say(key, "en").is_empty() && say(key, "en") != say(key, "sv"), "{key}");
        }
    }
}
