//! Parses numbers as exports and people write them, exactly and without allocation: thousands
//! signs, currencies before and after, percent, parentheses, exponents. An ambiguous number, which
//! can mean two values, is marked.

use contract::sources::NumberSign;

use super::{currency::Currency, signs::find_shape};

pub(crate) use super::signs::Evidence;

/// The maximum number of decimal places that are kept.
pub(crate) const MAX_SCALE: u8 = 18;
/// The maximum number of digits of a number.
const MAX_DIGITS: usize = 38;
/// The maximum size of a cell that can be a number.
const MAX_BYTES: usize = 80;

/// A number: `mantissa` divided by ten to the power of `scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) mantissa: i128,
    pub(crate) scale: u8,
    /// Whether the number had a percent sign. The mantissa is that of the fraction: 5 % is 0.05.
    pub(crate) is_percent: bool,
    pub(crate) currency: Option<Currency>,
    pub(crate) evidence: Evidence,
    /// Whether the number was written with an exponent.
    pub(crate) has_exponent: bool,
    /// Whether decimal places were dropped.
    pub(crate) is_rounded: bool,
}

impl Number {
    pub(crate) fn new(mantissa: i128, scale: u8) -> Self {
        Self {
            mantissa,
            scale,
            is_percent: false,
            currency: None,
            evidence: Evidence::None,
            has_exponent: false,
            is_rounded: false,
        }
    }
}

/// The reason why a text is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberFault {
    NotANumber,
    TooLarge,
}

/// Parses a number. An ambiguous number is read with `sign` as its decimal sign.
#[inline]
pub(crate) fn parse_number(cell: &[u8], sign: NumberSign) -> Result<Number, NumberFault> {
    match parse_plain(cell, sign) {
        Some(number) => Ok(number),
        None => parse_any(cell, sign),
    }
}

/// Parses digits with at most one minus before them and one point or comma between them.
#[inline]
fn parse_plain(cell: &[u8], sign: NumberSign) -> Option<Number> {
    let (is_negative, digits) = match cell.split_first()? {
        (b'-', rest) => (true, rest),
        _ => (false, cell),
    };
    if digits.len() > 18 {
        return None;
    }
    let mut value = 0_i64;
    let mut place = usize::MAX;
    for (at, byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            value = value * 10 + i64::from(digit);
        } else if (*byte == b'.' || *byte == b',') && place == usize::MAX && at > 0 {
            place = at;
        } else {
            return None;
        }
    }
    if digits.is_empty() {
        return None;
    }
    let value = if is_negative { -value } else { value };
    if place == usize::MAX {
        return Some(Number::new(i128::from(value), 0));
    }
    let after = digits.len() - place - 1;
    if after == 0 {
        return None;
    }
    let own = if digits[place] == b'.' { NumberSign::Point } else { NumberSign::Comma };
    let mut number = Number::new(i128::from(value), u8::try_from(after).unwrap_or(MAX_SCALE));
    number.evidence = Evidence::Sign(own);
    if after == 3 && place <= 3 && digits[0] != b'0' {
        number.evidence = match own {
            NumberSign::Point => Evidence::OpenPoint,
            NumberSign::Comma => Evidence::OpenComma,
        };
        if own != sign {
            number.scale = 0;
        }
    }
    Some(number)
}

/// Parses a number in any form.
#[cold]
#[inline(never)]
fn parse_any(cell: &[u8], sign: NumberSign) -> Result<Number, NumberFault> {
    const NOT: NumberFault = NumberFault::NotANumber;
    if cell.len() > MAX_BYTES {
        return Err(NOT);
    }
    let text = std::str::from_utf8(cell).map_err(|_| NOT)?.trim();
    let (text, in_brackets) = match text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => (inner.trim(), true),
        None => (text, false),
    };
    let first = text.find(|c: char| c.is_ascii_digit()).ok_or(NOT)?;
    let last = text.rfind(|c: char| c.is_ascii_digit()).ok_or(NOT)? + 1;
    // A decimal sign can come first (".50"), but the point in "Rs.50" belongs to the currency.
    let opens = text[..first].ends_with(['.', ','])
        && !text[..first - 1].ends_with(|c: char| c.is_alphabetic());
    let start = if opens { first - 1 } else { first };
    let (before, after) = (&text[..start], &text[last..]);
    // A currency can stand around the brackets of a negative number, too: $(5.00), (5.00) kr.
    let inner = before.trim_end().strip_suffix('(').zip(after.trim_start().strip_prefix(')'));
    let ((before, after), in_brackets) = match inner.filter(|_| !in_brackets) {
        Some(outside) => (outside, true),
        None => ((before, after), in_brackets),
    };
    let before = Unit::parse(before, Place::Before)?;
    let after = Unit::parse(after, Place::After)?;
    let signs = u8::from(in_brackets) + u8::from(before.is_negative) + u8::from(after.is_negative);
    let currency = match (before.currency, after.currency) {
        (Some(one), Some(other)) if one.can_stand_for(other) => Some(other),
        (Some(one), Some(other)) if other.can_stand_for(one) => Some(one),
        (Some(_), Some(_)) => return Err(NOT),
        (one, other) => one.or(other),
    };
    let is_percent = before.is_percent || after.is_percent;
    if signs > 1 || (is_percent && currency.is_some()) {
        return Err(NOT);
    }
    let mut number = parse_digits(&text[start..last], sign)?;
    if signs == 1 {
        number.mantissa = -number.mantissa;
    }
    number.currency = currency;
    number.is_percent = is_percent;
    if is_percent {
        number.scale += 2;
    }
    Ok(keep_places(number))
}

/// Rounds to the maximum number of decimal places, half away from zero.
fn keep_places(mut number: Number) -> Number {
    while number.scale > MAX_SCALE {
        let tail = number.mantissa % 10;
        number.is_rounded |= tail != 0;
        number.mantissa /= 10;
        number.scale -= 1;
        if number.scale == MAX_SCALE {
            number.mantissa += if tail >= 5 {
                1
            } else if tail <= -5 {
                -1
            } else {
                0
            };
        }
    }
    number
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Before,
    After,
}

/// The text beside the digits.
#[derive(Default)]
struct Unit {
    is_negative: bool,
    is_percent: bool,
    currency: Option<Currency>,
}

impl Unit {
    fn parse(text: &str, place: Place) -> Result<Self, NumberFault> {
        const NOT: NumberFault = NumberFault::NotANumber;
        let is_space = |c: char| c.is_whitespace() || c == '\u{202f}';
        let mut text = text.trim_matches(is_space);
        let mut unit = Self::default();
        if text.is_empty() {
            return Ok(unit);
        }
        if place == Place::After {
            // Prices such as "15:-" and "15,-" have no decimals.
            text = match text {
                ":-" | ",-" | ".-" | ",--" | "." => return Ok(unit),
                text => text,
            };
        }
        if let Some(rest) = text.strip_suffix('%').or_else(|| text.strip_prefix('%')) {
            unit.is_percent = true;
            text = rest.trim_matches(is_space);
        }
        for sign in ['-', '−', '–', '+'] {
            let rest = text.strip_prefix(sign).or_else(|| text.strip_suffix(sign));
            if let Some(rest) = rest {
                if sign == '+' && place == Place::After {
                    return Err(NOT);
                }
                unit.is_negative = sign != '+';
                text = rest.trim_matches(is_space);
                break;
            }
        }
        // Spreadsheets mark text with a quote before a number.
        if place == Place::Before && (text == "'" || text == "=") {
            text = "";
        }
        if !text.is_empty() {
            unit.currency = Some(Currency::from_sign(text).ok_or(NOT)?);
        }
        Ok(unit)
    }
}

/// Parses digits with thousands signs, a decimal sign and an exponent.
fn parse_digits(text: &str, sign: NumberSign) -> Result<Number, NumberFault> {
    const NOT: NumberFault = NumberFault::NotANumber;
    let (body, exponent) = match text.find(['e', 'E']) {
        Some(at) => {
            let power = text[at + 1..].trim_start_matches('+');
            let power: i32 = power.parse().map_err(|_| NOT)?;
            (&text[..at], Some(power))
        }
        None => (text, None),
    };
    let mut signs = [b' '; MAX_BYTES];
    let mut length = 0;
    for c in body.chars() {
        signs[length] = match c {
            '0'..='9' | '.' | ',' => u8::try_from(c).unwrap_or(b' '),
            ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' => b' ',
            '\'' | '’' | '‘' | '´' => b'\'',
            _ => return Err(NOT),
        };
        length += 1;
    }
    let shape = find_shape(&signs[..length], sign).ok_or(NOT)?;
    if exponent.is_some() && shape.has_groups {
        return Err(NOT);
    }
    let mut number = Number::new(0, 0);
    number.evidence = shape.evidence;
    let mut digits = 0;
    for byte in signs[..length].iter().filter(|byte| byte.is_ascii_digit()) {
        number.mantissa =
            number.mantissa.checked_mul(10).ok_or(NumberFault::TooLarge)? + i128::from(byte - b'0');
        digits += usize::from(number.mantissa != 0);
    }
    if digits > MAX_DIGITS {
        return Err(NumberFault::TooLarge);
    }
    apply_exponent(number, shape.places, exponent)
}

fn apply_exponent(
    mut number: Number,
    places: usize,
    exponent: Option<i32>,
) -> Result<Number, NumberFault> {
    number.has_exponent = exponent.is_some();
    let places = i32::try_from(places).map_err(|_| NumberFault::TooLarge)?;
    let scale = places - exponent.unwrap_or(0);
    if scale >= 0 {
        // A number such as 2e-300 rounds to zero at the maximum number of decimal places.
        let most = i32::try_from(MAX_DIGITS + usize::from(MAX_SCALE)).unwrap_or(i32::MAX);
        if scale > most {
            number.is_rounded |= number.mantissa != 0;
            number.mantissa = 0;
        }
        number.scale = u8::try_from(scale.min(most)).unwrap_or(MAX_SCALE);
        return Ok(keep_places(number));
    }
    for _ in 0..scale.unsigned_abs().min(40) {
        number.mantissa = number.mantissa.checked_mul(10).ok_or(NumberFault::TooLarge)?;
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use NumberSign::{Comma, Point};

    fn read(text: &str, sign: NumberSign) -> Option<(i128, u8)> {
        let number = parse_number(text.as_bytes(), sign).ok()?;
        Some((number.mantissa, number.scale))
    }

    #[test]
    fn numbers_are_read_exactly_in_every_form() {
        for (text, sign, value) in [
            ("0", Point, (0, 0)),
            ("-20.00", Point, (-2000, 2)),
            ("1,234.50", Point, (123_450, 2)),
            ("1.234,50", Point, (123_450, 2)),
            ("1.250", Comma, (1250, 0)),
            ("1.250", Point, (1250, 3)),
            ("12,345", Point, (12_345, 0)),
            ("1,234,567", Comma, (1_234_567, 0)),
            ("1 234,56 €", Point, (123_456, 2)),
            ("1\u{202f}234,5", Point, (12_345, 1)),
            ("CHF 1'234.50", Comma, (123_450, 2)),
            ("R$ 1.234,50", Point, (123_450, 2)),
            ("Rs.500", Point, (500, 0)),
            ("1,23,456.00", Point, (12_345_600, 2)),
            ("(1,234.50)", Point, (-123_450, 2)),
            ("20.00-", Point, (-2000, 2)),
            ("−5", Point, (-5, 0)),
            ("-$5.25", Point, (-525, 2)),
            ("$-5.25", Point, (-525, 2)),
            ("$(1,234.50)", Point, (-123_450, 2)),
            ("($1,234.50)", Point, (-123_450, 2)),
            ("(1.234,50) €", Comma, (-123_450, 2)),
            ("-$1,234.50", Point, (-123_450, 2)),
            ("$-1,234.50", Point, (-123_450, 2)),
            ("1,234.50-", Point, (-123_450, 2)),
            ("(12.5)%", Point, (-125, 3)),
            ("12.5%", Point, (125, 3)),
            ("12,5 %", Point, (125, 3)),
            (".5", Point, (5, 1)),
            ("1.5E-05", Point, (15, 6)),
            ("1.20236E+17", Point, (120_236_000_000_000_000, 0)),
            ("15:-", Point, (15, 0)),
            ("0.30000000000000004", Point, (30_000_000_000_000_004, 17)),
            ("1.2345678901234567e-05", Point, (12_345_678_901_235, 18)),
        ] {
            assert_eq!(read(text, sign), Some(value), "{text}");
        }
    }

    #[test]
    fn texts_that_are_not_numbers_are_rejected() {
        for text in [
            "",
            "-",
            "abc",
            "1,23,45",
            "1,2.3,4",
            ".",
            "NaN",
            "12x",
            "1 2",
            "12 34",
            "1.2.3",
            "5 PCS",
            "2026-11-01",
            "10:30",
            "1e",
            "$5 €",
            "5 %%",
            "(5",
            "$(5",
            "-(5)",
            "$(-5)",
            "$ -",
            "--5",
            "< 10%",
            "1e999",
        ] {
            assert_eq!(read(text, Point), None, "{text}");
        }
    }

    #[test]
    fn a_number_shows_its_decimal_sign_unless_the_number_is_ambiguous() {
        for (text, evidence) in [
            ("1,234", Evidence::OpenComma),
            ("12.345", Evidence::OpenPoint),
            ("$1,234", Evidence::OpenComma),
            ("0.123", Evidence::Sign(Point)),
            ("1234.567", Evidence::Sign(Point)),
            ("1,5", Evidence::Sign(Comma)),
            ("1.234.567", Evidence::Sign(Comma)),
            ("1 234", Evidence::None),
            ("5", Evidence::None),
        ] {
            assert_eq!(parse_number(text.as_bytes(), Point).unwrap().evidence, evidence, "{text}");
        }
    }
}
