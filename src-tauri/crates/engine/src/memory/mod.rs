//! Decides which earlier messages a turn sees, keeps summaries of the older ones, and stores and
//! finds long-term memories. Knows nothing of prompts, rounds or tools.

mod batches;
pub(crate) mod calibration;
mod due;
mod embedding_call;
mod entries;
mod fusion;
mod heuristic;
mod index;
pub(crate) mod key;
pub(crate) mod long_term;
pub(crate) mod passing;
pub(crate) mod recall;
pub(crate) mod recalled;
pub(crate) mod refresh;
pub(crate) mod remembered;
mod switch;
mod window;
