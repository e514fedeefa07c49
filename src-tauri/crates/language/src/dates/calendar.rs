//! Calculates periods in the calendar: weeks from Monday, months, quarters, years.

use chrono::{Datelike, Days, Months, NaiveDate, Weekday};

use super::Period;

/// The units of time in periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Week,
    Weekend,
    Fortnight,
    Month,
    Quarter,
    Half,
    Year,
}

pub(super) fn add_days(day: NaiveDate, days: i64) -> NaiveDate {
    let moved = if days < 0 {
        day.checked_sub_days(Days::new(days.unsigned_abs()))
    } else {
        day.checked_add_days(Days::new(days.unsigned_abs()))
    };
    moved.unwrap_or(day)
}

pub(super) fn add_months(day: NaiveDate, months: i32) -> NaiveDate {
    let step = Months::new(months.unsigned_abs());
    let moved =
        if months < 0 { day.checked_sub_months(step) } else { day.checked_add_months(step) };
    moved.unwrap_or(day)
}

pub(super) fn plus_years(day: NaiveDate, years: i32) -> NaiveDate {
    add_months(day, years * 12)
}

pub(super) fn first_of_month(day: NaiveDate) -> NaiveDate {
    day.with_day(1).unwrap_or(day)
}

pub(super) fn month(year: i32, month: u32) -> Option<Period> {
    let start = NaiveDate::from_ymd_opt(year, month, 1)?;
    Some(Period { start, end: add_days(add_months(start, 1), -1) })
}

/// Returns the year in which this month most recently began.
pub(super) fn recent_year(month: u32, today: NaiveDate) -> i32 {
    if month > today.month() { today.year() - 1 } else { today.year() }
}

pub(super) fn months_block(year: i32, first: u32, count: i32) -> Option<Period> {
    let start = NaiveDate::from_ymd_opt(year, first, 1)?;
    Some(Period { start, end: add_days(add_months(start, count), -1) })
}

/// Returns the days of an ISO week.
pub(super) fn week(year: i32, number: u32) -> Option<Period> {
    let start = NaiveDate::from_isoywd_opt(year, number, Weekday::Mon)?;
    Some(Period { start, end: add_days(start, 6) })
}

/// Returns the calendar unit that lies `offset` units away from the unit that contains today.
pub(super) fn nth(unit: Unit, offset: i32, today: NaiveDate) -> Option<Period> {
    let offset_days = i64::from(offset);
    match unit {
        Unit::Day => {
            let day = add_days(today, offset_days);
            Some(Period { start: day, end: day })
        }
        Unit::Week | Unit::Fortnight => {
            let monday = add_days(today, -i64::from(today.weekday().num_days_from_monday()));
            let start = add_days(monday, 7 * offset_days);
            Some(Period { start, end: add_days(start, 6) })
        }
        Unit::Weekend => {
            let monday = add_days(today, -i64::from(today.weekday().num_days_from_monday()));
            let start = add_days(monday, 7 * offset_days + 5);
            Some(Period { start, end: add_days(start, 1) })
        }
        Unit::Month => {
            let day = add_months(first_of_month(today), offset);
            month(day.year(), day.month())
        }
        Unit::Quarter => {
            let first = NaiveDate::from_ymd_opt(today.year(), (today.month0() / 3) * 3 + 1, 1)?;
            let start = add_months(first, 3 * offset);
            months_block(start.year(), start.month(), 3)
        }
        Unit::Half => {
            let first = NaiveDate::from_ymd_opt(today.year(), (today.month0() / 6) * 6 + 1, 1)?;
            let start = add_months(first, 6 * offset);
            months_block(start.year(), start.month(), 6)
        }
        Unit::Year => months_block(today.year() + offset, 1, 12),
    }
}

/// Returns the last `count` units, ending with today.
pub(super) fn last_units(unit: Unit, count: u32, today: NaiveDate) -> Period {
    let count = i64::from(count.clamp(1, 5_000));
    let months = |per: i64| i32::try_from(count * per).unwrap_or(12);
    let start = match unit {
        Unit::Day => add_days(today, 1 - count),
        Unit::Week => add_days(today, 1 - 7 * count),
        Unit::Weekend => add_days(today, 1 - 7 * count),
        Unit::Fortnight => add_days(today, 1 - 14 * count),
        Unit::Month => add_days(add_months(today, -months(1)), 1),
        Unit::Quarter => add_days(add_months(today, -months(3)), 1),
        Unit::Half => add_days(add_months(today, -months(6)), 1),
        Unit::Year => add_days(add_months(today, -months(12)), 1),
    };
    Period { start, end: today }
}

/// Returns the day that lies `count` units before today.
pub(super) fn subtract_units(unit: Unit, count: u32, today: NaiveDate) -> NaiveDate {
    let count_days = i64::from(count);
    let months = i32::try_from(count).unwrap_or(0);
    match unit {
        Unit::Day => add_days(today, -count_days),
        Unit::Week | Unit::Weekend => add_days(today, -7 * count_days),
        Unit::Fortnight => add_days(today, -14 * count_days),
        Unit::Month => add_months(today, -months),
        Unit::Quarter => add_months(today, -3 * months),
        Unit::Half => add_months(today, -6 * months),
        Unit::Year => add_months(today, -12 * months),
    }
}

/// Returns the day that lies `count` units after today.
pub(super) fn add_units(unit: Unit, count: u32, today: NaiveDate) -> NaiveDate {
    let count_days = i64::from(count.clamp(1, 5_000));
    let months = i32::try_from(count_days).unwrap_or(0);
    match unit {
        Unit::Day => add_days(today, count_days),
        Unit::Week | Unit::Weekend => add_days(today, 7 * count_days),
        Unit::Fortnight => add_days(today, 14 * count_days),
        Unit::Month => add_months(today, months),
        Unit::Quarter => add_months(today, 3 * months),
        Unit::Half => add_months(today, 6 * months),
        Unit::Year => add_months(today, 12 * months),
    }
}

/// Returns the most recent such weekday, including today unless `strict` is set.
pub(super) fn last_weekday(weekday: Weekday, strict: bool, today: NaiveDate) -> NaiveDate {
    let back = i64::from(
        (7 + today.weekday().num_days_from_monday() - weekday.num_days_from_monday()) % 7,
    );
    add_days(today, if back == 0 && strict { -7 } else { -back })
}
