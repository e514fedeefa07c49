//! Measures the audit log: records appended one by one and in groups, compared with rows in plain
//! SQLite, and verification of the whole log at growing sizes, compared with the hashes alone.

mod baseline;
mod search;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use audit::{Log, OpenOptions, OpenState, Signer};
use contract::RecordType;
use engine::ports::{AuditLog, Clock, Durability, RecordDraft};

use crate::{Outcome, table};

const SIZES: [u32; 3] = [1_000, 10_000, 100_000];
const ALONE: u32 = 300;
/// The number of records of the log that is verified last, and searched.
const LARGE: u64 = 1_000_000;

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> chrono::DateTime<chrono::Utc> {
        chrono::Utc::now()
    }
}

pub(crate) async fn report() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("audit.db");
    let options = OpenOptions::new(
        path.clone(),
        "00000000-0000-4000-8000-000000000000",
        Signer::new(&[7; 32], false),
        Arc::new(SystemClock),
    );
    let OpenState::Ready(log) = Log::open(options).map_err(|error| error.0.to_string())? else {
        return Err("a new log is not new".into());
    };
    let mut rows = Vec::new();
    append(&log, &path, folder.path(), &mut rows).await?;
    for size in SIZES {
        grow(&log, size, &path, folder.path(), &mut rows).await?;
        verify(&log, &path, &mut rows).await?;
    }
    fill(&log).await?;
    verify(&log, &path, &mut rows).await?;
    let head = ["", "records", "whole", "a record", "ratio"];
    table::print("The audit log", &head, &rows);
    search::report(&log).await?;
    log.close().await.map_err(|error| error.0.to_string())?;
    Ok(())
}

/// Measures records that are appended one after the other, each synced before the next.
async fn append(log: &Log, path: &Path, folder: &Path, rows: &mut Vec<Vec<String>>) -> Outcome {
    let mut measured = Vec::new();
    for (name, durability) in [
        ("durable, one after the other", Durability::Durable),
        ("signed, one after the other", Durability::Signed),
    ] {
        let start = Instant::now();
        for n in 0..ALONE {
            log.append(draft(n), durability).await.map_err(|error| error.0.to_string())?;
        }
        measured.push((name, start.elapsed()));
    }
    let (_, length) = baseline::bodies(path)?;
    let plain = baseline::insert(folder, ALONE, 1, length)?;
    rows.push(row("plain SQLite, a row in each transaction", ALONE.into(), plain, plain));
    for (name, took) in measured {
        rows.push(row(&format!("append, {name}"), ALONE.into(), took, plain));
    }
    Ok(())
}

/// Measures records that are appended in groups, until the log has `size` of them.
async fn grow(
    log: &Log,
    size: u32,
    path: &Path,
    folder: &Path,
    rows: &mut Vec<Vec<String>>,
) -> Outcome {
    let count = size.saturating_sub(u32::try_from(log.total())?);
    let start = Instant::now();
    for n in 0..count {
        log.append(draft(n), Durability::Grouped).await.map_err(|error| error.0.to_string())?;
    }
    log.flush().await.map_err(|error| error.0.to_string())?;
    let took = start.elapsed();
    let (_, length) = baseline::bodies(path)?;
    let plain = baseline::insert(folder, count, count, length)?;
    rows.push(row("plain SQLite, all rows in one transaction", count.into(), plain, plain));
    rows.push(row("append, grouped", count.into(), took, plain));
    Ok(())
}

/// Measures the verification of the whole log.
async fn verify(log: &Log, path: &Path, rows: &mut Vec<Vec<String>>) -> Outcome {
    let start = Instant::now();
    let report = log.verify().await.map_err(|error| error.message)?;
    let took = start.elapsed();
    if !report.problems.is_empty() {
        return Err(format!("the log does not verify: {:?}", report.problems).into());
    }
    let (count, length) = baseline::bodies(path)?;
    let plain = baseline::hash(count, length);
    rows.push(row("SHA-256 of as many bodies and tree nodes", count, plain, plain));
    rows.push(row("verify the whole log", count, took, plain));
    Ok(())
}

fn row(name: &str, count: u64, took: Duration, plain: Duration) -> Vec<String> {
    vec![
        name.to_owned(),
        count.to_string(),
        table::time(took),
        table::time(took.div_f64(count.max(1) as f64)),
        table::ratio(took, plain),
    ]
}

/// Fills the log to `LARGE` records: sessions of ten turns of ten records.
async fn fill(log: &Log) -> Outcome {
    for n in log.total()..LARGE {
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
