//! Decides from the surrounding words whether a number is a quantity. The counted things are not
//! considered.

use language::{Token, TokenKind, numbers, ordinals};

use super::words::{LABELS, ORDERS, PIECES};

/// Words that are followed by the number of top or bottom rows.
const RANKS: &[&str] = &["top", "topp", "bottom", "botten", "worst", "best", "samsta", "basta"];

/// Whether the number is the new quantity at the end of a change, as in "make the ridge pot 3".
pub(super) fn ends_change(tokens: &[Token], at: usize, end: usize) -> bool {
    let last = tokens[end.min(tokens.len())..].iter().all(|token| {
        token.kind == TokenKind::Punct || language::is_polite(&token.norm) || token.is("tack")
    });
    last && tokens[..at]
        .iter()
        .any(|token| token.any(&["make", "set", "change", "update", "gor", "satt", "andra"]))
        && !at.checked_sub(1).is_some_and(|i| tokens[i].any(LABELS))
}

/// Whether a change replaces this old quantity, as in "from 2 to 3" or "4 instead of 1".
pub(super) fn leaves_remainder(tokens: &[Token], at: usize) -> bool {
    let before = |back: usize, words: &[&str]| at >= back && tokens[at - back].any(words);
    let instead = before(1, &["of", "for"]) && before(2, &["instead", "istallet", "stallet"]);
    let from = before(1, &["from", "fran"])
        && tokens.get(at + 1).is_some_and(|next| next.any(&["to", "till"]));
    (instead || from) && numbers::read_whole(tokens, at).is_some_and(|(_, used)| used == 1)
}

/// Whether the number is a fraction of a thing, as in "half a pot" or "en halv".
pub(super) fn is_fraction(tokens: &[Token], at: usize) -> bool {
    let next = |words: &[&str]| tokens.get(at + 1).is_some_and(|next| next.any(words));
    tokens[at].any(&["halv", "halva"])
        || (tokens[at].is("half")
            && next(&["a", "an", "of", "the"])
            && numbers::read_whole(tokens, at).is_none())
}

/// Whether digits belong to a name, as in "ridge 300 black". Digits belong to the word before them,
/// unless that word asks for a number, such as "top" or "quantity".
pub(super) fn is_in_a_name(tokens: &[Token], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|i| &tokens[i]) else { return false };
    let name = before.kind == TokenKind::Word
        && !language::is_stop_word(&before.norm)
        && !before.any(ORDERS)
        && !before.any(PIECES)
        && !before.any(RANKS);
    let counted = tokens.get(at + 1).is_some_and(|next| next.any(PIECES))
        || before.any(&["quantity", "antal", "antalet", "qty", "times"]);
    tokens[at].kind == TokenKind::Number
        && name
        && !counted
        && ordinals::ordinal(&before.norm).is_none()
}
