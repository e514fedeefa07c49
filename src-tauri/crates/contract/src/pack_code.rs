//! The contract of packs that ship with code of their own: an adapter between their tools and the
//! host, and a service that is linked into the app. The host works through these traits and knows
//! no pack by name; a pack that implements them knows no host.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::{
    AgentError, CallerKind, Reason,
    data::{Dataset, Datasets, ImportOptions, ImportOutcome, ImportProblem, ImportProgress},
    entries::DataEntries,
    manifest::PackManifest,
    survey::FileSurvey,
};

/// The code of packs, as the binaries hand it to the host.
#[derive(Clone, Default)]
pub struct PackCode {
    /// The adapters, one per pack that has one.
    pub adapters: Vec<Arc<dyn PackAdapter>>,
    /// The services that are linked into the app.
    pub services: Vec<Arc<dyn LinkedService>>,
}

/// The present moment, given by the host.
pub type Now = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// A call of one of the pack's tools at a server.
#[derive(Clone, Copy, Debug)]
pub struct PackCall<'a> {
    /// The name of the tool at its server.
    pub tool: &'a str,
    /// The call changes nothing.
    pub is_read: bool,
    /// The call goes to a server that replaces the pack's own and may write its results in another
    /// way.
    pub is_remote: bool,
    /// The caller that asks.
    pub caller: &'a CallerKind,
    /// The language of the caller, as far as the host knows it. It may be empty.
    pub locale: &'a str,
    /// The arguments before the adapter changed them.
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

/// Puts calls and results of a pack's servers in shape. Does no I/O.
///
/// `arguments` and `known` run before the call is shown, approved and recorded, so the log contains
/// exactly what is sent.
pub trait PackAdapter: Send + Sync {
    /// The id of the pack.
    fn pack(&self) -> &'static str;

    /// The arguments that are sent.
    fn arguments(&self, _call: &PackCall<'_>, arguments: Value) -> Value {
        arguments
    }

    /// The result, if it is known without a request. `arguments` are those that would be sent.
    fn known(&self, _call: &PackCall<'_>, _arguments: &Value) -> Option<Result<Value, AgentError>> {
        None
    }

    /// An answer of the server in the shape that the manifest declares.
    fn answer(&self, _call: &PackCall<'_>, answer: Value) -> Value {
        answer
    }

    /// The arguments of one further request of a read, if its first answer calls for one. The host
    /// records the request before it is sent.
    fn follow_up_arguments(
        &self,
        _call: &PackCall<'_>,
        _sent: &Value,
        _answer: &Value,
    ) -> Option<Value> {
        None
    }

    /// The result of a read: its last usable answer, completed. `is_second` says that a further
    /// request was made.
    fn result(&self, _call: &PackCall<'_>, answer: Value, _is_second: bool) -> Value {
        answer
    }

    /// The picture that results name by this path.
    fn picture(&self, _path: &str) -> Option<PictureResource> {
        None
    }
}

/// A service that is linked into the app and is opened if a pack is installed that uses it.
pub trait LinkedService: Send + Sync {
    /// The name of the service in the manifest, which is also the id of its pack.
    fn name(&self) -> &'static str;

    /// Refuses settings of the pack that the service cannot use.
    fn check_settings(&self, settings: &Map<String, Value>) -> Result<(), AgentError>;

    /// Opens the service with its data in this folder, which exists.
    fn open(&self, data_dir: &Path, now: Now) -> Result<Arc<dyn PackService>, AgentError>;

    /// The error if the service broke off in the middle of its work.
    fn broken_error(&self) -> AgentError;

    /// The error if its data is asked for while the pack is not in use. None if the service keeps
    /// no data of the user.
    fn no_data(&self) -> Option<AgentError> {
        None
    }
}

/// An open service. Its methods may block: async code calls them on a blocking thread.
pub trait PackService: Send + Sync {
    /// Whether this version can use the data that is there. Changes nothing.
    fn check(&self) -> Result<(), AgentError>;

    /// Takes the settings of the pack. A value that cannot be used changes nothing.
    fn configure(&self, settings: &Map<String, Value>) -> Result<(), AgentError>;

    /// Answers a call of one of the pack's tools, by its id.
    fn call(&self, tool: &str, arguments: &Value) -> Result<Value, AgentError>;

    /// Puts the names that are in the data into the manifest, in place of those that it ships with.
    fn replace_names_from_data(&self, manifest: &mut PackManifest);

    /// The data that the user imports for the pack, if it takes any.
    fn data(self: Arc<Self>) -> Option<Arc<dyn PackData>> {
        None
    }
}

/// Data of a pack that the user imports.
pub trait PackData: Send + Sync {
    /// The sample and the imported data, with the one that answers.
    fn datasets(&self) -> Result<Datasets, AgentError>;

    /// Whether answers are computed from imported files. Their content comes from outside. Must be
    /// cheap.
    fn is_import_in_use(&self) -> Result<bool, AgentError> {
        let datasets = self.datasets()?;
        Ok(datasets.active == Dataset::Imported && datasets.imported.rows > 0)
    }

    /// Puts the sample or the imported data in force. Neither is deleted.
    fn use_dataset(&self, dataset: Dataset) -> Result<(), AgentError>;

    /// Reads files, as `options` say where they are not recognised. `on_progress` is called often enough for a progress bar; if `stop` is set, the
    /// import ends and nothing is kept of it.
    fn import(
        &self,
        paths: &[PathBuf],
        options: &ImportOptions,
        on_progress: &mut dyn FnMut(&ImportProgress),
        stop: &AtomicBool,
    ) -> Result<ImportOutcome, AgentError>;

    /// Whether the columns of files are mapped to fields. If so, `survey` may be called.
    fn maps_columns(&self) -> bool {
        false
    }

    /// Reads a file as `import` would, and stores nothing. If `stop` is set, it fails.
    fn survey(
        &self,
        _path: &Path,
        _options: &ImportOptions,
        _stop: &AtomicBool,
    ) -> Result<FileSurvey, AgentError> {
        Err(takes_files_unread())
    }

    /// The records whose values a person can enter.
    fn entries(&self, _query: &str) -> Result<DataEntries, AgentError> {
        Ok(DataEntries::default())
    }

    /// Stores the values of a record. With a problem nothing is stored.
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
