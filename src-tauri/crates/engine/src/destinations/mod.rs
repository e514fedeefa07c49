//! Where reads send data to: whether the person permitted it, what the person names in
//! messages, and how much was sent. `policy` finds the destinations of a call and decides; this
//! folder knows what was allowed.

mod allowances;
mod leave;

pub(crate) use allowances::{Allowances, keep_named_destinations};
pub(crate) use leave::{FoundLeave, count_bytes, find_leave, note_read, note_signed_read, places};
