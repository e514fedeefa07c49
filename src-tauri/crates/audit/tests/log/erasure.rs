//! Values that are erased by age, and the copy of the log, which follows it.

use std::path::Path;

use audit::{Log, verify};
use chrono::{DateTime, Utc};
use contract::AuditListParams;
use engine::ports::{AuditLog as _, Durability};
use rusqlite::Connection;

use crate::export::both;
use crate::kit::{Content, World, draft, fill, run};

/// The numbers of the records with a value, oldest first, and the time of one record.
async fn valued(log: &Log, of: u64) -> (Vec<u64>, DateTime<Utc>) {
    let all = AuditListParams {
        record_type: None,
        session: None,
        query: String::new(),
        before: None,
        limit: 500,
    };
    let mut records = log.list(all).await.unwrap().records;
    records.reverse();
    let at = records.iter().find(|record| record.seq == of).unwrap().at;
    let has_value = |values: &serde_json::Map<String, serde_json::Value>| {
        values.values().any(|value| !value.is_null())
    };
    let numbers = records.iter().filter(|r| has_value(&r.revealed)).map(|r| r.seq).collect();
    (numbers, at)
}

fn contains(file: &Path, text: &str) -> bool {
    let bytes = std::fs::read(file).unwrap();
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn old_values_expire_and_the_log_verifies() {
    let world = World::new();
    run(async {
        let log = world.open();
        fill(&log, 30).await;
        let (before, at) = valued(&log, 20).await;
        assert_eq!(before, (2..=30).collect::<Vec<_>>());
        assert_eq!(log.erase_before(at).await.unwrap(), 18);
        let (after, _) = valued(&log, 20).await;
        assert_eq!(after, (20..=30).collect::<Vec<_>>());
        assert_eq!(log.erase_before(at).await.unwrap(), 0, "a second time erases no more");
        assert_eq!(log.total(), 31, "one record for all of them");
        let last = log.show(31).await.unwrap();
        assert_eq!(last.fields["until"], 19);
        assert_eq!(last.fields["values"], 18);
        log.close().await.unwrap();
    });
    let report = verify(&world.db(), Some(&world.mark()));
    assert!(report.ok, "{:?}", report.problems);
    let folder = world.folder.path().join("export");
    let wanted = audit::Wanted::new(audit::Scope::Whole);
    audit::export_file(&world.db(), &folder, &wanted).unwrap();
    assert!(both(&folder).ok);

    // A newer value that is missing without a record is still a fault.
    let db = Connection::open(world.db()).unwrap();
    db.execute("DELETE FROM audit_reveal WHERE seq = 25", []).unwrap();
    drop(db);
    let report = verify(&world.db(), Some(&world.mark()));
    assert_eq!(report.problems.first().and_then(|problem| problem.seq), Some(25));
}

#[test]
fn the_copy_gets_new_records_and_loses_erased_values() {
    let world = World::new();
    let copy = world.folder.path().join("copy.db");
    run(async {
        let log = world.open();
        fill(&log, 300).await;
        log.update_copy(&copy).unwrap();
        fill(&log, 333).await;
        let secret = draft(334).commit("question", "quixotelamp");
        log.append(secret, Durability::Signed).await.unwrap();
        log.update_copy(&copy).unwrap();
        assert!(contains(&copy, "quixotelamp"));
        let erased = log.erase_session(&"desktop:s1".into()).await.unwrap();
        assert_eq!(erased, 334, "333 arguments and one question");
        log.update_copy(&copy).unwrap();
        log.close().await.unwrap();
        log.update_copy(&copy).unwrap();
    });
    let (whole, copied) = (Content::read(&world.db()).unwrap(), Content::read(&copy).unwrap());
    assert_eq!(copied, whole);
    assert!(!contains(&copy, "quixotelamp"));
    let beside = copy.with_file_name("copy.db-wal");
    assert!(std::fs::metadata(beside).map_or(true, |meta| meta.len() == 0));
    let report = verify(&copy, None);
    assert!(report.ok, "{:?}", report.problems);
}

#[test]
fn the_copy_of_another_log_is_set_aside() {
    let (world, other) = (World::new(), World::new());
    let copy = world.folder.path().join("copy.db");
    run(async {
        let first = other.open();
        first.append(draft(7), Durability::Signed).await.unwrap();
        fill(&first, 40).await;
        first.update_copy(&copy).unwrap();
        let log = world.open();
        fill(&log, 20).await;
        log.update_copy(&copy).unwrap();
        log.close().await.unwrap();
        first.close().await.unwrap();
    });
    assert_eq!(Content::read(&copy).unwrap().records.len(), 20);
    let aside = copy.with_file_name("copy.set-aside-1.db");
    assert_eq!(Content::read(&aside).unwrap().records.len(), 40);
    let report = verify(&aside, None);
    assert!(report.ok, "{:?}", report.problems);
}
