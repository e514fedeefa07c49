//! Finds the products that a message refers to: by their numbers on the screen, by id or part
//! number, or by words such as "these". The result is only a hint for the model. Pure.

use language::message::{MessageWords, contains_word};
use serde_json::Value;

use crate::shop::{
    choices,
    memory::{KnownProduct, Memory},
};

/// The maximum number of products in one comparison.
const COMPARED: usize = 3;
/// The maximum number of characters of a message that may refer to products without numbers.
const SHORT: usize = 50;

fn find_named_products<'a>(message: &str, memory: &'a Memory) -> Vec<&'a KnownProduct> {
    let is_named = |known: &&KnownProduct| {
        known.names().any(|name| name.len() > 2 && contains_word(message, name))
    };
    memory.last_results.iter().filter(is_named).collect()
}

fn names_of<'a>(known: &'a [&KnownProduct]) -> impl Iterator<Item = &'a String> {
    known.iter().flat_map(|known| known.names()).filter(|name| name.len() > 2)
}

/// Returns the products that a message refers to, in the order in which the message names them.
pub(crate) fn meant_products<'a>(message: &str, memory: &'a Memory) -> Vec<&'a KnownProduct> {
    let words = MessageWords::of(message);
    let places = words.places();
    let mut found: Vec<&KnownProduct> = places
        .iter()
        .filter_map(|place| memory.last_results.iter().find(|known| known.index == *place))
        .collect();
    if places.is_empty() {
        found = find_named_products(message, memory);
    }
    if let ([only], true) = (
        &memory.last_results[..],
        found.is_empty()
            && places.is_empty()
            && message.chars().count() < SHORT
            && words.is_pointing(),
    ) {
        found.push(only);
    }
    found.dedup();
    found
}

/// Returns the ids of the products that a message asks to compare. Returns an empty list if the
/// message asks for no comparison or does not name the products.
pub(crate) fn products_to_compare(message: &str, memory: &Memory) -> Vec<String> {
    let words = MessageWords::of(message);
    let joined = words.joined_numbers();
    let by_name = find_named_products(message, memory);
    // A message that changes the cart does not ask for a comparison, unless the message weighs two
    // products against each other.
    let beside = (!words.asks_for_change() || words.is_weighing())
        && (joined.len() > 1 || words.joins_names(names_of(&by_name)));
    let wanted =
        words.compares() || beside || (words.asks_for_difference() && words.means_several());
    if !wanted {
        return Vec::new();
    }
    let mut ids: Vec<String> = Vec::new();
    let mut add = |id: &String| {
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    };
    let places: Vec<usize> = words.places().into_iter().chain(joined).collect();
    places
        .iter()
        .filter_map(|place| memory.last_results.iter().find(|known| known.index == *place))
        .for_each(|known| add(&known.product_id));
    by_name.iter().for_each(|known| add(&known.product_id));
    if ids.len() < 2 && words.means_several() {
        if memory.shortlist.len() > 1 {
            memory.shortlist.iter().rev().take(COMPARED).rev().for_each(|id| {
                if !ids.contains(id) {
                    ids.push(id.clone());
                }
            });
        } else if (2..=COMPARED).contains(&memory.last_results.len()) {
            memory.last_results.iter().for_each(|known| {
                if !ids.contains(&known.product_id) {
                    ids.push(known.product_id.clone());
                }
            });
        }
    }
    ids.truncate(COMPARED);
    if ids.len() > 1 { ids } else { Vec::new() }
}

/// Returns hints for the model before a message. If `options` are open, numbers in the message
/// refer to options and not to products.
pub(crate) fn reference_hints(
    message: &str,
    memory: &Memory,
    options: Option<&Value>,
) -> Vec<String> {
    let mut hints: Vec<String> = memory.describe_for_model().into_iter().collect();
    if let Some(options) = options.and_then(choices::describe_for_model) {
        hints.push(options);
        return hints;
    }
    let compared = products_to_compare(message, memory);
    let meant = meant_products(message, memory);
    if !meant.is_empty() {
        let named: Vec<String> = meant
            .iter()
            .map(|known| {
                format!("productId {} (number {} on the screen)", known.product_id, known.index)
            })
            .collect();
        hints.push(format!("The message below means {}.", named.join(" and ")));
    }
    if !compared.is_empty() {
        hints.push(format!("The customer wants these compared: productId {}. Fetch each with product_get, then compare them.", compared.join(", ")));
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(results: usize, shortlist: &[&str]) -> Memory {
        let known = |index: usize| KnownProduct {
            index,
            product_id: format!("10{index}"),
            part_no: Some(format!("AB-{index}")),
            ..KnownProduct::default()
        };
        Memory {
            last_results: (1..=results).map(known).collect(),
            shortlist: shortlist.iter().map(|id| (*id).to_owned()).collect(),
            ..Memory::default()
        }
    }

    fn places(message: &str) -> Vec<usize> {
        meant_products(message, &memory(6, &[])).iter().map(|known| known.index).collect()
    }

    #[test]
    fn chat_api_16_numbers_in_a_message_refer_to_the_shown_products() {
        for (message, meant) in [
            ("#2", vec![2]),
            ("2", vec![2]),
            ("option 2", vec![2]),
            ("Tell me more about option 3", vec![3]),
            ("Add option 4 to cart", vec![4]),
            ("Lägg alternativ 4 i varukorgen", vec![4]),
            ("number 5, please", vec![5]),
            ("nr. 6", vec![6]),
            ("the 2nd", vec![2]),
            ("den andra", vec![2]),
            ("I like the third one", vec![3]),
            ("is AB-2 waterproof?", vec![2]),
            ("how about 105", vec![5]),
            ("option 9", vec![]),
            ("2 pairs of socks", vec![]),
            ("first, show me tents", vec![]),
            ("AB-22", vec![]),
            ("hello", vec![]),
        ] {
            assert_eq!(places(message), meant, "{message}");
        }
    }

    #[test]
    fn chat_api_16_a_short_message_such_as_that_one_refers_to_the_only_shown_product() {
        let one = memory(1, &[]);
        assert_eq!(meant_products("is that one warm?", &one).len(), 1);
        assert!(meant_products("is that one warm?", &memory(2, &[])).is_empty());
        assert!(
            meant_products(
                "that is all that I wanted to know about shoes, now show me tents",
                &one
            )
            .is_empty()
        );
        for word in ["that", "this", "option", "one", "number", "nr", "like"] {
            let message = format!("a {word} for the rain");
            assert_eq!(meant_products(&message, &one).len(), 1, "{word}");
            assert!(
                meant_products(&format!("{message}{}", " x".repeat(25)), &one).is_empty(),
                "{word} in a long message"
            );
        }
        let fifty = |letters: usize| format!("that {}", "x".repeat(letters - 5));
        assert_eq!(
            (meant_products(&fifty(49), &one).len(), meant_products(&fifty(50), &one).len()),
            (1, 0)
        );
        for message in ["a coat for the rain", "thatched roofs", "what about 9?", "option 4"] {
            assert!(meant_products(message, &one).is_empty(), "{message}");
        }
    }

    #[test]
    fn chat_api_16_a_hint_names_product_id_and_number_after_the_product_memory() {
        let memory = memory(3, &[]);
        let hints = |message: &str| reference_hints(message, &memory, None)[1..].join("|");
        assert_eq!(
            hints("I like number 3"),
            "The message below means productId 103 (number 3 on the screen)."
        );
        assert_eq!(
            hints("is ab-2 warm?"),
            "The message below means productId 102 (number 2 on the screen)."
        );
        assert_eq!(hints("do you ship to Norway?"), "");
        assert_eq!(hints("that is nice"), "", "three may be meant");
        assert!(super::reference_hints("option 1", &Memory::default(), None).is_empty());
    }

    #[test]
    fn chat_api_12_and_16_numbers_refer_to_the_options_while_options_are_offered() {
        let options = serde_json::json!({"options": [{"label": "Size: 41", "meta": {"partNo": "P-41"}}, {"label": "Size: 42", "meta": {"partNo": "P-42"}}]});
        for message in
            ["I would like the second one", "number 2 in red", "1 or 2?", "is AB-2 warm?"]
        {
            let hints = reference_hints(message, &memory(3, &[]), Some(&options));
            assert_eq!(hints.len(), 2, "{message}: {hints:?}");
            assert!(
                hints[1].contains("1: Size: 41 (part number P-41)")
                    && hints[1].contains("2: Size: 42 (part number P-42)"),
                "{hints:?}"
            );
        }
    }

    #[test]
    fn chat_api_16_several_numbers_in_a_cart_request_refer_to_the_shown_products() {
        let said = |message: &str| reference_hints(message, &memory(6, &[]), None)[1..].join("|");
        for (message, meant) in [
            ("add the first two to my cart", vec![1, 2]),
            ("lägg de första tre i varukorgen", vec![1, 2, 3]),
            ("add 1 and 3 to my cart", vec![1, 3]),
            ("köp 2 och 4", vec![2, 4]),
            ("ta bort 1 och 2", vec![1, 2]),
            ("add AB-2 and AB-4", vec![2, 4]),
            ("show me the top three tents", vec![]),
            ("I need 2 or 3 of them", vec![]),
            ("jag behöver 2 eller 3 av dem", vec![]),
            ("finns den i andra färger?", vec![]),
        ] {
            assert_eq!(places(message), meant, "{message}");
            assert!(!said(message).contains("compared"), "{message}: {}", said(message));
        }
        assert!(said("1 and 3").contains("compared: productId 101, 103"));
        assert!(said("compare 1 and 3 before I buy").contains("compared: productId 101, 103"));
    }

    #[test]
    fn chat_api_13_the_products_to_compare_are_read_from_the_message() {
        let (none, two) = (memory(6, &[]), memory(6, &["107", "108"]));
        let ids = |message: &str, memory: &Memory| products_to_compare(message, memory).join(" ");
        for (message, wanted) in [
            ("compare 1 and 3", "101 103"),
            ("1, 2 & 4", "101 102 104"),
            ("2 vs 3?", "102 103"),
            ("jämför alternativ 1 och 2", "101 102"),
            ("compare the first two", "101 102"),
            ("compare option 5 with AB-2", "105 102"),
            ("AB-1 or AB-3", "101 103"),
            ("which should I buy, 1 or 3?", "101 103"),
            ("ska jag köpa 1 eller 3?", "101 103"),
            ("add 1 and 3 to my cart", ""),
            ("1 and 2 and 3 and 4", "101 102 103"),
            ("compare 1 and 9", ""),
            ("compare tents", ""),
            ("which is better?", ""),
            ("size 42 and red", ""),
            ("101, 103", "101 103"),
            ("is AB-1 warmer? I have seen AB-3", ""),
            ("add AB-1 to my cart and remove AB-3", ""),
            ("option 1 and a bag", ""),
            ("1 3", ""),
            ("2 pairs and 3 socks", ""),
            ("#2", ""),
        ] {
            assert_eq!(ids(message, &none), wanted, "{message}");
        }
        for joiner in [" and ", " & ", ", ", " vs ", " vs. ", " or ", " och ", " eller "] {
            assert_eq!(ids(&format!("2{joiner}5"), &none), "102 105", "{joiner}");
            assert_eq!(ids(&format!("ab-2{joiner}AB-5?"), &none), "102 105", "{joiner}");
        }
        let (pair, several) =
            (memory(2, &[]), ["these", "those", "them", "both", "two", "three", "2", "3"]);
        for word in ["difference", "better", "worse", "prefer", "versus"] {
            assert_eq!(ids(&format!("{word}?"), &pair), "", "{word} of what?");
            for several in several {
                assert_eq!(
                    ids(&format!("{word} of the {several}?"), &pair),
                    "101 102",
                    "{word}, {several}"
                );
            }
        }
        for several in several {
            assert_eq!(ids(&format!("I like {several}"), &pair), "", "{several} alone");
        }
        assert_eq!(ids("which of these is better?", &two), "107 108");
        assert_eq!(ids("vad är skillnaden mellan båda?", &memory(2, &[])), "101 102");
        assert_eq!(
            ids("what is the difference between them", &memory(5, &[])),
            "",
            "five are too many to mean"
        );
    }

    #[test]
    fn chat_api_13_products_named_with_several_words_can_be_compared() {
        let mut spaced = memory(3, &[]);
        for known in &mut spaced.last_results {
            known.part_no = Some(format!("Fell {} & Co.", known.index));
        }
        assert_eq!(
            products_to_compare("fell 1 & co. or fell 3 & co.?", &spaced).join(" "),
            "101 103"
        );
        assert!(
            products_to_compare("add fell 1 & co. and remove fell 3 & co.", &spaced).is_empty()
        );
    }

    #[test]
    fn chat_api_13_numbers_names_and_words_such_as_these_can_be_combined() {
        let ids = |message: &str, memory: &Memory| products_to_compare(message, memory).join(" ");
        let ten = memory(10, &["107", "108", "109", "102"]);
        assert_eq!(ids("compare 10 and 9", &ten), "1010 109", "as they are named");
        assert_eq!(ids("compare 10 and 11", &ten), "", "one alone is no comparison");
        assert_eq!(ids("compare AB-4 with option 6", &ten), "106 104");
        for these in ["these", "those", "them", "both", "all"] {
            assert_eq!(
                ids(&format!("compare {these}"), &ten),
                "108 109 102",
                "the three that were looked at last"
            );
            assert_eq!(
                ids(&format!("compare {these}"), &memory(3, &["107"])),
                "101 102 103",
                "one is too few: what is shown"
            );
            assert_eq!(ids(&format!("compare {these}"), &memory(1, &[])), "");
            assert_eq!(ids(&format!("compare {these}"), &memory(4, &[])), "");
        }
        assert_eq!(ids("compare option 1 with these", &memory(6, &["107", "108"])), "101 107 108");
        assert_eq!(ids("compare AB-1 with these", &ten), "101 108 109", "three in all");
        assert_eq!(ids("compare number 2 with them", &memory(3, &[])), "102 101 103", "each once");
    }
}
