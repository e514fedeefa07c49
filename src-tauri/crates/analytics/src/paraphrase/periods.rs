//! Periods and comparisons in words, each with its days.

use contract::{
    Days, DaysForm, Param, Text,
    metric_query::{
        CalendarUnit::{self, Day, Month, Quarter, Week, Year},
        Compare, CompareAlign, CompareTo, MetricQuery, PartKind, Period, QueryPart, Shift, Span,
    },
    text,
};

use super::{Words, as_is, conditions::scalar, part};
use crate::resolve::{DayBounds, bounds_of, parts_of_span};

impl Words<'_> {
    /// Returns the period and the comparison of a query.
    pub fn period_parts(&self, written: &MetricQuery, resolved: &MetricQuery) -> Vec<QueryPart> {
        let mut parts = Vec::new();
        let bounds = bounds_of(resolved.period.as_ref());
        match &written.period {
            Some(period) => {
                parts.push(part(PartKind::Period, "/period", period_with_days(period, bounds)));
            }
            None if self.source.definitions.time.is_some() => {
                parts.push(part(PartKind::Period, "/period", text!("all days")));
            }
            None => {}
        }
        if let (Some(written), Some(resolved)) = (&written.compare, &resolved.compare) {
            let words = self.comparison(written, resolved);
            parts.push(part(PartKind::Comparison, "/compare", words));
        }
        parts
    }

    fn comparison(&self, written: &Compare, resolved: &Compare) -> Text {
        let bounds = bounds_of(resolved.period.as_ref());
        let mut words = match (written.to, &written.period) {
            (Some(CompareTo::Previous), _) => {
                text!("compared with the period before ({days})", days = days(bounds))
            }
            (Some(CompareTo::LastYear), _) => {
                text!("compared with the year before ({days})", days = days(bounds))
            }
            (None, Some(period)) => {
                text!("compared with {period}", period = period_with_days(period, bounds))
            }
            (None, None) => self.compared_values(resolved),
        };
        words = match written.align {
            Some(CompareAlign::Full) => text!("{comparison}, whole periods", comparison = words),
            Some(CompareAlign::ToDate) => {
                text!("{comparison}, the same number of days", comparison = words)
            }
            Some(CompareAlign::Weekday) => {
                text!("{comparison}, the same days of the week", comparison = words)
            }
            None => words,
        };
        match written.shift {
            Some(Shift::Days(count)) => {
                text!("{comparison}, {count} days later", comparison = words, count)
            }
            Some(Shift::Months(count)) => {
                text!("{comparison}, {count} months later", comparison = words, count)
            }
            None => words,
        }
    }

    fn compared_values(&self, compare: &Compare) -> Text {
        let each = compare.values.iter().map(|(name, values)| {
            let values = Text::listed(values.iter().map(scalar), " / ");
            Param::Text(text!("{name}: {values}", name = self.heading(name), values))
        });
        text!("compared: {values}", values = Text::listed(each, "; "))
    }
}

/// Returns a period with its days.
fn period_with_days(written: &Period, bounds: DayBounds) -> Text {
    if let Period::Range { .. } = written {
        return days(bounds);
    }
    if let (Period::Month(_), Some(first), Some(last)) = (written, bounds.first, bounds.last) {
        return text!(
            "{period} ({days})",
            period = Days::new(first, last, DaysForm::Month),
            days = Days::new(first, last, DaysForm::WithoutYear)
        );
    }
    text!("{period} ({days})", period = name_of(written), days = days(bounds))
}

/// Returns the days of a period.
fn days(bounds: DayBounds) -> Text {
    let day = |day| Days::new(day, day, DaysForm::Full);
    match (bounds.first, bounds.last) {
        (Some(first), Some(last)) => {
            let days = Param::Days(Days::new(first, last, DaysForm::Full));
            Text::listed([days], "")
        }
        (Some(first), None) => text!("from {day}", day = day(first)),
        (None, Some(last)) => text!("until {day}", day = day(last)),
        (None, None) => text!("all days"),
    }
}

/// Returns the name of a period that is not written as days.
fn name_of(period: &Period) -> Text {
    match period {
        Period::Last(span) => last(*span),
        Period::LastWithToday(span) => last_with_today(*span),
        Period::This(unit) => this(*unit),
        Period::ToDate(unit) => to_date(*unit),
        Period::Previous(unit) => previous(*unit),
        Period::Month(written) => Text::listed([as_is(written)], ""),
        Period::Quarter(written) => text!("quarter {period}", period = as_is(written)),
        Period::Year(year) => text!("year {period}", period = as_is(year.to_string())),
        Period::Week(written) => text!("week {period}", period = as_is(written)),
        Period::Range { .. } => Text::default(),
    }
}

fn last(span: Span) -> Text {
    let (unit, count) = parts_of_span(span);
    let of = |one: Text, several: Text| if count == 1 { one } else { several };
    match unit {
        Day => of(text!("last day"), text!("last {count} days", count)),
        Week => of(text!("last full week"), text!("last {count} full weeks", count)),
        Month => of(text!("last full month"), text!("last {count} full months", count)),
        Quarter => of(text!("last full quarter"), text!("last {count} full quarters", count)),
        Year => of(text!("last full year"), text!("last {count} full years", count)),
    }
}

fn last_with_today(span: Span) -> Text {
    let (unit, count) = parts_of_span(span);
    let of = |one: Text, several: Text| if count == 1 { one } else { several };
    match unit {
        Day => of(text!("today alone"), text!("last {count} days with today", count)),
        Week => of(text!("this week until today"), text!("last {count} weeks until today", count)),
        Month => {
            of(text!("this month until today"), text!("last {count} months until today", count))
        }
        Quarter => {
            of(text!("this quarter until today"), text!("last {count} quarters until today", count))
        }
        Year => of(text!("this year until today"), text!("last {count} years until today", count)),
    }
}

fn this(unit: CalendarUnit) -> Text {
    match unit {
        Day => text!("Today"),
        Week => text!("this week"),
        Month => text!("this month"),
        Quarter => text!("this quarter"),
        Year => text!("this year"),
    }
}

fn to_date(unit: CalendarUnit) -> Text {
    match unit {
        Day => text!("today until now"),
        Week => text!("week to date"),
        Month => text!("month to date"),
        Quarter => text!("quarter to date"),
        Year => text!("year to date"),
    }
}

fn previous(unit: CalendarUnit) -> Text {
    match unit {
        Day => text!("Yesterday"),
        Week => text!("last week"),
        Month => text!("last month"),
        Quarter => text!("last quarter"),
        Year => text!("last year"),
    }
}
