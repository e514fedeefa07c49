//! Removes secrets from a text that arrives in pieces. Only what a secret could still continue is
//! held back, so that a secret that is split over pieces is found, too.

use crate::{Exact, MARK, exact::insert_marks};

/// The most bytes that are searched again with each piece. More are searched again only when they
/// have grown by a quarter, so that the work stays proportional to the text.
const SEARCHED_AGAIN: usize = 512;

/// A text that is being searched.
#[derive(Debug, Default)]
pub struct Scrubbing {
    /// The end of the text so far, which may be the beginning of a secret.
    held: String,
    /// The length of `held` that is waited for.
    wanted: usize,
    /// Whether the text that was given out ends with the mark of a secret. A part that follows
    /// directly belongs to the same secret.
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

    /// Returns the rest when the text has ended.
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

    /// Takes the first `end` bytes, with a mark in place of each of these ranges.
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
