//! Cuts growing Markdown into top-level blocks by its lines: forwards, once, and the same way however the text arrives in
//! pieces. It does not render; where a block is too long to be rendered again and again, it cuts the block as well.

use crate::lines::{self, Line};

/// From this length on a paragraph or list is cut at the next fitting place.
const LONG: usize = 4096;
/// From this length on a table is cut between rows, and a paragraph wherever a word begins.
const VERY_LONG: usize = 8192;
/// So much of a line must be known before it counts as ordinary text.
const SURE: usize = 32;

/// What the open block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing but perhaps an unfinished line.
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
    Table,
    Indented,
    Html,
}

/// A block that will not change again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClosedBlock {
    pub(crate) text: String,
    /// Goes on from the block before it: the text was cut for its length only.
    pub(crate) is_continued: bool,
}

/// The text of the open block, and the blocks closed since they were last taken.
#[derive(Debug)]
pub(crate) struct Segmenter {
    open: String,
    kind: Kind,
    /// Where the unfinished line begins.
    line: usize,
    /// The header of the open table, to be repeated where the table is cut.
    header: String,
    is_continued: bool,
    balance: Balance,
    closed: Vec<ClosedBlock>,
}

/// Inline marks that are open up to a place in the open block.
#[derive(Clone, Copy, Debug, Default)]
struct Balance {
    scanned: usize,
    ticks: usize,
    stars: usize,
    tildes: usize,
    underscores: usize,
    brackets: isize,
    /// The byte before `scanned`.
    before: u8,
}

impl Balance {
    fn is_even(&self) -> bool {
        [self.ticks, self.stars, self.tildes, self.underscores].iter().all(|n| n.is_multiple_of(2)) && self.brackets <= 0
    }

    fn take(&mut self, byte: u8) {
        match byte {
            b'`' => self.ticks += 1,
            b'*' => self.stars += 1,
            b'~' => self.tildes += 1,
            b'_' => self.underscores += 1,
            b'[' | b'(' => self.brackets += 1,
            b']' | b')' => self.brackets -= 1,
            _ => {}
        }
        self.before = byte;
        self.scanned += 1;
    }
}

impl Segmenter {
    pub(crate) fn new() -> Self {
        Self { open: String::new(), kind: Kind::Empty, line: 0, header: String::new(), is_continued: false, balance: Balance::default(), closed: Vec::new() }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The open block's text so far.
    pub(crate) fn open(&self) -> &str {
        &self.open
    }

    /// Whether the open block goes on from the one before it.
    pub(crate) fn is_continued(&self) -> bool {
        self.is_continued
    }

    /// The unfinished last line.
    pub(crate) fn partial(&self) -> &str {
        self.open.get(self.line..).unwrap_or_default()
    }

    pub(crate) fn take_closed(&mut self) -> Vec<ClosedBlock> {
        std::mem::take(&mut self.closed)
    }

    pub(crate) fn push(&mut self, text: &str) {
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

    /// Closes everything: no text follows.
    pub(crate) fn finish(&mut self) {
        if self.line < self.open.len() {
            self.line_end();
        }
        self.close(self.open.len());
    }

    /// The unfinished line has got its end.
    fn line_end(&mut self) {
        self.cut_paragraph(true);
        // A line may close the open block and then begin one.
        while !self.complete_line() {}
        self.line = self.open.len();
    }

    /// Sorts the complete line at `self.line` in; `false` when it has to be looked at again, as the first line of a block.
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
                // A row right below a text is meant as the beginning of a table.
                let row_after_text = class == Line::Row && !self.open.trim_start().starts_with('|');
                !row_after_text && !interrupts_paragraph(class)
            }
            Kind::List { mark, blank } => return self.list_line(class, mark, blank),
            Kind::Quote => class == Line::Quote || matches!(class, Line::Plain | Line::Indented | Line::Row),
            Kind::Table => match class {
                Line::Row | Line::Plain if self.open.len() > VERY_LONG => {
                    self.cut_table();
                    return true;
                }
                Line::Row | Line::Plain | Line::Indented => true,
                Line::Blank | Line::Heading | Line::Rule | Line::Fence { .. } | Line::Quote | Line::Item { .. } | Line::Html => false,
            },
            Kind::Indented => matches!(class, Line::Indented | Line::Blank),
            Kind::Html => class != Line::Blank,
        };
        if !goes_on {
            self.close(self.line);
        }
        goes_on
    }

    /// The first line of a block.
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
            Line::Plain | Line::Row | Line::Html | Line::Indented => nested || !blank,
            Line::Item { .. } | Line::Heading | Line::Rule | Line::Fence { .. } | Line::Quote => nested,
        };
        if goes_on {
            self.kind = Kind::List { mark, blank: false };
        } else {
            // The same list in another block when it was only too long.
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

    /// Closes the table before the current row and goes on with the header repeated.
    fn cut_table(&mut self) {
        let header = self.header.clone();
        self.close(self.line);
        self.open.insert_str(0, &header);
        self.line = header.len();
        self.header = header;
        self.kind = Kind::Table;
        self.is_continued = true;
    }

    /// Cuts a long paragraph where a word begins and no inline mark is open. Decides by the text alone, place by place, so
    /// that it does not matter how much of the text was there when it looked.
    fn cut_paragraph(&mut self, line_complete: bool) {
        loop {
            if !matches!(self.kind, Kind::Empty | Kind::Paragraph) {
                return;
            }
            if self.open.len() < LONG {
                // Marks are counted late: nothing is cut before anyway.
                return;
            }
            let partial = self.partial();
            if !line_complete && partial.len() < SURE {
                return;
            }
            let text_line = lines::classify(partial.trim_end_matches('\n')) == Line::Plain && !partial.trim_start().starts_with(['`', '~', '=', ':']);
            let Some(at) = self.next_cut(text_line) else { return };
            // What is left begins with a letter, so it is text again, wherever the line itself began.
            self.close(at);
            self.is_continued = true;
        }
    }

    /// The next place to cut at, looking at every byte once.
    fn next_cut(&mut self, text_line: bool) -> Option<usize> {
        let bytes = self.open.as_bytes();
        while let Some(byte) = bytes.get(self.balance.scanned).copied() {
            let at = self.balance.scanned;
            let word = byte.is_ascii_alphabetic() && matches!(self.balance.before, b' ' | b'\n');
            if text_line && word && at >= LONG && at >= self.line && (self.balance.is_even() || at >= VERY_LONG) {
                return Some(at);
            }
            self.balance.take(byte);
        }
        None
    }

    /// Ends the open block at `at`; what follows is the beginning of the next.
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

/// Whether a line of this kind ends a paragraph above it.
fn interrupts_paragraph(class: Line) -> bool {
    match class {
        Line::Blank | Line::Heading | Line::Rule | Line::Fence { .. } | Line::Quote => true,
        Line::Item { first, empty, .. } => first && !empty,
        Line::Row | Line::Html | Line::Indented | Line::Plain => false,
    }
}
