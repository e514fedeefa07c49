//! The MCP client. Servers of packs are child processes or lie behind an address. They are reached
//! when needed, restarted with back-off, and never left behind. The client knows the protocol,
//! processes and the sign-in, but not the packs' files, the policy or the callers.

mod access;
mod config;
mod connection;
mod definition;
pub mod dev;
mod digits;
mod environment;
mod failure;
mod handler;
mod hide;
mod http;
mod lenient;
mod lines;
mod listing;
mod log;
mod oauth;
mod per_session;
mod posts;
mod process;
mod program;
mod repair;
mod result;
mod server;
mod servers;
mod sign_in;
mod tokens;
mod transport;
mod words;

pub use access::{Access, Asker, Definitions, Question, Reply, RequestedInput};
pub use config::{Address, Part, Program, ProgramKeys, Reach, ServerConfig, Timings, Word};
pub use definition::Definition;
pub use engine::ports::{Resume, ToolFailure};
pub use environment::base_environment;
pub use guard::{covers_work, filters_work, freezing_works};
pub use hide::{
    Confined, FileChanges, Forwards, Hidden, Hides, reaches, resolve_links, user_may_change,
};
pub use listing::UnreadableTool;
pub use per_session::{KeptVisits, Open, Patience, PerSession, PerSessionCall, PerSessionConfig};
pub use program::{ProgramError, resolve_program};
pub use result::Resource;
pub use server::OnChange;
pub use servers::{Servers, ServersBuilder};
pub use sign_in::SignIn;
