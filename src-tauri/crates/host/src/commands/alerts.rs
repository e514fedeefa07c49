//! Changes of alerts that concern other folders: a rule is written to a file and to the log, so that it
//! must not contain a stored key, and a removed source takes the figures of its alerts with it.

use contract::{
    AgentError, SourceParams,
    params::{AlertRule, AlertRuleSaveParams},
};
use serde_json::json;

use crate::host::Host;

impl Host {
    /// Makes or changes a rule of alerts.
    pub(crate) async fn save_alert_rule(
        &self,
        params: AlertRuleSaveParams,
    ) -> Result<AlertRule, AgentError> {
        self.check_alarm()?;
        self.engine.secrets.check_keepable(&json!(params.content)).await?;
        self.alerts.save(params).await
    }

    /// Removes a source, and the figures that alerts have of it.
    pub(crate) async fn remove_source(&self, params: &SourceParams) -> Result<(), AgentError> {
        self.check_alarm()?;
        let rules = self.alerts.rules_over(&params.name);
        let removed = self.sources.remove(params).await;
        // The rows can be gone although the password of a database could not be deleted.
        if !self.sources.has(&params.name) {
            self.alerts.forget_rules(&rules).await?;
        }
        removed
    }
}
