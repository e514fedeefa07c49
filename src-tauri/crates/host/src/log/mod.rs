//! The profile's log: opening and checking it, its alarm, its signing key, copies, erasure by age,
//! and confirmations by others. Must not know packs, servers or who reads it.

mod asked;
mod attest;
mod copies;
mod ledger;
mod offline;
mod opening;
mod retention;
mod signing;

pub(crate) use asked::{from_terminal, sign_record};
pub(crate) use attest::start_rounds;
pub(crate) use copies::make_daily;
pub(crate) use ledger::{Ledger, find_profiles};
pub(crate) use offline::verify_folder;
pub use offline::{export_log, export_scope, require_log_file, verify_file, verify_log};
pub(crate) use opening::{open_log, resolve_installation, watch_alarms};
pub use retention::AgeJudge;
pub(crate) use retention::spawn_upkeep_task;
pub(crate) use signing::delete_signing_key;
