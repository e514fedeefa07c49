//! Reads terms that are relative to today: "last week", "the past 14 days", "month to date", "three
//! weeks ago", "i fjol".

use chrono::{Datelike, NaiveDate};

use super::{
    Period,
    calendar::{self, Unit},
    term::{Atom, Parsed, month_alone, month_at},
};
use crate::{numbers, ordinals, tokens::Token};

pub(super) fn unit(token: &Token) -> Option<Unit> {
    Some(match token.norm.as_str() {
        "day" | "days" | "dag" | "dagar" | "dagarna" | "dagars" | "dygn" | "dygnen" => Unit::Day,
        "week" | "weeks" | "weak" | "vecka" | "veckan" | "veckor" | "veckorna" | "veckas"
        | "veckans" | "wk" | "weeks'" => Unit::Week,
        "weekend" | "helg" | "helgen" => Unit::Weekend,
        "fortnight" => Unit::Fortnight,
        "month" | "months" | "manad" | "manaden" | "manader" | "manaderna" | "manads"
        | "manadens" | "mth" => Unit::Month,
        "quarter" | "quarters" | "kvartal" | "kvartalet" | "kvartalen" => Unit::Quarter,
        "year" | "years" | "ar" | "aret" | "aren" => Unit::Year,
        _ => return None,
    })
}

const THIS: [&str; 9] =
    ["this", "current", "denna", "detta", "innevarande", "nuvarande", "these", "den", "det"];
const LAST: [&str; 10] = [
    "last",
    "previous",
    "forra",
    "foregaende",
    "prior",
    "preceding",
    "forega",
    "prev",
    "fjolarets",
    "sista",
];
const ROLLING: [&str; 7] = ["past", "senaste", "sista", "trailing", "last", "previous", "latest"];
const NEXT: [&str; 5] = ["next", "nasta", "coming", "kommande", "upcoming"];

/// Reads a unit up to today: "month to date", "mtd", "so far this month", "hittills i år".
pub(super) fn read_unit_to_date(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let open = |used: usize, unit: Unit| {
        calendar::nth(unit, 0, today).map(|period| (used, Atom { open: true, ..Atom::of(period) }))
    };
    let first = &tokens[at];
    match first.fold.as_str() {
        "mtd" => return open(1, Unit::Month),
        "ytd" => return open(1, Unit::Year),
        "qtd" => return open(1, Unit::Quarter),
        "wtd" => return open(1, Unit::Week),
        _ => {}
    }
    let words = |from: usize, text: &[&str]| {
        text.iter()
            .enumerate()
            .all(|(i, word)| tokens.get(from + i).is_some_and(|token| token.is(word)))
    };
    if let Some(unit) = unit(first)
        && words(at + 1, &["to", "date"])
    {
        return open(3, unit);
    }
    let lead = if words(at, &["so", "far"]) { 2 } else { usize::from(first.is("hittills")) };
    if lead > 0 {
        let mut next = at + lead;
        while tokens.get(next).is_some_and(|token| {
            token.any(&[
                "i", "in", "under", "den", "this", "denna", "the", "har", "detta", "current",
            ])
        }) {
            next += 1;
        }
        let unit = tokens.get(next).and_then(unit)?;
        return open(next + 1 - at, unit);
    }
    // Reads the forms with "so far" or "to date" at the end: "this month so far", "i år hittills",
    // "october to date".
    let (used, found) = relative(tokens, at, today).or_else(|| month_alone(tokens, at, today))?;
    let tail = if words(at + used, &["so", "far"]) || words(at + used, &["to", "date"]) {
        2
    } else {
        usize::from(words(at + used, &["hittills"]))
    };
    (tail > 0 && found.start <= today).then_some((used + tail, Atom { open: true, ..found }))
}

/// Reads a part of a unit: "the first week of november", "last 3 days of october", "second week of
/// october", "första halvan av oktober".
pub(super) fn part_of(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let lead = usize::from(tokens[at].any(&["the", "den", "de"]));
    let head = tokens.get(at + lead)?;
    let last = head.any(&["last", "sista"]);
    let place = if last {
        1
    } else {
        ordinals::read_place(tokens, at + lead).map(|(place, _)| i64::from(place))?
    };
    let (count, used) = numbers::read_whole(tokens, at + lead + 1).unwrap_or((1, 0));
    let named = tokens.get(at + lead + 1 + used)?;
    let of = at + lead + 2 + used;
    tokens.get(of).filter(|token| token.any(&["of", "in", "i", "av"]))?;
    let from =
        of + 1 + usize::from(tokens.get(of + 1).is_some_and(|token| token.any(&["the", "den"])));
    tokens.get(from)?;
    let (taken, whole) =
        month_alone(tokens, from, today).or_else(|| relative(tokens, from, today))?;
    let half = named.any(&["half", "halvan", "halften"])
        && (whole.end - whole.start).num_days() <= 31
        && place <= 2;
    let length = match unit(named) {
        _ if half => 15,
        Some(Unit::Day) => i64::from(count),
        Some(Unit::Week) => 7 * i64::from(count),
        _ => return None,
    };
    let skipped = calendar::add_days(whole.start, length * (place - 1));
    let start = if last { calendar::add_days(whole.end, 1 - length) } else { skipped };
    let end = if last || (half && place == 2) {
        whole.end
    } else {
        calendar::add_days(start, length - 1).min(whole.end)
    };
    Some((from + taken - at, Atom { start, end, ..whole }))
}

/// Reads a unit relative to today: "this month", "last week", "the last 14 days", "three weeks
/// ago", "i fjol".
pub(super) fn relative(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let mut next = at;
    while tokens.get(next).is_some_and(|token| token.any(&["the", "de", "i", "den", "under"]))
        && tokens.get(next + 1).is_some()
    {
        next += 1;
    }
    let skipped = next - at;
    let head = &tokens[next];
    if let Some((count, used)) =
        numbers::read_whole(tokens, next).or_else(|| head.is("a").then_some((1, 1)))
        && let Some(unit) = tokens.get(next + used).and_then(unit)
        && tokens
            .get(next + used + 1)
            .is_some_and(|token| token.any(&["ago", "sedan", "back", "tillbaka"]))
    {
        return Some((skipped + used + 2, Atom::day(calendar::subtract_units(unit, count, today))));
    }
    if let Some(unit) = unit(head)
        && tokens.get(next + 1).is_some_and(|token| token.any(&["before", "fore"]))
        && tokens.get(next + 2).is_some_and(|token| token.any(&["last", "forra"]))
    {
        return Some((skipped + 3, Atom::of(calendar::nth(unit, -2, today)?)));
    }
    if head.any(&ROLLING)
        && let Some((count, used)) =
            read_few(tokens, next + 1).or_else(|| numbers::read_whole(tokens, next + 1))
        && let Some(unit) = tokens.get(next + 1 + used).and_then(unit)
    {
        return Some((skipped + 2 + used, Atom::of(calendar::last_units(unit, count, today))));
    }
    if head.any(&NEXT) || head.any(&["within", "inom"]) {
        // Matches "the next 10 days" and "inom två veckor".
        let counted = read_few(tokens, next + 1).or_else(|| numbers::read_whole(tokens, next + 1));
        if let Some((count, used)) = counted
            && let Some(unit) = tokens.get(next + 1 + used).and_then(unit)
        {
            let end = calendar::add_units(unit, count, today);
            return Some((skipped + 2 + used, Atom::of(Period { start: today, end })));
        }
    }
    if head.is("i") || tokens.get(at).is_some_and(|token| token.is("i")) {
        if head.is("fjol") {
            return Some((skipped + 1, Atom::of(calendar::nth(Unit::Year, -1, today)?)));
        }
        if head.is("ar") && skipped > 0 {
            return Some((skipped + 1, Atom::of(calendar::nth(Unit::Year, 0, today)?)));
        }
    }
    // "On the weekend" and "i helgen" mean the most recent weekend that has begun.
    if skipped > 0 && head.any(&["weekend", "helgen"]) {
        let this = calendar::nth(Unit::Weekend, 0, today)?;
        let offset = if this.start > today { -1 } else { 0 };
        return Some((skipped + 1, Atom::of(calendar::nth(Unit::Weekend, offset, today)?)));
    }
    let after = tokens.get(next + 1)?;
    if after.is("har")
        && tokens
            .get(at)
            .is_some_and(|_| tokens[..next + 1].last().is_some_and(|token| token.any(&THIS)))
    {
        let unit = tokens.get(next + 2).and_then(unit)?;
        return Some((skipped + 3, Atom::of(calendar::nth(unit, 0, today)?)));
    }
    // The leading "den" or "i" was skipped above, as in "den här veckan".
    if head.is("har") && skipped > 0 {
        return Some((skipped + 2, Atom::of(calendar::nth(unit(after)?, 0, today)?)));
    }
    if head.any(&["past", "senaste", "trailing"]) {
        return unit(after)
            .map(|unit| (skipped + 2, Atom::of(calendar::last_units(unit, 1, today))));
    }
    let offset = if head.any(&NEXT) {
        1
    } else if head.any(&LAST) {
        -1
    } else if head.any(&THIS) {
        0
    } else {
        return None;
    };
    if let Some((month, used)) = month_at(tokens, next + 1).filter(|_| offset != 0) {
        let year = match offset {
            1 if month > today.month() => today.year(),
            1 => today.year() + 1,
            _ if month < today.month() => today.year(),
            _ => today.year() - 1,
        };
        return Some((skipped + 1 + used, Atom::of(calendar::month(year, month)?)));
    }
    let unit = unit(after)?;
    // "By last day" is about the end of a flight. For the day before today, people write
    // "yesterday".
    if offset == -1 && unit == Unit::Day {
        return None;
    }
    Some((skipped + 2, Atom::of(calendar::nth(unit, offset, today)?)))
}

fn read_few(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    let words: Vec<&str> =
        tokens[at.min(tokens.len())..].iter().take(3).map(|token| token.norm.as_str()).collect();
    match words[..] {
        ["a", "couple", "of"] => Some((2, 3)),
        ["couple", "of", ..] | ["ett", "par", ..] => Some((2, 2)),
        ["couple", ..] | ["par", ..] => Some((2, 1)),
        ["few", ..] => Some((3, 1)),
        _ => None,
    }
}
