//! The program of the data engine: reads a file into a Parquet part, and answers questions over parts
//! or over one database, through ADBC. Knows neither the host nor a profile: every call brings what it
//! is about, and nothing is kept between calls but results for further pages.
#![forbid(unsafe_code)]

pub mod answer;
pub mod args;
pub mod cells;
pub mod check;
pub mod database;
pub mod drivers;
pub mod duck;
mod error;
pub mod import;
pub mod kept;
pub mod link;
pub mod measure;
pub mod parts;
mod profile;
pub mod serve;
pub mod sql;
pub mod stop;
pub mod wire;

pub use error::DataError;
