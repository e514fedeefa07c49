//! Decides which earlier messages a turn sees, and keeps summaries of the older ones. Knows nothing
//! of prompts, rounds or tools.

mod due;
mod entries;
mod heuristic;
pub(crate) mod key;
pub(crate) mod passing;
pub(crate) mod recall;
pub(crate) mod recalled;
pub(crate) mod refresh;
mod window;
