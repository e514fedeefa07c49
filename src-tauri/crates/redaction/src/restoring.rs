//! Restores placeholders in a text that arrives in pieces. Only an incomplete placeholder is held
//! back. A restored value may complete a secret, so the restored text is searched for secrets
//! again.

use std::sync::Arc;

use crate::{Exact, Replaced, Scrubbing, placeholder::PlaceholderMatch};

/// The state of restoring a text that arrives in pieces.
#[derive(Debug)]
pub struct Restoring {
    replaced: Arc<Replaced>,
    exact: Arc<Exact>,
    scrubbing: Scrubbing,
    /// Text that begins with `<` and may become a placeholder, or empty.
    held: String,
}

impl Restoring {
    /// Creates the state for a text that may contain these placeholders. Before its placeholders
    /// are restored, the text contains none of these secrets.
    pub fn new(replaced: Arc<Replaced>, exact: Arc<Exact>) -> Self {
        Self { replaced, exact, scrubbing: Scrubbing::default(), held: String::new() }
    }

    /// Adds a piece and returns the text that can be shown now.
    pub fn push(&mut self, piece: &str) -> String {
        let restored = self.restore(piece);
        if self.replaced.has_values() {
            self.scrubbing.push(&self.exact, &restored)
        } else {
            restored
        }
    }

    fn restore(&mut self, piece: &str) -> String {
        if self.held.is_empty() && !piece.contains('<') {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        let text = std::mem::take(&mut self.held);
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find('<') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            match Replaced::read_placeholder_at(rest) {
                PlaceholderMatch::Whole(placeholder, length) => {
                    out.push_str(self.replaced.value(placeholder).unwrap_or(&rest[..length]));
                    rest = &rest[length..];
                }
                PlaceholderMatch::Cut => {
                    rest.clone_into(&mut self.held);
                    return out;
                }
                PlaceholderMatch::Other => {
                    out.push('<');
                    rest = &rest[1..];
                }
            }
        }
        out.push_str(rest);
        out
    }

    /// Returns the text that is still held back, after the last piece.
    pub fn end(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        if !self.replaced.has_values() {
            return held;
        }
        self.scrubbing.push(&self.exact, &held) + &self.scrubbing.end(&self.exact)
    }

    /// Whether a secret was removed so far.
    pub fn has_removed(&self) -> bool {
        self.scrubbing.has_removed()
    }
}
