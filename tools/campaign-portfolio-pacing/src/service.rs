//! Implements the contract's service traits for `Pacing`. Must not know the host.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use contract::{
    AgentError, DataEntries, Dataset, Datasets, FileSurvey, ImportProblem,
    data::{ImportOptions, ImportOutcome, ImportProgress},
    manifest::PackManifest,
    pack_code::{CreateFile, LinkedService, Now, OldTables, PackData, PackService},
};
use serde_json::{Map, Value};

use crate::{ImportReport, Pacing, SERVICE, Thresholds, old_data};

/// The pacing service, before it is opened.
pub struct PacingService;

impl LinkedService for PacingService {
    fn name(&self) -> &'static str {
        SERVICE
    }

    fn check_settings(&self, settings: &Map<String, Value>) -> Result<(), AgentError> {
        Thresholds::from_settings(settings).map(drop)
    }

    fn open(&self, data_dir: &Path, now: Now) -> Result<Arc<dyn PackService>, AgentError> {
        Ok(Arc::new(Pacing::open(data_dir, now)?))
    }

    fn broken_error(&self) -> AgentError {
        AgentError::internal("service_failed", "The pacing service failed.")
    }

    fn no_data(&self) -> Option<AgentError> {
        let error =
            AgentError::invalid("The pacing pack is not in use, so there is no delivery data.");
        Some(error.reason("pack_not_used").hint("Look at the pack's faults in Tools."))
    }

    fn export_tables(
        &self,
        data_dir: &Path,
        create: &mut CreateFile<'_>,
    ) -> Result<Option<OldTables>, AgentError> {
        old_data::export(data_dir, create)
    }

    fn old_files(&self, data_dir: &Path) -> Vec<PathBuf> {
        vec![old_data::file_in(data_dir)]
    }
}

impl PackService for Pacing {
    fn check(&self) -> Result<(), AgentError> {
        Self::check(self)
    }

    fn configure(&self, settings: &Map<String, Value>) -> Result<(), AgentError> {
        Self::configure(self, settings)
    }

    fn call(&self, tool: &str, arguments: &Value) -> Result<Value, AgentError> {
        Self::call(self, tool, arguments)
    }

    fn replace_names_from_data(&self, manifest: &mut PackManifest) {
        let named = self.entities().unwrap_or_default();
        if !named.is_empty() {
            manifest
                .entities
                .retain(|entity| named.iter().any(|n| n.kind == entity.kind && n.id == entity.id));
            for entity in named {
                let known = manifest
                    .entities
                    .iter_mut()
                    .find(|e| e.kind == entity.kind && e.id == entity.id);
                match known {
                    Some(known) => {
                        let is_new = |alias: &String| !known.aliases.contains(alias);
                        let aliases: Vec<String> =
                            entity.aliases.into_iter().filter(is_new).collect();
                        known.aliases.extend(aliases);
                    }
                    None => manifest.entities.push(entity),
                }
            }
        }
        if self.dataset().is_ok_and(|dataset| dataset != Dataset::Sample)
            && let Some(agent) = &mut manifest.agent
        {
            // The default account belongs to the sample, so it is removed for imported data.
            agent.defaults.iter_mut().for_each(|default| default.value = None);
        }
    }

    fn data(self: Arc<Self>) -> Option<Arc<dyn PackData>> {
        Some(self)
    }
}

impl PackData for Pacing {
    fn datasets(&self) -> Result<Datasets, AgentError> {
        Self::datasets(self)
    }

    fn is_import_in_use(&self) -> Result<bool, AgentError> {
        Ok(self.dataset()? == Dataset::Imported)
    }

    fn use_dataset(&self, dataset: Dataset) -> Result<(), AgentError> {
        Self::use_dataset(self, dataset)
    }

    fn import(
        &self,
        paths: &[PathBuf],
        options: &ImportOptions,
        on_progress: &mut dyn FnMut(&ImportProgress),
        stop: &AtomicBool,
    ) -> Result<ImportOutcome, AgentError> {
        self.import_as(paths, options, on_progress, stop).map(ImportOutcome::from)
    }

    fn maps_columns(&self) -> bool {
        true
    }

    fn survey(
        &self,
        path: &Path,
        options: &ImportOptions,
        stop: &AtomicBool,
    ) -> Result<FileSurvey, AgentError> {
        Self::survey(self, path, options, stop)
    }

    fn survey_head(&self, path: &Path, options: &ImportOptions) -> Result<FileSurvey, AgentError> {
        Ok(Self::survey_head(self, path, options))
    }

    fn entries(&self, query: &str) -> Result<DataEntries, AgentError> {
        Self::entries(self, query)
    }

    fn set_entry(
        &self,
        id: &str,
        values: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, ImportProblem>, AgentError> {
        Self::set_entry(self, id, values)
    }

    fn forget_layout(&self, shape: &str) -> Result<(), AgentError> {
        Self::forget_layout(self, shape)
    }
}

impl From<ImportReport> for ImportOutcome {
    fn from(report: ImportReport) -> Self {
        Self {
            notes: report.notes(),
            rows_read: report.rows_read,
            rows_stored: report.rows_stored,
            rows_replaced: report.rows_replaced,
            is_stopped: report.cancelled,
            errors: report.errors,
            error_count: report.error_count,
        }
    }
}
