//! Splits text into records and cells, strictly: a quote that is not closed where it should be is
//! a fault of its line, and the next line is read on its own. Works on blocks of bytes, and keeps no
//! more than one record and one block.

use std::io::Read;

use memchr::{memchr, memchr_iter, memchr2};

use super::{
    cells::value::Tag,
    fault::TableError,
    records::{LineFault, Record, Records, Span},
};
use crate::limits::{Limit, MAX_COLUMNS, MAX_LINE};

const BLOCK: usize = 256 << 10;
/// Bytes that may be looked at in vain behind quotes that are not closed.
const MAX_WASTE: usize = 256 << 20;

/// The signs of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signs {
    /// Between cells.
    pub(crate) separator: u8,
    /// After lines: `\n`, or `\r` in files of old programs.
    pub(crate) newline: u8,
    /// Whether quotes mean nothing.
    pub(crate) plain_quotes: bool,
}

/// Reads the records of a text.
pub(crate) struct Splitter<R> {
    text: R,
    signs: Signs,
    block: Vec<u8>,
    start: usize,
    end: usize,
    is_last: bool,
    line: u64,
    bytes: u64,
    spans: Vec<Span>,
    waste: usize,
    /// Whether a byte that is zero was read.
    has_zero: bool,
    /// The lines that a quote holds which looks like one that was not closed. It cannot be known
    /// which of them are rows.
    doubtful_lines: u64,
}

/// The end of a record that was found in the block.
enum Found {
    /// The record ends before `end`, the next begins at `next`, and `lines` lines are over.
    Whole { end: usize, next: usize, lines: u64, is_quoted: bool },
    /// A quote is not closed as it should be. The search went to the place.
    Fault(usize),
    /// The block ends first.
    More,
}

impl<R: Read> Splitter<R> {
    pub(crate) fn new(text: R, signs: Signs) -> Self {
        Self {
            text,
            signs,
            block: vec![0; BLOCK],
            start: 0,
            end: 0,
            is_last: false,
            line: 1,
            bytes: 0,
            spans: Vec::new(),
            waste: 0,
            has_zero: false,
            doubtful_lines: 0,
        }
    }

    /// Reads more text behind the text that is left.
    fn read_more(&mut self) -> Result<(), TableError> {
        let left = self.end - self.start;
        if left as u64 > MAX_LINE {
            return Err(Limit::Line { line: self.line }.into());
        }
        if self.start > 0 {
            self.block.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, left);
        }
        if self.block.len() < left + BLOCK {
            self.block.resize(left + BLOCK, 0);
        }
        while self.end < self.block.len() {
            match self.text.read(&mut self.block[self.end..]) {
                Ok(0) => {
                    self.is_last = true;
                    break;
                }
                Ok(length) => {
                    let read = &self.block[self.end..self.end + length];
                    self.has_zero = self.has_zero || memchr(0, read).is_some();
                    self.end += length;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Finds the cells of the record at `start`.
    #[inline]
    fn find(&mut self) -> Result<Found, TableError> {
        let Signs { separator, newline, plain_quotes } = self.signs;
        let block = &self.block[..self.end];
        let mut at = self.start;
        let (mut lines, mut is_quoted) = (1, false);
        self.spans.clear();
        loop {
            if self.spans.len() > MAX_COLUMNS {
                return Err(Limit::Columns.into());
            }
            if !plain_quotes && block.get(at) == Some(&b'"') {
                is_quoted = true;
                let (close, doubled) = match find_close(block, at + 1, self.is_last) {
                    Ok(close) => close,
                    Err(found) => return Ok(found),
                };
                let tag = if doubled { Tag::Doubled } else { Tag::Plain };
                self.spans.push(Span { start: place(at + 1), end: place(close), tag });
                lines += memchr_iter(newline, &block[at + 1..close]).count() as u64;
                let after = close + 1;
                match block.get(after) {
                    Some(byte) if *byte == separator => at = after + 1,
                    Some(byte) if *byte == newline => {
                        return Ok(Found::Whole { end: after, next: after + 1, lines, is_quoted });
                    }
                    Some(b'\r') if block.get(after + 1) == Some(&newline) => {
                        return Ok(Found::Whole { end: after, next: after + 2, lines, is_quoted });
                    }
                    Some(b'\r') if after + 1 == block.len() && !self.is_last => {
                        return Ok(Found::More);
                    }
                    None if self.is_last => {
                        return Ok(Found::Whole { end: after, next: after, lines, is_quoted });
                    }
                    None => return Ok(Found::More),
                    Some(_) => return Ok(Found::Fault(after)),
                }
                continue;
            }
            let Some(length) = find_sign(&block[at..], separator, newline) else {
                if !self.is_last {
                    return Ok(Found::More);
                }
                self.spans.push(Span {
                    start: place(at),
                    end: place(block.len()),
                    tag: Tag::Plain,
                });
                let end = block.len();
                return Ok(Found::Whole { end, next: end, lines, is_quoted });
            };
            let stop = at + length;
            if block[stop] == separator {
                self.spans.push(Span { start: place(at), end: place(stop), tag: Tag::Plain });
                at = stop + 1;
                continue;
            }
            let end = if stop > at && block[stop - 1] == b'\r' { stop - 1 } else { stop };
            self.spans.push(Span { start: place(at), end: place(end), tag: Tag::Plain });
            return Ok(Found::Whole { end, next: stop + 1, lines, is_quoted });
        }
    }

    /// Takes the line at `start` as it is, whatever its quotes mean.
    fn take_line(&mut self, fault: LineFault) -> Result<Option<Record<'_>>, TableError> {
        let newline = self.signs.newline;
        let next = loop {
            if let Some(length) = memchr(newline, &self.block[self.start..self.end]) {
                break self.start + length + 1;
            }
            if self.is_last {
                break self.end;
            }
            self.read_more()?;
        };
        let (start, line) = (self.start, self.line);
        let text = &self.block[start..next];
        let length = text.strip_suffix(&[newline]).unwrap_or(text).len();
        let end = start + length;
        self.spans.clear();
        self.spans.push(Span { start: place(start), end: place(end), tag: Tag::Plain });
        self.advance(next, 1);
        Ok(Some(Record {
            line,
            sheet: 0,
            bytes: &self.block,
            spans: &self.spans,
            fault: Some(fault),
            is_hidden: false,
            is_text: true,
        }))
    }

    fn count_waste(&mut self, to: usize) -> Result<(), TableError> {
        self.waste += to - self.start;
        if self.waste > MAX_WASTE { Err(TableError::Quotes { line: self.line }) } else { Ok(()) }
    }

    fn advance(&mut self, next: usize, lines: u64) {
        self.bytes += (next - self.start) as u64;
        self.start = next;
        self.line += lines;
    }

    /// Whether each line of a record that has quotes would be a record of as many cells by itself.
    fn looks_like_lines(&self, end: usize) -> bool {
        let text = &self.block[self.start..end];
        let cells = self.spans.len();
        cells > 1
            && text
                .split(|byte| *byte == self.signs.newline)
                .all(|line| memchr_iter(self.signs.separator, line).count() + 1 == cells)
    }

    /// Removes the second of two quotes inside of quoted cells.
    fn undouble(&mut self) {
        for span in self.spans.iter_mut().filter(|span| span.tag == Tag::Doubled) {
            let (mut from, mut to) = (span.start as usize, span.start as usize);
            let end = span.end as usize;
            while from < end {
                self.block[to] = self.block[from];
                from += if self.block[from] == b'"' { 2 } else { 1 };
                to += 1;
            }
            *span = Span { start: span.start, end: place(to), tag: Tag::Plain };
        }
    }
}

/// Finds the quote that closes a cell. Returns its place, and whether doubled quotes are inside.
#[inline]
fn find_close(block: &[u8], from: usize, is_last: bool) -> Result<(usize, bool), Found> {
    let (mut at, mut doubled) = (from, false);
    loop {
        let Some(length) = memchr(b'"', &block[at..]) else {
            return Err(if is_last { Found::Fault(block.len()) } else { Found::More });
        };
        let quote = at + length;
        match block.get(quote + 1) {
            Some(b'"') => {
                doubled = true;
                at = quote + 2;
            }
            None if !is_last => return Err(Found::More),
            _ => return Ok((quote, doubled)),
        }
    }
}

/// Returns the distance to the next separator or end of a line. Most cells are short, so that eight
/// bytes are compared at once in place of a search that needs longer to begin.
#[inline]
fn find_sign(bytes: &[u8], separator: u8, newline: u8) -> Option<usize> {
    const STEP: usize = 8;
    const NEAR: usize = 64;
    let separators = u64::from_ne_bytes([separator; STEP]);
    let newlines = u64::from_ne_bytes([newline; STEP]);
    let mut at = 0;
    while at < NEAR
        && let Some(eight) = bytes.get(at..at + STEP)
    {
        let word = u64::from_le_bytes(eight.try_into().unwrap_or_default());
        let found = zero_bytes(word ^ separators) | zero_bytes(word ^ newlines);
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / STEP);
        }
        at += STEP;
    }
    memchr2(separator, newline, &bytes[at..]).map(|found| at + found)
}

/// Returns a word whose lowest bit that is set is in the first byte of `word` that is zero.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080
}

fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl<R: Read> Records for Splitter<R> {
    #[inline]
    fn next(&mut self) -> Result<Option<Record<'_>>, TableError> {
        loop {
            if self.start == self.end {
                if self.is_last {
                    return Ok(None);
                }
                self.read_more()?;
                continue;
            }
            if self.doubtful_lines > 0 {
                self.doubtful_lines -= 1;
                return self.take_line(LineFault::LinesInQuotes);
            }
            match self.find()? {
                // A quote without an end is a fault of its line, not a line without an end.
                Found::More
                    if (self.end - self.start) as u64 > MAX_LINE
                        && memchr(self.signs.newline, &self.block[self.start..self.end])
                            .is_some() =>
                {
                    self.count_waste(self.end)?;
                    return self.take_line(LineFault::OpenQuote);
                }
                Found::More => self.read_more()?,
                Found::Fault(to) => {
                    self.count_waste(to)?;
                    return self.take_line(LineFault::OpenQuote);
                }
                Found::Whole { end, next, lines, is_quoted } => {
                    if lines > 1 && self.looks_like_lines(end) {
                        self.doubtful_lines = lines - 1;
                        return self.take_line(LineFault::LinesInQuotes);
                    }
                    if self.has_zero && memchr(0, &self.block[self.start..end]).is_some() {
                        return self.take_line(LineFault::Zero);
                    }
                    let line = self.line;
                    if is_quoted {
                        self.undouble();
                    }
                    self.advance(next, lines);
                    return Ok(Some(Record {
                        line,
                        sheet: 0,
                        bytes: &self.block,
                        spans: &self.spans,
                        fault: None,
                        is_hidden: false,
                        is_text: true,
                    }));
                }
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, separator: u8) -> Vec<(u64, Vec<String>, Option<LineFault>)> {
        // One byte at a time finds each place where a record can be cut.
        struct Slow<'a>(&'a [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
                let length = self.0.len().min(out.len()).min(1);
                out[..length].copy_from_slice(&self.0[..length]);
                self.0 = &self.0[length..];
                Ok(length)
            }
        }
        let signs = Signs { separator, newline: b'\n', plain_quotes: false };
        let mut splitter = Splitter::new(Slow(text.as_bytes()), signs);
        let mut records = Vec::new();
        while let Some(record) = splitter.next().unwrap() {
            let cells =
                record.cells().map(|cell| String::from_utf8(cell.to_vec()).unwrap()).collect();
            records.push((record.line, cells, record.fault));
        }
        records
    }

    fn cells(text: &str) -> Vec<Vec<String>> {
        split(text, b',').into_iter().map(|(_, cells, _)| cells).collect()
    }

    #[test]
    fn cells_lines_and_quotes_are_split() {
        assert_eq!(cells("a,b\r\nc,d"), [["a", "b"], ["c", "d"]]);
        assert_eq!(cells("\"a,1\",\"b \"\"x\"\"\"\n,\n"), [["a,1", "b \"x\""], ["", ""]]);
        assert_eq!(cells("a\n\n\"\"\n"), [["a"], [""], [""]]);
        assert_eq!(cells("Elm \"new\",5' \"\n"), [["Elm \"new\"", "5' \""]]);
        assert_eq!(cells(""), Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_sign_is_found_at_any_distance() {
        for distance in 0..150 {
            for sign in [b',', b'\n'] {
                let mut text = vec![b'a'; distance];
                text.push(sign);
                text.extend_from_slice(b"b,c\nd-\x0b\x2d\xc2\xac");
                assert_eq!(find_sign(&text, b',', b'\n'), Some(distance));
            }
            assert_eq!(find_sign(&vec![b'-'; distance], b',', b'\n'), None);
        }
    }

    #[test]
    fn line_breaks_in_quotes_are_counted() {
        let records = split("\"a\nb\",1\nc,2\n", b',');
        assert_eq!(records[0].1, ["a\nb", "1"]);
        assert_eq!((records[0].0, records[1].0), (1, 3));
    }

    #[test]
    fn a_lone_quote_is_a_fault_of_its_line_only() {
        let text = "d\tc\n1\t\"Oak 12in\n2\tElm \"new\"\n3\tx\n";
        let records = split(text, b'\t');
        let faults: Vec<_> = records.iter().map(|(line, _, fault)| (*line, *fault)).collect();
        assert_eq!(faults, [(1, None), (2, Some(LineFault::OpenQuote)), (3, None), (4, None)]);
    }

    #[test]
    fn quotes_that_hold_whole_lines_are_a_fault() {
        let records = split("1,\"Oak,5\n2,Elm\",6\n3,Ash,7\n", b',');
        assert!(records.iter().all(|(_, cells, fault)| cells.len() == 3 || fault.is_some()));
        let records = split("1\t\"Oak\t5\n2\tElm 5\"\t6\n3\tAsh\t7\n", b'\t');
        let faults: Vec<_> = records.iter().map(|(line, _, fault)| (*line, *fault)).collect();
        let inside = Some(LineFault::LinesInQuotes);
        assert_eq!(faults, [(1, inside), (2, inside), (3, None)]);
    }

    #[test]
    fn a_line_and_its_cells_have_bounds() {
        let signs = Signs { separator: b',', newline: b'\n', plain_quotes: false };
        let endless = std::io::repeat(b'a');
        let refused = Splitter::new(endless, signs).next().map(|_| ());
        assert!(matches!(refused, Err(TableError::Limit(Limit::Line { line: 1 }))), "{refused:?}");
        let commas = std::io::repeat(b',');
        let refused = Splitter::new(commas, signs).next().map(|_| ());
        assert!(matches!(refused, Err(TableError::Limit(Limit::Columns))), "{refused:?}");
        let quotes = std::io::repeat(b'"');
        let refused = Splitter::new(quotes, signs).next().map(|_| ());
        assert!(matches!(refused, Err(TableError::Limit(Limit::Line { line: 1 }))), "{refused:?}");
    }
}
