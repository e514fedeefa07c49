//! Counters, and their page for Prometheus.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self) {
        self.more(1);
    }
    fn more(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }
    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Upper bounds of the histogram, in milliseconds.
const BOUNDS: [u64; 9] = [10, 50, 100, 250, 500, 1_000, 2_500, 10_000, 60_000];
/// Classes of answers, by status.
const CLASSES: [&str; 3] = ["2xx", "4xx", "5xx"];

#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) refused_connections: Count,
    pub(crate) streams: Count,
    pub(crate) left: Count,
    pub(crate) confirmed: Count,
    tools: Count,
    turns: [Count; 3],
    buckets: [Count; 9],
    sum_ms: Count,
    refused: [Count; 3],
}

impl Metrics {
    /// A turn that ended.
    pub(crate) fn turn(&self, status: u16, took: Duration, tools: usize) {
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.turns[class(status)].add();
        self.tools.more(u64::try_from(tools).unwrap_or(u64::MAX));
        self.sum_ms.more(ms);
        for (bound, bucket) in BOUNDS.iter().zip(&self.buckets) {
            if ms <= *bound {
                bucket.add();
            }
        }
    }

    /// A request that never became a turn.
    pub(crate) fn refuse(&self, status: u16) {
        self.refused[class(status)].add();
    }

    /// The page.
    pub(crate) fn page(&self, running: usize) -> String {
        let mut page = String::new();
        let mut one = |name: &str, kind: &str, help: &str, rows: &[(String, u64)]| {
            let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in rows {
                let _ = writeln!(page, "{name}{labels} {value}");
            }
        };
        let by_class =
            |counts: &[Count; 3]| CLASSES.iter().zip(counts).map(|(class, count)| (format!("{{status=\"{class}\"}}"), count.get())).collect::<Vec<_>>();
        let plain = |count: &Count| vec![(String::new(), count.get())];
        one("csign_gateway_turns_total", "counter", "Turns that ended, by the class of their status.", &by_class(&self.turns));
        one("csign_gateway_refused_total", "counter", "Requests that were refused before a turn.", &by_class(&self.refused));
        one("csign_gateway_turns_running", "gauge", "Turns under way.", &[(String::new(), running as u64)]);
        one("csign_gateway_streams_total", "counter", "Turns that were streamed.", &plain(&self.streams));
        one("csign_gateway_clients_left_total", "counter", "Turns whose client left before the end.", &plain(&self.left));
        one("csign_gateway_cart_changes_total", "counter", "Cart changes that were confirmed and made.", &plain(&self.confirmed));
        one("csign_gateway_tool_calls_total", "counter", "Tool calls of turns.", &plain(&self.tools));
        one("csign_gateway_connections_refused_total", "counter", "Connections over the limit.", &plain(&self.refused_connections));
        let count: u64 = self.turns.iter().map(Count::get).sum();
        let mut rows: Vec<(String, u64)> = BOUNDS.iter().zip(&self.buckets).map(|(bound, count)| (format!("_bucket{{le=\"{bound}\"}}"), count.get())).collect();
        rows.extend([("_bucket{le=\"+Inf\"}".to_owned(), count), ("_sum".to_owned(), self.sum_ms.get()), ("_count".to_owned(), count)]);
        one("csign_gateway_turn_milliseconds", "histogram", "How long turns took.", &rows);
        page
    }
}

fn class(status: u16) -> usize {
    match status {
        ..400 => 0,
        400..500 => 1,
        500.. => 2,
    }
}
