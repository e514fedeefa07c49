//! Decides how long an answer of the keyring is valid. Does not know the questions.

use chrono::{DateTime, TimeDelta, Utc};

/// How long an answer is valid. A turn makes several calls, a server many at once, and each access
/// to the keyring takes a thread and a conversation with another program. A change by this program
/// ends the validity at once.
const LATELY: TimeDelta = TimeDelta::seconds(2);

/// When the keyring was asked, and how many changes it had seen.
#[derive(Clone, Copy)]
pub(crate) struct CacheStamp {
    at: DateTime<Utc>,
    changes: u64,
}

impl CacheStamp {
    pub(crate) fn new(at: DateTime<Utc>, changes: u64) -> Self {
        Self { at, changes }
    }

    /// Whether an answer of that time is still valid at `now`.
    pub(crate) fn is_valid_at(self, now: Self) -> bool {
        self.changes == now.changes && (TimeDelta::zero()..LATELY).contains(&(now.at - self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_keyring_said_stands_for_a_moment_and_until_this_program_changes_it() {
        let said = CacheStamp::new(DateTime::UNIX_EPOCH, 3);
        for (ms, changes, stands) in
            [(0, 3, true), (1_999, 3, true), (2_000, 3, false), (-1, 3, false), (0, 4, false)]
        {
            let now = CacheStamp::new(DateTime::UNIX_EPOCH + TimeDelta::milliseconds(ms), changes);
            assert_eq!(said.is_valid_at(now), stands, "{ms} ms, {changes} changes");
        }
    }
}
