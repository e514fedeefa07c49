//! Questions as people say them: things that had a figure, what will be, averages without a period, and
//! short questions after an answer.

use contract::metric_query::read_metric_query;
use questions::{Declined, Form, Outcome, Shown};
use serde_json::{Value, json};

use crate::support::{same, shared, shown};

/// Checks that a question has a query.
fn reads(text: &str, query: &Value) {
    let found = shared().read(text);
    let wanted = read_metric_query(query).unwrap();
    let is_right = matches!(&found, Outcome::One(reading) if same(&reading.query, &wanted));
    assert!(is_right, "{}", shown(&found, text));
}

#[test]
fn things_that_had_a_figure_are_those_with_more_than_zero_of_it() {
    let counted = json!({"source": "search_ads", "measures": ["clicks"], "by": ["campaign"],
        "where": [{"clicks": {">": 0}}], "period": "yesterday",
        "then": {"measures": [{"count": "rows", "as": "campaign_count"}]}});
    reads("how many campaigns had clicks yesterday", &counted);
    reads("hur många olika kampanjer hade clicks igår", &counted);
}

#[test]
fn figures_of_a_period_that_has_not_begun_are_declined() {
    for text in [
        "how many clicks will we get each week in January",
        "chart of how many clicks we will get in January",
        "hur många clicks kommer vi att få i januari",
    ] {
        let found = shared().read(text);
        let is_declined = matches!(&found, Outcome::Declined { by: Declined::Forecast, .. });
        assert!(is_declined, "{}", shown(&found, text));
    }
    let past =
        json!({"source": "search_ads", "measures": ["clicks"], "period": {"month": "2026-01"}});
    reads("how many clicks did we get in January", &past);
}

#[test]
fn an_average_per_day_without_a_period_is_that_of_all_days() {
    let all = json!({"source": "search_ads", "measures": ["spend"], "by": [{"time": "day"}],
        "where": {"campaign": ["Easter"]},
        "then": {"measures": [{"average": "spend", "as": "average_spend"}]}});
    reads("average spend per day for Easter", &all);
    reads("average daily spend for Easter", &all);
}

#[test]
fn a_short_question_about_more_or_less_asks_for_yes_or_no() {
    let before = json!({"source": "helpdesk", "measures": ["tickets"], "where": {"team": ["Billing"]},
        "period": {"month": "2026-10"}});
    let before = read_metric_query(&before).unwrap();
    for (text, side) in [
        ("är det fler än i september", ">"),
        ("is that more than in September?", ">"),
        ("is it less than in September", "<"),
    ] {
        let found = shared().read_on(text, &before, &Shown::default()).outcome;
        let Outcome::One(reading) = &found else { panic!("{}", shown(&found, text)) };
        let asked = json!({"measures": ["rows"], "where": [{"tickets_change": {side: 0}}]});
        let asked = read_metric_query(&asked).unwrap().conditions.remove(0);
        assert_eq!((reading.form, reading.asked.as_ref()), (Form::YesNo, Some(&asked)), "{text}");
        let wanted = json!({"source": "helpdesk", "measures": ["tickets"],
            "where": {"team": ["Billing"]}, "period": {"month": "2026-10"},
            "compare": {"period": {"month": "2026-09"}}});
        let wanted = read_metric_query(&wanted).unwrap();
        assert!(same(&reading.query, &wanted), "{}", shown(&found, text));
    }
}
