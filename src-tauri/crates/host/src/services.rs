//! Services that are linked in, opened for the packs that use them. It must not know a pack by
//! name.

use std::{collections::BTreeMap, sync::Arc};

use contract::{
    AgentError, PackFault,
    pack_code::{LinkedService, PackData, PackService},
};
use packs::LoadedPack;
use serde_json::{Map, Value};

use crate::{
    Options, Paths,
    paths::{make_private, unusable},
};

/// The services of this app, and those of them that are open, by name.
pub(crate) struct Services {
    linked: Vec<Arc<dyn LinkedService>>,
    open: BTreeMap<&'static str, OpenService>,
}

/// A service that is open.
#[derive(Clone)]
pub(crate) struct OpenService {
    linked: Arc<dyn LinkedService>,
    pub(crate) service: Arc<dyn PackService>,
}

impl OpenService {
    /// Runs work of the service that may block.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn PackService) -> Result<T, AgentError> + Send + 'static,
    ) -> Result<T, AgentError> {
        let service = Arc::clone(&self.service);
        tokio::task::spawn_blocking(move || work(service.as_ref()))
            .await
            .unwrap_or_else(|_| Err(self.linked.broken()))
    }
}

impl Services {
    /// Opens the services that a usable pack needs. If a service cannot use its data, its pack gets
    /// a fault and stays: a question for it is answered with the reason.
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
            make_private(&folder).map_err(|e| unusable(&paths.data, &folder, &e))?;
            let clock = Arc::clone(&options.clock);
            let opened = service.open(&folder, Arc::new(move || clock.now()))?;
            if let Err(error) = opened.check() {
                for one in loaded.iter_mut().filter(|one| one.view.id.as_str() == name) {
                    one.view.faults.push(data_fault(&folder, &error));
                }
            }
            open.insert(name, OpenService { linked: Arc::clone(service), service: opened });
        }
        Ok(Self { linked, open })
    }

    /// The open service of this name.
    pub(crate) fn of(&self, name: &str) -> Option<&OpenService> {
        self.open.get(name)
    }

    /// Refuses settings that the service of a pack cannot use.
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

    /// The packs that keep data of the user.
    pub(crate) fn with_data(&self) -> Result<Vec<(&'static str, OpenService)>, AgentError> {
        let found: Vec<_> = self
            .open
            .iter()
            .filter(|(_, open)| data_of(open).is_some())
            .map(|(name, open)| (*name, open.clone()))
            .collect();
        if found.is_empty() { Err(self.no_data("")) } else { Ok(found) }
    }

    /// The data that the user imports for a pack.
    pub(crate) fn data(&self, pack: &str) -> Result<(OpenService, Arc<dyn PackData>), AgentError> {
        let open = self.open.get(pack).cloned();
        let found = open.and_then(|open| Some((open.clone(), data_of(&open)?)));
        found.ok_or_else(|| self.no_data(pack))
    }

    /// The error of the pack itself, if it would keep data; else of any that would.
    fn no_data(&self, pack: &str) -> AgentError {
        let (own, others): (Vec<_>, Vec<_>) =
            self.linked.iter().partition(|service| service.name() == pack);
        own.into_iter().chain(others).find_map(|service| service.no_data()).unwrap_or_else(no_data)
    }
}

fn data_of(open: &OpenService) -> Option<Arc<dyn PackData>> {
    Arc::clone(&open.service).data()
}

fn no_data() -> AgentError {
    AgentError::invalid("No pack takes data from files.").reason("pack_not_used")
}

/// The fault of a pack whose data cannot be used.
fn data_fault(folder: &std::path::Path, error: &AgentError) -> PackFault {
    let fix = error.hint_as_text().unwrap_or_default();
    PackFault {
        file: folder.display().to_string(),
        field: String::new(),
        problem: error.text(),
        fix,
    }
}
