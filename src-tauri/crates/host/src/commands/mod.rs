//! Answers to the commands: work across the folders of the host. `answers` has a function for each
//! command; the other modules do the work.

mod alerts;
mod answers;
mod approvals;
mod backtest;
mod boards;
mod copied;
mod doctor;
mod erasure;
mod log;
mod memory_export;
mod model;
mod own_servers;
mod recovery;
pub(crate) mod replay;
mod rules;
mod server_tools;
mod session_export;
mod settings;
mod turns;
mod typing;

pub use doctor::examine_unopened;
