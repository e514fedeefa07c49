//! The input of the readers of all formats: the job with its limits, the copy of the file, and the
//! condition under which rows are stored.

use std::path::Path;

use contract::{
    AgentError,
    sources::{ImportJob, TableReport},
    text,
};

use super::{
    input::{Input, too_large},
    told::Teller,
};
use crate::DataError;

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

    /// Refuses a file with more records than the job allows.
    pub fn check_records(&self, records: u64) -> Result<(), DataError> {
        let most = self.job.limits.records;
        if records <= most {
            return Ok(());
        }
        Err(AgentError::invalid(text!("The file has more than {most} rows.", most))
            .reason("too_many_rows")
            .into())
    }

    /// Refuses a text that is longer than the job allows. A packed one can be much longer than its
    /// file.
    pub fn check_content(&self, bytes: u64) -> Result<(), DataError> {
        let most = self.job.limits.content_bytes;
        if bytes > most { Err(too_large(most)) } else { Ok(()) }
    }
}
