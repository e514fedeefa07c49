//! The forms of one secret that are searched for: the whole of it and pieces of it, in each encoding.
//! Escapes (percent, JSON, HTML) are not forms: the text is unescaped instead, however much of it was escaped.

use std::ops::Range;

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};

/// Shorter values are no secrets.
pub(super) const SHORTEST: usize = 6;
/// The shortest piece by which a longer secret is recognised. Half of a secret is never shorter for secrets of 12 bytes on.
const PIECE: Range<usize> = 6..12;
/// Pieces of one form that are searched for.
const PIECES: usize = 64;

/// Bytes to search for.
pub(super) struct Form {
    pub(super) bytes: Vec<u8>,
    /// The neighbouring base64 character carries some bits of the secret, too.
    before: bool,
    after: bool,
}

impl Form {
    fn plain(bytes: Vec<u8>) -> Self {
        Self { bytes, before: false, after: false }
    }

    /// The hit with the neighbours that belong to it.
    pub(super) fn widen(&self, text: &[u8], hit: Range<usize>) -> Range<usize> {
        let is_base64 = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || b"+/-_".contains(b));
        let before = self.before && hit.start > 0 && is_base64(text.get(hit.start - 1));
        let after = self.after && is_base64(text.get(hit.end));
        hit.start - usize::from(before)..hit.end + usize::from(after)
    }
}

/// All forms of a secret.
pub(super) fn of(secret: &str) -> Vec<Form> {
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
    for hex in [hex_digits(plain, false), hex_digits(plain, true)] {
        forms.extend(pieces(&hex, piece * 2).map(Form::plain));
        let pairs: Vec<&[u8]> = hex.chunks(2).collect();
        forms.push(Form::plain(pairs.join(&b':')));
        forms.push(Form::plain(pairs.join(&b'-')));
        forms.push(Form::plain(hex));
    }
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
            forms.extend(pieces(&bytes, (piece * 4).div_ceil(3)).map(Form::plain));
            forms.push(Form { bytes, before, after });
        }
    }
    forms
}

/// Pieces of this length at every place, or at evenly spread places when there are very many.
fn pieces(bytes: &[u8], length: usize) -> impl Iterator<Item = Vec<u8>> + '_ {
    let step = (bytes.len() / PIECES).max(1);
    bytes.windows(length).step_by(step).map(<[u8]>::to_vec)
}

/// Letters and digits together: a piece that is only a word would take that word out of every text.
fn is_keylike(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_digit) && bytes.iter().any(u8::is_ascii_alphabetic)
}

fn hex_digits(bytes: &[u8], upper: bool) -> Vec<u8> {
    bytes.iter().flat_map(|byte| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") }.into_bytes()).collect()
}

/// The characters of base64 that depend on the secret alone when `offset` bytes stand before it in its group of three,
/// and whether a character before and after carries some of its bits.
fn base64_core(secret: &[u8], offset: usize) -> (Vec<u8>, bool, bool) {
    let padded: Vec<u8> = std::iter::repeat_n(0, offset).chain(secret.iter().copied()).collect();
    let text = STANDARD_NO_PAD.encode(&padded).into_bytes();
    let first = (offset * 8).div_ceil(6);
    let last = padded.len() * 8 / 6;
    (text.get(first..last).unwrap_or_default().to_vec(), offset != 0, !padded.len().is_multiple_of(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_stands_in_every_base64_that_holds_the_secret() {
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
