//! Reads parts of longer periods, and the unit before the last one: "the first 10 days of October", "the
//! second week of November", "the last month of 2025", "the week before last".

use chrono::{Datelike, NaiveDate};
use contract::metric_query::{CalendarUnit, Period};

use super::{FoundPeriod, back, basic, forward, month_of, unit};
use crate::{
    meaning::{Meaning, Relative},
    numbers::quantity,
    scan::Scan,
};

/// The part of a period that is asked for.
#[derive(Clone, Copy)]
enum Place {
    /// The first one, the second one and so on.
    Nth(u32),
    /// The last one.
    Last,
}

/// Reads a part of a period: some days, weeks, months or quarters at its beginning or end.
pub(super) fn part(scan: &Scan<'_>, at: usize) -> Option<FoundPeriod> {
    let (next, place) = place_at(scan, at)?;
    let (after, count) = match quantity(scan.tokens, next, scan.lexicon) {
        Some((after, count)) => (after, Some(count.count()?)),
        None => (next, None),
    };
    let (middle, unit) = unit(scan, after)?;
    let joined = scan.end_of(middle, &Meaning::In).unwrap_or(middle);
    let begin = scan.skip_empty(joined);
    let (end, whole) = basic(scan, begin)?;
    // "Last month October" names a month.
    let is_joined = begin > middle || count.is_some() || unit == CalendarUnit::Day;
    // The first week of a year may be one of the calendar, and the second 10 days are no usual part.
    let is_unclear = unit == CalendarUnit::Week && count.is_none() && is_year(&whole);
    let is_far = matches!(place, Place::Nth(nth) if nth > 1) && count.is_some();
    let is_read_as_quarter = unit == CalendarUnit::Quarter && is_year(&whole);
    if !is_joined || is_unclear || is_far || is_read_as_quarter {
        return None;
    }
    let count = count.unwrap_or(1);
    let (first, last) = days_of_part(scan.days_of(&whole)?, place, unit, count)?;
    let period = match (unit, count) {
        (CalendarUnit::Month, 1) => month_of(first.year(), first.month()),
        _ => Period::Range { from: Some(first), to: Some(last) },
    };
    Some(FoundPeriod::new(end, period))
}

fn place_at(scan: &Scan<'_>, at: usize) -> Option<(usize, Place)> {
    scan.phrase(at, |meaning| match meaning {
        Meaning::First => Some(Place::Nth(1)),
        Meaning::Nth(nth) => Some(Place::Nth(*nth)),
        Meaning::Relative(Relative::Previous | Relative::Recent) => Some(Place::Last),
        _ => None,
    })
}

fn is_year(period: &Period) -> bool {
    matches!(
        period,
        Period::Year(_)
            | Period::This(CalendarUnit::Year)
            | Period::Previous(CalendarUnit::Year)
            | Period::ToDate(CalendarUnit::Year)
    )
}

/// Returns the first and last day of a part. None if it is not within the whole period: "last week on
/// Monday" names no part of Monday.
fn days_of_part(
    (from, to): (NaiveDate, NaiveDate),
    place: Place,
    unit: CalendarUnit,
    count: u32,
) -> Option<(NaiveDate, NaiveDate)> {
    let (first, last) = match place {
        Place::Nth(nth) => {
            let first = forward(from, unit, nth.checked_sub(1)?.checked_mul(count)?)?;
            (first, forward(first, unit, count)?.pred_opt()?)
        }
        Place::Last => (back(to.succ_opt()?, unit, count)?, to),
    };
    (from <= first && last <= to).then_some((first, last))
}

/// Reads "the week before last" and, with the words in another order, "förrförra veckan".
pub(super) fn before_last(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let behind = || {
        let (next, unit) = unit(scan, at)?;
        Some((scan.end_of(next, &Meaning::BeforeLast)?, unit))
    };
    let ahead = || unit(scan, scan.end_of(at, &Meaning::BeforeLast)?);
    let (end, unit) = behind().or_else(ahead)?;
    let (last, _) = scan.days_of(&Period::Previous(unit))?;
    let first = back(last, unit, 1)?;
    let period = match unit {
        CalendarUnit::Month => month_of(first.year(), first.month()),
        CalendarUnit::Day | CalendarUnit::Week | CalendarUnit::Quarter | CalendarUnit::Year => {
            Period::Range { from: Some(first), to: last.pred_opt() }
        }
    };
    Some((end, period))
}

/// Reads "15th of next month" and "den 15:e nästa månad".
pub(super) fn day_of_month(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let day = scan.tokens.get(at)?.whole().filter(|day| (1..=31).contains(day))?;
    let after = after_ordinal(scan, at + 1);
    let begin = scan.skip_empty(scan.end_of(after, &Meaning::In).unwrap_or(after));
    // The number in "account 17 last month" and in "account 17 for last month" is no day.
    let follows_a_name = at > 0 && !scan.lexicon.knows(&scan.tokens[at - 1].fold);
    if begin == at + 1 || (after == at + 1 && follows_a_name) {
        return None;
    }
    let (end, first) = month_from_now(scan, begin)?;
    let day = first.with_day(day)?;
    Some((end, Period::Range { from: Some(day), to: Some(day) }))
}

/// Returns the place after the ending of a number: "15th", "15:e".
fn after_ordinal(scan: &Scan<'_>, at: usize) -> usize {
    let glued = |at: usize, letters: usize| {
        scan.tokens.get(at).is_some_and(|token| {
            token.is_glued
                && token.fold.len() == letters
                && token.fold.chars().all(char::is_alphabetic)
        })
    };
    let is_colon = scan.tokens.get(at).is_some_and(|token| token.fold == ":");
    match (is_colon && glued(at + 1, 1), glued(at, 2)) {
        (true, _) => at + 2,
        (false, true) => at + 1,
        (false, false) => at,
    }
}

/// Returns the first day of a month by its distance from this one.
fn month_from_now(scan: &Scan<'_>, at: usize) -> Option<(usize, NaiveDate)> {
    let month = CalendarUnit::Month;
    let next = scan.end_of(at, &Meaning::NextUnit(month));
    let said = |relative: Relative| {
        let next = scan.end_of(at, &Meaning::Relative(relative))?;
        unit(scan, next).filter(|(_, unit)| *unit == month).map(|(end, _)| end)
    };
    let this = scan.today().with_day(1)?;
    match (next, said(Relative::This), said(Relative::Previous)) {
        (Some(end), _, _) => Some((end, forward(this, month, 1)?)),
        (None, Some(end), _) => Some((end, this)),
        (None, None, Some(end)) => Some((end, back(this, month, 1)?)),
        (None, None, None) => None,
    }
}
