//! The code of the pack: its sample, and the rows that version 0.1.0 of the pack kept, both as tables
//! that become sources. The crate knows no model, window or engine.
#![forbid(unsafe_code)]

mod database;
mod old_data;
mod sample;
mod tables;
mod time;

pub use old_data::EarlierPacing;
pub use sample::PacingSample;
