//! Short questions after one about a source: they keep what the earlier question said.

use serde_json::json;

use super::world::World;

#[test]
fn a_currency_by_its_name_limits_the_rows_that_were_shown() {
    let mut world = World::with_sample();
    world.say("spend in November by campaign");
    let turn = world.say("only the ones in pounds");
    let query = &turn.calls[0].arguments["query"];
    assert_eq!(query["by"], json!([{"dimension": "campaign"}]), "{query}");
    assert_eq!(query["where"], json!([{"currency": ["GBP"]}]), "{query}");
    assert_eq!(query["period"], json!({"month": "2026-11"}), "{query}");
}

#[test]
fn words_that_were_left_over_are_left_over_in_what_goes_on() {
    let mut world = World::with_sample();
    let turn = world.say("polished spend by campaign");
    assert!(turn.text.starts_with("Without “polished” "), "{}", turn.text);
    let turn = world.say("in October");
    assert!(turn.calls.is_empty(), "{}", turn.text);
    assert!(turn.text.starts_with("Without “polished” "), "{}", turn.text);
    let turn = world.say("spend by campaign in October");
    assert_eq!(turn.calls.len(), 1, "{}", turn.text);
}
