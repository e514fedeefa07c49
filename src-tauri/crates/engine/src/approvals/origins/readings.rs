//! Finds the numbers and days in a text with `language`.

use chrono::NaiveDate;
use language::{Token, TokenKind, amounts, changes, dates, numbers, ordinals, tokens};

/// The number of words that are read at a time, and the overlap with the next part. `language`
/// reads only a limited number of words.
const PART: usize = 60;
const REPEATED: usize = 8;
/// The most digits that a number always keeps exactly.
const DIGITS: usize = 15;
/// Characters that may directly precede and directly follow a number.
const BEFORE: [&str; 13] = ["$", "€", "£", "#", "(", "[", "{", "\"", "“", "„", "«", "~", "+"];
/// Characters between a name and its number: "qty:3".
const NAMING: [&str; 2] = [":", "="];
/// Units that may directly follow a number. `language` knows units of quantities.
const UNITS: [&str; 24] = [
    "st", "pcs", "pc", "h", "hr", "hrs", "tim", "min", "s", "sec", "d", "kb", "mb", "gb", "tb",
    "km", "m", "kw", "kwh", "w", "v", "px", "am", "pm",
];
const AFTER: [&str; 19] = [
    ".", ",", ";", ":", "!", "?", "…", ")", "]", "}", "\"", "”", "»", "%", "€", "$", "£", "×", "x",
];
const MINUS: [&str; 2] = ["-", "−"];

/// Which numbers in a text are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Only intended numbers. Digits within a name, path or address are excluded, and an ordinal is
    /// a position.
    Meant,
    /// All numbers that can be found in the text.
    Any,
}

/// Returns the numbers in a text, each with the position of the part that contains it.
pub(super) fn numbers_of(text: &str, reading: Reading) -> Vec<(usize, f64)> {
    let mut found = Vec::new();
    for (start, part) in parts(text) {
        let tokens = tokens(part);
        let values = match reading {
            Reading::Meant => meant(&tokens),
            Reading::Any => any(&tokens),
        };
        found.extend(values.into_iter().map(|value| (start, value)));
    }
    found
}

/// Returns the first and last days of the periods in a text, each with the position of the part
/// that contains it.
pub(super) fn days_of(text: &str, today: NaiveDate) -> Vec<(usize, NaiveDate)> {
    let mut found = Vec::new();
    for (start, part) in parts(text) {
        let tokens = tokens(part);
        let mut rest = tokens.as_slice();
        while let Some(period) = dates::find_period(rest, today) {
            // A day in a call may be the next day of its name.
            let next = dates::move_to_next_period(rest, &period, today);
            let days = [period.start, period.end, next.start, next.end];
            found.extend(days.into_iter().flatten().map(|day| (start, day)));
            // An empty period would be found again forever, so the text advances by at least one
            // byte.
            rest = &rest[period.at.end.clamp(1, rest.len())..];
        }
    }
    found
}

/// Whether two numbers are close enough that content may mean the given number.
pub(super) fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// Reads a number in a call. A text that a program would format differently, or with too many
/// digits for a number, is compared as text. An account number is an example.
pub(super) fn exact_number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.')
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && (!digits.starts_with('0') || digits == "0" || digits.starts_with("0."));
    text.parse().ok().filter(|_| is_plain && digits.len() <= DIGITS)
}

/// Returns the intended result of a calculation, whose last bits may differ.
fn decimal(value: f64) -> f64 {
    format!("{value:.14e}").parse().unwrap_or(value)
}

fn meant(tokens: &[Token]) -> Vec<f64> {
    let mut found = changes_of(tokens);
    let amounts = amounts::find_amounts(tokens);
    let mut at = 0;
    while at < tokens.len() {
        if let Some((_, used)) = ordinals::read_place(tokens, at) {
            at += used;
            continue;
        }
        let amount = amounts.iter().find(|a| a.at == at).map(|a| (decimal(a.value), a.len));
        let whole = || numbers::read_whole(tokens, at).map(|(n, used)| (f64::from(n), used));
        let plain = || plain_number(&tokens[at]).map(|n| (n, 1));
        match amount.or_else(whole).or_else(plain) {
            Some((value, used)) => {
                if stands_alone(tokens, at, used) {
                    found.push(if is_negative(tokens, at) { -value } else { value });
                }
                at += used.max(1);
            }
            None => at += 1,
        }
    }
    found
}

fn any(tokens: &[Token]) -> Vec<f64> {
    let percents = changes::find_percents(tokens);
    let both_ways = |value: f64| [changed(value, 1.0), changed(value, -1.0)].concat();
    let mut found: Vec<f64> =
        percents.iter().flat_map(|percent| both_ways(percent.value.abs())).collect();
    found.extend(amounts::find_amounts(tokens).iter().map(|amount| amount.value));
    for at in 0..tokens.len() {
        found.extend(numbers::read_whole(tokens, at).map(|(n, _)| f64::from(n)));
        found.extend(ordinals::read_place(tokens, at).map(|(n, _)| f64::from(n)));
        found.extend(plain_number(&tokens[at]));
    }
    let negative: Vec<f64> = found.iter().map(|value| -value).collect();
    found.extend(negative);
    found
}

/// Returns the numbers that can express the changes of a text: "lower it by 20%" is 20, -20, 0.2,
/// -0.2 or 0.8.
fn changes_of(tokens: &[Token]) -> Vec<f64> {
    let numbers = |percent: &changes::Percent| {
        let sign = match percent.is_signed {
            true => percent.value.signum(),
            false => changes::direction_near(tokens, percent.at).unwrap_or(1.0),
        };
        changed(percent.value.abs(), sign)
    };
    changes::find_percents(tokens).iter().flat_map(numbers).collect()
}

fn changed(percent: f64, sign: f64) -> [f64; 5] {
    let share = percent / 100.0;
    [percent, sign * percent, share, sign * share, 1.0 + sign * share].map(decimal)
}

fn plain_number(token: &Token) -> Option<f64> {
    (token.kind == TokenKind::Number).then(|| token.fold.replace(',', ".").parse().ok()).flatten()
}

/// Whether these tokens form a separate word.
fn stands_alone(tokens: &[Token], at: usize, used: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    let begins = !tokens[at].glued
        || before.is_none_or(|before| before.any(&BEFORE) || before.any(&MINUS) && !before.glued)
        || before.is_some_and(|sign| sign.any(&NAMING)) && at > 1 && is_word(&tokens[at - 2]);
    let Some(after) = tokens.get(at + used).filter(|after| after.glued) else { return begins };
    let goes_on = tokens.get(at + used + 1).is_some_and(|next| next.glued && !next.any(&AFTER));
    let is_unit = amounts::is_other_unit(after) || after.any(&UNITS);
    begins && (is_unit || after.any(&AFTER)) && !goes_on
}

fn is_word(token: &Token) -> bool {
    token.kind == TokenKind::Word && !token.glued
}

fn is_negative(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    tokens[at].glued && before.is_some_and(|before| before.any(&MINUS) && !before.glued)
}

/// Splits a text into overlapping parts. Returns each part with its position.
fn parts(text: &str) -> Vec<(usize, &str)> {
    let ends: Vec<(usize, usize)> = text
        .split_whitespace()
        .map(|word| {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            (start, start + word.len())
        })
        .collect();
    let part = |first: usize| {
        let last = (first + PART).min(ends.len()) - 1;
        (ends[first].0, &text[ends[first].0..ends[last].1])
    };
    (0..ends.len()).step_by(PART - REPEATED).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(text: &str, value: f64) -> bool {
        numbers_of(text, Reading::Meant).iter().any(|(_, found)| *found == value)
    }

    #[test]
    fn numbers_are_read_from_words_digits_amounts_and_percentage_changes() {
        for (text, value) in [
            ("add two of the second one", 2.0),
            ("lägg till tolv", 12.0),
            ("1,200.50 please", 1200.5),
            ("set it to 200k", 200_000.0),
            ("($25)", 25.0),
            ("2 kg, or 3kg", 3.0),
            ("take 2x", 2.0),
            ("it is -7 today", -7.0),
            ("lower it by 20%", -20.0),
            ("lower it by 20 percent", 0.8),
            ("raise it by 20%", 1.2),
            ("double it", 2.0),
            ("I want 3.", 3.0),
            ("lägg till 3st", 3.0),
            ("wait 45min", 45.0),
            ("partNo: CS-1, qty:4", 4.0),
            ("quantity=6", 6.0),
        ] {
            assert!(means(text, value), "{text}: {:?}", numbers_of(text, Reading::Meant));
        }
    }

    #[test]
    fn a_percentage_change_is_read_as_its_exact_decimal_factor() {
        for (text, value) in [
            ("lower it by 35%", 0.65),
            ("raise it by 0.7%", 1.007),
            ("lower it by 4.35%", 0.0435),
            ("set it to 4.35k", 4_350.0),
        ] {
            assert!(means(text, value), "{text}: {:?}", numbers_of(text, Reading::Meant));
        }
    }

    #[test]
    fn a_text_is_read_as_a_number_only_if_it_keeps_its_digits() {
        for text in ["7", "-7", "0", "0.5", "1200.50", "123456789012345"] {
            assert!(exact_number(text).is_some(), "{text}");
        }
        for text in
            ["inf", "-infinity", "NaN", "1e999", "1e3", "+7", "007", "", ".", "1234567890123456"]
        {
            assert!(exact_number(text).is_none(), "{text}");
        }
    }

    #[test]
    fn ordinals_and_digits_inside_names_are_not_read_as_numbers() {
        for (text, value) in [
            ("add the second one", 2.0),
            ("the 2nd", 2.0),
            ("den 2:a", 2.0),
            ("CS-1004", 1004.0),
            ("see /home/17/x", 17.0),
            ("10.0.0.1", 10.0),
            ("it is -7 today", 7.0),
            ("raise it by 20%", -20.0),
            ("v2beta", 2.0),
            ("at 10:30", 30.0),
            ("the 21st", 21.0),
        ] {
            assert!(!means(text, value), "{text}: {:?}", numbers_of(text, Reading::Meant));
        }
    }

    #[test]
    fn numbers_at_the_end_of_a_long_text_are_read() {
        let text = format!("{}forty-two and ninety", "word ".repeat(500));
        assert!(means(&text, 90.0));
        let found = numbers_of(&text, Reading::Any);
        assert!(found.iter().any(|(at, number)| is_near(*number, 40.0) && *at > 1_000));
    }
}
