//! The state that all parts of a turn share: its context, the caller, the run context, the queue of
//! its session, and the recording for a replay.

pub(crate) mod answers;
pub(crate) mod caller_records;
pub(crate) mod context;
pub(crate) mod frame;
pub(crate) mod kind;
pub(crate) mod lanes;
pub(crate) mod listener;
pub(crate) mod locks;
mod mentions;
pub(crate) mod models;
pub(crate) mod named_members;
pub(crate) mod outcome;
pub(crate) mod partial;
pub(crate) mod provenance;
pub(crate) mod recording;
pub(crate) mod refusals;
pub(crate) mod run_context;
pub(crate) mod secrets;
pub(crate) mod services;
pub(crate) mod summaries;
pub(crate) mod switches;
pub(crate) mod tool_refusals;
pub(crate) mod traces;
pub(crate) mod values;
pub(crate) mod versions;
