//! Answers about actions that a person decides, and about permissions. Each is a function with the
//! name of its command.

use contract::*;
use engine::Decided;

use crate::host::Host;

pub(super) async fn approvals_list(
    host: &Host,
    params: ApprovalsListParams,
) -> Result<ApprovalsListResponse, AgentError> {
    Ok(ApprovalsListResponse {
        approvals: host.engine.approvals.list(params.include_decided).await?,
        expired: Vec::new(),
    })
}

pub(super) async fn approval_open(
    host: &Host,
    params: ApprovalParams,
) -> Result<Empty, AgentError> {
    host.check_action(&params.id).await.map(|()| Empty {})
}

pub(super) async fn approval_pending(
    host: &Host,
    _: Empty,
) -> Result<ApprovalsListResponse, AgentError> {
    host.list_pending_actions().await
}

pub(super) async fn approval_form(
    host: &Host,
    params: ApprovalParams,
) -> Result<ApprovalFormResponse, AgentError> {
    host.engine.approvals.form(&params.id).await
}

pub(super) async fn approval_ask_again(
    host: &Host,
    params: ApprovalParams,
) -> Result<Approval, AgentError> {
    host.check_alarm()?;
    host.engine.approvals.ask_again(&params.id, &Caller::window()).await
}

pub(super) async fn approval_decide(
    host: &Host,
    params: ApprovalDecideParams,
) -> Result<ApprovalDecideResponse, AgentError> {
    host.check_alarm()?;
    let Decided { approval, result } =
        host.engine.approvals.decide(params, &Caller::window()).await?;
    Ok(ApprovalDecideResponse { approval, result })
}

pub(super) async fn terminal_decisions_set(
    host: &Host,
    params: TerminalDecisionsParams,
) -> Result<Empty, AgentError> {
    host.set_terminal_decisions(params.enabled).await.map(|()| Empty {})
}

pub(super) async fn grants_list(host: &Host, _: Empty) -> Result<GrantsListResponse, AgentError> {
    Ok(GrantsListResponse { grants: host.engine.grants.list().await? })
}

pub(super) async fn allowances_list(
    host: &Host,
    _: Empty,
) -> Result<AllowancesResponse, AgentError> {
    Ok(AllowancesResponse { allowances: host.engine.allowances.list().await? })
}

pub(super) async fn allowance_give(
    host: &Host,
    params: AllowanceParams,
) -> Result<Empty, AgentError> {
    host.give_allowance(&params, &Caller::window().kind).await
}

pub(super) async fn allowance_revoke(
    host: &Host,
    params: AllowanceParams,
) -> Result<Empty, AgentError> {
    let (destination, session) = (&params.destination, params.session.as_ref());
    host.engine.allowances.revoke(destination, session).await.map(|()| Empty {})
}

pub(super) async fn grant_revoke(host: &Host, params: GrantParams) -> Result<Empty, AgentError> {
    host.engine.grants.revoke(&params.id).await.map(|()| Empty {})
}
