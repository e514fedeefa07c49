//! Services that are linked in, opened for the packs that use them, and the data that the user
//! imports. The module must not know a pack by name.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use contract::{
    AgentError, PackFault,
    pack_code::{LinkedService, PackData, PackService},
};
use packs::LoadedPack;
use serde_json::{Map, Value};

use super::{database_checks::suspect_after, folder_data::FolderData};
use crate::profile::{Options, Paths, create_private_folder, unusable_file};

/// All linked-in services, and the open ones by name.
pub(crate) struct Services {
    linked: Vec<Arc<dyn LinkedService>>,
    open: BTreeMap<&'static str, OpenService>,
    /// The packs without a service that accept files.
    folders: BTreeMap<String, (Arc<FolderData>, PathBuf)>,
}

/// The opened data of a pack.
#[derive(Clone)]
pub(crate) struct OpenData {
    /// The service. None for a pack without a service.
    linked: Option<Arc<dyn LinkedService>>,
    pub(crate) data: Arc<dyn PackData>,
    folder: PathBuf,
}

impl OpenData {
    /// Runs blocking work on the data.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn PackData) -> Result<T, AgentError> + Send + 'static,
    ) -> Result<T, AgentError> {
        let data = Arc::clone(&self.data);
        let broken =
            || self.linked.as_ref().map_or_else(import_interrupted, |linked| linked.broken_error());
        tokio::task::spawn_blocking(move || work(data.as_ref()))
            .await
            .unwrap_or_else(|_| Err(broken()))
            .inspect_err(|error| suspect_after(error, &self.folder))
    }
}

/// An open service.
#[derive(Clone)]
pub(crate) struct OpenService {
    linked: Arc<dyn LinkedService>,
    pub(crate) service: Arc<dyn PackService>,
    folder: PathBuf,
}

impl OpenService {
    /// Runs blocking work of the service on its own thread.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn PackService) -> Result<T, AgentError> + Send + 'static,
    ) -> Result<T, AgentError> {
        let service = Arc::clone(&self.service);
        tokio::task::spawn_blocking(move || work(service.as_ref()))
            .await
            .unwrap_or_else(|_| Err(self.linked.broken_error()))
            .inspect_err(|error| suspect_after(error, &self.folder))
    }
}

impl Services {
    /// Opens the services that usable packs need. If a service cannot use its data, its pack gets
    /// an error but stays listed, and calls to the pack return the reason.
    pub(crate) fn open(
        loaded: &mut [LoadedPack],
        paths: &Paths,
        options: &Options,
    ) -> Result<Self, AgentError> {
        let linked = options.pack_code.services.clone();
        let mut open = BTreeMap::new();
        for service in &linked {
            let name = service.name();
            if !loaded
                .iter()
                .filter_map(|one| one.pack.as_ref())
                .any(|pack| pack.tools.iter().any(|tool| tool.target.server() == name))
            {
                continue;
            }
            let folder = paths.pack_data(name);
            create_private_folder(&folder).map_err(|e| unusable_file(&paths.data, &folder, &e))?;
            let clock = Arc::clone(&options.clock);
            let opened = service.open(&folder, Arc::new(move || clock.now()))?;
            if let Err(error) = opened.check() {
                for one in loaded.iter_mut().filter(|one| one.view.id.as_str() == name) {
                    one.view.faults.push(data_fault(&folder, &error));
                }
            }
            let linked = Arc::clone(service);
            open.insert(name, OpenService { linked, service: opened, folder });
        }
        let manifests = loaded.iter().filter_map(|one| Some(&one.pack.as_ref()?.manifest));
        let folders = manifests
            .filter(|pack| pack.import.is_some() && !open.contains_key(pack.id.as_str()))
            .map(|pack| {
                let folder = paths.pack_data(pack.id.as_str());
                let data = FolderData::new(&folder);
                (pack.id.to_string(), (Arc::new(data), folder))
            })
            .collect();
        Ok(Self { linked, open, folders })
    }

    /// Returns the open service with this name.
    pub(crate) fn service(&self, name: &str) -> Option<&OpenService> {
        self.open.get(name)
    }

    /// Fails if the pack's service cannot use these settings.
    pub(crate) fn check_settings(
        &self,
        pack: &str,
        settings: &Map<String, Value>,
    ) -> Result<(), AgentError> {
        self.linked
            .iter()
            .filter(|service| service.name() == pack)
            .try_for_each(|service| service.check_settings(settings))
    }

    /// Returns the packs that store data of the user. Packs with a service come first.
    pub(crate) fn packs_with_data(&self) -> Result<Vec<String>, AgentError> {
        let with_service = self.open.iter().filter(|(_, open)| data_of(open).is_some());
        let found: Vec<String> = with_service
            .map(|(name, _)| (*name).to_owned())
            .chain(self.folders.keys().cloned())
            .collect();
        if found.is_empty() { Err(self.no_data_error("")) } else { Ok(found) }
    }

    /// Opens the data that the user imports for a pack.
    pub(crate) fn open_data(&self, pack: &str) -> Result<OpenData, AgentError> {
        if let Some((data, folder)) = self.folders.get(pack) {
            let data = Arc::clone(data) as Arc<dyn PackData>;
            return Ok(OpenData { linked: None, data, folder: folder.clone() });
        }
        let found = self.open.get(pack).and_then(|open| {
            let linked = Some(Arc::clone(&open.linked));
            Some(OpenData { linked, data: data_of(open)?, folder: open.folder.clone() })
        });
        found.ok_or_else(|| self.no_data_error(pack))
    }

    /// Whether a pack's answers come from imported files. Unreadable data counts as imported.
    pub(crate) fn reads_files(&self, pack: &str) -> bool {
        self.open_data(pack).is_ok_and(|open| {
            open.data.is_import_in_use().unwrap_or_else(|error| {
                tracing::warn!(%error.message, pack, "it is not known whether a pack answers from files");
                true
            })
        })
    }

    /// Returns the error for a pack without importable data: the pack's own error if it has one, or
    /// else another service's.
    fn no_data_error(&self, pack: &str) -> AgentError {
        let (own, others): (Vec<_>, Vec<_>) =
            self.linked.iter().partition(|service| service.name() == pack);
        own.into_iter()
            .chain(others)
            .find_map(|service| service.no_data())
            .unwrap_or_else(default_no_data_error)
    }
}

fn data_of(open: &OpenService) -> Option<Arc<dyn PackData>> {
    Arc::clone(&open.service).data()
}

fn import_interrupted() -> AgentError {
    AgentError::internal("data_dir", "The import broke off.")
}

fn default_no_data_error() -> AgentError {
    AgentError::invalid("No pack takes data from files.").reason("pack_not_used")
}

/// Returns the error of a pack whose data cannot be used.
fn data_fault(folder: &std::path::Path, error: &AgentError) -> PackFault {
    let fix = error.hint_as_text().unwrap_or_default();
    PackFault {
        file: folder.display().to_string(),
        field: String::new(),
        problem: error.text(),
        fix,
    }
}
