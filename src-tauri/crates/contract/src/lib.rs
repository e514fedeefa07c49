//! Serialised types and the list of commands, shared by all crates and by the generated TypeScript.
//! The crate only contains data and pure functions. Other crates store, show and execute.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod address;
pub mod agent;
pub mod alerts;
pub mod amounts;
pub mod approval;
pub mod arguments;
pub mod audit;
pub mod block;
pub mod boards;
pub mod caller;
pub mod clock;
pub mod commands;
pub mod conversation;
pub mod definitions;
pub mod destination;
pub mod error;
pub mod event;
pub mod hidden;
pub mod ids;
pub mod item;
pub mod json_text;
pub mod mail;
pub mod manifest;
pub mod members;
pub mod memory;
pub mod metric_query;
pub mod model;
pub mod own_servers;
pub mod pack_code;
pub mod params;
pub mod push;
pub mod reason;
pub mod redaction;
pub mod result;
pub mod rules;
pub mod run;
pub mod servers;
pub mod service;
pub mod session;
pub mod settings;
pub mod sources;
mod text;
pub mod tool;

pub use agent::*;
pub use approval::*;
pub use audit::*;
pub use block::*;
pub use caller::*;
pub use commands::{Commands, dispatch};
pub use conversation::*;
pub use destination::*;
pub use error::*;
pub use event::*;
pub use ids::*;
pub use item::*;
pub use memory::*;
pub use model::*;
pub use params::*;
pub use push::*;
pub use reason::Reason;
pub use redaction::*;
pub use result::ResultView;
pub use rules::*;
pub use run::*;
pub use service::*;
pub use session::*;
pub use settings::*;
pub use text::{Amount, Days, DaysForm, FilledText, GivenName, Param, Text, ToParam, in_english};
pub use tool::*;

/// The version of the run contract in every request and error.
pub const CONTRACT_VERSION: &str = "1.0";
