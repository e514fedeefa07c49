//! Splits a question into tokens that remember their place in the text. It must not know what words
//! mean.

use std::ops::Range;

/// The most bytes of a question. A longer one is declined.
pub(crate) const LONGEST: usize = 1_000;
/// The most tokens of a question.
pub(crate) const MOST: usize = 160;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters, perhaps with digits after them.
    Word,
    /// Digits, with points, commas and hyphens between them.
    Number,
    /// A sign.
    Sign,
}

/// A word, number or sign of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The bytes in the text.
    pub range: Range<usize>,
    /// The text as it was written.
    pub raw: String,
    /// The text in lower case, without diacritics and apostrophes.
    pub fold: String,
    /// The kind.
    pub kind: Kind,
    /// Whether it begins with a capital letter.
    pub is_capital: bool,
    /// Whether no space is before it.
    pub is_glued: bool,
}

impl Token {
    /// Returns the value of plain digits.
    pub fn whole(&self) -> Option<u32> {
        let is_plain = self.kind == Kind::Number && self.fold.bytes().all(|b| b.is_ascii_digit());
        is_plain.then(|| self.fold.parse().ok()).flatten()
    }
}

/// Splits a text into tokens.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut out: Vec<Token> = Vec::new();
    let (mut at, mut is_spaced) = (0, true);
    while at < chars.len() && out.len() <= MOST {
        let first = chars[at].1;
        if first.is_whitespace() {
            is_spaced = true;
            at += 1;
            continue;
        }
        let (end, kind) = match first {
            c if c.is_ascii_digit() => (number_end(&chars, at), Kind::Number),
            c if c.is_alphanumeric() => (word_end(&chars, at), Kind::Word),
            _ => (at + 1, Kind::Sign),
        };
        let from = chars[at].0;
        let to = chars.get(end).map_or(text.len(), |(byte, _)| *byte);
        let raw = &text[from..to];
        out.push(Token {
            range: from..to,
            raw: raw.to_owned(),
            fold: if kind == Kind::Sign { raw.to_owned() } else { language::fold(raw) },
            kind,
            is_capital: first.is_uppercase(),
            is_glued: !is_spaced,
        });
        is_spaced = false;
        at = end;
    }
    out
}

/// Returns the end of a number. A hyphen joins the parts of a day or month such as `2026-11-03`.
fn number_end(chars: &[(usize, char)], from: usize) -> usize {
    let is_digit = |at: usize| chars.get(at).is_some_and(|(_, c)| c.is_ascii_digit());
    let digits = |at: usize, count: usize| (at..at + count).all(is_digit);
    let hyphen = |at: usize| chars.get(at).is_some_and(|(_, c)| *c == '-');
    if digits(from, 4) && hyphen(from + 4) && digits(from + 5, 2) && !is_digit(from + 7) {
        let has_day = hyphen(from + 7) && digits(from + 8, 2) && !is_digit(from + 10);
        return from + if has_day { 10 } else { 7 };
    }
    let mut at = from;
    while is_digit(at) || (matches!(chars.get(at), Some((_, '.' | ','))) && is_digit(at + 1)) {
        at += 1;
    }
    at
}

fn word_end(chars: &[(usize, char)], from: usize) -> usize {
    let is_apostrophe = |c: char| matches!(c, '\'' | '’' | '‘' | '´' | '`');
    let mut at = from;
    while let Some((_, c)) = chars.get(at) {
        let is_inside =
            is_apostrophe(*c) && chars.get(at + 1).is_some_and(|(_, next)| next.is_alphabetic());
        if !c.is_alphanumeric() && !is_inside && !language::is_mark(*c) {
            break;
        }
        at += 1;
    }
    at
}

/// Returns the words and numbers of a name in folded form, without signs.
pub(crate) fn name_words(name: &str) -> Vec<String> {
    let spaced = name.replace('_', " ");
    let words = tokens(&spaced).into_iter().filter(|token| token.kind != Kind::Sign);
    words.map(|token| token.fold).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_into_words_numbers_and_signs_with_their_places() {
        let found: Vec<String> =
            tokens("What's 200k on 2026-11-03, Q3? 1,5 %").into_iter().map(|t| t.fold).collect();
        assert_eq!(found, ["whats", "200", "k", "on", "2026-11-03", ",", "q3", "?", "1,5", "%"]);
        let kostnad = &tokens("  Kostnad för Umeå")[2];
        assert_eq!((kostnad.range.clone(), kostnad.fold.as_str()), (15..20, "umea"));
        assert!(kostnad.is_capital);
        // Some systems write an accent as a sign after its letter.
        let decomposed = &tokens("Umea\u{30a} x")[0];
        assert_eq!((decomposed.range.clone(), decomposed.fold.as_str()), (0..6, "umea"));
        assert_eq!(name_words("Sign-ups (all)"), ["sign", "ups", "all"]);
    }
}
