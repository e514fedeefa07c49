//! The program itself: its command line, its MCP servers, cancellation, and the time it takes to start.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use contract::sources::ColumnKind;
use serde_json::{Value, json};

use crate::{
    PROGRAM,
    questions::ask,
    world::{Client, World, column, drivers},
};

fn client(world: &World) -> Client {
    let read = world.parts().display().to_string();
    let scratch = world.folder.path().join("scratch");
    Client::start(&["serve", "--read", &read, "--memory-bytes", "268435456"], &scratch)
}

fn call(world: &World, sql: &str) -> Value {
    let part = world.part(
        "n",
        "SELECT i::BIGINT AS i FROM range(10) t(i)",
        &[column("i", ColumnKind::Whole, 0)],
    );
    serde_json::to_value(ask(sql, &[world.source("n", &[part])])).unwrap()
}

#[test]
fn tools_are_listed_with_the_types_of_their_arguments() {
    let world = World::new();
    let mut client = client(&world);
    let answer = client.ask("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "data.measure",
            "data.explain_change",
            "data.query",
            "data.rows",
            "data.export",
            "data.describe",
            "data.profile",
            "data.verify",
            "data.prove"
        ]
    );
    assert!(tools.iter().all(|tool| tool["inputSchema"]["properties"].is_object()), "{answer}");
    let mut database = Client::start(&["database"], world.folder.path());
    let answer = database.ask("tools/list", json!({}));
    assert!(answer.to_string().contains("data.tables"), "{answer}");
}

#[test]
fn results_and_errors_are_structured() {
    let world = World::new();
    let mut client = client(&world);
    let (result, is_error) = client.call("data.query", call(&world, "SELECT sum(i) AS s FROM n"));
    assert!(!is_error && result["rows"] == json!([[45]]), "{result}");
    let (error, is_error) =
        client.call("data.query", call(&world, "SELECT * FROM read_csv('/etc/passwd')"));
    assert!(is_error, "{error}");
    assert_eq!(error["code"], "invalid_input");
    assert_eq!(error["details"]["reason"], "query_refused");
    assert_eq!(error["message"], "The function read_csv is not available in queries.");
    let (error, is_error) = client.call("data.query", json!({"sql": 1}));
    assert!(is_error && error["message"].as_str().unwrap().contains("arguments"), "{error}");
    let (error, is_error) = client.call("data.unknown", json!({}));
    assert!(is_error, "{error}");
}

#[test]
fn a_cancelled_call_ends_its_query_and_others_go_on() {
    let world = World::new();
    let mut client = client(&world);
    let slow = call(&world, "SELECT count(*) FROM range(1000000000000) t(i) WHERE i % 7 = 3");
    let id = client.send("tools/call", json!({"name": "data.query", "arguments": slow}));
    let quick = call(&world, "SELECT sum(i) AS s FROM n");
    let (result, _) = client.call("data.query", quick.clone());
    assert_eq!(result["rows"], json!([[45]]), "while the other question runs");
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    let began = Instant::now();
    let pid = client.child.id();
    while busy(pid) {
        assert!(began.elapsed() < Duration::from_secs(20), "the query goes on");
    }
    let (result, _) = client.call("data.query", quick);
    assert_eq!(result["rows"], json!([[45]]));
}

/// Whether a process used much processor time within a moment.
fn busy(pid: u32) -> bool {
    let time = || -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let before = time();
    std::thread::sleep(Duration::from_millis(500));
    time() - before > 10
}

#[test]
fn the_program_ends_with_its_input() {
    let world = World::new();
    let mut child = Command::new(PROGRAM)
        .args(["serve", "--read"])
        .arg(world.parts())
        .current_dir(world.folder.path().join("scratch"))
        .env("CSIGN_DATA_DRIVERS", drivers())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let latest = Instant::now() + Duration::from_secs(30);
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < latest, "the program ends");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn wrong_usage_ends_with_2_and_help_with_0() {
    for (args, code) in
        [(&["--help"][..], 0), (&["serve", "--help"], 0), (&[], 2), (&["serve", "--x"], 2)]
    {
        let ran = Command::new(PROGRAM).args(args).output().unwrap();
        assert_eq!(ran.status.code(), Some(code), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_missing_library_is_reported_with_the_remedy() {
    let world = World::new();
    let mut settings = world.settings();
    settings.drivers = world.folder.path().to_owned();
    let error = csign_data::serve::Asker::open(&settings).err().unwrap();
    let error = contract::AgentError::from(error);
    assert!(error.message.contains("libduckdb.so"), "{error:?}");
    assert!(error.hint_text().unwrap().contains("make drivers"), "{error:?}");
}
