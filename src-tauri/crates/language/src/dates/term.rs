//! Defines a date term, and reads the parts that several kinds of terms share: days of a month,
//! months and years.

use chrono::{Datelike, NaiveDate};

use super::{Period, calendar};
use crate::{
    ordinals,
    tokens::{Token, TokenKind},
};

/// A date term with its properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Atom {
    pub(super) start: NaiveDate,
    pub(super) end: NaiveDate,
    /// Whether the term names its year or is relative to today, so that it must not be moved to
    /// another year.
    pub(super) fixed: bool,
    pub(super) year_given: bool,
    /// Whether the term is a unit up to today that is not over yet ("month to date").
    pub(super) open: bool,
}

impl Atom {
    pub(super) fn of(period: Period) -> Self {
        Self { start: period.start, end: period.end, fixed: true, year_given: false, open: false }
    }
    pub(super) fn day(day: NaiveDate) -> Self {
        Self::of(Period { start: day, end: day })
    }
    pub(super) fn yearly(period: Period, year: Option<i32>) -> Self {
        Self {
            start: period.start,
            end: period.end,
            fixed: year.is_some(),
            year_given: year.is_some(),
            open: false,
        }
    }
}

/// The number of tokens, and the term that they mean.
pub(super) type Parsed = Option<(usize, Atom)>;

/// Reads a month without a day: "october", "oktober 2025".
pub(super) fn month_alone(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let (month, used) = month_at(tokens, at)?;
    let (year, more) =
        year_at(tokens, at + used).map_or((None, 0), |(year, used)| (Some(year), used));
    // "May" and "mars" are also other words, so they are months only after a date word or before a
    // year.
    let doubtful = tokens[at].any(&["may", "mar", "march", "mars"]) && year.is_none();
    let led = at > 0
        && tokens[at - 1].any(&[
            "in", "since", "from", "for", "during", "of", "i", "sedan", "fran", "under", "until",
            "till", "to", "this", "and", "och", "-", "–",
        ]);
    if doubtful && !led {
        return None;
    }
    let (year, more) = match year {
        Some(_) => (year, more),
        None => relative_year(tokens, at + used, today)
            .map_or((None, 0), |(year, used)| (Some(year), used)),
    };
    let held = year.unwrap_or_else(|| calendar::recent_year(month, today));
    Some((used + more, Atom::yearly(calendar::month(held, month)?, year)))
}

/// Reads the year of "november last year" or "november i fjol".
fn relative_year(tokens: &[Token], at: usize, today: NaiveDate) -> Option<(i32, usize)> {
    let words: Vec<&str> =
        tokens.get(at..)?.iter().take(2).map(|token| token.norm.as_str()).collect();
    match words[..] {
        ["last" | "forra", "year" | "aret"] | ["i", "fjol"] => Some((today.year() - 1, 2)),
        ["this", "year"] | ["i", "ar"] => Some((today.year(), 2)),
        _ => None,
    }
}

/// Reads the day of a month: "1", "1st", "1:a", "första".
pub(super) fn day_number(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    let (day, used) =
        ordinals::read_place(tokens, at).or_else(|| tokens.get(at)?.int().map(|day| (day, 1)))?;
    (1..=31).contains(&day).then_some((day, used))
}

/// Reads a month's name, including the full stop of an abbreviation.
pub(super) fn month_at(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    let month = match tokens.get(at)?.norm.as_str() {
        "january" | "jan" | "januari" => 1,
        "february" | "feb" | "februari" => 2,
        "march" | "mar" | "mars" => 3,
        "april" | "apr" => 4,
        "may" | "maj" => 5,
        "june" | "jun" | "juni" => 6,
        "july" | "jul" | "juli" => 7,
        "august" | "aug" | "augusti" => 8,
        "september" | "sep" | "sept" => 9,
        "october" | "oct" | "oktober" | "okt" => 10,
        "november" | "nov" => 11,
        "december" | "dec" => 12,
        _ => return None,
    };
    let point = usize::from(
        tokens.get(at + 1).is_some_and(|token| token.fold == "." && token.glued)
            && tokens.get(at + 2).is_some_and(|t| t.kind == TokenKind::Number),
    );
    Some((month, 1 + point))
}

/// Reads a year close to the present. Other round numbers are usually prices.
pub(super) fn year_at(tokens: &[Token], at: usize) -> Option<(i32, usize)> {
    let token = tokens.get(at)?;
    let year = token.int().filter(|year| (2015..2036).contains(year) && token.fold.len() == 4)?;
    let iso = tokens.get(at + 1).is_some_and(|next| next.fold == "-" && next.glued)
        && tokens.get(at + 2).is_some_and(|t| t.kind == TokenKind::Number && t.glued);
    if iso {
        return None;
    }
    i32::try_from(year).ok().map(|year| (year, 1))
}
