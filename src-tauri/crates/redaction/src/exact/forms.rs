//! Computes the byte sequences by which a secret is found: the secret and pieces of it, in each
//! encoding. Escapes (percent, JSON, HTML) have no forms here; the text is unescaped instead.

use std::ops::Range;

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};

/// Values with fewer bytes are not treated as secrets.
pub(super) const SHORTEST: usize = 6;
/// Length in bytes of the shortest piece by which a secret is recognised: 6 for short secrets, 12
/// for long ones. For secrets of 12 bytes or more, a half is never shorter than its piece.
const PIECE: Range<usize> = 6..12;
/// The most pieces of a form that are searched for.
const PIECES: usize = 64;

/// A byte sequence to search for.
pub(super) struct Form {
    pub(super) bytes: Vec<u8>,
    /// Whether the form is also searched for in another case. In base64, a character in another
    /// case has another value.
    pub(super) any_case: bool,
    /// Whether the base64 character before the match also carries bits of the secret.
    before: bool,
    after: bool,
}

impl Form {
    fn plain(bytes: Vec<u8>) -> Self {
        Self { any_case: true, ..Self::base64(bytes) }
    }

    fn base64(bytes: Vec<u8>) -> Self {
        Self { bytes, any_case: false, before: false, after: false }
    }

    /// Widens a match by the adjacent base64 characters that carry bits of the secret.
    pub(super) fn widen(&self, text: &[u8], hit: Range<usize>) -> Range<usize> {
        let before = self.before && hit.start > 0 && is_base64(text[hit.start - 1]);
        let after = self.after && text.get(hit.end).is_some_and(|byte| is_base64(*byte));
        hit.start - usize::from(before)..hit.end + usize::from(after)
    }
}

/// Whether a byte is a character of base64, in either alphabet.
pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte)
}

/// Returns all forms of a secret.
pub(super) fn forms_of_secret(secret: &str) -> Vec<Form> {
    let mut forms = Vec::new();
    let piece = secret.len().div_ceil(2).clamp(PIECE.start, PIECE.end);
    let plain = secret.as_bytes();
    forms.push(Form::plain(plain.to_vec()));
    forms.extend(pieces(plain, piece).filter(|bytes| is_keylike(bytes)).map(Form::plain));
    for other in [secret.replace(' ', "+"), secret.split_whitespace().collect()] {
        if other != secret && other.len() >= SHORTEST {
            forms.push(Form::plain(other.into_bytes()));
        }
    }
    let hex = hex_digits(plain);
    forms.extend(pieces(&hex, piece * 2).map(Form::plain));
    let pairs: Vec<&[u8]> = hex.chunks(2).collect();
    forms.push(Form::plain(pairs.join(&b':')));
    forms.push(Form::plain(pairs.join(&b'-')));
    forms.push(Form::plain(hex));
    for offset in 0..3 {
        let (core, before, after) = base64_core(plain, offset);
        let url: Vec<u8> = core
            .iter()
            .map(|byte| {
                if *byte == b'+' {
                    b'-'
                } else if *byte == b'/' {
                    b'_'
                } else {
                    *byte
                }
            })
            .collect();
        let both = if url == core { vec![core] } else { vec![core, url] };
        for bytes in both {
            forms.extend(pieces(&bytes, (piece * 4).div_ceil(3)).map(Form::base64));
            forms.push(Form { before, after, ..Form::base64(bytes) });
        }
    }
    forms
}

/// Returns the pieces of this length: all of them, or at most `PIECES` at even distances.
fn pieces(bytes: &[u8], length: usize) -> impl Iterator<Item = Vec<u8>> + '_ {
    let step = (bytes.len() / PIECES).max(1);
    bytes.windows(length).step_by(step).map(<[u8]>::to_vec)
}

/// Whether a piece contains both letters and digits. A piece of letters only could be an ordinary
/// word, which would then be removed from every text.
fn is_keylike(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_digit) && bytes.iter().any(u8::is_ascii_alphabetic)
}

fn hex_digits(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

/// Returns the base64 characters that depend only on the secret if `offset` bytes precede it in its
/// group of three, and whether the characters before and after carry some of its bits.
fn base64_core(secret: &[u8], offset: usize) -> (Vec<u8>, bool, bool) {
    let padded: Vec<u8> = std::iter::repeat_n(0, offset).chain(secret.iter().copied()).collect();
    let text = STANDARD_NO_PAD.encode(&padded).into_bytes();
    let first = (offset * 8).div_ceil(6);
    let last = padded.len() * 8 / 6;
    (
        text.get(first..last).unwrap_or_default().to_vec(),
        offset != 0,
        !padded.len().is_multiple_of(3),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_base64_text_with_the_secret_contains_its_base64_core() {
        for (offset, before) in ["", "a", "ab"].into_iter().enumerate() {
            for after in ["", "x", "xy", "xyz"] {
                let (core, ..) = base64_core(b"s3cret-value", offset);
                let text = STANDARD_NO_PAD.encode(format!("{before}s3cret-value{after}"));
                assert!(text.contains(std::str::from_utf8(&core).unwrap()), "{text}");
                assert!(core.len() >= 14, "nearly all of it");
            }
        }
    }
}
