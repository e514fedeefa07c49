//! Reads amounts of money that people write: "200k", "1,5 miljoner", "$5", "300 kr", in English and
//! Swedish. `contract::amounts` parses the amounts that shops send.

use crate::{
    numbers::{PERCENT, cardinal},
    tokens::{Token, TokenKind},
};

/// A number with its optional scale and currency.
#[derive(Clone, Debug, PartialEq)]
pub struct Amount {
    pub value: f64,
    pub at: usize,
    pub len: usize,
    /// Whether the text marks the number as an amount by a currency or a scale ("200k", "$5", "300
    /// kr").
    pub marked: bool,
}

const CURRENCIES: &[&str] = &[
    "kr", "sek", "kronor", "krona", "usd", "eur", "euro", "euros", "dollar", "dollars", "gbp",
    "pounds", "bucks", "nok", "dkk", "spann", "kronors",
];

/// Units of measure other than money.
const UNITS: &[&str] = &[
    "lumen", "lumens", "lm", "litre", "litres", "liter", "liters", "kg", "kilo", "kilos", "gram",
    "grams", "g", "oz", "lbs", "l", "dl", "cl", "ml", "cm", "mm", "watt", "watts",
];

/// Whether a word is a unit of measure other than money, such as "kg".
pub fn is_other_unit(token: &Token) -> bool {
    token.any(UNITS)
}

fn scale(word: &str) -> Option<f64> {
    Some(match word {
        "k" | "thousand" | "tusen" | "tkr" | "grand" => 1e3,
        "m" | "mn" | "mio" | "mil" | "million" | "millions" | "miljon" | "miljoner" | "mkr"
        | "msek" => 1e6,
        _ => return None,
    })
}

/// Returns all amounts in the text, in order.
pub fn find_amounts(tokens: &[Token]) -> Vec<Amount> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match amount(tokens, at) {
            Some(amount) => {
                at += amount.len;
                found.push(amount);
            }
            None => at += 1,
        }
    }
    found
}

fn amount(tokens: &[Token], at: usize) -> Option<Amount> {
    let sign = |i: usize| {
        tokens.get(i).is_some_and(|token| ["$", "€", "£"].contains(&token.fold.as_str()))
    };
    let mut i = at;
    let mut marked = sign(i);
    if marked {
        i += 1;
    }
    let (mut value, used) = digits(tokens, i)?;
    i += used;
    if let Some(factor) = tokens.get(i).and_then(|token| scale(&token.fold)) {
        let unit_follows = tokens.get(i).is_some_and(|token| token.fold == "m" && !token.glued);
        if !unit_follows {
            value *= factor;
            marked = true;
            i += 1;
        }
    }
    if sign(i) || tokens.get(i).is_some_and(|token| token.any(CURRENCIES)) {
        marked = true;
        i += 1;
    }
    // A number before a percent sign or another unit is not an amount.
    if tokens.get(i).is_some_and(|token| token.any(PERCENT) || token.any(UNITS)) {
        return None;
    }
    Some(Amount { value, at, len: i - at, marked })
}

/// Reads digits with thousands separators ("200 000", "200,000", "1,5"), or a number word before a
/// scale ("two million").
fn digits(tokens: &[Token], at: usize) -> Option<(f64, usize)> {
    let token = tokens.get(at)?;
    if token.kind == TokenKind::Word {
        let half = token.is("half") || token.is("halv");
        let next = usize::from(half && tokens.get(at + 1).is_some_and(|next| next.is("a")));
        let value = if half { 0.5 } else { f64::from(cardinal(&token.norm)?) };
        let used = 1 + next;
        return tokens.get(at + used).and_then(|token| scale(&token.fold)).map(|_| (value, used));
    }
    if token.kind != TokenKind::Number {
        return None;
    }
    let mut text = plain_number(&token.fold)?;
    let mut used = 1;
    let leads = token.fold.len() <= 3 && token.int().is_some();
    while leads
        && let Some(group) =
            tokens.get(at + used).filter(|t| t.int().is_some() && t.fold.len() == 3 && !t.glued)
    {
        text.push_str(&group.fold);
        used += 1;
    }
    text.parse().ok().map(|value| (value, used))
}

/// Returns a number's text with a decimal point and without separators.
fn plain_number(text: &str) -> Option<String> {
    let groups: Vec<&str> = text.split(['.', ',']).collect();
    if groups.len() == 1 {
        return Some(text.to_owned());
    }
    let thousands = groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3);
    if thousands {
        return Some(groups.concat());
    }
    let (whole, decimals) = text.rsplit_once(['.', ','])?;
    Some(format!("{}.{decimals}", whole.replace(['.', ','], "")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;

    fn money(text: &str) -> Vec<f64> {
        find_amounts(&tokens(text)).into_iter().map(|amount| amount.value).collect()
    }

    #[test]
    fn amounts_are_read_from_common_notations() {
        for (text, value) in [
            ("200k", 200_000.0),
            ("200 000", 200_000.0),
            ("200 000 kr", 200_000.0),
            ("$250,000", 250_000.0),
            ("1.5m", 1_500_000.0),
            ("1,5 miljoner", 1_500_000.0),
            ("200 tkr", 200_000.0),
            ("2 mkr", 2_000_000.0),
            ("half a million", 500_000.0),
            ("250.000", 250_000.0),
            ("two million", 2_000_000.0),
            ("99.50", 99.5),
            ("1 234 567 sek", 1_234_567.0),
            ("€300", 300.0),
            ("300€", 300.0),
            ("tva miljoner", 2_000_000.0),
        ] {
            assert_eq!(money(text), [value], "{text}");
        }
    }

    #[test]
    fn separate_numbers_are_not_joined_into_one_amount() {
        assert_eq!(money("2 of size 42"), [2.0, 42.0]);
        assert_eq!(money("account 17 with 200k"), [17.0, 200_000.0]);
        assert_eq!(money("a 5 m rope"), [5.0]);
        assert_eq!(money("raise it by 20%"), [0.0; 0]);
        assert_eq!(money("20 procent mer"), [0.0; 0]);
    }
}
