//! The importer process: copies a file from standard input, reads it, and writes its rows as one
//! Parquet part into the working folder. It knows no source and compares nothing.

mod batches;
mod doubts;
mod flat;
mod input;
mod job;
mod json_lines;
mod json_list;
mod parquet;
mod sqlite;
mod store;
mod tables;
mod told;
mod typed;
mod work;

pub use job::{run, run_in};
pub use told::Teller;
