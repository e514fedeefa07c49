//! Parses days in the formats of exports. Whether 1/11/2026 is in January or November is decided
//! from the other cells of its column.

use chrono::NaiveDate;
use contract::data::DateOrder;

/// How the dates of a column are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DateFormat {
    /// None if the column does not show it.
    pub order: Option<DateOrder>,
    /// Whether the column has a date that needs the order.
    pub needs_order: bool,
    conflicts: bool,
}

/// The first letters of the months in English, Swedish and German.
const MONTHS: [&[&str]; 12] = [
    &["jan", "jän"],
    &["feb"],
    &["mar", "mär"],
    &["apr"],
    &["may", "maj", "mai"],
    &["jun"],
    &["jul"],
    &["aug"],
    &["sep"],
    &["oct", "okt"],
    &["nov"],
    &["dec", "dez"],
];

enum Parts {
    Known(NaiveDate),
    /// Two numbers whose order is unknown, and the year.
    Open(u32, u32, i32),
}

impl DateFormat {
    /// Returns a format with an order that someone has decided.
    pub fn with_order(order: DateOrder) -> Self {
        Self { order: Some(order), ..Self::default() }
    }

    /// Learns from a cell.
    pub(crate) fn observe(&mut self, cell: &str) {
        let Some(Parts::Open(first, second, _)) = parts(cell) else { return };
        self.needs_order = true;
        let shown = match (first > 12, second > 12) {
            (true, false) => DateOrder::DayFirst,
            (false, true) => DateOrder::MonthFirst,
            _ => return,
        };
        self.conflicts |= self.order.is_some_and(|order| order != shown);
        self.order = Some(shown);
    }

    /// Whether a cell of the column can be read in two ways.
    pub fn is_ambiguous(&self) -> bool {
        self.needs_order && self.order.is_none()
    }

    /// Whether the cells of the column contradict each other.
    pub fn has_conflict(&self) -> bool {
        self.conflicts
    }

    /// Parses a day. Returns None if the cell is not a day, or if its order is unknown.
    pub fn parse(&self, cell: &str) -> Option<NaiveDate> {
        match parts(cell)? {
            Parts::Known(day) => Some(day),
            Parts::Open(first, second, year) => {
                let (day, month) = match self.order {
                    Some(DateOrder::DayFirst) => (first, second),
                    Some(DateOrder::MonthFirst) => (second, first),
                    None if first == second => (first, second),
                    None => return None,
                };
                NaiveDate::from_ymd_opt(year, month, day)
            }
        }
    }
}

/// Whether a cell is written as a day.
pub(crate) fn is_day(cell: &str) -> bool {
    parts(cell).is_some()
}

fn parts(cell: &str) -> Option<Parts> {
    let text = without_time(cell.trim());
    if text.len() == 8 && text.bytes().all(|b| b.is_ascii_digit()) {
        let ymd = (text[..4].parse().ok()?, text[4..6].parse().ok()?, text[6..].parse().ok()?);
        return NaiveDate::from_ymd_opt(ymd.0, ymd.1, ymd.2).map(Parts::Known);
    }
    if text.bytes().any(|b| b.is_ascii_alphabetic()) {
        return named_month(text).map(Parts::Known);
    }
    let sign = text.bytes().find(|b| matches!(b, b'-' | b'/' | b'.'))?;
    let mut numbers = text.trim_end_matches('.').split(char::from(sign));
    let (first, second, third) = (numbers.next()?, numbers.next()?, numbers.next()?);
    if numbers.next().is_some() {
        return None;
    }
    if first.len() == 4 {
        let day = NaiveDate::from_ymd_opt(
            number(first)?.try_into().ok()?,
            number(second)?,
            number(third)?,
        );
        return day.map(Parts::Known);
    }
    let year = year(third)?;
    let (first, second) = (number(first)?, number(second)?);
    if !(1..=31).contains(&first) || !(1..=31).contains(&second) || (first > 12 && second > 12) {
        return None;
    }
    if sign == b'.' {
        return NaiveDate::from_ymd_opt(year, second, first).map(Parts::Known);
    }
    Some(Parts::Open(first, second, year))
}

/// Removes the time of midnight.
fn without_time(text: &str) -> &str {
    match text.find(['T', ' ']) {
        Some(at) if text[at + 1..].starts_with("00:00") || text[at + 1..].starts_with("0:00") => {
            &text[..at]
        }
        _ => text,
    }
}

fn number(text: &str) -> Option<u32> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn year(text: &str) -> Option<i32> {
    let year: i32 = number(text)?.try_into().ok()?;
    match text.len() {
        2 => Some(2000 + year),
        4 => Some(year),
        _ => None,
    }
}

/// Parses `Nov 1, 2026`, `1 nov. 2026` and `1. November 2026`.
fn named_month(text: &str) -> Option<NaiveDate> {
    let (mut day, mut month, mut found_year) = (None, None, None);
    for word in text.split([' ', ',', '.', '-', '/']).filter(|word| !word.is_empty()) {
        if let Some(number) = number(word) {
            if word.len() == 4 {
                found_year = year(word);
            } else {
                day = Some(number);
            }
        } else {
            let lower = word.to_lowercase();
            let at = MONTHS.iter().position(|names| names.iter().any(|n| lower.starts_with(n)))?;
            month = u32::try_from(at + 1).ok();
        }
    }
    NaiveDate::from_ymd_opt(found_year?, month?, day?)
}
