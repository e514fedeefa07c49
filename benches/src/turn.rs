//! Measures a turn with one MCP tool call and an answer of 400 deltas: the engine with its durable
//! log, compared with a bare loop that makes the same requests, and with the engine that also has
//! memories to search. Model server and shop server are separate processes; only the side's own
//! process counts.

pub(crate) mod bare;
pub(crate) mod engine;

use std::process::Stdio;

use kit::model_server::{ModelServer, Reply};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::Outcome;
use crate::measure::Side;
use crate::table;

pub(crate) const QUESTION: &str = "Which trail shoes do you have?";
pub(crate) const QUERY: &str = "trail shoes";
const DELTAS: usize = 400;
const TURNS: usize = 60;
/// The long-term memories of the third side.
pub(crate) const MEMORIES: usize = 1_000;
const PASSES: usize = 4;
/// The number of turns per session. Sessions stay short, because their length is not measured here.
const TURNS_PER_SESSION: usize = 10;

/// Runs the model server: a tool call for the question, a long answer for the result.
pub(crate) async fn serve() -> Outcome {
    let call = Reply::call("product_search", json!({"query": QUERY, "pageSize": 5}))
        .when(QUESTION)
        .repeated();
    let answer = Reply::text((0..DELTAS).map(|n| format!("word{n} "))).repeated();
    let server = ModelServer::start([call, answer]).await;
    println!("{}", server.base_url());
    std::future::pending().await
}

/// Returns a program of the app, which lies beside this one.
pub(crate) fn program(name: &str) -> Outcome<std::path::PathBuf> {
    let beside = std::env::current_exe()?.with_file_name(name);
    if beside.is_file() {
        Ok(beside)
    } else {
        Err(format!("{} is missing: `make release` builds it", beside.display()).into())
    }
}

pub(crate) async fn report() -> Outcome {
    let mut server = Command::new(std::env::current_exe()?)
        .arg("serve")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let url = first_line(&mut server).await?;
    let (mut bare, mut ours, mut remembering) = (Side::default(), Side::default(), Side::default());
    for _ in 0..PASSES {
        // The sides alternate, so that changes of the machine's load affect both.
        bare.add(side("bare", &url).await?);
        ours.add(side("engine", &url).await?);
        remembering.add(side("remembering", &url).await?);
    }
    let row = |name: &str, side: &Side| {
        vec![
            name.to_owned(),
            table::time(side.median()),
            table::time(side.quantile(0.95)),
            table::time(side.cpu_each()),
            table::mib(side.peak_kib),
            format!("{} KiB", side.kib_each()),
        ]
    };
    let ratio = |name: &str, one: &Side, other: &Side| {
        vec![
            name.to_owned(),
            table::ratio(one.median(), other.median()),
            table::ratio(one.quantile(0.95), other.quantile(0.95)),
            table::ratio(one.cpu_each(), other.cpu_each()),
            "-".to_owned(),
            "-".to_owned(),
        ]
    };
    let aim =
        |median: &str, cpu: &str| ["aim", median, "-", cpu, "-", "-"].map(str::to_owned).to_vec();
    let title =
        format!("A turn: one MCP tool call, {DELTAS} deltas, {} turns a side", TURNS * PASSES);
    table::print(
        &title,
        &["", "median", "95 %", "CPU a turn", "peak memory", "stored a turn"],
        &[
            row("bare loop", &bare),
            row("engine", &ours),
            ratio("ratio", &ours, &bare),
            aim("1.50", "1.30"),
            row("engine, 1,000 memories", &remembering),
            ratio("ratio to the engine", &remembering, &ours),
            aim("1.10", "-"),
        ],
    );
    server.kill().await?;
    Ok(())
}

async fn side(name: &str, url: &str) -> Outcome<Side> {
    let folder = tempfile::tempdir()?;
    let output = Command::new(std::env::current_exe()?)
        .args([name, url, &TURNS.to_string()])
        .env("BENCH_FOLDER", folder.path())
        .env("XDG_STATE_HOME", folder.path().join("state"))
        // Both sides run without a keyring, so the log is signed with a key of this run.
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .env_remove("OPENAI_BASE_URL")
        .env_remove("OPENAI_MODEL")
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output()
        .await?;
    if !output.status.success() {
        return Err(format!("the side `{name}` failed: {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

pub(crate) async fn first_line(child: &mut Child) -> Outcome<String> {
    let stdout = child.stdout.take().ok_or("no output")?;
    let line = BufReader::new(stdout).lines().next_line().await?;
    line.ok_or_else(|| "the model server said nothing".into())
}

/// Returns the folder that the parent created for this side.
pub(crate) fn folder() -> Outcome<std::path::PathBuf> {
    Ok(std::env::var_os("BENCH_FOLDER").ok_or("BENCH_FOLDER is not set")?.into())
}
