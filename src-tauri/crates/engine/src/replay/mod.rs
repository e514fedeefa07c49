//! Runs a turn again from its recording, offline, with the same engine, and compares both. The
//! recording itself is made in `turn`.

pub(crate) mod compare;
pub(crate) mod driver;
pub(crate) mod script;
