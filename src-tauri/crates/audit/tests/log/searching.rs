//! Tests of searching the log: filters, words, questions, and the index after an erasure.

mod pages;

use std::fs;

use audit::Log;
use chrono::{TimeDelta, Utc};
use contract::{
    AuditEntriesParams, AuditEntry, AuditEntryKind, AuditEntryParams, AuditFilter, AuditFindParams,
    RecordType, SessionId, TurnId,
};
use engine::ports::{AuditLog as _, Durability, RecordDraft};
use rusqlite::Connection;

use crate::kit::{World, run};

async fn add(log: &Log, draft: RecordDraft) {
    log.append(draft, Durability::Durable).await.unwrap();
}

/// Appends three questions: one with a read, one with an approved write, and one with a denied
/// call.
async fn three_questions(log: &Log) {
    let of = |n: u32| (SessionId(format!("s{}", n.div_ceil(2))), TurnId(format!("t{n}")));
    for (n, question) in
        [(1, "How is account 17 pacing?"), (2, "Pausa kampanjen Åre"), (3, "Delete everything")]
    {
        let (session, turn) = of(n);
        let asked = RecordDraft::new(RecordType::RunStarted)
            .of(&session, &turn)
            .field("origin", "window")
            .field("agent", "pacer")
            .commit("input", question)
            .commit("person", "alma");
        add(log, asked).await;
    }
    let (session, turn) = of(1);
    let read = RecordDraft::new(RecordType::ToolOutcome).of(&session, &turn);
    let read = read.field("tool", "pacing.analyze").field("status", "ok");
    add(log, read.commit("result", r#"{"rows":[{"name":"Zanzibar \"spring\"","spend":731}]}"#))
        .await;
    let (session, turn) = of(2);
    for (record_type, status) in [
        (RecordType::ApprovalRequested, "pending"),
        (RecordType::ApprovalResolved, "approved"),
        (RecordType::ApprovalResolved, "done"),
    ] {
        let draft = RecordDraft::new(record_type).of(&session, &turn).field("tool", "pacing.pause");
        add(log, draft.field("status", status)).await;
    }
    let (session, turn) = of(3);
    let denied = RecordDraft::new(RecordType::PolicyDecision).of(&session, &turn);
    add(log, denied.field("tool", "pacing.delete").field("status", "denied")).await;
    for n in 1..=3 {
        let (session, turn) = of(n);
        let ended = RecordDraft::new(RecordType::RunEnded).of(&session, &turn);
        add(log, ended.field("status", "ok")).await;
    }
    add(log, RecordDraft::new(RecordType::SettingChanged).field("setting", "theme")).await;
}

async fn entries(log: &Log, filter: AuditFilter) -> Vec<AuditEntry> {
    let params = AuditEntriesParams { filter, before: None, limit: 0, asked: false };
    let page = log.entries(params).await.unwrap();
    assert_eq!(page.indexed, page.total);
    page.entries
}

fn firsts(entries: &[AuditEntry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.first).collect()
}

async fn find(log: &Log, filter: AuditFilter) -> Vec<u64> {
    let params = AuditFindParams { filter, before: None, limit: 0 };
    log.find(params).await.unwrap().records.into_iter().map(|record| record.seq).collect()
}

fn words(search: &str) -> AuditFilter {
    AuditFilter { search: search.into(), ..AuditFilter::default() }
}

#[test]
fn a_question_is_one_entry_with_its_caller_and_the_actions_taken() {
    let world = World::new();
    run(async {
        let log = world.open();
        three_questions(&log).await;
        let all = entries(&log, AuditFilter::default()).await;
        assert_eq!(
            all.iter().map(|entry| entry.kind).collect::<Vec<_>>(),
            [
                AuditEntryKind::Record,
                AuditEntryKind::Question,
                AuditEntryKind::Question,
                AuditEntryKind::Question,
                AuditEntryKind::Start
            ]
        );
        let paused = &all[2];
        assert_eq!(paused.question.as_deref(), Some("Pausa kampanjen Åre"));
        assert_eq!(
            (paused.person.as_deref(), paused.origin.as_deref(), paused.status.as_deref()),
            (Some("alma"), Some("window"), Some("ok"))
        );
        assert_eq!(
            (&paused.tools, &paused.agents, &paused.decisions),
            (
                &vec!["pacing.pause".to_owned()],
                &vec!["pacer".to_owned()],
                &vec!["approved".to_owned()]
            )
        );
        assert_eq!((paused.records, paused.last_at > paused.at), (5, true));
        let by_turn = AuditEntryParams { record: None, turn: paused.turn.clone(), after: None };
        let shown = log.entry(by_turn).await.unwrap();
        let by_record = AuditEntryParams { record: Some(7), turn: None, after: None };
        assert_eq!(log.entry(by_record).await.unwrap(), shown);
        assert_eq!(shown.records.iter().map(|r| r.seq).collect::<Vec<_>>(), [3, 6, 7, 8, 11]);
        let none = AuditEntryParams { record: Some(99), turn: None, after: None };
        assert!(log.entry(none).await.is_err());
        let choices = log.choices().await.unwrap();
        assert_eq!(choices.tools, ["pacing.pause", "pacing.analyze", "pacing.delete"]);
        assert_eq!(
            (choices.agents, choices.decisions),
            (vec!["pacer".to_owned()], vec!["approved".to_owned(), "denied".to_owned()])
        );
    });
}

/// Appends a record about a call to the turn `turn`, with a status unless it is empty.
async fn add_step(log: &Log, turn: &str, record_type: RecordType, status: &str) {
    let (session, turn) = (SessionId("s1".into()), TurnId(turn.into()));
    let draft = RecordDraft::new(record_type).of(&session, &turn).field("tool", "pacing.pause");
    add(log, if status.is_empty() { draft } else { draft.field("status", status) }).await;
}

/// Returns the decisions and outcomes of the entry of a turn.
async fn decisions(log: &Log, turn: &str) -> Vec<String> {
    let params = AuditEntryParams { record: None, turn: Some(TurnId(turn.into())), after: None };
    log.entry(params).await.unwrap().entry.decisions
}

#[test]
fn an_entry_names_each_outcome_other_than_success_and_is_found_by_it() {
    let world = World::new();
    run(async {
        let log = world.open();
        three_questions(&log).await;
        for (record_type, status) in [
            (RecordType::ApprovalResolved, "approved"),
            (RecordType::ToolIntent, ""),
            (RecordType::ToolOutcome, "ok"),
            (RecordType::ApprovalResolved, "failed"),
            (RecordType::ToolIntent, ""),
            (RecordType::ToolOutcome, "error"),
            (RecordType::RunEnded, "limit"),
        ] {
            add_step(&log, "failed", record_type, status).await;
        }
        assert_eq!(decisions(&log, "failed").await, ["approved", "error", "limit"]);
        assert_eq!(decisions(&log, "t2").await, ["approved"]);
        for outcome in ["error", "limit"] {
            let filter = AuditFilter { decision: Some(outcome.into()), ..AuditFilter::default() };
            let found = entries(&log, filter).await;
            assert_eq!(found.len(), 1, "{outcome}");
            assert_eq!(found[0].turn, Some(TurnId("failed".into())));
        }
    });
}

#[test]
fn a_call_without_an_outcome_is_unknown_once_its_turn_or_the_process_has_ended() {
    let world = World::new();
    run(async {
        let log = world.open();
        for turn in ["ended", "crashed"] {
            add_step(&log, turn, RecordType::ToolIntent, "").await;
            assert!(decisions(&log, turn).await.is_empty(), "the call still runs");
        }
        add_step(&log, "ended", RecordType::RunEnded, "cancelled").await;
        assert_eq!(decisions(&log, "ended").await, ["cancelled", "unknown"]);
        assert!(decisions(&log, "crashed").await.is_empty());
        log.close().await.unwrap();
        let log = world.open();
        assert_eq!(decisions(&log, "crashed").await, ["unknown"]);
        add_step(&log, "crashed", RecordType::ToolOutcome, "ok").await;
        assert!(decisions(&log, "crashed").await.is_empty());
        log.close().await.unwrap();
    });
}

#[test]
fn listing_the_memories_makes_an_entry_only_for_a_search_that_asks_for_it() {
    let world = World::new();
    run(async {
        let log = world.open();
        three_questions(&log).await;
        let (before, with_words) = (
            firsts(&entries(&log, AuditFilter::default()).await),
            firsts(&entries(&log, words("listed")).await),
        );
        let visit = || RecordDraft::new(RecordType::MemoryRead).field("action", "listed");
        add(&log, visit().field("count", 2)).await;
        let (session, turn) = (SessionId("s1".into()), TurnId("t1".into()));
        add(&log, visit().of(&session, &turn).field("action", "used")).await;
        assert_eq!(firsts(&entries(&log, AuditFilter::default()).await), before);
        assert_eq!(firsts(&entries(&log, words("listed")).await), with_words);
        let event = Some(RecordType::MemoryRead);
        let reads = entries(&log, AuditFilter { event, ..AuditFilter::default() }).await;
        let kinds: Vec<_> = reads.iter().map(|entry| entry.kind).collect();
        assert_eq!(kinds, [AuditEntryKind::Record, AuditEntryKind::Question]);
        assert_eq!(find(&log, AuditFilter { event, ..AuditFilter::default() }).await.len(), 2);
    });
}

#[test]
fn entries_can_be_limited_to_questions_that_people_asked() {
    let world = World::new();
    run(async {
        let log = world.open();
        three_questions(&log).await;
        let called = RecordDraft::new(RecordType::ToolIntent);
        let called = called.of(&SessionId("direct".into()), &TurnId("call-1".into()));
        add(&log, called.field("tool", "pacing.analyze")).await;
        add(&log, RecordDraft::new(RecordType::SettingChanged).field("setting", "theme")).await;
        let asked = async |filter, before, limit| {
            let params = AuditEntriesParams { filter, before, limit, asked: true };
            log.entries(params).await.unwrap()
        };
        let all = asked(AuditFilter::default(), None, 0).await.entries;
        let kinds: Vec<_> = all.iter().map(|entry| entry.kind).collect();
        assert_eq!(kinds[0], AuditEntryKind::Call);
        assert_eq!(kinds[1..], [AuditEntryKind::Question; 3]);
        let first = asked(AuditFilter::default(), None, 2).await;
        let rest = asked(AuditFilter::default(), first.next, 2).await;
        assert_eq!((first.entries, rest.entries), (all[..2].to_vec(), all[2..].to_vec()));
        assert_eq!(rest.next, None);
        assert!(asked(words("theme"), None, 0).await.entries.is_empty());
    });
}

#[test]
fn a_record_is_found_only_if_it_matches_every_part_of_the_filter() {
    let world = World::new();
    run(async {
        let log = world.open();
        three_questions(&log).await;
        let none = AuditFilter::default;
        let session = AuditFilter { session: Some("s1".into()), ..none() };
        assert_eq!(find(&log, session.clone()).await, [11, 10, 8, 7, 6, 5, 3, 2]);
        assert_eq!(firsts(&entries(&log, session.clone()).await), [3, 2]);
        let tool = AuditFilter { tool: Some("pacing.pause".into()), ..session.clone() };
        assert_eq!(find(&log, tool.clone()).await, [8, 7, 6]);
        assert_eq!(firsts(&entries(&log, tool.clone()).await), [3]);
        let decided = AuditFilter { decision: Some("approved".into()), ..tool };
        assert_eq!(find(&log, decided).await, [7]);
        let denied = AuditFilter { decision: Some("denied".into()), ..none() };
        assert_eq!(firsts(&entries(&log, denied.clone()).await), [4]);
        assert!(
            entries(&log, AuditFilter { session: Some("s1".into()), ..denied }).await.is_empty()
        );
        let event = AuditFilter { event: Some(RecordType::SettingChanged), ..none() };
        assert_eq!(find(&log, event).await, [13]);
        // A question is found by its text together with the tool that ran for it.
        let both = AuditFilter { agent: Some("pacer".into()), search: "zanz".into(), ..none() };
        assert_eq!(firsts(&entries(&log, both.clone()).await), [2]);
        assert!(find(&log, both).await.is_empty(), "no single record has both");
        assert!(find(&log, AuditFilter { tool: Some("none".into()), ..none() }).await.is_empty());

        let at = log.show(6).await.unwrap().at;
        let since = AuditFilter { since: Some(at), ..none() };
        assert_eq!(find(&log, since.clone()).await, [13, 12, 11, 10, 9, 8, 7, 6]);
        let until = Some(at + TimeDelta::seconds(2));
        assert_eq!(find(&log, AuditFilter { until, ..since }).await, [7, 6]);
        let later = AuditFilter { since: Some(Utc::now() + TimeDelta::days(9_000)), ..none() };
        assert!(find(&log, later).await.is_empty());
    });
}

#[test]
fn a_search_finds_words_in_recorded_values_across_consecutive_pages() {
    let world = World::new();
    run(async {
        let log = world.open();
        three_questions(&log).await;
        for (search, found) in [
            ("zanzibar", vec![5]),
            ("zanz", vec![5]),
            ("731", vec![5]),
            ("spring zanzibar", vec![5]),
            ("are", vec![3]),
            ("ÅRE", vec![3]),
            ("alma", vec![4, 3, 2]),
            ("pacing.pause", vec![8, 7, 6]),
            ("\" OR zanzibar", vec![]),
            ("( * )", vec![]),
        ] {
            assert_eq!(find(&log, words(search)).await, found, "{search}");
        }
        let mut seen = Vec::new();
        let mut before = None;
        loop {
            let params =
                AuditEntriesParams { filter: words("pacing"), before, limit: 1, asked: false };
            let page = log.entries(params).await.unwrap();
            seen.extend(firsts(&page.entries));
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        // Each group is returned once, ordered by its newest record with the word.
        assert_eq!(seen, [4, 3, 2]);
        let (mut seen, mut before) = (Vec::new(), None);
        loop {
            let filter = AuditFilter::default();
            let params = AuditEntriesParams { filter, before, limit: 2, asked: false };
            let page = log.entries(params).await.unwrap();
            seen.extend(firsts(&page.entries));
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(seen, [13, 4, 3, 2, 1]);
    });
}

fn has_text(world: &World, text: &str) -> Vec<String> {
    let files = fs::read_dir(world.root()).unwrap().flatten();
    files
        .filter(|file| {
            let bytes = fs::read(file.path()).unwrap_or_default();
            bytes.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text.as_bytes()))
        })
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn erasing_a_value_also_removes_it_from_the_search_index() {
    let world = World::new();
    run(async {
        let log = world.open();
        three_questions(&log).await;
        // There are many words, so that the index has several pages.
        for n in 0..400 {
            let draft = RecordDraft::new(RecordType::ToolOutcome)
                .of(&SessionId("s1".into()), &TurnId("t1".into()));
            add(&log, draft.commit("result", format!("zanzibarword{n} other{n}"))).await;
        }
        assert_eq!(find(&log, words("zanzibar")).await.len(), 100);
        assert!(!has_text(&world, "zanzibar").is_empty());
        assert!(log.erase(5, "result").await.unwrap());
        assert!(find(&log, words("731")).await.is_empty());
        log.erase_session(&SessionId("s1".into())).await.unwrap();
        assert_eq!(has_text(&world, "zanzibar"), Vec::<String>::new());
        assert!(find(&log, words("zanzibar")).await.is_empty());
        let erased = entries(&log, AuditFilter { session: Some("s1".into()), ..words("") }).await;
        let asked: Vec<_> = erased
            .iter()
            .filter(|entry| entry.kind == AuditEntryKind::Question)
            .map(|entry| (entry.question.is_some(), entry.erased, entry.person.is_some()))
            .collect();
        assert_eq!(asked, [(false, true, false), (false, true, false)]);
        // The other conversation is still there, and so are the records of the erased conversation.
        assert_eq!(find(&log, words("delete")).await, [9, 4]);
        assert!(log.verify().await.unwrap().ok);
    });
}

#[test]
fn a_restored_older_index_loses_values_that_were_erased_since() {
    for by_age in [false, true] {
        let world = World::new();
        let index = world.root().join("audit.index.db");
        let old = world.root().join("old");
        run(async {
            let log = world.open();
            three_questions(&log).await;
            assert_eq!(find(&log, words("zanzibar")).await, [5]);
            log.close().await.unwrap();
            fs::copy(&index, &old).unwrap();
            let log = world.open();
            if by_age {
                let before = log.show(6).await.unwrap().at;
                assert_eq!(log.erase_before(before).await.unwrap(), 7);
            } else {
                assert!(log.erase(5, "result").await.unwrap());
            }
            log.close().await.unwrap();
            fs::rename(&old, &index).unwrap();
            let log = world.open();
            assert!(find(&log, words("zanzibar")).await.is_empty(), "by age: {by_age}");
            assert_eq!(has_text(&world, "zanzibar"), Vec::<String>::new());
        });
    }
}

#[test]
fn an_index_that_is_missing_damaged_or_of_another_log_is_rebuilt() {
    let world = World::new();
    let other = World::new();
    let index = world.root().join("audit.index.db");
    run(async {
        let log = other.open();
        add(&log, RecordDraft::new(RecordType::Memory).commit("text", "elsewhere")).await;
        assert_eq!(find(&log, words("elsewhere")).await, [2]);
        log.close().await.unwrap();

        let log = world.open();
        three_questions(&log).await;
        log.close().await.unwrap();
        type Spoil = fn(&std::path::Path, &std::path::Path);
        let spoilt: [Spoil; 4] = [
            |_, _| {},
            |index, _| fs::remove_file(index).unwrap(),
            |index, _| fs::write(index, b"no database at all, but long enough to be one").unwrap(),
            |index, other| assert!(fs::copy(other, index).is_ok()),
        ];
        for spoil in spoilt {
            spoil(&index, &other.root().join("audit.index.db"));
            let log = world.open();
            assert_eq!(find(&log, words("zanzibar")).await, [5]);
            assert!(find(&log, words("elsewhere")).await.is_empty());
            log.close().await.unwrap();
        }
    });
}

/// Makes the log refuse to delete values. Returns a function that restores the log.
fn refuse_erasures(world: &World) -> impl FnOnce() {
    let db = Connection::open(world.db()).unwrap();
    let cookie: i64 = db.pragma_query_value(None, "schema_version", |row| row.get(0)).unwrap();
    db.execute_batch("CREATE TRIGGER refuse BEFORE DELETE ON audit_reveal BEGIN SELECT raise(ABORT, 'not now'); END")
        .unwrap();
    move || {
        db.execute_batch("DROP TRIGGER refuse").unwrap();
        db.pragma_update(None, "schema_version", cookie).unwrap();
    }
}

#[test]
fn a_value_that_could_not_be_erased_stays_searchable() {
    for is_restarted in [false, true] {
        let world = World::new();
        run(async {
            let mut log = world.open();
            three_questions(&log).await;
            assert_eq!(find(&log, words("zanzibar")).await, [5]);
            let allow = refuse_erasures(&world);
            log.erase(5, "result").await.unwrap_err();
            allow();
            if is_restarted {
                log.close().await.unwrap();
                log = world.open();
            }
            assert_eq!(find(&log, words("zanzibar")).await, [5], "restarted: {is_restarted}");
            assert!(log.erase(5, "result").await.unwrap());
            assert!(find(&log, words("zanzibar")).await.is_empty());
            assert_eq!(has_text(&world, "zanzibar"), Vec::<String>::new());
            assert!(log.verify().await.unwrap().ok);
        });
    }
}

#[test]
fn a_completed_erasure_does_not_rebuild_the_index() {
    let world = World::new();
    run(async {
        let log = world.open();
        three_questions(&log).await;
        assert_eq!(find(&log, words("zanzibar")).await, [5]);
        // This mark exists only in this index, so that a new index can be recognised.
        let mark = |sql: &str| {
            let db = Connection::open(world.root().join("audit.index.db")).unwrap();
            db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
        };
        let made = "INSERT INTO hour(hour, first, last) VALUES(-1, 0, 0) RETURNING hour";
        assert_eq!(mark(made), -1);
        assert!(log.erase(5, "result").await.unwrap());
        assert_eq!(log.erase_session(&SessionId("s2".into())).await.unwrap(), 2);
        assert!(find(&log, words("zanzibar")).await.is_empty());
        assert_eq!(find(&log, words("pacing")).await, [9, 8, 7, 6, 5, 2]);
        assert_eq!(mark("SELECT count(*) FROM hour WHERE hour=-1"), 1);
    });
}
