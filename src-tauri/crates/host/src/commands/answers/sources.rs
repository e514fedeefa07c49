//! Answers about sources of data. Each is a function with the name of its command.

use contract::*;

use crate::host::Host;

pub(super) async fn sources_list(host: &Host, _: Empty) -> Result<SourcesResponse, AgentError> {
    let storage = Some(host.sources.storage_use()?);
    let old_data = host.sources.has_old_data()?;
    Ok(SourcesResponse { sources: host.sources.list()?, storage, old_data })
}

pub(super) async fn source_survey(
    host: &Host,
    params: SourceAddParams,
) -> Result<SourceJob, AgentError> {
    host.sources.survey(params)
}

pub(super) async fn source_add(
    host: &Host,
    params: SourceAddParams,
) -> Result<SourceJob, AgentError> {
    host.check_alarm()?;
    host.sources.add(params)
}

pub(super) async fn source_sample(host: &Host, _: Empty) -> Result<SourceJob, AgentError> {
    host.check_alarm()?;
    host.sources.add_samples()
}

pub(super) async fn source_job(
    host: &Host,
    params: SourceJob,
) -> Result<SourceJobView, AgentError> {
    host.sources.job(&params)
}

pub(super) async fn source_job_stop(host: &Host, params: SourceJob) -> Result<Empty, AgentError> {
    host.sources.stop_job(&params).map(|()| Empty {})
}

pub(super) async fn source_undo(
    host: &Host,
    params: SourceParams,
) -> Result<SourceView, AgentError> {
    host.check_alarm()?;
    host.sources.undo(&params).await
}

pub(super) async fn source_remove(host: &Host, params: SourceParams) -> Result<Empty, AgentError> {
    host.remove_source(&params).await.map(|()| Empty {})
}

pub(super) async fn source_old_data_remove(host: &Host, _: Empty) -> Result<Empty, AgentError> {
    host.check_alarm()?;
    host.sources.remove_old_data().await.map(|()| Empty {})
}

pub(super) async fn source_refresh(
    host: &Host,
    params: SourceParams,
) -> Result<SourceJob, AgentError> {
    host.check_alarm()?;
    host.sources.refresh(&params, false)
}

pub(super) async fn source_describe(
    host: &Host,
    params: SourceParams,
) -> Result<SourceDescription, AgentError> {
    host.sources.describe(&params).await
}

pub(super) async fn source_define(
    host: &Host,
    params: SourceDefineParams,
) -> Result<SourceDescription, AgentError> {
    host.check_alarm()?;
    host.sources.define(&params).await
}

pub(super) async fn source_synonym_add(
    host: &Host,
    params: SourceSynonymParams,
) -> Result<Empty, AgentError> {
    host.check_alarm()?;
    host.sources.add_synonym(&params).await.map(|()| Empty {})
}

pub(super) async fn source_approve(
    host: &Host,
    params: SourceApproveParams,
) -> Result<SourceDescription, AgentError> {
    host.check_alarm()?;
    host.sources.approve(&params).await
}

pub(super) async fn source_measure(
    host: &Host,
    params: MeasureParams,
) -> Result<DataResult, AgentError> {
    host.check_alarm()?;
    host.sources.measure(params).await
}

pub(super) async fn source_query(
    host: &Host,
    params: SourceQueryParams,
) -> Result<DataResult, AgentError> {
    host.check_alarm()?;
    host.sources.query(params).await
}

pub(super) async fn source_export(
    host: &Host,
    params: ExportParams,
) -> Result<ExportResponse, AgentError> {
    host.check_alarm()?;
    host.sources.export(params).await
}

pub(super) async fn source_rows(host: &Host, params: RowsParams) -> Result<DataResult, AgentError> {
    host.sources.rows(params).await
}

pub(super) async fn source_profile(
    host: &Host,
    params: SourceProfileParams,
) -> Result<SourceProfile, AgentError> {
    host.sources.profile(params).await
}

pub(super) async fn source_verify(
    host: &Host,
    params: VerifyParams,
) -> Result<FigureCheck, AgentError> {
    host.sources.check(&host.log.show(params.record).await?).await
}

pub(super) async fn folder_allow(
    host: &Host,
    params: FolderParams,
) -> Result<FoldersResponse, AgentError> {
    host.check_alarm()?;
    host.sources.allow_folder(&params).await
}

pub(super) async fn folders_allowed(host: &Host, _: Empty) -> Result<FoldersResponse, AgentError> {
    host.sources.allowed_folders()
}
