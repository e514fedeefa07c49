//! Names as people write them: glued to an id, with the ending of an owner, misspelled, or only a part of
//! them. And words that say nothing beside them.

use serde_json::Value;

use crate::{
    cases::check,
    ordinary::only,
    support::{cases_of, fixture_of},
};

#[test]
fn names_are_read_as_people_write_them() {
    let all = fixture_of(include_str!("../cases/name_sources.json"));
    let files: Vec<Value> = serde_json::from_str(include_str!("../cases/names.json")).unwrap();
    let mut wrong = Vec::new();
    for file in &files {
        let fixture = only(&all, file["source"].as_str().unwrap());
        for case in cases_of(file) {
            if let Err(why) = check(&case, &fixture.read(&case.question)) {
                wrong.push(format!("{}\n    {why}", case.question));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
