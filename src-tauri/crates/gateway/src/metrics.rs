//! Counters and their page for Prometheus. Each count is also emitted as an event of the target
//! `metrics` for exporters.

use std::time::Duration;

use prometheus_client::{
    encoding::prometheus_text,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};
use tracing::Level;

use crate::{call::Call, fault::Fault};

/// The upper bounds of the histograms, in milliseconds.
const BOUNDS: [f64; 9] = [10.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 2_500.0, 10_000.0, 60_000.0];
/// The classes of HTTP statuses.
const CLASSES: [&str; 3] = ["2xx", "4xx", "5xx"];

/// Counters by the values of their labels.
type Counters<const LABELS: usize> = Family<[(&'static str, String); LABELS], Counter>;

#[derive(Debug)]
pub(crate) struct Metrics {
    pub(crate) refused_connections: Counter,
    pub(crate) left: Counter,
    pub(crate) confirmed: Counter,
    streams: Counter,
    open: Gauge,
    running: Gauge,
    sessions: Gauge,
    tools: Counter,
    calls: Counters<2>,
    errors: Counters<1>,
    turns: Counters<1>,
    turn_times: Histogram,
    tool_times: Histogram,
    refused: Counters<1>,
    registry: Registry,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            refused_connections: Counter::default(),
            left: Counter::default(),
            confirmed: Counter::default(),
            streams: Counter::default(),
            open: Gauge::default(),
            running: Gauge::default(),
            sessions: Gauge::default(),
            tools: Counter::default(),
            calls: Family::default(),
            errors: Family::default(),
            turns: Family::default(),
            turn_times: Histogram::new(BOUNDS),
            tool_times: Histogram::new(BOUNDS),
            refused: Family::default(),
            registry: Registry::with_prefix("csign_gateway"),
        };
        // The counters exist from the start, so that the first count is visible as an increase.
        for class in CLASSES {
            let _ = metrics.turns.get_or_create(&by_status(class));
            let _ = metrics.refused.get_or_create(&by_status(class));
        }
        metrics.register();
        metrics
    }
}

/// Counts an open stream until it is dropped.
#[derive(Debug)]
pub(crate) struct Open<'a>(&'a Metrics);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.dec();
        tracing::event!(target: "metrics", Level::INFO, counter.csign.streams.open = -1_i64);
    }
}

impl Metrics {
    /// Registers every metric in the order of the page. The library appends `_total` to names of
    /// counters and a full stop to descriptions.
    fn register(&mut self) {
        let page = &mut self.registry;
        page.register(
            "turns",
            "Turns that ended, by the class of their status",
            self.turns.clone(),
        );
        page.register(
            "turn_errors",
            "Turns that failed, by the code of the error",
            self.errors.clone(),
        );
        page.register("refused", "Requests that were refused before a turn", self.refused.clone());
        page.register("turns_running", "Turns under way", self.running.clone());
        page.register("sessions", "Sessions that have not ended", self.sessions.clone());
        page.register("streams_open", "Streams that are open", self.open.clone());
        page.register("streams", "Turns that were streamed", self.streams.clone());
        page.register("clients_left", "Turns whose client left before the end", self.left.clone());
        page.register(
            "cart_changes",
            "Cart changes that were confirmed and made",
            self.confirmed.clone(),
        );
        page.register("tool_calls", "Tool calls of turns", self.tools.clone());
        page.register("tool_calls_by_tool", "The same, by tool and outcome", self.calls.clone());
        page.register(
            "connections_refused",
            "Connections over the limit",
            self.refused_connections.clone(),
        );
        page.register("turn_milliseconds", "How long turns took", self.turn_times.clone());
        page.register("tool_milliseconds", "How long tool calls took", self.tool_times.clone());
    }

    /// Counts the start of a streamed turn. Dropping the returned value counts the end.
    pub(crate) fn open_stream(&self) -> Open<'_> {
        self.streams.inc();
        self.open.inc();
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
        self.turns.get_or_create(&by_status(class)).inc();
        self.turn_times.observe(ms as f64);
        if let Some(fault) = fault {
            self.errors.get_or_create(&[("code", fault.code.to_owned())]).inc();
        }
        let (status, code) = (class, fault.map_or("none", |fault| fault.code));
        tracing::event!(target: "metrics", Level::INFO, monotonic_counter.csign.turns = 1_u64, histogram.csign.turn.duration_ms = ms, route, status, code);
        for call in calls {
            // Models can invent tool names, so unknown names are counted under one name.
            let (tool, outcome) = (
                if call.known { call.tool.as_str() } else { "unknown" },
                if call.is_ok() || call.proposed { "ok" } else { "error" },
            );
            self.tools.inc();
            self.tool_times.observe(call.duration_ms as f64);
            let labels = [("tool", tool.to_owned()), ("outcome", outcome.to_owned())];
            self.calls.get_or_create(&labels).inc();
            tracing::event!(target: "metrics", Level::INFO, monotonic_counter.csign.tool_calls = 1_u64, histogram.csign.tool.duration_ms = call.duration_ms, tool, outcome);
        }
    }

    /// Counts a request that was refused before a turn.
    pub(crate) fn count_refusal(&self, status: u16) {
        self.refused.get_or_create(&by_status(status_class(status))).inc();
        tracing::event!(target: "metrics", Level::INFO, monotonic_counter.csign.refused = 1_u64, status);
    }

    /// Returns the text of the metrics page.
    pub(crate) fn render_page(&self, running: usize, sessions: usize) -> String {
        self.running.set(i64::try_from(running).unwrap_or(i64::MAX));
        self.sessions.set(i64::try_from(sessions).unwrap_or(i64::MAX));
        let mut page = String::new();
        if let Err(err) = prometheus_text::encode(&mut page, &self.registry) {
            tracing::warn!(%err, "the page of metrics is not complete");
        }
        page
    }
}

fn by_status(class: &str) -> [(&'static str, String); 1] {
    [("status", class.to_owned())]
}

fn to_millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

fn status_class(status: u16) -> &'static str {
    let [fine, refused, failed] = CLASSES;
    match status {
        ..400 => fine,
        400..500 => refused,
        500.. => failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metrics_page_keeps_its_names_types_and_format() {
        let metrics = Metrics::default();
        metrics.count_turn("/v1/chat", 200, None, Duration::from_millis(70), &[]);
        metrics.count_refusal(429);
        let page = metrics.render_page(1, 2);
        let beginning = "# HELP csign_gateway_turns_total Turns that ended, by the class of their status.\n# TYPE csign_gateway_turns_total counter\n";
        assert!(page.starts_with(beginning), "{page}");
        let lines = [
            "csign_gateway_turns_total{status=\"2xx\"} 1",
            "csign_gateway_turns_total{status=\"5xx\"} 0",
            "csign_gateway_refused_total{status=\"4xx\"} 1",
            "# TYPE csign_gateway_sessions gauge",
            "csign_gateway_sessions 2",
            "csign_gateway_turns_running 1",
            "csign_gateway_streams_total 0",
            "# TYPE csign_gateway_turn_milliseconds histogram",
            "csign_gateway_turn_milliseconds_bucket{le=\"50\"} 0",
            "csign_gateway_turn_milliseconds_bucket{le=\"100\"} 1",
            "csign_gateway_turn_milliseconds_bucket{le=\"60000\"} 1",
            "csign_gateway_turn_milliseconds_bucket{le=\"+Inf\"} 1",
            "csign_gateway_turn_milliseconds_sum 70.0",
            "csign_gateway_turn_milliseconds_count 1",
        ];
        for line in lines {
            assert!(page.lines().any(|found| found == line), "{line} is not in:\n{page}");
        }
    }
}
