//! The engine's ports to the operating system: time, ids, randomness.

use chrono::{DateTime, Utc};
use engine::ports::{Clock, Ids, Random};

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }
}

/// Creates ids that sort by time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UuidIds;

impl Ids for UuidIds {
    fn next(&self, prefix: &str) -> String {
        format!("{prefix}_{}", uuid::Uuid::now_v7().simple())
    }
}

/// The system's randomness.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OsRandom;

impl Random for OsRandom {
    fn unit(&self) -> f64 {
        let mut bytes = [0u8; 4];
        // Without randomness, the middle of the range is as good as any other value.
        if getrandom::fill(&mut bytes).is_err() {
            return 0.5;
        }
        f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0)
    }
}
