//! The files of sources in the data folder: `sources/NAME/source.json`, the states and the parts of
//! each source. A state is a manifest over immutable parts and never changes. It must not know how
//! files are read, nor what the columns mean.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use chrono::{DateTime, Utc};
use contract::{
    AgentError, ModelAccess, Reason, SourceName,
    sources::{
        DayRange, DaySpan, FoundColumn, ImportDecisions, ImportEntry, PartRef, SourceKind,
        StoredColumn,
    },
    text,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tempfile::TempDir;

use super::{
    hashes::hash_of,
    naming::name_from,
    origins::Origin,
    places::{FileStamp, stamp},
};
use crate::profile::{create_private_folder, unusable_file, write_atomically};

/// The version of the files of this module.
const VERSION: u32 = 1;
/// The file `source.json` of a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredSource {
    version: u32,
    pub(super) name: SourceName,
    pub(super) kind: SourceKind,
    pub(super) created_at: DateTime<Utc>,
    /// The state in force. None if the source has no rows, or is a database.
    pub(super) present: Option<String>,
    /// The decisions of persons about its files.
    #[serde(default)]
    pub(super) decisions: ImportDecisions,
    /// The file or pattern that was imported last.
    #[serde(default)]
    pub(super) place: Option<String>,
    /// The imports that were taken back, by the ids of their states. They stay here when their rows
    /// are deleted, so that a refresh does not import their files again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) undone: BTreeMap<String, Undone>,
    /// The columns of a database's table. Those of files are in their states.
    #[serde(default)]
    pub(super) columns: Vec<FoundColumn>,
    /// The hosts with their ports that a driver of a person's own may reach.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) hosts: Vec<String>,
    #[serde(default)]
    pub(super) models_get: ModelAccess,
    /// The origin of the rows, if not files of a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<Origin>,
}

/// An import that was taken back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Undone {
    pub(super) at: DateTime<Utc>,
    pub(super) file: FileStamp,
}

/// One state of a source's rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    version: u32,
    pub(super) id: String,
    /// The state before. None for the first one.
    pub(super) parent: Option<String>,
    /// The rows: parts with their exclusions, oldest first.
    pub(super) parts: Vec<PartRef>,
    /// The columns of the whole table.
    pub(super) columns: Vec<FoundColumn>,
    /// The rows that count, of all parts together.
    pub(super) rows: u64,
    /// Their days.
    #[serde(default)]
    pub(super) days: Option<DaySpan>,
    /// The import that made the state.
    pub(super) import: ImportEntry,
    /// The file that was imported.
    pub(super) file: FileStamp,
    /// The source before the import. None in states of an older version.
    #[serde(default)]
    pub(super) former: Option<Former>,
}

/// The part of a source besides its rows that an import changes, as it was before the import.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Former {
    pub(super) decisions: ImportDecisions,
    pub(super) place: Option<String>,
}

/// The rows of a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table {
    pub(super) parts: Vec<PartRef>,
    pub(super) columns: Vec<FoundColumn>,
    pub(super) rows: u64,
    pub(super) days: Option<DaySpan>,
}

/// The folder of all sources.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    root: PathBuf,
}

impl StoredSource {
    pub(super) fn new(name: SourceName, kind: SourceKind, created_at: DateTime<Utc>) -> Self {
        Self {
            version: VERSION,
            name,
            kind,
            created_at,
            present: None,
            decisions: ImportDecisions::default(),
            place: None,
            undone: BTreeMap::new(),
            columns: Vec::new(),
            hosts: Vec::new(),
            models_get: ModelAccess::default(),
            origin: None,
        }
    }

    /// Whether the import of a file as it is now was taken back.
    pub(super) fn is_undone(&self, file: &Path) -> bool {
        let stamp = stamp(file);
        self.undone.values().any(|undone| undone.file == stamp)
    }
}

impl State {
    /// Makes the state after an import.
    pub(super) fn new(
        parent: Option<String>,
        table: Table,
        import: ImportEntry,
        file: FileStamp,
        former: Former,
    ) -> Self {
        let Table { parts, columns, rows, days } = table;
        let (id, former) = (import.id.clone(), Some(former));
        Self { version: VERSION, id, parent, parts, columns, rows, days, import, file, former }
    }

    /// Returns the days that the rows cover: those that the file states, and those of the rows.
    pub(super) fn covered(&self) -> Option<DayRange> {
        let stated = self.import.change.scope.days;
        let rows = self.days.map(|days| DayRange { first: days.first, last: days.last });
        match (stated, rows) {
            (Some(stated), Some(rows)) => Some(DayRange {
                first: stated.first.min(rows.first),
                last: stated.last.max(rows.last),
            }),
            (stated, rows) => stated.or(rows),
        }
    }

    /// Returns the hash that stands for the rows of this state.
    pub(super) fn data_version(&self) -> String {
        hash_of(&self.parts)
    }
}

impl Storage {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns the folder of everything that this module stores.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of all sources.
    pub(super) fn sources(&self) -> PathBuf {
        self.root.join("sources")
    }

    /// Returns the folder of the files that importers write.
    pub(super) fn staging(&self) -> PathBuf {
        self.root.join("staging")
    }

    /// Returns the folder in which query processes put what does not fit into memory.
    pub(super) fn scratch(&self) -> PathBuf {
        self.root.join("scratch")
    }

    /// Returns the file with the folders that imports without a person may read.
    pub(super) fn allowed_folders(&self) -> PathBuf {
        self.root.join("allowed-folders.json")
    }

    /// Returns the file with the hashes of approved definitions.
    pub(super) fn approved_definitions(&self) -> PathBuf {
        self.root.join("approved-definitions.json")
    }

    /// Returns the file with the hashes of accepted drivers.
    pub(super) fn accepted_libraries(&self) -> PathBuf {
        self.root.join("accepted-drivers.json")
    }

    /// Returns the copy of an accepted driver.
    pub(super) fn accepted_library(&self, hash: &str) -> PathBuf {
        self.root.join("drivers").join(format!("{hash}.so"))
    }

    pub(super) fn parts(&self, name: &SourceName) -> PathBuf {
        self.folder(name).join("parts")
    }

    pub(super) fn folder(&self, name: &SourceName) -> PathBuf {
        self.sources().join(name.as_str())
    }

    pub(super) fn state_file(&self, name: &SourceName, id: &str) -> PathBuf {
        self.folder(name).join("states").join(format!("{id}.json"))
    }

    /// Creates the folders, and deletes what processes that have ended left behind.
    pub(super) fn prepare(&self) -> Result<(), AgentError> {
        for folder in [self.staging(), self.scratch()] {
            let _ = fs::remove_dir_all(&folder);
            self.create(&folder)?;
        }
        self.create(&self.sources())?;
        self.delete_unfinished();
        Ok(())
    }

    /// Deletes the folders of new sources whose first import was cut off before it had a state: no
    /// list names their rows.
    fn delete_unfinished(&self) {
        for entry in fs::read_dir(self.sources()).into_iter().flatten().flatten() {
            let folder = entry.path();
            let is_source = ["source.json", "states"].iter().any(|own| folder.join(own).exists());
            if !is_source && let Err(error) = fs::remove_dir_all(&folder) {
                tracing::warn!(%error, folder = %folder.display(), "rows of an import that was cut off cannot be deleted");
            }
        }
    }

    pub(super) fn create(&self, folder: &Path) -> Result<(), AgentError> {
        create_private_folder(folder).map_err(|error| unusable_file(&self.root, folder, &error))
    }

    /// Creates the folder of a process for what does not fit into memory.
    pub(super) fn make_scratch(&self, name: &str) -> Result<PathBuf, AgentError> {
        let folder = self.scratch().join(name);
        self.create(&folder).map(|()| folder)
    }

    /// Deletes what a process that has ended left in its folder. The rest stays until the next start.
    pub(super) fn empty_scratch(&self, name: &str) {
        let folder = self.scratch().join(name);
        let emptied = fs::remove_dir_all(&folder).and_then(|()| create_private_folder(&folder));
        if let Err(error) = emptied {
            tracing::warn!(%error, folder = %folder.display(), "a folder for spilling cannot be emptied");
        }
    }

    /// Creates an empty folder for an importer. It is deleted when the result is dropped.
    pub(super) fn stage(&self) -> Result<TempDir, AgentError> {
        let folder = self.staging();
        self.create(&folder)?;
        tempfile::Builder::new()
            .prefix("import-")
            .tempdir_in(&folder)
            .map_err(|error| unusable_file(&self.root, &folder, &error))
    }

    /// Moves a file that the query process wrote into the staging folder, which no process can
    /// change. Returns its path.
    pub(super) fn take_export(&self, scratch: &str, file: &str) -> Result<PathBuf, AgentError> {
        let place = self.staging().join(file);
        let moved = fs::rename(self.scratch().join(scratch).join(file), &place).and_then(|()| {
            // A link would lead to a file that the process cannot read itself.
            let is_file = fs::symlink_metadata(&place)?.is_file();
            if is_file { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
        });
        moved.map(|()| place.clone()).map_err(|error| self.unusable(&place, &error))
    }

    /// Returns the error of a file in this folder.
    pub(super) fn unusable(&self, path: &Path, error: &io::Error) -> AgentError {
        unusable_file(&self.root, path, error)
    }

    /// Returns the names of all sources, sorted.
    pub(super) fn names(&self) -> Vec<SourceName> {
        let entries = fs::read_dir(self.sources()).into_iter().flatten().flatten();
        let mut names: Vec<SourceName> = entries
            .filter(|entry| entry.path().join("source.json").is_file())
            .map(|entry| SourceName::new(entry.file_name().to_string_lossy()))
            .filter(|name| name_from(name.as_str()) == *name)
            .collect();
        names.sort();
        names
    }

    /// Reads a source. Fails if there is none with this name.
    pub(super) fn read(&self, name: &SourceName) -> Result<StoredSource, AgentError> {
        // The name becomes a part of a path.
        if name_from(name.as_str()) != *name {
            return Err(self.unknown(name));
        }
        let path = self.folder(name).join("source.json");
        if !path.is_file() {
            return Err(self.unknown(name));
        }
        self.read_json(&path)
    }

    fn unknown(&self, name: &SourceName) -> AgentError {
        let known = self.names();
        let error =
            AgentError::invalid(text!("There is no source {name}.", name)).reason(Reason::NotFound);
        if known.is_empty() {
            return error.hint("Import a file first.");
        }
        let known: Vec<&str> = known.iter().map(SourceName::as_str).collect();
        error.hint(text!("The sources are: {names}.", names = known.join(", ")))
    }

    /// Writes a source.
    pub(super) fn write(&self, source: &StoredSource) -> Result<(), AgentError> {
        self.write_json(&self.folder(&source.name).join("source.json"), source)
    }

    /// Reads a state of a source.
    pub(super) fn read_state(&self, name: &SourceName, id: &str) -> Result<State, AgentError> {
        self.read_json(&self.state_file(name, id))
    }

    /// Writes a state. It is not in force before `source.json` names it.
    pub(super) fn write_state(&self, name: &SourceName, state: &State) -> Result<(), AgentError> {
        self.write_json(&self.state_file(name, &state.id), state)
    }

    /// Returns the state in force and those before it, newest first.
    pub(super) fn chain(&self, source: &StoredSource) -> Result<Vec<State>, AgentError> {
        self.chain_from(&source.name, source.present.clone())
    }

    /// Returns a state and those before it, newest first.
    pub(super) fn chain_from(
        &self,
        name: &SourceName,
        newest: Option<String>,
    ) -> Result<Vec<State>, AgentError> {
        let mut chain = Vec::new();
        let mut next = newest;
        let mut seen = BTreeSet::new();
        while let Some(id) = next {
            let state = self.read_state(name, &id)?;
            next = state.parent.clone().filter(|parent| seen.insert(parent.clone()));
            chain.push(state);
        }
        Ok(chain)
    }

    /// Returns the state of any age that has this data version.
    pub(super) fn find_version(&self, name: &SourceName, version: &str) -> Option<State> {
        self.states(name).into_iter().find(|state| state.data_version() == version)
    }

    /// Moves a part from a staging folder into a source, under the name of its hash.
    pub(super) fn keep_part(
        &self,
        name: &SourceName,
        staged: &Path,
        part: &PartRef,
    ) -> Result<(), AgentError> {
        let folder = self.parts(name);
        self.create(&folder)?;
        let place = folder.join(&part.file);
        let moved = || {
            // The rows must be on the disk before a state names them.
            files::open(staged)?.sync_all()?;
            fs::rename(staged, &place)?;
            files::sync_folder(&folder)
        };
        moved().map_err(|error| unusable_file(&self.root, &place, &error))
    }

    /// Deletes a source with all its rows. A source that was deleted in part would not be listed, so
    /// its folder first moves to the staging folder, which each start empties.
    pub(super) fn remove(&self, name: &SourceName) -> Result<(), AgentError> {
        let (folder, staged) = (self.folder(name), self.stage()?);
        let away = staged.path().join("removed");
        let removed = || {
            fs::rename(&folder, &away)?;
            files::sync_folder(&self.sources())?;
            fs::remove_dir_all(&away)
        };
        removed().map_err(|error| unusable_file(&self.root, &folder, &error))
    }

    /// Deletes a state that never came into force.
    pub(super) fn delete_state(&self, name: &SourceName, id: &str) {
        let _ = fs::remove_file(self.state_file(name, id));
    }

    /// Reads a JSON file of this folder.
    pub(super) fn read_json<T: DeserializeOwned>(&self, path: &Path) -> Result<T, AgentError> {
        let text = files::read_text(path, files::OWN)
            .map_err(|error| unusable_file(&self.root, path, &error))?;
        serde_json::from_str(&text).map_err(|error| {
            AgentError::internal(
                "data_dir",
                text!("{path} cannot be read: {error}.", path = path.display(), error),
            )
            .hint(
                "Put the file back from a backup, or remove the source and import its files again.",
            )
        })
    }

    /// Writes a JSON file of this folder.
    pub(super) fn write_json(&self, path: &Path, value: &impl Serialize) -> Result<(), AgentError> {
        if let Some(folder) = path.parent() {
            self.create(folder)?;
        }
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        write_atomically(path, &text).map_err(|error| unusable_file(&self.root, path, &error))
    }
}

/// Returns the columns of a table as its queries need them.
pub(super) fn stored_columns(columns: &[FoundColumn]) -> Vec<StoredColumn> {
    let stored = |column: &FoundColumn| StoredColumn {
        name: column.name.clone(),
        kind: column.kind,
        scale: column.scale,
        constant: column.constant.clone().filter(|_| column.empty == 0),
    };
    columns.iter().map(stored).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_query_process_is_taken_but_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path().join("data"));
        storage.prepare().unwrap();
        let scratch = storage.make_scratch("queries").unwrap();
        fs::write(scratch.join("a.parquet"), "rows").unwrap();
        let taken = storage.take_export("queries", "a.parquet").unwrap();
        assert_eq!(fs::read_to_string(taken).unwrap(), "rows");
        assert!(!scratch.join("a.parquet").exists());
        let secret = folder.path().join("secret");
        fs::write(&secret, "private").unwrap();
        std::os::unix::fs::symlink(&secret, scratch.join("b.parquet")).unwrap();
        storage.take_export("queries", "b.parquet").unwrap_err();
        storage.take_export("queries", "missing.parquet").unwrap_err();
    }

    #[test]
    fn rows_of_a_first_import_that_was_cut_off_are_deleted_at_the_next_start() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path().join("data"));
        storage.prepare().unwrap();
        for (name, own) in [("cut", "parts"), ("damaged", "states"), ("whole", "parts")] {
            let own = storage.folder(&SourceName::new(name)).join(own);
            storage.create(&own).unwrap();
            fs::write(own.join("a"), "rows").unwrap();
        }
        let whole = SourceName::new("whole");
        storage.write(&StoredSource::new(whole, SourceKind::Files, Utc::now())).unwrap();
        storage.prepare().unwrap();
        let mut left: Vec<_> = fs::read_dir(storage.sources())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["damaged", "whole"]);
        storage.remove(&SourceName::new("whole")).unwrap();
        assert!(storage.names().is_empty() && storage.sources().join("damaged").exists());
        assert_eq!(fs::read_dir(storage.staging()).unwrap().count(), 0);
    }
}
