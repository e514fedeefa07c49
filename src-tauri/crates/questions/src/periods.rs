//! Reads periods: relative ones, named months, quarters, weeks and years, ranges, "since" and "until".
//! A period stays relative if it was asked so. Days with a number or a weekday are read by
//! `language::dates`. It must not know names of the source.

use chrono::{Datelike, NaiveDate};
use contract::metric_query::{CalendarUnit, Period, Span, read_metric_query};
use language::dates;
use serde_json::json;

use crate::{
    meaning::{Meaning, Relative},
    numbers::quantity,
    scan::Scan,
    tokens::{Kind, Token},
};

mod parts;
mod range;

pub(crate) use range::since;

/// The words that a day is read from.
const WORDS_OF_DAY: usize = 9;

/// A period in a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundPeriod {
    /// The token after it.
    pub end: usize,
    /// The period.
    pub period: Period,
    /// The periods at both ends of a range.
    pub ends: Option<Box<(Period, Period)>>,
}

impl FoundPeriod {
    fn new(end: usize, period: Period) -> Self {
        Self { end, period, ends: None }
    }
}

/// Returns the periods that begin at a token, the shortest first.
pub(crate) fn periods_at(scan: &Scan<'_>, at: usize) -> Vec<FoundPeriod> {
    let mut found: Vec<FoundPeriod> = Vec::new();
    found.extend(to_date(scan, at));
    found.extend(basic(scan, at).map(|(end, period)| FoundPeriod::new(end, period)));
    found.extend(parts::part(scan, at));
    found.extend(range::range(scan, at));
    found.sort_by_key(|period| period.end);
    found
}

/// Reads "so far in November" and "November so far". Days to come have no data.
fn to_date(scan: &Scan<'_>, at: usize) -> Option<FoundPeriod> {
    if let Some(next) = scan.end_of(at, &Meaning::ToDate) {
        let next = scan.end_of(next, &Meaning::In).unwrap_or(next);
        let (end, period) = basic(scan, next)?;
        return Some(FoundPeriod::new(end, that_is_over(period)));
    }
    let (next, period) = basic(scan, at)?;
    let end = scan.end_of(next, &Meaning::ToDate)?;
    Some(FoundPeriod::new(end, that_is_over(period)))
}

/// Returns the part of a period that is over.
fn that_is_over(period: Period) -> Period {
    match period {
        Period::This(unit) if unit != CalendarUnit::Day => Period::ToDate(unit),
        other => other,
    }
}

/// Reads a period that is no range. The longest reading counts.
fn basic(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let found = [
        whole_phrase(scan, at),
        relative(scan, at),
        month(scan, at),
        quarter(scan, at),
        half(scan, at),
        days_ago(scan, at),
        week(scan, at),
        year(scan, at).map(|(end, year)| (end, Period::Year(year))),
        day(scan, at),
        written(scan, at),
        week_of(scan, at),
        ago(scan, at),
        parts::before_last(scan, at),
        parts::day_of_month(scan, at),
    ];
    found.into_iter().flatten().max_by_key(|(end, _)| *end)
}

/// Reads a phrase that is a period, such as "yesterday".
fn whole_phrase(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let (end, word) = scan.phrase(at, |meaning| match meaning {
        Meaning::Period(word) => Some(word.clone()),
        _ => None,
    })?;
    Some((end, period_word(&word)?))
}

/// Returns the period that queries write as a word.
pub(crate) fn period_word(word: &str) -> Option<Period> {
    read_metric_query(&json!({"measures": ["rows"], "period": word})).ok()?.period
}

/// Reads "last month", "the past 30 days", "this year so far", "last October".
fn relative(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let (next, relative) = scan.phrase(at, |meaning| match meaning {
        Meaning::Relative(relative) => Some(*relative),
        _ => None,
    })?;
    if let Some((after, count)) = quantity(scan.tokens, next, scan.lexicon)
        && let Some(count) = count.count()
        && let Some((end, unit)) =
            unit(scan, scan.end_of(after, &Meaning::Whole).unwrap_or(scan.skip_empty(after)))
    {
        let is_past = relative != Relative::This;
        return is_past.then(|| (end, Period::Last(span(unit, count))));
    }
    if let Some((end, month)) = month_name(scan, next).filter(|_| relative != Relative::This) {
        let today = scan.today();
        let year = today.year() - i32::from(month >= today.month());
        return Some((end, month_of(year, month)));
    }
    if let Some(found) = weekend(scan, next).filter(|_| relative != Relative::This) {
        return Some(found);
    }
    let (end, unit) = unit(scan, next)?;
    let period = match relative {
        Relative::Previous => Period::Previous(unit),
        Relative::This => match scan.end_of(end, &Meaning::ToDate) {
            Some(end) => return Some((end, Period::ToDate(unit))),
            None => Period::This(unit),
        },
        Relative::Recent => match unit {
            CalendarUnit::Day => Period::Previous(CalendarUnit::Day),
            CalendarUnit::Week => Period::Last(Span::Days(7)),
            CalendarUnit::Month => Period::Last(Span::Days(30)),
            CalendarUnit::Quarter => Period::Last(Span::Months(3)),
            CalendarUnit::Year => Period::Last(Span::Months(12)),
        },
    };
    Some((end, period))
}

/// Reads the weekend that is over last.
fn weekend(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let (end, _) = scan.phrase(at, |meaning| match meaning {
        Meaning::Weekdays(days) if *days == [6, 7] => Some(()),
        _ => None,
    })?;
    let today = scan.today();
    let past = today.weekday().number_from_monday();
    let last = back(today, CalendarUnit::Day, past)?;
    let first = back(last, CalendarUnit::Day, 1)?;
    Some((end, Period::Range { from: Some(first), to: Some(last) }))
}

fn unit(scan: &Scan<'_>, at: usize) -> Option<(usize, CalendarUnit)> {
    scan.phrase(at, |meaning| match meaning {
        Meaning::Unit(unit) => Some(*unit),
        _ => None,
    })
}

/// Returns a length of time.
pub(crate) fn span(unit: CalendarUnit, count: u32) -> Span {
    match unit {
        CalendarUnit::Day => Span::Days(count),
        CalendarUnit::Week => Span::Weeks(count),
        CalendarUnit::Month => Span::Months(count),
        CalendarUnit::Quarter => Span::Quarters(count),
        CalendarUnit::Year => Span::Years(count),
    }
}

fn month_name(scan: &Scan<'_>, at: usize) -> Option<(usize, u32)> {
    scan.phrase(at, |meaning| match meaning {
        Meaning::Month(month) => Some(*month),
        _ => None,
    })
}

fn month(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let (end, month) = month_name(scan, at)?;
    let today = scan.today();
    let (end, year) = year_after(scan, end).unwrap_or_else(|| {
        // Without a year, it is the last such month that has begun, or the next one if the text says what will
        // be.
        let year = match scan.is_about_the_future() {
            true => today.year() + i32::from(month < today.month()),
            false => today.year() - i32::from(month > today.month()),
        };
        (end, year)
    });
    Some((end, month_of(year, month)))
}

fn month_of(year: i32, month: u32) -> Period {
    Period::Month(format!("{year:04}-{month:02}"))
}

fn quarter(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let (end, quarter) = scan.phrase(at, |meaning| match meaning {
        Meaning::Quarter(quarter) => Some(*quarter),
        _ => None,
    })?;
    let written = |year: i32| Period::Quarter(format!("{year:04}-Q{quarter}"));
    if let Some((end, year)) = year_after(scan, end) {
        return Some((end, written(year)));
    }
    let year = scan.today().year();
    let begins = |period: &Period| scan.days_of(period).is_some_and(|(day, _)| day <= scan.today());
    // The year of a source can begin in another month.
    let found = [year + 1, year].into_iter().map(written).find(begins);
    Some((end, found.unwrap_or_else(|| written(year - 1))))
}

/// Reads "the day before yesterday".
fn days_ago(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let (end, days) = scan.phrase(at, |meaning| match meaning {
        Meaning::DaysAgo(days) => Some(*days),
        _ => None,
    })?;
    Some((end, day_of(back(scan.today(), CalendarUnit::Day, days)?)))
}

/// Reads "H1 2026" as its two quarters.
fn half(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let (end, half) = scan.phrase(at, |meaning| match meaning {
        Meaning::Half(half) => Some(*half),
        _ => None,
    })?;
    let month = month(scan, scan.skip_empty(end)).and_then(|(end, month)| {
        let (first, last) = scan.days_of(&month)?;
        let middle = first.with_day(15)?;
        let (from, to) = if half == 1 { (first, middle) } else { (middle.succ_opt()?, last) };
        Some((end, Period::Range { from: Some(from), to: Some(to) }))
    });
    if month.is_some() {
        return month;
    }
    let today = scan.today();
    let (end, year) = year_after(scan, end)
        .unwrap_or_else(|| (end, today.year() - i32::from(half == 2 && today.month() < 7)));
    let quarter = |number: u32| Period::Quarter(format!("{year:04}-Q{number}"));
    let (from, _) = scan.days_of(&quarter(2 * half - 1))?;
    let (_, to) = scan.days_of(&quarter(2 * half))?;
    Some((end, Period::Range { from: Some(from), to: Some(to) }))
}

/// Reads "week 42", "vecka 42 2026", "w42".
fn week(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let token = scan.tokens.get(at)?;
    let number_at = |at: usize| scan.tokens.get(at).and_then(Token::whole);
    let joined = token.fold.strip_prefix(['w', 'v']).and_then(|week| week.parse::<u32>().ok());
    let (end, week) = match (joined, unit(scan, at)) {
        (Some(week), _) => (at + 1, week),
        (None, Some((next, CalendarUnit::Week))) => {
            // "v. 42"
            let is_point = scan.tokens.get(next).is_some_and(|token| token.fold == ".");
            let next = next + usize::from(is_point);
            (next + 1, number_at(next)?)
        }
        (None, _) => return None,
    };
    if !(1..=53).contains(&week) {
        return None;
    }
    let today = scan.today();
    let (end, year) = year_after(scan, end).unwrap_or_else(|| {
        let this = today.iso_week();
        (end, this.year() - i32::from(week > this.week()))
    });
    Some((end, Period::Week(format!("{year:04}-W{week:02}"))))
}

/// Reads "the week of 3 November" and "the week starting 2 November".
fn week_of(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let (next, _) = unit(scan, at).filter(|(_, unit)| *unit == CalendarUnit::Week)?;
    let starting = scan.end_of(next, &Meaning::Starting);
    // "By week from 3 November" is another thing.
    let is_of = |at: usize| {
        let word = scan.tokens.get(at).map(|token| token.fold.as_str());
        word.is_some_and(|word| scan.lexicon.is_empty_word(word)) && scan.phrases_at(at).is_empty()
    };
    let begin = starting.or_else(|| is_of(next).then_some(next + 1))?;
    let (end, found) = written(scan, begin).or_else(|| day(scan, begin))?;
    let (first, last) = scan.days_of(&found).filter(|(first, last)| first == last)?;
    let begins = first.weekday() == chrono::Weekday::Mon;
    let week = first.iso_week();
    let of_week = Period::Week(format!("{:04}-W{:02}", week.year(), week.week()));
    if begins || starting.is_none() {
        return Some((end, of_week));
    }
    let to = last.checked_add_days(chrono::Days::new(6))?;
    Some((end, Period::Range { from: Some(first), to: Some(to) }))
}

/// The most years from today of a year behind a word that may be a bound: "over 2000" is an amount.
const NEAR: i64 = 10;

/// Whether a number behind a bound is too far from today to be a year.
fn is_bounded_amount(scan: &Scan<'_>, at: usize, year: i64) -> bool {
    let bound = |meaning: &Meaning| matches!(meaning, Meaning::Bound(_)).then_some(());
    let is_bound = |from: &usize| scan.phrase(*from, bound).is_some_and(|(end, ())| end == at);
    let is_far = (i64::from(scan.today().year()) - year).abs() > NEAR;
    is_far && (0..at).any(|from| is_bound(&from))
}

/// Reads a year alone.
fn year(scan: &Scan<'_>, at: usize) -> Option<(usize, i32)> {
    let token = scan.tokens.get(at)?;
    let year =
        token.whole().filter(|year| (1990..=2100).contains(year) && token.fold.len() == 4)?;
    let is_year = !is_bounded_amount(scan, at, i64::from(year));
    Some((at + 1, i32::try_from(year).ok().filter(|_| is_year)?))
}

/// Reads the year after a month, quarter or week: "2025", "last year".
fn year_after(scan: &Scan<'_>, at: usize) -> Option<(usize, i32)> {
    if let Some(found) = year(scan, at).or_else(|| year(scan, scan.skip_empty(at))) {
        return Some(found);
    }
    let named = whole_phrase(scan, at).or_else(|| relative(scan, at))?;
    match named {
        (end, Period::Previous(CalendarUnit::Year)) => Some((end, scan.today().year() - 1)),
        (end, Period::This(CalendarUnit::Year)) => Some((end, scan.today().year())),
        _ => None,
    }
}

/// Reads a day or month in digits: "2026-11-03", "2026-11", "3.11.2026", "11/25/2026".
fn written(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    if let Some((end, [a, b, year])) = three_numbers(scan.tokens, at) {
        let has_month_first = |at: usize| {
            three_numbers(scan.tokens, at).is_some_and(|(_, [_, second, _])| second > 12)
        };
        let is_month_first = (0..scan.tokens.len()).any(has_month_first);
        let (day, month) = if is_month_first { (b, a) } else { (a, b) };
        let found = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
        return Some((end, day_of(found)));
    }
    let text = scan.tokens.get(at).map(|token| token.fold.as_str())?;
    if let Ok(day) = text.parse::<NaiveDate>() {
        return Some((at + 1, day_of(day)));
    }
    let first = format!("{text}-01").parse::<NaiveDate>().ok().filter(|_| text.len() == 7)?;
    Some((at + 1, month_of(first.year(), first.month())))
}

/// Returns the three numbers of a day with strokes or points: "3/11/2026", "3.11.2026".
fn three_numbers(tokens: &[Token], at: usize) -> Option<(usize, [u32; 3])> {
    let text = tokens.get(at).filter(|token| token.kind == Kind::Number)?.fold.as_str();
    let points: Vec<&str> = text.split('.').collect();
    if let [a, b, year] = points[..] {
        let is_day = a.len() <= 2 && b.len() <= 2 && year.len() == 4;
        return is_day.then_some((at + 1, [a.parse().ok()?, b.parse().ok()?, year.parse().ok()?]));
    }
    let sign = |at: usize| tokens.get(at).is_some_and(|sign| sign.fold == "/" && sign.is_glued);
    let number = |at: usize| tokens.get(at).and_then(Token::whole);
    let year = tokens.get(at + 4).filter(|year| year.is_glued && year.fold.len() == 4)?;
    let is_day = sign(at + 1) && sign(at + 3);
    is_day.then_some((at + 5, [number(at)?, number(at + 2)?, year.whole()?]))
}

fn day_of(day: NaiveDate) -> Period {
    Period::Range { from: Some(day), to: Some(day) }
}

/// Reads a day that needs a number or a weekday: "3 Nov 2026", "1-15 oktober", "friday".
fn day(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let token = scan.tokens.get(at)?;
    let leads = token.kind == Kind::Number
        || is_weekday(&token.fold)
        || month_name(scan, at).is_some()
        || scan.end_of(at, &Meaning::Between).is_some()
        || (scan.lexicon.is_empty_word(&token.fold)
            && scan.tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Number))
        || scan.end_of(at, &Meaning::Relative(Relative::Previous)).is_some();
    if !leads {
        return None;
    }
    let window: Vec<language::Token> =
        scan.tokens[at..].iter().take(WORDS_OF_DAY).map(plain_token).collect();
    let found = dates::find_period(&window, scan.today()).filter(|found| found.at.start == 0)?;
    let words = window.get(found.at.clone())?;
    // Such days are read with the order of day and month that all of them have.
    if (at..at + words.len()).any(|place| three_numbers(scan.tokens, place).is_some()) {
        return None;
    }
    let is_year = |word: &language::Token| word.fold.len() == 4;
    let is_number =
        |word: &language::Token| word.kind == language::TokenKind::Number && !is_year(word);
    let is_counted = scan.phrase(at, |m| matches!(m, Meaning::Relative(_)).then_some(())).is_some();
    let is_day = words.iter().any(|word| is_weekday(&word.fold))
        || (!is_counted
            && words.iter().any(is_number)
            && (at..at + words.len())
                .any(|place| month_name(scan, place).is_some() || scan.tokens[place].fold == "/"));
    let period = Period::Range { from: Some(found.start?), to: Some(found.end?) };
    let is_bounded = matches!(&period, Period::Range { from, to } if from <= to);
    (is_day && is_bounded).then_some((at + found.at.end, period))
}

fn is_weekday(word: &str) -> bool {
    const ENDS: [&str; 7] = ["mon", "tues", "wednes", "thurs", "fri", "satur", "sun"];
    const DAGS: [&str; 7] = ["man", "tis", "ons", "tors", "fre", "lor", "son"];
    let begins = |ending: &str, names: &[&str]| {
        word.strip_suffix(ending).is_some_and(|rest| names.contains(&rest))
    };
    begins("day", &ENDS) || ["dag", "dagen", "dags"].iter().any(|ending| begins(ending, &DAGS))
}

fn plain_token(token: &Token) -> language::Token {
    language::Token {
        raw: token.fold.clone(),
        fold: token.fold.clone(),
        norm: token.fold.clone(),
        kind: match token.kind {
            Kind::Word => language::TokenKind::Word,
            Kind::Number => language::TokenKind::Number,
            Kind::Sign => language::TokenKind::Punct,
        },
        glued: token.is_glued,
        part: false,
    }
}

/// Reads "two months ago", "a year ago" and "för två månader sedan": the whole unit.
fn ago(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let (after, count) = match quantity(scan.tokens, at, scan.lexicon) {
        Some((after, count)) => (after, count.count()?),
        None if scan.lexicon.is_empty_word(&scan.tokens.get(at)?.fold)
            || scan.end_of(at, &Meaning::Per).is_some() =>
        {
            (at + 1, 1)
        }
        None => return None,
    };
    let (next, unit) = unit(scan, after)?;
    let end = scan.end_of(next, &Meaning::Ago)?;
    let day = back(scan.today(), unit, count)?;
    let period = match unit {
        CalendarUnit::Day => day_of(day),
        CalendarUnit::Week => {
            let week = day.iso_week();
            Period::Week(format!("{:04}-W{:02}", week.year(), week.week()))
        }
        CalendarUnit::Month => month_of(day.year(), day.month()),
        CalendarUnit::Quarter => {
            Period::Quarter(format!("{:04}-Q{}", day.year(), day.month().div_ceil(3)))
        }
        CalendarUnit::Year => Period::Year(day.year()),
    };
    Some((end, period))
}

/// Returns the day that is some units later.
pub(crate) fn forward(day: NaiveDate, unit: CalendarUnit, count: u32) -> Option<NaiveDate> {
    use chrono::{Days, Months};
    match unit {
        CalendarUnit::Day => day.checked_add_days(Days::new(count.into())),
        CalendarUnit::Week => day.checked_add_days(Days::new(7 * u64::from(count))),
        CalendarUnit::Month => day.checked_add_months(Months::new(count)),
        CalendarUnit::Quarter => day.checked_add_months(Months::new(count.checked_mul(3)?)),
        CalendarUnit::Year => day.checked_add_months(Months::new(count.checked_mul(12)?)),
    }
}

/// Returns the day that is some units earlier.
pub(crate) fn back(day: NaiveDate, unit: CalendarUnit, count: u32) -> Option<NaiveDate> {
    use chrono::{Days, Months};
    match unit {
        CalendarUnit::Day => day.checked_sub_days(Days::new(count.into())),
        CalendarUnit::Week => day.checked_sub_days(Days::new(7 * u64::from(count))),
        CalendarUnit::Month => day.checked_sub_months(Months::new(count)),
        CalendarUnit::Quarter => day.checked_sub_months(Months::new(count.checked_mul(3)?)),
        CalendarUnit::Year => day.checked_sub_months(Months::new(count.checked_mul(12)?)),
    }
}
