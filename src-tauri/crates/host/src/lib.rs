//! An open profile: data folder, settings, store, log, packs, models and servers around one engine,
//! with the implementation of all commands. The window, `csign` and the gateway are its clients.
//! Must not know windows, terminals or HTTP.

mod adapters;
mod attest;
mod backtest;
mod callers;
mod chat_window;
pub mod client;
mod commands;
mod confirmations;
mod copies;
mod credentials;
mod definitions;
mod doctor;
mod embedders;
mod entries;
mod erasure;
mod evaluate;
mod folder_data;
mod host;
mod imports;
mod key_destination;
mod key_names;
mod keyring_cache;
mod keys;
mod known_secrets;
mod ledger;
mod memory_export;
mod memory_service;
mod models;
mod offline_log;
mod opening;
mod options;
mod os_ports;
mod own_keys;
mod own_servers;
mod pack_databases;
mod pack_keys;
mod pack_settings;
mod paths;
mod peer;
mod places;
mod prices;
mod profile;
mod pushes;
mod questions;
mod recovery;
mod remote_override;
mod replay;
mod retention;
mod search_path;
mod server_veil;
mod servers;
mod services;
mod session_sockets;
mod sessions;
mod socket;
mod splash_settings;
mod startup;
mod stored_settings;
mod terminal;
#[cfg(debug_assertions)]
mod testing;
mod toml_fault;
mod tools;
mod widening;

pub use chat_window::ChatWindow;
pub use evaluate::evaluate;
pub use host::Host;
pub(crate) use host::Parts;
/// The time limits and retries for remote servers.
pub use mcp::Patience;
/// Runs the MCP client against test servers, for development.
pub use mcp::dev as mcp_dev;
pub use offline_log::{export_log, export_scope, verify_file, verify_log};
pub use options::{Options, WhenAlarmed};
pub use os_ports::SystemClock;
pub use own_servers::quote_word;
pub use paths::{Paths, set_private_umask};
pub use sessions::Sessions;
pub use socket::{SocketServer, serve_host};
pub use splash_settings::SplashSettings;
pub use terminal::{Person, Terminal};
