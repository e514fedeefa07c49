//! Days in an account's time zone: how long a day is (23, 24 or 25 hours), and how much of today has
//! passed.

use chrono::{
    DateTime, Days, MappedLocalTime, NaiveDate, NaiveTime, TimeDelta, TimeZone, Timelike, Utc,
};
use chrono_tz::Tz;

/// The present time in an account's time zone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalNow {
    pub(crate) zone: Tz,
    pub(crate) instant: DateTime<Utc>,
    pub(crate) today: NaiveDate,
    /// The number of seconds of today that have passed.
    pub(crate) elapsed: i64,
    /// The total number of seconds of today.
    pub(crate) length: i64,
}

impl LocalNow {
    pub(crate) fn new(zone: Tz, instant: DateTime<Utc>) -> Self {
        let today = instant.with_timezone(&zone).date_naive();
        let start = start_of(zone, today);
        let next = start_of(zone, add_days(today, 1));
        let length = (next - start).num_seconds().max(1);
        let elapsed = (instant - start).num_seconds().clamp(0, length);
        Self { zone, instant, today, elapsed, length }
    }

    /// Returns the part of a whole day's figures that has accrued by now. The spend is in whole
    /// hundredths, as in a real feed.
    pub(crate) fn so_far(&self, spend: i64, impressions: i64) -> (i64, i64) {
        accrue(spend, impressions, self.elapsed, self.length)
    }

    /// Returns the part of the present hour's figures that has accrued by now.
    pub(crate) fn hour_so_far(&self, spend: i64, impressions: i64) -> (i64, i64) {
        let time = self.instant.time();
        let passed = i64::from(time.minute() * 60 + time.second());
        accrue(spend, impressions, passed, 3_600)
    }
}

/// Returns a part of the spend, in whole hundredths, and of the impressions.
fn accrue(spend: i64, impressions: i64, passed: i64, length: i64) -> (i64, i64) {
    let part = |whole: i64| {
        i64::try_from(i128::from(whole) * i128::from(passed) / i128::from(length)).unwrap_or(whole)
    };
    (part(spend) / 10_000 * 10_000, part(impressions))
}

/// Returns the first instant of a day. If a clock change skips midnight, the day starts after the
/// gap.
fn start_of(zone: Tz, day: NaiveDate) -> DateTime<Utc> {
    let midnight = day.and_time(NaiveTime::MIN);
    for quarter in 0..12 {
        match zone.from_local_datetime(&(midnight + TimeDelta::minutes(15 * quarter))) {
            MappedLocalTime::Single(start) | MappedLocalTime::Ambiguous(start, _) => {
                return start.with_timezone(&Utc);
            }
            MappedLocalTime::None => {}
        }
    }
    midnight.and_utc()
}

/// Returns the local day of a UTC hour.
pub(crate) fn local_day(zone: Tz, utc_day: NaiveDate, hour: u32) -> NaiveDate {
    let naive = utc_day.and_time(NaiveTime::MIN) + TimeDelta::hours(i64::from(hour));
    naive.and_utc().with_timezone(&zone).date_naive()
}

/// Returns `day` moved by a number of days, or `day` itself if the result is beyond the calendar.
pub(crate) fn add_days(day: NaiveDate, days: i64) -> NaiveDate {
    let distance = Days::new(days.unsigned_abs());
    let moved =
        if days < 0 { day.checked_sub_days(distance) } else { day.checked_add_days(distance) };
    moved.unwrap_or(day)
}

/// Returns the day of a stored number.
pub(crate) fn day_from_number(number: i64) -> Option<NaiveDate> {
    NaiveDate::from_num_days_from_ce_opt(i32::try_from(number).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(zone: Tz, text: &str) -> LocalNow {
        LocalNow::new(zone, text.parse().unwrap())
    }

    #[test]
    fn days_with_a_clock_change_have_their_true_length() {
        let zone = chrono_tz::America::Los_Angeles;
        // 2026-03-08: the clocks skip 02:00 to 03:00. At 12:00 PDT only eleven hours have passed.
        let spring = at(zone, "2026-03-08T19:00:00Z");
        assert_eq!((spring.length, spring.elapsed), (23 * 3600, 11 * 3600));
        // 2026-11-01: the hour from 01:00 occurs twice.
        let autumn = at(zone, "2026-11-01T20:00:00Z");
        assert_eq!((autumn.length, autumn.elapsed), (25 * 3600, 13 * 3600));
        let plain = at(zone, "2026-07-01T19:00:00Z");
        assert_eq!((plain.length, plain.elapsed), (24 * 3600, 12 * 3600));
    }

    #[test]
    fn only_the_past_part_of_the_present_hour_is_included() {
        let quarter = at(chrono_tz::Europe::Stockholm, "2026-11-10T09:15:00Z");
        assert_eq!(quarter.hour_so_far(8_050_000, 1_000), (2_010_000, 250), "whole hundredths");
        let start = at(chrono_tz::Europe::Stockholm, "2026-11-10T09:00:00Z");
        assert_eq!(start.hour_so_far(8_050_000, 1_000), (0, 0));
    }

    #[test]
    fn a_day_without_midnight_starts_after_the_clock_change() {
        let zone = chrono_tz::Africa::Cairo;
        // 2026-04-24: 00:00 does not exist there. The day starts at 01:00 and has 23 hours.
        let now = at(zone, "2026-04-24T00:00:00Z");
        assert_eq!(now.today.to_string(), "2026-04-24");
        assert_eq!(now.length, 23 * 3600);
    }

    #[test]
    fn a_utc_hour_belongs_to_the_local_day() {
        let day = NaiveDate::from_ymd_opt(2026, 11, 10).unwrap();
        assert_eq!(local_day(chrono_tz::America::Los_Angeles, day, 7), add_days(day, -1));
        assert_eq!(local_day(chrono_tz::America::Los_Angeles, day, 8), day);
        assert_eq!(local_day(chrono_tz::Europe::Stockholm, day, 23), add_days(day, 1));
    }
}
