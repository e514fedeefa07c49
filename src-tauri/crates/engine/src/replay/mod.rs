//! Records what a turn got from outside, and runs the turn again from the recording, offline, with
//! the same engine. Knows how to record, script and compare; where recordings are stored is the
//! store's business.

pub(crate) mod compare;
pub(crate) mod driver;
mod keeping;
pub(crate) mod recorder;
pub(crate) mod recording;
pub(crate) mod script;
pub(crate) mod taps;
