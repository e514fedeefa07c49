//! What model calls cost: reservations before a call, usage after it, and how well runs are served.

pub(crate) mod account;
pub(crate) mod metering;
pub(crate) mod service_level;
