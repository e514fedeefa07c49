//! The MCP server of a database process.

use std::{path::PathBuf, sync::Arc};

use contract::sources::{AskDescribe, AskMeasure, AskProfile, AskQuery, AskRows};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::Value;

use super::{Databases, describe::AskTables};
use crate::{
    DataError,
    stop::Stop,
    wire::{Call, millis_of, read, tool, watched, write},
};

/// The MCP handler.
#[derive(Clone)]
pub struct DatabaseServer {
    databases: Arc<Databases>,
}

impl DatabaseServer {
    /// Creates the handler. Databases are opened by calls.
    pub fn new(drivers: PathBuf) -> Self {
        Self { databases: Arc::new(Databases::new(drivers)) }
    }

    fn answer(&self, call: Call, stop: &Stop) -> Result<Value, DataError> {
        let databases = &self.databases;
        let millis = millis_of(&call.arguments);
        match call.tool.as_str() {
            "data.measure" | "data.explain_change" => {
                write(&databases.measure(&read::<AskMeasure>(call.arguments)?, stop)?)
            }
            "data.query" => write(&databases.query(&read::<AskQuery>(call.arguments)?, stop)?),
            "data.rows" => write(&databases.rows(&read::<AskRows>(call.arguments)?, stop)?),
            "data.profile" => {
                write(&databases.profile(&read::<AskProfile>(call.arguments)?, stop)?)
            }
            "data.describe" => {
                write(&databases.describe(&read::<AskDescribe>(call.arguments)?, millis, stop)?)
            }
            "data.tables" => {
                write(&databases.tables(&read::<AskTables>(call.arguments)?, millis, stop)?)
            }
            other => Err(DataError::Arguments(format!("there is no tool {other}"))),
        }
    }
}

/// Returns the tools of the process.
fn tools() -> Vec<Tool> {
    vec![
        tool::<AskMeasure>("data.measure", "Computes a metric query over a table."),
        tool::<AskMeasure>(
            "data.explain_change",
            "Computes what explains the change of a measure.",
        ),
        tool::<AskQuery>("data.query", "Runs one SELECT over a table."),
        tool::<AskRows>("data.rows", "Returns rows of a table."),
        tool::<AskDescribe>("data.describe", "Returns the columns of a table with sample values."),
        tool::<AskProfile>("data.profile", "Returns figures about the values of columns."),
        tool::<AskTables>("data.tables", "Lists the tables and views of a database."),
    ]
}

impl ServerHandler for DatabaseServer {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("csign-data", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let call = Call { tool: request.name.to_string(), arguments };
        let server = self.clone();
        watched(call, context, move |call, stop| server.answer(call, stop)).await
    }
}
