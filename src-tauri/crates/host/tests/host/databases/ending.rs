//! The data program is killed in the middle of an import and of questions: the error is clear, no
//! rows are half stored, and the next call works.

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use contract::{
    AgentError, Commands as _, SourceName, SourceQueryParams, metric_query::DataResult,
    params::SourceAddParams, sources::ImportDecisions,
};
use host::Options;
use kit::postgres::Postgres;
use serde_json::json;

use super::World;

/// Returns the id of the data program that works in a folder below another one.
fn find_program(folder: &Path) -> Option<u32> {
    let ids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        let link = |name: &str| fs::read_link(format!("/proc/{id}/{name}")).ok();
        let is_ours = link("cwd")?.starts_with(folder);
        let is_data = link("exe")?.file_name()? == "csign-data";
        (is_ours && is_data).then_some(id)
    });
    ids.into_iter().next()
}

/// Waits until the data program that works in a folder runs, or until it has ended.
async fn wait_for(folder: &Path, runs: bool) -> Option<u32> {
    let latest = Instant::now() + Duration::from_secs(60);
    loop {
        let found = find_program(folder);
        if found.is_some() == runs {
            return found;
        }
        assert!(Instant::now() < latest, "the data program in {}: {found:?}", folder.display());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn wait_for_program(folder: &Path) -> u32 {
    wait_for(folder, true).await.unwrap()
}

fn kill(id: u32) {
    assert!(Command::new("kill").args(["-KILL", &id.to_string()]).status().unwrap().success());
}

impl World {
    /// Kills the program in a folder while it answers a question.
    async fn kill_at(&self, folder: &str, sql: &'static str) -> Result<DataResult, AgentError> {
        let host = Arc::clone(&self.host);
        let asked = tokio::spawn(async move {
            host.source_query(SourceQueryParams { sql: sql.to_owned(), cursor: None, limit: 0 })
                .await
        });
        let id = wait_for_program(&self.data(folder)).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(!asked.is_finished(), "the question takes long");
        kill(id);
        asked.await.unwrap()
    }
}

fn write_rows(file: &Path, rows: u32) {
    let mut text = "Day,Campaign,Cost\n".to_owned();
    for row in 0..rows {
        writeln!(text, "2026-11-{:02},Campaign {},{}.25", 1 + row % 30, row, row % 100).unwrap();
    }
    fs::write(file, text).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_whose_program_is_killed_stores_nothing_and_can_be_repeated() {
    let world = World::new().await;
    let file = world.folder.path().join("orders.csv");
    write_rows(&file, 200_000);
    let job = world.host.source_add(world.params(&file, ImportDecisions::default())).await.unwrap();
    kill(wait_for_program(&world.data("staging")).await);
    let error = world.end_of(job).await.failure.unwrap();
    assert_eq!(error.reason_text(), Some("import_broke"), "{error:?}");
    assert!(error.hint_text().unwrap().contains("Nothing was stored"), "{error:?}");
    assert!(world.names().await.is_empty());
    for folder in ["staging", "sources"] {
        assert_eq!(fs::read_dir(world.data(folder)).unwrap().count(), 0, "{folder} is empty");
    }
    write_rows(&file, 100);
    assert!(world.import(&file).await.is_stored);
    assert_eq!(world.query("SELECT count(*) FROM orders").await.unwrap().rows, [[json!(100)]]);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_whose_program_is_killed_is_told_and_the_next_one_works() {
    let world = World::new().await;
    let file = world.folder.path().join("orders.csv");
    write_rows(&file, 100);
    assert!(world.import(&file).await.is_stored);
    let slow = "SELECT count(*) FROM orders, range(100000000000) t(i) WHERE i % 7 = 3";
    let error = world.kill_at("scratch/queries", slow).await.unwrap_err();
    assert_eq!(error.reason_text(), Some("data_process_ended"), "{error:?}");
    assert!(error.hint_text().unwrap().contains("Ask again"), "{error:?}");
    assert_eq!(world.query("SELECT count(*) FROM orders").await.unwrap().rows, [[json!(100)]]);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_process_that_is_killed_is_started_again() {
    let server = Postgres::with_orders();
    let world = World::new().await;
    world.connect_orders(&server).await;
    let slow =
        "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b, orders";
    let error = world.kill_at("scratch/database-orders", slow).await.unwrap_err();
    assert_eq!(error.reason_text(), Some("data_process_ended"), "{error:?}");
    assert_eq!(world.query("SELECT count(*) FROM orders").await.unwrap().rows, [[json!(3000)]]);
    // The database ends the question by itself.
    let described = world.host.source_describe(super::named("orders")).await.unwrap();
    assert_eq!(described.source.name, SourceName::new("orders"));
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_process_that_nobody_asks_ends_and_starts_with_the_next_question() {
    let server = Postgres::with_orders();
    let idle = |options| Options { data_idle: Duration::from_millis(200), ..options };
    let world = World::with(idle).await;
    world.connect_orders(&server).await;
    let folder = world.data("scratch/database-orders");
    for _ in 0..2 {
        let count = world.query("SELECT count(*) FROM orders").await.unwrap();
        assert_eq!(count.rows, [[json!(3000)]]);
        wait_for(&folder, false).await;
    }
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn first_questions_at_the_same_time_share_one_process() {
    let server = Postgres::with_orders();
    let world = World::new().await;
    world.connect_orders(&server).await;
    // A survey ends the process.
    let address = super::address(&server, "reader");
    let params = SourceAddParams {
        name: Some(SourceName::new("orders")),
        ..world.params(Path::new(&address), ImportDecisions::default())
    };
    let survey = world.host.source_survey(params).await.unwrap();
    assert_eq!(world.end_of(survey).await.failure, None);
    let count = || world.query("SELECT count(*) FROM orders");
    let (one, two, three, four) = tokio::join!(count(), count(), count(), count());
    for answer in [one, two, three, four] {
        assert_eq!(answer.unwrap().rows, [[json!(3000)]]);
    }
    world.host.stop().await;
}
