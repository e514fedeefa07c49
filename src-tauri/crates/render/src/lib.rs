//! Renders Markdown as safe HTML blocks, both while an answer is written and afterwards, with the
//! same result. The cost of a delta depends on the text it changes, not on the length of the
//! answer. No window, no clock, no I/O.
//!
//! An answer is split into top-level blocks by looking at each line once ([`segment`](self)). A
//! closed block never changes. Only the open block is rendered again; plain text after plain text
//! is appended instead.

#![forbid(unsafe_code)]

mod clean;
mod escape;
mod formula;
mod highlight;
mod html;
mod lines;
mod mathml;
mod mend;
mod segment;
mod stream;
mod veil;

pub use segment::{ClosedBlock, Segmenter};
pub use stream::Stream;
pub use veil::{Formula, Piece, Veiled};

use contract::Block;

/// Renders a complete text. The result equals that of a finished [`Stream`].
pub fn blocks(text: &str) -> Vec<Block> {
    let mut stream = Stream::new();
    stream.push(text);
    stream.finish().blocks
}
