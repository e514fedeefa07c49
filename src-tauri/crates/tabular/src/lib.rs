//! Reads tables from files as they were exported: finds encoding, separator, header line, total lines
//! and the formats of dates and numbers, and reads any table into typed rows.
#![forbid(unsafe_code)]

pub mod limits;
pub mod table;

pub use limits::Limit;
