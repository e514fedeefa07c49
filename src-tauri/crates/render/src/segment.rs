//! Splits growing Markdown into top-level blocks by lines, in one pass. The result does not depend
//! on how the text is cut into pieces. Very long blocks are split, too, so that rendering them
//! again costs little. Does not render.

use crate::formula;
use crate::lines::{self, Line};

/// The number of bytes from which a paragraph or list is cut at the next suitable position.
const LONG: usize = 4096;
/// The number of bytes from which a table is cut between rows, and a paragraph before any word.
const VERY_LONG: usize = 8192;
/// The number of bytes of a line that must have arrived before the line counts as ordinary text.
const SURE: usize = 32;

/// The kind of the open block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// There is no open block, or only an unfinished line.
    Empty,
    Paragraph,
    Fence {
        mark: u8,
        len: usize,
    },
    List {
        mark: u8,
        blank: bool,
    },
    Quote,
    /// A formula of several lines. `mark` is the last byte of the closing delimiter.
    Formula {
        mark: u8,
    },
    Table,
    Indented,
    Html,
}

/// A block that will not change again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedBlock {
    /// The Markdown of the block.
    pub text: String,
    /// Whether the block continues the previous block, because the text was cut only for its
    /// length.
    pub is_continued: bool,
}

/// Holds the open block, and the blocks closed since they were last taken.
#[derive(Debug)]
pub struct Segmenter {
    open: String,
    kind: Kind,
    /// Where the unfinished line begins.
    line: usize,
    /// The header of the open table, which is repeated where the table is cut.
    header: String,
    is_continued: bool,
    balance: Balance,
    closed: Vec<ClosedBlock>,
}

/// Counts the open inline marks at a position of the open block.
#[derive(Clone, Copy, Debug, Default)]
struct Balance {
    scanned: usize,
    ticks: usize,
    stars: usize,
    tildes: usize,
    underscores: usize,
    dollars: usize,
    brackets: isize,
    /// The byte before `scanned`.
    before: u8,
}

impl Balance {
    fn is_even(&self) -> bool {
        [self.ticks, self.stars, self.tildes, self.underscores, self.dollars]
            .iter()
            .all(|n| n.is_multiple_of(2))
            && self.brackets <= 0
    }

    fn count_mark(&mut self, byte: u8) {
        match byte {
            b'`' => self.ticks += 1,
            b'*' => self.stars += 1,
            b'~' => self.tildes += 1,
            b'_' => self.underscores += 1,
            b'$' => self.dollars += 1,
            b'[' | b'(' => self.brackets += 1,
            b']' | b')' => self.brackets -= 1,
            _ => {}
        }
        self.before = byte;
        self.scanned += 1;
    }
}

impl Default for Segmenter {
    fn default() -> Self {
        Self::new()
    }
}

impl Segmenter {
    /// Creates a segmenter of an empty text.
    pub fn new() -> Self {
        Self {
            open: String::new(),
            kind: Kind::Empty,
            line: 0,
            header: String::new(),
            is_continued: false,
            balance: Balance::default(),
            closed: Vec::new(),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the text of the open block so far.
    pub(crate) fn open(&self) -> &str {
        &self.open
    }

    /// Whether the open block continues the previous block.
    pub(crate) fn is_continued(&self) -> bool {
        self.is_continued
    }

    /// Returns the unfinished last line.
    pub(crate) fn partial(&self) -> &str {
        self.open.get(self.line..).unwrap_or_default()
    }

    /// Returns the blocks closed since the last call.
    pub fn take_closed(&mut self) -> Vec<ClosedBlock> {
        std::mem::take(&mut self.closed)
    }

    /// Adds a piece of text.
    pub fn push(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            for part in piece.split('\r') {
                self.open.push_str(part);
            }
            if piece.ends_with('\n') {
                self.line_end();
            }
        }
        self.cut_paragraph(false);
    }

    /// Closes all blocks. Further text begins a new block.
    pub fn finish(&mut self) {
        if self.line < self.open.len() {
            self.line_end();
        }
        self.close(self.open.len());
    }

    /// Handles the end of the unfinished line.
    fn line_end(&mut self) {
        self.cut_paragraph(true);
        // A line may close the open block and then begin a new block.
        while !self.complete_line() {}
        self.line = self.open.len();
    }

    /// Adds the complete line at `self.line` to a block. Returns false if the line must be
    /// processed again as the first line of a new block.
    fn complete_line(&mut self) -> bool {
        let line = self.partial().trim_end_matches('\n');
        let class = lines::classify(line);
        let goes_on = match self.kind {
            Kind::Empty => return self.begin(class),
            Kind::Fence { mark, len } => {
                if lines::closes_fence(line, mark, len) {
                    self.close(self.open.len());
                }
                return true;
            }
            Kind::Paragraph => {
                if lines::is_underline(line) {
                    self.close(self.open.len());
                    return true;
                }
                if self.is_below_header() && lines::is_table_delimiter(line) {
                    self.kind = Kind::Table;
                    self.header = self.open.clone();
                    return true;
                }
                // A row directly below text is the beginning of a table, so the text ends there.
                let row_after_text = class == Line::Row && !self.open.trim_start().starts_with('|');
                !row_after_text && !interrupts_paragraph(class)
            }
            Kind::List { mark, blank } => return self.list_line(class, mark, blank),
            Kind::Quote => {
                matches!(
                    class,
                    Line::Quote | Line::Plain | Line::Indented | Line::Row | Line::Formula { .. }
                )
            }
            Kind::Formula { mark } => {
                if formula::closes_lines(line, mark) {
                    self.close(self.open.len());
                    return true;
                }
                // A blank line, a heading or a fence also ends the formula, because an unclosed
                // formula must not hide the following text.
                !matches!(class, Line::Blank | Line::Heading | Line::Fence { .. })
            }
            Kind::Table => match class {
                Line::Row | Line::Plain | Line::Formula { .. } if self.open.len() > VERY_LONG => {
                    self.cut_table();
                    return true;
                }
                Line::Row | Line::Plain | Line::Indented | Line::Formula { .. } => true,
                Line::Blank
                | Line::Heading
                | Line::Rule
                | Line::Fence { .. }
                | Line::Quote
                | Line::Item { .. }
                | Line::Html => false,
            },
            Kind::Indented => matches!(class, Line::Indented | Line::Blank),
            Kind::Html => class != Line::Blank,
        };
        if !goes_on {
            self.close(self.line);
        }
        goes_on
    }

    /// Begins a block with this line.
    fn begin(&mut self, class: Line) -> bool {
        self.kind = match class {
            Line::Blank => {
                self.reset();
                return true;
            }
            Line::Heading | Line::Rule => {
                self.close(self.open.len());
                return true;
            }
            Line::Fence { mark, len } => Kind::Fence { mark, len },
            Line::Quote => Kind::Quote,
            Line::Item { mark, .. } => Kind::List { mark, blank: false },
            Line::Html => Kind::Html,
            Line::Formula { mark } => Kind::Formula { mark },
            Line::Indented => Kind::Indented,
            Line::Row | Line::Plain => Kind::Paragraph,
        };
        true
    }

    fn list_line(&mut self, class: Line, mark: u8, blank: bool) -> bool {
        let nested = lines::indent(self.partial()).0 >= 2;
        let goes_on = match class {
            Line::Blank => {
                self.kind = Kind::List { mark, blank: true };
                return true;
            }
            Line::Item { mark: same, .. } if !nested => same == mark && self.open.len() <= LONG,
            Line::Plain | Line::Row | Line::Html | Line::Indented | Line::Formula { .. } => {
                nested || !blank
            }
            Line::Item { .. } | Line::Heading | Line::Rule | Line::Fence { .. } | Line::Quote => {
                nested
            }
        };
        if goes_on {
            self.kind = Kind::List { mark, blank: false };
        } else {
            // If the previous block was cut for its length, the same list continues in this block.
            let cut = matches!(class, Line::Item { mark: same, .. } if same == mark && !nested);
            self.close(self.line);
            self.is_continued = cut;
        }
        goes_on
    }

    fn is_below_header(&self) -> bool {
        let before = self.open.get(..self.line).unwrap_or_default();
        before.contains('|') && before.trim_end_matches('\n').lines().count() == 1
    }

    /// Closes the table before the current row, and repeats the header in the next block.
    fn cut_table(&mut self) {
        let header = self.header.clone();
        self.close(self.line);
        self.open.insert_str(0, &header);
        self.line = header.len();
        self.header = header;
        self.kind = Kind::Table;
        self.is_continued = true;
    }

    /// Cuts a long paragraph before a word where no inline mark is open. The positions depend on
    /// the text alone, not on how much of it had arrived.
    fn cut_paragraph(&mut self, line_complete: bool) {
        loop {
            if !matches!(self.kind, Kind::Empty | Kind::Paragraph) {
                return;
            }
            if self.open.len() < LONG {
                // The marks of a short paragraph need not be counted yet, because it is not cut.
                return;
            }
            let partial = self.partial();
            if !line_complete && partial.len() < SURE {
                return;
            }
            let text_line = lines::classify(partial.trim_end_matches('\n')) == Line::Plain
                && !partial.trim_start().starts_with(['`', '~', '=', ':']);
            let Some(at) = self.next_cut(text_line) else { return };
            // The rest begins with a letter, so it is ordinary text again.
            self.close(at);
            self.is_continued = true;
        }
    }

    /// Returns the next position for a cut. Looks at every byte only once.
    fn next_cut(&mut self, text_line: bool) -> Option<usize> {
        let bytes = self.open.as_bytes();
        while let Some(byte) = bytes.get(self.balance.scanned).copied() {
            let at = self.balance.scanned;
            let word = byte.is_ascii_alphabetic() && matches!(self.balance.before, b' ' | b'\n');
            if text_line
                && word
                && at >= LONG
                && at >= self.line
                && (self.balance.is_even() || at >= VERY_LONG)
            {
                return Some(at);
            }
            self.balance.count_mark(byte);
        }
        None
    }

    /// Closes the open block at `at`. The text after it begins the next block.
    fn close(&mut self, at: usize) {
        let rest = self.open.split_off(at.min(self.open.len()));
        let text = std::mem::replace(&mut self.open, rest);
        let line = self.line.saturating_sub(at);
        if self.kind != Kind::Empty || !text.trim().is_empty() {
            self.closed.push(ClosedBlock { text, is_continued: self.is_continued });
        }
        self.kind = Kind::Empty;
        self.line = line;
        self.header.clear();
        self.is_continued = false;
        self.balance = Balance::default();
    }

    fn reset(&mut self) {
        self.open.clear();
        self.line = 0;
        self.is_continued = false;
        self.balance = Balance::default();
    }
}

/// Whether a line of this kind ends the paragraph above.
fn interrupts_paragraph(class: Line) -> bool {
    match class {
        Line::Blank
        | Line::Heading
        | Line::Rule
        | Line::Fence { .. }
        | Line::Formula { .. }
        | Line::Quote => true,
        Line::Item { first, empty, .. } => first && !empty,
        Line::Row | Line::Html | Line::Indented | Line::Plain => false,
    }
}
