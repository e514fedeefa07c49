//! Writes and reads placeholders such as `<email_1>`. Their syntax is defined only in this file.

use std::fmt;

use crate::Kind;

/// The kinds that have placeholders. A secret has none, because it is never restored.
fn placeholder_kinds() -> impl Iterator<Item = Kind> {
    Kind::ALL.iter().copied().filter(|kind| *kind != Kind::Secret)
}

/// Returns the kind with this name, or None if it has no placeholders.
pub(crate) fn kind_from_name(name: &str) -> Option<Kind> {
    placeholder_kinds().find(|kind| kind.name() == name)
}

/// A placeholder: a kind and a number within the session, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Placeholder {
    /// The kind of the replaced value.
    pub kind: Kind,
    /// The number of the replaced value among values of its kind.
    pub number: u32,
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}_{}>", self.kind.name(), self.number)
    }
}

/// The most digits that a number may have.
const DIGITS: usize = 7;

/// The result of reading a placeholder at a `<`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceholderMatch {
    /// A complete placeholder with its length in bytes.
    Whole(Placeholder, usize),
    /// A text that ends before the placeholder is complete.
    Cut,
    Other,
}

/// Reads a placeholder from the beginning of a text.
pub(crate) fn read(text: &str) -> PlaceholderMatch {
    let Some(rest) = text.strip_prefix('<') else { return PlaceholderMatch::Other };
    for kind in placeholder_kinds() {
        let name = kind.name();
        if let Some(number) = rest.strip_prefix(name).and_then(|rest| rest.strip_prefix('_')) {
            let length = number.bytes().take(DIGITS + 1).take_while(u8::is_ascii_digit).count();
            if length > DIGITS || number.starts_with('0') {
                return PlaceholderMatch::Other;
            }
            return match (number.as_bytes().get(length), number[..length].parse()) {
                (None, _) => PlaceholderMatch::Cut,
                (Some(b'>'), Ok(number)) => PlaceholderMatch::Whole(
                    Placeholder { kind, number },
                    1 + name.len() + 1 + length + 1,
                ),
                (Some(_), _) => PlaceholderMatch::Other,
            };
        }
    }
    let cut = placeholder_kinds().any(|kind| kind.name().starts_with(rest) || rest == kind.name());
    if cut { PlaceholderMatch::Cut } else { PlaceholderMatch::Other }
}

/// Returns all placeholders of a text with their ranges.
pub(crate) fn placeholders(
    text: &str,
) -> impl Iterator<Item = (std::ops::Range<usize>, Placeholder)> + '_ {
    text.match_indices('<').filter_map(|(at, _)| match read(&text[at..]) {
        PlaceholderMatch::Whole(placeholder, length) => Some((at..at + length, placeholder)),
        PlaceholderMatch::Cut | PlaceholderMatch::Other => None,
    })
}
