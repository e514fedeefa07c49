//! Long-term memories: creates, stores and finds them, with vectors. This module does not depend on
//! prompts, rounds or tools.

pub(crate) mod calibration;
pub(crate) mod embedding_call;
pub(crate) mod fusion;
pub(crate) mod index;
pub(crate) mod memories;
pub(crate) mod recall;
pub(crate) mod records;
pub(crate) mod sources;
pub(crate) mod switch;
