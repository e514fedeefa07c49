//! Parses numbers in the formats of spreadsheets. An ambiguous number is an error, because a value
//! could otherwise be wrong by a factor of a thousand.

use contract::ImportProblem;

/// The largest accepted amount, in whole units of the currency.
const MAX_UNITS: i64 = 1_000_000_000_000;

/// How a file writes decimals, derived from its separator of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decimals {
    /// Cells are separated by commas or tabs: `1.234` is slightly more than one.
    Point,
    /// Cells are separated by semicolons, as in countries with a decimal comma: `1,234` is slightly
    /// more than one.
    Comma,
}

/// Parses an amount of money. Returns micro-units, rounded half up after the sixth decimal.
pub(crate) fn money(cell: &str, decimals: Decimals) -> Result<i64, ImportProblem> {
    let text = strip_currency(cell);
    if text.is_empty() {
        return Err(ImportProblem::AmountEmpty);
    }
    if text.starts_with('-') {
        return Err(ImportProblem::BelowZero { text: shorten_cell(cell) });
    }
    let (whole, fraction) =
        parts(text.trim_start_matches('+'), decimals).map_err(|doubt| match doubt {
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
    Ok(units * crate::money::MICROS + micros)
}

/// Parses a whole number that is not negative.
pub(crate) fn count(cell: &str) -> Result<i64, ImportProblem> {
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

/// Returns the cell without currency signs, and without spaces and apostrophes between thousands.
fn strip_currency(cell: &str) -> String {
    cell.trim()
        .chars()
        .filter(|c| !matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\'' | '’' | '$' | '€' | '£'))
        .collect()
}

/// Returns a cell's text for a message.
pub(crate) fn shorten_cell(cell: &str) -> String {
    cell.trim().chars().take(40).collect()
}

/// Why a text is not an amount.
#[derive(Clone, Copy, Debug)]
enum Doubt {
    NotANumber,
    Ambiguous,
}

/// Splits a number into the digits before and after the decimal sign.
fn parts(text: &str, decimals: Decimals) -> Result<(String, String), Doubt> {
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
    let is_decimal = match (several, mixed, decimals, last) {
        (true, ..) => false,
        (_, true, ..) | (_, _, Decimals::Point, '.') | (_, _, Decimals::Comma, ',') => true,
        _ if looks_like_thousands => return Err(Doubt::Ambiguous),
        _ => true,
    };
    if !is_decimal {
        return whole(text, last).map(|digits| (digits, String::new())).ok_or(NOT);
    }
    let before = match signs.first() {
        Some((_, first)) if *first != last => whole(before, *first).ok_or(NOT)?,
        _ if before.is_empty() => "0".to_owned(),
        _ => before.to_owned(),
    };
    Ok((before, after.to_owned()))
}

/// Joins groups of three digits.
fn whole(text: &str, sign: char) -> Option<String> {
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
            assert_eq!(money(text, decimals), Ok(micros), "{text}");
        }
    }

    #[test]
    fn what_means_two_things_or_nothing_is_refused() {
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
            assert!(money(text, decimals).is_err(), "{text}");
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
            assert_eq!(count(text), Ok(n), "{text}");
        }
        for text in ["", "-1", "1.5", "12,34", "x", "1,234,5"] {
            assert!(count(text).is_err(), "{text}");
        }
    }
}
