//! Questions that were written with their queries before they were read for the first time.

use crate::{
    cases::check,
    support::{Expected, Fixture, cases_of, fixture_of, shared},
};
use serde_json::Value;

/// Checks all questions of a file.
fn check_all(file: &str, fixture: &Fixture) {
    let files: Vec<Value> = serde_json::from_str(file).unwrap();
    let all: Vec<Expected> = files.iter().flat_map(cases_of).collect();
    let mut wrong = Vec::new();
    for case in &all {
        if let Err(why) = check(case, &fixture.read(&case.question)) {
            wrong.push(format!("{}\n    {why}", case.question));
        }
    }
    let count = all.len();
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_question_of_the_third_round_has_its_reading() {
    let fixture = fixture_of(include_str!("../cases/third_sources.json"));
    check_all(include_str!("../cases/third_round.json"), &fixture);
}

#[test]
fn each_question_of_the_fourth_round_has_its_reading() {
    check_all(include_str!("../cases/fourth_round.json"), shared());
}

#[test]
fn each_question_of_the_fifth_round_has_its_reading() {
    let fixture = fixture_of(include_str!("../cases/fifth_sources.json"));
    check_all(include_str!("../cases/fifth_round.json"), &fixture);
}

#[test]
fn the_name_of_a_source_names_its_rows() {
    let fixture = fixture_of(include_str!("../cases/source_names_sources.json"));
    check_all(include_str!("../cases/source_names.json"), &fixture);
}
