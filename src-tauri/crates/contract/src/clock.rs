//! Judges the clock by stored times. Data is deleted by age only with this judgement, because
//! deletion is final and a clock that is wrong only once must not cause it. This module does not
//! depend on the kind of data.

use chrono::{DateTime, TimeDelta, Utc};

/// The age of a stored time with which the clock has to agree. Two runs under the same wrong clock
/// are rarely that far apart.
const APART: TimeDelta = TimeDelta::days(1);
/// How far the clock may be ahead of such a stored time. After a longer pause, the stored time is
/// used instead of the clock, until a second run confirms the clock.
const NEAR: TimeDelta = TimeDelta::days(7);
/// How far a clock is set back in ordinary use.
const SET_BACK: TimeDelta = TimeDelta::hours(1);

/// Returns the latest moment that the clock and stored times agree on. `times` are in the order in
/// which they were stored, newest first. Returns none if no time is agreed on yet.
pub fn agreed_time(
    now: DateTime<Utc>,
    times: impl IntoIterator<Item = DateTime<Utc>>,
) -> Option<DateTime<Utc>> {
    let mut judge = Judge { now, later: now };
    for at in times {
        match judge.look_at(at) {
            Verdict::Agreed(at) => return Some(at),
            Verdict::WentBack => return None,
            Verdict::TooYoung => {}
        }
    }
    None
}

/// The state of examining stored times, newest first.
struct Judge {
    now: DateTime<Utc>,
    /// The earliest stored time so far.
    later: DateTime<Utc>,
}

enum Verdict {
    /// The stored time is too recent for a judgement.
    TooYoung,
    /// The clock was set back after the time was stored, so that either the clock or the time is
    /// wrong.
    WentBack,
    Agreed(DateTime<Utc>),
}

impl Judge {
    fn look_at(&mut self, at: DateTime<Utc>) -> Verdict {
        if at > self.later + SET_BACK {
            return Verdict::WentBack;
        }
        self.later = self.later.min(at);
        let age = self.now - at;
        if age < APART {
            Verdict::TooYoung
        } else if age <= NEAR {
            Verdict::Agreed(self.now)
        } else {
            Verdict::Agreed(at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the agreed day. `days` contains the days of the records, oldest first.
    fn agreed(days: &[f64], now: f64) -> Option<i64> {
        let at = |day: f64| DateTime::UNIX_EPOCH + TimeDelta::seconds((day * 86_400.0) as i64);
        agreed_time(at(now), days.iter().rev().map(|day| at(*day)))
            .map(|agreed| (agreed - DateTime::UNIX_EPOCH).num_days())
    }

    #[test]
    fn the_clock_is_trusted_if_records_of_another_day_agree_with_it() {
        let used = [10.0, 11.0, 12.0];
        assert_eq!(agreed(&used, 13.5), Some(13), "an ordinary day");
        assert_eq!(agreed(&[10.0], 10.5), None, "the first day");
        assert_eq!(agreed(&used, 412.0), Some(12), "one start with a clock far ahead");
        assert_eq!(agreed(&[10.0, 12.0, 412.0, 412.1], 412.2), Some(12), "and another one");
        assert_eq!(agreed(&[10.0, 12.0, 412.0], 413.1), Some(413), "two runs a day apart agree");
        assert_eq!(agreed(&[10.0, 12.0, 412.0], 450.0), Some(412), "so do rare runs, by the older");
    }

    #[test]
    fn a_clock_that_was_set_back_is_trusted_again_after_a_day() {
        let ahead = [10.0, 12.0, 412.0];
        assert_eq!(agreed(&ahead, 13.0), None, "records from the future");
        let back = [10.0, 12.0, 412.0, 13.0];
        assert_eq!(agreed(&back, 13.1), None);
        assert_eq!(agreed(&back, 14.1), Some(14));
        assert_eq!(agreed(&[10.0, 12.0, 412.0, 13.0], 413.5), Some(13), "ahead for a second time");
        assert_eq!(agreed(&[10.0, 12.0, 1.0], 1.5), None, "a clock that is behind");
        assert_eq!(agreed(&[10.0, 12.0, 1.0], 12.5), Some(1), "and right again");
        assert_eq!(agreed(&[10.0, 11.02, 11.0], 11.9), Some(11), "half an hour is ordinary");
    }
}
