//! Tests of imports without a person: what a nightly job may do, and when it stops.

use std::process::Stdio;

use super::*;

#[test]
fn without_a_terminal_an_import_needs_yes_and_an_allowed_folder() {
    let world = world();
    let november = file(&world, "exports/november.csv", NOVEMBER);
    let ran = run(&world, &["add", &november]).ends_with(3);
    assert_says(&ran.err, &["Only a person at a terminal", "--yes", "csign data allow"]);
    let ran = run(&world, &["add", &november, "--yes"]).ends_with(3);
    assert_says(&ran.err, &["exports", "csign data allow"]);
    let folder = world.path("exports").display().to_string();
    run(&world, &["allow", &folder]).ends_with(3);
    at_a_terminal(&world, &["allow", &folder]).ends_with(0);
    let ran = run(&world, &["add", &november, "--yes", "--json"]).ends_with(0).json();
    assert_eq!((&ran["source"], &ran["rows"]), (&"november".into(), &3.into()), "{ran}");
    let listed = run(&world, &["allow"]).ends_with(0);
    assert_says(&listed.out, &["exports"]);
    at_a_terminal(&world, &["allow", &folder, "--revoke"]).ends_with(0);
    run(&world, &["add", &november, "--yes"]).ends_with(3);
}

#[test]
fn a_nightly_import_stops_with_its_own_exit_code_if_a_person_must_decide() {
    let world = world();
    let spend = file(&world, "exports/spend.csv", AMBIGUOUS);
    let folder = world.path("exports").display().to_string();
    at_a_terminal(&world, &["allow", &folder]).ends_with(0);
    let ran = run(&world, &["add", &spend, "--yes"]).ends_with(7);
    assert_says(&ran.err, &["question:", "--answer date_order=day_first", "or with: --dates"]);
    let ran = run(&world, &["add", &spend, "--yes", "--json"]).ends_with(7).json();
    assert_eq!((&ran["rows"], &ran["is_stored"]), (&0.into(), &false.into()), "{ran}");
    assert!(ran["questions"].as_array().is_some_and(|questions| !questions.is_empty()), "{ran}");
    run(&world, &["add", &spend, "--yes", "--dates", "day-first"]).ends_with(0);
}

#[test]
fn a_pipe_without_a_terminal_needs_its_own_permission() {
    let world = world();
    let piped = |world: &World| {
        let mut command = world.command(&["data", "add", "-", "--yes", "--name", "piped"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let mut pipe = child.stdin.take().expect("piped");
        std::io::Write::write_all(&mut pipe, NOVEMBER.as_bytes()).expect("written");
        drop(pipe);
        Ran::of(child.wait_with_output().expect("ended"))
    };
    piped(&world).ends_with(3);
    let ran = at_a_terminal(&world, &["allow", "-"]).ends_with(0);
    assert_says(&ran.out, &["- (pipes)"]);
    piped(&world).ends_with(0);
    assert_eq!(cell(&query(&world, "SELECT sum(Cost) FROM piped"), 0, 0), "230.75");
}

#[test]
fn a_program_neither_undoes_nor_removes_nor_approves() {
    let world = world();
    let file = file(&world, "november.csv", NOVEMBER);
    at_a_terminal(&world, &["add", &file]).ends_with(0);
    for command in ["undo", "remove", "approve"] {
        let ran = run(&world, &[command, "november"]).ends_with(3);
        assert_says(&ran.err, &["Only a person at a terminal"]);
    }
    assert_eq!(cell(&query(&world, "SELECT count(*) FROM november"), 0, 0), "3");
}
