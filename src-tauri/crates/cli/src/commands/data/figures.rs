//! Formats numbers for people from their exact digits: groups of three, decimals, percentages. No
//! number is converted to a float.

use contract::result::ValueFormat;
use serde_json::Value;

/// The number of decimal places of amounts.
const MONEY: usize = 2;
/// The maximum number of decimal places of an amount below 1, such as a price per click.
const SMALL_MONEY: usize = 4;
/// The maximum number of decimal places of other numbers.
const NUMBER: usize = 4;
/// The maximum number of decimal places of percentages.
const PERCENT: usize = 2;
/// The unit of shares.
const PERCENT_UNIT: &str = "percent";

/// A decimal number, stored as its digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digits {
    is_negative: bool,
    /// The digits without the point, at least one before it.
    digits: String,
    /// The number of digits after the point.
    scale: usize,
}

impl Digits {
    /// Reads a number such as `-1234.5` or `1e-7`. Returns None for any other text.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (text, exponent) = match text.split_once(['e', 'E']) {
            Some((text, exponent)) => (text, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_number(whole) || !is_number(fraction) || exponent.abs() > 400 {
            return None;
        }
        let number =
            Self { is_negative, digits: format!("{whole}{fraction}"), scale: fraction.len() };
        Some(number.shifted(exponent))
    }

    /// Reads a cell.
    pub(super) fn of_cell(cell: &Value) -> Option<Self> {
        match cell {
            Value::Number(number) => Self::read(&number.to_string()),
            Value::String(text) => Self::read(text),
            _ => None,
        }
    }

    /// Returns the number of digits after the point, excluding zeros at the end.
    pub(super) fn needed_scale(&self) -> usize {
        let zeros = self.digits.bytes().rev().take_while(|digit| *digit == b'0').count();
        self.scale.saturating_sub(zeros)
    }

    /// Returns the number times a power of ten.
    fn shifted(mut self, exponent: i32) -> Self {
        let places = exponent.unsigned_abs() as usize;
        if exponent < 0 {
            self.scale += places;
        } else {
            let zeros = places.saturating_sub(self.scale);
            self.scale = self.scale.saturating_sub(places);
            self.digits.push_str(&"0".repeat(zeros));
        }
        let missing = (self.scale + 1).saturating_sub(self.digits.len());
        self.digits.insert_str(0, &"0".repeat(missing));
        let spare = self.digits.len() - self.scale - 1;
        let zeros = self.digits.bytes().take(spare).take_while(|digit| *digit == b'0').count();
        self.digits.drain(..zeros);
        self
    }

    /// Returns the value times ten to the power of `scale`. Returns None if digits would be lost or
    /// the result does not fit.
    pub(super) fn unscaled(&self, scale: usize) -> Option<i128> {
        if self.needed_scale() > scale {
            return None;
        }
        let kept = self.digits.len() - self.scale.saturating_sub(scale);
        let zeros = scale.saturating_sub(self.scale);
        let digits = format!("{}{}", &self.digits[..kept], "0".repeat(zeros));
        let number: i128 = digits.parse().ok()?;
        Some(if self.is_negative { -number } else { number })
    }

    /// Returns the number with this many decimals, rounded half away from zero.
    fn rounded(&self, places: usize) -> Self {
        if places >= self.scale {
            let mut wider = self.clone();
            wider.digits.push_str(&"0".repeat(places - self.scale));
            wider.scale = places;
            return wider;
        }
        let cut = self.digits.len() - (self.scale - places);
        let rounds_up = self.digits.as_bytes()[cut] >= b'5';
        let mut digits: Vec<u8> = self.digits.as_bytes()[..cut].to_vec();
        if rounds_up {
            let nines = digits.iter().rev().take_while(|digit| **digit == b'9').count();
            let at = digits.len() - nines;
            digits[at..].fill(b'0');
            match at.checked_sub(1) {
                Some(before) => digits[before] += 1,
                None => digits.insert(0, b'1'),
            }
        }
        let digits = String::from_utf8(digits).unwrap_or_default();
        Self { is_negative: self.is_negative, digits, scale: places }
    }

    fn is_zero(&self) -> bool {
        self.digits.bytes().all(|digit| digit == b'0')
    }

    fn is_below_one(&self) -> bool {
        self.digits.len() - self.scale == 1 && self.digits.starts_with('0')
    }

    /// Returns the digits with a comma between groups of three.
    pub(super) fn grouped(&self) -> String {
        let (whole, fraction) = self.digits.split_at(self.digits.len() - self.scale);
        let mut text = String::new();
        if self.is_negative && !self.is_zero() {
            text.push('-');
        }
        for (at, digit) in whole.chars().enumerate() {
            if at > 0 && (whole.len() - at).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        if !fraction.is_empty() {
            text.push('.');
            text.push_str(fraction);
        }
        text
    }
}

impl std::fmt::Display for Digits {
    /// Writes all digits, without groups.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.grouped().replace(',', ""))
    }
}

/// A number that is formatted for people.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) text: String,
    /// Whether rounding removed decimal places.
    pub(super) is_rounded: bool,
}

/// Formats a number for people.
pub(super) fn show_number(number: &Digits, format: ValueFormat) -> Shown {
    let needed = number.needed_scale();
    let (least, most) = match format {
        ValueFormat::Money if number.is_below_one() => (MONEY, SMALL_MONEY),
        ValueFormat::Money => (MONEY, MONEY),
        ValueFormat::Percent => {
            let percent = number.clone().shifted(2);
            let places = percent.needed_scale().min(PERCENT);
            let text = format!("{}%", percent.rounded(places).grouped());
            return Shown { text, is_rounded: percent.needed_scale() > places };
        }
        _ => (0, NUMBER),
    };
    let places = needed.clamp(least, most);
    Shown { text: number.rounded(places).grouped(), is_rounded: needed > places }
}

/// Formats the sum of a column for people with all its digits. The currency is left out if the name
/// of the column says it.
pub(super) fn show_sum(column: &str, sum: &str, currency: Option<&str>) -> String {
    let Some(number) = Digits::read(sum) else { return sum.to_owned() };
    let least = if currency.is_some() { MONEY } else { 0 };
    let text = number.rounded(number.needed_scale().max(least)).grouped();
    match currency.filter(|currency| !names_unit(column, currency)) {
        Some(currency) => format!("{text} {currency}"),
        None => text,
    }
}

/// Whether a name says a unit already, as `Cost (EUR)` does.
pub(super) fn names_unit(name: &str, unit: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '%';
    let mut words = name.split(|letter| !is_word(letter));
    words.any(|word| word.eq_ignore_ascii_case(unit) || unit == PERCENT_UNIT && word == "%")
}

/// Formats a number of things with groups of three, and their noun, which is singular for 1.
pub(super) fn count_of(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", show_whole(number))
}

/// Formats a whole number with groups of three.
pub(super) fn show_whole(number: u64) -> String {
    Digits::read(&number.to_string()).map_or_else(String::new, |number| number.grouped())
}

/// Returns the exact difference of two sums with its sign. Returns None if a sum is not a number,
/// or if both sums are equal.
pub(super) fn show_difference(before: &str, after: &str, currency: Option<&str>) -> Option<String> {
    let (before, after) = (Digits::read(before)?, Digits::read(after)?);
    let least = if currency.is_some() { MONEY } else { 0 };
    let scale = before.needed_scale().max(after.needed_scale()).max(least);
    let difference = after.unscaled(scale)?.checked_sub(before.unscaled(scale)?)?;
    let exponent = i32::try_from(scale).ok()?;
    let number = Digits::read(&difference.to_string())?.shifted(-exponent);
    let sign = if difference > 0 { "+" } else { "" };
    (difference != 0).then(|| format!("{sign}{}", number.grouped()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str, format: ValueFormat) -> String {
        show_number(&Digits::read(text).unwrap(), format).text
    }

    #[test]
    fn numbers_are_shown_by_their_digits() {
        for (text, format, shown) in [
            ("1234567.5", ValueFormat::Money, "1,234,567.50"),
            ("0.4412", ValueFormat::Money, "0.4412"),
            ("-0.001", ValueFormat::Money, "-0.001"),
            ("9.995", ValueFormat::Money, "10.00"),
            ("999.999", ValueFormat::Money, "1,000.00"),
            ("0.123457", ValueFormat::Percent, "12.35%"),
            ("0.25", ValueFormat::Percent, "25%"),
            ("12345678901234567890123", ValueFormat::Number, "12,345,678,901,234,567,890,123"),
            ("1e-7", ValueFormat::Number, "0.0000"),
            ("1.5e3", ValueFormat::Number, "1,500"),
            ("2.50000", ValueFormat::Number, "2.5"),
            ("-0.00001", ValueFormat::Number, "0.0000"),
        ] {
            assert_eq!(show(text, format), shown, "{text}");
        }
        assert!(show_number(&Digits::read("1.005").unwrap(), ValueFormat::Money).is_rounded);
        assert!(!show_number(&Digits::read("1.50").unwrap(), ValueFormat::Money).is_rounded);
    }

    #[test]
    fn sums_and_their_differences_are_exact() {
        assert_eq!(show_sum("Cost", "3164.5", Some("EUR")), "3,164.50 EUR");
        assert_eq!(show_sum("Rate", "0.00012", None), "0.00012");
        assert_eq!(show_difference("250.00", "205.5", Some("EUR")).as_deref(), Some("-44.50"));
        assert_eq!(show_difference("-1", "1234.25", None).as_deref(), Some("+1,235.25"));
        assert_eq!(show_difference("1.50", "1.5", None), None);
    }

    #[test]
    fn a_unit_that_the_name_says_is_not_repeated() {
        assert_eq!(show_sum("Cost (EUR)", "3164.5", Some("EUR")), "3,164.50");
        assert_eq!(show_sum("Cost (EUR)", "3164.5", Some("SEK")), "3,164.50 SEK");
        for (name, unit) in [("cost_eur", "EUR"), ("Share (%)", "percent"), ("SEK", "SEK")] {
            assert!(names_unit(name, unit), "{name}");
        }
        assert!(!names_unit("Neuro", "EUR") && !names_unit("Cost", "EUR"));
    }

    #[test]
    fn numbers_of_things_have_groups_and_a_noun() {
        assert_eq!(count_of(1, "row"), "1 row");
        assert_eq!(count_of(1_234_567, "row"), "1,234,567 rows");
        assert_eq!(count_of(0, "row"), "0 rows");
    }

    #[test]
    fn only_numbers_are_read() {
        for text in ["", "-", ".5", "1,5", "NaN", "2026-11-30", "1e999999"] {
            assert_eq!(Digits::read(text), None, "{text}");
        }
        assert_eq!(Digits::read("-00012.340").unwrap().to_string(), "-12.340");
        assert_eq!(Digits::read("-12.340").unwrap().unscaled(2), Some(-1234));
        assert_eq!(Digits::read("12.345").unwrap().unscaled(2), None);
    }
}
