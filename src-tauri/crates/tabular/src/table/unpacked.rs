//! Checks the parts of a workbook before its cells are read: how much they unpack to, and whether
//! a piece of their markup makes the library that reads it allocate without a bound.

use std::io::{BufReader, Read, Seek};

use memchr::{memchr2_iter, memmem};
use zip::ZipArchive;

use super::fault::TableError;
use crate::limits::{Limit, MAX_CELL, MAX_CELLS, MAX_UNPACKED};

/// The most parts of a workbook.
const MAX_PARTS: usize = 10_000;
/// The most bytes that the texts shared by all sheets unpack to. They are held in memory.
const MAX_SHARED: u64 = MAX_UNPACKED / 4;
/// The same for a part that is neither a sheet nor shared texts, such as the styles.
const MAX_OTHER: u64 = 64 << 20;
/// The attribute by which the library reserves memory for the shared texts.
const RESERVES: &[u8] = b"uniqueCount";
/// Bytes after `RESERVES` in which its value ends.
const VALUE: usize = 64;
/// Bytes of the shortest comment, `<!---->`, without its last sign.
const LITERAL: usize = 5;
const BUFFER: usize = 64 * 1024;

/// The most merged ranges of a workbook. They are held in memory.
const MAX_MERGED: usize = 1_000_000;
/// The element that names a merged range.
const MERGED: &[u8] = b"<mergeCell ";

/// The attribute by which rows and columns are hidden.
const HIDDEN: &[u8] = b" hidden=";
/// The attribute of rows that are hidden because they have no height.
const FLAT: &[u8] = b" ht=\"0\"";

/// The findings in the parts of a workbook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checked {
    /// Whether cells are merged.
    pub(crate) has_merged: bool,
    /// Whether something is hidden, such as rows.
    pub(crate) has_hidden: bool,
}

/// Unpacks each part of the workbook once, without keeping it.
pub(crate) fn check(file: impl Read + Seek) -> Result<Checked, TableError> {
    let failed = |error: zip::result::ZipError| TableError::Workbook(error.to_string());
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(failed)?;
    if archive.len() > MAX_PARTS {
        return Err(Limit::Unpacked.into());
    }
    let (mut stated, mut unpacked, mut merged) = (0_u64, 0_u64, 0);
    let mut has_hidden = false;
    for index in 0..archive.len() {
        stated = stated.saturating_add(archive.by_index_raw(index).map_err(failed)?.size());
    }
    if stated > MAX_UNPACKED {
        return Err(Limit::Unpacked.into());
    }
    for index in 0..archive.len() {
        let part = archive.by_index(index).map_err(failed)?;
        let (most, is_markup) = kind_of_part(&part.name().map_err(failed)?);
        let scan = Scan { is_markup, ..Scan::default() };
        // The stated sizes can be wrong, so that the bytes are counted, too.
        let seen = scan.read(part, most.min(MAX_UNPACKED - unpacked))?;
        unpacked += seen.size;
        merged += seen.merged;
        has_hidden |= seen.has_hidden;
    }
    if merged > MAX_MERGED {
        return Err(Limit::Sheet.into());
    }
    Ok(Checked { has_merged: merged > 0, has_hidden })
}

/// Returns the most bytes that a part may unpack to, and whether it is markup. The library finds
/// the parts by name, without regard to case.
fn kind_of_part(name: &str) -> (u64, bool) {
    let name = name.to_ascii_lowercase();
    let file = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let most = match file {
        "sharedstrings.xml" => MAX_SHARED,
        file if file.starts_with("sheet") && file.ends_with(".xml") => MAX_UNPACKED,
        _ => MAX_OTHER,
    };
    (most, file.ends_with(".xml") || file.ends_with(".rels"))
}

/// Looks through the bytes of a part.
#[derive(Default)]
struct Scan {
    is_markup: bool,
    /// The bytes of the piece of markup so far: a tag, a comment, or the text between tags.
    run: usize,
    /// Whether the piece is a comment or a literal text, in which the signs of tags mean nothing.
    is_literal: bool,
    /// Whether the piece began with the last byte so far.
    awaits: bool,
    /// The end of the bytes before, where a word may have been cut.
    tail: Vec<u8>,
    /// Merged ranges.
    merged: usize,
    has_hidden: bool,
    size: u64,
}

impl Scan {
    /// Reads a part to its end.
    fn read(mut self, part: impl Read, most: u64) -> Result<Self, TableError> {
        let mut part = part.take(most + 1);
        let mut buffer = vec![0; BUFFER];
        loop {
            let length =
                part.read(&mut buffer).map_err(|error| TableError::Workbook(error.to_string()))?;
            self.size += length as u64;
            if self.size > most {
                return Err(Limit::Unpacked.into());
            }
            if self.is_markup {
                self.see(&buffer[..length], length == 0)?;
            }
            if length == 0 {
                return Ok(self);
            }
        }
    }

    fn see(&mut self, bytes: &[u8], is_end: bool) -> Result<(), TableError> {
        let known = self.tail.len();
        self.tail.extend_from_slice(bytes);
        self.measure_pieces(known)?;
        let kept = if is_end { 0 } else { RESERVES.len() + VALUE };
        let end = self.tail.len().saturating_sub(kept);
        for at in memmem::find_iter(&self.tail, RESERVES).take_while(|at| *at < end) {
            let value = &self.tail[at + RESERVES.len()..];
            if !is_bounded(&value[..value.len().min(VALUE)]) {
                return Err(Limit::Sheet.into());
            }
        }
        let merged = memmem::find_iter(&self.tail, MERGED).take_while(|at| *at < end);
        self.merged += merged.count();
        self.has_hidden = self.has_hidden
            || memmem::find(&self.tail, HIDDEN).is_some()
            || memmem::find(&self.tail, FLAT).is_some();
        self.tail.drain(..end);
        Ok(())
    }

    /// Measures the pieces of markup in the bytes from `known` on.
    fn measure_pieces(&mut self, known: usize) -> Result<(), TableError> {
        let mut from = known;
        if self.awaits
            && let Some(first) = self.tail.get(known)
        {
            (self.awaits, self.is_literal) = (false, *first == b'!');
        }
        for at in memchr2_iter(b'<', b'>', &self.tail[known..]).map(|at| at + known) {
            self.run += at - from;
            from = at;
            if self.run > MAX_CELL {
                return Err(Limit::Cell.into());
            }
            if self.is_literal {
                let before = &self.tail[..at];
                let is_end = before.ends_with(b"--") || before.ends_with(b"]]");
                if self.tail[at] != b'>' || !is_end || self.run <= LITERAL {
                    continue;
                }
            }
            (self.run, self.is_literal) = (0, false);
            if self.tail[at] == b'<' {
                match self.tail.get(at + 1) {
                    Some(first) => self.is_literal = *first == b'!',
                    None => self.awaits = true,
                }
            }
        }
        self.run += self.tail.len() - from;
        if self.run > MAX_CELL { Err(Limit::Cell.into()) } else { Ok(()) }
    }
}

/// Whether the number in quotes at the start of the text is at most the number of cells.
fn is_bounded(text: &[u8]) -> bool {
    let mut pieces = text.split(|byte| matches!(byte, b'"' | b'\''));
    let (Some(_), Some(value), Some(_)) = (pieces.next(), pieces.next(), pieces.next()) else {
        return false;
    };
    let Ok(value) = std::str::from_utf8(value) else { return false };
    value.trim().parse::<usize>().is_ok_and(|count| count <= MAX_CELLS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_read_wherever_the_bytes_are_cut() {
        for (text, holds) in [
            (&b"<sst uniqueCount=\"12\"/>"[..], true),
            (b"<sst uniqueCount = '20000000' >", true),
            (b"<sst uniqueCount=\"20000001\"/>", false),
            (b"<sst uniqueCount=\"99999999999999999999\"/>", false),
            (b"<sst uniqueCount=\"", false),
        ] {
            for cut in 0..text.len() {
                let mut scan = Scan { is_markup: true, ..Scan::default() };
                let (before, after) = text.split_at(cut);
                let parts = [(before, false), (after, false), (&[][..], true)];
                let seen = parts.into_iter().try_for_each(|(bytes, end)| scan.see(bytes, end));
                assert_eq!(seen.is_ok(), holds, "{} cut at {cut}", text.escape_ascii());
            }
        }
    }

    #[test]
    fn one_piece_of_markup_has_a_bound() {
        let read = |start: &[u8], middle: &[u8], end: &[u8], size: usize| {
            let text = [start, &middle.repeat(size / middle.len()), end].concat();
            Scan { is_markup: true, ..Scan::default() }.read(text.as_slice(), MAX_UNPACKED)
        };
        for (start, middle, end) in [
            (&b"<v>"[..], &b"a"[..], &b"</v>"[..]),
            (b"<v a='", b"b", b"'/>"),
            (b"<!--", b"<a>", b"-->"),
            (b"<![CDATA[", b"><", b"]]>"),
            (b"<!-->", b"<a>", b"-->"),
        ] {
            assert!(read(start, middle, end, MAX_CELL - 64).is_ok());
            let refused = read(start, middle, end, MAX_CELL + 64);
            assert!(
                matches!(refused, Err(TableError::Limit(Limit::Cell))),
                "{}",
                start.escape_ascii()
            );
        }
        assert!(read(b"<v>", b"a<b/>", b"</v>", 4 * MAX_CELL).is_ok());
        assert!(read(b"<!--a-->", b"<b/>", b"", 4 * MAX_CELL).is_ok());
    }
}
