//! Reads ranges of periods: "from A to B", "between A and B", "since A", "until A", "before A".

use chrono::{Days, Months, NaiveDate};
use contract::metric_query::Period;

use super::{FoundPeriod, basic, unit, year_after};
use crate::{meaning::Meaning, scan::Scan};

/// Reads a range that begins at a token.
pub(super) fn range(scan: &Scan<'_>, at: usize) -> Vec<FoundPeriod> {
    let mut found = Vec::new();
    if let Some(next) = scan.end_of(at, &Meaning::Between) {
        found.extend(two_ends(scan, next, &[Meaning::And, Meaning::To]));
    }
    for first in [scan.end_of(at, &Meaning::From), Some(at)].into_iter().flatten() {
        found.extend(two_ends(scan, first, &[Meaning::To, Meaning::Until]));
    }
    found.extend(open(scan, at));
    found
}

/// Reads two periods with a word between them.
fn two_ends(scan: &Scan<'_>, at: usize, between: &[Meaning]) -> Option<FoundPeriod> {
    let (middle, first) = basic(scan, scan.skip_empty(at))?;
    let next = between.iter().filter_map(|word| scan.end_of(middle, word)).max()?;
    let last = scan.skip_empty(next);
    let (end, last) = week_alone(scan, last, &first).or_else(|| basic(scan, last))?;
    let first = with_year_of(scan, first, middle, &last, end);
    let (mut from, _) = scan.days_of(&first)?;
    let (_, to) = scan.days_of(&last)?;
    if from > to && matches!(first, Period::Month(_)) {
        from = from.checked_sub_months(Months::new(12))?;
    }
    let period = Period::Range { from: Some(from), to: Some(to) };
    (from <= to).then(|| FoundPeriod { end, period, ends: Some(Box::new((first, last))) })
}

/// Reads the number of a week after another week: "weeks 40 to 44".
fn week_alone(scan: &Scan<'_>, at: usize, first: &Period) -> Option<(usize, Period)> {
    let Period::Week(first) = first else { return None };
    let number = scan.tokens.get(at)?.whole().filter(|number| (1..=53).contains(number))?;
    let (year, own) = first.split_once("-W")?;
    let is_later = own.parse::<u32>().ok()? < number;
    is_later.then(|| (at + 1, Period::Week(format!("{year}-W{number:02}"))))
}

/// Returns the first month of "January to March 2025" with the year of the last one.
fn with_year_of(
    scan: &Scan<'_>,
    first: Period,
    middle: usize,
    last: &Period,
    end: usize,
) -> Period {
    let (Period::Month(begin), Period::Month(until)) = (&first, last) else { return first };
    let has_year = |end: usize| {
        (1..=2).any(|back| {
            end.checked_sub(back)
                .and_then(|at| year_after(scan, at))
                .is_some_and(|(to, _)| to == end)
        })
    };
    if has_year(middle) || !has_year(end) {
        return first;
    }
    match (begin.split_once('-'), until.split_once('-')) {
        (Some((_, month)), Some((year, _))) => Period::Month(format!("{year}-{month}")),
        _ => first,
    }
}

/// Reads a period with one end.
fn open(scan: &Scan<'_>, at: usize) -> Option<FoundPeriod> {
    let after = |word: &Meaning| {
        let next = scan.end_of(at, word)?;
        let edge = [Meaning::EndOf, Meaning::StartOf];
        let edge = edge.iter().find_map(|word| scan.end_of(next, word));
        let start = scan.skip_empty(edge.unwrap_or(next));
        // "The start of the year" is that of this year.
        let this = || unit(scan, start).map(|(end, unit)| (end, Period::This(unit)));
        let found = basic(scan, start);
        let (end, period) = if edge.is_some() { found.or_else(this) } else { found }?;
        Some((end, scan.days_of(&period)?))
    };
    let from = |day: NaiveDate| Period::Range { from: Some(day), to: None };
    let to = |day: NaiveDate| Period::Range { from: None, to: Some(day) };
    let found = |(end, period): (usize, Period)| FoundPeriod::new(end, period);
    let since = after(&Meaning::Since).map(|(end, (first, _))| (end, from(first)));
    let until = || after(&Meaning::Until).map(|(end, (_, last))| (end, to(last)));
    let before = || {
        let (end, (first, _)) = after(&Meaning::Before)?;
        Some((end, to(first.checked_sub_days(Days::new(1))?)))
    };
    let later = || {
        let (end, (_, last)) = after(&Meaning::After)?;
        Some((end, from(last.checked_add_days(Days::new(1))?)))
    };
    since.or_else(until).or_else(before).or_else(later).map(found)
}

/// Returns the period after a word such as "since" at a token.
pub(crate) fn since(scan: &Scan<'_>, at: usize) -> Option<Period> {
    let next = scan.end_of(at, &Meaning::Since)?;
    basic(scan, scan.skip_empty(next)).map(|(_, period)| period)
}
