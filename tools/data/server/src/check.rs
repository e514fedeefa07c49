//! Whether a text of SQL may run: exactly one SELECT that reads sources and calls known functions.
//! One file per parser: DuckDB's own, and one that writes PostgreSQL's text anew.

pub mod duckdb;
mod functions;
mod lengths;
pub mod postgres;

pub use functions::{is_duckdb_function, is_duckdb_table_function, is_postgres_function};
pub use lengths::{Constant, LONGEST_RESULT, refuse_length};
