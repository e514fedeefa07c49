//! The common parts of `csign` and `countersign-gateway`: output for people and as JSON, exit
//! codes, the log file, and the message after a crash. Knows no commands.

pub mod crash;
pub mod exit;
pub mod log;
pub mod out;
pub mod visible;
