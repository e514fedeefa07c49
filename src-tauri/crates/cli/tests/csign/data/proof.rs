//! Tests of the proof of figures: an export of a figure is checked with the commands of docs/data.md,
//! with DuckDB's own program, and every change of it is found.

use std::{fs, path::Path};

use super::*;
use crate::world::{packs, program};

/// The commands of docs/data.md that check a figure, without their explanations.
fn documented(record: &str) -> String {
    let page = fs::read_to_string(packs().join("../docs/data.md")).expect("the page");
    let section = page.split("### Check a figure").nth(1).expect("the section");
    let block = section.lines().skip_while(|line| !line.starts_with("    csign"));
    let commands = block.take_while(|line| line.starts_with("    ")).map(|line| {
        let line = line.trim_start();
        line.split("  ").next().unwrap_or(line).trim_end().replace("RECORD", record)
    });
    commands.map(|command| format!("{command}\n")).collect()
}

/// Runs commands in the folder of a world, with DuckDB's own program as `duckdb`.
fn follow(world: &World, commands: &str) -> Ran {
    let bin = Path::new(program()).parent().expect("a folder").display().to_string();
    let duckdb = kit::programs::database_packages().join("duckdb_cli").display().to_string();
    let output = world
        .bare("sh")
        .args(["-e", "-c", commands])
        .current_dir(world.path("."))
        .env("PATH", format!("{duckdb}:{bin}:/usr/bin:/bin"))
        .env("COUNTERSIGN_DATA_DIR", world.data())
        .output()
        .expect("sh starts");
    Ran::of(output)
}

/// Returns the version of the library that ships, as DuckDB's own program names its version.
fn shipped_version() -> String {
    let pins = packs().join("data/server/drivers/package.json");
    let pins = fs::read_to_string(pins).expect("the pins");
    let pins: serde_json::Value = serde_json::from_str(&pins).expect("JSON");
    let library = &pins["optionalDependencies"]["@duckdb/node-bindings-linux-x64"];
    let version = library.as_str().expect("a version").split('-').next().expect("a part");
    format!("v{version}")
}

/// Returns the number of the newest record of a figure.
fn newest_figure(world: &World) -> String {
    let list = ["audit", "list", "--type", "figure_computed", "--json"];
    let records = world.run(&list).ends_with(0).json();
    records["records"][0]["seq"].to_string()
}

fn with_figure(sql: &str) -> (World, String) {
    let world = world();
    let file = file(&world, "november.csv", NOVEMBER);
    at_a_terminal(&world, &["add", &file]).ends_with(0);
    query(&world, sql);
    let record = newest_figure(&world);
    (world, record)
}

const BY_CAMPAIGN: &str =
    "SELECT Campaign, sum(Cost) AS cost, count(*) AS days FROM november GROUP BY Campaign";

#[test]
fn the_documented_commands_compute_a_figure_again_with_duckdb_itself() {
    let (world, record) = with_figure(BY_CAMPAIGN);
    let commands = documented(&record);
    for command in ["csign audit export", "csign audit verify", "duckdb <", "cmp "] {
        assert!(commands.contains(command), "{commands}");
    }
    let version = follow(&world, "duckdb --version").ends_with(0).out;
    assert!(version.starts_with(&format!("{} ", shipped_version())), "{version}");
    let ran = follow(&world, &commands).ends_with(0);
    assert_says(&ran.out, &["1 figure can be computed again", "Export verified:"]);
    let rows = fs::read_to_string(world.path(&format!("checked/data/{record}.csv"))).expect("rows");
    assert_eq!(rows, "Campaign,cost,days\nElm,20.00,1\nOak,210.75,2\n");
    let left: Vec<&str> = ran.out.lines().filter(|line| line.contains("Not checked")).collect();
    assert!(
        left.iter().all(|line| !line.contains(".parquet") && !line.contains(".csv")),
        "{left:?}"
    );
}

#[test]
fn a_metric_query_over_replaced_rows_is_computed_again() {
    let (world, _) = with_figure("SELECT 1");
    let corrected = NOVEMBER.replace("100.50", "99.50").replace("230.75", "229.75");
    let again = file(&world, "november-again.csv", corrected);
    at_a_terminal(&world, &["add", &again, "--name", "november"]).ends_with(0);
    let result = measure(
        &world,
        r#"{"source": "november", "measures": ["cost", "clicks"], "by": ["campaign"], "order": [{"by": "clicks"}]}"#,
    );
    let record = newest_figure(&world);
    follow(&world, &documented(&record)).ends_with(0);
    let rows = fs::read_to_string(world.path(&format!("checked/data/{record}.csv"))).expect("rows");
    assert!(rows.contains("209.75"), "{rows}\n{result}");
    world.run(&["data", "verify", &record]).ends_with(0);
}

#[test]
fn every_change_of_the_rows_or_figures_of_an_export_is_found() {
    let (world, record) = with_figure(BY_CAMPAIGN);
    let folder = world.path("out");
    let export = ["audit", "export", folder.to_str().expect("text"), "--record", &record];
    world.run(&export).ends_with(0);
    let verify = || world.run(&["audit", "verify", folder.to_str().expect("text")]);
    verify().ends_with(0);
    let data = folder.join("data");
    let part = fs::read_dir(data.join("parts")).expect("parts").next().expect("one").expect("read");
    let csv = data.join(format!("figures/{record}.csv"));
    let list = data.join("figures.jsonl");
    let (rows, lines) = (fs::read(&csv).expect("rows"), fs::read_to_string(&list).expect("lines"));
    let mut bytes = fs::read(part.path()).expect("bytes");
    let kept = bytes.clone();
    bytes[10] ^= 1;
    fs::write(part.path(), bytes).expect("written");
    assert_says(&verify().ends_with(5).out, &["another hash"]);
    fs::remove_file(part.path()).expect("removed");
    verify().ends_with(5);
    fs::write(part.path(), kept).expect("written");
    verify().ends_with(0);
    // Another figure, with its hash in the list.
    let other = String::from_utf8(rows.clone()).expect("text").replace("210.75", "211.75");
    fs::write(&csv, &other).expect("written");
    verify().ends_with(5);
    let before = lines.split("\"csv\":\"").nth(1).expect("a hash").get(..64).expect("64 digits");
    let sum = follow(&world, &format!("sha256sum out/data/figures/{record}.csv")).ends_with(0).out;
    let after = sum.get(..64).expect("64 digits");
    fs::write(&list, lines.replace(before, after)).expect("written");
    assert_says(&verify().ends_with(5).out, &["other figures than its record"]);
    fs::write(&csv, rows).expect("written");
    fs::write(&list, lines.replace("sum(Cost)", "sum(Days)")).expect("written");
    assert_says(&verify().ends_with(5).out, &["are others"]);
    fs::write(&list, lines.replace("\"rows\":3", "\"rows\":4")).expect("written");
    assert_says(&verify().ends_with(5).out, &["not those of its data version"]);
    fs::write(&list, lines).expect("written");
    verify().ends_with(0);
}

#[test]
fn an_export_says_that_the_rows_of_a_removed_source_are_gone() {
    let (world, record) = with_figure(BY_CAMPAIGN);
    at_a_terminal(&world, &["remove", "november"]).ends_with(0);
    let folder = world.path("out");
    let export = ["audit", "export", folder.to_str().expect("text"), "--record", &record];
    let ran = world.run(&export).ends_with(0);
    assert_says(&ran.err, &["Record", "no longer stored"]);
    assert!(!folder.join("data/parts").exists());
    world.run(&["audit", "verify", folder.to_str().expect("text")]).ends_with(0);
}
