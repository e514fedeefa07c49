//! Renders Markdown as safe HTML blocks, with the same result during and after the writing of an
//! answer, and writes results as Markdown. The cost of a delta depends on the text it changes, not on the length of the answer.
//! Uses no window, no clock and no I/O.
//!
//! An answer is split into top-level blocks by looking at each line once ([`segment`](self)). A
//! closed block never changes. Only the open block is rendered again, and plain text after plain
//! text is appended without rendering.

#![forbid(unsafe_code)]

mod clean;
mod escape;
mod formula;
mod highlight;
mod html;
mod lines;
mod mathml;
mod mend;
mod results;
mod segment;
mod stream;
mod veil;

pub use results::{
    ResultStyle, WrittenResult, cell_text, escape_markdown, title_column, write_result,
};
pub use segment::{ClosedBlock, Segmenter};
pub use stream::Stream;
pub use veil::{Formula, Piece, Veiled};

use contract::Block;

/// Escapes text for HTML.
pub fn escape_html(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    escape::escape(&mut html, text);
    html
}

/// Renders a complete text. The result equals the blocks of a finished [`Stream`].
pub fn blocks(text: &str) -> Vec<Block> {
    let mut stream = Stream::new();
    stream.push(text);
    stream.finish().blocks
}
