//! A profile brought to life: data folder, settings, store, log, packs, models and servers put together around one engine,
//! and the one list of commands answered from them. The window, `csign` and the gateway are clients of this room.
//! It must not know windows, terminals or HTTP.

mod adapters;
mod callers;
mod chat_window;
pub mod client;
mod commands;
mod confirmations;
mod credentials;
mod definitions;
mod doctor;
mod doors;
mod entries;
mod evaluate;
mod host;
mod imports;
mod keyring_cache;
mod keys;
mod known_secrets;
mod ledger;
mod models;
mod offline_log;
mod opening;
mod options;
mod os_ports;
mod own_keys;
mod pack_keys;
mod pack_settings;
mod paths;
mod peer;
mod places;
mod prices;
mod profile;
mod pushes;
mod questions;
mod remote_override;
mod servers;
mod services;
mod sessions;
mod socket;
mod splash_settings;
mod startup;
mod terminal;
#[cfg(debug_assertions)]
mod testing;
mod tools;
mod widening;

pub use chat_window::ChatWindow;
pub use evaluate::evaluate;
pub use host::Host;
/// How patient a server elsewhere is asked.
pub use mcp::Patience;
/// Drives the MCP client against test servers.
pub use mcp::dev as mcp_dev;
pub use offline_log::{export_log, verify_file, verify_log};
pub use options::{Options, WhenAlarmed};
pub use os_ports::SystemClock;
pub use paths::{Paths, keep_private};
pub use sessions::Sessions;
pub use socket::{Served, serve};
pub use splash_settings::FirstLook;
pub use terminal::{Person, Terminal};
