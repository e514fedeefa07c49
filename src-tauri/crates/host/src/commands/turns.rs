//! Starts turns and direct calls of tools for all callers.

use contract::{
    AgentError, AppStatus, ApprovalStatus, Caller, ToolCallParams, ToolCallResponse, TurnId,
    TurnStartParams, TurnStartResponse,
};
use engine::ports::{Models as _, Profile as _};
use tokio_util::sync::CancellationToken;

use crate::host::Host;

impl Host {
    /// Checks that there are packs if the offline model is used, because it can answer from packs
    /// only.
    pub(super) fn check_packs(&self, model: Option<&str>) -> Result<(), AgentError> {
        match self.missing_packs_error() {
            Some(error)
                if self.packs.tools.loaded_packs().is_empty()
                    && self.profile.settings().agent_enabled
                    && self.models.current(model).in_process() =>
            {
                Err(error)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Accepts a message of a caller.
    pub(crate) async fn turn_start_from(
        &self,
        caller: Caller,
        params: TurnStartParams,
    ) -> Result<TurnStartResponse, AgentError> {
        self.check_alarm()?;
        self.check_packs(params.model.as_deref())?;
        self.engine.turns.start(caller, params).await
    }

    /// Calls a tool directly in a turn whose id the caller already knows.
    pub(crate) async fn call_tool_in_turn(
        &self,
        turn: TurnId,
        caller: Caller,
        params: ToolCallParams,
        cancel: CancellationToken,
    ) -> Result<ToolCallResponse, AgentError> {
        self.check_alarm()?;
        self.engine.direct_calls.call_in(turn, caller, params, cancel).await
    }

    /// Returns the running turns and the actions that wait for a person.
    pub(super) async fn read_status(&self) -> Result<AppStatus, AgentError> {
        let approvals = self.engine.approvals.list(false).await?;
        let waiting = approvals.iter().filter(|a| a.status == ApprovalStatus::Pending).count();
        Ok(AppStatus {
            running: self.engine.turns.running(),
            waiting_approvals: u32::try_from(waiting).unwrap_or(u32::MAX),
            audit_ok: self.log.ledger.alarm().is_none(),
            agent_enabled: self.profile.settings().agent_enabled,
            model_label: self.models.current(None).label(),
            notices: self.start_notices(),
            now: self.now(),
        })
    }
}
