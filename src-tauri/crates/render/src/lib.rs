//! Markdown to safe HTML blocks, while an answer is being written and afterwards: both ways give the same blocks.
//! A delta costs as much as it touches, never as much as the answer is long. No window, no clock, no I/O.
//!
//! An answer is cut into top-level blocks by looking at its lines only, forwards and once ([`segment`](self)); a block that
//! is closed never changes again. Only the open block is rendered anew, and where plain text follows plain text it is just
//! appended.

#![forbid(unsafe_code)]

mod clean;
mod highlight;
mod html;
mod lines;
mod mend;
mod segment;
mod stream;

pub use stream::Stream;

use contract::Block;

/// The blocks of a complete text: what a [`Stream`] shows once it is finished.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut stream = Stream::new();
    stream.push(text);
    stream.finish().blocks
}
