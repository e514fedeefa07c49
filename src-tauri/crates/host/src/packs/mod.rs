//! The packs of the profile and their tools: folders, settings, and the calls of tools. Must not know
//! a pack by name, nor the caller.

mod adapters;
mod callers;
pub(crate) mod database_checks;
mod declared_keys;
mod folders;
mod memory_service;
mod settings;
mod tools;

use std::sync::Arc;

use tokio::sync::OnceCell;

pub(crate) use callers::HostAccess;
pub(crate) use declared_keys::declared_credentials;
pub(crate) use folders::{load_packs, missing_packs_error};
pub(crate) use settings::{apply_settings, check_changes, is_unknown_setting};
pub(crate) use tools::HostTools;

/// The packs of an open profile.
pub(crate) struct HostPacks {
    pub(crate) tools: Arc<HostTools>,
    /// Set as soon as the preparations that only socket clients need are complete.
    pub(crate) prepared: OnceCell<()>,
}

impl HostPacks {
    pub(crate) fn new(tools: Arc<HostTools>) -> Self {
        Self { tools, prepared: OnceCell::new() }
    }
}
