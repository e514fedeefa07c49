//! The values of single cells: numbers with their currencies, days and moments. Must not know
//! columns, lines and files.

pub(crate) mod counted;
pub(crate) mod currency;
pub(crate) mod day;
mod month;
pub(crate) mod number;
pub(crate) mod order;
mod signs;
pub(crate) mod unit;
pub(crate) mod value;
