//! The input of the readers of all formats: the job, the copy of the file, and the condition under
//! which rows are stored.

use std::path::Path;

use contract::sources::{ImportJob, TableReport};

use super::{input::Input, told::Teller};

/// The input of a reader.
pub struct Work<'a, 't> {
    /// The working folder.
    pub folder: &'a Path,
    /// The folder with the database library.
    pub drivers: &'a Path,
    /// The job.
    pub job: &'a ImportJob,
    /// The copy of the file.
    pub input: &'a Input,
    /// The reporter of progress.
    pub teller: &'a Teller<'t>,
}

impl Work<'_, '_> {
    /// Whether the rows of a file are stored. A file without rows is not: it would replace others by
    /// nothing.
    pub fn stores(&self, report: &TableReport) -> bool {
        !self.job.report_only
            && report.stored > 0
            && report.questions.is_empty()
            && (report.rejected.is_empty() || self.job.decisions.skip_rejected)
    }
}
