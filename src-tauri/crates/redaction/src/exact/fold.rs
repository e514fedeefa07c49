//! Folds characters that look like others or that nobody sees, so that a secret is found in them.

/// The fullwidth forms of the visible ASCII characters, and their distance.
const FULLWIDTH: std::ops::RangeInclusive<char> = '\u{ff01}'..='\u{ff5e}';
const DISTANCE: u32 = 0xfee0;

/// Returns the character that one stands for. None if a reader does not see it.
pub(super) fn fold(c: char) -> Option<char> {
    if FULLWIDTH.contains(&c) {
        return char::from_u32(u32::from(c) - DISTANCE);
    }
    // This white space is searched as it is, and a text also without it.
    let is_kept = matches!(c, ' '..='~' | '\t' | '\n' | '\r') || !contract::hidden::is_hidden(c);
    is_kept.then_some(c)
}

/// Whether folding leaves a text as it is.
pub(super) fn is_folded(text: &str) -> bool {
    is_plain(text.as_bytes()) || text.chars().all(|c| fold(c) == Some(c))
}

/// Whether a text has visible ASCII characters and white space alone. Most texts have, and each byte
/// is looked at faster than a character.
pub(super) fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r'))
}
