//! Figures from tables: definitions, checking of metric queries, compiling them to SQL, and what
//! follows from a result. Pure: it knows no database, no file, no clock and no pack.
//!
//! The rule of exact figures: sums and counts are exact decimals. A ratio is computed last, from
//! exact numbers, and rounded half away from zero to nine decimal places. The SQL does this with
//! whole numbers, so DuckDB, PostgreSQL and anybody who runs the SQL get the same digits.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod calendar;
mod catalog;
mod chart;
mod compile;
mod definitions;
mod dialect;
mod figure_names;
mod finish;
mod first_board;
mod narrow;
mod paraphrase;
mod pivot;
mod problem;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
mod resolve;
mod stored_rows;
mod things;
mod units;

pub use catalog::{Catalog, SourceModel, TableColumn, pacing_columns, verdict_at_end};
pub use chart::choose_chart;
pub use compile::{Compiled, CompiledColumn, Purpose, compile};
pub use definitions::{
    OssieModel, Proof, approval_hash, change_calculation, definition_views, is_ossie,
    parse_definitions, propose, propose_pacing, read_ossie, validate_definitions,
    write_definitions, write_ossie,
};
pub use dialect::Dialect;
pub use finish::{decimal_cell, finish};
pub use first_board::propose_board;
pub use narrow::{Narrowed, narrow};
pub use paraphrase::{Paraphrase, paraphrase};
pub use problem::Problem;
pub use resolve::{Resolved, joined_sources, parts_of, resolve};
pub use stored_rows::describe_rows;
pub use things::drill_path;
