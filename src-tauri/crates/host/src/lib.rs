//! An open profile: data folder, settings, store, log, packs, models and servers around one engine,
//! with the implementation of all commands. The window, `csign` and the gateway are its clients.
//! Must not know windows, terminals or HTTP.
//!
//! The modules are layers, from the lowest: `profile`, `pushes`, `keys`, `models`, `log`,
//! `servers`, `data`, `boards`, `alerts`, `packs`; then `host.rs`, which contains the parts of these modules; then `commands`,
//! `clients` and `start`. Each module may only use the modules before it.

mod alerts;
mod boards;
mod clients;
mod commands;
mod data;
mod host;
mod keys;
mod log;
mod models;
mod packs;
mod profile;
mod pushes;
mod servers;
mod start;

/// The HTTP client for a collector of traces and metrics.
pub use ::packs::run::{ExportingClient, exporting_client};
pub use clients::{ChatWindow, Person, SocketServer, Terminal, client, evaluate, serve_host};
pub use commands::examine_unopened;
/// Whether a session belongs to a caller of the chat API, so that several gateways may share it.
pub use engine::ports::is_shared;
pub use host::Host;
pub use log::{AgeJudge, export_log, export_scope, require_log_file, verify_file, verify_log};
/// The timeouts and retries for remote servers.
pub use mcp::Patience;
/// Runs the MCP client against test servers, for development.
pub use mcp::dev as mcp_dev;
pub use profile::{
    Options, Paths, Sessions, SplashSettings, SystemClock, WhenAlarmed, keep_private,
    settings_fault,
};
pub use servers::quote_word;
