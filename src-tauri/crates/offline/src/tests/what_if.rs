//! Tests of assumptions about a plan, of texts that tell to change it, and of questions that only look like
//! either of them.

use contract::metric_query::read_metric_query;
use engine::ports::Purpose;
use questions::Outcome;
use serde_json::{Value, json};

use super::world::{SAMPLE, Turn, World, now};
use crate::data::moment;

fn answer(locale: &str, messages: &[&str]) -> Turn {
    let mut world = World::with_sample();
    world.locale = locale.to_owned();
    let mut turns: Vec<Turn> = messages.iter().map(|message| world.say(message)).collect();
    turns.pop().unwrap()
}

/// Returns the assumptions of the only query that answers messages.
fn assumed(locale: &str, messages: &[&str]) -> Value {
    let turn = answer(locale, messages);
    let [call] = turn.calls.as_slice() else { panic!("{messages:?}: {turn:?}") };
    call.arguments["query"]["what_if"].clone()
}

#[test]
fn another_budget_or_rate_is_assumed_for_the_things_that_are_named() {
    let kestrel = || json!([{"account": ["Kestrel Travel"]}]);
    for (locale, message, change) in [
        ("en", "what if kestrel had 250k", json!({"budget": {"to": 250_000}})),
        ("en", "what if kestrel had 20% more budget", json!({"budget": {"percent": 20}})),
        ("en", "what if kestrel doubled its budget", json!({"budget": {"percent": 100}})),
        ("en", "what if we cut the budget of kestrel by 2000", json!({"budget": {"by": -2000}})),
        ("en", "kestrel with a budget of 1.2m", json!({"budget": {"to": 1_200_000}})),
        ("en", "what if kestrel spent 15% less per day", json!({"rate": {"percent": -15}})),
        ("sv", "kestrel med 80 000 i budget", json!({"budget": {"to": 80_000}})),
        (
            "sv",
            "vad händer om vi höjer budgeten för kestrel med 10 %",
            json!({"budget": {"percent": 10}}),
        ),
        ("sv", "räcker 1,2 miljoner för kestrel", json!({"budget": {"to": 1_200_000}})),
    ] {
        let mut wanted = change;
        wanted["where"] = kestrel();
        assert_eq!(assumed(locale, &[message]), json!([wanted]), "{message}");
    }
}

#[test]
fn an_assumption_said_in_words_is_read_as_the_same_query() {
    let (known, as_of) = (&**SAMPLE, moment(now(), "UTC"));
    let campaigns = ["Juniper Stays - Cabins", "Juniper Stays - Easter"];
    let own = json!([{"account": ["Kestrel Travel"]}]);
    let single = |change: Value| {
        let mut one = change;
        one["where"] = own.clone();
        json!({"source": "pacing", "measures": ["budget", "projection"], "where": own, "what_if": [one]})
    };
    for query in [
        single(json!({"budget": {"to": 250_000}})),
        single(json!({"budget": {"by": -2000}})),
        single(json!({"budget": {"percent": 12.5}})),
        single(json!({"rate": {"to": 600}})),
        single(json!({"rate": {"percent": -15}})),
        json!({"source": "pacing", "measures": ["projection"], "by": ["campaign"],
            "where": [{"campaign": campaigns}], "what_if": [
                {"where": [{"campaign": [campaigns[0]]}], "budget": {"by": -1000}},
                {"where": [{"campaign": [campaigns[1]]}], "budget": {"by": 1000}}]}),
    ] {
        let query = read_metric_query(&query).unwrap();
        for language in ["en", "sv"] {
            let text = known.reader().say(&query, &known.catalog, language).unwrap();
            let found = known.reader().read(&text, &known.names, &known.catalog, &as_of);
            let Outcome::One(reading) = &found else { panic!("{text}: {found:?}") };
            assert_eq!(reading.query, query, "{text}");
        }
    }
}

#[test]
fn a_follow_up_changes_the_amount_or_the_thing_of_an_assumption() {
    let first = "what if account 17 had 250k";
    let account = |id: &str| json!([{"account_id": [id]}]);
    let found = assumed("en", &[first, "with 200k instead"]);
    assert_eq!(found, json!([{"where": account("17"), "budget": {"to": 200_000}}]));
    let raised = "what if we raise the budget of account 17 by 10%";
    let found = assumed("en", &[raised, "by 20% instead"]);
    assert_eq!(found, json!([{"where": account("17"), "budget": {"percent": 20}}]));
}

#[test]
fn a_text_that_tells_to_change_a_plan_changes_nothing() {
    for (locale, message) in [
        ("en", "set the budget of account 17 to 300k"),
        ("en", "please raise the budget of kestrel by 10%"),
        ("sv", "höj budgeten för kestrel till 300k"),
    ] {
        let turn = answer(locale, &[message]);
        assert!(turn.calls.is_empty(), "{message}: {turn:?}");
        let refusal = if locale == "sv" { "ändrar inget" } else { "change nothing" };
        assert!(turn.text.contains(refusal), "{message}: {}", turn.text);
        let [choice] = turn.choices.as_slice() else { panic!("{message}: {turn:?}") };
        let assuming = if locale == "sv" { "givet" } else { "assuming" };
        assert!(choice.message.contains(assuming), "{message}: {}", choice.message);
    }
}

#[test]
fn questions_that_only_look_like_assumptions_assume_nothing() {
    for message in [
        "spend for Kestrel Travel in october",
        "did spend increase in october",
        "campaigns with a spend over 5000",
        "spend in october compared with september",
        "top 5 campaigns by spend",
        "which campaigns cut spend by 15%",
    ] {
        let turn = answer("en", &[message]);
        let has_none = |call: &super::world::Call| call.arguments["query"]["what_if"].is_null();
        assert!(turn.calls.iter().all(has_none), "{message}: {turn:?}");
    }
}

#[test]
fn a_specialist_without_the_tool_names_the_one_that_has_it() {
    let mut world = World::with_sample();
    let tools = vec!["product_search".to_owned()];
    let text = world.asked_for("spend in October", Purpose::Part { tools });
    assert!(text.contains("**") && !text.contains("switched off"), "{text}");
}

#[test]
fn a_tool_of_the_specialists_own_pack_that_is_not_offered_is_switched_off() {
    let mut world = World::with_sample();
    let tools = vec!["cart_get".to_owned()];
    let text = world.asked_for("show me lamps", Purpose::Part { tools });
    assert!(text.contains("switched off"), "{text}");
}
