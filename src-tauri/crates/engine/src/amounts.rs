//! Amounts of money as shops write them, read and written exactly. Pure.

/// Decimal digits that are kept while calculating.
pub(crate) const PLACES: u32 = 4;

/// Reads an amount ("1 299.00", "1299,5", "1,299.00 kr", "SEK 12") as ten-thousandths.
pub(crate) fn read(text: &str) -> Option<i128> {
    // What stands around the number: units, and the point of "kr.".
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let negative = text[..start].trim_end().ends_with(['-', '−']);
    let number: String = text[start..end].chars().filter(|c| !c.is_whitespace() && *c != '\'').collect();
    let (whole, fraction) = parts(&number);
    let whole: String = whole.chars().filter(|c| !matches!(c, ',' | '.')).collect();
    if whole.is_empty() || whole.len() > 20 || !whole.chars().chain(fraction.chars()).all(|c| c.is_ascii_digit()) {
        return None;
    }
    let padded: String = fraction.chars().chain("0000".chars()).take(PLACES as usize).collect();
    let value = whole.parse::<i128>().ok()? * 10i128.pow(PLACES) + padded.parse::<i128>().ok()?;
    Some(if negative { -value } else { value })
}

/// Before and behind the decimal sign: the last of two kinds, or the only one. One that comes more often groups digits, and so does a
/// comma before three of them.
fn parts(number: &str) -> (&str, &str) {
    let Some(last) = number.rfind([',', '.']) else { return (number, "") };
    let (sign, before, behind) = (&number[last..=last], &number[..last], &number[last + 1..]);
    // "1,299" has no decimals; "1.299" has, as numbers of programs do.
    let groups = number.matches(sign).count() > 1 || (sign == "," && behind.len() == 3 && (1..=3).contains(&before.len()) && before != "0");
    if groups { (number, "") } else { (before, behind) }
}

/// Two decimals, rounded half away from zero.
fn cents(value: i128) -> (bool, i128) {
    (value < 0, (value.abs() + 50) / 100)
}

pub(crate) fn plain(value: i128) -> String {
    let (negative, cents) = cents(value);
    format!("{}{}.{:02}", if negative { "-" } else { "" }, cents / 100, cents % 100)
}

/// As the conversation writes amounts: "1,299.00", in Swedish "1 299,00".
pub(crate) fn grouped(value: i128, swedish: bool) -> String {
    let (between, point) = if swedish { ('\u{a0}', ',') } else { (',', '.') };
    let (negative, cents) = cents(value);
    let whole = (cents / 100).to_string();
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(between);
        }
        out.push(digit);
    }
    format!("{}{out}{point}{:02}", if negative { "-" } else { "" }, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_however_they_are_written() {
        for (text, value) in [
            ("12", "12.00"),
            ("1299,5", "1299.50"),
            ("1 299.00", "1299.00"),
            ("1\u{a0}299,00 kr", "1299.00"),
            ("1,299.00", "1299.00"),
            ("1.299,00 €", "1299.00"),
            ("1,299,000", "1299000.00"),
            ("1,299 kr", "1299.00"),
            ("0,125", "0.13"),
            ("1.299", "1.30"),
            ("SEK 1.50", "1.50"),
            ("kr. 15", "15.00"),
            ("15:-", "15.00"),
            ("-3.5", "-3.50"),
            ("CHF 1'250.50", "1250.50"),
        ] {
            assert_eq!(read(text).map(plain).as_deref(), Some(value), "{text}");
        }
        for text in ["", "?", "free", "1-2", "2 for 3", "99999999999999999999999"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!((grouped(-12_345_678_900, false), grouped(12_990_000, true)), ("-1,234,567.89".to_owned(), "1\u{a0}299,00".to_owned()));
    }
}
