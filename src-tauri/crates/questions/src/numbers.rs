//! Reads numbers with their scale, currency and percent sign: "10 000 GBP", "5 %", "1,5 miljoner".
//! It must not know what a number is a bound of.

use serde_json::Number;

use crate::{
    lexicon::Lexicon,
    meaning::Meaning,
    tokens::{Kind, Token},
};

/// The least number that is an amount of money without a word that says so.
const AMOUNT: f64 = 1_000.0;

/// A number of a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quantity {
    /// The value.
    pub value: f64,
    /// Whether a percent sign is beside it.
    pub is_percent: bool,
    /// The currency beside it.
    pub currency: Option<String>,
}

impl Quantity {
    /// Whether the number alone is an amount of money.
    pub fn is_money(&self) -> bool {
        !self.is_percent && (self.value >= AMOUNT || self.currency.is_some())
    }

    /// Returns the number as a count.
    pub fn count(&self) -> Option<u32> {
        let is_count = !self.is_percent
            && self.currency.is_none()
            && self.value.fract() == 0.0
            && (1.0..=1_000_000.0).contains(&self.value);
        is_count.then(|| format!("{:.0}", self.value).parse().ok()).flatten()
    }
}

/// Returns a value as a number with no more digits than it needs.
pub(crate) fn as_number(value: f64) -> Option<Number> {
    let rounded = (value * 1e9).round() / 1e9;
    if rounded.fract() == 0.0 && rounded.abs() < 9e15 {
        return format!("{rounded:.0}").parse::<i64>().ok().map(Number::from);
    }
    Number::from_f64(rounded)
}

/// Reads a number that begins at a token. Returns the end and the number.
pub(crate) fn quantity(
    tokens: &[Token],
    at: usize,
    lexicon: &Lexicon,
) -> Option<(usize, Quantity)> {
    let mut quantity = Quantity { value: 0.0, is_percent: false, currency: None };
    let mut end = at;
    let is_negative = is_minus(tokens, at);
    if is_negative {
        end += 1;
    } else if tokens.get(at)?.kind == Kind::Sign {
        quantity.currency = Some(sign_before(tokens, at, lexicon)?);
        end += 1;
    }
    let (after, value) = digits(tokens, end).or_else(|| word(tokens, end))?;
    quantity.value = if is_negative { -value } else { value };
    end = after;
    let mut has_scale = false;
    while let Some((len, meaning)) = unit_at(tokens, end, lexicon) {
        match meaning {
            Meaning::Percent if !quantity.is_percent => quantity.is_percent = true,
            Meaning::Currency(code) if quantity.currency.is_none() => {
                quantity.currency = Some(code.clone());
            }
            Meaning::Scale(factor) if !has_scale => {
                quantity.value *= f64::from(*factor);
                has_scale = true;
            }
            _ => break,
        }
        end += len;
    }
    Some((end, quantity))
}

/// Whether a sign makes the number at it negative. Between two numbers, it means a range.
fn is_minus(tokens: &[Token], at: usize) -> bool {
    let is_sign = tokens.get(at).is_some_and(|sign| matches!(sign.fold.as_str(), "-" | "−"));
    let is_apart = at == 0 || tokens.get(at).is_some_and(|sign| !sign.is_glued);
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    let follows =
        tokens.get(at + 1).is_some_and(|number| number.kind == Kind::Number && number.is_glued);
    is_sign && is_apart && follows && before.is_none_or(|before| before.kind != Kind::Number)
}

fn sign_before(tokens: &[Token], at: usize, lexicon: &Lexicon) -> Option<String> {
    let meanings = lexicon.phrases_at(tokens, at).into_iter().find(|(len, _)| *len == 1)?.1;
    meanings.iter().find_map(|meaning| match meaning {
        Meaning::Currency(code) => Some(code.clone()),
        _ => None,
    })
}

/// Returns the unit of a number. A single letter must stand at the number: "5k".
fn unit_at<'l>(tokens: &[Token], at: usize, lexicon: &'l Lexicon) -> Option<(usize, &'l Meaning)> {
    let token = tokens.get(at)?;
    if token.fold.chars().all(char::is_alphabetic) && token.fold.len() == 1 && !token.is_glued {
        return None;
    }
    lexicon.phrases_at(tokens, at).into_iter().rev().find_map(|(len, meanings)| {
        let is_unit = |meaning: &&Meaning| {
            matches!(meaning, Meaning::Percent | Meaning::Currency(_) | Meaning::Scale(_))
        };
        Some((len, meanings.iter().find(is_unit)?))
    })
}

/// Reads digits with separators, also with spaces between groups of three.
fn digits(tokens: &[Token], at: usize) -> Option<(usize, f64)> {
    let token = tokens.get(at).filter(|token| token.kind == Kind::Number)?;
    if token.fold.contains('-') {
        return None;
    }
    let mut text = plain(&token.fold)?;
    let mut end = at + 1;
    let leads = token.whole().is_some() && token.fold.len() <= 3 && !token.fold.starts_with('0');
    while leads
        && let Some(group) = tokens.get(end)
        && group.whole().is_some()
        && group.fold.len() == 3
        && !group.is_glued
    {
        text.push_str(&group.fold);
        end += 1;
    }
    Some((end, text.parse().ok()?))
}

/// Returns a number with a decimal point and without other separators.
fn plain(text: &str) -> Option<String> {
    let groups: Vec<&str> = text.split(['.', ',']).collect();
    let (first, rest) = groups.split_first()?;
    if rest.is_empty() {
        return Some(text.to_owned());
    }
    let is_grouped = first.len() <= 3 && *first != "0" && rest.iter().all(|group| group.len() == 3);
    if is_grouped {
        return Some(groups.concat());
    }
    let (whole, decimals) = text.rsplit_once(['.', ','])?;
    Some(format!("{}.{decimals}", whole.replace(['.', ','], "")))
}

/// Reads a number word. Articles are none.
fn word(tokens: &[Token], at: usize) -> Option<(usize, f64)> {
    let token = tokens.get(at).filter(|token| token.kind == Kind::Word)?;
    if ["en", "ett", "one", "couple"].contains(&token.fold.as_str()) {
        return None;
    }
    let value = language::numbers::cardinal(&token.fold)?;
    Some((at + 1, f64::from(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;

    #[test]
    fn numbers_are_read_with_their_units() {
        let lexicon = Lexicon::new().unwrap();
        let read = |text: &str| {
            let (end, found) = quantity(&tokens(text), 0, &lexicon).unwrap();
            (end, found.value, found.is_percent, found.currency)
        };
        let gbp = Some("GBP".to_owned());
        assert_eq!(read("10 000 GBP"), (3, 10_000.0, false, gbp.clone()));
        assert_eq!(read("£1,234.5"), (2, 1_234.5, false, gbp));
        assert_eq!(read("5 %"), (2, 5.0, true, None));
        assert_eq!(read("1,5 miljoner kr"), (3, 1_500_000.0, false, Some("SEK".to_owned())));
        assert_eq!(read("100 tkr"), (2, 100_000.0, false, None));
        assert_eq!(read("0.05"), (1, 0.05, false, None));
        assert_eq!(read("-10 %"), (3, -10.0, true, None));
        assert_eq!(read("ten"), (1, 10.0, false, None));
        assert_eq!(read("60 m"), (1, 60.0, false, None));
        assert_eq!(as_number(0.05).unwrap().to_string(), "0.05");
        assert!(quantity(&tokens("en"), 0, &lexicon).is_none());
    }
}
