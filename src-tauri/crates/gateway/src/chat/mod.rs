//! Chat: handles one message from admission to answer, its events, its session, and the
//! confirmation of a cart change.

pub(crate) mod answer;
pub(crate) mod confirmation;
pub(crate) mod expecting;
pub(crate) mod pending;
pub(crate) mod preflight;
pub(crate) mod relay;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod runs;
pub(crate) mod service;
pub(crate) mod session_ids;
pub(crate) mod sessions;
pub(crate) mod sharing;
pub(crate) mod sse;
pub(crate) mod state;
pub(crate) mod suggestions;
pub(crate) mod turn;
