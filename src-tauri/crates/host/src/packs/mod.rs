//! The packs of the profile and their tools: folders, settings, linked services, data that the user
//! imports, and the calls of tools. Must not know a pack by name, nor the caller.

mod adapters;
mod callers;
pub(crate) mod database_checks;
mod declared_keys;
mod folder_data;
mod folders;
mod imports;
mod memory_service;
mod services;
mod settings;
mod tools;

use std::sync::Arc;

use engine::{Engine, ports::Events};
use tokio::sync::OnceCell;

use crate::{log::HostLog, models::HostModels};

pub(crate) use callers::HostAccess;
pub(crate) use declared_keys::declared_credentials;
pub(crate) use folders::{load_packs, missing_packs_error};
use imports::Imports;
pub(crate) use services::Services;
pub(crate) use settings::{apply_settings, check_changes};
pub(crate) use tools::HostTools;

/// The packs of an open profile.
pub(crate) struct HostPacks {
    pub(crate) tools: Arc<HostTools>,
    pub(crate) imports: Imports,
    /// Set as soon as the preparations that only socket clients need are complete.
    pub(crate) prepared: OnceCell<()>,
}

impl HostPacks {
    pub(crate) fn new(
        engine: &Arc<Engine>,
        tools: Arc<HostTools>,
        models: &Arc<HostModels>,
        log: &HostLog,
        events: Arc<dyn Events>,
    ) -> Self {
        let imports = Imports::new(
            Arc::clone(engine),
            Arc::clone(&tools),
            Arc::clone(models),
            Arc::clone(&log.records),
            events,
        );
        Self { tools, imports, prepared: OnceCell::new() }
    }
}
