//! An exact decimal number as the value of a placeholder. It is sent as its digits, because each
//! language has its own decimal sign and its own groups of digits.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Param, ToParam};

/// An exact number with its unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Amount {
    /// The number and the unit in English.
    pub text: String,
    /// The decimal digits, with a point before decimals.
    pub digits: String,
    /// The number of decimals that are written even if they are zeros.
    pub places: u8,
    /// The unit, such as the code of a currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unit: Option<String>,
}

impl Amount {
    /// Creates an amount from decimal digits such as `-1234.5`, with at least `places` decimals.
    /// Further zeros at the end are dropped. Any other text is kept.
    pub fn new(digits: &str, places: u8, unit: Option<&str>) -> Self {
        let (digits, mut text) = match with_places(digits, usize::from(places)) {
            Some(digits) => (digits.clone(), grouped(&digits)),
            None => (digits.to_owned(), digits.to_owned()),
        };
        if let Some(unit) = unit {
            text.push(' ');
            text.push_str(unit);
        }
        Self { text, digits, places, unit: unit.map(str::to_owned) }
    }

    /// Creates an amount from a whole number, such as a number of rows.
    pub fn whole(number: impl Into<u64>) -> Self {
        Self::new(&number.into().to_string(), 0, None)
    }
}

/// Returns a number with the decimals that it needs, and at least `places`. None if it is no number.
fn with_places(number: &str, places: usize) -> Option<String> {
    let (sign, unsigned) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let needed = fraction.trim_end_matches('0').len().max(places);
    let zeros = "0".repeat(needed.saturating_sub(fraction.len()));
    let fraction = fraction.get(..needed).unwrap_or(fraction);
    let point = if needed > 0 { "." } else { "" };
    Some(format!("{sign}{whole}{point}{fraction}{zeros}"))
}

/// Writes a comma between groups of three digits before the point.
fn grouped(number: &str) -> String {
    let whole = number.trim_start_matches('-').split('.').next().unwrap_or_default().len();
    let start = number.len() - number.trim_start_matches('-').len();
    let mut text = String::new();
    for (at, letter) in number.char_indices() {
        let behind = (start + whole).saturating_sub(at);
        if at > start && behind > 0 && behind.is_multiple_of(3) {
            text.push(',');
        }
        text.push(letter);
    }
    text
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl ToParam for Amount {
    fn to_param(&self) -> Param {
        Param::Amount(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Text, text};

    #[test]
    fn an_amount_has_its_decimals_and_groups_and_no_further_zeros() {
        for (digits, places, unit, written) in [
            ("951.250", 2, Some("EUR"), "951.25 EUR"),
            ("205", 2, None, "205.00"),
            ("-1234567.8", 2, None, "-1,234,567.80"),
            ("1000", 0, None, "1,000"),
            ("999.0000", 0, None, "999"),
            ("0.00012", 2, Some("EUR"), "0.00012 EUR"),
            ("unknown", 2, None, "unknown"),
        ] {
            assert_eq!(Amount::new(digits, places, unit).text, written, "{digits}");
        }
    }

    #[test]
    fn an_amount_is_sent_as_digits_beside_the_english_sentence() {
        let text = text!("It is {sum}.", sum = Amount::new("1234.5", 2, Some("SEK")));
        assert_eq!(text, "It is 1,234.50 SEK.");
        let sent = serde_json::to_value(&text).unwrap_or_default();
        let amount =
            json!({"text": "1,234.50 SEK", "digits": "1234.50", "places": 2, "unit": "SEK"});
        assert_eq!(sent["params"]["sum"], amount);
        assert_eq!(serde_json::from_value::<Text>(sent).ok(), Some(text));
    }
}
