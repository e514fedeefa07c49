//! Files that the user imports for a pack without code. The files are copied into the pack's data
//! folder, where the pack's programs and servers read them. The module must not know the content of
//! the files.

use contract::text;
use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use contract::{
    AgentError,
    data::{
        Dataset, DatasetView, Datasets, ImportError, ImportOptions, ImportOutcome, ImportProblem,
        ImportProgress,
    },
    pack_code::PackData,
};

use crate::profile::create_private_folder;

/// The name of the folder with imported files in the data folder of a pack.
const IMPORTS: &str = "imports";

pub(crate) struct FolderData {
    folder: PathBuf,
}

impl FolderData {
    /// Makes the imports of the pack with this data folder.
    pub(crate) fn new(data: &Path) -> Self {
        Self { folder: data.join(IMPORTS) }
    }

    fn unusable_file(&self, error: &io::Error) -> AgentError {
        AgentError::internal(
            "data_dir",
            text!(
                "{path} cannot be used: {error}.",
                path = self.folder.display().to_string(),
                error = error.to_string()
            ),
        )
    }

    /// Copies a file beside its final path. Returns the path of the copy and the final path.
    fn copy_file(&self, path: &Path) -> Result<(PathBuf, PathBuf), ImportProblem> {
        if path.is_dir() {
            return Err(ImportProblem::IsFolder);
        }
        let name = path.file_name().ok_or(ImportProblem::Missing)?;
        let place = self.folder.join(name);
        let mut fresh = name.to_owned();
        fresh.push(".part");
        let fresh = self.folder.join(fresh);
        match copy_bytes(path, &fresh) {
            Ok(()) => Ok((fresh, place)),
            Err(error) if files::is_not_a_file(&error) => Err(ImportProblem::NotAFile),
            Err(error) => Err(match error.kind() {
                io::ErrorKind::NotFound => ImportProblem::Missing,
                io::ErrorKind::PermissionDenied => ImportProblem::Forbidden,
                _ => ImportProblem::Unreadable { reason: error.to_string() },
            }),
        }
    }
}

/// Copies a regular file with the length that it had at the start.
fn copy_bytes(from: &Path, to: &Path) -> io::Result<()> {
    let file = files::open(from)?;
    let length = file.metadata()?.len();
    io::copy(&mut file.take(length), &mut files::create(to)?).map(drop)
}

impl PackData for FolderData {
    /// Each file counts as one row. There is no sample.
    fn datasets(&self) -> Result<Datasets, AgentError> {
        let rows = match fs::read_dir(&self.folder) {
            Ok(files) => files.flatten().count(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(self.unusable_file(&error)),
        };
        let imported =
            DatasetView { rows: u64::try_from(rows).unwrap_or(u64::MAX), ..DatasetView::default() };
        Ok(Datasets { active: Dataset::Imported, sample: DatasetView::default(), imported })
    }

    fn use_dataset(&self, dataset: Dataset) -> Result<(), AgentError> {
        match dataset {
            Dataset::Imported => Ok(()),
            Dataset::Sample => {
                Err(AgentError::invalid("This pack has no sample data.").reason("no_sample"))
            }
        }
    }

    /// Copies all files, or none. A file replaces an earlier file of the same name.
    fn import(
        &self,
        paths: &[PathBuf],
        _options: &ImportOptions,
        on_progress: &mut dyn FnMut(&ImportProgress),
        stop: &AtomicBool,
    ) -> Result<ImportOutcome, AgentError> {
        create_private_folder(&self.folder).map_err(|error| self.unusable_file(&error))?;
        let mut outcome = ImportOutcome::default();
        let mut copies = Vec::new();
        for path in paths {
            outcome.is_stopped = stop.load(Ordering::Acquire);
            if outcome.is_stopped {
                break;
            }
            let file = path.display().to_string();
            outcome.rows_read += 1;
            on_progress(&ImportProgress {
                file: file.clone(),
                rows_read: outcome.rows_read,
                ..ImportProgress::default()
            });
            match self.copy_file(path) {
                Ok(copied) => copies.push(copied),
                Err(problem) => {
                    outcome.errors.push(ImportError {
                        file,
                        line: 0,
                        column: String::new(),
                        problem,
                    });
                    outcome.error_count += 1;
                }
            }
        }
        let is_kept = !outcome.is_stopped && outcome.errors.is_empty();
        for (fresh, place) in copies {
            if !is_kept {
                // If the copy cannot be removed, the next import of this name replaces it.
                let _ = fs::remove_file(fresh);
                continue;
            }
            outcome.rows_replaced += u64::from(place.exists());
            fs::rename(fresh, place).map_err(|error| self.unusable_file(&error))?;
            outcome.rows_stored += 1;
        }
        Ok(outcome)
    }
}
