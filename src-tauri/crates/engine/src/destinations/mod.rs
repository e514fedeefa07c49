//! Decides about the destinations of reads: whether the person allowed them, which destinations the
//! person names in messages, and how much data was sent. `policy` finds the destinations of a call
//! and makes the decision; this folder stores the permissions.

mod allowances;
mod leave;

pub(crate) use allowances::{Allowances, keep_named_destinations};
pub(crate) use leave::{FoundLeave, count_bytes, find_leave, note_read, note_signed_read, places};
