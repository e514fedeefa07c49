//! Tests of what is kept: rows of former imports up to a limit, and processes while somebody asks.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use contract::{
    CheckState, Commands as _, Empty, RecordType, SourceName, SourceQueryParams, VerifyParams,
    sources::{ImportDecisions, ImportMode},
};
use host::{Host, Options};

use super::{CLIENT_ONE, World, all_records, named};
use crate::day::Later;

/// Opens a world whose rows may take one megabyte.
async fn narrow_world() -> World {
    World::with_settings("[data]\nsnapshot_limit_mb = 1\n").await
}

/// Writes an export that takes about 800 kB as a part, because its names cannot be compressed.
fn large(world: &World, name: &str, seed: u64) -> PathBuf {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    let mut state = seed;
    let mut letter = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(LETTERS[usize::try_from(state >> 58).unwrap()])
    };
    let mut text = "Day,Campaign,Cost\n".to_owned();
    for row in 0..25_000 {
        let campaign: String = (0..40).map(|_| letter()).collect();
        text.push_str(&format!("2026-11-{:02},{campaign},1.{:02}\n", row % 30 + 1, seed));
    }
    world.write(name, &text)
}

async fn import(
    world: &World,
    file: &Path,
    decisions: ImportDecisions,
) -> (SourceName, Vec<String>) {
    let stored = world.import_with(file, decisions).await;
    assert!(stored.is_stored, "{:?}", stored.questions);
    (stored.source, stored.report.notes.iter().map(ToString::to_string).collect())
}

fn replace() -> ImportDecisions {
    let answers = [("vanished", "replace"), ("whose_data", "same")];
    let answers = answers.map(|(id, value)| (id.to_owned(), value.to_owned()));
    ImportDecisions {
        mode: Some(ImportMode::Replace),
        answers: answers.into(),
        ..ImportDecisions::default()
    }
}

async fn deletions(host: &Host) -> usize {
    let records = host.audit_list(all_records()).await.unwrap().records;
    let is_deletion = |record: &&contract::AuditRecordView| {
        record.record_type == RecordType::SourceChanged
            && record.fields.get("action").is_some_and(|action| action == "rows_deleted")
    };
    records.iter().filter(is_deletion).count()
}

fn parts(world: &World, source: &SourceName) -> usize {
    let folder = world.folder.path().join("profile/data/sources").join(source.as_str());
    fs::read_dir(folder.join("parts")).unwrap().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn former_rows_over_the_limit_are_deleted_recorded_and_told() {
    let world = narrow_world().await;
    let (source, notes) = import(&world, &large(&world, "first.csv", 10), replace()).await;
    assert!(notes.iter().all(|note| !note.contains("deleted")), "{notes:?}");
    let sum = world.total(&source, "Cost").await;
    assert_eq!(sum, "27500.00");
    let records = world.host.audit_list(all_records()).await.unwrap().records;
    let is_figure =
        |record: &&contract::AuditRecordView| record.record_type == RecordType::FigureComputed;
    let record = records.iter().find(is_figure).unwrap().seq;
    let check = world.host.source_verify(VerifyParams { record }).await.unwrap();
    assert!(check.agrees, "{check:?}");
    let (_, notes) = import(&world, &large(&world, "second.csv", 20), replace()).await;
    assert!(notes.iter().any(|note| note.contains("The rows of 1 former imports")), "{notes:?}");
    assert_eq!((deletions(&world.host).await, parts(&world, &source)), (1, 1));
    assert_eq!(world.total(&source, "Cost").await, "30000.00", "the rows in force stay");
    let check = world.host.source_verify(VerifyParams { record }).await.unwrap();
    assert!(!check.is_repeated && check.text.contains("no longer stored"), "{check:?}");
    let view = world.host.sources_list(Empty {}).await.unwrap();
    let storage = view.storage.unwrap();
    assert!(storage.bytes < storage.limit_bytes, "{storage:?}");
    assert!(view.sources[0].notes.iter().any(|note| note.contains("no longer stored")));
    assert_eq!(view.sources[0].imports.len(), 2, "the imports are still listed");
    let refused = world.host.source_undo(named(&source)).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("rows_deleted"));
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_in_force_are_never_deleted_and_the_check_says_that_they_take_too_much() {
    let world = narrow_world().await;
    let (one, _) = import(&world, &large(&world, "one.csv", 10), replace()).await;
    let other = ImportDecisions {
        answers: [("whose_data".to_owned(), "other".to_owned())].into(),
        ..ImportDecisions::default()
    };
    let (two, _) = import(&world, &large(&world, "two.csv", 20), other).await;
    assert_ne!(one, two);
    assert_eq!(deletions(&world.host).await, 0);
    for source in [&one, &two] {
        assert_eq!(parts(&world, source), 1);
    }
    let checks = world.host.doctor(Empty {}).await.unwrap().checks;
    let check = checks.iter().find(|check| check.name == *"data").unwrap();
    assert_eq!(check.state, CheckState::Warning, "{}", check.message);
    assert!(check.message.contains("of at most 1 MB"), "{}", check.message);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_undone_rows_go_first() {
    let world = narrow_world().await;
    let (source, _) = import(&world, &large(&world, "undone.csv", 10), replace()).await;
    world.host.source_undo(named(&source)).await.unwrap();
    assert_eq!(parts(&world, &source), 1, "an undone import is kept");
    let (kept, _) = import(&world, &large(&world, "kept.csv", 20), replace()).await;
    assert_eq!((deletions(&world.host).await, parts(&world, &source)), (1, 0));
    assert_eq!(parts(&world, &kept), 1);
    assert_eq!(world.total(&kept, "Cost").await, "30000.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_an_undone_import_are_deleted_90_days_after_the_undo() {
    const DAY: i64 = 86_400;
    let clock = Arc::new(Later::default());
    let with = |options| Options { clock: Arc::clone(&clock) as _, ..options };
    let world = World::with(with).await;
    let rows = |day: u32| format!("Day,Campaign,Cost\n2026-11-{day:02},Oak,{day}.00\n");
    let import_day = async |day: u32| {
        import(&world, &world.write("ads.csv", &rows(day)), ImportDecisions::default()).await
    };
    let (source, _) = import_day(1).await;
    import_day(2).await;
    // The import is old before somebody takes it back.
    clock.0.fetch_add(100 * DAY, Ordering::SeqCst);
    world.host.source_undo(named(&source)).await.unwrap();
    import_day(3).await;
    clock.0.fetch_add(90 * DAY - 600, Ordering::SeqCst);
    import_day(4).await;
    assert_eq!((deletions(&world.host).await, parts(&world, &source)), (0, 4));
    clock.0.fetch_add(1_200, Ordering::SeqCst);
    let (_, notes) = import_day(5).await;
    assert!(notes.iter().any(|note| note.contains("undone 90 days ago")), "{notes:?}");
    assert_eq!((deletions(&world.host).await, parts(&world, &source)), (1, 4));
    assert_eq!(world.total(&source, "Cost").await, "13.00");
    world.host.stop().await;
}

/// Whether a query process of a world runs.
fn is_running(world: &World) -> bool {
    let profile = world.folder.path().display().to_string();
    let runs = |entry: fs::DirEntry| {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&words).replace('\0', " ");
        line.contains("csign-data serve") && line.contains(&profile)
    };
    fs::read_dir("/proc").unwrap().flatten().any(runs)
}

async fn count(host: &Host, sql: &str) -> serde_json::Value {
    let params = SourceQueryParams { sql: sql.to_owned(), cursor: None, limit: 0 };
    host.source_query(params).await.unwrap().rows[0][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_nobody_asks_ends_and_starts_with_the_next_question() {
    let idle = |options| Options { data_idle: Duration::from_millis(200), ..options };
    let world = World::with(idle).await;
    world.import(&world.write("ads.csv", CLIENT_ONE)).await;
    assert_eq!(count(&world.host, "SELECT count(*) FROM ads").await, 2);
    assert!(is_running(&world));
    for attempt in 0.. {
        if !is_running(&world) {
            break;
        }
        assert!(attempt < 500, "the process still runs");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // This takes longer than a process may rest.
    let slow = "SELECT count(*) FROM range(2000000000) t(i) WHERE i % 7 = 3";
    assert_eq!(count(&world.host, slow).await, 285_714_286);
    assert_eq!(count(&world.host, "SELECT count(*) FROM ads").await, 2);
    world.host.stop().await;
}
