//! The session operations for callers: accept and cancel messages; list, open, search, share and
//! delete sessions.

pub(crate) mod closed;
pub(crate) mod deletion;
mod pins;
pub(crate) mod reading;
mod search;
mod shared;
pub(crate) mod turns;
