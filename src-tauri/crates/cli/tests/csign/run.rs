//! Tests of `csign run`: the run contract as a program uses it, with the real store, the offline
//! model and the demo shop.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use kit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};

use crate::world::{Ran, World, text};

fn write(world: &World, name: &str, request: &Value) -> String {
    let path = world.path(name);
    fs::write(&path, request.to_string()).expect("written");
    path.to_str().expect("a name").to_owned()
}

fn run(world: &World, request: &Value, more: &[&str]) -> Ran {
    let file = write(world, "request.json", request);
    world.run(&[&["run", "--request", &file], more].concat())
}

fn request(id: &str, input: &str) -> Value {
    json!({"contract_version": "1.0", "request_id": id, "input": input})
}

#[test]
fn agent_run_2_a_request_from_a_file_or_standard_input_gets_a_response() {
    let world = World::new();
    let asked = request("r1", "What do you remember about account 17?");
    let first = run(&world, &asked, &[]).ends_with(0).json();
    assert_eq!(
        (text(&first, "status"), text(&first, "request_id"), text(&first, "contract_version")),
        ("ok", "r1", "1.0")
    );
    assert_eq!(first["metadata"]["tools_used"], json!(["recall"]));
    assert_eq!(first["metadata"]["agent_id"], "memory", "who answered");
    assert_eq!(
        first["usage"],
        json!({"input_tokens": 0, "output_tokens": 0, "total_tokens": 0, "estimated_cost_usd": 0.0})
    );
    assert!(text(&first["metadata"], "generated_at").ends_with('Z'));

    let mut again = world
        .command(&["run", "--request", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    again.stdin.take().expect("a pipe").write_all(asked.to_string().as_bytes()).expect("written");
    let again = again.wait_with_output().expect("ended");
    let again: Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!(again, first, "the stored result, from another process");
    let other = run(&world, &asked, &["--caller", "somebody"]).ends_with(0).json();
    assert_ne!(other["metadata"]["generated_at"], Value::Null);
}

#[test]
fn agent_run_2_a_run_has_one_terminal_event_and_its_deltas_equal_the_output() {
    let world = World::new();
    let ran = run(&world, &request("r1", "What do you remember about account 17?"), &["--stream"])
        .ends_with(0);
    let events: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).expect("one event a line")).collect();
    let ends: Vec<usize> = events
        .iter()
        .enumerate()
        .filter(|(_, e)| ["final", "error"].contains(&text(e, "type")))
        .map(|(at, _)| at)
        .collect();
    assert_eq!(ends, [events.len() - 1], "{}", ran.out);
    let said: String =
        events.iter().filter(|e| e["type"] == "delta").map(|e| text(&e["data"], "text")).collect();
    assert_eq!(said, text(&events[events.len() - 1]["data"], "output"));
    assert!(events.iter().any(|e| e["type"] == "tool" && e["data"]["state"] == "start"));
    assert!(events.iter().any(|e| e["type"] == "progress"));
    let replayed = run(&world, &request("r1", "other words"), &["--stream"]).ends_with(0).out;
    assert_eq!(
        replayed.lines().count(),
        1,
        "a repeat has its result and nothing before it: {replayed}"
    );
    let failed = run(&world, &json!({"request_id": "r2"}), &["--stream"]).ends_with(1).json();
    assert_eq!(
        (
            text(&failed, "type"),
            text(&failed["data"], "code"),
            text(&failed["data"]["details"], "request_id")
        ),
        ("error", "invalid_input", "r2")
    );
}

#[test]
fn agent_run_3_failures_are_agent_errors_that_name_the_request_id() {
    let world = World::new();
    let unknown = run(
        &world,
        &json!({"contract_version": "1.0", "request_id": "r", "input": "x", "colour": 1}),
        &[],
    )
    .ends_with(1)
    .json();
    assert_eq!(
        (text(&unknown, "code"), &unknown["retryable"], text(&unknown["details"], "request_id")),
        ("invalid_input", &json!(false), "r")
    );
    assert_eq!(unknown["details"]["validation"][0]["path"], "/colour");

    let long = run(&world, &request("r", &"x".repeat(1 << 20)), &[]).ends_with(1).json();
    assert_eq!(text(&long["details"], "reason"), "request_too_large");
    let mode =
        run(&world, &json!({"contract_version": "1.0", "request_id": "m", "input": "x", "options": {"response_mode": "async"}}), &[]).ends_with(1).json();
    assert_eq!(text(&mode["details"], "reason"), "unsupported_response_mode");
    let unreadable = world.run(&["run", "--request", "/nowhere/at/all"]).ends_with(2);
    assert!(unreadable.err.contains("hint: "), "{}", unreadable.err);
    let unreadable = unreadable.json();
    assert_eq!(
        (&unreadable["code"], &unreadable["details"]["request_id"]),
        (&json!("invalid_input"), &Value::Null),
        "{unreadable}"
    );
    let unreadable =
        world.run(&["run", "--request", "/nowhere/at/all", "--stream"]).ends_with(2).json();
    assert_eq!(
        (&unreadable["type"], &unreadable["data"]["details"]["reason"]),
        (&json!("error"), &json!("wrong_usage")),
        "{unreadable}"
    );

    let file = write(&world, "request.json", &request("k", "hello"));
    let off =
        world.run_with("AGENT_ENABLED", "false", &["run", "--request", &file]).ends_with(1).json();
    assert_eq!((text(&off, "code"), text(&off["details"], "request_id")), ("agent_disabled", "k"));
    run(&world, &request("k", "hello"), &[]).ends_with(0);
}

#[test]
fn agent_run_2_a_request_out_of_scope_is_declined_with_status_ok() {
    let world = World::new();
    let declined =
        run(&world, &request("r", "Pay for my order with my card"), &[]).ends_with(0).json();
    assert_eq!(
        (text(&declined, "status"), &declined["metadata"]["declined_reason"]),
        ("ok", &json!("out_of_scope")),
        "{declined}"
    );
}

#[test]
fn agent_run_5_a_write_exits_with_3_and_names_the_pending_action() {
    let world = World::new();
    let ended = run(
        &world,
        &request("r", "add 2 ridge runner black size 42 to my cart"),
        &["--correlation-id", "trace-1"],
    )
    .ends_with(3)
    .json();
    assert_eq!(text(&ended, "code"), "approval_required");
    let details = &ended["details"];
    for key in
        ["approval_id", "tool_id", "side_effect_level", "preview", "expires_at", "request_id"]
    {
        assert!(details.get(key).is_some(), "{key} in {details}");
    }
    let waiting = world.run(&["--json", "approvals", "list"]).ends_with(0).json();
    assert_eq!(waiting[0]["id"], details["approval_id"]);
    let records = world
        .run(&["--json", "audit", "list", "--type", "approval_requested"])
        .ends_with(0)
        .json()
        .to_string();
    assert!(records.contains("trace-1"), "{records}");
    world.run(&["audit", "verify"]).ends_with(0);
}

#[test]
fn agent_run_9_service_level_shows_counts_and_latencies_of_runs() {
    let world = World::new();
    let empty = world.run(&["service-level"]).ends_with(0).out;
    assert!(empty.contains("Nothing has been asked yet."), "{empty}");
    run(&world, &request("a", "hello"), &[]).ends_with(0);
    run(&world, &request("b", "What do you remember about account 17?"), &[]).ends_with(0);
    let view = world.run(&["--json", "service-level"]).ends_with(0).json();
    assert_eq!((&view["runs"], &view["window"]), (&json!(2), &json!(200)));
    let figures = view["latencies"].as_array().expect("figures");
    assert!(
        figures.iter().all(|figure| figure["measured_ms"].is_u64() && figure["runs"] == 1),
        "{view}"
    );
    let targets: Vec<(&str, u64, u64)> = figures
        .iter()
        .map(|f| {
            (
                text(f, "class"),
                f["percentile"].as_u64().unwrap_or(0),
                f["target_ms"].as_u64().unwrap_or(0),
            )
        })
        .collect();
    assert_eq!(
        targets,
        [
            ("simple", 50, 1_500),
            ("simple", 95, 8_000),
            ("with_tools", 50, 5_000),
            ("with_tools", 95, 8_000)
        ]
    );
    assert!(world.run(&["service-level"]).ends_with(0).out.contains("with tools  P95"));
    fs::write(world.data().join("prices.toml"), "[[price]]\nmodel = 7\n").expect("written");
    assert!(
        world
            .run(&["service-level"])
            .ends_with(0)
            .err
            .contains("prices.toml cannot be used: line 2")
    );
}

#[test]
fn agent_run_10_log_lines_of_a_run_contain_the_callers_ids() {
    let world = World::new();
    fs::create_dir_all(world.data()).expect("made");
    // The connection to the model is a line of the log, also if no server is there.
    let model = "[model]\nprovider = \"openai_compatible\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"none\"\nmax_retries = 0\n";
    fs::write(world.data().join("countersign.toml"), model).expect("written");
    let file = write(&world, "request.json", &request("r2", "hello"));
    let args = ["run", "--request", &file, "--correlation-id", "trace-9"];
    world.run_with("COUNTERSIGN_LOG", "debug", &args).ends_with(1);
    let log = fs::read_to_string(world.data().join("logs/csign.log")).expect("a log");
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(" turn{")).collect();
    let has_ids = |line: &&str| {
        line.contains(r#"request_id="r2""#) && line.contains(r#"correlation_id="trace-9""#)
    };
    assert!(!lines.is_empty() && lines.iter().all(has_ids), "{lines:#?}");
}

#[test]
fn agent_run_2_a_run_with_two_specialists_returns_their_answers_beside_the_synthesis() {
    let world = World::new();
    let decide = |next: &str, reason: &str| {
        let decision =
            json!({"next": next, "instruction": "Answer.", "reason_code": reason, "entities": []});
        Reply::text([decision.to_string()])
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = runtime.block_on(ModelServer::start([
        decide("guardian", "in_field"),
        Reply::text(["Account 17 is behind."]),
        decide("shopper", "in_field"),
        Reply::text(["There are two boots."]),
        decide("FINISH", "answered"),
        Reply::text(["One account is behind, and there are boots."]),
    ]));
    let file =
        write(&world, "two.json", &request("r2", "How is account 17, and which boots are there?"));
    let mut command = world.command(&["run", "--request", &file]);
    command.env("OPENAI_API_KEY", "sk-test").env("OPENAI_BASE_URL", server.base_url());
    let ran = Ran::of(command.env("OPENAI_MODEL", "scripted").output().expect("ended"));
    let answer = ran.ends_with(0).json();
    assert!(text(&answer, "output").starts_with("One account is behind"), "{answer}");
    let answers = answer["answers"].as_array().expect("answers");
    let told: Vec<(&str, &str)> =
        answers.iter().map(|one| (text(one, "agent"), text(one, "text"))).collect();
    let expected = [("guardian", "Account 17 is behind."), ("shopper", "There are two boots.")];
    assert_eq!(told, expected);
}
