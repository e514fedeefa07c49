//! `csign ask` from start to answer, offline, as a person types it: a process for every question.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Outcome;
use crate::measure::{Side, micros, wait_with_peak};
use crate::{table, turn};

const QUESTIONS: [&str; 2] = ["How is account 17 pacing this month?", "Which trail shoes do you have?"];
const RUNS: usize = 15;

pub(crate) fn report() -> Outcome {
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    // The very first question of a profile also makes its files and the sample.
    let first = ask(folder.path(), QUESTIONS[0])?;
    rows.push(vec!["first question of a new profile".to_owned(), table::time(first.median()), "-".to_owned(), table::mib(first.peak_kib)]);
    for question in QUESTIONS {
        let mut side = Side::default();
        for _ in 0..RUNS {
            side.add(ask(folder.path(), question)?);
        }
        rows.push(vec![question.to_owned(), table::time(side.median()), table::time(side.quantile(0.95)), table::mib(side.peak_kib)]);
    }
    rows.push(["aim", "60 ms", "-", "40 MiB"].map(str::to_owned).to_vec());
    table::print(&format!("`csign ask`, from start to answer, {RUNS} runs"), &["", "median", "95 %", "peak memory"], &rows);
    Ok(())
}

fn ask(folder: &Path, question: &str) -> Outcome<Side> {
    let start = Instant::now();
    let child = Command::new(turn::csign()?)
        .arg("--data-dir")
        .arg(folder.join("data"))
        .args(["ask", "--json", question])
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("XDG_RUNTIME_DIR", folder)
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let (status, peak_kib) = wait_with_peak(&child)?;
    let took = micros(start.elapsed());
    if status != 0 {
        return Err(format!("`csign ask {question:?}` ended with status {status}").into());
    }
    Ok(Side { micros: vec![took], cpu_micros: 0, peak_kib })
}
