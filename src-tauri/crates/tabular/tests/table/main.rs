//! Reads files and texts as tables, and compares what is found with values that were computed by
//! hand or are known by construction.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod crafted;
mod giants;
mod grouped;
mod hidden_and_units;
mod hostile;
mod packed;
mod properties;
mod speed;
mod support;
mod workbooks;
