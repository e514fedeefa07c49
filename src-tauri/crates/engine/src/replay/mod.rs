//! Runs a turn again from its recording, offline, with the same engine, and compares the records.
//! The recording itself is created in `turn`.

pub(crate) mod compare;
pub(crate) mod driver;
mod hidden;
pub(crate) mod script;
