//! Tests of `csign packs check --run`: a pack's own scenarios give the same result each time.

use serde_json::{Value, json};

use crate::world::{World, packs};

/// Creates a new pack with these scenarios.
fn pack(world: &World, scenarios: Value) -> String {
    let tools = world.path("tools");
    world.run(&["packs", "new", "hello", "--into", tools.to_str().expect("text")]).ends_with(0);
    let folder = tools.join("hello");
    let file = folder.join("pack.json");
    let mut manifest: Value =
        serde_json::from_str(&std::fs::read_to_string(&file).expect("there")).expect("JSON");
    if scenarios.is_array() {
        manifest["acceptance"]["scenarios"] = scenarios;
    }
    std::fs::write(&file, manifest.to_string()).expect("written");
    folder.display().to_string()
}

fn scenario(title: &str, checks: &[&str]) -> Value {
    json!({"title": title, "given": "g", "when": "Greet Ada", "then": "t", "expected_output_checks": checks, "priority": "P1"})
}

#[test]
fn a_new_mcp_pack_passes_its_own_scenarios() {
    let world = World::new();
    let made = world.run(&["packs", "new", "greeter", "--kind", "mcp"]).ends_with(0).out;
    let run = world.run(&["packs", "check", "--run", made.trim()]).ends_with(0).out;
    assert!(run.contains("2 passed, 0 failed"), "{run}");
    let asked = world.run(&["ask", "Greet Ada"]).ends_with(0).out;
    assert!(asked.contains("Hello, Ada!"), "{asked}");
}

#[test]
fn agent_run_12_scenarios_run_offline_and_report_each_check() {
    let world = World::new();
    let mut worker = scenario("worker", &["exit code == 0"]);
    worker["kind"] = json!("worker");
    let mut debug =
        scenario("debug", &["messages_count increases", "output contains \"user assistant user\""]);
    debug["kind"] = json!("http_conversation_debug");
    debug["message"] = json!("Who was here? [debug]");
    let mut health = scenario("health", &["http status == 200", "status == ok"]);
    health["kind"] = json!("http_health");
    let folder = pack(
        &world,
        json!([
            scenario(
                "good",
                &[
                    "status == ok",
                    "output contains \"Ada\"",
                    "tools_used contains hello.greet",
                    "contract_version preserved"
                ]
            ),
            scenario("bad", &["output contains \"Bob\"", "status == ok"]),
            scenario("odd", &["the moon is full"]),
            worker,
            debug,
            health,
        ]),
    );
    let told = || {
        let mut evidence =
            world.run(&["packs", "check", "--run", &folder, "--json"]).ends_with(1).json();
        for scenario in evidence["scenarios"].as_array_mut().expect("a list") {
            assert!(scenario.as_object_mut().expect("an object").remove("duration_ms").is_some());
        }
        evidence["verified_at"].take();
        evidence
    };
    let evidence = told();
    let statuses: Vec<&str> = evidence["scenarios"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["status"].as_str())
        .collect();
    assert_eq!(
        statuses,
        ["passed", "failed", "failed", "skipped", "passed", "passed"],
        "{evidence:#}"
    );
    assert_eq!(evidence["scenarios"][1]["checks"][0]["result"], "failed");
    assert_eq!(evidence["scenarios"][1]["checks"][1]["result"], "passed");
    assert_eq!(evidence["scenarios"][2]["checks"][0]["actual"], "this check is not known");
    assert_eq!(
        (evidence["passed"].as_u64(), evidence["failed"].as_u64(), evidence["skipped"].as_u64()),
        (Some(3), Some(2), Some(1))
    );
    assert_eq!(told(), evidence, "the same each time");
    let left: Vec<_> = std::fs::read_dir(world.path("state").join("countersign"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    assert!(left.is_empty(), "nothing is left of the throwaway profile: {left:?}");
    assert!(
        !world.data().exists() || !world.data().join("audit.db").exists(),
        "and the user's is not touched"
    );
}

#[test]
fn agent_run_12_a_new_pack_passes_its_own_scenarios() {
    let world = World::new();
    let folder = pack(&world, Value::Null);
    let ran = world.run(&["packs", "check", "--run", &folder]).ends_with(0);
    assert!(ran.out.contains("2 passed, 0 failed, 0 skipped."), "{}", ran.out);
}

#[test]
fn agent_run_12_bundled_packs_pass_their_scenarios() {
    let world = World::new();
    let made = world.run(&["packs", "new", "lookup", "--kind", "http"]).ends_with(0).out;
    let shipped = ["campaign-portfolio-pacing", "memory", "shop", "web-api-example"]
        .map(|pack| packs().join(pack).display().to_string());
    for folder in shipped.iter().map(String::as_str).chain([made.trim()]) {
        let evidence =
            world.run(&["packs", "check", "--run", folder, "--json"]).ends_with(0).json();
        assert_eq!(
            (&evidence["failed"], &evidence["skipped"]),
            (&json!(0), &json!(0)),
            "{evidence:#}"
        );
        let scenarios = evidence["scenarios"].as_array().expect("a list");
        assert!(scenarios.len() >= 2, "{evidence:#}");
        let has = |check: &str| {
            scenarios.iter().any(|one| {
                one["checks"].as_array().is_some_and(|all| all.iter().any(|c| c["check"] == check))
            })
        };
        assert!(has("code == agent_disabled"), "one with the kill switch: {evidence:#}");
    }
}
