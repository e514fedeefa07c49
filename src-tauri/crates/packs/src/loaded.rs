//! A pack as it was read: its view with all faults and, if there are none, the pack itself.

use std::path::PathBuf;

use contract::{PackView, ToolSpec, manifest::PackManifest};
use serde_json::Value;

/// A pack with its view and, if there are no faults, the pack itself.
#[derive(Clone, Debug)]
pub struct LoadedPack {
    pub folder: PathBuf,
    pub view: PackView,
    pub pack: Option<Pack>,
    /// The manifest as it was read; null if it could not be read.
    pub manifest: Value,
}

/// A pack that passed all checks. Template files have been read into the manifest.
#[derive(Clone, Debug)]
pub struct Pack {
    pub manifest: PackManifest,
    pub tools: Vec<ToolSpec>,
}
