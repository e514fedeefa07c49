//! Decides how long a value read from the keyring stays valid. The module does not know which
//! values are read.

use chrono::{DateTime, TimeDelta, Utc};

/// How long a value stays valid. A turn makes several calls, and each access to the keyring needs a
/// thread and messages to another program. A change by this program ends the validity at once.
const LATELY: TimeDelta = TimeDelta::seconds(2);

/// The time of a read, and how often the keyring was changed until then.
#[derive(Clone, Copy)]
pub(crate) struct CacheStamp {
    at: DateTime<Utc>,
    changes: u64,
}

impl CacheStamp {
    pub(crate) fn new(at: DateTime<Utc>, changes: u64) -> Self {
        Self { at, changes }
    }

    /// Whether a value read at this time is still valid at `now`.
    pub(crate) fn is_valid_at(self, now: Self) -> bool {
        self.changes == now.changes && (TimeDelta::zero()..LATELY).contains(&(now.at - self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cached_keyring_answer_is_valid_for_two_seconds_or_until_a_change() {
        let said = CacheStamp::new(DateTime::UNIX_EPOCH, 3);
        for (ms, changes, stands) in
            [(0, 3, true), (1_999, 3, true), (2_000, 3, false), (-1, 3, false), (0, 4, false)]
        {
            let now = CacheStamp::new(DateTime::UNIX_EPOCH + TimeDelta::milliseconds(ms), changes);
            assert_eq!(said.is_valid_at(now), stands, "{ms} ms, {changes} changes");
        }
    }
}
