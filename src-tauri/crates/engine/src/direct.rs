//! One tool called directly (`csign tools call`, a panel of the window): the same checks, gate and records, without a conversation.

use std::sync::Arc;

use contract::{AgentError, CallId, ErrorCode, SessionId, ToolCallParams, ToolCallResponse, TurnId};
use tokio_util::sync::CancellationToken;

use crate::{
    Engine,
    lanes::Accepted,
    ports::AskedCall,
    turn::{End, Turn},
};

/// Where calls belong that name no session.
pub(crate) const SESSION: &str = "direct";

impl Engine {
    /// Calls a tool by id. `headless` callers get `approval_required` for writes, with the pending action's id.
    pub async fn tool_call(self: &Arc<Self>, params: ToolCallParams) -> Result<ToolCallResponse, AgentError> {
        self.check_enabled()?;
        let specs = self.world.tools.specs();
        let spec = specs.iter().find(|spec| spec.id == params.tool || spec.model_name == params.tool.as_str());
        let Some(spec) = spec else {
            let known: Vec<&str> = specs.iter().map(|spec| spec.id.as_str()).collect();
            return Err(AgentError::new(ErrorCode::ToolNotFound, format!("There is no tool named {}.", params.tool))
                .hint(format!("Known tools: {}.", known.join(", "))));
        };
        let session = params.session.unwrap_or_else(|| SessionId::new(SESSION));
        let accepted = Accepted { turn: TurnId(self.world.ids.next("turn")), text: String::new(), model: None, headless: params.headless };
        let mut turn = Turn::new(Arc::clone(self), session, accepted, CancellationToken::new());
        turn.keeps_items = false;
        let call = AskedCall { id: CallId(self.world.ids.next("call")), name: spec.model_name.clone(), arguments: params.arguments.to_string() };
        let result = Arc::new(turn).run_calls(vec![call]).await;
        if let Err(error) = self.world.audit.flush().await {
            tracing::warn!(%error, "the audit log could not be flushed after a direct call");
        }
        match result {
            Ok(mut done) => {
                let done = done.pop().ok_or_else(|| AgentError::internal("unexpected", "The tool gave no result."))?;
                Ok(ToolCallResponse { outcome: done.outcome, data: (*done.data).clone(), error: done.error })
            }
            Err(End::ApprovalRequired { error } | End::Failed { error, .. }) => Err(error),
            Err(End::Cancelled { .. } | End::Answer { .. }) => Err(AgentError::internal("cancelled", "The call was stopped.")),
        }
    }
}
