//! The one spelling of a placeholder: `<email_1>`.

use std::fmt;

use crate::Kind;

/// The kinds that have placeholders. A secret has none: nothing brings it back.
const PLACEHOLDER_KINDS: [Kind; 9] = [Kind::Email, Kind::Phone, Kind::Card, Kind::Iban, Kind::PersonalId, Kind::Key, Kind::Url, Kind::Token, Kind::Literal];

/// The kind of a name, if there are placeholders of it.
pub(crate) fn of_name(name: &str) -> Option<Kind> {
    PLACEHOLDER_KINDS.into_iter().find(|kind| kind.name() == name)
}

/// One placeholder: a kind and its number in the session, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Placeholder {
    pub kind: Kind,
    pub number: u32,
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}_{}>", self.kind.name(), self.number)
    }
}

/// Digits a number may have.
const DIGITS: usize = 7;

/// What stands at a `<`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceholderMatch {
    /// A placeholder, this many bytes long.
    Whole(Placeholder, usize),
    /// The text ends before it could be told.
    Cut,
    Other,
}

/// Reads a placeholder from the beginning of a text.
pub(crate) fn read(text: &str) -> PlaceholderMatch {
    let Some(rest) = text.strip_prefix('<') else { return PlaceholderMatch::Other };
    for kind in PLACEHOLDER_KINDS {
        let name = kind.name();
        if let Some(number) = rest.strip_prefix(name).and_then(|rest| rest.strip_prefix('_')) {
            let length = number.bytes().take(DIGITS + 1).take_while(u8::is_ascii_digit).count();
            if length > DIGITS || number.starts_with('0') {
                return PlaceholderMatch::Other;
            }
            return match (number.as_bytes().get(length), number[..length].parse()) {
                (None, _) => PlaceholderMatch::Cut,
                (Some(b'>'), Ok(number)) => PlaceholderMatch::Whole(Placeholder { kind, number }, 1 + name.len() + 1 + length + 1),
                (Some(_), _) => PlaceholderMatch::Other,
            };
        }
    }
    let cut = PLACEHOLDER_KINDS.into_iter().any(|kind| kind.name().starts_with(rest) || rest == kind.name());
    if cut { PlaceholderMatch::Cut } else { PlaceholderMatch::Other }
}

/// All placeholders of a text, as they stand there.
pub(crate) fn placeholders(text: &str) -> impl Iterator<Item = (std::ops::Range<usize>, Placeholder)> + '_ {
    text.match_indices('<').filter_map(|(at, _)| match read(&text[at..]) {
        PlaceholderMatch::Whole(placeholder, length) => Some((at..at + length, placeholder)),
        PlaceholderMatch::Cut | PlaceholderMatch::Other => None,
    })
}
