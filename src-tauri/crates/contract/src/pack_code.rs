//! The interfaces of packs that ship with their own code: an adapter between their tools and the
//! host, and a service that is linked into the app. The host only uses these traits and treats no
//! pack specially, and the packs do not depend on the host.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::{
    AgentError, CallerKind, Reason, SourceName, Text,
    data::{Dataset, Datasets, ImportOptions, ImportOutcome, ImportProblem, ImportProgress},
    entries::DataEntries,
    manifest::PackManifest,
    sources::ImportDecisions,
    survey::FileSurvey,
};

/// The code of packs, which the binaries pass to the host.
#[derive(Clone, Default)]
pub struct PackCode {
    /// The adapters, at most one per pack.
    pub adapters: Vec<Arc<dyn PackAdapter>>,
    /// The services that are linked into the app.
    pub services: Vec<Arc<dyn LinkedService>>,
    /// The samples that a person can add as sources.
    pub samples: Vec<Arc<dyn SampleData>>,
}

/// Creates a file with this name for a table.
pub type CreateFile<'a> = dyn FnMut(&str) -> io::Result<Box<dyn io::Write>> + 'a;

/// Tables that become sources, and that were written into files. A thing has the same names in all of
/// them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableSet {
    /// The files, in the order in which they are imported.
    pub files: Vec<TableFile>,
    /// The time zones of accounts, by the account as the files write it.
    pub zones: BTreeMap<String, String>,
}

/// A table in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFile {
    /// The name of the file, which no other file of the set has.
    pub name: String,
    /// The name of its source, unless another source has it.
    pub source: SourceName,
    /// How the file is read. They answer all questions that such a file raises.
    pub decisions: ImportDecisions,
}

/// Fictional tables that ship with the app, to try it without data of one's own.
pub trait SampleData: Send + Sync {
    /// Returns the name of the sample, which no other one has.
    fn name(&self) -> &'static str;

    /// Writes the tables, with days up to now. May block.
    fn write_tables(&self, now: DateTime<Utc>, create: &mut CreateFile<'_>)
    -> io::Result<TableSet>;
}

/// Rows that a pack kept itself, as tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OldTables {
    /// The tables.
    pub tables: TableSet,
    /// The file with what was delivered, and its columns. None: there is none.
    pub delivery: Option<OldDelivery>,
    /// Notes for people about values that the tables do not have.
    pub notes: Vec<Text>,
}

/// The delivery among the rows that a pack kept, with sums to compare with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OldDelivery {
    /// The name of the file in the set.
    pub file: String,
    /// The column with the accounts.
    pub account: String,
    /// The column with the days.
    pub day: String,
    /// The columns whose sums are compared, in the order of `OldSum::sums`.
    pub columns: Vec<String>,
    /// The sums of each account and month.
    pub sums: Vec<OldSum>,
}

/// The sums of an account in a month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldSum {
    /// The account, as the file writes it.
    pub account: String,
    /// The month, such as `2026-11`.
    pub month: String,
    /// The exact sum of each column, as decimal digits.
    pub sums: Vec<String>,
}

/// Returns the current time of the host's clock.
pub type Now = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// A call of one of the pack's tools at a server.
#[derive(Clone, Copy, Debug)]
pub struct PackCall<'a> {
    /// The name of the tool at its server.
    pub tool: &'a str,
    /// Whether the call changes nothing.
    pub is_read: bool,
    /// Whether the call goes to a server that replaces the pack's own server and may format its
    /// results differently.
    pub is_remote: bool,
    /// The caller that makes the call.
    pub caller: &'a CallerKind,
    /// The language of the caller if the host knows it, otherwise empty.
    pub locale: &'a str,
    /// The arguments before the adapter's changes.
    pub asked: &'a Value,
}

/// A picture among the resources of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureResource {
    /// The server's name in the manifest of the pack.
    pub server: &'static str,
    /// The address of the resource at that server.
    pub uri: String,
}

/// Converts calls and results of a pack's servers. An adapter does no I/O.
///
/// `arguments` and `known` run before the call is shown, approved and recorded, so the log contains
/// exactly what is sent.
pub trait PackAdapter: Send + Sync {
    /// Returns the id of the pack.
    fn pack(&self) -> &'static str;

    /// Returns the arguments to send.
    fn arguments(&self, _call: &PackCall<'_>, arguments: Value) -> Value {
        arguments
    }

    /// Returns the result if it is known without a request. `arguments` are the arguments that
    /// would be sent.
    fn known(&self, _call: &PackCall<'_>, _arguments: &Value) -> Option<Result<Value, AgentError>> {
        None
    }

    /// Converts an answer of the server to the format that the manifest declares.
    fn answer(&self, _call: &PackCall<'_>, answer: Value) -> Value {
        answer
    }

    /// Returns the arguments of a further request of a read, if its first answer requires one. The
    /// host records the request before sending it.
    fn follow_up_arguments(
        &self,
        _call: &PackCall<'_>,
        _sent: &Value,
        _answer: &Value,
    ) -> Option<Value> {
        None
    }

    /// Returns the result of a read: the completed last usable answer. `is_second` says that a
    /// further request was made.
    fn result(&self, _call: &PackCall<'_>, answer: Value, _is_second: bool) -> Value {
        answer
    }

    /// Returns the picture that results refer to by this path.
    fn picture(&self, _path: &str) -> Option<PictureResource> {
        None
    }
}

/// A service that is linked into the app and opened if an installed pack uses it.
pub trait LinkedService: Send + Sync {
    /// Returns the service's name in the manifest, which is also the id of its pack.
    fn name(&self) -> &'static str;

    /// Refuses settings of the pack that the service cannot use.
    fn check_settings(&self, settings: &Map<String, Value>) -> Result<(), AgentError>;

    /// Opens the service with its data in this existing folder.
    fn open(&self, data_dir: &Path, now: Now) -> Result<Arc<dyn PackService>, AgentError>;

    /// Returns the error for a service that failed in the middle of its work.
    fn broken_error(&self) -> AgentError;

    /// Returns the error for access to the data while the pack is not in use. Returns none if the
    /// service keeps no user data.
    fn no_data(&self) -> Option<AgentError> {
        None
    }

    /// Writes the rows that a person imported into the service as tables. None: there are none. No
    /// row in the folder of the service's data changes. May block.
    fn export_tables(
        &self,
        _data_dir: &Path,
        _create: &mut CreateFile<'_>,
    ) -> Result<Option<OldTables>, AgentError> {
        Ok(None)
    }

    /// Returns the files in the folder of the service's data that these rows are in.
    fn old_files(&self, _data_dir: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// An open service. Its methods may block, so async code calls them on a blocking thread.
pub trait PackService: Send + Sync {
    /// Checks whether this version can use the existing data, without changing anything.
    fn check(&self) -> Result<(), AgentError>;

    /// Applies the settings of the pack. If a value cannot be used, nothing changes.
    fn configure(&self, settings: &Map<String, Value>) -> Result<(), AgentError>;

    /// Answers a call of one of the pack's tools, by its id.
    fn call(&self, tool: &str, arguments: &Value) -> Result<Value, AgentError>;

    /// Replaces the names in the manifest by the names in the data.
    fn replace_names_from_data(&self, manifest: &mut PackManifest);

    /// Returns the data that the user imports for the pack, if the pack takes any.
    fn data(self: Arc<Self>) -> Option<Arc<dyn PackData>> {
        None
    }
}

/// Data of a pack that the user imports.
pub trait PackData: Send + Sync {
    /// Returns the sample and the imported data, and which of them is in use.
    fn datasets(&self) -> Result<Datasets, AgentError>;

    /// Whether answers are computed from imported files, whose content is outside content. This
    /// method must be fast.
    fn is_import_in_use(&self) -> Result<bool, AgentError> {
        let datasets = self.datasets()?;
        Ok(datasets.active == Dataset::Imported && datasets.imported.rows > 0)
    }

    /// Switches to the sample or the imported data. Neither is deleted.
    fn use_dataset(&self, dataset: Dataset) -> Result<(), AgentError>;

    /// Reads files. `options` apply to what is not recognised. `on_progress` is called often enough
    /// for a progress bar. If `stop` is set, the import ends and stores nothing.
    fn import(
        &self,
        paths: &[PathBuf],
        options: &ImportOptions,
        on_progress: &mut dyn FnMut(&ImportProgress),
        stop: &AtomicBool,
    ) -> Result<ImportOutcome, AgentError>;

    /// Whether the columns of files are mapped to fields. Only then may `survey` be called.
    fn maps_columns(&self) -> bool {
        false
    }

    /// Reads a file like `import`, but stores nothing. If `stop` is set, it fails.
    fn survey(
        &self,
        _path: &Path,
        _options: &ImportOptions,
        _stop: &AtomicBool,
    ) -> Result<FileSurvey, AgentError> {
        Err(takes_files_unread())
    }

    /// Looks at a file like `survey`, but does not check its lines, of which a large file has millions.
    fn survey_head(&self, path: &Path, options: &ImportOptions) -> Result<FileSurvey, AgentError> {
        self.survey(path, options, &AtomicBool::new(false))
    }

    /// Returns the records whose values a person can enter.
    fn entries(&self, _query: &str) -> Result<DataEntries, AgentError> {
        Ok(DataEntries::default())
    }

    /// Stores the values of a record. If there are problems, no value is stored.
    fn set_entry(
        &self,
        _id: &str,
        _values: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, ImportProblem>, AgentError> {
        Err(AgentError::invalid("There is no such record.").reason(Reason::NotFound))
    }

    /// Forgets how a person mapped files with these columns.
    fn forget_layout(&self, _shape: &str) -> Result<(), AgentError> {
        Err(takes_files_unread())
    }
}

fn takes_files_unread() -> AgentError {
    AgentError::invalid("This pack reads files as they are, so there are no columns to map.")
        .reason("no_columns")
}
