//! Tests of values that are erased by age, and of the copy of the log, from which they are erased,
//! too.

use std::path::Path;

use audit::{Log, verify};
use chrono::{DateTime, Utc};
use contract::AuditListParams;
use engine::ports::{AuditLog as _, Durability};
use rusqlite::Connection;

use crate::export::both;
use crate::kit::{Content, World, draft, fill, run};

/// Returns the numbers of the records with a value, oldest first, and the time of one record.
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
fn expired_values_are_erased_and_the_log_still_verifies() {
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

    // A newer value that is missing without a record of its erasure is still a problem.
    let db = Connection::open(world.db()).unwrap();
    db.execute("DELETE FROM audit_reveal WHERE seq = 25", []).unwrap();
    drop(db);
    let report = verify(&world.db(), Some(&world.mark()));
    assert_eq!(report.problems.first().and_then(|problem| problem.seq), Some(25));
}

#[test]
fn updating_the_copy_adds_new_records_and_removes_erased_values() {
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

#[test]
fn a_copy_made_right_after_an_erasure_verifies() {
    let world = World::new();
    let copy = world.folder.path().join("copy.db");
    run(async {
        let log = world.open();
        fill(&log, 30).await;
        log.update_copy(&copy).unwrap();
        log.erase_session(&"desktop:s1".into()).await.unwrap();
        log.update_copy(&copy).unwrap();
        let report = verify(&copy, None);
        assert!(report.ok, "{:?}", report.problems);
        log.close().await.unwrap();
    });
}

#[test]
fn a_damaged_copy_is_made_again() {
    let world = World::new();
    let copy = world.folder.path().join("copy.db");
    run(async {
        let log = world.open();
        fill(&log, 200).await;
        log.update_copy(&copy).unwrap();
        let whole = std::fs::read(&copy).unwrap();
        for damage in [vec![0x5a; 9_000], whole[..whole.len() / 2].to_vec()] {
            std::fs::write(&copy, damage).unwrap();
            log.update_copy(&copy).unwrap();
            assert!(verify(&copy, None).ok);
        }
        log.close().await.unwrap();
    });
    assert_eq!(Content::read(&copy).unwrap(), Content::read(&world.db()).unwrap());
}

/// A clock that a test sets.
struct Set(std::sync::Mutex<DateTime<Utc>>);

impl engine::ports::Clock for Set {
    fn now(&self) -> DateTime<Utc> {
        *self.0.lock().unwrap()
    }
}

#[test]
fn a_record_dated_in_the_future_does_not_stop_the_expiry_of_older_values() {
    let world = World::new();
    let day = |n: i64| DateTime::UNIX_EPOCH + chrono::TimeDelta::days(n);
    let clock = std::sync::Arc::new(Set(std::sync::Mutex::new(day(10))));
    let mut options = world.options();
    options.clock = clock.clone();
    run(async {
        let log = crate::kit::ready(Log::open(options).unwrap());
        for at in [10, 36_500, 11, 12, 40] {
            *clock.0.lock().unwrap() = day(at);
            log.append(draft(2), Durability::Durable).await.unwrap();
        }
        assert_eq!(log.erase_before(day(30)).await.unwrap(), 4);
        let (left, _) = valued(&log, 6).await;
        assert_eq!(left, [6], "the value of day 40");
        assert!(log.verify().await.unwrap().ok);
        log.close().await.unwrap();
    });
}

#[test]
fn old_values_expire_in_logs_that_were_set_aside_too() {
    let world = World::new();
    let copy = world.folder.path().join("copies").join("audit.db");
    let stem = world.db().file_stem().unwrap().to_string_lossy().into_owned();
    let aside = world.db().with_file_name(format!("{stem}.set-aside-1.db"));
    run(async {
        let log = world.open();
        fill(&log, 30).await;
        let (_, at) = valued(&log, 20).await;
        log.update_copy(&world.folder.path().join("old.db")).unwrap();
        std::fs::rename(world.folder.path().join("old.db"), &aside).unwrap();
        let old = Connection::open(&aside).unwrap();
        let numbers = || -> Vec<i64> {
            let mut select = old.prepare("SELECT seq FROM audit_reveal ORDER BY seq").unwrap();
            select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        assert_eq!(numbers().first(), Some(&2));
        let left: Vec<_> = numbers().into_iter().filter(|seq| *seq >= 20).collect();
        assert_eq!(log.expire_set_aside(&copy, at).unwrap(), (18, Vec::new()));
        assert_eq!(numbers(), left);
        assert_eq!(log.expire_set_aside(&copy, at).unwrap().0, 0);
        log.close().await.unwrap();
    });
}

#[test]
fn an_erasure_that_matches_no_value_leaves_the_log_unchanged() {
    let world = World::new();
    run(async {
        let log = world.open();
        fill(&log, 5).await;
        log.append(draft(6), Durability::Grouped).await.unwrap();
        log.flush().await.unwrap();
        assert_eq!(log.erase_session(&"nobody".into()).await.unwrap(), 0);
        log.checkpoint().await.unwrap();
        assert_eq!(log.erase_session(&"nobody".into()).await.unwrap(), 0);
        log.close().await.unwrap();
    });
    let report = verify(&world.db(), Some(&world.mark()));
    assert!(report.ok, "{:?}", report.problems);
}

#[test]
fn a_log_with_an_alarm_can_still_be_exported_unchanged() {
    let world = World::new();
    run(async {
        let log = world.open();
        fill(&log, 5).await;
        log.checkpoint().await.unwrap();
        log.stop("an alarm");
        let folder = world.folder.path().join("evidence");
        let export = log.export(
            folder.to_str().unwrap(),
            audit::Scope::Whole,
            messages::Language::default(),
            world.folder.path().join("attestations"),
        );
        assert_eq!(export.await.unwrap().records, 5);
        assert!(folder.join("records.jsonl").is_file());
    });
}

#[test]
fn a_copy_that_still_has_expired_values_is_recognised() {
    let world = World::new();
    let copy = world.folder.path().join("copy.db");
    run(async {
        let log = world.open();
        assert!(!log.has_expired_values(&copy), "there is no copy");
        fill(&log, 30).await;
        log.checkpoint().await.unwrap();
        log.update_copy(&copy).unwrap();
        assert!(!log.has_expired_values(&copy));
        let (_, at) = valued(&log, 20).await;
        log.erase_before(at).await.unwrap();
        assert!(log.has_expired_values(&copy));
        log.update_copy(&copy).unwrap();
        assert!(!log.has_expired_values(&copy));
        log.close().await.unwrap();
    });
}
