//! Tests of rendering: the HTML of blocks, streams compared with whole texts, hostile input, cost.

mod cost;
mod hostile;
mod looks;
mod streaming;
