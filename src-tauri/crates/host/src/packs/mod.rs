//! The packs of the profile and their tools: folders, settings, linked services, data that the user
//! imports, and the calls of tools. Must not know a pack by name, nor who asks.

mod adapters;
mod callers;
pub(crate) mod databases;
mod declared_keys;
mod folder_data;
mod folders;
mod imports;
mod memory_service;
mod services;
mod settings;
mod tools;

pub(crate) use callers::limit_engine;
pub(crate) use declared_keys::{declared_credentials, delete_keys};
pub(crate) use folders::missing_packs_error;
pub(crate) use imports::Imports;
pub(crate) use services::Services;
pub(crate) use settings::{apply_settings, check_changes};
pub(crate) use tools::{HostTools, Means};
