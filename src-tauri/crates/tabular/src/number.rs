//! Parses numbers in the formats of spreadsheets. An ambiguous number is an error, because a value
//! could otherwise be wrong by a factor of a thousand.

use contract::ImportProblem;

/// The largest accepted amount, in whole units of the currency.
const MAX_UNITS: i64 = 1_000_000_000_000;

/// Micro-units in one unit of a currency.
pub const MICROS: i64 = 1_000_000;

/// Words around an amount, besides codes of three capital letters and signs such as `€`.
const CURRENCY_WORDS: [&str; 9] = ["kr", "Kr", "US", "CA", "AU", "A", "zł", "Kč", "Fr"];

/// The decimal sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimals {
    /// `1.234` is slightly more than one.
    Point,
    /// `1,234` is slightly more than one.
    Comma,
}

/// How the numbers of a column are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberFormat {
    /// The decimal sign.
    pub decimals: Decimals,
    /// Whether the cells of the column prove the decimal sign. If not, it is guessed from the file's
    /// separator, and an ambiguous number is refused.
    pub is_certain: bool,
    conflicts: bool,
}

impl NumberFormat {
    /// Returns a format that is the custom of a file but was not seen in its cells.
    pub fn with_assumed_decimals(decimals: Decimals) -> Self {
        Self { decimals, is_certain: false, conflicts: false }
    }

    /// Learns from a cell.
    pub(crate) fn observe(&mut self, cell: &str) {
        let Some(shown) = detect_decimal_sign(&strip_currency(cell)) else { return };
        if self.conflicts {
            return;
        }
        self.conflicts = self.is_certain && self.decimals != shown;
        self.is_certain = !self.conflicts;
        self.decimals = shown;
    }
}

/// Returns the decimal sign that a number shows, if it leaves no doubt.
fn detect_decimal_sign(text: &str) -> Option<Decimals> {
    let last = text.rfind(['.', ','])?;
    let sign = text[last..].chars().next()?;
    let is_single = text.matches(sign).count() == 1;
    let has_other = text.contains(if sign == '.' { ',' } else { '.' });
    let is_decimal = match (is_single, has_other) {
        (true, true) => true,
        (false, _) => false,
        (true, false) if text.len() - last - 1 != 3 => true,
        (true, false) => return None,
    };
    Some(if (sign == '.') == is_decimal { Decimals::Point } else { Decimals::Comma })
}

/// Parses an amount of money. Returns micro-units, rounded half up after the sixth decimal.
pub fn parse_amount(cell: &str, format: NumberFormat) -> Result<i64, ImportProblem> {
    let text = strip_currency(cell);
    if cell.trim().is_empty() {
        return Err(ImportProblem::AmountEmpty);
    }
    if text.starts_with('-') {
        return Err(ImportProblem::BelowZero { text: shorten_cell(cell) });
    }
    let (whole, fraction) =
        parts(text.trim_start_matches('+'), format).map_err(|doubt| match doubt {
            Doubt::NotANumber => ImportProblem::NotANumber { text: shorten_cell(cell) },
            Doubt::Ambiguous => ImportProblem::Ambiguous { text: shorten_cell(cell) },
        })?;
    let units: i64 = whole
        .parse()
        .ok()
        .filter(|u| *u <= MAX_UNITS)
        .ok_or_else(|| ImportProblem::TooLarge { text: shorten_cell(cell) })?;
    let digit = |at: usize| fraction.as_bytes().get(at).map_or(0, |b| i64::from(b - b'0'));
    let micros = (0..6).fold(0, |sum, at| sum * 10 + digit(at)) + i64::from(digit(6) >= 5);
    Ok(units * MICROS + micros)
}

/// Parses a whole number that is not negative.
pub fn parse_count(cell: &str) -> Result<i64, ImportProblem> {
    let text = strip_currency(cell);
    let groups: Vec<&str> = text.split(['.', ',']).collect();
    let grouped = groups.len() > 1
        && groups[0].len() <= 3
        && !groups[0].is_empty()
        && groups[1..].iter().all(|g| g.len() == 3);
    let digits = if groups.len() == 1 || grouped { groups.concat() } else { String::new() };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(ImportProblem::NotACount { text: shorten_cell(cell) });
    }
    digits
        .parse()
        .ok()
        .filter(|n| *n <= MAX_UNITS)
        .ok_or_else(|| ImportProblem::TooLarge { text: shorten_cell(cell) })
}

/// Returns the cell without currency, and without spaces and apostrophes between thousands.
fn strip_currency(cell: &str) -> String {
    let text: String = cell
        .trim()
        .chars()
        .filter(|c| !matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\'' | '’' | '$' | '€' | '£' | '¥'))
        .collect();
    if !text.contains(char::is_alphabetic) {
        return text;
    }
    let is_currency = |word: &str| {
        CURRENCY_WORDS.contains(&word)
            || (word.len() == 3 && word.bytes().all(|b| b.is_ascii_uppercase()))
    };
    let before = text.find(|c: char| !c.is_alphabetic()).unwrap_or(0);
    let text = if is_currency(&text[..before]) { &text[before..] } else { &text };
    let trimmed = text.trim_end_matches('.');
    let after = trimmed
        .char_indices()
        .rev()
        .take_while(|(_, c)| c.is_alphabetic())
        .last()
        .map_or(trimmed.len(), |(at, _)| at);
    if is_currency(&trimmed[after..]) { trimmed[..after].to_owned() } else { text.to_owned() }
}

/// Returns the sign between thousands in a cell, if it has one. All spaces are a space.
pub fn thousands_sign(cell: &str, format: NumberFormat) -> Option<char> {
    let signs: Vec<char> = cell.trim().chars().collect();
    signs.windows(3).find_map(|part| {
        let [before, sign, after] = part else { return None };
        if !before.is_ascii_digit() || !after.is_ascii_digit() {
            return None;
        }
        match (sign, format.decimals) {
            (' ' | '\u{a0}' | '\u{202f}', _) => Some(' '),
            ('\'' | '’', _) => Some('\''),
            (',', Decimals::Point) | ('.', Decimals::Comma) => Some(*sign),
            _ => None,
        }
    })
}

/// Returns a cell's text for a message.
pub fn shorten_cell(cell: &str) -> String {
    cell.trim().chars().take(40).collect()
}

/// Why a text is not an amount.
#[derive(Clone, Copy, Debug)]
enum Doubt {
    NotANumber,
    Ambiguous,
}

/// Splits a number into the digits before and after the decimal sign.
fn parts(text: &str, format: NumberFormat) -> Result<(String, String), Doubt> {
    const NOT: Doubt = Doubt::NotANumber;
    if text.is_empty()
        || !text.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',')
        || !text.contains(|c: char| c.is_ascii_digit())
    {
        return Err(NOT);
    }
    let signs: Vec<(usize, char)> =
        text.char_indices().filter(|(_, c)| !c.is_ascii_digit()).collect();
    let Some((last_at, last)) = signs.last().copied() else {
        return Ok((text.to_owned(), String::new()));
    };
    let several = signs.iter().filter(|(_, c)| *c == last).count() > 1;
    let mixed = signs.iter().any(|(_, c)| *c != last);
    if several && mixed {
        return Err(NOT);
    }
    let (before, after) = (&text[..last_at], &text[last_at + 1..]);
    let looks_like_thousands = after.len() == 3 && (1..=3).contains(&before.len()) && before != "0";
    let is_decimal = match (several, mixed, format.decimals, last) {
        (true, ..) => false,
        (_, true, ..) | (_, _, Decimals::Point, '.') | (_, _, Decimals::Comma, ',') => true,
        _ if looks_like_thousands && format.is_certain => false,
        _ if looks_like_thousands => return Err(Doubt::Ambiguous),
        _ => true,
    };
    if !is_decimal {
        return join_digit_groups(text, last).map(|digits| (digits, String::new())).ok_or(NOT);
    }
    let before = match signs.first() {
        Some((_, first)) if *first != last => join_digit_groups(before, *first).ok_or(NOT)?,
        _ if before.is_empty() => "0".to_owned(),
        _ => before.to_owned(),
    };
    Ok((before, after.to_owned()))
}

/// Joins groups of three digits.
fn join_digit_groups(text: &str, sign: char) -> Option<String> {
    let groups: Vec<&str> = text.split(sign).collect();
    let fits = (1..=3).contains(&groups[0].len()) && groups[1..].iter().all(|g| g.len() == 3);
    let digits = groups.concat();
    (fits && digits.bytes().all(|b| b.is_ascii_digit())).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_spreadsheets_write_them() {
        use Decimals::{Comma, Point};
        for (text, decimals, micros) in [
            ("0", Point, 0),
            ("12", Point, 12_000_000),
            ("12.5", Point, 12_500_000),
            ("1.234", Point, 1_234_000),
            ("1,234", Comma, 1_234_000),
            ("1,5", Point, 1_500_000),
            ("0,234", Point, 234_000),
            ("1,234.56", Point, 1_234_560_000),
            ("1.234,56", Comma, 1_234_560_000),
            ("1.234,56", Point, 1_234_560_000),
            ("1,234,567", Point, 1_234_567_000_000),
            ("1 234,50", Comma, 1_234_500_000),
            ("$1'234.50", Point, 1_234_500_000),
            (".5", Point, 500_000),
            ("0.0000005", Point, 1),
            ("0.30000000000000004", Point, 300_000),
        ] {
            assert_eq!(
                parse_amount(text, NumberFormat::with_assumed_decimals(decimals)),
                Ok(micros),
                "{text}"
            );
        }
    }

    #[test]
    fn a_number_with_two_meanings_or_none_is_refused() {
        use Decimals::{Comma, Point};
        for (text, decimals) in [
            ("", Point),
            ("-1", Point),
            ("abc", Point),
            ("1,234", Point),
            ("1.234", Comma),
            ("1,23,456", Point),
            ("1,2.3,4", Point),
            ("1e5", Point),
            (".", Point),
            ("9999999999999", Point),
            ("NaN", Point),
        ] {
            assert!(
                parse_amount(text, NumberFormat::with_assumed_decimals(decimals)).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn other_cells_of_the_column_decide_what_could_mean_two_things() {
        let mut format = NumberFormat::with_assumed_decimals(Decimals::Point);
        format.observe("1.234,50");
        assert_eq!(parse_amount("1.234", format), Ok(1_234_000_000));
        let mut format = NumberFormat::with_assumed_decimals(Decimals::Comma);
        format.observe("0.5");
        assert_eq!(parse_amount("1,234", format), Ok(1_234_000_000));
        format.observe("0,5");
        assert!(!format.is_certain, "cells that contradict each other decide nothing");
    }

    #[test]
    fn currencies_in_cells_are_left_out() {
        let format = NumberFormat::with_assumed_decimals(Decimals::Point);
        for text in ["SEK 12.50", "12.50 kr", "US$12.50", "€ 12.50", "12.50 kr.", "12.50 EUR"] {
            assert_eq!(parse_amount(text, format), Ok(12_500_000), "{text}");
        }
        assert!(parse_amount("12x", format).is_err());
    }

    #[test]
    fn the_sign_between_thousands_is_found() {
        use Decimals::{Comma, Point};
        for (text, decimals, sign) in [
            ("1,234.50", Point, Some(',')),
            ("1.234,50", Comma, Some('.')),
            ("1\u{a0}234,50 kr", Comma, Some(' ')),
            ("CHF 1'234.50", Point, Some('\'')),
            ("1234.50", Point, None),
            ("SEK 12", Comma, None),
        ] {
            assert_eq!(
                thousands_sign(text, NumberFormat::with_assumed_decimals(decimals)),
                sign,
                "{text}"
            );
        }
    }

    #[test]
    fn counts_are_whole() {
        for (text, n) in [
            ("0", 0),
            ("12345", 12_345),
            ("12,345", 12_345),
            ("12 345", 12_345),
            ("1.234.567", 1_234_567),
        ] {
            assert_eq!(parse_count(text), Ok(n), "{text}");
        }
        for text in ["", "-1", "1.5", "12,34", "x", "1,234,5"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }
}
