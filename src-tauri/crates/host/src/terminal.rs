//! The commands as a terminal has them: all of the chat window's, and decisions only where a person is there to make them.
//! Deciding for others than the own question is off until the person turns it on in the approval window.

use std::sync::Arc;

use async_trait::async_trait;
use contract::{
    AgentError, ApprovalDecideParams, ApprovalDecideResponse, ApprovalsListResponse, AuditRecordView, Commands, Decision, Empty, ErrorCode, PolicyView,
    RunResponse, ServiceLevelView, SessionView, TerminalDecisionsParams, VerifyReport, params::*, with_commands,
};
use engine::{Decided, DecidedBy, ports::Profile as _};

use crate::Host;

/// Who sits at the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Person {
    /// Standard input is not a terminal: nobody can be asked.
    Absent,
    /// Asked by this process itself, about its own turn.
    Asked,
    /// Deciding by id something that waits elsewhere; needs the setting.
    Deciding,
}

/// A host as `csign` uses it, in its own process or over the socket.
pub struct Terminal {
    host: Arc<Host>,
    person: Person,
    remote: bool,
}

impl Terminal {
    /// For the process that holds the profile.
    pub fn local(host: Arc<Host>, person: Person) -> Self {
        Self { host, person, remote: false }
    }

    /// For a client of the socket: its own turns do not run in its process, so every decision needs the setting.
    pub(crate) fn remote(host: Arc<Host>, at_terminal: bool) -> Self {
        Self { host, person: if at_terminal { Person::Deciding } else { Person::Absent }, remote: true }
    }

    fn check_decision(&self, decision: &Decision) -> Result<(), AgentError> {
        // To say no is always safe, and needs no one's leave in the process that holds the profile.
        if !self.remote && matches!(decision, Decision::Reject { .. }) {
            return Ok(());
        }
        let refused = |reason: &str, message: &str, hint: &str| Err(AgentError::new(ErrorCode::ApprovalRequired, message).reason(reason).hint(hint));
        match self.person {
            Person::Asked => Ok(()),
            Person::Absent => refused("no_terminal", "Only a person at a terminal may decide.", "Run this in a terminal, or decide in the window."),
            Person::Deciding if self.host.profile.settings().decide_from_terminal => Ok(()),
            Person::Deciding => refused(
                "terminal_decisions_off",
                "Deciding from a terminal is switched off.",
                "Decide in the approval window, or allow terminals to decide in that window's settings.",
            ),
        }
    }
}

macro_rules! forward {
    (chat { $($name:ident($params:ty) -> $response:ty, $help:literal;)+ } approval { $($rest:tt)+ }) => {
        #[async_trait]
        impl Commands for Terminal {
            $(async fn $name(&self, params: $params) -> Result<$response, AgentError> {
                self.host.$name(params).await
            })+

            async fn approval_pending(&self, params: Empty) -> Result<ApprovalsListResponse, AgentError> {
                self.host.approval_pending(params).await
            }

            async fn approval_decide(&self, params: ApprovalDecideParams) -> Result<ApprovalDecideResponse, AgentError> {
                self.check_decision(&params.decision)?;
                self.host.check_alarm()?;
                let Decided { approval, result } = self.host.engine.approval_decide(params, DecidedBy::Terminal).await?;
                Ok(ApprovalDecideResponse { approval, result })
            }

            async fn audit_alarm(&self, params: Empty) -> Result<AuditAlarmResponse, AgentError> {
                self.host.audit_alarm(params).await
            }
            async fn audit_accept_new_log(&self, _: Empty) -> Result<AuditAcceptResponse, AgentError> {
                if self.person == Person::Absent {
                    let message = "Only a person at a terminal, or in the approval window, may accept a new log.";
                    return Err(AgentError::new(ErrorCode::ApprovalRequired, message).reason("no_terminal").hint("Run this in a terminal."));
                }
                Ok(AuditAcceptResponse { set_aside: self.host.accept_new_log("terminal").await? })
            }

            async fn policy_set(&self, _: PolicySetParams) -> Result<Empty, AgentError> {
                Err(AgentError::new(ErrorCode::ApprovalRequired, "Only the approval window may change what may run.").reason("window_only"))
            }
            async fn server_tool_accept(&self, _: ServerToolAcceptParams) -> Result<Empty, AgentError> {
                Err(AgentError::new(ErrorCode::ApprovalRequired, "Only the approval window may accept a changed tool.").reason("window_only"))
            }
            async fn server_tool_effect(&self, _: ServerToolEffectParams) -> Result<Empty, AgentError> {
                Err(AgentError::new(ErrorCode::ApprovalRequired, "Only the approval window may say what a tool changes.").reason("window_only"))
            }
            async fn terminal_decisions_set(&self, _: TerminalDecisionsParams) -> Result<Empty, AgentError> {
                Err(AgentError::new(ErrorCode::ApprovalRequired, "Only the approval window may change who decides.").reason("window_only"))
            }
        }
    };
}

with_commands!(forward);
