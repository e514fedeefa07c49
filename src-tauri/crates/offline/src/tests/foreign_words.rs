//! Messages about data in words that neither a source nor a pack has: no pack may take them.

use super::world::World;
use crate::reader::Talk;

/// Returns the words that an answer names as not understood.
fn unknown_words(messages: &[&str], locale: &str) -> Vec<String> {
    let mut world = World::with_sample();
    world.locale = locale.to_owned();
    let turns = messages.iter().map(|message| world.say(message)).collect::<Vec<_>>();
    let last = turns.last().expect("a message");
    match &last.said.talk {
        Some(Talk::NotUnderstood(words)) => words.clone(),
        other => panic!("{messages:?}: {other:?} {}", last.text),
    }
}

#[test]
fn a_search_or_refusal_of_the_shop_takes_no_question_about_data() {
    for (text, locale, word) in [
        ("Show me the keywords with a quality score below 5", "en", "keywords"),
        ("what did Marmalade weigh at her last visit?", "en", "marmalade"),
        ("What did we pay per cubic metre of water in October?", "en", "cubic"),
        ("Hur många besökare hade butiken förra veckan?", "sv", "besökare"),
    ] {
        let words = unknown_words(&[text], locale);
        assert!(words.iter().any(|own| own.to_lowercase() == word), "{text} {words:?}");
    }
}

#[test]
fn a_request_that_the_shop_declines_is_still_declined() {
    let mut world = World::with_sample();
    for text in ["order the tent and ship it to Oslo", "can I pay with a card?"] {
        let turn = world.say(text);
        assert!(matches!(turn.said.talk, Some(Talk::Cannot { .. })), "{text} {}", turn.text);
    }
}

#[test]
fn words_that_were_not_understood_leave_no_question_open() {
    let mut world = World::with_sample();
    world.say("what did Marmalade weigh at her last visit?");
    let turn = world.say("spend by campaign in October");
    assert_eq!(turn.calls.len(), 1, "{}", turn.text);
    assert_eq!(turn.calls[0].tool, "data.measure");
}

#[test]
fn a_question_that_goes_on_about_figures_is_not_one_about_the_product() {
    let mut world = World::with_sample();
    world.say("how is Fernhill doing?");
    let turn = world.say("and how much a day do we need from here to use up the budget");
    assert!(turn.calls.iter().any(|call| call.tool == "data.measure"), "{}", turn.text);
    assert!(turn.calls[0].arguments.to_string().contains("needed_per_day"), "{:?}", turn.calls);
}
