//! Measures the audit log: records appended one by one and in groups, and verification of the whole
//! file at growing sizes.

use std::sync::Arc;
use std::time::Instant;

use audit::{Log, OpenOptions, OpenState, Signer};
use contract::RecordType;
use engine::ports::{AuditLog, Clock, Durability, RecordDraft};

use crate::{Outcome, table};

const SIZES: [u32; 3] = [1_000, 10_000, 100_000];
const ALONE: u32 = 300;

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
    log.close().await.map_err(|error| error.0.to_string())?;
    table::print("The audit log", &["", "records", "whole", "a record"], &rows);
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
