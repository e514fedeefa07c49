//! Bounds with units, amounts and times that are left, first and last days, and parts of periods.

use serde_json::Value;

use crate::{
    cases::check,
    ordinary::only,
    support::{cases_of, fixture_of},
};

#[test]
fn a_bound_is_one_of_the_measure_that_its_unit_and_its_words_stand_for() {
    let all = fixture_of(include_str!("../cases/bound_sources.json"));
    let files: Vec<Value> = serde_json::from_str(include_str!("../cases/bounds.json")).unwrap();
    let mut wrong = Vec::new();
    for file in &files {
        let fixture = only(&all, file["source"].as_str().unwrap());
        for case in &cases_of(file) {
            if let Err(why) = check(case, &fixture.read(&case.question)) {
                wrong.push(format!("{}\n    {why}", case.question));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
