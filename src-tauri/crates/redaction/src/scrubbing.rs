//! Removes secrets from a text that arrives in pieces. Text that could be the beginning of a secret
//! is held back until the next piece, so that a secret split over pieces is found.

use crate::{Exact, MARK, exact::insert_marks};

/// The number of bytes that are always searched again with each piece. A longer text is searched
/// again only when it has grown by a quarter, so that the total work stays proportional to the
/// text.
const SEARCHED_AGAIN: usize = 512;

/// The state of searching a text that arrives in pieces.
#[derive(Debug, Default)]
pub struct Scrubbing {
    /// The end of the text so far, if a secret may begin in it.
    held: String,
    /// The length that `held` must reach before it is searched again.
    wanted: usize,
    /// Whether the returned text ends with the mark of a secret. A match that follows directly
    /// belongs to the same secret.
    is_after_mark: bool,
    has_removed: bool,
}

impl Scrubbing {
    /// Adds a piece and returns the text that can be shown now.
    pub fn push(&mut self, exact: &Exact, piece: &str) -> String {
        if self.held.is_empty() && exact.is_empty() {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        if self.held.len() < self.wanted {
            return String::new();
        }
        let (end, spans) = exact.closed_part(&self.held);
        let out = self.take(end, &spans);
        let held = self.held.len();
        self.wanted = if held <= SEARCHED_AGAIN { 0 } else { held + held / 4 };
        out
    }

    /// Returns the text that is still held back, after the last piece.
    pub fn end(&mut self, exact: &Exact) -> String {
        let spans = exact.spans(&self.held);
        let out = self.take(self.held.len(), &spans);
        *self = Self { has_removed: self.has_removed, ..Self::default() };
        out
    }

    /// Whether a secret was removed so far.
    pub fn has_removed(&self) -> bool {
        self.has_removed
    }

    /// Takes the first `end` bytes, with each of these ranges replaced by a mark.
    fn take(&mut self, end: usize, spans: &[std::ops::Range<usize>]) -> String {
        if end == 0 {
            return String::new();
        }
        let mut out = insert_marks(&self.held[..end], spans);
        if self.is_after_mark && spans.first().is_some_and(|span| span.start == 0) {
            out.drain(..MARK.len());
        }
        self.held.drain(..end);
        self.is_after_mark = spans.last().is_some_and(|span| span.end == end);
        self.has_removed |= !spans.is_empty();
        out
    }
}
