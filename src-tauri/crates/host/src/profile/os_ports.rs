//! Implements the engine's port to the operating system: time, ids, randomness.

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

/// Makes ids that sort by time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UuidIds;

impl Ids for UuidIds {
    fn next(&self, prefix: &str) -> String {
        format!("{prefix}_{}", uuid::Uuid::now_v7().simple())
    }
}

/// The random number generator of the system.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OsRandom;

impl Random for OsRandom {
    fn random_fraction(&self) -> f64 {
        let mut bytes = [0u8; 4];
        // If no random number can be read, the middle of the range is returned.
        if getrandom::fill(&mut bytes).is_err() {
            return 0.5;
        }
        f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0)
    }
}
