//! Accounts for the cost of model calls (reservations before a call, usage after it) and the
//! service level of runs.

pub(crate) mod account;
pub(crate) mod embedding;
pub(crate) mod metering;
pub(crate) mod refusal_count;
pub(crate) mod service_level;
