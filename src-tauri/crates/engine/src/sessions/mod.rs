//! The session operations for callers: accept and cancel messages; list, open, search, share and
//! delete sessions; show versions of messages and delete messages.

pub(crate) mod closed;
pub(crate) mod deletion;
mod pins;
pub(crate) mod reading;
mod search;
mod shared;
mod titles;
pub(crate) mod turns;
mod versions;
