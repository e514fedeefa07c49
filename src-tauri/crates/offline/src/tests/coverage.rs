//! Tests of the coverage rule: unused words that would change the question prevent an answer, other
//! unused words are reported, and a message can be explained.

use serde_json::json;

use super::world::{World, model, now};
use crate::{
    goal::{Doubt, Outcome},
    texts::Text,
};

/// Returns the unused words that prevented an answer to a message, if any.
fn refused(text: &str) -> Vec<String> {
    let turn = World::new().say(text);
    let words = turn.said.outcomes.iter().flat_map(|(_, outcome)| match outcome {
        Outcome::Doubt(Doubt::Unused(words)) => words.clone(),
        Outcome::Doubt(Doubt::UnknownName(name)) => vec![name.clone()],
        _ => Vec::new(),
    });
    let words: Vec<String> = words.collect();
    assert!(words.is_empty() || turn.calls.is_empty(), "{text}: {:?}", turn.calls);
    words
}

#[test]
fn number_words_in_a_search_are_converted_to_digits() {
    let all = calls("two person tent under 5000 kr that's in stock");
    assert_eq!(all[0].1["query"], "2 person tent", "{all:?}");
}

#[test]
fn text_in_quotation_marks_is_not_read_as_a_request() {
    for text in [
        "How do you say \"the budget is spent\" in Swedish?",
        "översätt \"we are slightly behind plan\" till svenska",
    ] {
        assert_eq!(calls(text), [], "{text}");
    }
}

#[test]
fn a_message_outside_all_packs_is_not_reported_as_an_unknown_name() {
    for text in [
        "book a flight to Oslo next Wednesday, not before noon",
        "can you help me write a mail to my boss about being sick tomorrow",
        "why does my sql give \"column must appear in the GROUP BY clause\"",
    ] {
        assert_eq!(refused(text), Vec::<String>::new(), "{text}");
        let turn = World::new().say(text);
        assert!(turn.text.contains("no installed pack covers it"), "{}", turn.text);
    }
}

#[test]
fn a_number_with_a_unit_is_not_read_as_a_price() {
    for text in [
        "i need a head torch with at least 400 lumens under 700",
        "which backpacks hold more than 50 litres?",
    ] {
        let all = calls(text);
        let has_price = all.iter().any(|(_, args)| args["filters"].get("minPrice").is_some());
        assert!(!has_price, "{text}: {all:?}");
    }
}

#[test]
fn a_question_about_sizes_or_colours_of_a_product_is_answered_for_them() {
    for (text, answer) in [
        ("is the Ridge Shell available in XL orange", "**Ridge Shell** in XL orange is"),
        ("is the Ridge Trek available in size 60", "No: **Ridge Trek** does not come in 60."),
        (
            "what colours does the Brook Mid come in and do you have it in 42",
            "No: **Brook Mid** does not come in 42.",
        ),
        ("how much is the Ridge Trek in brown", "I did not use “brown”."),
        ("what do two Ridge Bottles cost", "**2 × Ridge Bottle** cost 218.00\u{a0}SEK"),
        ("tell me about three Ridge Bottles", "I did not use “3”."),
        ("how many Ridge Socks are left in pink 39-41?", "in pink 39 41 is in stock"),
        ("how much does the Ridge Down weigh?", "Weight:"),
        ("how much are the Ridge Shell and the Ridge Trek together", "“Trek” and “together”."),
    ] {
        let turn = World::new().say(text);
        assert!(turn.text.contains(answer), "{text}: {}", turn.text);
    }
    let mut world = World::new();
    world.locale = "sv".into();
    let turn = world.say("finns Ridge Trek i storlek 44 i brunt");
    assert!(turn.text.contains("**Ridge Trek** i 44 brunt finns i lager."), "{}", turn.text);
    assert!(!turn.text.contains("Svart"), "{}", turn.text);
}

#[test]
fn search_limits_are_read_from_alternative_wordings() {
    for (text, arguments) in [
        (
            "jackor mellan 1000 och 2000 kronor",
            json!({"query": "jackor", "filters": {"minPrice": 1000, "maxPrice": 2000}}),
        ),
        ("tents that aren't sold out", json!({"query": "tents", "filters": {"inStock": true}})),
        ("show me jakcets", json!({"query": "jackets"})),
        ("how many tents do you have", json!({"query": "tents"})),
    ] {
        assert_eq!(calls(text), [("product.search".into(), arguments)], "{text}");
    }
    let turn = World::new().say("4 person tent for less than 5000 kr");
    assert!(!turn.text.contains("No result names"), "{}", turn.text);
}

#[test]
fn a_search_with_an_unsupported_comparison_is_not_made() {
    for (text, words) in [
        ("show me tents that weigh under 2.5 kg", "under 2.5 kg"),
        ("stoves that weigh less than 300 g", "less than 300 g"),
        ("show me a warmer sleeping bag", "warmer"),
        ("red or blue trekking poles max 1000kr", "red or blue"),
        ("I need a tent and a sleeping bag for under 5000 total", "tent and sleeping"),
        ("behöver byxor och vandringsstavar, båda svarta", "byxor och vandringsstavar"),
        ("which tent is the lightest", "lightest"),
    ] {
        assert!(refused(text).contains(&words.to_owned()), "{text}: {:?}", refused(text));
    }
}

#[test]
fn a_number_after_in_is_a_size() {
    let all = calls("do you have trail shoes in 42");
    assert_eq!(all[0].0, "product.search", "{all:?}");
    assert_eq!(all[0].1["query"], "trail shoes 42", "{all:?}");
}

#[test]
fn numbers_of_a_search_that_no_result_contains_are_reported() {
    let turn = World::new().say("waterproof boots size 30");
    assert!(turn.text.contains("“30”"), "{}", turn.text);
    let turn = World::new().say("waterproof boots size 41");
    assert!(!turn.text.contains("“41”"), "{}", turn.text);
}

#[test]
fn explain_shows_corrections_clauses_intents_and_goals_of_a_message() {
    let text = "show me jakcets under 2000";
    let explained = model().explain(text, now(), "Europe/Stockholm", None);
    assert_eq!(explained.corrected.len(), 1, "{explained:?}");
    let [clause] = &explained.clauses[..] else { panic!("{explained:?}") };
    assert!(clause.intents[0].is_chosen, "{explained:?}");
    let [goal] = &explained.goals[..] else { panic!("{explained:?}") };
    let wanted = json!({"query": "jackets", "filters": {"maxPrice": 2000}});
    assert_eq!(json!(goal.arguments), wanted);
    assert!(explained.otherwise.is_none());
    let other = model().explain("asdfgh jkl", now(), "Europe/Stockholm", None);
    assert_eq!(other.otherwise.as_deref(), Some("not_understood"));
}

/// Returns the calls that a message leads to.
fn calls(text: &str) -> Vec<(String, serde_json::Value)> {
    let turn = World::new().say(text);
    turn.calls.into_iter().map(|call| (call.tool, call.arguments)).collect()
}

#[test]
fn unknown_words_are_reported() {
    let turn = World::new().say("does the turbine hum");
    assert!(turn.text.contains("I did not understand “turbine” and “hum”."), "{}", turn.text);
    let turn = World::new().say("show me waterproof boots for astronauts");
    assert!(turn.text.contains("No result names “astronauts”."), "{}", turn.text);
    let turn = World::new().say("do you have a blue sweater in size m");
    assert!(turn.text.contains("nothing") && turn.text.contains("sweater"), "{}", turn.text);
    let turn = World::new().say("do you have it in large");
    assert_eq!(turn.calls, [], "{}", turn.text);
}

#[test]
fn the_number_of_a_thing_that_was_found_is_no_unused_word() {
    for (locale, message) in [
        ("en", "Details of Ridge Runner (FJS-TR1001)"),
        ("sv", "Detaljer om Ridge Runner (FJS-TR1001)"),
    ] {
        let mut world = World::new();
        world.locale = locale.to_owned();
        let turn = world.say(message);
        let is_shown = |call: &super::world::Call| call.tool == "product.get";
        assert!(turn.calls.iter().any(is_shown), "{message}: {turn:?}");
        let note = Text::NotUsed.fill(messages::Language::of_tag(locale), &[("words", "")]);
        let note = note.trim_end_matches(['.', ' ']);
        assert!(!turn.text.contains(note), "{message}: {}", turn.text);
    }
}
