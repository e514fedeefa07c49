//! Questions that name no figure, or a month that is a name of something, too: the figure that is plainly
//! meant, or a question back with all that may be.

use questions::Outcome;
use serde_json::Value;

use crate::{
    cases::check,
    ordinary::only,
    support::{cases_of, fixture_of, shown},
};

#[test]
fn a_figure_that_is_not_named_is_plainly_meant_or_asked_for() {
    let all = fixture_of(include_str!("../cases/unnamed_sources.json"));
    let files: Vec<Value> = serde_json::from_str(include_str!("../cases/unnamed.json")).unwrap();
    let mut wrong = Vec::new();
    for file in &files {
        let fixture = only(&all, file["source"].as_str().unwrap());
        for case in file["cases"].as_array().unwrap() {
            let text = case["q"].as_str().unwrap();
            let found = fixture.read(text);
            let is_right = match (&case["several"], &case["not"], &found) {
                (Value::Array(wanted), _, Outcome::Several(readings)) => {
                    let first = |reading: &questions::Reading| {
                        reading.query.measures.first().and_then(|used| used.measure.clone())
                    };
                    let mut seen: Vec<String> = readings.iter().filter_map(first).collect();
                    let mut wanted: Vec<&str> = wanted.iter().filter_map(Value::as_str).collect();
                    seen.sort();
                    wanted.sort_unstable();
                    seen == wanted
                }
                (Value::Array(_), ..) => false,
                (_, Value::Bool(true), found) => {
                    !matches!(found, Outcome::One(_) | Outcome::Partly { .. })
                }
                _ => {
                    let one = serde_json::json!({"source": file["source"], "cases": [case]});
                    cases_of(&one).iter().all(|case| check(case, &found).is_ok())
                }
            };
            if !is_right {
                wrong.push(format!("{text}\n    {}", shown(&found, text)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
