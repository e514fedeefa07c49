//! The data program is killed in the middle of an import and of questions, a source is removed while
//! it is asked, or a file changes while it is imported: the error is clear, no rows are half stored,
//! and the next call works.

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use contract::{
    AgentError, Commands as _, SourceJob, SourceName, SourceQueryParams, metric_query::DataResult,
    params::SourceAddParams, sources::ImportDecisions,
};
use host::Options;
use kit::postgres::Postgres;
use serde_json::json;
use tokio::{task::JoinHandle, time::timeout};

use super::{World, only};

/// Returns the id of the data program that works in a folder below another one.
pub(super) fn find_program(folder: &Path) -> Option<u32> {
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

pub(super) async fn wait_for_program(folder: &Path) -> u32 {
    wait_for(folder, true).await.unwrap()
}

fn kill(id: u32) {
    signal(id, "-KILL");
}

fn signal(id: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &id.to_string()]).status().unwrap().success());
}

/// Checks that an error says that the source of orders was removed, and nothing else.
#[track_caller]
fn is_removal(error: &AgentError) {
    assert_eq!(error.reason_text(), Some("source_removed"), "{error:?}");
    assert_eq!(error.message, "The source orders was removed while the question ran.");
    assert_eq!(error.hint_text(), None);
}

impl World {
    /// Kills the program in a folder while it answers a question.
    async fn kill_at(&self, folder: &str, sql: &'static str) -> Result<DataResult, AgentError> {
        let (asked, id) = self.start_slow(folder, sql).await;
        kill(id);
        asked.await.unwrap()
    }

    /// Starts a question that takes long. Also returns the id of the program that answers it, which
    /// works in a folder.
    async fn start_slow(
        &self,
        folder: &str,
        sql: &'static str,
    ) -> (JoinHandle<Result<DataResult, AgentError>>, u32) {
        let asked = self.start(sql.to_owned());
        let id = wait_for_program(&self.data(folder)).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(!asked.is_finished(), "the question takes long");
        (asked, id)
    }

    /// Starts an import whose program waits. Also returns the id of the program.
    async fn start_held(&self, file: &Path) -> (SourceJob, u32) {
        let params = self.params(file, ImportDecisions::default());
        let job = self.host.source_add(params).await.unwrap();
        let id = wait_for_program(&self.data("staging")).await;
        signal(id, "-STOP");
        (job, id)
    }

    fn start(&self, sql: String) -> JoinHandle<Result<DataResult, AgentError>> {
        let host = Arc::clone(&self.host);
        tokio::spawn(async move {
            host.source_query(SourceQueryParams { sql, cursor: None, limit: 0 }).await
        })
    }
}

/// A question about rows in files that takes longer than any test.
pub(super) const SLOW: &str =
    "SELECT count(*) FROM orders, range(100000000000) t(i) WHERE i % 7 = 3";
/// The same for a table of PostgreSQL.
pub(super) const SLOW_IN_DATABASE: &str =
    "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b, orders";

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
async fn a_file_that_is_replaced_while_it_is_imported_is_imported_by_the_next_refresh() {
    let world = World::new().await;
    let file = world.folder.path().join("orders.csv");
    write_rows(&file, 200_000);
    let (job, id) = world.start_held(&file).await;
    let new = world.folder.path().join("new.csv");
    write_rows(&new, 200_100);
    fs::rename(&new, &file).unwrap();
    signal(id, "-CONT");
    let stored = only(world.end_of(job).await);
    assert!(stored.is_stored, "{stored:?}");
    let notes = &stored.report.notes;
    assert!(notes.iter().any(|note| note.contains("was replaced after it was read")), "{notes:?}");
    let count = "SELECT count(*) FROM orders";
    assert_eq!(world.query(count).await.unwrap().rows, [[json!(200_000)]]);
    let refreshed = only(world.refresh(&SourceName::new("orders")).await);
    assert!(refreshed.is_stored, "{refreshed:?}");
    assert_eq!(world.query(count).await.unwrap().rows, [[json!(200_100)]]);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_grows_while_it_is_imported_is_refused_until_it_is_complete() {
    let world = World::new().await;
    let file = world.folder.path().join("orders.csv");
    write_rows(&file, 200_000);
    let (job, id) = world.start_held(&file).await;
    let mut grows = fs::File::options().append(true).open(&file).unwrap();
    grows.write_all(b"2026-11-30,Late,1").unwrap();
    signal(id, "-CONT");
    let error = world.end_of(job).await.failure.unwrap();
    assert_eq!(error.reason_text(), Some("file_changed"), "{error:?}");
    assert!(world.names().await.is_empty());
    grows.write_all(b"2.25\n").unwrap();
    assert!(world.import(&file).await.is_stored);
    assert_eq!(world.query("SELECT count(*) FROM orders").await.unwrap().rows, [[json!(200_001)]]);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_whose_program_is_killed_is_told_and_the_next_one_works() {
    let world = World::new().await;
    let file = world.folder.path().join("orders.csv");
    write_rows(&file, 100);
    assert!(world.import(&file).await.is_stored);
    let error = world.kill_at("scratch/queries", SLOW).await.unwrap_err();
    assert_eq!(error.reason_text(), Some("data_process_ended"), "{error:?}");
    assert!(error.hint_text().unwrap().contains("Ask again"), "{error:?}");
    // A process that is killed leaves what it spilled.
    fs::write(world.data("scratch/queries").join("spilled.tmp"), "rows").unwrap();
    assert_eq!(world.query("SELECT count(*) FROM orders").await.unwrap().rows, [[json!(100)]]);
    world.host.stop().await;
    let left = super::files_below(&world.data("scratch"));
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_is_removed_while_a_question_runs_is_gone_and_others_answer() {
    let world = World::new().await;
    for name in ["orders", "others"] {
        let file = world.folder.path().join(format!("{name}.csv"));
        write_rows(&file, 100);
        let source = SourceName::new(name);
        let stored = world.import_into(&source, &file, ImportDecisions::default()).await;
        assert!(stored.is_stored, "{stored:?}");
    }
    let (asked, id) = world.start_slow("scratch/queries", SLOW).await;
    let removal = world.host.source_remove(super::named("orders"));
    let removed = timeout(Duration::from_secs(20), removal).await;
    removed.expect("a removal does not wait for the question").unwrap();
    assert!(!asked.is_finished(), "the question still runs");
    assert_eq!(world.names().await, ["others"]);
    assert!(!world.data("sources").join("orders").exists(), "the rows are erased");
    assert_eq!(fs::read_dir(world.data("staging")).unwrap().count(), 0, "no rows are left aside");
    let error = world.host.source_describe(super::named("orders")).await.unwrap_err();
    assert_eq!(error.reason_text(), Some("not_found"), "{error:?}");
    let error = world.query("SELECT count(*) FROM orders").await.unwrap_err();
    assert_eq!(error.reason_text(), Some("query_refused"), "{error:?}");
    assert_eq!(world.query("SELECT count(*) FROM others").await.unwrap().rows, [[json!(100)]]);
    kill(id);
    is_removal(&asked.await.unwrap().unwrap_err());
    assert_eq!(world.query("SELECT count(*) AS n FROM others").await.unwrap().rows, [[json!(100)]]);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_finds_no_rows_of_a_removed_source_says_so_without_a_path() {
    let world = World::new().await;
    let file = world.folder.path().join("orders.csv");
    write_rows(&file, 100);
    assert!(world.import(&file).await.is_stored);
    assert_eq!(world.query("SELECT count(*) FROM orders").await.unwrap().rows, [[json!(100)]]);
    let id = wait_for_program(&world.data("scratch/queries")).await;
    signal(id, "-STOP");
    // The question reaches a program that opens the rows only after they are erased.
    let asked = world.start("SELECT count(*), max(\"Cost\") FROM orders".to_owned());
    tokio::time::sleep(Duration::from_millis(500)).await;
    world.host.source_remove(super::named("orders")).await.unwrap();
    signal(id, "-CONT");
    is_removal(&asked.await.unwrap().unwrap_err());
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn figures_of_a_source_that_is_being_removed_are_right_or_refused() {
    let world = World::new().await;
    let file = world.folder.path().join("orders.csv");
    write_rows(&file, 100_000);
    assert!(world.import(&file).await.is_stored);
    let sql = |at: u32| format!("SELECT count(*), sum(\"Cost\") FROM orders WHERE {at} = {at}");
    let right = world.query(&sql(0)).await.unwrap().rows;
    // Each text is another question, so that no answer was kept.
    let asked: Vec<_> = (1..=40).map(|at| world.start(sql(at))).collect();
    tokio::time::sleep(Duration::from_millis(50)).await;
    world.host.source_remove(super::named("orders")).await.unwrap();
    for one in asked {
        match one.await.unwrap() {
            Ok(result) => assert_eq!(result.rows, right),
            // It was removed before the question, or after it began.
            Err(error) if error.reason_text() == Some("query_refused") => {}
            Err(error) => is_removal(&error),
        }
    }
    assert!(world.query(&sql(0)).await.is_err(), "no kept answer is given");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_process_that_is_killed_is_started_again() {
    let server = Postgres::with_orders();
    let world = World::new().await;
    world.connect_orders(&server).await;
    let error = world.kill_at("scratch/database-orders", SLOW_IN_DATABASE).await.unwrap_err();
    assert_eq!(error.reason_text(), Some("data_process_ended"), "{error:?}");
    assert_eq!(world.query("SELECT count(*) FROM orders").await.unwrap().rows, [[json!(3000)]]);
    // The database ends the question by itself.
    let described = world.host.source_describe(super::named("orders")).await.unwrap();
    assert_eq!(described.source.name, SourceName::new("orders"));
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_removed_while_it_is_asked_ends_the_question() {
    let server = Postgres::with_orders();
    let world = World::new().await;
    world.connect_orders(&server).await;
    let (asked, _) = world.start_slow("scratch/database-orders", SLOW_IN_DATABASE).await;
    world.host.source_remove(super::named("orders")).await.unwrap();
    let ended = timeout(Duration::from_secs(20), asked).await.expect("the question ends");
    is_removal(&ended.unwrap().unwrap_err());
    assert!(find_program(&world.data("scratch/database-orders")).is_none(), "no process is left");
    assert!(world.names().await.is_empty());
    // The same table can be connected again.
    assert!(world.connect_orders(&server).await.is_stored);
    assert_eq!(world.query("SELECT count(*) FROM orders").await.unwrap().rows, [[json!(3000)]]);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_survey_of_a_stored_database_does_not_end_its_process() {
    let server = Postgres::with_orders();
    let world = World::new().await;
    world.connect_orders(&server).await;
    let folder = world.data("scratch/database-orders");
    let id = wait_for_program(&folder).await;
    let address = super::address(&server, "reader");
    let params = SourceAddParams {
        name: Some(SourceName::new("orders")),
        ..world.params(Path::new(&address), ImportDecisions::default())
    };
    let job = world.host.source_survey(params).await.unwrap();
    let surveyed = world.end_of(job).await;
    assert!(surveyed.failure.is_none(), "{surveyed:?}");
    assert_eq!(find_program(&folder), Some(id), "it may be answering a question");
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
