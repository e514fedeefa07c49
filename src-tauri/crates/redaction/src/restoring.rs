//! Restores a text that arrives in pieces. A placeholder that is not complete yet is held back; nothing else is.

use std::sync::Arc;

use crate::{Replaced, kind::PlaceholderMatch};

/// One text under way.
#[derive(Debug)]
pub struct Restoring {
    replaced: Arc<Replaced>,
    /// Begins with `<` and may become a placeholder, or is empty.
    held: String,
}

impl Restoring {
    /// For a text that may hold these placeholders.
    pub fn new(replaced: Arc<Replaced>) -> Self {
        Self { replaced, held: String::new() }
    }

    /// Takes a piece and gives what can be shown now.
    pub fn push(&mut self, piece: &str) -> String {
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
            match Replaced::at(rest) {
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

    /// What was held back when the text ended.
    pub fn end(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}
