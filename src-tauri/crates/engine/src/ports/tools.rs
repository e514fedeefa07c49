//! The port for tools: the list of tools, the request of a call, and running the call.

use std::sync::Arc;

use async_trait::async_trait;
use contract::{
    AgentError, AgentId, CallId, CallerKind, PackId, SessionId, ToolId, ToolSpec,
    manifest::DataFlow,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// The pack whose tools answer from sources of data. The app itself runs these tools.
pub const DATA_PACK: &str = "data";

/// A call that passed every check and is ready to run.
#[derive(Clone, Debug)]
pub struct ToolRequest {
    /// The tool as its pack defines it.
    pub spec: Arc<ToolSpec>,
    /// All arguments as recorded and sent, including caller-owned values.
    pub arguments: Value,
    /// The same arguments before they were converted for the tool's server.
    pub asked: Value,
    /// The identifier of the call.
    pub call: CallId,
    /// The session of the call.
    pub session: SessionId,
    /// The caller that makes the call.
    pub caller: CallerKind,
    /// The idempotency key, for tools that declare an idempotency strategy.
    pub idempotency_key: Option<String>,
    /// Whether a person is present to answer questions of the tool's server.
    pub attended: bool,
    /// The content that the turn of the call has seen.
    pub content: TurnContent,
}

/// The content that the turn of a call has seen, and whether it may leave this computer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnContent {
    /// Whether the model that reads the result runs on this computer.
    pub model_is_local: bool,
    /// Whether the turn has seen data that must stay on this computer.
    pub is_local: bool,
    /// Whether the turn has seen untrusted content.
    pub is_untrusted: bool,
}

/// The failure of a tool.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", .error.message)]
pub struct ToolFailure {
    /// The error that the model and the caller get.
    pub error: AgentError,
    /// Whether the call may have taken effect (timeout, lost connection after sending).
    pub may_have_happened: bool,
}

/// A call's arguments, converted to the format that the tool's server expects.
#[derive(Clone, Debug, PartialEq)]
pub struct Adapted {
    /// The arguments that are sent.
    pub arguments: Value,
    /// Whether a request is sent. Otherwise the adapter knows the answer without a request.
    pub is_sent: bool,
}

/// Decides whether a running call may send a further request. The request is recorded first.
#[async_trait]
pub trait Resume: Send + Sync {
    /// Requests permission to send the call again with answers that its server asked for. The
    /// decision is made as for a new call with these arguments and answers.
    async fn resume(&self, answers: &Value) -> Result<(), AgentError>;
    /// Requests permission to send another request of a read with these arguments. Records the
    /// request first.
    async fn again(&self, arguments: &Value) -> Result<(), AgentError>;
}

/// Runs tools. The engine enforces time limits and ends a call early with `cancel`.
#[async_trait]
pub trait Tools: Send + Sync {
    /// Returns all usable tools of all packs, by id. Must be fast, because it is called once per
    /// turn.
    fn specs(&self) -> Arc<Vec<ToolSpec>>;
    /// Returns the agent that answers for a tool. The agent's kill switch also applies to the tool.
    fn agent_of(&self, _tool: &ToolId) -> Option<AgentId> {
        None
    }
    /// Whether a call could run now. A missing credential is reported before a person is asked and
    /// before a request is sent.
    async fn check(&self, _spec: &ToolSpec) -> Result<(), AgentError> {
        Ok(())
    }
    /// Returns the hash of the tool's definition, if a person accepted the definition and chose the
    /// effect.
    fn accepted_definition(&self, _spec: &ToolSpec) -> Option<String> {
        None
    }
    /// Converts the arguments to the form that will be sent. Called before the call is shown,
    /// approved and recorded.
    fn adapt(&self, _caller: &CallerKind, _spec: &ToolSpec, arguments: Value) -> Adapted {
        Adapted { arguments, is_sent: true }
    }
    /// Returns a pack's rules about its data and models.
    fn data_flow(&self, _pack: &PackId) -> Option<DataFlow> {
        None
    }
    /// Whether the results of a pack's tools are computed from imported files. Must be fast,
    /// because it is called for each call. There is no default implementation, because trust
    /// depends on the result.
    fn reads_files(&self, pack: &PackId) -> bool;
    /// Runs a call.
    async fn run(
        &self,
        request: ToolRequest,
        cancel: CancellationToken,
    ) -> Result<Value, ToolFailure>;
    /// Runs a call that may need further requests: with answers of the user that its server asks
    /// for, or with other arguments. `resume` decides whether these requests may be sent.
    async fn run_resumable(
        &self,
        request: ToolRequest,
        cancel: CancellationToken,
        _resume: &dyn Resume,
    ) -> Result<Value, ToolFailure> {
        self.run(request, cancel).await
    }
    /// Whether calls of this tool have their own time limit, because the tool's side knows how long
    /// they may take and whether they make progress. For such calls, the engine sets no limit.
    fn keeps_time(&self, _spec: &ToolSpec) -> bool {
        false
    }
    /// Whether a call of this tool is waiting for a person now. During that time, the limit is not
    /// enforced.
    fn waits_for_person(&self, _spec: &ToolSpec) -> bool {
        false
    }
}
