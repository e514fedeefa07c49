//! Imports tables that the app itself wrote, such as a sample: each as a source of its own, with the
//! process, definitions and records of an import by a person. It must not know where the rows come from.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use contract::{AgentError, SourceAddParams, pack_code::TableFile, sources::ImportResult, text};
use tokio_util::sync::CancellationToken;

use super::{
    Inner, importer::stopped, importing::Import, naming::free_name, origins::Origin,
    storage::StoredSource,
};
use crate::log::current_caller;

/// Returns what creates the files of a set in a folder.
pub(super) fn creator(folder: &Path) -> impl FnMut(&str) -> io::Result<Box<dyn Write>> + use<> {
    let folder = folder.to_owned();
    move |name: &str| {
        let file = files::create(&folder.join(name))?;
        Ok(Box::new(file) as Box<dyn Write>)
    }
}

impl Inner {
    /// Returns the source with rows of this origin.
    pub(super) fn source_from(&self, origin: &Origin) -> Option<StoredSource> {
        let sources = self.storage.names().into_iter();
        let mut sources = sources.filter_map(|name| self.storage.read(&name).ok());
        sources.find(|source| source.origin.as_ref().is_some_and(|own| own.is_like(origin)))
    }

    /// Imports a table into the source of its origin, whose rows it replaces, else into a new one. The
    /// caller holds the lock of changes. `job` is empty if no job shows the progress.
    pub(super) async fn import_table(
        &self,
        folder: &Path,
        file: &TableFile,
        origin: &Origin,
        job: &str,
        stop: &CancellationToken,
    ) -> Result<ImportResult, AgentError> {
        let known = self.source_from(origin).map(|source| source.name);
        let name = known.unwrap_or_else(|| free_name(&file.source, &self.storage.names()));
        let path: PathBuf = folder.join(&file.name);
        let params = SourceAddParams {
            place: path.display().to_string(),
            name: Some(name),
            decisions: file.decisions.clone(),
            unattended: false,
            forget_remembered: true,
        };
        let import = Import {
            inner: self,
            params: &params,
            by: current_caller(),
            is_survey: false,
            job,
            stop,
            origin: Some(origin),
        };
        let results = import.run(&[path]).await?;
        match results.into_iter().next() {
            Some(result) if result.is_stored => Ok(result),
            Some(result) => Err(not_stored(file, &result)),
            None => Err(stopped()),
        }
    }
}

/// Returns the error of a table that needs a person, which is a fault of the code that wrote it.
fn not_stored(file: &TableFile, result: &ImportResult) -> AgentError {
    let question = result.questions.first();
    let error = AgentError::internal(
        "table_unread",
        text!("{file} cannot be imported by itself.", file = &file.name),
    )
    .hint("Nothing of it was stored. Report this fault.");
    match question {
        Some(question) => error.with("question", question.text.as_str()),
        None => error,
    }
}
