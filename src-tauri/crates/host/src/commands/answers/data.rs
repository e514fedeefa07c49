//! Answers about the imports of packs. Each is a function with the name of its command.

use std::path::PathBuf;

use contract::*;

use crate::host::Host;

pub(super) async fn data_entries(
    host: &Host,
    params: DataEntriesParams,
) -> Result<DataEntries, AgentError> {
    host.packs.imports.list_entries(params).await
}

pub(super) async fn data_entry_set(
    host: &Host,
    params: DataEntryParams,
) -> Result<DataEntryResponse, AgentError> {
    host.enter_data(params).await
}

pub(super) async fn data_survey(
    host: &Host,
    params: DataSurveyParams,
) -> Result<FileSurvey, AgentError> {
    host.packs.imports.survey_file(params).await
}

pub(super) async fn data_layout_forget(
    host: &Host,
    params: DataLayoutParams,
) -> Result<Empty, AgentError> {
    host.check_alarm()?;
    host.packs.imports.forget_layout(params).await.map(|()| Empty {})
}

pub(super) async fn data_import(
    host: &Host,
    params: DataImportParams,
) -> Result<DataImportResponse, AgentError> {
    host.check_alarm()?;
    let job = host.process.options.ids.next("import");
    let paths = params.paths.into_iter().map(PathBuf::from).collect();
    host.packs.imports.start(job, &params.pack, paths, params.options.unwrap_or_default())
}

pub(super) async fn data_import_status(
    host: &Host,
    params: ImportParams,
) -> Result<ImportView, AgentError> {
    host.packs.imports.find_view(&params.job)
}

pub(super) async fn data_import_cancel(
    host: &Host,
    params: ImportParams,
) -> Result<Empty, AgentError> {
    host.packs.imports.stop_job(&params.job).map(|()| Empty {})
}

pub(super) async fn data_list(host: &Host, _: Empty) -> Result<DataListResponse, AgentError> {
    Ok(DataListResponse { packs: host.packs.imports.list_datasets().await? })
}

pub(super) async fn data_use(
    host: &Host,
    params: DataUseParams,
) -> Result<PackDatasets, AgentError> {
    host.choose_dataset(params).await
}
