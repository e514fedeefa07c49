//! Support for test builds: a clock with a given start, sequential ids, and a process that ends or
//! panics at a named point.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use chrono::{DateTime, TimeDelta, Utc};
use engine::ports::{Clock, Ids, Point, Probe};

/// The ports that a test build replaces.
pub(super) struct TestPorts {
    pub(super) clock: Option<Arc<dyn Clock>>,
    pub(super) ids: Option<Arc<dyn Ids>>,
    pub(super) probe: Option<Arc<dyn Probe>>,
}

/// Reads `COUNTERSIGN_TEST_NOW` (RFC 3339), `COUNTERSIGN_TEST_IDS` (any text),
/// `COUNTERSIGN_TEST_CRASH_AT` and `COUNTERSIGN_TEST_PANIC_AT` (the name of a point).
pub(super) fn read_test_ports() -> TestPorts {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let start = variable("COUNTERSIGN_TEST_NOW")
        .and_then(|text| DateTime::parse_from_rfc3339(&text).ok())
        .map(|start| start.with_timezone(&Utc));
    let clock: Option<Arc<dyn Clock>> =
        start.map(|start| Arc::new(StartedClock { start, since: Instant::now() }) as _);
    let ids: Option<Arc<dyn Ids>> = variable("COUNTERSIGN_TEST_IDS")
        .map(|seed| Arc::new(CountedIds { seed, count: AtomicU64::new(0) }) as _);
    let crash: Option<Arc<dyn Probe>> =
        variable("COUNTERSIGN_TEST_CRASH_AT").map(|name| Arc::new(Crash { name }) as _);
    let panic: Option<Arc<dyn Probe>> =
        variable("COUNTERSIGN_TEST_PANIC_AT").map(|name| Arc::new(Panic { name }) as _);
    TestPorts { clock, ids, probe: panic.or(crash) }
}

struct StartedClock {
    start: DateTime<Utc>,
    since: Instant,
}

impl Clock for StartedClock {
    fn now(&self) -> DateTime<Utc> {
        self.start + TimeDelta::from_std(self.since.elapsed()).unwrap_or_default()
    }
}

struct CountedIds {
    seed: String,
    count: AtomicU64,
}

impl Ids for CountedIds {
    fn next(&self, prefix: &str) -> String {
        format!("{prefix}-{}-{}", self.seed, self.count.fetch_add(1, Ordering::AcqRel) + 1)
    }
}

struct Crash {
    name: String,
}

impl Probe for Crash {
    fn at(&self, point: Point) {
        if format!("{point:?}") == self.name {
            // SAFETY: the signal is sent to this process only, which it ends.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        }
    }
}

struct Panic {
    name: String,
}

impl Probe for Panic {
    #[allow(clippy::panic, reason = "what a test asks for")]
    fn at(&self, point: Point) {
        assert!(format!("{point:?}") != self.name, "words of a panic");
    }
}
