//! Answers about the policy and its rules. Each is a function with the name of its command.

use contract::*;

use crate::host::Host;

pub(super) async fn policy_set(host: &Host, params: PolicySetParams) -> Result<Empty, AgentError> {
    host.set_policy(params.policy).await.map(|()| Empty {})
}

pub(super) async fn policy_get(host: &Host, _: Empty) -> Result<PolicyView, AgentError> {
    Ok(host.profile.policy_view(host.now()))
}

pub(super) async fn policy_check(
    host: &Host,
    params: PolicyCheckParams,
) -> Result<PolicyCheckResponse, AgentError> {
    host.engine.direct_calls.check_policy(params).await
}

pub(super) async fn policy_backtest(
    host: &Host,
    params: PolicyBacktestParams,
) -> Result<PolicyBacktestResponse, AgentError> {
    host.backtest_policy(params).await
}

pub(super) async fn policy_preview(
    host: &Host,
    params: PolicyPreviewParams,
) -> Result<PolicyPreview, AgentError> {
    host.preview_rules(&params)
}

pub(super) async fn policy_rules_set(
    host: &Host,
    params: PolicyRulesParams,
) -> Result<PolicyView, AgentError> {
    host.set_rules(&params).await
}
