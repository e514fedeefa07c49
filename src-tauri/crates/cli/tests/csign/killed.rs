//! Tests that run `csign` with and without a kill at a random instant. After a kill the log
//! verifies and contains everything that was reported; without a kill there is no alarm.

use std::io::Read as _;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::Value;
use soak::{Plan, Random};

use crate::world::World;

const COMMANDS: [&[&str]; 5] = [
    &["ask", "--json", "--session", "s", "How is account 17 pacing?"],
    &["ask", "--json", "--session", "s", "hello"],
    &["ask", "--json", "what can you do?"],
    &["tools", "call", "cart.get", "--session", "s"],
    &["audit", "checkpoint"],
];

/// Returns the turns whose end was reported.
fn ended_turns(out: &str) -> Vec<String> {
    let events = out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events
        .filter(|event| event["type"] == "final")
        .filter_map(|event| event["turn"].as_str().map(str::to_owned))
        .collect()
}

/// Whether the turn is in the conversation and in the log.
fn is_kept(world: &World, turn: &str) -> bool {
    let count = |name: &str, sql: &str, like: &str| -> i64 {
        let db = Connection::open(world.data().join(name)).expect("opened");
        db.query_row(sql, [like], |row| row.get(0)).expect("read")
    };
    count("countersign.db", "SELECT count(*) FROM turn WHERE id=?1 AND ended_at IS NOT NULL", turn)
        == 1
        && count(
            "audit.db",
            "SELECT count(*) FROM audit_record WHERE CAST(body AS TEXT) LIKE '%\"turn\":\"' || ?1 || '\"%'",
            turn,
        ) > 0
}

/// Runs the command and kills it within `limit`. Returns its output.
fn run_and_kill(world: &World, args: &[&str], limit: Duration, random: &mut Random) -> String {
    let mut child = world
        .command(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("csign starts");
    sleep(Duration::from_micros(random.below(u64::try_from(limit.as_micros()).expect("short"))));
    child.kill().expect("killed");
    let mut out = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut out).expect("read");
    child.wait().expect("reaped");
    out
}

/// Kills of one profile before the next one begins.
const KILLS: u64 = 10;

#[test]
fn a_kill_at_any_instant_loses_nothing_told_and_raises_no_alarm() {
    let plan = Plan::new("kills of csign", 200);
    for number in 0..plan.cases().div_ceil(KILLS) {
        let (world, mut random) = (World::new(), plan.random(number));
        let mut told = Vec::new();
        let mut limit = Duration::from_millis(300);
        if random.chance(50) {
            let began = Instant::now();
            told.extend(ended_turns(&world.run(COMMANDS[0]).ends_with(0).out));
            limit = began.elapsed() * 6 / 5;
        }
        for kill in 0..KILLS {
            let case = format!("{}, kill {kill}", plan.case(number));
            let args = *random.pick(&COMMANDS);
            told.extend(ended_turns(&run_and_kill(&world, args, limit, &mut random)));
            let ran = world.run(&["audit", "verify"]);
            // A log that was just created may have no outside copy, or no records.
            assert!(
                ran.code == 0 || told.is_empty() && [1, 6].contains(&ran.code),
                "{case}: {args:?}: {}: {}{}",
                ran.code,
                ran.out,
                ran.err
            );
            for turn in &told {
                assert!(is_kept(&world, turn), "{case}: {args:?}: {turn} was told and is lost");
            }
        }
        let ran = world.run(COMMANDS[1]);
        assert_eq!(ran.code, 0, "{}: {}{}", plan.case(number), ran.out, ran.err);
        world.run(&["audit", "verify"]).ends_with(0);
    }
}

#[test]
fn a_clean_run_of_csign_raises_no_alarm() {
    let plan = Plan::new("clean runs of csign", 100);
    let mut world = World::new();
    for number in 0..plan.cases() {
        let (mut random, case) = (plan.random(number), plan.case(number));
        if random.chance(20) {
            world = World::new();
        }
        let args = *random.pick(&COMMANDS);
        let ran = world.run(args);
        assert_eq!(ran.code, 0, "{case}: {args:?}: {}{}", ran.out, ran.err);
        let ran = world.run(&["audit", "verify"]);
        assert_eq!(ran.code, 0, "{case}: after {args:?}: {}{}", ran.out, ran.err);
        if random.chance(20) {
            let said = world.run(&["doctor"]).out;
            assert!(!said.to_lowercase().contains("verification failed"), "{case}: {said}");
        }
    }
}
