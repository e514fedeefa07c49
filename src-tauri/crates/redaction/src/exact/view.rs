//! A text after folding and unescaping or without white space, with a map from each byte to its
//! place in the original text.

use std::{borrow::Cow, ops::Range};

use super::fold::{fold, is_folded, is_plain};

/// Whether a view maps its bytes back to the original text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Kept,
    Lost,
}

/// A text or a decoded version of a text, always folded.
pub(super) struct View<'a> {
    bytes: Cow<'a, [u8]>,
    /// The source range of each byte. None for unchanged text, and for views without a map.
    from: Option<Vec<(u32, u32)>>,
}

impl<'a> View<'a> {
    pub(super) fn of(text: &'a str, way: Way) -> Self {
        Self { bytes: Cow::Borrowed(text.as_bytes()), from: None }.into_folded(way)
    }

    /// Returns the view without invisible characters, and with characters that look like ASCII
    /// replaced by ASCII.
    fn into_folded(self, way: Way) -> Self {
        if is_plain(&self.bytes) || self.bytes.utf8_chunks().all(|chunk| is_folded(chunk.valid())) {
            return self;
        }
        let (mut bytes, mut from) = (Vec::with_capacity(self.bytes.len()), Vec::new());
        let mut add = |meant: &[u8], source: Range<usize>| {
            bytes.extend_from_slice(meant);
            if way == Way::Kept {
                from.extend(std::iter::repeat_n(self.source_range(source), meant.len()));
            }
        };
        let mut at = 0;
        for chunk in self.bytes.utf8_chunks() {
            for c in chunk.valid().chars() {
                let source = at..at + c.len_utf8();
                at = source.end;
                if let Some(meant) = fold(c) {
                    add(meant.encode_utf8(&mut [0; 4]).as_bytes(), source);
                }
            }
            let invalid = at..at + chunk.invalid().len();
            at = invalid.end;
            chunk.invalid().iter().zip(invalid).for_each(|(byte, at)| add(&[*byte], at..at + 1));
        }
        View { bytes: Cow::Owned(bytes), from: (way == Way::Kept).then_some(from) }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Converts a range of this view into a range of the original text.
    pub(super) fn range(&self, range: Range<usize>) -> Range<usize> {
        let Some(from) = &self.from else { return range };
        let start = from.get(range.start).map_or(0, |(start, _)| *start as usize);
        let end = range
            .end
            .checked_sub(1)
            .and_then(|last| from.get(last))
            .map_or(start, |(_, end)| *end as usize);
        start..end.max(start)
    }

    /// Whether the view contains any of these bytes.
    pub(super) fn has_any(&self, marks: &[u8]) -> bool {
        self.bytes.iter().any(|byte| marks.contains(byte))
    }

    /// Returns the sets of escape marks to decode: all together and, if the view has several, each
    /// mark alone. A byte that begins an escape in one encoding may be a letter of the secret in
    /// another.
    pub(super) fn escape_families(&self) -> Vec<&'static [u8]> {
        let present: Vec<&[u8]> =
            [&b"%"[..], b"\\", b"&"].into_iter().filter(|mark| self.has_any(mark)).collect();
        match present.len() {
            0 | 1 => present,
            _ => present.into_iter().chain([&b"%\\&"[..]]).collect(),
        }
    }

    /// Returns the view up to a position.
    pub(super) fn cut_at(&self, at: usize) -> View<'_> {
        View {
            bytes: Cow::Borrowed(&self.bytes[..at]),
            from: self.from.as_ref().map(|from| from[..at].to_vec()),
        }
    }

    /// Returns the position of an escape with one of these marks that begins in the view and that
    /// following text could complete.
    pub(super) fn open_escape(&self, marks: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < self.bytes.len() {
            at += self.bytes[at..].iter().position(|byte| marks.contains(byte))?;
            let here = &self.bytes[at..];
            match escape(here) {
                Some((_, length)) => at += length,
                None if may_become_escape(here) => return Some(at),
                None => at += 1,
            }
        }
        None
    }

    /// Returns the beginning of the escape, or of the dropped characters, around a position of the
    /// original text. Returns the position itself if it is in neither.
    pub(super) fn escape_start(&self, at: usize) -> usize {
        let Some(from) = &self.from else { return at };
        let after = from.partition_point(|(start, _)| (*start as usize) < at);
        let before = after.checked_sub(1).and_then(|last| from.get(last)).copied();
        let (start, end) = before.unwrap_or_default();
        if end as usize > at {
            start as usize
        } else if from.get(after).is_some_and(|(next, _)| *next as usize == at) {
            at
        } else {
            end as usize
        }
    }

    fn source_range(&self, range: Range<usize>) -> (u32, u32) {
        let range = self.range(range);
        (
            u32::try_from(range.start).unwrap_or(u32::MAX),
            u32::try_from(range.end).unwrap_or(u32::MAX),
        )
    }

    /// Returns a view without white space, or None if there is no white space.
    pub(super) fn without_spaces(&self) -> Option<View<'static>> {
        self.bytes.iter().any(u8::is_ascii_whitespace).then(|| {
            let kept =
                || self.bytes.iter().enumerate().filter(|(_, byte)| !byte.is_ascii_whitespace());
            let bytes = kept().map(|(_, byte)| *byte).collect();
            View {
                bytes,
                from: Some(kept().map(|(at, _)| self.source_range(at..at + 1)).collect()),
            }
        })
    }

    /// Returns the bytes without white space.
    pub(super) fn bytes_without_spaces(&self) -> Cow<'_, [u8]> {
        if !self.bytes.iter().any(u8::is_ascii_whitespace) {
            return Cow::Borrowed(&self.bytes);
        }
        let mut bytes_without_spaces = Vec::with_capacity(self.bytes.len());
        bytes_without_spaces
            .extend(self.bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()));
        Cow::Owned(bytes_without_spaces)
    }

    /// Decodes one level of escapes that begin with one of these bytes. Returns None if there are
    /// none.
    pub(super) fn unescape(&self, marks: &[u8], way: Way) -> Option<View<'static>> {
        let next = |at: usize| {
            self.bytes[at..].iter().position(|byte| marks.contains(byte)).map(|found| at + found)
        };
        let mut mark = Some(next(0)?);
        let (mut bytes, mut from, mut at, mut changed) =
            (Vec::with_capacity(self.bytes.len()), Vec::new(), 0, false);
        while at < self.bytes.len() {
            let plain = mark.unwrap_or(self.bytes.len());
            bytes.extend_from_slice(&self.bytes[at..plain]);
            if way == Way::Kept {
                from.extend((at..plain).map(|at| self.source_range(at..at + 1)));
            }
            at = plain;
            let Some(here) = self.bytes.get(at..).filter(|rest| !rest.is_empty()) else { break };
            let (meant, length) = escape(here).unwrap_or((Unescaped::Byte(here[0]), 1));
            changed |= length > 1;
            let before = bytes.len();
            match meant {
                Unescaped::Byte(byte) => bytes.push(byte),
                Unescaped::Char(c) => {
                    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes())
                }
            }
            if way == Way::Kept {
                from.extend(std::iter::repeat_n(
                    self.source_range(at..at + length),
                    bytes.len() - before,
                ));
            }
            at += length;
            mark = next(at.min(self.bytes.len()));
        }
        changed.then(|| {
            let from = (way == Way::Kept).then_some(from);
            View { bytes: Cow::Owned(bytes), from }.into_folded(way)
        })
    }
}

enum Unescaped {
    Byte(u8),
    Char(char),
}

/// Decodes the escape at the beginning of a text. Returns its meaning and its length.
fn escape(text: &[u8]) -> Option<(Unescaped, usize)> {
    match text.first()? {
        b'%' => Some((Unescaped::Byte(hex_byte(text.get(1..3)?)?), 3)),
        b'\\' => backslash(text),
        b'&' => entity(text),
        _ => None,
    }
}

/// Whether these bytes are the beginning of an escape that is not complete yet.
fn may_become_escape(text: &[u8]) -> bool {
    let is_hex = |digits: &[u8], most: usize| {
        digits.len() < most && digits.iter().all(u8::is_ascii_hexdigit)
    };
    match text {
        [b'%', digits @ ..] => is_hex(digits, 2),
        [b'\\'] => true,
        [b'\\', b'x', digits @ ..] => is_hex(digits, 2),
        [b'\\', b'u', rest @ ..] => match rest.split_at_checked(4) {
            None => is_hex(rest, 4),
            // The second half of a surrogate pair may follow.
            Some((first, second)) => {
                hex_number(first).is_some_and(|unit| (0xd800..0xdc00).contains(&unit))
                    && match second {
                        [] | [b'\\'] => true,
                        [b'\\', b'u', digits @ ..] => is_hex(digits, 4),
                        _ => false,
                    }
            }
        },
        [b'&', name @ ..] => {
            name.len() < 11 && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'#')
        }
        _ => false,
    }
}

fn backslash(text: &[u8]) -> Option<(Unescaped, usize)> {
    let plain = match text.get(1)? {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'f' => 12,
        byte @ (b'"' | b'\'' | b'/' | b'\\') => *byte,
        b'x' => return Some((Unescaped::Byte(hex_byte(text.get(2..4)?)?), 4)),
        b'u' => return unicode(text),
        _ => return None,
    };
    Some((Unescaped::Byte(plain), 2))
}

fn unicode(text: &[u8]) -> Option<(Unescaped, usize)> {
    let unit = |at: usize| {
        (text.get(at..at + 2)? == br"\u").then(|| hex_number(text.get(at + 2..at + 6)?)).flatten()
    };
    let first = unit(0)?;
    if let Some(c) = char::from_u32(first) {
        return Some((Unescaped::Char(c), 6));
    }
    let second = unit(6)?;
    let pair = char::decode_utf16([u16::try_from(first).ok()?, u16::try_from(second).ok()?])
        .next()?
        .ok()?;
    Some((Unescaped::Char(pair), 12))
}

fn entity(text: &[u8]) -> Option<(Unescaped, usize)> {
    let end = text.iter().take(12).position(|byte| *byte == b';')?;
    let name = std::str::from_utf8(text.get(1..end)?).ok()?;
    let c = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((Unescaped::Char(c), end + 1))
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    u8::try_from(hex_number(digits)?).ok()
}

fn hex_number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, digit| Some(number * 16 + char::from(*digit).to_digit(16)?))
}
