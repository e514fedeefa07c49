//! A record: the cells of one line of text, or of one row of a sheet. This module must not know the
//! file format, nor the meaning of cells.

use super::{
    cells::value::{self, Tag},
    fault::TableError,
};

/// The position of a cell in the bytes of its record.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) tag: Tag,
}

/// The problem that makes a whole record unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineFault {
    /// A quote opens a cell and is not closed before a separator or the end of a line.
    OpenQuote,
    /// A quote is closed, but the quoted text looks like whole lines.
    LinesInQuotes,
    /// The line contains a zero byte.
    Zero,
}

/// One record. Its bytes are valid UTF-8.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    /// The line, counted from 1. For a sheet, the row.
    pub(crate) line: u64,
    /// The position of the sheet among the sheets that are read.
    pub(crate) sheet: usize,
    pub(crate) bytes: &'a [u8],
    pub(crate) spans: &'a [Span],
    pub(crate) fault: Option<LineFault>,
    /// Whether a sheet hides the row.
    pub(crate) is_hidden: bool,
    /// Whether the cells lie in the bytes one after another, with the signs that divide them.
    pub(crate) is_text: bool,
}

impl<'a> Record<'a> {
    /// Returns a cell without white space at its ends. Returns an empty text if there is no such
    /// cell.
    #[inline]
    pub(crate) fn cell(&self, at: usize) -> &'a [u8] {
        match self.spans.get(at) {
            Some(span) => value::trim(&self.bytes[span.start as usize..span.end as usize]),
            None => &[],
        }
    }

    #[inline]
    pub(crate) fn tag(&self, at: usize) -> Tag {
        self.spans.get(at).map_or(Tag::Plain, |span| span.tag)
    }

    /// Returns the text of a cell.
    pub(crate) fn text(&self, at: usize) -> &'a str {
        value::text(self.cell(at))
    }

    /// Returns the number of cells.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns all cells.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &'a [u8]> {
        let record = *self;
        (0..record.len()).map(move |at| record.cell(at))
    }

    /// Returns the number of cells up to the last one with a value.
    pub(crate) fn filled_len(&self) -> usize {
        (0..self.len()).rev().find(|at| self.has_value(*at)).map_or(0, |at| at + 1)
    }

    /// Whether a cell has a text, an error or a formula.
    pub(crate) fn has_value(&self, at: usize) -> bool {
        !self.cell(at).is_empty() || matches!(self.tag(at), Tag::NoValue | Tag::Error)
    }

    /// Returns the beginning of the line for a message.
    pub(crate) fn sample(&self) -> String {
        let cells: Vec<String> = self.cells().take(12).map(value::shorten).collect();
        value::shorten(cells.join(" | ").as_bytes())
    }
}

/// A reader of the records of a file, one after another.
pub(crate) trait Records {
    /// Reads the next record.
    fn next(&mut self) -> Result<Option<Record<'_>>, TableError>;

    /// Returns the number of bytes read so far.
    fn bytes(&self) -> u64;
}

/// An owned copy of a record.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) line: u64,
    pub(crate) sheet: usize,
    pub(crate) fault: Option<LineFault>,
    is_hidden: bool,
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl Kept {
    pub(crate) fn new(record: &Record<'_>) -> Self {
        let mut kept = Self {
            line: record.line,
            sheet: record.sheet,
            fault: record.fault,
            is_hidden: record.is_hidden,
            bytes: Vec::new(),
            spans: Vec::with_capacity(record.len()),
        };
        for span in record.spans {
            let start = kept.bytes.len();
            kept.bytes.extend_from_slice(&record.bytes[span.start as usize..span.end as usize]);
            let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let (start, end) = (place(start), place(kept.bytes.len()));
            kept.spans.push(Span { start, end, tag: span.tag });
        }
        kept
    }

    pub(crate) fn record(&self) -> Record<'_> {
        Record {
            line: self.line,
            sheet: self.sheet,
            bytes: &self.bytes,
            spans: &self.spans,
            fault: self.fault,
            is_hidden: self.is_hidden,
            is_text: false,
        }
    }
}
