//! The MCP client: servers of packs as child processes, started when needed, restarted with back-off, never left behind.
//! Knows the protocol and processes; knows nothing of packs' manifests, policy or who asks for a call.

mod config;
mod connection;
mod environment;
mod failure;
mod process;
mod program;
mod result;
mod server;
mod servers;
mod transport;

pub use config::{ServerConfig, Timings};
pub use engine::ports::ToolFailure;
pub use program::{ProgramError, resolve_program};
pub use result::Resource;
pub use servers::{OnChange, Servers, ServersBuilder};
