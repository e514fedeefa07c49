//! Removes the encodings of a text that a server would decode: percent-encoding and JSON's escapes.

/// The most layers of encoding that are removed from an argument.
const READINGS: usize = 8;

/// Returns a text unchanged, and with each layer of encoding removed.
pub(super) fn of(text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned()];
    while let Some(next) = all.last().filter(|_| all.len() < READINGS).and_then(|one| decode(one)) {
        all.push(next);
    }
    all
}

/// Returns whether the text is still encoded after the maximum number of decoding passes. Such a
/// text is treated as a destination that no message can name.
pub(super) fn is_unreadable(text: &str) -> bool {
    let all = of(text);
    all.len() == READINGS && all.last().is_some_and(|last| decode(last).is_some())
}

/// Returns the text with one layer of percent-encoding or of JSON's escapes removed. Returns none
/// if the text has neither.
fn decode(text: &str) -> Option<String> {
    let plain = percent_encoding::percent_decode_str(text).decode_utf8_lossy();
    let plain = if plain.contains('\\') { unescape(&plain).into() } else { plain };
    (plain != text).then(|| plain.into_owned())
}

/// Removes the escapes of JSON that can stand in an address: `\/` and `\u003a`.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code = after.strip_prefix('u').and_then(|code| code.get(..4));
        let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
        rest = match code.and_then(char::from_u32) {
            Some(letter) => {
                out.push(letter);
                &after[5..]
            }
            None if after.starts_with('/') => after,
            None => {
                out.push('\\');
                after
            }
        };
    }
    out.push_str(rest);
    out
}
