//! Tests of the ordinary use of a log.

use audit::{Log, OpenState, Signer, verify};
use contract::{AuditListParams, RecordType};
use engine::ports::{AuditLog as _, Durability, RecordDraft};
use serde_json::json;

use crate::kit::{OTHER_KEY, World, closed, draft, fill, ready, run};

fn all() -> AuditListParams {
    AuditListParams {
        record_type: None,
        session: None,
        query: String::new(),
        before: None,
        limit: 0,
    }
}

#[test]
fn appended_records_are_listed_shown_and_verified() {
    let world = World::new();
    run(async {
        let log = world.open();
        assert_eq!(log.total(), 1);
        assert_eq!(log.append(draft(2), Durability::Grouped).await.unwrap(), 2);
        assert_eq!(log.append(draft(3), Durability::Durable).await.unwrap(), 3);
        assert_eq!(log.append(draft(4), Durability::Signed).await.unwrap(), 4);
        let list = log.list(all()).await.unwrap();
        assert_eq!((list.total, list.has_more), (4, false));
        assert_eq!(list.records.iter().map(|r| r.seq).collect::<Vec<_>>(), [4, 3, 2, 1]);
        let shown = log.show(3).await.unwrap();
        assert_eq!(shown.record_type, RecordType::ToolIntent);
        assert_eq!(shown.tool.as_deref(), Some("cart.add"));
        assert_eq!(shown.revealed["arguments"], json!({ "quantity": 3, "price": 12.5 }));
        let report = log.verify().await.unwrap();
        assert_eq!(
            (report.ok, report.records, report.unsigned_tail, report.anchored),
            (true, 4, 0, true)
        );
        // Call 2 has both an intent (record 3) and an outcome (record 4).
        assert_eq!(report.unknown_outcomes, Vec::<u64>::new());
        log.close().await.unwrap();
        assert!(log.append(draft(5), Durability::Durable).await.is_err());
    });
    let report = verify(&world.db(), Some(&world.mark()));
    assert!(report.ok, "{:?}", report.problems);
    assert_eq!(world.mark().size, 4);
}

#[test]
fn lists_are_filtered_and_paged() {
    let world = World::new();
    run(async {
        let log = world.open();
        fill(&log, 30).await;
        log.append(
            RecordDraft::new(RecordType::KillSwitch).field("status", "100%_off"),
            Durability::Durable,
        )
        .await
        .unwrap();
        let page = log
            .list(AuditListParams { record_type: Some(RecordType::ToolIntent), limit: 5, ..all() })
            .await
            .unwrap();
        assert!(
            page.has_more && page.records.iter().all(|r| r.record_type == RecordType::ToolIntent)
        );
        let next = log
            .list(AuditListParams {
                before: Some(page.records[4].seq),
                limit: 5,
                record_type: Some(RecordType::ToolIntent),
                ..all()
            })
            .await
            .unwrap();
        assert!(next.records[0].seq < page.records[4].seq);
        assert_eq!(
            log.list(AuditListParams { query: "cart".into(), ..all() })
                .await
                .unwrap()
                .records
                .len(),
            29
        );
        assert_eq!(
            log.list(AuditListParams { query: "100%_".into(), ..all() })
                .await
                .unwrap()
                .records
                .len(),
            1
        );
        assert_eq!(
            log.list(AuditListParams { query: "0%o".into(), ..all() }).await.unwrap().records.len(),
            0
        );
        assert_eq!(
            log.list(AuditListParams { session: Some("desktop:s2".into()), ..all() })
                .await
                .unwrap()
                .records
                .len(),
            0
        );
        assert!(log.show(99).await.is_err());
        log.close().await.unwrap();
    });
}

#[test]
fn a_reopened_log_continues_and_still_verifies_after_a_value_is_erased() {
    let world = World::new();
    closed(&world, 10);
    run(async {
        let log = world.open();
        assert_eq!(log.total(), 11);
        assert!(log.erase(4, "arguments").await.unwrap());
        assert!(!log.erase(4, "arguments").await.unwrap());
        assert_eq!(log.show(4).await.unwrap().revealed["arguments"], serde_json::Value::Null);
        let said = log.show(12).await.unwrap();
        assert_eq!(
            (log.total(), said.record_type, said.session.as_deref()),
            (12, RecordType::ValueErased, Some("desktop:s1")),
            "an erasure is a record itself, and one that found nothing is none"
        );
        assert_eq!(
            (&said.fields["record"], &said.fields["member"]),
            (&json!(4), &json!("arguments"))
        );
        assert!(log.verify().await.unwrap().ok);
        log.close().await.unwrap();
    });
    let bytes = std::fs::read(world.db()).unwrap();
    assert!(
        !bytes.windows(13).any(|w| w == br#""quantity":4}"#),
        "the erased value is still in the file"
    );
    assert!(bytes.windows(13).any(|w| w == br#""quantity":5}"#));
}

#[test]
fn values_that_a_record_cannot_store_are_refused_with_their_location() {
    let world = World::new();
    run(async {
        let log = world.open();
        let refuse = async |value: serde_json::Value| {
            log.append(
                RecordDraft::new(RecordType::RunEnded).field("n", value),
                Durability::Durable,
            )
            .await
            .unwrap_err()
            .0
        };
        assert!(refuse(json!(1.5)).await.contains("/fields/n"));
        assert!(refuse(json!([{ "x": 9_007_199_254_740_992u64 }])).await.contains("/fields/n/0/x"));
        let big = RecordDraft::new(RecordType::RunEnded)
            .field("n", 9_007_199_254_740_991u64)
            .commit("c", 9_007_199_254_740_993u64);
        let seq = log.append(big, Durability::Durable).await.unwrap();
        assert_eq!(log.show(seq).await.unwrap().revealed["c"], json!("9007199254740993"));
        assert!(log.verify().await.unwrap().ok);
        log.close().await.unwrap();
    });
}

#[test]
fn verification_reports_an_intent_without_an_outcome() {
    let world = World::new();
    run(async {
        let log = world.open();
        fill(&log, 6).await;
        log.append(draft(7), Durability::Signed).await.unwrap();
        let report = log.verify().await.unwrap();
        assert_eq!((report.ok, report.unknown_outcomes), (true, vec![7]));
        log.close().await.unwrap();
    });
}

#[test]
fn a_log_signed_with_a_temporary_key_is_unanchored_until_the_keyring_key_returns() {
    let mut world = World::new();
    closed(&world, 5);
    (world.seed, world.anchored) = (OTHER_KEY, false);
    closed(&world, 9);
    assert!(!verify(&world.db(), Some(&world.mark())).anchored);
    (world.seed, world.anchored) = (crate::kit::KEY, true);
    closed(&world, 13);
    let report = verify(&world.db(), Some(&world.mark()));
    assert!(report.ok && report.anchored, "{:?}", report.problems);
}

#[test]
fn a_new_keyring_key_is_accepted_only_with_the_old_keys_signature() {
    let mut world = World::new();
    closed(&world, 5);
    world.seed = OTHER_KEY;
    let OpenState::Tampered(found) = Log::open(world.options()).unwrap() else {
        panic!("a foreign key was accepted")
    };
    assert!(found.problems[0].message.contains("another key"));
    let mut options = world.options();
    options.previous = Some(Signer::new(&crate::kit::KEY, true));
    run(async {
        let log = ready(Log::open(options).unwrap());
        log.close().await.unwrap();
    });
    let report = verify(&world.db(), Some(&world.mark()));
    assert!(report.ok && report.anchored, "{:?}", report.problems);
    assert_eq!(report.records, 7);
}

#[test]
fn many_appends_at_once_share_commits_and_keep_their_order() {
    let world = World::new();
    run(async {
        let log = world.open();
        let tasks: Vec<_> = (0..200)
            .map(|n| {
                let log = log.clone();
                tokio::spawn(async move {
                    log.append(
                        draft(n),
                        if n % 3 == 0 { Durability::Durable } else { Durability::Grouped },
                    )
                    .await
                    .unwrap()
                })
            })
            .collect();
        let mut numbers = Vec::new();
        for task in tasks {
            numbers.push(task.await.unwrap());
        }
        log.flush().await.unwrap();
        numbers.sort_unstable();
        assert_eq!(numbers, (2..=201).collect::<Vec<_>>());
        assert_eq!(log.total(), 201);
        assert!(log.verify().await.unwrap().ok);
        log.close().await.unwrap();
    });
}
