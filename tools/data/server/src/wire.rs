//! The parts that both MCP servers share: arguments, results, time limits and cancellation of
//! calls.

use contract::{AgentError, sources::AskLimits};
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolResponse, CallToolResult, Tool, ToolAnnotations},
    service::RequestContext,
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{DataError, stop::Stop};

/// A call of a tool.
pub struct Call {
    /// The name of the tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

/// Reads the arguments of a call.
pub fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, DataError> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| DataError::Arguments(error.to_string()))
}

/// Writes the result of a call.
pub fn write<T: Serialize>(result: &T) -> Result<Value, DataError> {
    serde_json::to_value(result).map_err(|error| DataError::Engine(error.to_string()))
}

/// Describes a tool by the type of its arguments.
pub fn tool<T: JsonSchema>(name: &'static str, description: &'static str) -> Tool {
    let schema = schemars::schema_for!(T).to_value();
    let schema = schema.as_object().cloned().unwrap_or_default();
    Tool::new(name, description, schema)
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false))
}

/// Returns the time limit of a call from the call's arguments.
pub fn millis_of(arguments: &Map<String, Value>) -> u64 {
    let millis = arguments.get("limits").and_then(|limits| limits.get("millis")?.as_u64());
    millis.unwrap_or(AskLimits::default().millis)
}

/// Runs a call on a thread of its own until it ends, its time is over, or the client cancels it.
pub async fn watched(
    call: Call,
    context: RequestContext<RoleServer>,
    answer: impl FnOnce(Call, &Stop) -> Result<Value, DataError> + Send + 'static,
) -> Result<CallToolResponse, ErrorData> {
    let stop = Stop::after(millis_of(&call.arguments));
    let ending = stop.until_dropped();
    let asked = stop.clone();
    let mut task = tokio::task::spawn_blocking(move || {
        let _ending = ending;
        answer(call, &asked)
    });
    let done = tokio::select! {
        done = &mut task => done,
        () = context.ct.cancelled() => {
            stop.cancel();
            task.await
        }
    };
    let result = done.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(response(result).into())
}

/// Returns the MCP result of a call. The result contains the value only once, because an additional
/// text would double large results.
fn response(result: Result<Value, DataError>) -> CallToolResult {
    match result {
        Ok(value) => {
            let mut result = CallToolResult::success(Vec::new());
            result.structured_content = Some(value);
            result
        }
        Err(error) => {
            let error = AgentError::from(error);
            let mut result =
                CallToolResult::error(vec![rmcp::model::ContentBlock::text(error.message.clone())]);
            result.structured_content = serde_json::to_value(&error).ok();
            result
        }
    }
}
