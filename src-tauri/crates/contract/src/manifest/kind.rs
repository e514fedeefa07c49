//! The kinds of tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How a tool is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An HTTP request by the host, described in `http`.
    HttpApi,
    /// A database; not supported, so a pack with this kind has a fault.
    Database,
    /// A message queue; not supported, so a pack with this kind has a fault.
    Queue,
    /// Files; not supported, so a pack with this kind has a fault.
    Filesystem,
    /// A tool of an MCP server, named in `mcp`.
    McpServer,
    /// A service that is linked into the app, named in `service`.
    InternalService,
    /// A program, described in `program`.
    Other,
}

impl Kind {
    /// The supported kinds.
    pub const SUPPORTED: [Self; 4] =
        [Self::InternalService, Self::McpServer, Self::HttpApi, Self::Other];

    /// Whether the host makes the call itself and sends the tool's key. Servers and services get
    /// their keys when they start.
    pub fn takes_key_of_tool(self) -> bool {
        match self {
            Self::HttpApi | Self::Other => true,
            Self::InternalService | Self::McpServer => false,
            Self::Database | Self::Queue | Self::Filesystem => false,
        }
    }
}
