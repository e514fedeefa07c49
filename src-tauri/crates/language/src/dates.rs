//! Reads days and periods that people write in English and Swedish: "last week", "since 1 october",
//! "3/10–20/10", "Q3". The result depends only on the words and on today's date. The use of a
//! period is left to the caller.

use std::{collections::HashSet, ops::Range, sync::LazyLock};

use chrono::{Datelike, Days, NaiveDate};

use crate::tokens::Token;

mod atoms;
mod calendar;
mod relative;
mod term;
mod words;

use atoms::read_atom;

/// A period from its first to its last day, including both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    pub start: NaiveDate,
    pub end: NaiveDate,
}

/// A period found in the text. The first or last day may be missing ("until friday").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPeriod {
    pub at: Range<usize>,
    pub start: Option<NaiveDate>,
    pub end: Option<NaiveDate>,
}

const FROM: [&str; 8] =
    ["from", "between", "fran", "mellan", "starting", "beginning", "start", "med"];
const TO: [&str; 12] =
    ["to", "until", "till", "til", "through", "thru", "and", "och", "tom", "-", "–", "—"];
const SINCE: [&str; 5] = ["since", "sedan", "sen", "after", "efter"];
const UNTIL: [&str; 10] =
    ["until", "till", "til", "through", "thru", "by", "before", "tom", "fore", "innan"];
/// After one of these words, a day is not part of the period: "before friday".
const BEFORE_DAY: [&str; 3] = ["before", "fore", "innan"];
const LEADS: [&str; 16] = [
    "in", "on", "for", "during", "over", "within", "the", "i", "under", "pa", "den", "for", "om",
    "of", "av", "at",
];

/// Half a year in days.
const HALF_A_YEAR: i64 = 182;

/// Returns the words that occur in dates, for the lexicon.
pub fn date_words() -> impl Iterator<Item = &'static str> {
    words::WORDS.split_whitespace()
}

static WORD_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| date_words().collect());

/// Whether a token is a word that occurs in dates.
pub fn is_date_word(token: &Token) -> bool {
    [&token.norm, &token.fold].into_iter().any(|word| WORD_SET.contains(word.as_str()))
}

/// Returns the first period in the text.
pub fn find_period(tokens: &[Token], today: NaiveDate) -> Option<FoundPeriod> {
    (0..tokens.len()).find_map(|at| period(tokens, at, today))
}

/// Moves a past period to its next occurrence, unless the text gives a year or a word such as
/// "last". In January 2027, "in december" then means December 2027.
pub fn move_to_next_period(tokens: &[Token], found: &FoundPeriod, today: NaiveDate) -> FoundPeriod {
    let is_past = found.end.or(found.start).is_some_and(|day| day < today);
    let words = || found.at.clone().filter_map(|i| tokens.get(i));
    let is_anchored = words().any(|token| {
        token.any(&["last", "previous", "past", "forra", "foregaende", "senaste", "fjol", "ago"])
            || token.any(&["yesterday", "igar", "gar", "sedan", "since"])
            || token.int().is_some_and(|year| (2000..2100).contains(&year))
    });
    if !is_past || is_anchored {
        return found.clone();
    }
    let is_weekday =
        words().any(|token| ["day", "dag", "dagen"].iter().any(|d| token.norm.ends_with(d)));
    let moved = |day: NaiveDate| {
        if is_weekday { calendar::add_days(day, 7) } else { calendar::plus_years(day, 1) }
    };
    FoundPeriod { at: found.at.clone(), start: found.start.map(moved), end: found.end.map(moved) }
}

/// Reads a period whose words begin at `at`, including a leading word.
fn period(tokens: &[Token], at: usize, today: NaiveDate) -> Option<FoundPeriod> {
    let first = tokens.get(at)?;
    if first.any(&SINCE) {
        return read_open_period(tokens, at, today);
    }
    if first.any(&FROM)
        && let Some(found) = range(tokens, skip_leads(tokens, at + 1), at, today)
            .or_else(|| read_open_period(tokens, at, today))
    {
        return Some(found);
    }
    if let Some(found) = range(tokens, at, at, today) {
        return Some(found);
    }
    // Swedish "till" before a longer period means "belongs to" ("ligger till förra veckan"). Before
    // a single day, "till" introduces the end of a period ("till fredag").
    if first.any(&UNTIL)
        && let Some((used, day)) = read_atom(tokens, skip_leads(tokens, at + 1), today)
        && (day.start == day.end || !first.is("till"))
    {
        let next = skip_leads(tokens, at + 1);
        // "Before the end of the month" includes the last day.
        let is_edge = tokens[next..next + used].iter().any(|token| token.any(&["end", "slutet"]));
        let is_before = first.any(&BEFORE_DAY) && !is_edge;
        let last = if is_before { subtract_days(day.start, 1) } else { day.end };
        // A day without a year means the nearest such day. In November, "until 15 december" is in
        // the future.
        let is_nearer_ahead = !day.fixed && (today - last).num_days() > HALF_A_YEAR;
        let end = if is_nearer_ahead { calendar::plus_years(last, 1) } else { last };
        return Some(FoundPeriod { at: at..next + used, start: None, end: Some(end) });
    }
    let (used, found) = read_atom(tokens, at, today)?;
    let end = at + used;
    if found.open {
        return Some(FoundPeriod { at: at..end, start: Some(found.start), end: Some(today) });
    }
    Some(FoundPeriod { at: at..end, start: Some(found.start), end: Some(found.end) })
}

/// Reads a period without an end, as in "since monday" or "from 1 october". Such a period ends
/// today.
fn read_open_period(tokens: &[Token], at: usize, today: NaiveDate) -> Option<FoundPeriod> {
    let (used, day, next) = read_atom_after_lead(tokens, at + 1, today)?;
    let end = skip_words(
        tokens,
        next + used,
        &["and", "onward", "onwards", "on", "forward", "och", "framat"],
    );
    (day.start <= today).then_some(FoundPeriod {
        at: at..end,
        start: Some(day.start),
        end: Some(today),
    })
}

/// Reads a period with a start and an end: "A to B", "1-15 october", "oct 1-15".
fn range(tokens: &[Token], from: usize, at: usize, today: NaiveDate) -> Option<FoundPeriod> {
    if let Some(found) = shared_month(tokens, from, at, today) {
        return Some(found);
    }
    let (used, first) = read_atom(tokens, from, today)?;
    let dash = from + used;
    let mut next = dash;
    if !tokens.get(next)?.any(&TO) {
        return None;
    }
    // Skips the rest of "till och med" and "up to and including".
    next = skip_words(tokens, next, &TO);
    next = skip_words(tokens, next, &["med", "including"]);
    next = skip_leads(tokens, next);
    let strong = !tokens[dash].any(&["and", "och"])
        || tokens.get(at).is_some_and(|token| token.any(&["between", "mellan"]));
    let (more, last) = read_atom(tokens, next, today)?;
    if !strong {
        return None;
    }
    let mut end = last.end;
    let mut start = first.start;
    let between = tokens.get(at).is_some_and(|token| token.any(&["between", "mellan"]));
    if end < start && between && last.start <= today && first.end <= today {
        // In "between nov 10 and nov 3", the later day comes first.
        (start, end) = (last.start, first.end);
    } else if end < start {
        if first.fixed && !last.fixed {
            end = calendar::plus_years(end, 1);
        } else if !first.fixed && start > today {
            start = calendar::plus_years(start, -1);
        } else if !last.fixed {
            end = calendar::plus_years(end, 1);
        }
    }
    // In "oct 1 to oct 31 2025", the year at the end applies to both days.
    if last.year_given && !first.year_given && !first.fixed && start.year() != end.year() {
        let moved = calendar::plus_years(start, end.year() - start.year());
        start = if moved <= end { moved } else { calendar::plus_years(moved, -1) };
    }
    Some(FoundPeriod { at: at..next + more, start: Some(start), end: Some(end) })
}

/// Reads two days of one month: "1-15 october", "oct 1 - 15", "den 1 till 15 oktober", "between the
/// 3rd and the 9th".
fn shared_month(tokens: &[Token], from: usize, at: usize, today: NaiveDate) -> Option<FoundPeriod> {
    let day_of = |i: usize| term::day_number(tokens, i);
    if let Some((month, used)) = tokens.get(from).and_then(|_| term::month_at(tokens, from)) {
        let (first, a) = day_of(from + used)?;
        let mid = from + used + a;
        tokens.get(mid).filter(|token| token.any(&TO))?;
        let (last, b) = day_of(mid + 1)?;
        if term::month_at(tokens, mid + 1 + b).is_some() {
            return None;
        }
        let (year, y) =
            term::year_at(tokens, mid + 1 + b).map_or((None, 0), |(year, used)| (Some(year), used));
        return days(month, year, first, last, today).map(|(start, end)| FoundPeriod {
            at: at..mid + 1 + b + y,
            start: Some(start),
            end: Some(end),
        });
    }
    let (first, a) = day_of(from)?;
    let mid = from + a;
    tokens.get(mid).filter(|token| token.any(&TO))?;
    let second = skip_words(tokens, mid + 1, &["the", "den"]);
    let (last, b) = day_of(second)?;
    let after = skip_words(tokens, second + b, &["of"]);
    let (month, m) = term::month_at(tokens, after)?;
    let (year, y) =
        term::year_at(tokens, after + m).map_or((None, 0), |(year, used)| (Some(year), used));
    days(month, year, first, last, today).map(|(start, end)| FoundPeriod {
        at: at..after + m + y,
        start: Some(start),
        end: Some(end),
    })
}

fn days(
    month: u32,
    year: Option<i32>,
    first: u32,
    last: u32,
    today: NaiveDate,
) -> Option<(NaiveDate, NaiveDate)> {
    let year = year.unwrap_or_else(|| calendar::recent_year(month, today));
    let start = NaiveDate::from_ymd_opt(year, month, first)?;
    let end = NaiveDate::from_ymd_opt(year, month, last)?;
    (start <= end).then_some((start, end))
}

/// Reads a date term after its leading words, such as "since". An ordinal such as "1st" is a date
/// only after "the".
fn read_atom_after_lead(
    tokens: &[Token],
    at: usize,
    today: NaiveDate,
) -> Option<(usize, term::Atom, usize)> {
    let next = skip_leads(tokens, at);
    (at..=next)
        .rev()
        .find_map(|from| read_atom(tokens, from, today).map(|(used, day)| (used, day, from)))
}

fn skip_leads(tokens: &[Token], at: usize) -> usize {
    skip_words(tokens, at, &LEADS)
}

fn skip_words(tokens: &[Token], mut at: usize, words: &[&str]) -> usize {
    while tokens.get(at).is_some_and(|token| token.any(words)) {
        at += 1;
    }
    at
}

/// Returns the day that lies `days` days before `day`.
fn subtract_days(day: NaiveDate, days: u64) -> NaiveDate {
    day.checked_sub_days(Days::new(days)).unwrap_or(day)
}

#[cfg(test)]
mod tests;
