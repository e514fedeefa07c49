//! Decides which earlier messages a turn sees, and keeps summaries of older messages. This module
//! does not depend on prompts, rounds or tools.

pub(crate) mod due;
pub(crate) mod entries;
pub(crate) mod heuristic;
pub(crate) mod key;
pub(crate) mod pack_egress;
pub(crate) mod passing;
pub(crate) mod recall;
pub(crate) mod recalled;
pub(crate) mod refresh;
pub(crate) mod services;
mod shown;
pub(crate) mod title;
pub(crate) mod window;
