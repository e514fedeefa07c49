//! The interfaces of packs that ship with their own code: an adapter between their tools and the
//! host, a sample, and rows that an older version kept. The host only uses these traits and treats
//! no pack specially, and the packs do not depend on the host.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::{AgentError, CallerKind, SourceName, Text, sources::ImportDecisions};

/// The code of packs, which the binaries pass to the host.
#[derive(Clone, Default)]
pub struct PackCode {
    /// The adapters, at most one per pack.
    pub adapters: Vec<Arc<dyn PackAdapter>>,
    /// The samples that a person can add as sources.
    pub samples: Vec<Arc<dyn SampleData>>,
    /// The rows that older versions of packs kept.
    pub earlier: Vec<Arc<dyn EarlierData>>,
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

/// Rows that an older version of a pack kept in files of its own. They become sources, once.
pub trait EarlierData: Send + Sync {
    /// Returns the id of the pack, in whose data folder the files are.
    fn name(&self) -> &'static str;

    /// Returns the files with the rows in this folder, whether they are there or not.
    fn files(&self, data_dir: &Path) -> Vec<PathBuf>;

    /// Writes the rows that a person imported as tables. None: there are none. No row in the folder
    /// changes. May block.
    fn export_tables(
        &self,
        data_dir: &Path,
        create: &mut CreateFile<'_>,
    ) -> Result<Option<OldTables>, AgentError>;

    /// Returns the error for an export that broke off.
    fn broken_error(&self) -> AgentError;
}

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
