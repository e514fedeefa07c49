//! Measures pages and filters of a large audit log, each as a time and as a ratio to the newest page
//! without a filter.

use std::time::Instant;

use audit::Log;
use contract::{AuditEntriesParams, AuditFilter, AuditFindParams};

use crate::{Outcome, table};

/// Measures the first indexing of the log, and pages of the log.
pub(crate) async fn report(log: &Log) -> Outcome {
    let find = |filter: AuditFilter| log.find(AuditFindParams { filter, before: None, limit: 100 });
    let entries =
        |filter| log.entries(AuditEntriesParams { filter, before: None, limit: 50, asked: false });
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
