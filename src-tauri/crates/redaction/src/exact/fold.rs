//! Folds invisible characters and characters that look like ASCII, so that a secret written with
//! them is found.

/// The fullwidth forms of the visible ASCII characters, and their distance from ASCII.
const FULLWIDTH: std::ops::RangeInclusive<char> = '\u{ff01}'..='\u{ff5e}';
const DISTANCE: u32 = 0xfee0;

/// Returns the character that `c` stands for. Returns none if the character is invisible.
pub(super) fn fold(c: char) -> Option<char> {
    if FULLWIDTH.contains(&c) {
        return char::from_u32(u32::from(c) - DISTANCE);
    }
    // This white space is kept, because a text is searched both with and without white space.
    let is_kept = matches!(c, ' '..='~' | '\t' | '\n' | '\r') || !contract::hidden::is_hidden(c);
    is_kept.then_some(c)
}

/// Whether folding leaves a text unchanged.
pub(super) fn is_folded(text: &str) -> bool {
    is_plain(text.as_bytes()) || text.chars().all(|c| fold(c) == Some(c))
}

/// Whether a text consists of visible ASCII characters and white space only. Most texts do, and
/// checking bytes is faster than decoding characters.
pub(super) fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r'))
}
