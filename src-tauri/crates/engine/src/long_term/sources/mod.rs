//! The sources of long-term memories: one file for each. Notes that a person asks to keep need no
//! source; `memories.rs` stores them.

pub(crate) mod older_messages;
