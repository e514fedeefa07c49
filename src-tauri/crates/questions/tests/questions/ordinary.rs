//! Ordinary questions over sources with the names that an import proposes, each with its query, the
//! condition whose truth is asked, and the measure that a general word for an amount means.

use analytics::Catalog;
use contract::metric_query::read_metric_query;
use questions::{Assumed, Outcome, Reading, Values};
use serde_json::{Value, json};

use crate::{
    cases::check,
    support::{Fixture, Wanted, cases_of, fixture_of, same, shown},
};

/// Returns a fixture that has only one of some sources.
pub fn only(all: &Fixture, name: &str) -> Fixture {
    let source = all.catalog.sources.iter().find(|source| source.name().as_str() == name).unwrap();
    let own = (source.name().clone(), all.values[source.name()].clone());
    Fixture::of(Catalog { sources: vec![source.clone()] }, Values::from([own]))
}

/// Checks the condition that is asked and the measure of an amount.
pub fn check_more(case: &Value, reading: &Reading) -> Result<(), String> {
    let asked = case.get("asked").map(|asked| {
        let query = json!({"measures": ["rows"], "where": [asked]});
        read_metric_query(&query).unwrap().conditions.remove(0)
    });
    let amounts: Vec<&str> = reading
        .assumed
        .iter()
        .filter_map(|assumed| match assumed {
            Assumed::Amount(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let wanted: Vec<&str> = case["amount"].as_str().into_iter().collect();
    if reading.asked == asked && amounts == wanted {
        return Ok(());
    }
    Err(format!("asked {:?}, assumed {:?}", reading.asked, reading.assumed))
}

#[test]
fn an_ordinary_question_said_in_words_is_read_as_the_same_query() {
    let all = fixture_of(include_str!("../cases/sixth_sources.json"));
    let files: Vec<Value> =
        serde_json::from_str(include_str!("../cases/sixth_round.json")).unwrap();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for file in &files {
        let fixture = only(&all, file["source"].as_str().unwrap());
        for case in cases_of(file) {
            let Wanted::Query(query) = case.outcome else { continue };
            for language in ["en", "sv"] {
                let Some(text) = fixture.reader.say(&query, &fixture.catalog, language) else {
                    continue;
                };
                count += 1;
                let found = fixture.read(&text);
                if !matches!(&found, Outcome::One(reading) if same(&reading.query, &query)) {
                    wrong.push(format!("{text}\n    {}", shown(&found, &text)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 80, "most queries can be said: {count}");
}

/// Checks all questions of a file.
fn check_all(file: &str) {
    let all = fixture_of(include_str!("../cases/sixth_sources.json"));
    let files: Vec<Value> = serde_json::from_str(file).unwrap();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for file in &files {
        let fixture = only(&all, file["source"].as_str().unwrap());
        for (case, written) in cases_of(file).iter().zip(file["cases"].as_array().unwrap()) {
            count += 1;
            let found = fixture.read(&case.question);
            let mut right = check(case, &found);
            if let (Ok(()), Outcome::One(reading)) = (&right, &found) {
                right = check_more(written, reading);
            }
            if let Err(why) = right {
                wrong.push(format!("{}\n    {why}", case.question));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_ordinary_question_has_its_reading() {
    check_all(include_str!("../cases/sixth_round.json"));
}

#[test]
fn each_other_ordinary_question_has_its_reading() {
    check_all(include_str!("../cases/ordinary_more.json"));
}
