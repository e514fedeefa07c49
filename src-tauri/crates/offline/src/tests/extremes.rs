//! Extremes and distances of things that a source judges, and names that several things share.

use contract::metric_query::read_metric_query;
use serde_json::{Value, json};

use super::world::World;

/// Returns the queries that a message leads to.
fn asked(locale: &str, message: &str) -> Vec<Value> {
    let mut world = World::with_sample();
    world.locale = locale.to_owned();
    let turn = world.say(message);
    turn.calls.iter().map(|call| call.arguments["query"].clone()).collect()
}

fn check(cases: &[(&str, &str, Value)]) {
    for (locale, message, wanted) in cases {
        let found = asked(locale, message);
        let [query] = found.as_slice() else { panic!("{message}: {found:?}") };
        let wanted = read_metric_query(wanted).unwrap();
        assert_eq!(read_metric_query(query).unwrap(), wanted, "{message}");
    }
}

/// Returns the query for the first things by their difference to the plan.
fn ranked(by: &str, limit: u32, is_descending: bool) -> Value {
    let mut order = json!({"by": "variance_percent"});
    if is_descending {
        order["descending"] = json!(true);
    }
    json!({"source": "pacing", "by": [by], "measures": ["variance_percent"], "order": [order], "limit": limit})
}

#[test]
fn an_extreme_of_a_verdict_ranks_by_the_difference_to_the_plan() {
    check(&[
        ("en", "which campaign is most behind", ranked("campaign", 1, false)),
        ("en", "which advertiser is lagging the most", ranked("advertiser", 1, false)),
        ("en", "who is furthest behind?", ranked("campaign", 1, false)),
        ("en", "bottom 3 advertisers by pacing", ranked("advertiser", 3, false)),
        ("en", "the worst account", ranked("account", 1, false)),
        ("sv", "vilken kampanj ligger längst efter", ranked("campaign", 1, false)),
        ("sv", "vilket konto ligger längst före plan", ranked("account", 1, true)),
    ]);
}

#[test]
fn a_named_figure_decides_an_extreme_and_no_verdict_does() {
    let by_cpm = json!({"source": "pacing", "by": ["campaign"], "measures": ["cpm"],
        "order": [{"by": "cpm", "descending": true}], "limit": 3});
    check(&[("en", "the three worst campaigns by cpm", by_cpm)]);
}

#[test]
fn a_distance_is_the_difference_to_the_plan_and_no_condition() {
    let of = |name: &str, measures: &[&str]| json!({"source": "pacing", "measures": measures, "where": [{"account": [name]}]});
    let both = ["variance", "variance_percent"];
    check(&[
        ("en", "how far ahead is Bluebell Home", of("Bluebell Home", &both)),
        ("en", "by how much is kestrel behind", of("Kestrel Travel", &both)),
        ("en", "how far behind budget is kestrel", of("Kestrel Travel", &both)),
        ("en", "how far behind is kestrel in percent", of("Kestrel Travel", &["variance_percent"])),
        ("sv", "hur långt efter ligger kestrel", of("Kestrel Travel", &both)),
    ]);
}

#[test]
fn things_compared_by_their_distance_to_the_plan_stand_side_by_side() {
    let both = json!({"source": "pacing", "by": ["campaign"], "measures": ["variance_percent"],
        "where": [{"campaign": ["Glacier Tents - Ultralight", "Glacier Tents - Base Camp"]}]});
    check(&[("sv", "vilken ligger närmast plan, Ultralight eller Base Camp?", both)]);
}

/// Returns the last query of a conversation.
fn last(locale: &str, messages: &[&str]) -> Value {
    let mut world = World::with_sample();
    world.locale = locale.to_owned();
    let mut turns = messages.iter().map(|message| world.say(message)).collect::<Vec<_>>();
    let mut calls = turns.pop().unwrap().calls;
    calls.pop().unwrap().arguments["query"].clone()
}

#[test]
fn a_distance_of_things_in_a_state_is_about_those_things() {
    let wanted = read_metric_query(&json!({"source": "pacing", "by": ["campaign"],
        "measures": ["variance", "variance_percent"],
        "where": [{"status": ["ahead", "slightly_ahead"]}]}));
    for (locale, messages) in [
        ("en", vec!["which campaigns are overspending and by how much"]),
        ("en", vec!["which campaigns are overspending", "by how much?"]),
        ("sv", vec!["vilka kampanjer överspenderar och med hur mycket"]),
    ] {
        assert_eq!(read_metric_query(&last(locale, &messages)), wanted, "{messages:?}");
    }
}

#[test]
fn a_thing_in_a_state_that_is_asked_for_is_named_and_not_counted() {
    let late = json!({"source": "pacing", "by": ["account"], "measures": ["spend"],
        "where": [{"status": ["behind", "slightly_behind"]}]});
    check(&[("en", "any underspending accounts?", late)]);
}

#[test]
fn a_verdict_beside_an_extreme_does_not_decide_it() {
    let largest = json!({"source": "pacing", "by": ["campaign", "status"], "measures": ["spend"],
        "order": [{"by": "spend", "descending": true}], "limit": 3,
        "where": [{"account": ["Bluebell Home"]}]});
    check(&[("en", "the three biggest campaigns in Bluebell Home and their status", largest)]);
}

#[test]
fn things_that_will_miss_their_plan_are_only_those_that_will() {
    let with = |test: Value| {
        json!({"source": "pacing", "by": ["campaign"],
            "measures": ["projection", "budget", "projected_variance"],
            "where": [{"projected_variance": test}]})
    };
    check(&[
        ("en", "which campaigns will overspend", with(json!({">": 0}))),
        ("en", "which campaigns will underdeliver", with(json!({"<": 0}))),
    ]);
}

#[test]
fn an_amount_that_is_needed_each_day_is_no_spend_by_day() {
    let needed = |id: &str| {
        json!({"source": "pacing", "by": ["account"], "measures": ["needed_per_day"],
            "where": [{"account_id": [id]}]})
    };
    check(&[
        (
            "en",
            "how much do we need to spend per day to hit the budget in account 17",
            needed("17"),
        ),
        ("sv", "hur mycket behöver vi spendera per dag i konto 23", needed("23")),
    ]);
}

#[test]
fn an_amount_behind_a_bound_is_no_year_long_ago() {
    let found =
        last("en", &["spend by campaign for account 23 this month", "only the ones over 2000"]);
    assert_eq!(found["period"], json!({"this": "month"}));
}

#[test]
fn a_rest_goes_on_from_the_plan_that_was_asked_for() {
    for (locale, messages) in [
        ("en", ["budget for Glacier Tents", "how much is left?"]),
        ("sv", ["budget för Glacier Tents", "hur mycket är kvar?"]),
    ] {
        let found = last(locale, &messages);
        assert_eq!(found["measures"], json!([{"measure": "remaining"}]), "{messages:?}");
    }
}

#[test]
fn the_day_on_which_a_plan_is_used_up_is_no_condition() {
    let day = json!({"source": "pacing", "measures": ["run_out_day"],
        "where": [{"campaign": ["Juniper Stays - Cabins"]}]});
    check(&[("en", "when will Cabins run out of money", day)]);
}
