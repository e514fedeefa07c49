//! Tests of pages of a search: words and names together, and values that are too large for one
//! page.

use audit::Log;
use contract::{
    AuditEntriesParams, AuditEntry, AuditEntryParams, AuditFilter, AuditFindParams,
    AuditListParams, AuditRecordView, RecordType, SessionId, TurnId,
};
use engine::ports::{AuditLog as _, Durability, RecordDraft};

use super::{add, firsts, words};
use crate::kit::{World, run};

/// Appends records of interleaved conversations, with names and words that occur rarely or often.
async fn a_crowd(log: &Log) {
    for n in 0..240_u32 {
        let turn = format!("t{}", n % 7 + n / 60 * 7);
        let of = (SessionId(format!("s{}", n % 3)), TurnId(turn));
        let draft = match n % 4 {
            0 => RecordDraft::new(RecordType::RunStarted).field("agent", format!("a{}", n % 5)),
            1 => RecordDraft::new(RecordType::PolicyDecision)
                .field("tool", format!("tool{}", n % 9))
                .field("status", if n % 31 == 0 { "denied" } else { "allowed" }),
            _ => RecordDraft::new(RecordType::ToolOutcome).field("tool", format!("tool{}", n % 9)),
        };
        let draft = draft.commit("result", format!("acc{} pacing{} \u{e000}{}", n % 11, n % 2, n));
        log.append(draft.of(&of.0, &of.1), Durability::Grouped).await.unwrap();
    }
    log.flush().await.unwrap();
}

/// Whether a record matches, judged without the index.
fn fits(record: &AuditRecordView, filter: &AuditFilter) -> (Vec<bool>, bool) {
    let is = |wanted: &Option<String>, name: &str| {
        wanted.as_ref().is_none_or(|text| record.fields.get(name) == Some(&text.as_str().into()))
    };
    let is_session = filter.session.is_none()
        || record.session == filter.session.as_ref().map(|s| s.to_string());
    let is_decided = filter.decision.is_none()
        || record.record_type == RecordType::PolicyDecision && is(&filter.decision, "status");
    let values = record.fields.values().chain(record.revealed.values());
    let mut words = values.filter_map(|value| value.as_str()).flat_map(|text| text.split(' '));
    // The last word of a search also matches longer words if it has three characters.
    let is_open = filter.search.chars().count() >= 3;
    let has_word =
        words.any(|word| word == filter.search || is_open && word.starts_with(&filter.search));
    (vec![is_session, is(&filter.tool, "tool"), is(&filter.agent, "agent"), is_decided], has_word)
}

#[test]
fn word_search_combined_with_a_filter_returns_the_intersection_on_every_page() {
    let world = World::new();
    run(async {
        let log = world.open();
        a_crowd(&log).await;
        let all: Vec<AuditRecordView> =
            find_all(&log, AuditFilter::default(), 500).await.into_iter().flatten().collect();
        let mut found = 0;
        for search in ["acc1", "acc10", "pacing", "pacing1", "zanzibar", "\u{e000}1", "tool"] {
            for name in 0..6 {
                let mut filter = words(search);
                match name {
                    1 => filter.session = Some("s1".into()),
                    2 => filter.tool = Some("tool5".into()),
                    3 => filter.agent = Some("a3".into()),
                    4 => filter.decision = Some("denied".into()),
                    5 => (filter.session, filter.tool) = (Some("s2".into()), Some("tool1".into())),
                    _ => {}
                }
                found += compare(&log, &all, &filter).await;
            }
        }
        assert!(found > 300, "{found}");
    });
}

/// Compares pages with the result of a search through all records. Returns the number of records.
async fn compare(log: &Log, all: &[AuditRecordView], filter: &AuditFilter) -> usize {
    let mut expected = Vec::new();
    let mut groups: Vec<(&str, Vec<bool>, bool)> = Vec::new();
    for record in all {
        let (names, has_word) = fits(record, filter);
        if has_word && names.iter().all(|fits| *fits) {
            expected.push(record.seq);
        }
        let Some(turn) = record.turn.as_deref() else { continue };
        // A turn is listed at the position of its newest record with the word.
        let at = groups.iter().position(|group| group.0 == turn);
        let mut group = match at {
            Some(at) if has_word && !groups[at].2 => groups.remove(at),
            Some(at) => {
                for (has, fits) in groups[at].1.iter_mut().zip(names) {
                    *has |= fits;
                }
                continue;
            }
            None => (turn, names.clone(), false),
        };
        for (has, fits) in group.1.iter_mut().zip(names) {
            *has |= fits;
        }
        group.2 |= has_word;
        groups.push(group);
    }
    for limit in [1, 7, 100] {
        let pages = find_all(log, filter.clone(), limit).await;
        let seqs: Vec<u64> = pages.iter().flatten().map(|record| record.seq).collect();
        assert_eq!(seqs, expected, "{filter:?}");
        let turns: Vec<String> = entries_all(log, filter.clone(), limit)
            .await
            .into_iter()
            .flatten()
            .map(|entry| entry.turn.unwrap().to_string())
            .collect();
        let fitting = groups.iter().filter(|group| group.2 && group.1.iter().all(|has| *has));
        assert_eq!(turns, fitting.map(|group| group.0).collect::<Vec<_>>(), "{filter:?}");
    }
    expected.len()
}

async fn find_all(log: &Log, filter: AuditFilter, limit: u32) -> Vec<Vec<AuditRecordView>> {
    let mut pages = Vec::new();
    let mut before = None;
    loop {
        let params = AuditFindParams { filter: filter.clone(), before, limit };
        let page = log.find(params).await.unwrap();
        before = page.records.last().map(|record| record.seq);
        pages.push(page.records);
        if !page.has_more {
            return pages;
        }
    }
}

async fn entries_all(log: &Log, filter: AuditFilter, limit: u32) -> Vec<Vec<AuditEntry>> {
    let mut pages = Vec::new();
    let mut before = None;
    loop {
        let params = AuditEntriesParams { filter: filter.clone(), before, limit, asked: false };
        let page = log.entries(params).await.unwrap();
        pages.push(page.entries);
        before = page.next;
        if before.is_none() {
            return pages;
        }
    }
}

/// Returns a value of 3 MiB.
fn bulky() -> String {
    "bulky ".repeat(1 << 19)
}

/// Checks the numbers on pages of records whose values are too large for one page.
fn check_pages(pages: &[Vec<u64>], expected: &[u64]) {
    assert_eq!(pages.concat(), expected);
    assert!(pages.iter().all(|page| !page.is_empty()), "{pages:?}");
    // Every second record is large, so a page has at most four records.
    assert!(pages.iter().all(|page| page.len() <= 4), "{pages:?}");
}

#[test]
fn a_page_of_large_values_ends_early_and_the_next_page_continues_after_it() {
    let world = World::new();
    run(async {
        let log = world.open();
        for n in 2..=13 {
            let value = if n % 2 == 0 { bulky() } else { "bulky".to_owned() };
            let draft = RecordDraft::new(RecordType::RunStarted).commit("input", value.clone());
            // The records belong to several questions, one of which has several records.
            let turn = TurnId(format!("t{}", n.min(8)));
            add(&log, draft.of(&SessionId("s".into()), &turn)).await;
        }
        let newest: Vec<u64> = (2..=13).rev().collect();
        let pages = find_all(&log, words("bulky"), 0).await;
        let seqs = |page: &[AuditRecordView]| page.iter().map(|r| r.seq).collect::<Vec<_>>();
        check_pages(&pages.iter().map(|page| seqs(page)).collect::<Vec<_>>(), &newest);
        let (mut pages, mut before) = (Vec::new(), None);
        loop {
            let (record_type, session) = (Some(RecordType::RunStarted), None);
            let query = String::new();
            let params = AuditListParams { record_type, session, query, before, limit: 0 };
            let page = log.list(params).await.unwrap();
            before = page.records.last().map(|record| record.seq);
            pages.push(seqs(&page.records));
            if !page.has_more {
                break;
            }
        }
        check_pages(&pages, &newest);
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let params = AuditEntryParams { record: Some(8), turn: None, after };
            let part = log.entry(params).await.unwrap();
            after = part.records.last().map(|record| record.seq);
            pages.push(seqs(&part.records));
            if !part.has_more {
                break;
            }
        }
        check_pages(&pages, &[8, 9, 10, 11, 12, 13]);
        let session = AuditFilter { session: Some("s".into()), ..words("") };
        for filter in [words("bulky"), session] {
            let pages = entries_all(&log, filter, 0).await;
            let pages: Vec<_> = pages.iter().map(|page| firsts(page)).collect();
            check_pages(&pages, &[8, 7, 6, 5, 4, 3, 2]);
        }
    });
}
