//! The specification of metric queries in slow and plain Rust: it evaluates a resolved query over rows
//! in memory, group by group and row by row. Tests compare the SQL of every database with it.

mod amounts;
mod answer;
mod calculations;
mod catalog;
mod explained;
mod figures;
mod generate;
mod groups;
mod number;
mod pacing;
mod plans;
mod queries;
mod ranking;
mod rows;
mod single_rows;
mod totals;
mod world;

pub use answer::{Answer, evaluate};
pub use catalog::{as_of, catalog, catalogs};
pub use generate::{Case, case};
pub use number::Number;
pub use pacing::{PacingCase, pacing_as_of, pacing_case, pacing_catalog, pacing_example};
pub use rows::{Cell, Table};

#[cfg(test)]
mod tests;
