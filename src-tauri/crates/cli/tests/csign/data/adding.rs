//! Tests of `csign data add` with a person: the glance, questions, replacing, undo and removal.

use std::process::Stdio;

use super::*;
use crate::terminal::Terminal;

#[test]
fn an_import_is_shown_at_one_glance() {
    let world = world();
    let file = file(&world, "november.csv", NOVEMBER);
    let ran = at_a_terminal(&world, &["add", &file]).ends_with(0);
    assert_says(
        &ran.out,
        &[
            "november.csv → november (new source)",
            "2026-11-01 to 2026-11-02",
            "3 of 4 records, 1 left out",
            "Cost 230.75",
            "line 6",
            "Total | | 230.75",
            "Campaign report",
            "csign data undo november",
        ],
    );
}

#[test]
fn programs_get_rows_columns_left_out_lines_and_the_files_total() {
    let world = world();
    let file = file(&world, "november.csv", NOVEMBER);
    let ran = at_a_terminal(&world, &["add", &file, "--json", "--name", "ads"]).ends_with(0).json();
    assert_eq!((&ran["source"], &ran["rows"]), (&"ads".into(), &3.into()), "{ran}");
    assert_eq!(ran["rejected"], serde_json::json!([]), "{ran}");
    let total = ran["left_out"].as_array().expect("a list");
    assert!(
        total.iter().any(|one| one["rule"] == "total" && one["lines"] == serde_json::json!([6])),
        "{ran}"
    );
    let columns = ran["columns"].as_array().expect("a list");
    let of = |name: &str| columns.iter().find(|column| column["name"] == name).expect("a column");
    assert_eq!((&of("Day")["role"], &of("Day")["type"]), (&"time".into(), &"day".into()), "{ran}");
    assert_eq!((&of("Cost")["role"], &of("Cost")["used"]), (&"sum".into(), &true.into()), "{ran}");
    let checks = ran["file_total"]["columns"].as_array().expect("a list");
    assert!(checks.iter().all(|check| check["agrees"] == true) && !checks.is_empty(), "{ran}");
}

#[test]
fn a_question_has_numbered_choices_and_the_answer_is_used() {
    let world = world();
    let file = file(&world, "spend.csv", AMBIGUOUS);
    let mut terminal = Terminal::start(&world, &["data", "add", &file]);
    terminal.wait_for("  1 ");
    terminal.wait_for("  2 ");
    terminal.pass("Type a number (! stops): ");
    terminal.type_in("9\n");
    terminal.pass("Choose from the list above");
    // The program discards keys that are typed before a question.
    terminal.wait_for("Type a number (! stops): ");
    terminal.type_in("1\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_says(&seen, &["2026-11-01 to 2026-11-02"]);
    let total = query(&world, "SELECT sum(Cost) FROM spend");
    assert_eq!(cell(&total, 0, 0), "12");
}

#[test]
fn a_question_that_nobody_answers_ends_with_its_own_exit_code_and_stores_nothing() {
    let world = world();
    let file = file(&world, "spend.csv", AMBIGUOUS);
    let ran = at_a_terminal(&world, &["add", &file]).ends_with(7);
    assert_says(&ran.out, &["--dates", "Nothing was stored: a person must decide."]);
    let sources = run(&world, &["list", "--json"]).ends_with(0).json();
    assert_eq!(sources["sources"], serde_json::json!([]));
    let ran = at_a_terminal(&world, &["add", &file, "--dates", "day-first"]).ends_with(0);
    assert_says(&ran.out, &["2026-11-01 to 2026-11-02"]);
}

#[test]
fn a_check_shows_an_import_and_stores_nothing() {
    let world = world();
    let file = file(&world, "november.csv", NOVEMBER);
    let ran = at_a_terminal(&world, &["add", &file, "--check"]).ends_with(0);
    assert_says(&ran.out, &["Cost 230.75", "Nothing was stored: this was a check."]);
    let sources = run(&world, &["list", "--json"]).ends_with(0).json();
    assert_eq!(sources["sources"], serde_json::json!([]));
}

#[test]
fn a_later_export_replaces_its_days_and_vanished_rows_are_asked_about() {
    let world = world();
    let first = file(&world, "november.csv", NOVEMBER);
    at_a_terminal(&world, &["add", &first]).ends_with(0);
    let second = file(
        &world,
        "november-2.csv",
        "Day,Campaign,Cost,Clicks,Memo\n2026-11-01,Oak,100.50,10,x\n2026-11-02,Oak,112.25,11,y\n",
    );
    let ran = at_a_terminal(&world, &["add", &second]).ends_with(7);
    assert_says(&ran.out, &["Elm", "--answer vanished=", "Cost 230.75 → 212.75 (-18.00)"]);
    assert_eq!(cell(&query(&world, "SELECT sum(Cost) FROM november"), 0, 0), "230.75");
    let ran = at_a_terminal(&world, &["add", &second, "--answer", "vanished=replace"]).ends_with(0);
    assert_says(&ran.out, &["1 changed, 1 vanished"]);
    assert_eq!(cell(&query(&world, "SELECT sum(Cost) FROM november"), 0, 0), "212.75");
    let ran = at_a_terminal(&world, &["undo", "november"]).ends_with(0);
    assert_says(&ran.out, &["taken back", "3 rows"]);
    assert_eq!(cell(&query(&world, "SELECT sum(Cost) FROM november"), 0, 0), "230.75");
}

#[test]
fn the_same_content_is_recognised() {
    let world = world();
    let file = file(&world, "november.csv", NOVEMBER);
    at_a_terminal(&world, &["add", &file]).ends_with(0);
    let ran = at_a_terminal(&world, &["add", &file]).ends_with(0);
    assert_says(&ran.out, &["This content is stored already."]);
    assert_eq!(cell(&query(&world, "SELECT count(*) FROM november"), 0, 0), "3");
}

#[test]
fn rejected_rows_stop_an_import_unless_they_are_skipped() {
    let world = world();
    let text = "Day,Campaign,Cost\n2026-11-01,Oak,5\nsoon,Oak,5\n2026-11-03,Oak,6\n2026-11-04,Oak,7\n2026-11-05,Oak,7\n2026-11-06,Oak,7\n2026-11-07,Oak,7\n";
    let file = file(&world, "spend.csv", text);
    let ran = at_a_terminal(&world, &["add", &file]).ends_with(7);
    assert_says(&ran.out, &["1 rejected", "line 3", "soon", "--answer rejected=skip"]);
    let ran = at_a_terminal(&world, &["add", &file, "--skip-rejected"]).ends_with(0);
    assert_says(&ran.out, &["1 rejected", "decided rejected: skip"]);
    assert_eq!(cell(&query(&world, "SELECT sum(Cost) FROM spend"), 0, 0), "39");
}

#[test]
fn several_files_and_a_pattern_are_imported() {
    let world = world();
    let row = |day: u32| format!("Day,Campaign,Cost\n2026-{day:02}-15,Oak,{day}\n");
    let files = [9, 10].map(|day| file(&world, &format!("files/m{day}.csv"), row(day)));
    let ran = at_a_terminal(&world, &["add", &files[0], &files[1], "--name", "months", "--json"]);
    let ran = ran.ends_with(0).json();
    assert_eq!(ran.as_array().map(Vec::len), Some(2), "{ran}");
    [7, 8].iter().for_each(|day| drop(file(&world, &format!("more/m{day}.csv"), row(*day))));
    let pattern = world.path("more/*.csv").display().to_string();
    at_a_terminal(&world, &["add", &pattern, "--name", "pattern"]).ends_with(0);
    assert_eq!(cell(&query(&world, "SELECT sum(Cost) FROM months"), 0, 0), "19");
    assert_eq!(cell(&query(&world, "SELECT sum(Cost) FROM pattern"), 0, 0), "15");
    file(&world, "more/m11.csv", row(11));
    let ran = at_a_terminal(&world, &["refresh", "pattern"]).ends_with(0);
    assert_says(&ran.out, &["m11.csv → pattern"]);
    assert_eq!(cell(&query(&world, "SELECT sum(Cost) FROM pattern"), 0, 0), "26");
    at_a_terminal(&world, &["refresh", "pattern"]).ends_with(0);
}

#[test]
fn the_account_of_each_file_is_a_part_of_its_path() {
    let world = world();
    let row = |cost: u32| format!("Day,Campaign,Cost\n2026-11-01,Oak,{cost}.50\n");
    let acme = file(&world, "clients/acme/2026-11.csv", row(4));
    file(&world, "clients/bolt/2026-11.csv", row(5));
    let (rule, pattern) = ("--account-from-path", "clients/{account}/*.csv");
    let wrong = at_a_terminal(&world, &["add", &acme, rule, "clients/*.csv"]).ends_with(1);
    assert_says(&wrong.out, &["which part of the path is the account", pattern]);
    at_a_terminal(&world, &["add", &acme, rule, pattern, "--account", "Acme"]).ends_with(2);
    let all = world.path("clients/*/*.csv").display().to_string();
    let add = ["add", &all, "--name", "ads", rule, pattern];
    let checked = at_a_terminal(&world, &[&add[..], &["--check"]].concat()).ends_with(0);
    assert_says(&checked.out, &["account acme", "Account from the path, by clients/{account}/"]);
    let ran = at_a_terminal(&world, &[&add[..], &["--json"]].concat()).ends_with(0).json();
    assert_eq!((&ran[0]["account"], &ran[1]["account"]), (&"acme".into(), &"bolt".into()), "{ran}");
    file(&world, "clients/acme/2026-11.csv", row(14));
    let ran = at_a_terminal(&world, &["refresh", "ads"]).ends_with(0);
    assert_says(&ran.out, &["account acme", "as for earlier files: acme.", "1 changed"]);
    let sql = "SELECT Account, sum(Cost) FROM ads GROUP BY Account ORDER BY Account";
    let sums = query(&world, sql);
    assert_eq!((cell(&sums, 0, 0), cell(&sums, 0, 1)), ("acme".into(), "14.5".into()));
    assert_eq!((cell(&sums, 1, 0), cell(&sums, 1, 1)), ("bolt".into(), "5.5".into()));
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_the_others_are_imported() {
    let world = world();
    let good = file(&world, "november.csv", NOVEMBER);
    let missing = world.path("missing.csv").display().to_string();
    let ran = at_a_terminal(&world, &["add", &good, &missing]).ends_with(1);
    assert_says(&ran.out, &["missing.csv", "cannot be read", "november.csv → november"]);
    assert_eq!(cell(&query(&world, "SELECT count(*) FROM november"), 0, 0), "3");
}

#[test]
fn a_removed_source_is_gone_with_its_rows() {
    let world = world();
    let file = file(&world, "november.csv", NOVEMBER);
    at_a_terminal(&world, &["add", &file]).ends_with(0);
    at_a_terminal(&world, &["remove", "november"]).ends_with(0);
    assert!(!world.data().join("data/sources/november").exists());
    run(&world, &["describe", "november"]).ends_with(1);
}

#[test]
fn a_pipe_is_imported_and_its_questions_are_asked_at_the_terminal() {
    let world = world();
    let file = file(&world, "spend.csv", AMBIGUOUS);
    let line = format!(
        "cat '{file}' | '{}' --data-dir '{}' data add - --name piped",
        crate::world::program(),
        world.data().display()
    );
    let mut script = world.bare("script");
    script.args(["--quiet", "--return", "--flush", "--command", &line, "/dev/null"]);
    let mut child = script
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script starts");
    let mut keys = child.stdin.take().expect("piped");
    let mut screen = child.stdout.take().expect("piped");
    let mut seen = String::new();
    let mut bytes = [0; 1024];
    while !seen.contains("Type a number (! stops): ") {
        let read = std::io::Read::read(&mut screen, &mut bytes).expect("read");
        assert!(read > 0, "the program ended before its question:\n{seen}");
        seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    std::io::Write::write_all(&mut keys, b"1\n").expect("typed");
    std::io::Read::read_to_string(&mut screen, &mut seen).expect("read");
    assert_eq!(child.wait().expect("ended").code(), Some(0), "{seen}");
    assert_says(&seen, &["standard_input → piped", "2026-11-01 to 2026-11-02"]);
    assert_eq!(cell(&query(&world, "SELECT sum(Cost) FROM piped"), 0, 0), "12");
    let left = fs::read_dir(world.data().join("data/pipe")).expect("a folder").count();
    assert_eq!(left, 0, "the copy is deleted");
}

#[test]
fn a_question_about_a_file_is_answered_from_all_of_its_columns() {
    let world = world();
    let file = file(&world, "november.csv", NOVEMBER);
    let ran = world.at_a_terminal(&["ask", "--with", &file, "'clicks by campaign'"]).ends_with(0);
    assert_says(&ran.out, &["november.csv is in the source november: 3 rows"]);
    for (campaign, clicks) in [("Oak", "21"), ("Elm", "4")] {
        let is_row = |line: &str| line.contains(campaign) && line.contains(clicks);
        assert!(ran.out.lines().any(is_row), "{campaign}: {}", ran.out);
    }
    assert_eq!(cell(&query(&world, "SELECT sum(Clicks) FROM november"), 0, 0), "25");
}

#[test]
fn a_stopped_import_leaves_nothing() {
    let world = world();
    let mut text = String::from("Day,Campaign,Cost\n");
    (0..3_000_000).for_each(|row| text.push_str(&format!("2026-11-01,Campaign {row},1.25\n")));
    let file = file(&world, "large.csv", text);
    let mut terminal = Terminal::start(&world, &["data", "add", &file]);
    terminal.wait_for("rows read");
    terminal.type_in("\u{3}");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(1), "{seen}");
    assert_says(&seen, &["was stopped", "Nothing was stored"]);
    let sources = run(&world, &["list", "--json"]).ends_with(0).json();
    assert_eq!(sources["sources"], serde_json::json!([]));
}

#[test]
fn the_sample_is_added_once_and_answers_a_question_with_the_sum_of_its_rows() {
    let world = world();
    let ran = at_a_terminal(&world, &["sample"]).ends_with(0);
    assert_says(&ran.out, &["campaigns.csv is in the source campaigns", "delivery"]);
    let listed = run(&world, &["list", "--json"]).ends_with(0).json();
    let sources = listed["sources"].as_array().expect("a list");
    let names: Vec<&str> = sources.iter().filter_map(|source| source["name"].as_str()).collect();
    assert_eq!(names, ["campaigns", "delivery", "pacing"]);
    assert!(sources.iter().all(|source| source["is_sample"] == true), "{listed}");
    let ran = at_a_terminal(&world, &["sample"]).ends_with(0);
    assert_says(&ran.out, &["The sample is already there."]);
    let ran = run(&world, &["sample"]).ends_with(3);
    assert_says(&ran.err, &["Only a person at a terminal"]);

    let answer = world.run(&["ask", "How is account 17 pacing this month?"]).ends_with(0);
    assert_says(&answer.err, &["(data.measure)"]);
    let of_month = "SELECT CAST(round(sum(\"Spend\")) AS BIGINT) FROM delivery \
                    WHERE \"Account ID\" = '17' AND \"Day\" >= DATE '2026-11-01'";
    let spent: u64 = cell(&query(&world, of_month), 0, 0).parse().expect("a number");
    let amount = format!("{},{:03} USD", spent / 1_000, spent % 1_000);
    assert_says(&answer.out, &["Northwind Outdoor", &amount]);
}
