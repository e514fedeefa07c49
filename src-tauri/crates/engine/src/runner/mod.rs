//! Runs one turn from the saved question to its one `final` event, runs a tool that is called directly,
//! and ends what a crash interrupted.

pub(crate) mod direct;
pub(crate) mod ending;
pub(crate) mod prompt_preview;
pub(crate) mod recovery;
pub(crate) mod running;
pub(crate) mod services;
