//! Takes the newest import of a source back, and removes sources with all that belongs to them. This
//! module must not know how files are read.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use contract::{
    AgentError, Reason, SourceName, SourceParams, SourceView, Text, sources::SourceKind, text,
};
use tokio::sync::MutexGuard;

use super::{
    Inner, Sources, change_record,
    connecting::missing,
    storage::{State, StoredSource, Undone},
};
use crate::log::current_caller;

impl Sources {
    /// Takes the newest import of a source back. Rows, decisions, place and columns are then those
    /// before the import.
    pub(crate) async fn undo(&self, params: &SourceParams) -> Result<SourceView, AgentError> {
        let inner = self.opened()?;
        let _changing = inner.begin_change().await?;
        let name = &params.name;
        let mut source = inner.storage.read(name)?;
        let mut chain = inner.storage.chain(&source)?.into_iter();
        let Some(state) = chain.next() else {
            inner.read_described(name)?.check_own_rows()?;
            return Err(AgentError::invalid(text!(
                "{source} has no import to take back.",
                source = name
            ))
            .reason("nothing_to_undo"));
        };
        let former = chain.next();
        if former.as_ref().is_some_and(|former| !inner.storage.is_whole(name, former)) {
            return Err(rows_deleted(name));
        }
        let draft = change_record("undone", name)
            .field("import", state.id.as_str())
            .field("version", state.data_version())
            .commit("file", state.import.report.file.clone());
        inner.record(draft, &current_caller()).await?;
        restore(&mut source, &state, inner.clock.now());
        inner.storage.write(&source)?;
        if let Some(former) = &former {
            let gone = missing(&former.columns, &state.columns);
            inner.drop_columns(name, &state.columns, &gone)?;
        }
        inner.changed();
        inner.view(name)
    }

    /// Removes a source and erases its rows. A source whose file is damaged is removed, too.
    pub(crate) async fn remove(&self, params: &SourceParams) -> Result<(), AgentError> {
        let inner = self.opened()?;
        let _changing = inner.begin_change().await?;
        let name = &params.name;
        let source = match inner.storage.read(name) {
            Err(error) if error.has_reason(Reason::NotFound) => return Err(error),
            read => read.ok(),
        };
        let pair = inner.computed_pair(name);
        inner.record(change_record("removed", name), &current_caller()).await?;
        let password = inner.forget_database_of(source.as_ref()).await;
        inner.storage.remove(name)?;
        inner.forget_approvals(name)?;
        inner.note_removed(name, pair)?;
        inner.changed();
        password.map_err(|error| password_left(name, &error))
    }
}

impl Inner {
    /// Begins a change of a source by a person. Fails while an import runs, because the change would
    /// wait for it, and a long import would look like a program that hangs.
    pub(super) async fn begin_change(&self) -> Result<MutexGuard<'_, ()>, AgentError> {
        self.jobs.check_none_runs()?;
        Ok(self.changing.lock().await)
    }

    async fn forget_database_of(&self, source: Option<&StoredSource>) -> Result<(), AgentError> {
        let Some(source) = source else { return Ok(()) };
        match &source.kind {
            SourceKind::Database { address, driver, .. } => {
                self.forget_database(&source.name, address, driver).await
            }
            SourceKind::Files => Ok(()),
        }
    }
}

/// Restores a source as it was before its newest import. Choices for columns that a person has made
/// since then stay.
fn restore(source: &mut StoredSource, state: &State, at: DateTime<Utc>) {
    source.present.clone_from(&state.parent);
    source.undone.insert(state.id.clone(), Undone { at, file: state.file.clone() });
    let Some(former) = &state.former else { return };
    let mut decisions = former.decisions.clone();
    for (column, choice) in &source.decisions.columns {
        if state.import.decisions.columns.get(column) != Some(choice) {
            decisions.columns.insert(column.clone(), choice.clone());
        }
    }
    source.decisions = decisions;
    source.place.clone_from(&former.place);
}

/// Returns the note about files that were taken back and that a refresh leaves.
pub(super) fn left_undone(files: &[PathBuf]) -> Text {
    let name = |file: &PathBuf| file.file_name().map(|name| name.to_string_lossy().into_owned());
    let names: Vec<String> = files.iter().filter_map(name).collect();
    text!(
        "These files were imported and taken back, so they are not imported again unless a person names them: {files}.",
        files = names.join(", ")
    )
}

fn rows_deleted(source: &SourceName) -> AgentError {
    AgentError::invalid(text!(
        "The import before cannot be restored: its rows in {source} were deleted to save room.",
        source
    ))
    .reason("rows_deleted")
    .hint("Import its file again.")
}

fn password_left(source: &SourceName, error: &AgentError) -> AgentError {
    AgentError::internal(
        "password_left",
        text!(
            "{source} was removed, but its password is still in the keyring: {problem}",
            source,
            problem = error.text()
        ),
    )
}
