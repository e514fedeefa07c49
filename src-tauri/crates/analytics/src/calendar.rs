//! Days, weeks, months, quarters and years by the calendar of a source. It does not know queries.

use chrono::{Datelike, Days, Months, NaiveDate};
use contract::metric_query::{CalendarUnit, Shift};

/// The calendar of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Calendar {
    /// The first day of a week, as days since Monday.
    pub week_start: u32,
    /// The first month of a year.
    pub year_start: u32,
}

impl Default for Calendar {
    fn default() -> Self {
        Self { week_start: 0, year_start: 1 }
    }
}

impl Calendar {
    /// Returns the first day of the unit that contains a day.
    pub fn start(self, unit: CalendarUnit, day: NaiveDate) -> NaiveDate {
        match unit {
            CalendarUnit::Day => day,
            CalendarUnit::Week => {
                let past = (day.weekday().num_days_from_monday() + 7 - self.week_start) % 7;
                days_later(day, -i64::from(past))
            }
            CalendarUnit::Month => first_of_month(day),
            CalendarUnit::Quarter => {
                let past = (day.month() + 12 - self.year_start) % 3;
                months_later(first_of_month(day), -i64::from(past))
            }
            CalendarUnit::Year => {
                let past = (day.month() + 12 - self.year_start) % 12;
                months_later(first_of_month(day), -i64::from(past))
            }
        }
    }

    /// Returns the first day of a later unit, counted from the first day of one.
    pub fn later(self, unit: CalendarUnit, start: NaiveDate, count: i64) -> NaiveDate {
        match unit {
            CalendarUnit::Day => days_later(start, count),
            CalendarUnit::Week => days_later(start, 7 * count),
            CalendarUnit::Month => months_later(start, count),
            CalendarUnit::Quarter => months_later(start, 3 * count),
            CalendarUnit::Year => months_later(start, 12 * count),
        }
    }

    /// Returns the first and last day of the unit that contains a day.
    pub fn whole(self, unit: CalendarUnit, day: NaiveDate) -> (NaiveDate, NaiveDate) {
        let first = self.start(unit, day);
        (first, days_later(self.later(unit, first, 1), -1))
    }

    /// Returns the number of units that the days of a range touch.
    pub fn count(self, unit: CalendarUnit, first: NaiveDate, last: NaiveDate) -> i64 {
        let (from, to) = (self.start(unit, first), self.start(unit, last));
        match unit {
            CalendarUnit::Day => (to - from).num_days() + 1,
            CalendarUnit::Week => (to - from).num_days() / 7 + 1,
            CalendarUnit::Month => months_between(from, to) + 1,
            CalendarUnit::Quarter => months_between(from, to) / 3 + 1,
            CalendarUnit::Year => months_between(from, to) / 12 + 1,
        }
    }
}

/// Returns the first day of the month of a day.
pub(crate) fn first_of_month(day: NaiveDate) -> NaiveDate {
    day.with_day(1).unwrap_or(day)
}

/// Returns the last day of the month of a day.
pub(crate) fn last_of_month(day: NaiveDate) -> NaiveDate {
    days_later(months_later(first_of_month(day), 1), -1)
}

/// Returns a later day, or an earlier one. Days outside of the calendar stay at its ends.
pub(crate) fn days_later(day: NaiveDate, count: i64) -> NaiveDate {
    let days = Days::new(count.unsigned_abs());
    if count < 0 {
        day.checked_sub_days(days).unwrap_or(NaiveDate::MIN)
    } else {
        day.checked_add_days(days).unwrap_or(NaiveDate::MAX)
    }
}

/// Returns the same day of a later month, or its last day if it is shorter.
pub(crate) fn months_later(day: NaiveDate, count: i64) -> NaiveDate {
    let months = Months::new(u32::try_from(count.unsigned_abs()).unwrap_or(u32::MAX));
    if count < 0 {
        day.checked_sub_months(months).unwrap_or(NaiveDate::MIN)
    } else {
        day.checked_add_months(months).unwrap_or(NaiveDate::MAX)
    }
}

/// Returns the months from the month of a day to that of another.
pub(crate) fn months_between(from: NaiveDate, to: NaiveDate) -> i64 {
    12 * i64::from(to.year() - from.year()) + i64::from(to.month()) - i64::from(from.month())
}

/// Returns a day that lies later by a shift.
pub(crate) fn shifted(day: NaiveDate, shift: Shift) -> NaiveDate {
    match shift {
        Shift::Days(days) => days_later(day, i64::from(days)),
        Shift::Months(months) => months_later(day, i64::from(months)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn units_begin_as_the_calendar_says() {
        let plain = Calendar::default();
        let fiscal = Calendar { week_start: 6, year_start: 4 };
        let sunday = day("2026-11-29");
        assert_eq!(plain.start(CalendarUnit::Week, sunday), day("2026-11-23"));
        assert_eq!(fiscal.start(CalendarUnit::Week, sunday), sunday);
        assert_eq!(plain.start(CalendarUnit::Quarter, sunday), day("2026-10-01"));
        assert_eq!(fiscal.start(CalendarUnit::Year, day("2026-03-31")), day("2025-04-01"));
        assert_eq!(fiscal.start(CalendarUnit::Quarter, day("2026-03-31")), day("2026-01-01"));
        assert_eq!(
            plain.whole(CalendarUnit::Month, day("2024-02-10")),
            (day("2024-02-01"), day("2024-02-29"))
        );
        assert_eq!(plain.count(CalendarUnit::Week, day("2026-11-22"), day("2026-11-30")), 3);
    }
}
