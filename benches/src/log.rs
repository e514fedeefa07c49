//! Measures the audit log: records appended one by one and in groups, and verification of the whole
//! file at growing sizes.

use std::sync::Arc;
use std::time::Instant;

use audit::{Log, OpenOptions, OpenState, Signer};
use contract::{AuditEntriesParams, AuditFilter, AuditFindParams, RecordType};
use engine::ports::{AuditLog, Clock, Durability, RecordDraft};

use crate::{Outcome, table};

const SIZES: [u32; 3] = [1_000, 10_000, 100_000];
const ALONE: u32 = 300;
/// The records of the log that is searched.
const SEARCHED: u64 = 1_000_000;

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> chrono::DateTime<chrono::Utc> {
        chrono::Utc::now()
    }
}

pub(crate) async fn report() -> Outcome {
    let folder = tempfile::tempdir()?;
    let options = OpenOptions::new(
        folder.path().join("audit.db"),
        "00000000-0000-4000-8000-000000000000",
        Signer::new(&[7; 32], false),
        Arc::new(SystemClock),
    );
    let OpenState::Ready(log) = Log::open(options).map_err(|error| error.0.to_string())? else {
        return Err("a new log is not new".into());
    };
    let mut rows = Vec::new();
    for (name, durability) in [
        ("durable, one after the other", Durability::Durable),
        ("signed, one after the other", Durability::Signed),
    ] {
        let start = Instant::now();
        for n in 0..ALONE {
            log.append(draft(n), durability).await.map_err(|error| error.0.to_string())?;
        }
        rows.push(vec![
            format!("append, {name}"),
            ALONE.to_string(),
            table::time(start.elapsed()),
            table::time(start.elapsed() / ALONE),
        ]);
    }
    let mut written = ALONE * 2;
    for size in SIZES {
        let (start, count) = (Instant::now(), size.saturating_sub(written));
        for n in 0..count {
            log.append(draft(n), Durability::Grouped).await.map_err(|error| error.0.to_string())?;
        }
        log.flush().await.map_err(|error| error.0.to_string())?;
        rows.push(vec![
            "append, grouped".to_owned(),
            count.to_string(),
            table::time(start.elapsed()),
            table::time(start.elapsed() / count.max(1)),
        ]);
        written = written.max(size);
        let start = Instant::now();
        let report = log.verify().await.map_err(|error| error.message)?;
        if !report.problems.is_empty() {
            return Err(format!("the log does not verify: {:?}", report.problems).into());
        }
        rows.push(vec![
            "verify the whole log".to_owned(),
            log.total().to_string(),
            table::time(start.elapsed()),
            table::time(start.elapsed() / written),
        ]);
    }
    table::print("The audit log", &["", "records", "whole", "a record"], &rows);
    search(&log).await?;
    log.close().await.map_err(|error| error.0.to_string())?;
    Ok(())
}

/// Measures the first index of a log of `SEARCHED` records, and pages of it: each as a time, and as
/// a ratio to the newest page without a filter.
async fn search(log: &Log) -> Outcome {
    for n in log.total()..SEARCHED {
        let n = u32::try_from(n)?;
        let of = (format!("s{}", n / 100).into(), format!("t{}", n / 10).into());
        let record = match n % 10 {
            0 => RecordDraft::new(RecordType::RunStarted)
                .commit("input", format!("How is account {} pacing this month?", n % 997)),
            5 if n % 1_000 == 5 => RecordDraft::new(RecordType::ApprovalResolved)
                .field("tool", "cart.addItem")
                .field("status", "rejected"),
            _ => draft(n),
        };
        log.append(record.of(&of.0, &of.1), Durability::Grouped)
            .await
            .map_err(|error| error.0.to_string())?;
    }
    log.flush().await.map_err(|error| error.0.to_string())?;
    let find = |filter: AuditFilter| log.find(AuditFindParams { filter, before: None, limit: 100 });
    let entries =
        |filter: AuditFilter| log.entries(AuditEntriesParams { filter, before: None, limit: 50 });
    let none = AuditFilter::default;
    let start = Instant::now();
    find(none()).await.map_err(|error| error.message)?;
    let mut rows =
        vec![vec!["the first index".to_owned(), table::time(start.elapsed()), String::new()]];
    let words = |search: &str| AuditFilter { search: search.into(), ..none() };
    let tool = AuditFilter { tool: Some("product.search".into()), ..none() };
    let rejected = AuditFilter { decision: Some("rejected".into()), ..none() };
    let filters = [
        ("no filter", none()),
        ("one tool of most records", tool.clone()),
        ("a rare decision", rejected.clone()),
        (
            "a rare decision and one session",
            AuditFilter { session: Some("s9990".into()), ..rejected.clone() },
        ),
        ("a common word", words("pacing")),
        ("a rare word", words("account 733")),
        ("the beginning of a word", words("acc")),
        ("a common word and one tool", AuditFilter { search: "pacing".into(), ..tool }),
        (
            "the beginning of a word and a rare decision",
            AuditFilter { search: "acc".into(), ..rejected },
        ),
    ];
    let mut base = None;
    for (name, filter) in filters {
        let start = Instant::now();
        find(filter.clone()).await.map_err(|error| error.message)?;
        let records = start.elapsed();
        let start = Instant::now();
        entries(filter).await.map_err(|error| error.message)?;
        let questions = start.elapsed();
        for (kind, took) in [("records", records), ("questions", questions)] {
            let base = *base.get_or_insert(took);
            rows.push(vec![
                format!("{kind}, {name}"),
                table::time(took),
                format!("{:.1}", took.as_secs_f64() / base.as_secs_f64()),
            ]);
        }
    }
    let title = format!("Searching the audit log, {} records", log.total());
    table::print(&title, &["", "a page", "to the first page"], &rows);
    Ok(())
}

/// A record of an ordinary tool call.
fn draft(n: u32) -> RecordDraft {
    RecordDraft::new(RecordType::ToolOutcome)
        .field("tool", "product.search")
        .field("call", format!("call_{n}"))
        .field("outcome", "ok")
        .field("duration_ms", n % 50)
        .commit("result", format!("{{\"items\":[{n}],\"total\":1}}"))
}
