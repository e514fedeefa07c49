//! Tests of questions about how something stands, and of questions that name a thing and no figure, over a
//! delivery, its plan, and the source that is computed from both.

use serde_json::{Value, json};

use super::world::World;

/// The figures beside a verdict.
const FIGURES: [&str; 4] = ["spend", "budget", "variance_percent", "projection"];

/// Returns the only query of the answer to a message.
fn query(locale: &str, message: &str) -> Value {
    let mut world = World::with_sample();
    world.locale = locale.to_owned();
    let turn = world.say(message);
    let [call] = turn.calls.as_slice() else { panic!("{message}: {turn:?}") };
    call.arguments["query"].clone()
}

/// Returns the names of the groups of a query.
fn groups(query: &Value) -> Vec<&str> {
    query["by"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["dimension"].as_str().unwrap())
        .collect()
}

fn measures(query: &Value) -> Vec<&str> {
    let used = query["measures"].as_array().unwrap().iter();
    used.map(|used| used["measure"].as_str().unwrap()).collect()
}

#[test]
fn the_verdict_is_that_of_the_smallest_thing_that_a_question_names() {
    for (locale, message, things) in [
        ("en", "how is account 17 doing", vec!["account"]),
        ("en", "how is Fernhill Boots doing in account 17", vec!["account", "advertiser"]),
        ("en", "status of Retailer Launch in november", vec!["campaign"]),
        ("en", "give me an update on Kestrel Travel", vec!["account"]),
        ("en", "how are the campaigns of Kestrel Travel doing", vec!["campaign"]),
        ("en", "how is everything pacing this month", vec!["account"]),
        ("sv", "hur går det för Kestrel Travel i oktober?", vec!["account"]),
        ("sv", "läget för Fernhill Boots", vec!["advertiser"]),
    ] {
        let query = query(locale, message);
        assert_eq!(query["source"], "pacing", "{message}");
        assert_eq!(groups(&query), [things, vec!["status"]].concat(), "{message}");
        assert_eq!(measures(&query), FIGURES, "{message}");
    }
}

#[test]
fn a_question_without_a_figure_is_about_what_was_delivered() {
    for (locale, message) in [
        ("en", "Kestrel Travel, last 10 days"),
        ("en", "show me Kestrel Travel"),
        ("en", "break down Kestrel Travel by campaign"),
        ("en", "Kestrel Travel day by day last week"),
        ("sv", "Kestrel Travel förra kvartalet"),
        ("sv", "utfall Kestrel Travel förra kvartalet"),
    ] {
        let query = query(locale, message);
        assert_eq!(query["source"], "delivery", "{message}");
        assert_eq!(query["measures"], json!([{"measure": "spend"}]), "{message}");
    }
    let planned = query("en", "what is the budget of Kestrel Travel");
    assert_eq!(planned["measures"], json!([{"measure": "budget"}]));
}

#[test]
fn words_about_how_a_figure_stands_ask_for_that_figure() {
    let spend = query("en", "how is the spend of Kestrel Travel doing this month");
    assert_eq!((&spend["source"], measures(&spend)), (&json!("delivery"), vec!["spend"]));
    let compared = query("en", "how is Kestrel Travel doing this month compared with last month");
    assert_eq!(compared["source"], "delivery");
}

#[test]
fn a_verdict_said_in_words_is_read_as_the_same_query() {
    let known = World::with_sample().known.unwrap();
    let reader = known.reader();
    for message in ["how is account 17 doing in october", "status of Retailer Launch"] {
        let asked = query("en", message);
        let asked = contract::metric_query::read_metric_query(&asked).unwrap();
        for language in ["en", "sv"] {
            let said = reader.say(&asked, &known.catalog, language).unwrap();
            let again = query(language, &said);
            let again = contract::metric_query::read_metric_query(&again).unwrap();
            assert_eq!(again, asked, "{said}");
        }
    }
}

#[test]
fn things_whose_verdicts_are_compared_stand_side_by_side() {
    for (locale, message) in [
        ("en", "how is account 17 doing compared to account 23"),
        ("sv", "hur går det för konto 17 jämfört med konto 23"),
    ] {
        let query = query(locale, message);
        assert_eq!(groups(&query), ["account", "status"], "{message}");
        assert_eq!(query["where"], json!([{"account_id": ["17", "23"]}]), "{message}");
        assert!(query["compare"].is_null(), "{message}");
    }
}

#[test]
fn values_are_compared_also_if_a_word_says_what_they_are() {
    for message in [
        "spend of account 17 compared to account 23 last week",
        "compare spend of account 17 and account 23 last week",
    ] {
        let query = query("en", message);
        assert_eq!(query["compare"], json!({"values": {"account_id": ["17", "23"]}}), "{message}");
        assert!(query["by"].is_null(), "{message}");
    }
}
