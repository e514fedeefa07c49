//! Answers about alerts. Each is a function with the name of its command.

use contract::*;

use crate::host::Host;

pub(super) async fn alerts_list(host: &Host, _: Empty) -> Result<AlertsResponse, AgentError> {
    host.alerts.list()
}

pub(super) async fn alerts_check(host: &Host, _: Empty) -> Result<AlertsResponse, AgentError> {
    host.check_alarm()?;
    host.alerts.check_now().await
}

pub(super) async fn alert_seen(
    host: &Host,
    params: AlertSeenParams,
) -> Result<AlertsResponse, AgentError> {
    host.alerts.mark_seen(&params).await
}

pub(super) async fn alert_rules(host: &Host, _: Empty) -> Result<AlertRulesResponse, AgentError> {
    host.alerts.rules()
}

pub(super) async fn alert_rule_save(
    host: &Host,
    params: AlertRuleSaveParams,
) -> Result<AlertRule, AgentError> {
    host.save_alert_rule(params).await
}

pub(super) async fn alert_rule_remove(
    host: &Host,
    params: AlertRuleRemoveParams,
) -> Result<AlertRule, AgentError> {
    host.check_alarm()?;
    host.alerts.remove(&params).await
}

pub(super) async fn alert_rule_try(
    host: &Host,
    params: AlertRuleTryParams,
) -> Result<AlertTrial, AgentError> {
    host.check_alarm()?;
    host.alerts.try_rule(params).await
}
