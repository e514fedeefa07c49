//! Runs a turn from the saved question to its `final` event, runs a tool that is called directly,
//! and ends turns and actions that a crash interrupted.

pub(crate) mod direct;
pub(crate) mod ending;
pub(crate) mod prompt_preview;
pub(crate) mod recovery;
pub(crate) mod running;
pub(crate) mod services;
