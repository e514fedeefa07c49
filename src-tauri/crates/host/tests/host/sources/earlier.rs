//! Tests of rows that a pack of an older version kept itself: they become sources at the first start,
//! once, with the same sums, and stay where they are if they cannot be read.

use std::{fs, path::Path, time::Duration};

use contract::{Commands as _, Empty, SourceView};
use rusqlite::Connection;

use super::{World, all_records};
use crate::data_world::with_tools;

const PACK: &str = "campaign-portfolio-pacing";
/// The rows that version 0.1.0 wrote.
const EARLIER: &str =
    include_str!("../../../../../../tools/campaign-portfolio-pacing/tests/earlier.sql");

/// Writes the database of the pack as its older version did.
fn write_earlier(data: &Path) {
    fs::create_dir_all(data).unwrap();
    let database = Connection::open(data.join("pacing.db")).unwrap();
    database.execute_batch("PRAGMA journal_mode = WAL;").unwrap();
    database.execute_batch(EARLIER).unwrap();
}

impl World {
    async fn sources(&self) -> Vec<SourceView> {
        self.host.sources_list(Empty {}).await.unwrap().sources
    }

    /// Waits for the source with the rows of the pack.
    async fn taken_over(&self) -> SourceView {
        for _ in 0..1_000 {
            let sources = self.sources().await;
            let found = sources.into_iter().find(|one| one.name.as_str() == "delivery");
            if let Some(found) = found.filter(|one| !one.notes.is_empty()) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("nothing was taken over: {:?}", self.sources().await);
    }

    /// Waits until the checks of the installation say this.
    async fn told_in_doctor(&self, words: &str) {
        for _ in 0..1_000 {
            let checks = self.host.doctor(Empty {}).await.unwrap().checks;
            if checks.iter().any(|check| check.message.contains(words)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{words:?} is not told");
    }

    async fn taken_records(&self) -> usize {
        let records = self.host.audit_list(all_records()).await.unwrap().records;
        let is_one = |fields: &serde_json::Map<String, serde_json::Value>| {
            fields.get("action").is_some_and(|action| action == "taken_over")
        };
        let found: Vec<_> = records.iter().filter(|record| is_one(&record.fields)).collect();
        for record in &found {
            assert_eq!(record.fields["are_equal"], true, "{record:?}");
            assert_eq!(record.revealed["before"], record.revealed["after"], "{record:?}");
        }
        found.len()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_a_pack_kept_before_become_sources_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("profile/packs").join(PACK);
    write_earlier(&data);
    let world = World::open(folder, with_tools).await;
    let delivery = world.taken_over().await;
    assert_eq!(delivery.rows, Some(4));
    assert!(!delivery.is_sample);
    let told = delivery.notes.iter().any(|note| note.contains("each account and month are equal"));
    assert!(told, "{:?}", delivery.notes);
    let names = ["campaigns", "delivery", "pacing"];
    assert_eq!(world.names().await, names);

    let sql = "SELECT \"Account ID\" AS account, \"Currency\" AS currency, CAST(\"Day\" AS VARCHAR) AS day, CAST(\"Spend\" AS VARCHAR) AS spend, \"Campaign\" AS campaign FROM delivery ORDER BY 1, 3";
    let rows = world.query(sql).await.unwrap().rows;
    let text = |at: usize, cell: usize| rows[at][cell].as_str().unwrap().to_owned();
    assert_eq!(text(0, 3), "12.345678", "no digit is lost");
    assert_eq!((text(0, 4), text(0, 1)), ("Oak, all".to_owned(), "SEK".to_owned()));
    assert_eq!((text(2, 2), text(2, 4)), ("2026-10-31".to_owned(), "-20 % sale".to_owned()));
    assert_eq!(text(3, 2), "2026-11-01");
    assert_eq!(world.total(&"campaigns".into(), "Budget").await, "1500.00");
    assert_eq!(world.taken_records().await, 1);
    assert!(data.join("pacing.db").is_file(), "the earlier file stays");

    let world = world.open_again(with_tools).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(world.names().await, names);
    assert!(world.sources().await.iter().all(|source| source.imports.len() < 2));
    assert_eq!(world.taken_records().await, 1);
    world.host.source_old_data_remove(Empty {}).await.unwrap();
    assert!(!data.join("pacing.db").exists());
    assert_eq!(world.names().await, names);

    // An older version may begin a new file, whose rows are in no source.
    fs::write(data.join("pacing.db"), "").unwrap();
    let refused = world.host.source_old_data_remove(Empty {}).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("nothing_to_remove"));
    assert!(data.join("pacing.db").exists());
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_newer_version_are_told_and_become_sources_when_they_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("profile/packs").join(PACK);
    write_earlier(&data);
    let file = data.join("pacing.db");
    let newer = "PRAGMA journal_mode = DELETE; PRAGMA user_version = 99;";
    Connection::open(&file).unwrap().execute_batch(newer).unwrap();
    let before = fs::read(&file).unwrap();
    let world = World::open(folder, with_tools).await;
    world.told_in_doctor("pacing.db was written by a newer version of Countersign").await;
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!((world.names().await, world.taken_records().await), (Vec::new(), 0));

    // A later start with the right version takes the rows over.
    Connection::open(&file).unwrap().execute_batch("PRAGMA user_version = 1;").unwrap();
    let world = world.open_again(with_tools).await;
    assert_eq!(world.taken_over().await.rows, Some(4));
    world.host.stop().await;
}
