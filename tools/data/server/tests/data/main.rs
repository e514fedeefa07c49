//! Tests of csign-data with the real libraries and a real PostgreSQL: reading files, answering
//! questions, and what may not run.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod corpus;
mod drivers;
mod exports;
mod hostile;
mod hostile_files;
mod import;
mod measures;
mod pacing;
mod parquet_texts;
mod postgres;
mod profiles;
mod program;
mod properties;
mod questions;
mod world;

const PROGRAM: &str = env!("CARGO_BIN_EXE_csign-data");
