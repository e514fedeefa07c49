//! Removes data that may not reach a model from texts, and restores the data in the model's answer.
//! The crate is pure and has no sessions, stores or providers. Only this crate can create an
//! [`Outbound`], and the port of the models accepts nothing else.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod exact;
mod json;
mod numbers;
mod outbound;
mod patterns;
mod placeholder;
mod redactor;
mod replaced;
mod restoring;
mod scrubbing;

pub use contract::{RedactionKind as Kind, RedactionLevel as Level};
pub use exact::{Exact, MARK};
pub use numbers::Numbers;
pub use outbound::{Outbound, OutboundValue};
pub use placeholder::Placeholder;
pub use redactor::{Redacted, Redactor};
pub use replaced::Replaced;
pub use restoring::Restoring;
pub use scrubbing::Scrubbing;

/// Returns the ranges in a text that look like a key of a known service or a password with its
/// label.
pub fn find_keys(text: &str) -> Vec<std::ops::Range<usize>> {
    let spans = patterns::spans(text, Level::Basic, patterns::TextContext::Text);
    spans.into_iter().filter(|(_, kind)| *kind == Kind::Key).map(|(place, _)| place).collect()
}
