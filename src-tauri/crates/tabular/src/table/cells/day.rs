//! Parses days and moments as exports and people write them, in many languages. Whether 1/11/2026
//! is in January or November, and 26-11-01 in 2026 or 2001, is left open; the column decides it.

use std::ops::RangeInclusive;

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};

use super::{
    month::{find_month, is_filler, is_weekday},
    order::DayOrder,
};

/// The most bytes of a cell that can be a day.
const MAX_BYTES: usize = 64;
/// Years of which data can be. Others are rather days, such as those of 31/12/24 and 31/12/25.
const RECENT: RangeInclusive<u32> = 10..=29;

/// The day of a cell, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// It can only be this day.
    Sure(NaiveDate),
    /// Two numbers whose order is open, and the year.
    Open(u32, u32, i32),
    /// Two numbers whose order is open, and a year of two digits that can only come last.
    ShortLast(u32, u32, i32),
    /// Three numbers of which the first or the last is a year of two digits. The second is a month
    /// if it is the first.
    Short(u32, u32, u32),
    /// The same with points between the numbers: the first is the day or the year, never the month.
    Points(u32, u32, u32),
    /// Numbers with points between them, and a year of two digits that can only come last.
    PointsLast(NaiveDate),
    /// Eight digits, which can be a number, too.
    Digits(NaiveDate),
}

/// The content of a cell with a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DayCell {
    pub(crate) written: Written,
    /// The time of day, unless the cell has none.
    pub(crate) time: Option<NaiveTime>,
    /// Minutes east of UTC, if the cell says so.
    pub(crate) offset: Option<i32>,
}

impl DayCell {
    /// Returns the order that the numbers show.
    pub(crate) fn shown_order(&self) -> Option<DayOrder> {
        let (Written::Open(first, second, _) | Written::ShortLast(first, second, _)) = self.written
        else {
            return None;
        };
        match (first > 12, second > 12) {
            (true, false) => Some(DayOrder::DayMonthYear),
            (false, true) => Some(DayOrder::MonthDayYear),
            _ => None,
        }
    }

    /// Whether the cell can mean several days.
    pub(crate) fn is_open(&self) -> bool {
        match self.written {
            Written::Open(a, b, _) | Written::ShortLast(a, b, _) => a <= 12 && b <= 12 && a != b,
            Written::Short(a, b, c) => a != c || (a <= 12 && a != b),
            Written::Points(a, _, c) => a != c,
            Written::Sure(_) | Written::Digits(_) | Written::PointsLast(_) => false,
        }
    }

    /// Returns the day in this order.
    pub(crate) fn day(&self, order: DayOrder) -> Option<NaiveDate> {
        let (first, second, year) = match self.written {
            Written::Sure(day) | Written::Digits(day) => return Some(day),
            Written::PointsLast(day) => {
                return (order != DayOrder::YearMonthDay).then_some(day);
            }
            Written::Short(year, month, day) | Written::Points(year, month, day)
                if order == DayOrder::YearMonthDay =>
            {
                return NaiveDate::from_ymd_opt(full_year(year)?, month, day);
            }
            Written::Points(day, month, year) => {
                return NaiveDate::from_ymd_opt(full_year(year)?, month, day);
            }
            Written::Short(first, second, year) => (first, second, full_year(year)?),
            Written::Open(first, second, year) | Written::ShortLast(first, second, year) => {
                (first, second, year)
            }
        };
        match order {
            DayOrder::DayMonthYear => NaiveDate::from_ymd_opt(year, second, first),
            DayOrder::MonthDayYear => NaiveDate::from_ymd_opt(year, first, second),
            DayOrder::YearMonthDay => None,
        }
    }

    /// Returns the moment in this order. A cell without a time is midnight.
    pub(crate) fn moment(&self, order: DayOrder) -> Option<NaiveDateTime> {
        Some(self.day(order)?.and_time(self.time.unwrap_or_default()))
    }

    /// Whether the cell has a time other than midnight.
    pub(crate) fn has_time(&self) -> bool {
        self.time.is_some_and(|time| time != NaiveTime::MIN)
    }
}

/// Parses a cell with a day.
pub(crate) fn parse_day(cell: &[u8]) -> Option<DayCell> {
    if let Some(day) = parse_iso(cell) {
        return Some(DayCell { written: Written::Sure(day), time: None, offset: None });
    }
    if cell.len() > MAX_BYTES || cell.len() < 6 {
        return None;
    }
    let text = std::str::from_utf8(cell).ok()?.trim();
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (day, time, offset) = split_time(text)?;
    Some(DayCell { written: parse_written(day)?, time, offset })
}

/// Parses 2026-11-01.
#[inline]
fn parse_iso(cell: &[u8]) -> Option<NaiveDate> {
    let [a, b, c, d, b'-', e, f, b'-', g, h] = cell else { return None };
    let digit = |byte: &u8| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then_some(u32::from(digit))
    };
    let year = digit(a)? * 1000 + digit(b)? * 100 + digit(c)? * 10 + digit(d)?;
    let (month, day) = (digit(e)? * 10 + digit(f)?, digit(g)? * 10 + digit(h)?);
    make_day(i32::try_from(year).ok()?, month, day)
}

fn make_day(year: i32, month: u32, day: u32) -> Option<NaiveDate> {
    if (1900..=2200).contains(&year) { NaiveDate::from_ymd_opt(year, month, day) } else { None }
}

/// Splits a cell into the text of the day, the time and the offset.
fn split_time(text: &str) -> Option<(&str, Option<NaiveTime>, Option<i32>)> {
    let Some(colon) = text.find(':') else { return Some((text, None, None)) };
    let before = &text[..colon];
    let hour_digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
    if hour_digits == 0 || hour_digits > 2 {
        return None;
    }
    let start = colon - hour_digits;
    let day = text[..start].trim_end_matches(['T', 't', ' ', ',', '\u{a0}']);
    let (time, offset) = parse_time(&text[start..])?;
    Some((day, Some(time), offset))
}

/// Parses 13:45, 13:45:00.000, 1:45 PM, 13:45:00Z and 13:45:00+02:00.
fn parse_time(text: &str) -> Option<(NaiveTime, Option<i32>)> {
    let end =
        text.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(text.len());
    let (clock, rest) = text.split_at(end);
    let mut parts = clock.trim_end_matches('.').split(':');
    let mut hour: u32 = parts.next()?.parse().ok()?;
    let minute: u32 = two_digits(parts.next()?)?;
    let (second, micro) = match parts.next() {
        None => (0, 0),
        Some(part) => {
            let (whole, fraction) = part.split_once('.').unwrap_or((part, ""));
            let fraction: String = fraction.chars().chain("000000".chars()).take(6).collect();
            (two_digits(whole)?, fraction.parse().ok()?)
        }
    };
    if parts.next().is_some() {
        return None;
    }
    let mut rest = rest.trim();
    let lower = rest.get(..2).map(str::to_ascii_lowercase);
    if let Some(half) = lower.filter(|half| half == "am" || half == "pm") {
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour = hour % 12 + if half == "pm" { 12 } else { 0 };
        rest = rest[2..].trim();
    }
    let offset = parse_offset(rest)?;
    Some((NaiveTime::from_hms_micro_opt(hour, minute, second.min(59), micro)?, offset))
}

fn two_digits(text: &str) -> Option<u32> {
    if text.len() == 2 { text.parse().ok() } else { None }
}

#[allow(clippy::option_option, reason = "the outer option is the failure of parsing")]
fn parse_offset(text: &str) -> Option<Option<i32>> {
    if text.is_empty() {
        return Some(None);
    }
    // The names of other zones are ambiguous, so that they say no offset.
    let is_name = (2..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase());
    if is_name && text != "UTC" && text != "GMT" {
        return Some(None);
    }
    let text = text.trim_start_matches("UTC").trim_start_matches("GMT");
    if text.is_empty() || text.eq_ignore_ascii_case("z") {
        return Some(Some(0));
    }
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None if digits.len() == 4 && digits.is_ascii() => digits.split_at(2),
        None => (digits, "0"),
    };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours <= 14 && (0..60).contains(&minutes) && hours >= 0)
        .then_some(Some(sign * (hours * 60 + minutes)))
}

fn parse_written(text: &str) -> Option<Written> {
    if text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let day =
            make_day(text[..4].parse().ok()?, text[4..6].parse().ok()?, text[6..].parse().ok()?)?;
        return Some(Written::Digits(day));
    }
    if text.contains('年') {
        let numbers = text.replace(['年', '月'], "-").replace('日', "");
        // The sign says which number is the year, also if it has two digits.
        let century = if numbers.find('-') == Some(2) { "20" } else { "" };
        return parse_numbers(&format!("{century}{numbers}"));
    }
    if text.chars().any(char::is_alphabetic) {
        return parse_named(text).map(Written::Sure);
    }
    parse_numbers(text)
}

/// Parses three numbers with one sign between them.
fn parse_numbers(text: &str) -> Option<Written> {
    let sign = text.bytes().find(|byte| matches!(byte, b'-' | b'/' | b'.'))?;
    let mut numbers = text.trim_end_matches('.').split(char::from(sign)).map(str::trim);
    let (first, second, third) = (numbers.next()?, numbers.next()?, numbers.next()?);
    if numbers.next().is_some() {
        return None;
    }
    if first.len() == 4 {
        let year = i32::try_from(number(first)?).ok()?;
        return make_day(year, number(second)?, number(third)?).map(Written::Sure);
    }
    let (year, has_short_year) = (year_of(third)?, third.len() == 2);
    let has_two_digits = first.len() == 2;
    let (first, second, third) = (number(first)?, number(second)?, number(third)?);
    if !(1..=31).contains(&first) || !(1..=31).contains(&second) || (first > 12 && second > 12) {
        return None;
    }
    if !has_short_year {
        return if sign == b'.' {
            make_day(year, second, first).map(Written::Sure)
        } else {
            Some(Written::Open(first, second, year))
        };
    }
    let may_begin =
        has_two_digits && NaiveDate::from_ymd_opt(full_year(first)?, second, third).is_some();
    if sign == b'.' {
        // Between points the day comes first, unless its number is the likelier year.
        let is_open = may_begin && (is_recent(first) || !is_recent(third));
        return if is_open {
            Some(Written::Points(first, second, third))
        } else {
            make_day(year, second, first).map(Written::PointsLast)
        };
    }
    Some(if may_begin {
        Written::Short(first, second, third)
    } else {
        Written::ShortLast(first, second, year)
    })
}

/// Whether data can be of the year that two digits mean.
pub(crate) fn is_recent(digits: u32) -> bool {
    RECENT.contains(&digits)
}

/// Returns the year that two digits mean.
fn full_year(digits: u32) -> Option<i32> {
    Some(2000 + i32::try_from(digits).ok()?)
}

fn number(text: &str) -> Option<u32> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn year_of(text: &str) -> Option<i32> {
    let year: i32 = number(text)?.try_into().ok()?;
    match text.len() {
        2 => Some(2000 + year),
        4 if (1900..=2200).contains(&year) => Some(year),
        _ => None,
    }
}

/// Parses `Nov 1, 2026`, `1. November 2026`, `Thu, 5 Feb 2026`, `3 févr. 2026`.
fn parse_named(text: &str) -> Option<NaiveDate> {
    let (mut day, mut month, mut year, mut month_word) = (None, None, None, false);
    let lower = text.to_lowercase();
    let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | '.' | '-' | '/' | '\'');
    for word in lower.split(is_between).filter(|word| !word.is_empty()) {
        if let Some(found) = number(strip_ordinal(word)) {
            if word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit()) {
                year = year_of(word);
            } else if day.is_none() {
                day = Some(found);
            } else if year.is_none() {
                year = year_of(word);
            } else {
                return None;
            }
        } else if let Some(found) = find_month(word) {
            // "mar. 3 févr." is a Tuesday, so that a later month counts.
            if month.is_some() && !month_word {
                return None;
            }
            month = Some(found);
            month_word = is_weekday(word);
        } else if !is_weekday(word) && !is_filler(word) {
            return None;
        }
    }
    make_day(year?, month?, day?)
}

fn strip_ordinal(word: &str) -> &str {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && ["st", "nd", "rd", "th", "er", "º", "ª"].contains(&&word[digits..]) {
        &word[..digits]
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Option<String> {
        let cell = parse_day(text.as_bytes())?;
        match cell.written {
            Written::Open(..) | Written::ShortLast(..) => Some("open".to_owned()),
            Written::Short(..) | Written::Points(..) => Some("short".to_owned()),
            _ => cell.day(DayOrder::DayMonthYear).map(|day| day.to_string()),
        }
    }

    #[test]
    fn days_are_read_in_many_languages() {
        for (text, expected) in [
            ("2026-11-01", "2026-11-01"),
            ("2026/11/1", "2026-11-01"),
            ("20261101", "2026-11-01"),
            ("1.11.2026", "2026-11-01"),
            ("01.11.26", "2026-11-01"),
            ("Nov 1, 2026", "2026-11-01"),
            ("November 1st, 2026", "2026-11-01"),
            ("1 nov. 2026", "2026-11-01"),
            ("1. November 2026", "2026-11-01"),
            ("01-Nov-2026", "2026-11-01"),
            ("1-Nov-26", "2026-11-01"),
            ("Thu, 5 Feb 2026", "2026-02-05"),
            ("Thursday, February 5, 2026", "2026-02-05"),
            ("torsdag 5 februari 2026", "2026-02-05"),
            ("Do., 5. Feb. 2026", "2026-02-05"),
            ("jeu. 5 févr. 2026", "2026-02-05"),
            ("mar. 3 févr. 2026", "2026-02-03"),
            ("mar. 3 mars 2026", "2026-03-03"),
            ("3 mars 2026", "2026-03-03"),
            ("1 de noviembre de 2026", "2026-11-01"),
            ("1 dic 2026", "2026-12-01"),
            ("3 out. 2026", "2026-10-03"),
            ("5 paź 2026", "2026-10-05"),
            ("5 marraskuuta 2026", "2026-11-05"),
            ("5 мая 2026", "2026-05-05"),
            ("2026年11月1日", "2026-11-01"),
            ("2026-11-01 00:00:00", "2026-11-01"),
            ("2026-11-01 00:00:00 AST", "2026-11-01"),
            ("13/01/2026", "open"),
            ("1/11/2026", "open"),
            ("1/11/26", "open"),
            ("11/13/26", "open"),
            ("01/11/45", "open"),
            ("26-11-01", "short"),
            ("26/11/01", "short"),
            ("01/11/26", "short"),
            ("26-11-01 13:45", "short"),
            ("26.11.01", "short"),
            ("13.11.26", "short"),
            ("30.11.26", "2026-11-30"),
            ("1.11.26", "2026-11-01"),
            ("26年11月01日", "2026-11-01"),
        ] {
            assert_eq!(day(text).as_deref(), Some(expected), "{text}");
        }
        for text in
            ["", "soon", "2026", "1/13/13/2026", "31.2.2026", "12.50", "Oak 5 2026", "5 x 2026"]
        {
            assert_eq!(day(text), None, "{text}");
        }
    }

    #[test]
    fn moments_have_a_time_and_sometimes_an_offset() {
        let read = |text: &str| {
            let cell = parse_day(text.as_bytes()).unwrap();
            (cell.moment(DayOrder::MonthDayYear).unwrap().to_string(), cell.offset)
        };
        for (text, moment, offset) in [
            ("2026-11-01 13:45", "2026-11-01 13:45:00", None),
            ("2026-11-01T13:45:10Z", "2026-11-01 13:45:10", Some(0)),
            ("2026-11-01T13:45:10.5+02:00", "2026-11-01 13:45:10.500", Some(120)),
            ("11/1/2026 1:45 PM", "2026-11-01 13:45:00", None),
            ("11/1/2026, 12:05:00 AM", "2026-11-01 00:05:00", None),
            ("2026-11-01 13:45:10 UTC", "2026-11-01 13:45:10", Some(0)),
        ] {
            let read = read(text);
            assert_eq!(
                (read.0.trim_end_matches('0').trim_end_matches('.'), read.1),
                (moment.trim_end_matches('0'), offset),
                "{text}"
            );
        }
    }

    #[test]
    fn the_order_of_two_numbers_is_shown_by_one_above_twelve() {
        let cell = |text: &str| parse_day(text.as_bytes()).unwrap();
        assert_eq!(cell("13/01/2026").shown_order(), Some(DayOrder::DayMonthYear));
        assert_eq!(cell("01/13/2026").shown_order(), Some(DayOrder::MonthDayYear));
        assert_eq!(cell("01/02/2026").shown_order(), None);
        assert!(cell("01/02/2026").is_open());
        assert!(!cell("02/02/2026").is_open(), "both orders give one day");
    }

    #[test]
    fn a_year_of_two_digits_is_the_first_or_the_last_number() {
        let cell = parse_day(b"26-11-01").unwrap();
        assert!(cell.is_open() && cell.shown_order().is_none());
        let read = |order| cell.day(order).map(|day| day.to_string());
        assert_eq!(read(DayOrder::YearMonthDay).as_deref(), Some("2026-11-01"));
        assert_eq!(read(DayOrder::DayMonthYear).as_deref(), Some("2001-11-26"));
        assert_eq!(read(DayOrder::MonthDayYear), None);
        let last = parse_day(b"11/13/26").unwrap();
        assert_eq!(last.day(DayOrder::YearMonthDay), None);
        assert_eq!(last.shown_order(), Some(DayOrder::MonthDayYear));
        assert!(!parse_day(b"11/11/11").unwrap().is_open(), "all orders give one day");
        let points = parse_day(b"26.11.01").unwrap();
        let read = |order| points.day(order).map(|day| day.to_string());
        assert_eq!(read(DayOrder::YearMonthDay).as_deref(), Some("2026-11-01"));
        for order in [DayOrder::DayMonthYear, DayOrder::MonthDayYear] {
            assert_eq!(read(order).as_deref(), Some("2001-11-26"), "the month is in the middle");
        }
    }
}
