//! Counters and their page for Prometheus. Each count is also emitted as an event of the target
//! `metrics` for exporters.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use parking_lot::Mutex;
use tracing::Level;

use crate::{call::Call, fault::Fault};

/// A counter.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self) {
        self.add_many(1);
    }
    fn add_many(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }
    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counters by their labels.
#[derive(Debug, Default)]
struct Counts(Mutex<BTreeMap<String, u64>>);

impl Counts {
    fn add(&self, labels: String) {
        *self.0.lock().entry(labels).or_default() += 1;
    }
    fn snapshot(&self) -> Vec<(String, u64)> {
        self.0.lock().iter().map(|(labels, count)| (labels.clone(), *count)).collect()
    }
}

/// Upper bounds of the histograms, in milliseconds.
const BOUNDS: [u64; 9] = [10, 50, 100, 250, 500, 1_000, 2_500, 10_000, 60_000];
/// The classes of HTTP statuses.
const CLASSES: [&str; 3] = ["2xx", "4xx", "5xx"];

/// A histogram of durations.
#[derive(Debug, Default)]
struct Times {
    buckets: [Count; 9],
    sum_ms: Count,
    count: Count,
}

impl Times {
    fn add(&self, ms: u64) {
        self.count.add();
        self.sum_ms.add_many(ms);
        for (bound, bucket) in BOUNDS.iter().zip(&self.buckets) {
            if ms <= *bound {
                bucket.add();
            }
        }
    }
    fn snapshot(&self) -> Vec<(String, u64)> {
        let mut rows: Vec<(String, u64)> = BOUNDS
            .iter()
            .zip(&self.buckets)
            .map(|(bound, count)| (format!("_bucket{{le=\"{bound}\"}}"), count.get()))
            .collect();
        let count = self.count.get();
        rows.extend([
            ("_bucket{le=\"+Inf\"}".to_owned(), count),
            ("_sum".to_owned(), self.sum_ms.get()),
            ("_count".to_owned(), count),
        ]);
        rows
    }
}

#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) refused_connections: Count,
    pub(crate) left: Count,
    pub(crate) confirmed: Count,
    streams: Count,
    open: AtomicU64,
    tools: Count,
    calls: Counts,
    errors: Counts,
    turns: [Count; 3],
    turn_times: Times,
    tool_times: Times,
    refused: [Count; 3],
}

/// Counts an open stream until it is dropped.
#[derive(Debug)]
pub(crate) struct Open<'a>(&'a Metrics);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
        tracing::event!(target: "metrics", Level::INFO, counter.csign.streams.open = -1_i64);
    }
}

impl Metrics {
    /// Counts the start of a streamed turn. Dropping the result counts its end.
    pub(crate) fn open_stream(&self) -> Open<'_> {
        self.streams.add();
        self.open.fetch_add(1, Ordering::Relaxed);
        tracing::event!(target: "metrics", Level::INFO, counter.csign.streams.open = 1_i64);
        Open(self)
    }

    /// Counts a turn that has ended.
    pub(crate) fn count_turn(
        &self,
        route: &str,
        status: u16,
        fault: Option<&Fault>,
        took: Duration,
        calls: &[Call],
    ) {
        let (ms, class) = (to_millis(took), status_class(status));
        self.turns[class].add();
        self.turn_times.add(ms);
        if let Some(fault) = fault {
            self.errors.add(format!("{{code=\"{}\"}}", fault.code));
        }
        let (status, code) = (CLASSES[class], fault.map_or("none", |fault| fault.code));
        tracing::event!(target: "metrics", Level::INFO, monotonic_counter.csign.turns = 1_u64, histogram.csign.turn.duration_ms = ms, route, status, code);
        for call in calls {
            // Models can make up tool names, so unknown names are counted as one.
            let (tool, outcome) = (
                if call.known { call.tool.as_str() } else { "unknown" },
                if call.is_ok() || call.proposed { "ok" } else { "error" },
            );
            self.tools.add();
            self.tool_times.add(call.duration_ms);
            self.calls.add(format!("{{tool=\"{tool}\",outcome=\"{outcome}\"}}"));
            tracing::event!(target: "metrics", Level::INFO, monotonic_counter.csign.tool_calls = 1_u64, histogram.csign.tool.duration_ms = call.duration_ms, tool, outcome);
        }
    }

    /// Counts a request that was refused before a turn.
    pub(crate) fn count_refusal(&self, status: u16) {
        self.refused[status_class(status)].add();
        tracing::event!(target: "metrics", Level::INFO, monotonic_counter.csign.refused = 1_u64, status);
    }

    /// Returns the text of the metrics page.
    pub(crate) fn render_page(&self, running: usize, sessions: usize) -> String {
        let mut page = String::new();
        let mut one = |name: &str, kind: &str, help: &str, rows: &[(String, u64)]| {
            let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in rows {
                let _ = writeln!(page, "{name}{labels} {value}");
            }
        };
        let by_class = |counts: &[Count; 3]| {
            CLASSES
                .iter()
                .zip(counts)
                .map(|(class, count)| (format!("{{status=\"{class}\"}}"), count.get()))
                .collect::<Vec<_>>()
        };
        let alone = |value: u64| vec![(String::new(), value)];
        one(
            "csign_gateway_turns_total",
            "counter",
            "Turns that ended, by the class of their status.",
            &by_class(&self.turns),
        );
        one(
            "csign_gateway_turn_errors_total",
            "counter",
            "Turns that failed, by the code of the error.",
            &self.errors.snapshot(),
        );
        one(
            "csign_gateway_refused_total",
            "counter",
            "Requests that were refused before a turn.",
            &by_class(&self.refused),
        );
        one("csign_gateway_turns_running", "gauge", "Turns under way.", &alone(running as u64));
        one(
            "csign_gateway_sessions",
            "gauge",
            "Sessions that have not ended.",
            &alone(sessions as u64),
        );
        one(
            "csign_gateway_streams_open",
            "gauge",
            "Streams that are open.",
            &alone(self.open.load(Ordering::Relaxed)),
        );
        one(
            "csign_gateway_streams_total",
            "counter",
            "Turns that were streamed.",
            &alone(self.streams.get()),
        );
        one(
            "csign_gateway_clients_left_total",
            "counter",
            "Turns whose client left before the end.",
            &alone(self.left.get()),
        );
        one(
            "csign_gateway_cart_changes_total",
            "counter",
            "Cart changes that were confirmed and made.",
            &alone(self.confirmed.get()),
        );
        one(
            "csign_gateway_tool_calls_total",
            "counter",
            "Tool calls of turns.",
            &alone(self.tools.get()),
        );
        one(
            "csign_gateway_tool_calls_by_tool_total",
            "counter",
            "The same, by tool and outcome.",
            &self.calls.snapshot(),
        );
        one(
            "csign_gateway_connections_refused_total",
            "counter",
            "Connections over the limit.",
            &alone(self.refused_connections.get()),
        );
        one(
            "csign_gateway_turn_milliseconds",
            "histogram",
            "How long turns took.",
            &self.turn_times.snapshot(),
        );
        one(
            "csign_gateway_tool_milliseconds",
            "histogram",
            "How long tool calls took.",
            &self.tool_times.snapshot(),
        );
        page
    }
}

fn to_millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

fn status_class(status: u16) -> usize {
    match status {
        ..400 => 0,
        400..500 => 1,
        500.. => 2,
    }
}
