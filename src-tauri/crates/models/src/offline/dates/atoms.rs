//! The single terms that periods are made of: a day, a month, a week, "last month", "the last 14 days".

use chrono::{Datelike, NaiveDate, Weekday};

use super::{
    Period, before,
    calendar::{self, Unit},
};
use crate::offline::{
    numbers,
    text::{Kind, Token},
};

/// One term with what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Atom {
    pub(super) start: NaiveDate,
    pub(super) end: NaiveDate,
    /// It names its year or counts from today: it must not be moved to another year.
    pub(super) fixed: bool,
    pub(super) year_given: bool,
    /// Runs up to today although the unit is not over ("month to date").
    pub(super) open: bool,
}

impl Atom {
    fn of(period: Period) -> Self {
        Self { start: period.start, end: period.end, fixed: true, year_given: false, open: false }
    }
    fn day(day: NaiveDate) -> Self {
        Self::of(Period { start: day, end: day })
    }
    fn yearly(period: Period, year: Option<i32>) -> Self {
        Self { start: period.start, end: period.end, fixed: year.is_some(), year_given: year.is_some(), open: false }
    }
}

type Parsed = Option<(usize, Atom)>;

/// The term that begins at `at`, and how many tokens it takes. Longer readings come first.
pub(super) fn atom(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    tokens.get(at)?;
    to_date(tokens, at, today)
        .or_else(|| edge(tokens, at, today))
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

fn unit(token: &Token) -> Option<Unit> {
    Some(match token.norm.as_str() {
        "day" | "days" | "dag" | "dagar" | "dagarna" | "dagars" | "dygn" | "dygnen" => Unit::Day,
        "week" | "weeks" | "weak" | "vecka" | "veckan" | "veckor" | "veckorna" | "veckas" | "veckans" | "wk" | "weeks'" => Unit::Week,
        "weekend" | "helg" | "helgen" => Unit::Weekend,
        "fortnight" => Unit::Fortnight,
        "month" | "months" | "manad" | "manaden" | "manader" | "manaderna" | "manads" | "manadens" | "mth" => Unit::Month,
        "quarter" | "quarters" | "kvartal" | "kvartalet" | "kvartalen" => Unit::Quarter,
        "year" | "years" | "ar" | "aret" | "aren" => Unit::Year,
        _ => return None,
    })
}

const THIS: [&str; 9] = ["this", "current", "denna", "detta", "innevarande", "nuvarande", "these", "den", "det"];
const LAST: [&str; 10] = ["last", "previous", "forra", "foregaende", "prior", "preceding", "forega", "prev", "fjolarets", "sista"];
const ROLLING: [&str; 7] = ["past", "senaste", "sista", "trailing", "last", "previous", "latest"];
const NEXT: [&str; 5] = ["next", "nasta", "coming", "kommande", "upcoming"];

/// "month to date", "mtd", "so far this month", "hittills i år".
fn to_date(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let open = |used: usize, unit: Unit| calendar::nth(unit, 0, today).map(|period| (used, Atom { open: true, ..Atom::of(period) }));
    let first = &tokens[at];
    match first.fold.as_str() {
        "mtd" => return open(1, Unit::Month),
        "ytd" => return open(1, Unit::Year),
        "qtd" => return open(1, Unit::Quarter),
        "wtd" => return open(1, Unit::Week),
        _ => {}
    }
    let words = |from: usize, text: &[&str]| text.iter().enumerate().all(|(i, word)| tokens.get(from + i).is_some_and(|token| token.is(word)));
    if let Some(unit) = unit(first)
        && words(at + 1, &["to", "date"])
    {
        return open(3, unit);
    }
    let lead = if words(at, &["so", "far"]) { 2 } else { usize::from(first.is("hittills")) };
    if lead > 0 {
        let mut next = at + lead;
        while tokens.get(next).is_some_and(|token| token.any(&["i", "in", "under", "den", "this", "denna", "the", "har", "detta", "current"])) {
            next += 1;
        }
        let unit = tokens.get(next).and_then(unit)?;
        return open(next + 1 - at, unit);
    }
    // "this month so far", "i år hittills"
    let (used, found) = relative(tokens, at, today)?;
    let tail = if words(at + used, &["so", "far"]) { 2 } else { usize::from(words(at + used, &["hittills"])) };
    (tail > 0 && found.start <= today).then_some((used + tail, Atom { open: true, ..found }))
}

/// "start of october", "end of the month", "början av oktober".
fn edge(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let head = &tokens[at];
    let first = head.any(&["start", "beginning", "borjan"]);
    if !first && !head.any(&["end", "slutet"]) {
        return None;
    }
    let mut next = at + 1;
    tokens.get(next).filter(|token| token.any(&["of", "av", "pa", "i"]))?;
    while tokens.get(next).is_some_and(|token| token.any(&["of", "the", "av", "pa", "i", "den", "this", "har"])) {
        next += 1;
    }
    let (used, period) = match tokens.get(next).and_then(unit) {
        Some(unit) => (1, Atom::of(calendar::nth(unit, 0, today)?)),
        None => atom(tokens, next, today)?,
    };
    let day = if first { period.start } else { period.end };
    Some((next + used - at, Atom { start: day, end: day, ..period }))
}

/// "2026-10-01", "3/10", "10/25/2026", "1.10.2026".
fn numeric(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let first = &tokens[at];
    if first.kind != Kind::Number {
        return None;
    }
    if let Some(day) = dotted(&first.fold) {
        return Some((1, Atom::day(day)));
    }
    let number = |i: usize| tokens.get(i).and_then(Token::int);
    let sign = |i: usize, text: &str| tokens.get(i).is_some_and(|token| token.fold == text && token.glued);
    let a = first.int()?;
    if sign(at + 1, "-") && sign(at + 3, "-") && first.fold.len() == 4 {
        let day = NaiveDate::from_ymd_opt(i32::try_from(a).ok()?, number(at + 2)?, number(at + 4)?)?;
        return Some((5, Atom { year_given: true, ..Atom::day(day) }));
    }
    if !sign(at + 1, "/") {
        return None;
    }
    let b = number(at + 2)?;
    let (day, month) = if b > 12 { (b, a) } else { (a, b) };
    if let Some(year) = sign(at + 3, "/").then(|| number(at + 4)).flatten() {
        let year = i32::try_from(if year < 100 { year + 2000 } else { year }).ok()?;
        return Some((5, Atom { year_given: true, ..Atom::day(NaiveDate::from_ymd_opt(year, month, day)?) }));
    }
    let found = dated(day, month, None, today)?;
    Some((3, found))
}

fn dotted(text: &str) -> Option<NaiveDate> {
    let parts: Vec<u32> = text.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
    match parts[..] {
        [day, month, year] if year >= 2000 => NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day),
        _ => None,
    }
}

/// A day of a month; without a year the last one, or the coming one when that is nearer than two weeks.
fn dated(day: u32, month: u32, year: Option<i32>, today: NaiveDate) -> Option<Atom> {
    let found = match year {
        Some(year) => NaiveDate::from_ymd_opt(year, month, day)?,
        None => {
            let this = NaiveDate::from_ymd_opt(today.year(), month, day)?;
            if this.month() == today.month() || this <= today { this } else { calendar::plus_years(this, -1) }
        }
    };
    Some(Atom::yearly(Period { start: found, end: found }, year))
}

/// "this month", "last week", "the last 14 days", "three weeks ago", "i fjol".
fn relative(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let mut next = at;
    while tokens.get(next).is_some_and(|token| token.any(&["the", "de", "i", "den", "under"])) && tokens.get(next + 1).is_some() {
        next += 1;
    }
    let skipped = next - at;
    let head = &tokens[next];
    if let Some((count, used)) = numbers::whole(tokens, next).or_else(|| head.is("a").then_some((1, 1)))
        && let Some(unit) = tokens.get(next + used).and_then(unit)
        && tokens.get(next + used + 1).is_some_and(|token| token.any(&["ago", "sedan", "back", "tillbaka"]))
    {
        return Some((skipped + used + 2, Atom::day(calendar::ago(unit, count, today))));
    }
    if head.any(&ROLLING)
        && let Some((count, used)) = few(tokens, next + 1).or_else(|| numbers::whole(tokens, next + 1))
        && let Some(unit) = tokens.get(next + 1 + used).and_then(unit)
    {
        return Some((skipped + 2 + used, Atom::of(calendar::rolling(unit, count, today))));
    }
    if head.is("i") || tokens.get(at).is_some_and(|token| token.is("i")) {
        if head.is("fjol") {
            return Some((skipped + 1, Atom::of(calendar::nth(Unit::Year, -1, today)?)));
        }
        if head.is("ar") && skipped > 0 {
            return Some((skipped + 1, Atom::of(calendar::nth(Unit::Year, 0, today)?)));
        }
    }
    let after = tokens.get(next + 1)?;
    if after.is("har") && tokens.get(at).is_some_and(|_| tokens[..next + 1].last().is_some_and(|token| token.any(&THIS))) {
        let unit = tokens.get(next + 2).and_then(unit)?;
        return Some((skipped + 3, Atom::of(calendar::nth(unit, 0, today)?)));
    }
    // "den" and "i" were skipped above: "den här veckan"
    if head.is("har") && skipped > 0 {
        return Some((skipped + 2, Atom::of(calendar::nth(unit(after)?, 0, today)?)));
    }
    if head.any(&["past", "senaste", "trailing"]) {
        return unit(after).map(|unit| (skipped + 2, Atom::of(calendar::rolling(unit, 1, today))));
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
    Some((skipped + 2, Atom::of(calendar::nth(unit(after)?, offset, today)?)))
}

fn few(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    let words: Vec<&str> = tokens[at.min(tokens.len())..].iter().take(3).map(|token| token.norm.as_str()).collect();
    match words[..] {
        ["a", "couple", "of"] => Some((2, 3)),
        ["couple", "of", ..] | ["ett", "par", ..] => Some((2, 2)),
        ["couple", ..] | ["par", ..] => Some((2, 1)),
        ["few", ..] => Some((3, 1)),
        _ => None,
    }
}

/// "Q3", "q3 2025", "third quarter", "kvartal 3", "H1", "första halvåret".
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
            let (place, used) = numbers::place(tokens, at)?;
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
    let of = usize::from(tokens.get(at + used).is_some_and(|token| token.any(&["of", "i"])) && year_at(tokens, at + used + 1).is_some());
    let (year, more) = year_at(tokens, at + used + of).map_or((None, 0), |(year, used)| (Some(year), used + of));
    let held = year.unwrap_or_else(|| calendar::recent_year(first, today));
    let period = calendar::months_block(held, first, i32::try_from(months).ok()?)?;
    Some((used + more, Atom::yearly(period, year)))
}

/// "week 45", "vecka 45", "v45", "v. 45".
fn numbered_week(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let head = &tokens[at];
    let (number, used) = if head.any(&["week", "vecka", "v", "w", "wk"]) {
        let point = usize::from(tokens.get(at + 1).is_some_and(|token| token.fold == "."));
        (tokens.get(at + 1 + point)?.int()?, 2 + point)
    } else {
        (head.fold.strip_prefix(['v', 'w'])?.parse().ok()?, 1)
    };
    let (year, more) = year_at(tokens, at + used).map_or((None, 0), |(year, used)| (Some(year), used));
    let current = today.iso_week();
    let held = year.unwrap_or(if number > current.week() { current.year() - 1 } else { current.year() });
    Some((used + more, Atom::yearly(calendar::week(held, number)?, year)))
}

/// "1 october", "the 1st of oct 2026", "october 1st", "den 1:a oktober".
fn day_and_month(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let start = at + usize::from(tokens[at].any(&["the", "den"]));
    if let Some((day, used)) = day_number(tokens, start) {
        let mut next = start + used;
        if tokens.get(next).is_some_and(|token| token.is("of")) {
            next += 1;
        }
        if let Some((month, m)) = month_at(tokens, next) {
            let (year, y) = year_at(tokens, next + m).map_or((None, 0), |(year, used)| (Some(year), used));
            return Some((next + m + y - at, dated(day, month, year, today)?));
        }
        // "since the 1st", "den 1:a": a day of this month
        let led = at > 0 && tokens[at - 1].any(&["since", "from", "until", "between", "on", "sedan", "sen", "fran", "till", "mellan", "to"]);
        let ordinal = numbers::place(tokens, start).is_some() && start > at && led;
        if ordinal && tokens.get(start + used).is_none_or(|token| token.kind != Kind::Word || token.any(&["to", "till", "and", "och", "until"])) {
            let day = today.with_day(day)?;
            return Some((start + used - at, Atom::day(day)));
        }
        return None;
    }
    let (month, m) = month_at(tokens, at)?;
    let the = usize::from(tokens.get(at + m).is_some_and(|token| token.is("the")));
    let (day, used) = day_number(tokens, at + m + the)?;
    let comma = usize::from(tokens.get(at + m + the + used).is_some_and(|token| token.fold == ",") && year_at(tokens, at + m + the + used + 1).is_some());
    let end = at + m + the + used + comma;
    let (year, y) = year_at(tokens, end).map_or((None, 0), |(year, used)| (Some(year), used));
    Some((end + y - at, dated(day, month, year, today)?))
}

fn month_alone(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let (month, used) = month_at(tokens, at)?;
    let (year, more) = year_at(tokens, at + used).map_or((None, 0), |(year, used)| (Some(year), used));
    // "may" and "mars" are other words too: they need a date word before them or a year after.
    let doubtful = tokens[at].any(&["may", "mar", "march", "mars"]) && year.is_none();
    let led = at > 0
        && tokens[at - 1]
            .any(&["in", "since", "from", "for", "during", "of", "i", "sedan", "fran", "under", "until", "till", "to", "this", "and", "och", "-", "–"]);
    if doubtful && !led {
        return None;
    }
    let held = year.unwrap_or_else(|| calendar::recent_year(month, today));
    Some((used + more, Atom::yearly(calendar::month(held, month)?, year)))
}

fn weekday(tokens: &[Token], at: usize, today: NaiveDate) -> Parsed {
    let last = usize::from(tokens[at].any(&["last", "forra", "senaste", "in"]) && tokens.get(at + 1).is_some());
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
    let day = if back < 0 { calendar::add_days(today, -back) } else { before(today, back.unsigned_abs()) };
    Some((used, Atom::day(day)))
}

fn year_alone(tokens: &[Token], at: usize) -> Parsed {
    let led = at > 0 && tokens[at - 1].any(&["in", "during", "for", "under", "ar", "year", "i", "of", "since", "sedan", "from", "fran", "all"]);
    let (year, used) = year_at(tokens, at).filter(|_| led)?;
    let period = calendar::months_block(year, 1, 12)?;
    Some((used, Atom { year_given: true, ..Atom::of(period) }))
}

/// The day of a month: "1", "1st", "1:a", "första".
pub(super) fn day_number(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    let (day, used) = numbers::place(tokens, at).or_else(|| tokens.get(at)?.int().map(|day| (day, 1)))?;
    (1..=31).contains(&day).then_some((day, used))
}

/// A month's name, with the point of an abbreviation.
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
    let point =
        usize::from(tokens.get(at + 1).is_some_and(|token| token.fold == "." && token.glued) && tokens.get(at + 2).is_some_and(|t| t.kind == Kind::Number));
    Some((month, 1 + point))
}

/// A year near ours; other round numbers are prices.
pub(super) fn year_at(tokens: &[Token], at: usize) -> Option<(i32, usize)> {
    let token = tokens.get(at)?;
    let year = token.int().filter(|year| (2015..2036).contains(year) && token.fold.len() == 4)?;
    let iso = tokens.get(at + 1).is_some_and(|next| next.fold == "-" && next.glued) && tokens.get(at + 2).is_some_and(|t| t.kind == Kind::Number && t.glued);
    if iso {
        return None;
    }
    i32::try_from(year).ok().map(|year| (year, 1))
}

/// Words of dates, for the lexicon.
pub(super) const WORDS: &[&str] = &[
    "january",
    "januari",
    "february",
    "februari",
    "march",
    "april",
    "june",
    "juni",
    "july",
    "juli",
    "august",
    "augusti",
    "september",
    "october",
    "oktober",
    "november",
    "december",
    "today",
    "yesterday",
    "tomorrow",
    "idag",
    "igar",
    "imorgon",
    "forrgar",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mandag",
    "tisdag",
    "onsdag",
    "torsdag",
    "fredag",
    "lordag",
    "sondag",
    "mandags",
    "tisdags",
    "onsdags",
    "torsdags",
    "fredags",
    "lordags",
    "sondags",
    "week",
    "weeks",
    "weekend",
    "month",
    "months",
    "quarter",
    "quarters",
    "year",
    "years",
    "days",
    "vecka",
    "veckan",
    "veckor",
    "veckorna",
    "manad",
    "manaden",
    "manader",
    "manaderna",
    "kvartal",
    "kvartalet",
    "dagar",
    "dagarna",
    "helgen",
    "last",
    "previous",
    "past",
    "this",
    "current",
    "next",
    "forra",
    "foregaende",
    "senaste",
    "innevarande",
    "nasta",
    "denna",
    "since",
    "sedan",
    "until",
    "from",
    "fran",
    "between",
    "mellan",
    "during",
    "under",
    "hittills",
    "fjol",
    "till",
    "through",
    "start",
    "beginning",
    "borjan",
    "slutet",
    "half",
    "halvaret",
    "fortnight",
    "date",
    "back",
    "oct",
    "okt",
    "sept",
    "trailing",
    "kommande",
    "coming",
    "upcoming",
    "latest",
    "prior",
    "sista",
];
