//! Makes relative periods and comparisons absolute.

use chrono::{Datelike, NaiveDate, Weekday};
use contract::{
    metric_query::{
        CalendarUnit, Compare, CompareAlign, CompareTo, MetricQuery, Period, Shift, Span,
    },
    sources::DayRange,
    text,
};

use crate::{
    Problem,
    calendar::{Calendar, days_later, first_of_month, last_of_month, months_between, months_later},
};

/// The first and last day of a period. An absent end is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DayBounds {
    /// The first day.
    pub first: Option<NaiveDate>,
    /// The last day.
    pub last: Option<NaiveDate>,
}

impl DayBounds {
    /// Whether none of the days is within a range.
    pub fn is_outside(self, days: DayRange) -> bool {
        self.first.is_some_and(|first| first > days.last)
            || self.last.is_some_and(|last| last < days.first)
    }
}

/// Returns the days of a resolved period.
pub(crate) fn bounds_of(period: Option<&Period>) -> DayBounds {
    match period {
        Some(Period::Range { from, to }) => DayBounds { first: *from, last: *to },
        _ => DayBounds::default(),
    }
}

/// Returns the first day that rolling windows of a resolved query reach.
pub(crate) fn first_of_windows(query: &MetricQuery, calendar: Calendar) -> Option<NaiveDate> {
    let first = bounds_of(query.period.as_ref()).first?;
    let spans = query.measures.iter().filter_map(|used| used.rolling);
    let starts = spans.map(|span| {
        let (unit, count) = parts(span);
        calendar.later(unit, calendar.start(unit, first), 1 - i64::from(count))
    });
    starts.min()
}

/// Returns a period as days. None is all days.
pub(super) fn resolve_period(
    period: &Period,
    calendar: Calendar,
    today: NaiveDate,
) -> Result<Option<Period>, Problem> {
    let whole = |unit, day| {
        let (first, last) = calendar.whole(unit, day);
        Some(Period::Range { from: Some(first), to: Some(last) })
    };
    Ok(match period {
        Period::Range { from: None, to: None } => None,
        Period::Range { .. } => Some(period.clone()),
        Period::Last(span) => {
            let (unit, count) = parts(*span);
            let this = calendar.start(unit, today);
            range(calendar.later(unit, this, -i64::from(count)), days_later(this, -1))
        }
        Period::LastWithToday(span) => {
            let (unit, count) = parts(*span);
            let this = calendar.start(unit, today);
            range(calendar.later(unit, this, 1 - i64::from(count)), today)
        }
        Period::This(unit) => whole(*unit, today),
        Period::ToDate(unit) => range(calendar.start(*unit, today), today),
        Period::Previous(unit) => {
            let this = calendar.start(*unit, today);
            whole(*unit, calendar.later(*unit, this, -1))
        }
        Period::Month(written) => whole(CalendarUnit::Month, read_month(written)?),
        Period::Quarter(written) => quarter(written, calendar)?,
        Period::Year(year) => {
            let first =
                NaiveDate::from_ymd_opt(*year, calendar.year_start, 1).ok_or_else(|| {
                    Problem::new(text!("{year} is no year.", year = i64::from(*year)))
                })?;
            whole(CalendarUnit::Year, first)
        }
        Period::Week(written) => {
            let first = read_week(written)?;
            range(first, days_later(first, 6))
        }
    })
}

fn range(first: NaiveDate, last: NaiveDate) -> Option<Period> {
    Some(Period::Range { from: Some(first), to: Some(last) })
}

/// Returns the unit and number of a length of time.
pub(crate) fn parts(span: Span) -> (CalendarUnit, u32) {
    match span {
        Span::Days(count) => (CalendarUnit::Day, count),
        Span::Weeks(count) => (CalendarUnit::Week, count),
        Span::Months(count) => (CalendarUnit::Month, count),
        Span::Quarters(count) => (CalendarUnit::Quarter, count),
        Span::Years(count) => (CalendarUnit::Year, count),
    }
}

pub(crate) fn read_month(written: &str) -> Result<NaiveDate, Problem> {
    NaiveDate::parse_from_str(&format!("{written}-01"), "%Y-%m-%d")
        .map_err(|_| Problem::new(text!("{written} is no month. Write it as 2026-11.", written)))
}

fn quarter(written: &str, calendar: Calendar) -> Result<Option<Period>, Problem> {
    let wrong = || Problem::new(text!("{written} is no quarter. Write it as 2026-Q4.", written));
    let (year, number) = written.split_once("-Q").ok_or_else(wrong)?;
    let year: i32 = year.parse().map_err(|_| wrong())?;
    let number: i64 = number.parse().map_err(|_| wrong())?;
    let first =
        NaiveDate::from_ymd_opt(year, calendar.year_start, 1).filter(|_| (1..=4).contains(&number));
    let first = months_later(first.ok_or_else(wrong)?, 3 * (number - 1));
    let (first, last) = calendar.whole(CalendarUnit::Quarter, first);
    Ok(range(first, last))
}

fn read_week(written: &str) -> Result<NaiveDate, Problem> {
    let wrong = || Problem::new(text!("{written} is no week. Write it as 2026-W48.", written));
    let (year, week) = written.split_once("-W").ok_or_else(wrong)?;
    let (year, week) = (year.parse().map_err(|_| wrong())?, week.parse().map_err(|_| wrong())?);
    NaiveDate::from_isoywd_opt(year, week, Weekday::Mon).ok_or_else(wrong)
}

/// Returns a comparison as a period and its distance.
pub(super) fn resolve_compare(
    compare: &Compare,
    period: Option<&Period>,
    is_under_way: bool,
    calendar: Calendar,
    today: NaiveDate,
) -> Result<Compare, Problem> {
    if !compare.values.is_empty() {
        return Ok(compare.clone());
    }
    let bounds = bounds_of(period);
    let (Some(first), Some(last)) = (bounds.first, bounds.last) else {
        return Err(Problem::new(text!(
            "A comparison needs a period with a first and a last day."
        )));
    };
    let (before, shift) = match (compare.to, &compare.period) {
        (Some(to), _) => earlier(to, compare.align, first, last),
        (None, Some(other)) => other_period(other, first, calendar, today)?,
        (None, None) => {
            return Err(Problem::new(text!("The comparison does not say with which period.")));
        }
    };
    let shift = compare.shift.unwrap_or(shift);
    let before = match compare.align {
        Some(CompareAlign::Full) => before,
        None if !is_under_way => before,
        // The same part of the period that is over, with today.
        None | Some(CompareAlign::ToDate | CompareAlign::Weekday) => {
            let over = (today.min(last) - first).num_days();
            // A period that has not begun has no such part.
            if over < 0 { before } else { (before.0, days_later(before.0, over).min(before.1)) }
        }
    };
    Ok(Compare {
        to: None,
        period: range(before.0, before.1),
        values: compare.values.clone(),
        // Resolved once, the days are fixed.
        align: Some(CompareAlign::Full),
        shift: Some(shift),
    })
}

type Days = (NaiveDate, NaiveDate);

/// Returns the days before a period, and how much later the period is.
fn earlier(
    to: CompareTo,
    align: Option<CompareAlign>,
    first: NaiveDate,
    last: NaiveDate,
) -> (Days, Shift) {
    let is_months = first == first_of_month(first) && last == last_of_month(last);
    let length = (last - first).num_days() + 1;
    let by_days = |days: i64| {
        let days_back = |day| days_later(day, -days);
        let shift = Shift::Days(i32::try_from(days).unwrap_or(i32::MAX));
        ((days_back(first), days_back(last)), shift)
    };
    let by_months = |months: i64| {
        let from = months_later(first, -months);
        let to = months_later(last, -months);
        let to = if is_months { last_of_month(to) } else { to };
        ((from, to), Shift::Months(i32::try_from(months).unwrap_or(i32::MAX)))
    };
    match (to, align) {
        (CompareTo::LastYear, Some(CompareAlign::Weekday)) => by_days(364),
        (CompareTo::LastYear, _) => by_months(12),
        (CompareTo::Previous, Some(CompareAlign::Weekday)) => by_days((length + 6) / 7 * 7),
        (CompareTo::Previous, _) if is_months => by_months(months_between(first, last) + 1),
        (CompareTo::Previous, _) => by_days(length),
    }
}

fn other_period(
    other: &Period,
    first: NaiveDate,
    calendar: Calendar,
    today: NaiveDate,
) -> Result<(Days, Shift), Problem> {
    let other = resolve_period(other, calendar, today)?;
    let bounds = bounds_of(other.as_ref());
    let (Some(from), Some(to)) = (bounds.first, bounds.last) else {
        return Err(Problem::new(text!(
            "A comparison needs a period with a first and a last day."
        )));
    };
    let shift = if from.day() == 1 && first.day() == 1 {
        Shift::Months(i32::try_from(months_between(from, first)).unwrap_or(i32::MAX))
    } else {
        Shift::Days(i32::try_from((first - from).num_days()).unwrap_or(i32::MAX))
    };
    Ok(((from, to), shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn days(period: &Period) -> (String, String) {
        let period = resolve_period(period, Calendar::default(), day("2026-11-30")).unwrap();
        let bounds = bounds_of(period.as_ref());
        (bounds.first.unwrap().to_string(), bounds.last.unwrap().to_string())
    }

    #[test]
    fn relative_periods_become_days() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(days(&Period::Last(Span::Days(30))), pair("2026-10-31", "2026-11-29"));
        assert_eq!(days(&Period::Last(Span::Weeks(1))), pair("2026-11-23", "2026-11-29"));
        assert_eq!(days(&Period::LastWithToday(Span::Days(7))), pair("2026-11-24", "2026-11-30"));
        assert_eq!(days(&Period::This(CalendarUnit::Month)), pair("2026-11-01", "2026-11-30"));
        assert_eq!(
            days(&Period::Previous(CalendarUnit::Quarter)),
            pair("2026-07-01", "2026-09-30")
        );
        assert_eq!(days(&Period::Quarter("2026-Q1".to_owned())), pair("2026-01-01", "2026-03-31"));
        assert_eq!(days(&Period::Week("2026-W48".to_owned())), pair("2026-11-23", "2026-11-29"));
        assert_eq!(days(&Period::Year(2024)), pair("2024-01-01", "2024-12-31"));
        assert_eq!(days(&Period::Month("2024-02".to_owned())), pair("2024-02-01", "2024-02-29"));
    }

    fn compared(compare: Compare, first: &str, last: &str, under_way: bool) -> String {
        let period = range(day(first), day(last));
        let today = day("2026-11-15");
        let compare =
            resolve_compare(&compare, period.as_ref(), under_way, Calendar::default(), today);
        let compare = compare.unwrap();
        let bounds = bounds_of(compare.period.as_ref());
        format!("{} {} {:?}", bounds.first.unwrap(), bounds.last.unwrap(), compare.shift.unwrap())
    }

    #[test]
    fn a_comparison_has_the_days_before_in_whole_months_or_by_weekday() {
        let previous = Compare { to: Some(CompareTo::Previous), ..Compare::default() };
        let year = Compare { to: Some(CompareTo::LastYear), ..Compare::default() };
        let weekday = Compare { align: Some(CompareAlign::Weekday), ..year.clone() };
        let month = ("2026-10-01", "2026-10-31");
        assert_eq!(
            compared(previous.clone(), month.0, month.1, false),
            "2026-09-01 2026-09-30 Months(1)"
        );
        assert_eq!(
            compared(previous.clone(), "2026-11-01", "2026-11-30", true),
            "2026-10-01 2026-10-15 Months(1)"
        );
        assert_eq!(
            compared(previous.clone(), "2026-11-03", "2026-11-09", false),
            "2026-10-27 2026-11-02 Days(7)"
        );
        assert_eq!(
            compared(previous, "2026-12-01", "2026-12-31", true),
            "2026-11-01 2026-11-30 Months(1)",
            "the period begins after today"
        );
        assert_eq!(
            compared(year, "2024-02-01", "2024-02-29", false),
            "2023-02-01 2023-02-28 Months(12)"
        );
        assert_eq!(
            compared(weekday, "2026-11-02", "2026-11-08", false),
            "2025-11-03 2025-11-09 Days(364)"
        );
    }
}
