//! Reads whole numbers that people write as digits, as words or joined, in English and Swedish. The
//! use of a number is left to the caller.

use crate::{
    ordinals,
    tokens::{Token, TokenKind},
};

/// The signs and words that mark a number as a percentage.
pub(crate) const PERCENT: &[&str] = &["%", "percent", "procent", "pct", "percentage"];

const CARDINALS: &[(&str, u32)] = &[
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("hundred", 100),
    ("dozen", 12),
    ("dussin", 12),
    ("halvdussin", 6),
    ("couple", 2),
    ("noll", 0),
    ("en", 1),
    ("ett", 1),
    ("tva", 2),
    ("tvaa", 2),
    ("tre", 3),
    ("fyra", 4),
    ("fem", 5),
    ("sex", 6),
    ("sju", 7),
    ("atta", 8),
    ("nio", 9),
    ("tio", 10),
    ("elva", 11),
    ("tolv", 12),
    ("tretton", 13),
    ("fjorton", 14),
    ("femton", 15),
    ("sexton", 16),
    ("sjutton", 17),
    ("arton", 18),
    ("nitton", 19),
    ("tjugo", 20),
    ("trettio", 30),
    ("fyrtio", 40),
    ("femtio", 50),
    ("sextio", 60),
    ("sjuttio", 70),
    ("attio", 80),
    ("nittio", 90),
    ("hundra", 100),
];

/// Returns the value of a number word.
pub fn cardinal(word: &str) -> Option<u32> {
    CARDINALS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

/// Returns all words for numbers and positions, for the lexicon.
pub fn number_words() -> impl Iterator<Item = &'static str> {
    CARDINALS.iter().map(|(name, _)| *name).chain(ordinals::ordinal_words())
}

/// Reads a whole number at `at`, in digits or words. The articles "en" and "ett" are read as 1.
pub fn read_whole(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    let token = tokens.get(at)?;
    if let Some(value) = token.int() {
        return Some((value, 1));
    }
    if token.kind != TokenKind::Word {
        return None;
    }
    if let Some(used) = half_dozen(tokens, at) {
        return Some((6, used));
    }
    let value = cardinal(&token.norm)?;
    let tens = (20..100).contains(&value);
    if tens
        && let Some(unit) = tokens
            .get(at + 1)
            .and_then(|next| cardinal(&next.norm))
            .filter(|unit| (1..10).contains(unit))
    {
        return Some((value + unit, 2));
    }
    Some((value, 1))
}

/// Words and signs that join names of things.
pub const JOINERS: &[&str] =
    &["and", "och", "&", ",", "/", "vs", "versus", "with", "med", "mot", "samt", "or", "eller"];
/// The joiners that mean a choice of one thing.
pub const CHOICES: &[&str] = &["or", "eller"];

/// Reads "half a dozen" or "ett halvt dussin" and returns the number of its tokens.
fn half_dozen(tokens: &[Token], at: usize) -> Option<usize> {
    let words: Vec<&str> = tokens[at..].iter().take(3).map(|token| token.norm.as_str()).collect();
    match words[..] {
        ["half", "a", "dozen"] | ["a" | "ett", "half" | "halvt", "dozen" | "dussin"] => Some(3),
        ["half" | "halvt", "dozen" | "dussin", ..] => Some(2),
        _ => None,
    }
}

/// Reads small joined numbers: "1 and 3", "2, 4 & 5", "#1 vs #2", "1, 2 or 3". Returns the numbers
/// and the number of their tokens.
pub fn read_joined(tokens: &[Token], at: usize) -> Option<(Vec<u32>, usize)> {
    let number = |at: usize| {
        let sign = usize::from(tokens.get(at)?.fold == "#");
        Some((tokens.get(at + sign)?.int().filter(|value| (1..=20).contains(value))?, sign + 1))
    };
    let joins = |at: usize| tokens.get(at).is_some_and(|token| token.any(JOINERS));
    let (first, used) = number(at)?;
    let (mut found, mut end) = (vec![first], at + used);
    loop {
        // Two joiners may follow each other, as in "1, 2, and 4".
        let joiners = usize::from(joins(end)) + usize::from(joins(end) && joins(end + 1));
        let Some((next, used)) = number(end + joiners).filter(|_| joiners > 0) else { break };
        found.push(next);
        end += joiners + used;
    }
    (found.len() > 1).then_some((found, end - at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;

    #[test]
    fn number_words_are_read() {
        let whole_of = |text: &str| read_whole(&tokens(text), 0).map(|(value, _)| value);
        for (text, value) in [
            ("two", 2),
            ("twelve", 12),
            ("twenty one", 21),
            ("två", 2),
            ("tolv", 12),
            ("ett", 1),
            ("14", 14),
            ("couple", 2),
            ("fem", 5),
            ("half a dozen", 6),
            ("halvt dussin", 6),
        ] {
            assert_eq!(whole_of(text), Some(value), "{text}");
        }
        assert_eq!(whole_of("shoe"), None);
        assert_eq!(whole_of("1.5"), None);
    }
}
