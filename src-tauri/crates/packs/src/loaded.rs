//! Defines the result of reading a pack folder.

use std::path::PathBuf;

use contract::{PackView, ToolSpec, manifest::PackManifest};
use serde_json::Value;

/// A pack with its view and, if there are no faults, the pack itself.
#[derive(Clone, Debug)]
pub struct LoadedPack {
    pub folder: PathBuf,
    pub view: PackView,
    pub pack: Option<Pack>,
    /// The manifest as read, or null if it could not be read.
    pub manifest: Value,
}

/// A pack that passed all checks. Its manifest contains the text of its template files.
#[derive(Clone, Debug)]
pub struct Pack {
    pub manifest: PackManifest,
    pub tools: Vec<ToolSpec>,
}
