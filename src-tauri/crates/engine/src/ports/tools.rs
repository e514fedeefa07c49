//! Tools: which there are, what a call sends, and how it is run.

use std::sync::Arc;

use async_trait::async_trait;
use contract::{
    AgentError, AgentId, CallId, PackId, SessionId, ToolId, ToolSpec, manifest::DataFlow,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// A call that passed every check, ready to run.
#[derive(Clone, Debug)]
pub struct ToolRequest {
    /// The tool as its pack defines it.
    pub spec: Arc<ToolSpec>,
    /// All arguments as they are recorded and sent, caller-owned values included.
    pub arguments: Value,
    /// The same before they took the form of the tool's server.
    pub asked: Value,
    /// The identifier of the call.
    pub call: CallId,
    /// The session of the call.
    pub session: SessionId,
    /// Set for tools that declare an idempotency strategy.
    pub idempotency_key: Option<String>,
    /// Somebody is there whom the tool's server may ask.
    pub attended: bool,
}

/// Why a tool failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", .error.message)]
pub struct ToolFailure {
    /// The error that the model and the caller get.
    pub error: AgentError,
    /// The call may have taken effect (timeout, lost connection after sending).
    pub may_have_happened: bool,
}

/// The arguments of a call in the form that its tool's server takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Adapted {
    /// The arguments that are sent.
    pub arguments: Value,
    /// Whether a request is sent. If not, the answer is known without one.
    pub is_sent: bool,
}

/// Asked before a call sends another request than the one that was recorded.
#[async_trait]
pub trait Resume: Send + Sync {
    /// The call goes out again with the answers that its server wanted: that is a new call, and
    /// what it means is decided by its arguments and these answers.
    async fn resume(&self, answers: &Value) -> Result<(), AgentError>;
    /// A read sends one more request with these arguments. Records it first.
    async fn again(&self, arguments: &Value) -> Result<(), AgentError>;
}

/// Runs tools. The engine enforces timeouts; `cancel` asks for an early end.
#[async_trait]
pub trait Tools: Send + Sync {
    /// All usable tools of all packs, by id. Cheap: called once per turn.
    fn specs(&self) -> Arc<Vec<ToolSpec>>;
    /// The agent of the pack that a tool belongs to; its switch is the tool's, too.
    fn agent_of(&self, _tool: &ToolId) -> Option<AgentId> {
        None
    }
    /// Whether a call could run as things are: a missing credential is told before anybody is asked
    /// and anything is sent.
    async fn check(&self, _spec: &ToolSpec) -> Result<(), AgentError> {
        Ok(())
    }
    /// The request that a call makes. Called before the call is shown, signed and recorded; what
    /// comes back here is what is sent.
    fn adapt(&self, _spec: &ToolSpec, arguments: Value) -> Adapted {
        Adapted { arguments, is_sent: true }
    }
    /// Returns a pack's rules about its data and models.
    fn data_flow(&self, _pack: &PackId) -> Option<DataFlow> {
        None
    }
    /// Runs one call.
    async fn run(
        &self,
        request: ToolRequest,
        cancel: CancellationToken,
    ) -> Result<Value, ToolFailure>;
    /// The same for a call that may need further requests: with answers that its server wants from
    /// the user, or with other arguments. `resume` says whether they may be sent.
    async fn run_resumable(
        &self,
        request: ToolRequest,
        cancel: CancellationToken,
        _resume: &dyn Resume,
    ) -> Result<Value, ToolFailure> {
        self.run(request, cancel).await
    }
    /// Whether a call of this tool waits for a person now: then its time limit does not count.
    fn waits_for_person(&self, _spec: &ToolSpec) -> bool {
        false
    }
}
