//! Long-term memories: stores, finds and makes them, with vectors. Knows nothing of prompts, rounds or
//! tools.

pub(crate) mod calibration;
pub(crate) mod embedding_call;
pub(crate) mod fusion;
pub(crate) mod index;
pub(crate) mod memories;
pub(crate) mod memorise;
pub(crate) mod recall;
pub(crate) mod records;
pub(crate) mod switch;
