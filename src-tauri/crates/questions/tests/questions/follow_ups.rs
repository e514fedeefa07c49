//! Questions that go on from an earlier one.

use crate::support::{same, shared, shown};
use contract::metric_query::read_metric_query;
use questions::{Outcome, Shown, View};
use serde_json::Value;

#[test]
fn each_follow_up_changes_the_earlier_query_as_it_says() {
    check(include_str!("../cases/follow_ups.json"));
}

#[test]
fn each_follow_up_of_the_third_round_changes_the_earlier_query_as_it_says() {
    check(include_str!("../cases/more_follow_ups.json"));
}

fn check(file: &str) {
    let fixture = shared();
    let file: Value = serde_json::from_str(file).unwrap();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for chain in file.as_array().unwrap() {
        let before = read_metric_query(&chain["before"]).unwrap();
        let rows = Shown {
            dimension: serde_json::from_value(chain["shown"]["dimension"].clone()).unwrap(),
            values: serde_json::from_value(chain["shown"]["values"].clone()).unwrap_or_default(),
        };
        for turn in chain["turns"].as_array().unwrap() {
            count += 1;
            let text = turn["q"].as_str().unwrap();
            let found = fixture.read_on(text, &before, &rows);
            let mut query = turn["is"].clone();
            if query["source"].is_null() {
                query["source"] = chain["before"]["source"].clone();
            }
            let wanted = read_metric_query(&query).unwrap();
            let view: Option<View> = serde_json::from_value(turn["view"].clone()).unwrap();
            let is_alone = turn["alone"] == true;
            let is_right = matches!(&found.outcome, Outcome::One(reading)
                if same(&reading.query, &wanted) && reading.view == view)
                && found.kept.is_empty() == is_alone;
            if !is_right {
                let text = format!("{text}\n    {}", shown(&found.outcome, text));
                wrong.push(format!("{text} {:?}\n    wanted {query}", found.kept));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
