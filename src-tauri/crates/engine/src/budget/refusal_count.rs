//! Limits how many refusals get their own record, and counts the others by reason.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

/// The counts of refused calls of a turn, or of refused requests within a minute.
#[derive(Default)]
pub(crate) struct RefusalCount {
    recorded: u32,
    /// The number of refusals without their own record, by reason.
    more: BTreeMap<String, u64>,
    since: Option<DateTime<Utc>>,
}

impl RefusalCount {
    /// Whether the next refusal gets its own record. If not, the refusal is counted.
    pub(crate) fn record_or_count(&mut self, most: u32, reason: &str) -> bool {
        let is_admitted = self.recorded < most;
        if is_admitted {
            self.recorded += 1;
        } else {
            *self.more.entry(reason.to_owned()).or_default() += 1;
        }
        is_admitted
    }

    /// Starts a new count after a minute. Returns the counts of the last minute's refusals without
    /// a record.
    pub(crate) fn start_new_minute(&mut self, now: DateTime<Utc>) -> BTreeMap<String, u64> {
        let is_over =
            self.since.is_none_or(|since| now - since >= TimeDelta::minutes(1) || now < since);
        if !is_over {
            return BTreeMap::new();
        }
        std::mem::replace(self, Self { since: Some(now), ..Self::default() }).more
    }

    pub(crate) fn take_more(&mut self) -> BTreeMap<String, u64> {
        std::mem::take(&mut self.more)
    }
}
