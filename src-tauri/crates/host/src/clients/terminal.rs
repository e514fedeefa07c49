//! The commands of a terminal: all commands of the chat window, and decisions if a person is
//! present. Decisions about other sessions' actions need a permission that the person gives in the
//! approval window.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use contract::{
    AgentError, Approval, ApprovalDecideParams, ApprovalDecideResponse, ApprovalId,
    ApprovalsListResponse, AuditRecordView, Caller, CallerKind, Commands, Decision, Empty,
    ErrorCode, PolicyView, RunResponse, ServiceLevelView, SessionView, TerminalDecisionsParams,
    TurnId, VerifyReport, commands::Access, params::*, with_commands,
};
use engine::{Decided, ports::Profile as _};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::peer::Peer;
use crate::{host::Host, log::from_terminal};

/// Whether a person uses the terminal, and which actions the person may decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Person {
    /// Standard input is not a terminal, so no person can be asked.
    Absent,
    /// This process asks the person about actions of its own turn.
    Asked,
    /// The person decides an action of another session by the action's id. This requires the
    /// permission in the settings.
    Deciding,
}

/// A host with the access rights of `csign`, in the same process or over the socket.
pub struct Terminal {
    host: Arc<Host>,
    connection: Connection,
}

/// How the terminal reaches the host.
enum Connection {
    /// Directly, in the process that has the profile open.
    Local(Person),
    /// As a client of the socket.
    Socket {
        peer: Peer,
        /// Whether the client claims that a person uses it. The claim is verified for each command.
        claims: bool,
        /// The turns that this client started.
        own: Mutex<BTreeSet<TurnId>>,
        /// The token that is cancelled when the client has disconnected or the socket is closing.
        gone: CancellationToken,
    },
}

impl Terminal {
    /// Makes the terminal for the process that has the profile open.
    pub fn local(host: Arc<Host>, person: Person) -> Self {
        Self { host, connection: Connection::Local(person) }
    }

    /// Makes the terminal for an accepted client of the socket.
    pub(crate) fn remote(
        host: Arc<Host>,
        peer: Peer,
        claims: bool,
        gone: CancellationToken,
    ) -> Self {
        Self { host, connection: Connection::Socket { peer, claims, own: Mutex::default(), gone } }
    }

    /// Returns the terminal's current access level.
    fn granted_access(&self) -> Access {
        let person = match &self.connection {
            Connection::Local(person) => *person != Person::Absent,
            Connection::Socket { peer, claims, .. } => *claims && peer.is_at_terminal(),
        };
        if person { Access::Widens } else { Access::Chat }
    }

    fn check_access(&self, needed: Access) -> Result<(), AgentError> {
        if needed <= self.granted_access() {
            Ok(())
        } else {
            Err(no_terminal_error("Only a person at a terminal or in the window may do that."))
        }
    }

    async fn check_decision(&self, params: &ApprovalDecideParams) -> Result<(), AgentError> {
        let reject = matches!(params.decision, Decision::Reject { .. });
        match &self.connection {
            // Rejecting is always safe, so it needs no permission in this process.
            Connection::Local(_) if reject => return Ok(()),
            Connection::Local(Person::Asked) => return Ok(()),
            Connection::Local(_) | Connection::Socket { .. } => {}
        }
        if self.granted_access() < Access::Widens {
            return Err(no_terminal_error("Only a person at a terminal may decide."));
        }
        if self.host.profile.settings().decide_from_terminal
            || self.is_own_approval(&params.id).await?
        {
            return Ok(());
        }
        Err(AgentError::new(ErrorCode::ApprovalRequired, "Deciding from a terminal is switched off.")
            .reason("terminal_decisions_off")
            .hint("Decide in the approval window, or allow terminals to decide in that window's settings."))
    }

    /// Whether this client started the action's turn, so that its person may decide.
    async fn is_own_approval(&self, id: &ApprovalId) -> Result<bool, AgentError> {
        let Connection::Socket { own, .. } = &self.connection else { return Ok(false) };
        let turn = self
            .host
            .engine
            .approvals
            .list(false)
            .await?
            .into_iter()
            .find(|approval| approval.id == *id)
            .map(|approval| approval.turn);
        Ok(turn.is_some_and(|turn| own.lock().contains(&turn)))
    }

    fn add_own_turn(&self, turn: &TurnId) {
        if let Connection::Socket { own, .. } = &self.connection {
            own.lock().insert(turn.clone());
        }
    }

    async fn start_turn(&self, params: TurnStartParams) -> Result<TurnStartResponse, AgentError> {
        let started = self.host.turn_start_from(Caller::terminal(), params).await?;
        self.add_own_turn(&started.turn);
        Ok(started)
    }

    async fn call_tool(&self, params: ToolCallParams) -> Result<ToolCallResponse, AgentError> {
        let turn = TurnId(self.host.process.options.ids.next("turn"));
        self.add_own_turn(&turn);
        self.host.call_tool_in_turn(turn, Caller::terminal(), params, self.gone_token()).await
    }

    /// Returns the token that is cancelled when the caller has disconnected.
    fn gone_token(&self) -> CancellationToken {
        match &self.connection {
            Connection::Socket { gone, .. } => gone.clone(),
            Connection::Local(_) => CancellationToken::new(),
        }
    }

    async fn test_server(
        &self,
        params: ServerTestParams,
    ) -> Result<ServerTestResponse, AgentError> {
        self.check_access(Access::Widens)?;
        self.host.check_alarm()?;
        let trial = self
            .host
            .servers
            .trials
            .begin_cancellable_trial(&params.server.name, &self.gone_token());
        self.host.test_server(&params.server, &trial).await
    }

    async fn add_server(&self, params: ServerAddParams) -> Result<OwnServerView, AgentError> {
        self.check_access(Access::Widens)?;
        self.host.check_alarm()?;
        let trial = self
            .host
            .servers
            .trials
            .begin_cancellable_trial(&params.server.name, &self.gone_token());
        from_terminal(self.host.add_server(params, &trial)).await
    }

    async fn set_reads(&self, params: ServerReadsParams) -> Result<OwnServerView, AgentError> {
        // Asking more often does not widen access, so no confirmation is needed.
        self.check_access(if params.may_run { Access::Widens } else { Access::Chat })?;
        from_terminal(self.host.server_reads_set(params)).await
    }

    async fn give_allowance(&self, params: AllowanceParams) -> Result<Empty, AgentError> {
        self.check_access(Access::Widens)?;
        self.host.check_alarm()?;
        self.host.give_allowance(&params, &CallerKind::Terminal).await
    }

    /// Imports files. Without a person, a permission for their folder takes the place of one.
    async fn add_source(&self, params: SourceAddParams) -> Result<SourceJob, AgentError> {
        if !params.unattended {
            self.check_access(Access::Person)?;
        }
        from_terminal(self.host.source_add(params)).await
    }

    /// Shows how files would be imported, with the permission that an import needs.
    async fn survey_source(&self, params: SourceAddParams) -> Result<SourceJob, AgentError> {
        if !params.unattended {
            self.check_access(Access::Person)?;
        }
        from_terminal(self.host.source_survey(params)).await
    }

    /// Imports new files of a source. Without a person, a permission for their folder is needed.
    async fn refresh_source(&self, params: SourceParams) -> Result<SourceJob, AgentError> {
        self.host.check_alarm()?;
        let unattended = self.granted_access() < Access::Person;
        from_terminal(async { self.host.sources.refresh(&params, unattended) }).await
    }

    async fn set_settings(&self, params: SettingsSetParams) -> Result<SettingsView, AgentError> {
        let _changing = self.host.profile.lock_changes().await;
        self.check_access(self.host.profile.find_widening(&params.settings).level)?;
        from_terminal(self.host.settings_set(params)).await
    }

    async fn set_switch(&self, params: SwitchSetParams) -> Result<SettingsView, AgentError> {
        self.check_access(if params.on { Access::Person } else { Access::Chat })?;
        from_terminal(self.host.switch_set(params)).await
    }
}

fn no_terminal_error(message: &str) -> AgentError {
    AgentError::new(ErrorCode::ApprovalRequired, message)
        .reason("no_terminal")
        .hint("Run this in a terminal, or decide in the window.")
}

fn window_only_error(message: &str) -> AgentError {
    AgentError::new(ErrorCode::ApprovalRequired, message).reason("window_only")
}

/// Runs a command for a terminal. Most commands require the access level in the command list.
macro_rules! carry_out {
    ($me:ident, turn_start, $level:ident, $params:ident) => {
        $me.start_turn($params).await
    };
    ($me:ident, tool_call, $level:ident, $params:ident) => {
        $me.call_tool($params).await
    };
    ($me:ident, settings_set, $level:ident, $params:ident) => {
        $me.set_settings($params).await
    };
    ($me:ident, switch_set, $level:ident, $params:ident) => {
        $me.set_switch($params).await
    };
    ($me:ident, server_test, $level:ident, $params:ident) => {
        $me.test_server($params).await
    };
    ($me:ident, server_add, $level:ident, $params:ident) => {
        $me.add_server($params).await
    };
    ($me:ident, server_reads_set, $level:ident, $params:ident) => {
        $me.set_reads($params).await
    };
    ($me:ident, allowance_give, $level:ident, $params:ident) => {
        $me.give_allowance($params).await
    };
    // At a terminal, a person edits the file itself.
    ($me:ident, policy_rules_set, $level:ident, $params:ident) => {{
        let _ = $params;
        Err(window_only_error("Only the approval window may change what may run."))
    }};
    ($me:ident, source_add, $level:ident, $params:ident) => {
        $me.add_source($params).await
    };
    ($me:ident, source_survey, $level:ident, $params:ident) => {
        $me.survey_source($params).await
    };
    ($me:ident, source_refresh, $level:ident, $params:ident) => {
        $me.refresh_source($params).await
    };
    // These only read, and record who asked.
    ($me:ident, source_measure, $level:ident, $params:ident) => {
        from_terminal($me.host.source_measure($params)).await
    };
    ($me:ident, source_query, $level:ident, $params:ident) => {
        from_terminal($me.host.source_query($params)).await
    };
    ($me:ident, source_export, $level:ident, $params:ident) => {
        from_terminal($me.host.source_export($params)).await
    };
    ($me:ident, board_tile, $level:ident, $params:ident) => {
        from_terminal($me.host.board_tile($params)).await
    };
    ($me:ident, session_export, $level:ident, $params:ident) => {
        from_terminal($me.host.session_export($params)).await
    };
    ($me:ident, audit_export, $level:ident, $params:ident) => {
        from_terminal($me.host.audit_export($params)).await
    };
    // These commands only read, or leave no record of a change.
    ($me:ident, $name:ident, chat, $params:ident) => {
        $me.host.$name($params).await
    };
    ($me:ident, $name:ident, $level:ident, $params:ident) => {{
        $me.check_access(contract::access!($level))?;
        from_terminal($me.host.$name($params)).await
    }};
}

macro_rules! forward {
    (chat { $($name:ident($params:ty) -> $response:ty, $level:ident, $help:literal;)+ } approval { $($rest:tt)+ }) => {
        #[async_trait]
        impl Commands for Terminal {
            $(async fn $name(&self, params: $params) -> Result<$response, AgentError> {
                carry_out!(self, $name, $level, params)
            })+

            async fn approval_pending(&self, params: Empty) -> Result<ApprovalsListResponse, AgentError> {
                self.host.approval_pending(params).await
            }

            async fn approval_decide(&self, params: ApprovalDecideParams) -> Result<ApprovalDecideResponse, AgentError> {
                self.check_decision(&params).await?;
                self.host.check_alarm()?;
                let Decided { approval, result } = self.host.engine.approvals.decide(params, &Caller::terminal()).await?;
                Ok(ApprovalDecideResponse { approval, result })
            }

            async fn approval_form(&self, params: ApprovalParams) -> Result<ApprovalFormResponse, AgentError> {
                self.host.approval_form(params).await
            }

            async fn approval_ask_again(&self, params: ApprovalParams) -> Result<Approval, AgentError> {
                self.check_access(Access::Widens)?;
                self.host.check_alarm()?;
                self.host.engine.approvals.ask_again(&params.id, &Caller::terminal()).await
            }

            async fn audit_alarm(&self, params: Empty) -> Result<AuditAlarmResponse, AgentError> {
                self.host.audit_alarm(params).await
            }
            async fn audit_accept_new_log(&self, _: Empty) -> Result<AuditAcceptResponse, AgentError> {
                if self.granted_access() < Access::Widens {
                    return Err(no_terminal_error("Only a person at a terminal, or in the approval window, may accept a new log."));
                }
                Ok(AuditAcceptResponse { set_aside: self.host.accept_new_log("terminal").await? })
            }

            async fn policy_set(&self, _: PolicySetParams) -> Result<Empty, AgentError> {
                Err(window_only_error("Only the approval window may change what may run."))
            }
            async fn server_tools_accept(&self, params: ServerToolsAcceptParams) -> Result<Empty, AgentError> {
                self.check_access(Access::Widens)?;
                self.host.server_tools_accept(params).await
            }
            async fn server_tool_effect(&self, _: ServerToolEffectParams) -> Result<Empty, AgentError> {
                Err(window_only_error("Only the approval window may say what a tool changes."))
            }
            async fn terminal_decisions_set(&self, _: TerminalDecisionsParams) -> Result<Empty, AgentError> {
                Err(window_only_error("Only the approval window may change who decides."))
            }
            async fn confirmations(&self, params: Empty) -> Result<ConfirmationsResponse, AgentError> {
                self.host.confirmations(params).await
            }
            async fn confirmation_decide(&self, _: ConfirmationDecideParams) -> Result<Empty, AgentError> {
                Err(window_only_error("Only the approval window may confirm requests of the chat window."))
            }
        }
    };
}

with_commands!(forward);
