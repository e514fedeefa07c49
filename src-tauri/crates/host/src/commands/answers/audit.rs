//! Answers about the log. Each is a function with the name of its command.

use contract::*;

use crate::host::Host;

pub(super) async fn audit_list(
    host: &Host,
    params: AuditListParams,
) -> Result<AuditListResponse, AgentError> {
    host.log.list(params).await
}

pub(super) async fn audit_show(
    host: &Host,
    params: AuditShowParams,
) -> Result<AuditRecordView, AgentError> {
    host.log.show(params.seq).await
}

pub(super) async fn audit_find(
    host: &Host,
    params: AuditFindParams,
) -> Result<AuditListResponse, AgentError> {
    host.log.find(params).await
}

pub(super) async fn audit_entries(
    host: &Host,
    params: AuditEntriesParams,
) -> Result<AuditEntriesResponse, AgentError> {
    host.log.entries(params).await
}

pub(super) async fn audit_entry(
    host: &Host,
    params: AuditEntryParams,
) -> Result<AuditEntryResponse, AgentError> {
    host.log.entry(params).await
}

pub(super) async fn audit_choices(
    host: &Host,
    _: Empty,
) -> Result<AuditChoicesResponse, AgentError> {
    host.log.choices().await
}

pub(super) async fn audit_verify(host: &Host, _: Empty) -> Result<VerifyReport, AgentError> {
    host.verify_with_progress().await
}

pub(super) async fn audit_verify_stop(host: &Host, _: Empty) -> Result<Empty, AgentError> {
    host.log.stop_verification();
    Ok(Empty {})
}

pub(super) async fn audit_verify_folder(
    _: &Host,
    params: AuditVerifyFolderParams,
) -> Result<VerifyReport, AgentError> {
    crate::log::verify_folder(params.folder.into()).await
}

pub(super) async fn audit_alarm_open(_: &Host, _: Empty) -> Result<Empty, AgentError> {
    // The desktop shell opens the window.
    Ok(Empty {})
}

pub(super) async fn audit_alarm(host: &Host, _: Empty) -> Result<AuditAlarmResponse, AgentError> {
    Ok(AuditAlarmResponse { alarm: host.log.ledger.alarm().map(|alarm| alarm.shown) })
}

pub(super) async fn audit_accept_new_log(
    host: &Host,
    _: Empty,
) -> Result<AuditAcceptResponse, AgentError> {
    Ok(AuditAcceptResponse { set_aside: host.accept_new_log("window").await? })
}

pub(super) async fn audit_export(
    host: &Host,
    params: AuditExportParams,
) -> Result<AuditExportResponse, AgentError> {
    host.export_log(params).await
}

pub(super) async fn audit_checkpoint(
    host: &Host,
    _: Empty,
) -> Result<AuditCheckpointResponse, AgentError> {
    host.log.checkpoint().await
}
