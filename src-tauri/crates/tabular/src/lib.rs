//! Reads tables from CSV, TSV and XLSX files as they were exported: finds encoding, separator,
//! header line, total lines and the formats of dates and numbers, and maps columns to fields. Must
//! not know what the fields are used for.
#![forbid(unsafe_code)]

mod dates;
mod layout;
mod number;
mod rejected;
mod rows;
mod survey;
#[cfg(test)]
mod tests;
mod text;
mod totals;

pub use contract::data::DateOrder;
pub use csv::StringRecord;
pub use dates::DateFormat;
pub use layout::{Layout, layouts};
pub use number::{Decimals, MICROS, NumberFormat, parse_amount, parse_count, shorten_cell};
pub use rejected::{Cause, group_by_cause};
pub use rows::{Rows, TableError};
pub use survey::{Column, FieldSource, Formats, Mapping, MappingError, Survey, field_of};
pub use text::Encoding;
