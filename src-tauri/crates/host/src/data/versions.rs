//! The files with the definitions of a source: the text that is in force, and the versions with which
//! figures were computed. This module must not know what definitions mean.

use std::{fs, io, path::PathBuf};

use chrono::{DateTime, Utc};
use contract::{AgentError, SourceName, definitions::Definitions};
use serde::{Deserialize, Serialize};

use super::storage::Storage;
use crate::profile::write_atomically;

/// A version of a source's definitions.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Version {
    at: DateTime<Utc>,
    definitions: Definitions,
}

impl Storage {
    fn definitions(&self, name: &SourceName) -> PathBuf {
        self.folder(name).join("definitions.yaml")
    }

    /// Reads the text of a source's definitions. None if there is none.
    pub(super) fn read_definitions(&self, name: &SourceName) -> Result<Option<String>, AgentError> {
        let path = self.definitions(name);
        match files::read_text(&path, files::BY_HAND) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unusable(&path, &error)),
        }
    }

    /// Writes the text of a source's definitions.
    pub(super) fn write_definitions(
        &self,
        name: &SourceName,
        text: &str,
    ) -> Result<(), AgentError> {
        let path = self.definitions(name);
        write_atomically(&path, text).map_err(|error| self.unusable(&path, &error))
    }

    fn versions(&self, name: &SourceName) -> PathBuf {
        self.folder(name).join("definitions")
    }

    /// Keeps a version of a source's definitions under its hash.
    pub(super) fn keep_version(
        &self,
        name: &SourceName,
        hash: &str,
        definitions: &Definitions,
        at: DateTime<Utc>,
    ) -> Result<(), AgentError> {
        let version = Version { at, definitions: definitions.clone() };
        self.write_json(&self.versions(name).join(format!("{hash}.json")), &version)
    }

    /// Returns all kept versions of a source's definitions, newest first.
    pub(super) fn kept_versions(&self, name: &SourceName) -> Vec<Definitions> {
        let entries = fs::read_dir(self.versions(name)).into_iter().flatten().flatten();
        let mut versions: Vec<Version> =
            entries.filter_map(|entry| self.read_json(&entry.path()).ok()).collect();
        versions.sort_by_key(|version| std::cmp::Reverse(version.at));
        versions.into_iter().map(|version| version.definitions).collect()
    }
}
