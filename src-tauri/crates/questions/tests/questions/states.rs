//! Words for states, their negation, and questions for yes or no about them, over sources with a status.

use questions::Outcome;
use serde_json::Value;

use crate::{
    cases::check,
    ordinary::{check_more, only},
    support::{cases_of, fixture_of},
};

#[test]
fn a_state_is_a_condition_or_what_a_yes_or_no_question_asks() {
    let all = fixture_of(include_str!("../cases/state_sources.json"));
    let files: Vec<Value> = serde_json::from_str(include_str!("../cases/states.json")).unwrap();
    let mut wrong = Vec::new();
    for file in &files {
        let fixture = only(&all, file["source"].as_str().unwrap());
        for (case, written) in cases_of(file).iter().zip(file["cases"].as_array().unwrap()) {
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
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
