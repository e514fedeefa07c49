//! `csign ask` from start to answer, offline, with a new process for each question. The answer is
//! printed before the process has closed its files, so both times are measured, and also the time
//! of one sync of this disk.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::measure::{Side, best, micros, wait_with_peak};
use crate::{table, turn};

const QUESTIONS: [&str; 2] =
    ["What do you remember about account 17?", "Which trail shoes do you have?"];
const RUNS: usize = 25;

pub(crate) fn report() -> Outcome {
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    // The first question of a profile also creates its files.
    rows.push(row("first question of a new profile", &[ask(folder.path(), QUESTIONS[0])?]));
    for question in QUESTIONS {
        let runs = (0..RUNS).map(|_| ask(folder.path(), question)).collect::<Outcome<Vec<_>>>()?;
        rows.push(row(question, &runs));
    }
    rows.push(vec![
        "one wait for the disk".to_owned(),
        table::time(sync(folder.path())?),
        "-".to_owned(),
        "-".to_owned(),
        "-".to_owned(),
    ]);
    rows.push(["aim", "60 ms", "-", "-", "40 MiB"].map(str::to_owned).to_vec());
    table::print(
        &format!("`csign ask` offline, {RUNS} runs"),
        &["", "answer, median", "answer, 95 %", "process, median", "peak memory"],
        &rows,
    );
    Ok(())
}

struct AskRun {
    answer: Side,
    process: Side,
}

fn row(name: &str, runs: &[AskRun]) -> Vec<String> {
    let (mut answer, mut process) = (Side::default(), Side::default());
    for run in runs {
        answer.add(run.answer.clone());
        process.add(run.process.clone());
    }
    let late = if runs.len() > 1 { table::time(answer.quantile(0.95)) } else { "-".to_owned() };
    vec![
        name.to_owned(),
        table::time(answer.median()),
        late,
        table::time(process.median()),
        table::mib(process.peak_kib),
    ]
}

fn ask(folder: &Path, question: &str) -> Outcome<AskRun> {
    let start = Instant::now();
    let mut child = Command::new(turn::program("csign")?)
        .arg("--data-dir")
        .arg(folder.join("data"))
        .args(["ask", "--json", question])
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("XDG_RUNTIME_DIR", folder)
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let output = BufReader::new(child.stdout.take().ok_or("no output")?);
    let mut answered = None;
    for line in output.lines() {
        if line?.contains("\"type\":\"final\"") {
            answered.get_or_insert_with(|| start.elapsed());
        }
    }
    let (status, peak_kib) = wait_with_peak(&child)?;
    let process = Side { micros: vec![micros(start.elapsed())], peak_kib, ..Side::default() };
    let answered = answered
        .filter(|_| status == 0)
        .ok_or_else(|| format!("`csign ask {question:?}` ended with status {status}"))?;
    Ok(AskRun {
        answer: Side { micros: vec![micros(answered)], peak_kib, ..Side::default() },
        process,
    })
}

/// Appends a page to a file and waits until it is on the disk.
fn sync(folder: &Path) -> Outcome<Duration> {
    let mut file = File::create(folder.join("sync"))?;
    let mut failed = None;
    let took = best(20, || {
        if let Err(error) = file.write_all(&[7; 4096]).and_then(|()| file.sync_all()) {
            failed = Some(error);
        }
    });
    failed.map_or(Ok(took), |error| Err(error.into()))
}
