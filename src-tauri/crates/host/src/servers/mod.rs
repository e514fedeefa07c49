//! MCP servers, those of packs and those that the user adds: how each is reached and closed off, the
//! definitions of tools that a person accepted, and questions of servers. Must not know which tools
//! the engine has, nor who asks.

mod added;
mod config;
pub(crate) mod definitions;
mod questions;
mod remote_override;
mod search_path;
mod session_sockets;
mod tool_notes;
mod veil;

pub use added::quote_word;
pub(crate) use added::{
    AddedServer, Trials, check_files, delete_leftovers, find_programs, load_added,
};
pub(crate) use config::{
    ServerDeps, built_in_server_keys, forget_tokens, needs_acceptance, offered_tools, pin_manifest,
    server_access, server_configs, servers_with_undeclared_tools,
};
pub(crate) use definitions::{Pins, server_key};
pub(crate) use questions::{Gate, Questions};
pub(crate) use remote_override::{
    Elsewhere, OverrideDeps, RemoteOverride, declared_overrides, destination_of,
};
pub(crate) use search_path::can_be_closed;
pub(crate) use session_sockets::SessionSockets;
