//! Reads and writes amounts of money exactly, in the formats that shops use.

/// The number of decimal digits that are kept while calculating.
pub const PLACES: u32 = 4;

/// Reads an amount ("1 299.00", "1299,5", "-1,299.00 kr", "SEK 12") as ten-thousandths. Returns
/// None for a sentence that contains a number, and for an ambiguous text.
pub fn read(text: &str) -> Option<i128> {
    let text = text.trim();
    let first = text.find(|c: char| c.is_ascii_digit())?;
    let last = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    // A decimal point may come first (".50"), but the point in "kr.15" belongs to the unit.
    let opens =
        text[..first].ends_with(['.', ',']) && !text[..first - 1].ends_with(char::is_alphabetic);
    let start = if opens { first - 1 } else { first };
    let (before, number, after) = (&text[..start], &text[start..last], &text[last..]);
    let minus = before.matches(['-', '−']).count();
    let before = before.replace(['-', '−'], " ");
    if minus > 1
        || is_bound(&before)
        || !is_unit(&before)
        || !(is_unit(after) || matches!(after.trim(), ":-" | ",-" | ".-"))
    {
        return None;
    }
    let number: String = number.chars().filter(|c| !c.is_whitespace() && *c != '\'').collect();
    let (whole, fraction) = parts(&number);
    // "1.299 kr" may mean 1,299 or 1.299, so it is refused.
    if number.contains('.')
        && !number.contains(',')
        && fraction.len() == 3
        && whole != "0"
        && !(before.trim().is_empty() && after.trim().is_empty())
    {
        return None;
    }
    let whole: String = whole.chars().filter(|c| !matches!(c, ',' | '.')).collect();
    if whole.len() > 20 || !whole.chars().chain(fraction.chars()).all(|c| c.is_ascii_digit()) {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let padded: String = fraction.chars().chain("0000".chars()).take(PLACES as usize).collect();
    let value = whole * 10i128.pow(PLACES) + padded.parse::<i128>().ok()?;
    Some(if minus == 1 { -value } else { value })
}

/// Words that look like a currency but mark a bound, such as "from 12". "fr." is a currency only
/// directly before the number.
const BOUNDS: [&str; 7] = ["from", "från", "max", "min", "ca", "over", "över"];

fn is_bound(text: &str) -> bool {
    let text = text.trim().trim_end_matches('.').to_lowercase();
    text == "fr" || BOUNDS.contains(&text.as_str())
}

/// Whether the text beside a number is empty or a currency, which is a sign or a short word.
fn is_unit(text: &str) -> bool {
    let text = text.trim();
    if BOUNDS.contains(&text.trim_end_matches('.').to_lowercase().as_str()) {
        return false;
    }
    let is_sign =
        |c: char| c == '$' || (!c.is_ascii() && !c.is_alphanumeric() && !c.is_whitespace());
    text.chars().count() <= 4 && text.chars().all(|c| c.is_alphabetic() || c == '.' || is_sign(c))
}

/// Splits a number into its digits before and after the decimal sign. If both signs occur, the last
/// one is the decimal sign. A sign that occurs several times, or a comma before three digits,
/// groups digits.
fn parts(number: &str) -> (&str, &str) {
    let Some(last) = number.rfind([',', '.']) else { return (number, "") };
    let (sign, before, behind) = (&number[last..=last], &number[..last], &number[last + 1..]);
    // "1,299" has no decimals. "1.299" has decimals, because programs write numbers this way.
    let groups = number.matches(sign).count() > 1
        || (sign == "," && behind.len() == 3 && (1..=3).contains(&before.len()) && before != "0");
    if groups { (number, "") } else { (before, behind) }
}

/// Returns the sign and the value in hundredths, rounded half away from zero.
fn cents(value: i128) -> (bool, i128) {
    (value < 0, (value.abs() + 50) / 100)
}

/// Writes an amount with two decimals and no separators: "1299.00".
pub fn plain(value: i128) -> String {
    let (negative, cents) = cents(value);
    format!("{}{}.{:02}", if negative { "-" } else { "" }, cents / 100, cents % 100)
}

/// Writes an amount with two decimals. `between` separates groups of three digits, and `point`
/// precedes the decimals.
pub fn format_grouped(value: i128, between: &str, point: &str) -> String {
    let (negative, cents) = cents(value);
    let whole = (cents / 100).to_string();
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push_str(between);
        }
        out.push(digit);
    }
    format!("{}{out}{point}{:02}", if negative { "-" } else { "" }, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/data/amounts.json"));

    #[test]
    fn amounts_are_parsed_in_every_listed_notation() {
        let table: Vec<serde_json::Value> = serde_json::from_str(TABLE).expect("the table");
        assert!(!table.is_empty());
        for case in &table {
            let text = case["text"].as_str().expect("a text");
            assert_eq!(read(text).map(plain).as_deref(), case["value"].as_str(), "{text}");
        }
        assert_eq!(
            (format_grouped(-12_345_678_900, ",", "."), format_grouped(12_990_000, "\u{a0}", ",")),
            ("-1,234,567.89".to_owned(), "1\u{a0}299,00".to_owned())
        );
    }
}
