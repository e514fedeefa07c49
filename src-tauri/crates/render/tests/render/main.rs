//! Rendering from outside: blocks as they look, streams against whole texts, hostile input, cost.

mod cost;
mod hostile;
mod looks;
mod streaming;
