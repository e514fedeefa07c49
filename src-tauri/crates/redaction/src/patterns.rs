//! What looks like personal data or a key. Every pattern is checked by what such things must satisfy (check digits, shapes,
//! lengths), because campaign ids, prices, dates and quantities are what people here work with. Linear in the text.

mod digits;
mod iban;
mod keys;
mod words;

use std::ops::Range;

use crate::{Kind, Level};

/// Where a text stands, as far as it matters for what it can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    /// Words of a person, a model or the program.
    Text,
    /// A text of a JSON object, under this name.
    Member(&'a str),
    /// A number of a JSON object, under this name.
    Number(&'a str),
}

impl Place<'_> {
    /// The member's own name says that this is an id: a bare run of digits is that id and nothing else.
    fn is_id(self) -> bool {
        let (Self::Member(name) | Self::Number(name)) = self else { return false };
        let name = name.to_ascii_lowercase();
        ["id", "ids", "no", "nr", "number", "sku", "ean", "gtin"].contains(&name.as_str())
            || ["_id", "_ids", "_no", "_nr", "number", "_sku", "ean", "gtin", "partno"].iter().any(|end| name.ends_with(end))
    }
}

pub(crate) type Span = (Range<usize>, Kind);

/// Whether a bare number may be anything at all: a card has 15 digits at least.
pub(crate) fn may_be(number: u64) -> bool {
    number >= 100_000_000_000_000
}

/// What a text holds, in no order; spans may overlap.
pub(crate) fn spans(text: &str, level: Level, place: Place<'_>) -> Vec<Span> {
    let mut found = Vec::new();
    if level == Level::None {
        return found;
    }
    if let Place::Number(_) = place {
        digits::cards(text, place, &mut found);
        return found;
    }
    // A look over the bytes says which patterns can match at all: most texts of a table hold none of them.
    let facts = Facts::of(text);
    if let Place::Member(name) = place
        && keys::is_secret_name(name)
        && text.trim().len() >= 4
        && text != crate::MARK
    {
        found.push((0..text.len(), Kind::Key));
        return found;
    }
    if facts.at_sign {
        words::emails(text, &mut found);
    }
    if facts.digits >= 14 {
        digits::cards(text, place, &mut found);
    }
    if facts.digits >= 9 {
        digits::personal_ids(text, &mut found);
    }
    if facts.digits >= 8 {
        digits::phones(text, &mut found);
        iban::ibans(text, &mut found);
    }
    if text.len() >= 12 {
        keys::keys(text, &mut found);
    }
    if level == Level::Strict {
        if facts.dots || facts.slashes {
            words::urls(text, &mut found);
        }
        if text.len() >= words::TOKEN {
            words::tokens(text, &mut found);
        }
    }
    found
}

struct Facts {
    digits: usize,
    at_sign: bool,
    dots: bool,
    slashes: bool,
}

impl Facts {
    fn of(text: &str) -> Self {
        let mut facts = Self { digits: 0, at_sign: false, dots: false, slashes: false };
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' => facts.digits += 1,
                b'@' | b'%' => facts.at_sign = true,
                b'.' => facts.dots = true,
                b'/' => facts.slashes = true,
                _ => {}
            }
        }
        facts
    }
}

/// The character before a place.
fn before(text: &str, at: usize) -> Option<char> {
    text[..at].chars().next_back()
}

/// The characters after a place.
fn after(text: &str, at: usize) -> (Option<char>, Option<char>) {
    let mut rest = text[at..].chars();
    (rest.next(), rest.next())
}

/// A number stands alone: it is no part of a word, a longer number, a decimal or a date.
fn stands_alone(text: &str, range: &Range<usize>) -> bool {
    let before = before(text, range.start);
    let glued = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ',' | '+' | '/' | '#' | '$' | '€' | '£');
    let open = match before {
        // After white space or at the beginning the comma of a list may stand before it, never the point of a decimal.
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

/// The check digit of payment cards and Swedish personal numbers.
fn luhn(digits: impl DoubleEndedIterator<Item = u32>) -> bool {
    let sum: u32 = digits.rev().enumerate().map(|(at, digit)| if at % 2 == 0 { digit } else { digit * 2 / 10 + digit * 2 % 10 }).sum();
    sum.is_multiple_of(10)
}

/// A pattern of the program; one that does not compile matches nothing, which a test would see.
fn pattern(text: &str) -> Option<regex::Regex> {
    regex::Regex::new(text).ok()
}
