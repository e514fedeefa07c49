//! Tool calls: checks their arguments, runs and records them, and stores their results.

pub(crate) mod analyses;
pub(crate) mod bound_error;
pub(crate) mod call;
pub(crate) mod checkable;
pub(crate) mod coerce;
pub(crate) mod dispatch;
pub(crate) mod error_check;
pub(crate) mod nullable;
pub(crate) mod outgoing;
pub(crate) mod oversize;
pub(crate) mod policy_decision;
pub(crate) mod reads_seen;
pub(crate) mod records;
pub(crate) mod refused_calls;
pub(crate) mod repeated_actions;
pub(crate) mod resume;
pub(crate) mod retry;
pub(crate) mod schema;
pub(crate) mod scope;
pub(crate) mod services;
pub(crate) mod steps;
pub(crate) mod typed_arguments;
