//! Tests of `csign data` with the real importer and the real database library: adding, asking,
//! figures, and taking back.

mod adding;
mod figures;
mod proof;
mod questions;
mod stopping;
mod unattended;

use std::fs;

use serde_json::Value;

use crate::world::{Ran, World, flat};

/// An export with a title line and a total line.
const NOVEMBER: &str = "Campaign report\nDay,Campaign,Cost,Clicks,Memo\n2026-11-01,Oak,100.50,10,x\n2026-11-02,Oak,110.25,11,y\n2026-11-02,Elm,20.00,4,z\nTotal,,230.75,25,\n";
/// An export whose dates leave the order of day and month open.
const AMBIGUOUS: &str = "Day,Campaign,Cost\n1/11/2026,Oak,5.50\n2/11/2026,Oak,6.50\n";

fn world() -> World {
    // The host starts this program for each file and for questions.
    kit::programs::program("csign-data");
    World::new()
}

fn file(world: &World, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = world.path(name);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).expect("made");
    }
    fs::write(&path, content).expect("written");
    path.display().to_string()
}

/// Runs `csign data` at a terminal where nobody types.
fn at_a_terminal(world: &World, args: &[&str]) -> Ran {
    let quoted: Vec<String> =
        args.iter().map(|arg| format!("'{}'", arg.replace('\'', r"'\''"))).collect();
    let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
    world.at_a_terminal(&[&["data"], quoted.as_slice()].concat())
}

/// Runs `csign data` without a terminal.
fn run(world: &World, args: &[&str]) -> Ran {
    world.run(&[&["data"], args].concat())
}

fn query(world: &World, sql: &str) -> Value {
    run(world, &["query", sql, "--json"]).ends_with(0).json()
}

fn measure(world: &World, query: &str) -> Value {
    run(world, &["measure", query, "--json"]).ends_with(0).json()
}

/// Returns a cell of a result as text, with the zeros at the end of decimals removed.
fn cell(result: &Value, row: usize, column: usize) -> String {
    let cell = &result["rows"][row][column];
    let text = cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[track_caller]
fn assert_says(text: &str, words: &[&str]) {
    let flat = flat(text);
    for part in words {
        assert!(flat.contains(part), "{part:?} is missing in\n{text}");
    }
}
