//! Tests of `csign alerts`: the rules with their state, and alerts that are none.

use std::fs;

use serde_json::json;

use crate::world::World;

#[test]
fn rules_and_alerts_are_listed_and_checked() {
    let world = World::new();
    let none = world.run(&["alerts", "rules"]).ends_with(0);
    assert!(none.err.contains("There are no rules."), "{}", none.err);
    fs::create_dir_all(world.data().join("alerts")).unwrap();
    let rule = json!({"version": 1, "content": {
        "id": "rule_1", "revision": 1,
        "created_at": "2026-11-30T09:00:00Z", "changed_at": "2026-11-30T09:00:00Z",
        "content": {
            "name": "Silence", "is_on": true, "condition": {"no_data_for": {"days": 2}},
            "query": {"source": "ads", "measures": ["spend"]}
        }
    }});
    fs::write(world.data().join("alerts/rule_1.json"), rule.to_string()).unwrap();
    let rules = world.run(&["alerts", "rules"]).ends_with(0);
    assert_eq!(rules.out, "rule_1  Silence  not checked yet\n");
    let checked = world.run(&["alerts", "check"]).ends_with(0);
    assert!(checked.err.contains("There are no alerts."), "{}", checked.err);
    let listed = world.run(&["--json", "alerts", "list"]).ends_with(0).json();
    assert_eq!(listed, json!({"alerts": [], "unseen": 0}));
}
