//! Tool calls: how arguments are checked, calls are run and recorded, and results are kept.

pub(crate) mod analyses;
pub(crate) mod call;
pub(crate) mod coerce;
pub(crate) mod dispatch;
pub(crate) mod outgoing;
pub(crate) mod oversize;
pub(crate) mod provenance;
pub(crate) mod refusals;
pub(crate) mod results;
pub(crate) mod resume;
pub(crate) mod retry;
pub(crate) mod schema;
