//! Finds the places at which a message may be divided into a question about a source and a request to
//! a pack. It must not know what the parts mean.

use std::ops::Range;

use language::TokenKind;

use crate::clauses::is_boundary;

/// The most places that are tried.
const MOST: usize = 6;

/// A place at which a message may be divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The bytes of the words and signs between both parts.
    pub(super) at: Range<usize>,
    /// Whether a sentence ends here.
    pub(super) ends_sentence: bool,
}

/// Returns the places at which a message may be divided.
pub(super) fn cuts(message: &str) -> Vec<Cut> {
    let mut found: Vec<Cut> = Vec::new();
    let mut end = 0;
    for token in language::tokens(message) {
        let place = message.get(end..).and_then(|rest| rest.find(token.raw.as_str()));
        let Some(place) = place else { continue };
        let at = end + place..end + place + token.raw.len();
        end = at.end;
        if !is_boundary(&token) {
            continue;
        }
        let ends_sentence =
            token.kind == TokenKind::Punct && [".", "?", "!"].contains(&token.fold.as_str());
        match found.last_mut() {
            // A comma and an "and" are one place.
            Some(last) if is_blank(message, last.at.end..at.start) => {
                last.at.end = at.end;
                last.ends_sentence |= ends_sentence;
            }
            Some(_) | None => found.push(Cut { at, ends_sentence }),
        }
    }
    found.retain(|cut| {
        !is_blank(message, 0..cut.at.start) && !is_blank(message, cut.at.end..message.len())
    });
    found.truncate(MOST);
    found
}

fn is_blank(message: &str, at: Range<usize>) -> bool {
    message.get(at).is_some_and(|text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::cuts;

    #[test]
    fn a_comma_and_a_joining_word_are_one_place() {
        let text = "spend in October, and add 2 lamps. Thanks!";
        let places: Vec<&str> = cuts(text).iter().map(|cut| &text[cut.at.clone()]).collect();
        assert_eq!(places, [", and", "."]);
    }
}
