//! Finds personal data and keys by patterns. Each match must also pass a check (check digit, shape,
//! length), because the texts are full of campaign ids, prices, dates and quantities. Takes linear
//! time.

mod addresses;
mod digits;
mod iban;
mod keys;

use std::ops::Range;

use crate::{Kind, Level};

/// The context of a text, on which some patterns depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextContext<'a> {
    /// Free text of a person, a model or the program.
    Text,
    /// A text member of a JSON object, with the member's name.
    Member(&'a str),
    /// A number member of a JSON object, with the member's name.
    Number(&'a str),
}

impl TextContext<'_> {
    /// Whether the member's name marks its value as an id. A bare run of digits in an id is not
    /// personal data.
    fn is_id(self) -> bool {
        let (Self::Member(name) | Self::Number(name)) = self else { return false };
        let name = name.to_ascii_lowercase();
        ["id", "ids", "no", "nr", "number", "sku", "ean", "gtin"].contains(&name.as_str())
            || ["_id", "_ids", "_no", "_nr", "number", "_sku", "ean", "gtin", "partno"]
                .iter()
                .any(|end| name.ends_with(end))
    }
}

pub(crate) type Span = (Range<usize>, Kind);

/// Whether a bare number is long enough to be personal data: a card number has at least 15 digits.
pub(crate) fn may_be(number: u64) -> bool {
    number >= 100_000_000_000_000
}

/// Returns the matches in a text, unsorted; they may overlap.
pub(crate) fn spans(text: &str, level: Level, context: TextContext<'_>) -> Vec<Span> {
    if level == Level::None {
        return Vec::new();
    }
    // One scan of the bytes finds which patterns can match at all. Most texts match none.
    find_spans(&Facts::of(text), text, level, context)
}

/// A text to search, with its context.
struct Search<'a> {
    text: &'a str,
    level: Level,
    context: TextContext<'a>,
    facts: &'a Facts,
}

impl Search<'_> {
    /// Whether the text is a number of JSON. Only digits can match in it.
    fn is_number(&self) -> bool {
        matches!(self.context, TextContext::Number(_))
    }
}

/// The groups of patterns. Each group checks by itself where its patterns apply.
const GROUPS: [fn(&Search<'_>, &mut Vec<Span>); 4] =
    [digits::find, addresses::find, iban::find, keys::find];

fn find_spans(facts: &Facts, text: &str, level: Level, context: TextContext<'_>) -> Vec<Span> {
    if let TextContext::Member(name) = context
        && keys::is_secret_name(name)
        && text.trim().len() >= 4
        && text != crate::MARK
    {
        return vec![(0..text.len(), Kind::Key)];
    }
    let search = Search { text, level, context, facts };
    let mut found = Vec::new();
    for find in GROUPS {
        find(&search, &mut found);
    }
    found
}

#[derive(Default)]
struct Facts {
    /// The most digits in one run of digits and separators.
    digits: usize,
    /// Whether two capitals stand before two digits, as at the beginning of an IBAN.
    country: bool,
    at_sign: bool,
    dots: bool,
    slashes: bool,
    /// Whether the text contains a character that can separate a name from its value.
    names: bool,
}

impl Facts {
    fn of(text: &str) -> Self {
        let mut facts = Self::default();
        let (mut stretch, mut capitals, mut behind) = (0, 0, 0);
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' => {
                    stretch += 1;
                    facts.digits = facts.digits.max(stretch);
                    behind += usize::from(capitals >= 2);
                    facts.country |= behind == 2;
                    continue;
                }
                b'A'..=b'Z' => {
                    (stretch, capitals) = (0, if behind > 0 { 1 } else { capitals + 1 });
                    behind = 0;
                    continue;
                }
                b' ' | b'-' | b'+' | b'(' | b')' => {}
                b'.' => facts.dots = true,
                b'/' => facts.slashes = true,
                _ => stretch = 0,
            }
            match byte {
                b'@' | b'%' => facts.at_sign = true,
                b':' | b'=' => facts.names = true,
                _ => {}
            }
            (capitals, behind) = (0, 0);
        }
        facts
    }
}

/// Returns the character before a position.
fn before(text: &str, at: usize) -> Option<char> {
    text[..at].chars().next_back()
}

/// Returns the two characters after a position.
fn after(text: &str, at: usize) -> (Option<char>, Option<char>) {
    let mut rest = text[at..].chars();
    (rest.next(), rest.next())
}

/// Whether a number is not part of a word, a longer number, a decimal or a date.
fn stands_alone(text: &str, range: &Range<usize>) -> bool {
    let before = before(text, range.start);
    let glued = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '_' | '-' | '.' | ',' | '+' | '/' | '#' | '$' | '€' | '£')
    };
    let open = match before {
        // A comma may separate list items if it follows white space or begins the text. A point
        // always belongs to a decimal.
        Some(',') => !text[..range.start - 1].ends_with(|c: char| c.is_ascii_digit()),
        Some('/' | '-' | '.') => !text[..range.start - 1].ends_with(|c: char| c.is_alphanumeric()),
        Some(c) => !glued(c),
        None => true,
    };
    let closed = match after(text, range.end) {
        (Some('.' | ',' | '-' | '/' | ':'), Some(next)) => !next.is_alphanumeric(),
        (Some(c), _) => !(c.is_alphanumeric() || matches!(c, '_' | '%' | '€' | '$' | '£')),
        (None, _) => true,
    };
    open && closed
}

/// Whether the Luhn check digit is correct. Payment cards and Swedish personal numbers use it.
fn luhn(digits: impl DoubleEndedIterator<Item = u32>) -> bool {
    let sum: u32 = digits
        .rev()
        .enumerate()
        .map(|(at, digit)| if at % 2 == 0 { digit } else { digit * 2 / 10 + digit * 2 % 10 })
        .sum();
    sum.is_multiple_of(10)
}

/// Compiles a pattern of this crate. An invalid pattern matches nothing, and a test detects that.
fn pattern(text: &str) -> Option<regex::Regex> {
    regex::Regex::new(text).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Generates texts from the characters that patterns look for, so that matches are frequent.
    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[0-9]{1,6}",
            "[ ./()+:=@-]",
            "(SE|GB|DE)[0-9]{2} ?[A-Z0-9]{4}",
            "(token|Bearer |api_key|sk-)[:= ]?",
            "[a-zA-Zö%_]{1,4}",
            Just("4111 1111 1111 1111".to_owned()),
            Just("811228-9874".to_owned()),
            Just("+46 (0)8-123 456 78".to_owned()),
            Just("GB82 WEST 1234 5698 7654 32".to_owned()),
            Just("abcdefgh12345678".to_owned()),
        ];
        prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        #[test]
        fn the_pre_check_skips_no_pattern_that_would_match(text in texts()) {
            let all = Facts { digits: usize::MAX, country: true, at_sign: true, dots: true, slashes: true, names: true };
            for level in [Level::Basic, Level::Strict] {
                for context in [TextContext::Text, TextContext::Member("note"), TextContext::Member("order_no")] {
                    prop_assert_eq!(spans(&text, level, context), find_spans(&all, &text, level, context));
                }
            }
        }
    }
}
