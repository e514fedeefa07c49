//! Periods and comparisons in words.

use contract::metric_query::{CalendarUnit, Compare, CompareTo, Period, Span};

use super::Saying;

impl Saying<'_> {
    pub(super) fn period(&self, period: &Period) -> Option<String> {
        let relative = |kind: &str, unit: &CalendarUnit| {
            self.word(&format!("{kind}_{}", unit_name(*unit))).map(str::to_owned)
        };
        match period {
            Period::Last(span) => Some(format!("{} {}", self.word("last")?, self.span(*span)?)),
            Period::This(unit) => relative("this", unit),
            Period::Previous(unit) => relative("previous", unit),
            Period::ToDate(unit) => relative("to_date", unit),
            Period::Month(month) => {
                let (year, month) = month.split_once('-')?;
                let number: u32 = month.parse().ok()?;
                Some(format!("{} {year}", self.word(&format!("month_{number}"))?))
            }
            Period::Quarter(quarter) => {
                let (year, quarter) = quarter.split_once("-Q")?;
                Some(format!("Q{quarter} {year}"))
            }
            Period::Year(year) => Some(year.to_string()),
            Period::Week(week) => {
                let (year, week) = week.split_once("-W")?;
                Some(format!("{} {week} {year}", self.word("week")?))
            }
            Period::Range { from: Some(from), to: Some(to) } if from == to => {
                Some(from.to_string())
            }
            Period::Range { from: Some(from), to: Some(to) } => {
                let words = (self.word("range_from")?, self.word("range_to")?);
                Some(format!("{} {from} {} {to}", words.0, words.1))
            }
            Period::Range { from: Some(from), to: None } => {
                Some(format!("{} {from}", self.word("since")?))
            }
            Period::Range { from: None, to: Some(to) } => {
                Some(format!("{} {to}", self.word("until")?))
            }
            Period::Range { from: None, to: None } | Period::LastWithToday(_) => None,
        }
    }

    pub(super) fn compare(&self, compare: &Compare) -> Option<String> {
        if compare.align.is_some() {
            return None;
        }
        let versus = self.word("versus")?;
        match (compare.to, &compare.period, compare.values.values().next()) {
            (Some(CompareTo::Previous), None, None) => {
                Some(format!("{versus} {}", self.word("previous")?))
            }
            (Some(CompareTo::LastYear), None, None) => {
                Some(format!("{versus} {}", self.word("last_year")?))
            }
            (None, Some(period), None) => Some(format!("{versus} {}", self.period(period)?)),
            (None, None, Some(values)) => {
                let (first, second) = values.split_first()?;
                let first = self.values(std::slice::from_ref(first))?;
                Some(format!("{first} {versus} {}", self.values(second)?))
            }
            _ => None,
        }
    }

    /// Returns a length of time.
    pub(super) fn span(&self, span: Span) -> Option<String> {
        let (count, key) = match span {
            Span::Days(count) => (count, "days"),
            Span::Weeks(count) => (count, "weeks"),
            Span::Months(count) => (count, "months"),
            Span::Quarters(count) => (count, "quarters"),
            Span::Years(count) => (count, "years"),
        };
        Some(format!("{count} {}", self.word(key)?))
    }

    pub(super) fn unit(&self, unit: CalendarUnit) -> Option<&str> {
        self.word(unit_name(unit))
    }
}

fn unit_name(unit: CalendarUnit) -> &'static str {
    match unit {
        CalendarUnit::Day => "day",
        CalendarUnit::Week => "week",
        CalendarUnit::Month => "month",
        CalendarUnit::Quarter => "quarter",
        CalendarUnit::Year => "year",
    }
}
