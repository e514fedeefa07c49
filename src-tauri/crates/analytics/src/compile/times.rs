//! Times of rows: the days of a period, and the hour, day, week or month of a row.

use chrono::NaiveDate;
use contract::{
    metric_query::{CalendarUnit, Shift, TimeGrain},
    sources::ColumnKind,
    text,
};

use super::{Value, row_scope::RowScope};
use crate::{
    Problem,
    calendar::{Calendar, days_later},
    resolve::DayBounds,
};

impl RowScope<'_> {
    /// Returns the condition that the time of a row lies in a period.
    pub fn in_period(&self, bounds: DayBounds) -> Result<Option<String>, Problem> {
        if bounds == DayBounds::default() {
            return Ok(None);
        }
        let column = self.source.time_column()?;
        let time = self.dialect.identifier(&column.name)?;
        let is_moment = column.kind == ColumnKind::Moment;
        let midnight = |day: NaiveDate| format!("TIMESTAMP '{} 00:00:00'", day.format("%Y-%m-%d"));
        let mut parts = Vec::new();
        if let Some(first) = bounds.first {
            let first = if is_moment { midnight(first) } else { self.dialect.day(first) };
            parts.push(format!("{time} >= {first}"));
        }
        if let Some(last) = bounds.last {
            parts.push(if is_moment {
                format!("{time} < {}", midnight(days_later(last, 1)))
            } else {
                format!("{time} <= {}", self.dialect.day(last))
            });
        }
        Ok(super::conditions::join_conditions(parts))
    }

    /// Returns the condition that the time of a row lies in one of some periods.
    pub fn in_one_of(&self, sides: &[DayBounds]) -> Result<Option<String>, Problem> {
        let mut parts = Vec::new();
        for side in sides {
            match self.in_period(*side)? {
                Some(part) => parts.push(part),
                None => return Ok(None),
            }
        }
        Ok(match parts.as_slice() {
            [one] => Some(one.clone()),
            several => Some(format!("({})", several.join(" OR "))),
        })
    }

    /// Returns the hour, day, week or other time of a row, moved later by a shift.
    pub fn time_value(&self, grain: TimeGrain, shift: Option<Shift>) -> Result<Value, Problem> {
        let column = self.source.time_column()?;
        let time = self.dialect.identifier(&column.name)?;
        let is_moment = match column.kind {
            ColumnKind::Moment => true,
            ColumnKind::Day => false,
            ColumnKind::Text | ColumnKind::Whole | ColumnKind::Decimal | ColumnKind::Flag => {
                return Err(Problem::new(text!(
                    "The time column {name} has no days.",
                    name = column.name
                )));
            }
        };
        let needs_hours =
            matches!(grain, TimeGrain::Hour | TimeGrain::HourOfDay | TimeGrain::PartOfDay);
        if needs_hours && !is_moment {
            return Err(Problem::new(text!(
                "The time column {name} has days without hours.",
                name = column.name
            )));
        }
        let time = shifted(&time, is_moment, shift);
        let day = if is_moment { format!("CAST({time} AS DATE)") } else { time.clone() };
        if let Some(unit) = unit_of(grain) {
            return Ok(value(bucket_of(&day, unit, self.source.calendar()), ColumnKind::Day));
        }
        Ok(match grain {
            TimeGrain::Hour => value(format!("date_trunc('hour', {time})"), ColumnKind::Moment),
            TimeGrain::Weekday => value(part("ISODOW", &day), ColumnKind::Whole),
            TimeGrain::HourOfDay => value(part("HOUR", &time), ColumnKind::Whole),
            TimeGrain::MonthOfYear => value(part("MONTH", &day), ColumnKind::Whole),
            TimeGrain::Day
            | TimeGrain::Week
            | TimeGrain::Month
            | TimeGrain::Quarter
            | TimeGrain::Year => value(day, ColumnKind::Day),
            TimeGrain::PartOfDay => {
                let hour = part("HOUR", &time);
                let sql = format!(
                    "CASE WHEN {time} IS NULL THEN NULL WHEN {hour} < 6 THEN 'night' WHEN {hour} < 12 THEN 'morning' WHEN {hour} < 18 THEN 'afternoon' ELSE 'evening' END"
                );
                value(sql, ColumnKind::Text)
            }
        })
    }
}

fn value(sql: String, kind: ColumnKind) -> Value {
    Value { sql, kind, scale: 0 }
}

fn shifted(time: &str, is_moment: bool, shift: Option<Shift>) -> String {
    match (shift, is_moment) {
        (None | Some(Shift::Days(0) | Shift::Months(0)), _) => time.to_owned(),
        (Some(Shift::Days(days)), false) => format!("({time} + {days})"),
        (Some(Shift::Days(days)), true) => format!("({time} + INTERVAL '{days} days')"),
        (Some(Shift::Months(months)), false) => {
            format!("CAST({time} + INTERVAL '{months} months' AS DATE)")
        }
        (Some(Shift::Months(months)), true) => format!("({time} + INTERVAL '{months} months')"),
    }
}

/// Writes the first day of the unit that contains a day.
pub(crate) fn bucket_of(day: &str, unit: CalendarUnit, calendar: Calendar) -> String {
    match unit {
        CalendarUnit::Day => day.to_owned(),
        CalendarUnit::Week => week_of(day, calendar.week_start),
        CalendarUnit::Month => trunc("month", day, 0),
        CalendarUnit::Quarter => trunc("quarter", day, (calendar.year_start - 1) % 3),
        CalendarUnit::Year => trunc("year", day, calendar.year_start - 1),
    }
}

fn week_of(day: &str, start: u32) -> String {
    if start == 0 {
        return trunc("week", day, 0);
    }
    // Weeks of both databases begin on Monday.
    format!("({} + {start})", trunc("week", &format!("({day} - {start})"), 0))
}

fn trunc(unit: &str, day: &str, months: u32) -> String {
    if months == 0 {
        return format!("CAST(date_trunc('{unit}', CAST({day} AS TIMESTAMP)) AS DATE)");
    }
    format!(
        "CAST(date_trunc('{unit}', CAST({day} AS TIMESTAMP) - INTERVAL '{months} months') + INTERVAL '{months} months' AS DATE)"
    )
}

fn part(unit: &str, time: &str) -> String {
    format!("CAST(EXTRACT({unit} FROM {time}) AS BIGINT)")
}

/// Returns the unit of the calendar that a grain counts, if times of it follow each other.
pub(crate) fn unit_of(grain: TimeGrain) -> Option<CalendarUnit> {
    match grain {
        TimeGrain::Day => Some(CalendarUnit::Day),
        TimeGrain::Week => Some(CalendarUnit::Week),
        TimeGrain::Month => Some(CalendarUnit::Month),
        TimeGrain::Quarter => Some(CalendarUnit::Quarter),
        TimeGrain::Year => Some(CalendarUnit::Year),
        TimeGrain::Hour
        | TimeGrain::Weekday
        | TimeGrain::HourOfDay
        | TimeGrain::MonthOfYear
        | TimeGrain::PartOfDay => None,
    }
}

/// Returns the length of some units as an interval.
pub(crate) fn interval(unit: CalendarUnit, count: u32) -> String {
    match unit {
        CalendarUnit::Day => format!("{count} days"),
        CalendarUnit::Week => format!("{} days", 7 * count),
        CalendarUnit::Month => format!("{count} months"),
        CalendarUnit::Quarter => format!("{} months", 3 * count),
        CalendarUnit::Year => format!("{} months", 12 * count),
    }
}

/// Returns the distance by which times of a grain are moved, so that each falls on one of the period.
/// Days of months of different lengths keep their number in the period, and weeks stay whole.
pub(crate) fn shift_of_grain(
    grain: TimeGrain,
    shift: Shift,
    now: NaiveDate,
    before: NaiveDate,
) -> Shift {
    let days = (now - before).num_days();
    let by_days = |days: i64| Shift::Days(i32::try_from(days).unwrap_or(i32::MAX));
    match (grain, shift) {
        (TimeGrain::Month | TimeGrain::Quarter | TimeGrain::Year, shift) => shift,
        // Dates of another year keep their date. The 29th of February falls on the 28th.
        (TimeGrain::Day | TimeGrain::Hour, Shift::Months(months)) if months % 12 == 0 => shift,
        (TimeGrain::Day | TimeGrain::Hour, _) => by_days(days),
        (TimeGrain::Week, _) => by_days((days + 3).div_euclid(7) * 7),
        (
            TimeGrain::Weekday
            | TimeGrain::HourOfDay
            | TimeGrain::MonthOfYear
            | TimeGrain::PartOfDay,
            _,
        ) => Shift::Days(0),
    }
}

/// Writes the day after a time of a grain at which the next one begins.
pub(crate) fn end_of(time: &str, unit: CalendarUnit) -> String {
    match unit {
        CalendarUnit::Day => format!("({time} + 1)"),
        CalendarUnit::Week => format!("({time} + 7)"),
        CalendarUnit::Month | CalendarUnit::Quarter | CalendarUnit::Year => {
            format!("CAST({time} + INTERVAL '{}' AS DATE)", interval(unit, 1))
        }
    }
}
