//! The MCP server of a query process: reads the arguments of calls, watches their time, and writes
//! results.

use std::sync::{Arc, OnceLock};

use contract::sources::{
    AskDescribe, AskExport, AskMeasure, AskProfile, AskProve, AskQuery, AskRows, AskVerify,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::{Map, Value};

use super::{Asker, ServeSettings};
use crate::{
    DataError,
    stop::Stop,
    wire::{Call, read, tool, watched, write},
};

/// The MCP handler.
#[derive(Clone)]
pub struct QueryServer {
    settings: Arc<ServeSettings>,
    asker: Arc<OnceLock<Asker>>,
    opening: Arc<std::sync::Mutex<()>>,
}

impl QueryServer {
    /// Creates the handler, and opens the database while the client is greeted.
    pub fn start(settings: ServeSettings) -> Self {
        let server =
            Self { settings: Arc::new(settings), asker: Arc::default(), opening: Arc::default() };
        let opened = server.clone();
        // A failure shows with the first call, which opens the database again.
        std::thread::spawn(move || drop(opened.asker().map(|_| ())));
        server
    }

    fn asker(&self) -> Result<&Asker, DataError> {
        if let Some(asker) = self.asker.get() {
            return Ok(asker);
        }
        let _one = self.opening.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(asker) = self.asker.get() {
            return Ok(asker);
        }
        let opened = Asker::open(&self.settings)?;
        Ok(self.asker.get_or_init(|| opened))
    }

    /// Answers one call.
    fn answer(&self, call: Call, stop: &Stop) -> Result<Value, DataError> {
        let asker = self.asker()?;
        match call.tool.as_str() {
            "data.measure" | "data.explain_change" => {
                write(&asker.measure(&read::<AskMeasure>(call.arguments)?, stop)?)
            }
            "data.query" => write(&asker.query(&read::<AskQuery>(call.arguments)?, stop)?),
            "data.rows" => write(&asker.rows(&read::<AskRows>(call.arguments)?, stop)?),
            "data.export" => write(&asker.export(&read::<AskExport>(call.arguments)?, stop)?),
            "data.describe" => write(&asker.describe(&read::<AskDescribe>(call.arguments)?, stop)?),
            "data.profile" => write(&asker.profile(&read::<AskProfile>(call.arguments)?, stop)?),
            "data.verify" => write(&asker.verify(&read::<AskVerify>(call.arguments)?, stop)?),
            "data.prove" => write(&asker.prove(&read::<AskProve>(call.arguments)?, stop)?),
            other => Err(DataError::Arguments(format!("there is no tool {other}"))),
        }
    }
}

/// Returns the tools of the process.
fn tools() -> Vec<Tool> {
    vec![
        tool::<AskMeasure>("data.measure", "Computes a metric query over sources."),
        tool::<AskMeasure>(
            "data.explain_change",
            "Computes what explains the change of a measure.",
        ),
        tool::<AskQuery>("data.query", "Runs one SELECT over sources."),
        tool::<AskRows>("data.rows", "Returns stored rows of a source."),
        tool::<AskExport>("data.export", "Writes rows as a Parquet file into the working folder."),
        tool::<AskDescribe>("data.describe", "Returns the columns of a source with sample values."),
        tool::<AskProfile>("data.profile", "Returns figures about the values of columns."),
        tool::<AskVerify>(
            "data.verify",
            "Asks a recorded question again and compares the results.",
        ),
        tool::<AskProve>(
            "data.prove",
            "Verifies a recorded figure, and writes the statements that make it again.",
        ),
    ]
}

impl ServerHandler for QueryServer {
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
        let arguments: Map<String, Value> = request.arguments.unwrap_or_default();
        let call = Call { tool: request.name.to_string(), arguments };
        let server = self.clone();
        watched(call, context, move |call, stop| server.answer(call, stop)).await
    }
}
