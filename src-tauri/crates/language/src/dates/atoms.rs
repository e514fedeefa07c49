//! Reads the single terms of periods: a day, a month, a week, "last month", "the last 14 days".

use chrono::{Datelike, NaiveDate, Weekday};

use super::{
    Period,
    calendar::{self, Unit},
    relative::{part_of, read_unit_to_date, relative, unit},
    subtract_days,
    term::{Atom, Parsed, day_number, month_alone, month_at, year_at},
};
use crate::{
    ordinals,
    tokens::{Token, TokenKind},
};

/// Returns the term that begins at `at`, and the number of its tokens. Longer readings are tried
/// first.
pub(super) fn read_atom(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    // "The rest of november" is read as the whole period.
    if tokens.get(at)?.any(&["rest", "resten", "remainder"])
        && tokens.get(at + 1).is_some_and(|token| token.any(&["of", "av"]))
    {
        let the = usize::from(tokens.get(at + 2).is_some_and(|token| token.any(&["the", "den"])));
        return read_atom(tokens, at + 2 + the, today)
            .or_else(|| unit_alone(tokens, at + 2 + the, today))
            .map(|(used, found)| (used + 2 + the, found));
    }
    read_unit_to_date(tokens, at, today)
        .or_else(|| part_of(tokens, at, today))
        .or_else(|| unit_edge(tokens, at, today))
        .or_else(|| numeric(tokens, at, today))
        .or_else(|| relative(tokens, at, today))
        .or_else(|| quarter_or_half(tokens, at, today))
        .or_else(|| numbered_week(tokens, at, today))
        .or_else(|| day_and_month(tokens, at, today))
        .or_else(|| month_alone(tokens, at, today))
        .or_else(|| weekday(tokens, at, today))
        .or_else(|| simple_day(tokens, at, today))
        .or_else(|| year_alone(tokens, at))
}

/// Reads a unit without other words ("month", "månaden") as the current unit.
fn unit_alone(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let unit = super::relative::unit(tokens.get(at)?)?;
    Some((1, Atom::of(calendar::nth(unit, 0, today)?)))
}

/// Reads the first or last day of a unit: "start of october", "end of the month", "början av
/// oktober".
fn unit_edge(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let head = &tokens[at];
    let first = head.any(&["start", "beginning", "borjan"]);
    if !first && !head.any(&["end", "slutet"]) {
        return None;
    }
    let mut next = at + 1;
    tokens.get(next).filter(|token| token.any(&["of", "av", "pa", "i"]))?;
    while tokens
        .get(next)
        .is_some_and(|token| token.any(&["of", "the", "av", "pa", "i", "den", "this", "har"]))
    {
        next += 1;
    }
    let (used, period) = match tokens.get(next).and_then(unit) {
        Some(unit) => (1, Atom::of(calendar::nth(unit, 0, today)?)),
        None => read_atom(tokens, next, today)?,
    };
    let day = if first { period.start } else { period.end };
    Some((next + used - at, Atom { start: day, end: day, ..period }))
}

/// Reads numeric dates: "2026-10-01", "3/10", "10/25/2026", "1.10.2026".
fn numeric(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let first = &tokens[at];
    if first.kind != TokenKind::Number {
        return None;
    }
    if let Some(day) = parse_dotted_date(&first.fold) {
        return Some((1, Atom::day(day)));
    }
    let number = |i: usize| tokens.get(i).and_then(Token::int);
    let sign =
        |i: usize, text: &str| tokens.get(i).is_some_and(|token| token.fold == text && token.glued);
    let a = first.int()?;
    if sign(at + 1, "-") && sign(at + 3, "-") && first.fold.len() == 4 {
        let day =
            NaiveDate::from_ymd_opt(i32::try_from(a).ok()?, number(at + 2)?, number(at + 4)?)?;
        return Some((5, Atom { year_given: true, ..Atom::day(day) }));
    }
    if !sign(at + 1, "/") {
        return None;
    }
    let b = number(at + 2)?;
    let (day, month) = if b > 12 { (b, a) } else { (a, b) };
    if let Some(year) = sign(at + 3, "/").then(|| number(at + 4)).flatten() {
        let year = i32::try_from(if year < 100 { year + 2000 } else { year }).ok()?;
        return Some((
            5,
            Atom { year_given: true, ..Atom::day(NaiveDate::from_ymd_opt(year, month, day)?) },
        ));
    }
    let found = dated_day(day, month, None, today)?;
    Some((3, found))
}

fn parse_dotted_date(text: &str) -> Option<NaiveDate> {
    let parts: Vec<u32> = text.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
    match parts[..] {
        [day, month, year] if year >= 2000 => {
            NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)
        }
        _ => None,
    }
}

/// Makes the term for a day of a month. Without a year, the most recent such day is meant, or the
/// next such day if it is less than two weeks away.
fn dated_day(day: u32, month: u32, year: Option<i32>, today: NaiveDate) -> Option<Atom> {
    let found = match year {
        Some(year) => NaiveDate::from_ymd_opt(year, month, day)?,
        None => {
            let this = NaiveDate::from_ymd_opt(today.year(), month, day)?;
            if this.month() == today.month() || this <= today {
                this
            } else {
                calendar::plus_years(this, -1)
            }
        }
    };
    Some(Atom::yearly(Period { start: found, end: found }, year))
}

/// Reads quarters and half-years: "Q3", "q3 2025", "third quarter", "kvartal 3", "H1", "första
/// halvåret".
fn quarter_or_half(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let head = &tokens[at];
    let next = tokens.get(at + 1);
    let (number, used, unit) = match head.fold.as_str() {
        "q1" | "k1" => (1, 1, Unit::Quarter),
        "q2" | "k2" => (2, 1, Unit::Quarter),
        "q3" | "k3" => (3, 1, Unit::Quarter),
        "q4" | "k4" => (4, 1, Unit::Quarter),
        "h1" => (1, 1, Unit::Half),
        "h2" => (2, 1, Unit::Half),
        "quarter" | "kvartal" => (next?.int()?, 2, Unit::Quarter),
        _ => {
            let (place, used) = ordinals::read_place(tokens, at)?;
            let named = tokens.get(at + used)?;
            if named.any(&["quarter", "kvartalet", "kvartal"]) {
                (place, used + 1, Unit::Quarter)
            } else if named.any(&["half", "halvaret", "halvar"]) {
                (place, used + 1, Unit::Half)
            } else {
                return None;
            }
        }
    };
    let months = if unit == Unit::Half { 6 } else { 3 };
    let first = (number.checked_sub(1)?) * months + 1;
    let of = usize::from(
        tokens.get(at + used).is_some_and(|token| token.any(&["of", "i"]))
            && year_at(tokens, at + used + 1).is_some(),
    );
    let (year, more) =
        year_at(tokens, at + used + of).map_or((None, 0), |(year, used)| (Some(year), used + of));
    let held = year.unwrap_or_else(|| calendar::recent_year(first, today));
    let period = calendar::months_block(held, first, i32::try_from(months).ok()?)?;
    Some((used + more, Atom::yearly(period, year)))
}

/// Reads numbered weeks: "week 45", "vecka 45", "v45", "v. 45".
fn numbered_week(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let head = &tokens[at];
    let (number, used) = if head.any(&["week", "vecka", "v", "w", "wk"]) {
        let point = usize::from(tokens.get(at + 1).is_some_and(|token| token.fold == "."));
        (tokens.get(at + 1 + point)?.int()?, 2 + point)
    } else {
        (head.fold.strip_prefix(['v', 'w'])?.parse().ok()?, 1)
    };
    let (year, more) =
        year_at(tokens, at + used).map_or((None, 0), |(year, used)| (Some(year), used));
    let current = today.iso_week();
    let held =
        year.unwrap_or(if number > current.week() { current.year() - 1 } else { current.year() });
    Some((used + more, Atom::yearly(calendar::week(held, number)?, year)))
}

/// Reads a day with its month: "1 october", "the 1st of oct 2026", "october 1st", "den 1:a
/// oktober".
fn day_and_month(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let start = at + usize::from(tokens[at].any(&["the", "den"]));
    if let Some((day, used)) = day_number(tokens, start) {
        let mut next = start + used;
        if tokens.get(next).is_some_and(|token| token.is("of")) {
            next += 1;
        }
        if let Some((month, m)) = month_at(tokens, next) {
            let (year, y) =
                year_at(tokens, next + m).map_or((None, 0), |(year, used)| (Some(year), used));
            return Some((next + m + y - at, dated_day(day, month, year, today)?));
        }
        // Matches "the 15th of next month" and "den 15:e nästa månad".
        if let Some((used, month)) = tokens
            .get(next)
            .filter(|token| !token.is("i") && (start > at || next > start + used || used > 1))
            .and_then(|_| relative(tokens, next, today))
            .filter(|(_, found)| {
                found.start.day() == 1
                    && (28..=31).contains(&(found.end - found.start).num_days().saturating_add(1))
            })
        {
            return Some((next + used - at, Atom::day(month.start.with_day(day)?)));
        }
        // In "since the 1st" or "den 1:a", the day belongs to the current month.
        let led = at > 0
            && tokens[at - 1].any(&[
                "since", "from", "until", "between", "on", "sedan", "sen", "fran", "till",
                "mellan", "to",
            ]);
        let ordinal = ordinals::read_place(tokens, start).is_some() && start > at && led;
        if ordinal
            && tokens.get(start + used).is_none_or(|token| {
                token.kind != TokenKind::Word || token.any(&["to", "till", "and", "och", "until"])
            })
        {
            let day = today.with_day(day)?;
            return Some((start + used - at, Atom::day(day)));
        }
        return None;
    }
    let (month, m) = month_at(tokens, at)?;
    let the = usize::from(tokens.get(at + m).is_some_and(|token| token.is("the")));
    let (day, used) = day_number(tokens, at + m + the)?;
    let comma = usize::from(
        tokens.get(at + m + the + used).is_some_and(|token| token.fold == ",")
            && year_at(tokens, at + m + the + used + 1).is_some(),
    );
    let end = at + m + the + used + comma;
    let (year, y) = year_at(tokens, end).map_or((None, 0), |(year, used)| (Some(year), used));
    Some((end + y - at, dated_day(day, month, year, today)?))
}

fn weekday(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let last = usize::from(
        tokens[at].any(&["last", "forra", "senaste", "in"]) && tokens.get(at + 1).is_some(),
    );
    let lead = last + usize::from(tokens.get(at + last).is_some_and(|token| token.is("i")));
    let token = tokens.get(at + lead)?;
    let (weekday, swedish_past) = match token.norm.as_str() {
        "monday" | "mon" | "mondays" | "mandag" | "mandagen" => (Weekday::Mon, false),
        "tuesday" | "tue" | "tues" | "tisdag" | "tisdagen" => (Weekday::Tue, false),
        "wednesday" | "wed" | "onsdag" | "onsdagen" => (Weekday::Wed, false),
        "thursday" | "thu" | "thurs" | "torsdag" | "torsdagen" => (Weekday::Thu, false),
        "friday" | "fri" | "fredag" | "fredagen" => (Weekday::Fri, false),
        "saturday" | "sat" | "lordag" | "lordagen" => (Weekday::Sat, false),
        "sunday" | "sondag" | "sondagen" => (Weekday::Sun, false),
        "mandags" => (Weekday::Mon, true),
        "tisdags" => (Weekday::Tue, true),
        "onsdags" => (Weekday::Wed, true),
        "torsdags" => (Weekday::Thu, true),
        "fredags" => (Weekday::Fri, true),
        "lordags" => (Weekday::Sat, true),
        "sondags" => (Weekday::Sun, true),
        _ => return None,
    };
    let strict = swedish_past || tokens[at].any(&["last", "forra", "senaste"]);
    Some((lead + 1, Atom::day(calendar::last_weekday(weekday, strict, today))))
}

fn simple_day(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let words: Vec<&str> = tokens[at..].iter().take(4).map(|token| token.norm.as_str()).collect();
    let (used, back): (usize, i64) = match words[..] {
        ["the", "day", "before", "yesterday", ..] => (4, 2),
        ["day", "before", "yesterday", ..] => (3, 2),
        ["i", "forrgar", ..] => (2, 2),
        ["forrgar", ..] => (1, 2),
        ["i", "gar", ..] => (2, 1),
        ["yesterday" | "igar" | "yesterdays", ..] => (1, 1),
        ["i", "dag", ..] => (2, 0),
        ["today" | "idag" | "todays" | "dagens", ..] => (1, 0),
        ["i", "morgon", ..] => (2, -1),
        ["tomorrow" | "imorgon", ..] => (1, -1),
        _ => return None,
    };
    let day = if back < 0 {
        calendar::add_days(today, -back)
    } else {
        subtract_days(today, back.unsigned_abs())
    };
    Some((used, Atom::day(day)))
}

fn year_alone(tokens: &[Token], at: usize) -> Parsed {
    let led = at > 0
        && tokens[at - 1].any(&[
            "in", "during", "for", "under", "ar", "year", "i", "of", "since", "sedan", "from",
            "fran", "all",
        ]);
    let (year, used) = year_at(tokens, at).filter(|_| led)?;
    let period = calendar::months_block(year, 1, 12)?;
    Some((used, Atom { year_given: true, ..Atom::of(period) }))
}
