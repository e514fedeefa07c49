//! Reads tables from files as they were exported: finds encoding, separator, header line, total lines
//! and the formats of dates and numbers. `table` reads any table into typed rows. The rest maps
//! columns to the fields of its caller's schema, and must know no field by its name.
#![forbid(unsafe_code)]

mod dates;
mod fault;
mod formats;
mod layout;
pub mod limits;
mod mapping;
mod memory;
mod number;
mod rejected;
mod rows;
mod schema;
mod survey;
pub mod table;
#[cfg(test)]
mod tests;
mod totals;

pub use contract::data::DateOrder;
pub use csv::StringRecord;
pub use dates::DateFormat;
pub use fault::TableError;
pub use formats::text::Encoding;
pub use layout::Layout;
pub use limits::Limit;
pub use mapping::{FieldSource, Mapping, MappingError};
pub use memory::{Decisions, Memory};
pub use number::{
    Decimals, MICROS, NumberFormat, parse_amount, parse_count, shorten_cell, thousands_sign,
};
pub use rejected::{Cause, Causes, group_by_cause};
pub use rows::Rows;
pub use schema::Schema;
pub use survey::{Column, Formats, Survey};
pub use totals::TotalLines;
