//! Conversations as people have them, turn by turn.

use serde_json::json;

use super::world::World;

#[test]
fn probe() {
    let script = std::env::var("PROBE").unwrap_or_default();
    let mut world = World::new();
    for line in script.split('|').filter(|line| !line.is_empty()) {
        let turn = world.say(line);
        println!("\n> {line}");
        for call in &turn.calls {
            println!("   {} {}", call.tool, call.arguments);
        }
        println!("{}", turn.text);
        for choice in &turn.choices {
            println!("   [{}] {}", choice.label, choice.message);
        }
    }
    let _ = json!({});
}
