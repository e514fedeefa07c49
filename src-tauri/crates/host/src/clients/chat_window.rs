//! The commands of the chat window. Changes that widen access are requested here and confirmed in
//! the approval window, so that a compromised page cannot allow more actions or send more data
//! without a person. This module must not know windows: the shell opens the approval window.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use contract::{
    AgentError, Approval, AuditRecordView, Caller, CallerKind, Commands, DestinationKind,
    ErrorCode, PolicyView, RunResponse, ServiceLevelView, SessionView, SettingChange, TurnId,
    VerifyReport, params::*, with_commands,
};
use engine::ports::Profile as _;
use tokio::sync::MutexGuard;
use tokio_util::sync::CancellationToken;

use crate::host::Host;

/// A host with the access rights of the chat window.
pub struct ChatWindow(Arc<Host>);

impl ChatWindow {
    pub fn new(host: Arc<Host>) -> Self {
        Self(host)
    }

    async fn set_settings(&self, params: SettingsSetParams) -> Result<SettingsView, AgentError> {
        self.0.check_settings(&params.settings)?;
        let confirmed = self
            .lock_confirmed(|| Ok(self.0.profile.find_widening(&params.settings).changes))
            .await?;
        let view = self.0.settings_set(params.clone()).await?;
        self.0.pushes.confirmations.use_up(&confirmed.changes);
        Ok(view)
    }

    async fn call_tool(&self, params: ToolCallParams) -> Result<ToolCallResponse, AgentError> {
        let turn = TurnId(self.0.process.options.ids.next("turn"));
        self.0.call_tool_in_turn(turn, Caller::window(), params, CancellationToken::new()).await
    }

    async fn set_secret(&self, params: SecretSetParams) -> Result<Empty, AgentError> {
        let confirmed = self
            .lock_confirmed(|| self.0.key_change(&params.name).map(|change| vec![change]))
            .await?;
        self.0.secret_set(params.clone()).await?;
        self.0.pushes.confirmations.use_up(&confirmed.changes);
        Ok(Empty {})
    }

    /// Asks once for all changes that connecting a model needs. The changes themselves are made
    /// later. If there are no changes to confirm, forgets the changes that were confirmed in
    /// advance.
    async fn confirm_model(&self, params: ModelConfirmParams) -> Result<Empty, AgentError> {
        self.0.check_settings(&params.settings)?;
        let confirmed = self.lock_confirmed(|| self.0.connection_changes(&params)).await?;
        self.0.pushes.confirmations.note_agreed(confirmed.changes.clone());
        Ok(Empty {})
    }

    async fn list_models(&self, params: ModelListParams) -> Result<ModelListResponse, AgentError> {
        let asks = || self.0.models.listing_change(&params);
        let changes = self.lock_confirmed(asks).await?.changes;
        let listed = self.0.model_list(params.clone()).await?;
        // After a mistyped key, the user asks for the same server again.
        if listed.problem.is_none() {
            self.0.pushes.confirmations.use_up(&changes);
        }
        Ok(listed)
    }

    async fn test_server(
        &self,
        params: ServerTestParams,
    ) -> Result<ServerTestResponse, AgentError> {
        // Stopping the test also withdraws the question in the approval window.
        let trial = self.0.servers.trials.begin_trial(&params.server.name);
        let asks = || self.0.server_change(&params.server);
        // The test may take long, and it changes no settings.
        drop(trial.run_unless_stopped(self.lock_confirmed(asks)).await??);
        self.0.check_alarm()?;
        self.0.test_server(&params.server, &trial).await
    }

    async fn add_server(&self, params: ServerAddParams) -> Result<OwnServerView, AgentError> {
        let trial = self.0.servers.trials.begin_trial(&params.server.name);
        let asks = || self.0.server_changes(&params);
        let _confirmed = trial.run_unless_stopped(self.lock_confirmed(asks)).await??;
        self.0.check_alarm()?;
        self.0.add_server(params.clone(), &trial).await
    }

    async fn set_reads(&self, params: ServerReadsParams) -> Result<OwnServerView, AgentError> {
        let _confirmed = self.lock_confirmed(|| self.0.reads_change(&params)).await?;
        self.0.server_reads_set(params.clone()).await
    }

    async fn set_rules(&self, params: PolicyRulesParams) -> Result<PolicyView, AgentError> {
        self.0.check_rules(&params).await?;
        let _confirmed = self.lock_confirmed(|| self.0.rules_changes(&params)).await?;
        self.0.policy_rules_set(params.clone()).await
    }

    async fn give_allowance(&self, params: AllowanceParams) -> Result<Empty, AgentError> {
        let _confirmed = self.lock_confirmed(|| Ok(vec![describe_allowance(&params)])).await?;
        self.0.give_allowance(&params, &CallerKind::Window).await
    }

    /// Waits until a person has confirmed the changes that `asks` returns.
    async fn lock_confirmed(
        &self,
        asks: impl Fn() -> Result<Vec<SettingChange>, AgentError> + Send + Sync,
    ) -> Result<Confirmed<'_>, AgentError> {
        self.0.check_alarm()?;
        let patience =
            Duration::from_secs(self.0.profile.settings().limits.approval_expiry_s.into());
        let mut agreed = Vec::new();
        loop {
            let changing = self.0.profile.lock_changes().await;
            let changes = asks()?;
            agreed.extend(self.0.pushes.confirmations.agreed());
            if changes.iter().all(|change| agreed.contains(change)) {
                return Ok(Confirmed { changes, _changing: changing });
            }
            drop(changing);
            self.0.pushes.confirmations.ask_person(changes.clone(), patience).await?;
            agreed = changes;
        }
    }
}

/// Changes that a person has confirmed. No other settings can change until this value is dropped.
struct Confirmed<'a> {
    changes: Vec<SettingChange>,
    _changing: MutexGuard<'a, ()>,
}

/// Returns the change that a person confirms before a destination is allowed.
fn describe_allowance(params: &AllowanceParams) -> SettingChange {
    let AllowanceParams { destination, session } = params;
    let (setting, within) = match session {
        Some(session) => ("destination.conversation", format!(" ({session})")),
        None => ("destination.always", String::new()),
    };
    let kind = match destination.kind {
        DestinationKind::Host => "host",
        DestinationKind::Recipient => "recipient",
        DestinationKind::Server => "server",
    };
    SettingChange {
        setting: setting.into(),
        before: String::new(),
        after: format!("{kind}:{}{within}", destination.name),
        note: None,
    }
}

fn window_only_error() -> AgentError {
    AgentError::new(ErrorCode::ApprovalRequired, "Only the approval window may do that.")
        .reason("window_only")
}

/// Runs a command of the chat window. Most commands go directly to the host; commands that may
/// widen access first wait for a confirmation.
macro_rules! carry_out {
    ($me:ident, settings_set, $params:ident) => {
        $me.set_settings($params).await
    };
    ($me:ident, secret_set, $params:ident) => {
        $me.set_secret($params).await
    };
    ($me:ident, model_confirm, $params:ident) => {
        $me.confirm_model($params).await
    };
    ($me:ident, model_list, $params:ident) => {
        $me.list_models($params).await
    };
    ($me:ident, server_test, $params:ident) => {
        $me.test_server($params).await
    };
    ($me:ident, server_add, $params:ident) => {
        $me.add_server($params).await
    };
    ($me:ident, server_reads_set, $params:ident) => {
        $me.set_reads($params).await
    };
    ($me:ident, allowance_give, $params:ident) => {
        $me.give_allowance($params).await
    };
    ($me:ident, policy_rules_set, $params:ident) => {
        $me.set_rules($params).await
    };
    ($me:ident, turn_start, $params:ident) => {
        $me.0.turn_start_from(Caller::window(), $params).await
    };
    ($me:ident, tool_call, $params:ident) => {
        $me.call_tool($params).await
    };
    ($me:ident, $name:ident, $params:ident) => {
        $me.0.$name($params).await
    };
}

macro_rules! forward {
    (
        chat { $($name:ident($params:ty) -> $response:ty, $level:ident, $help:literal;)+ }
        approval { $($aname:ident($aparams:ty) -> $aresponse:ty, $alevel:ident, $ahelp:literal;)+ }
    ) => {
        #[async_trait]
        impl Commands for ChatWindow {
            $(async fn $name(&self, params: $params) -> Result<$response, AgentError> {
                carry_out!(self, $name, params)
            })+
            $(async fn $aname(&self, _: $aparams) -> Result<$aresponse, AgentError> {
                Err(window_only_error())
            })+
        }

        /// The commands of the chat window that widen access without a confirmation.
        #[cfg(test)]
        const WIDENS_UNCONFIRMED: &[&str] = &[$(unconfirmed!($name, $level)),+];
    };
}

#[cfg(test)]
macro_rules! unconfirmed {
    (settings_set, $level:ident) => {
        ""
    };
    (secret_set, $level:ident) => {
        ""
    };
    (model_list, $level:ident) => {
        ""
    };
    (server_test, $level:ident) => {
        ""
    };
    (server_add, $level:ident) => {
        ""
    };
    (server_reads_set, $level:ident) => {
        ""
    };
    (allowance_give, $level:ident) => {
        ""
    };
    (policy_rules_set, $level:ident) => {
        ""
    };
    ($name:ident, $level:ident) => {
        if matches!(contract::access!($level), contract::commands::Access::Widens) {
            stringify!($name)
        } else {
            ""
        }
    };
}

with_commands!(forward);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chat_window_request_that_widens_permissions_needs_confirmation() {
        let unconfirmed: Vec<&&str> =
            WIDENS_UNCONFIRMED.iter().filter(|name| !name.is_empty()).collect();
        assert!(unconfirmed.is_empty(), "{unconfirmed:?}");
    }
}
