//! Questions over five made-up sources with the queries that they mean.

use crate::support::{Expected, Wanted, cases, same, shared, shown};
use questions::Outcome;

#[test]
fn each_question_has_its_reading() {
    let fixture = shared();
    let mut wrong = Vec::new();
    let all = cases();
    for case in &all {
        let found = fixture.read(&case.question);
        if let Err(why) = check(case, &found) {
            wrong.push(format!("{}\n    {why}", case.question));
        }
    }
    let count = all.len();
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

pub(crate) fn check(case: &Expected, found: &Outcome) -> Result<(), String> {
    let text = shown(found, &case.question);
    let is_right = match (found, &case.outcome) {
        (Outcome::One(reading), Wanted::Query(query)) => {
            same(&reading.query, query)
                && case.view == reading.view
                && case.corrected.len() == reading.corrections.len()
        }
        (Outcome::Partly { without, .. }, Wanted::Partly(words)) => {
            let left: Vec<String> =
                without.iter().map(|at| language::fold(&case.question[at.clone()])).collect();
            left == *words
        }
        (Outcome::Declined { by, .. }, Wanted::Declined(name)) => {
            serde_json::to_value(by).is_ok_and(|by| by == **name)
        }
        (Outcome::None, Wanted::None) => true,
        _ => false,
    };
    if is_right { Ok(()) } else { Err(format!("{text}\n    wanted {:?}", case.outcome)) }
}
