//! One import from its job to its result.

use std::{fs::File, io::Read, os::fd::AsFd as _, path::Path};

use contract::{
    AgentError,
    sources::{FileFormat, ImportEvent, ImportJob, JOB_FILE, PartRef, TableReport},
    text,
};

use super::{
    input::{Format, Input},
    json_lines::{self, Flattened},
    parquet,
    sqlite::{self, Malformed},
    tables,
    told::Teller,
    work::Work,
};
use crate::{DataError, drivers};

/// The most bytes of a job.
const JOB_BYTES: u64 = 4 << 20;

/// Runs the import of the working folder. Returns whether its result could be written.
pub fn run(folder: &Path) -> bool {
    let mut output = std::io::stdout();
    let input = std::io::stdin().as_fd().try_clone_to_owned().map(File::from);
    match input {
        Ok(input) => {
            let total = input.metadata().map_or(0, |known| known.len());
            run_in(folder, &drivers::folder(), input, total, &mut output)
        }
        Err(error) => {
            eprintln!("error: Standard input cannot be read: {error}.");
            false
        }
    }
}

/// Runs the import of a folder with given input and output.
pub fn run_in(
    folder: &Path,
    drivers: &Path,
    input: impl Read,
    total: u64,
    output: &mut (dyn std::io::Write + Send),
) -> bool {
    let teller = Teller::new(output);
    let event = match import(folder, drivers, input, total, &teller) {
        Ok((report, part)) => ImportEvent::Result { report: Box::new(report), part },
        Err(error) => ImportEvent::Failure { error: told(error) },
    };
    Input::remove(folder);
    teller.end(&event);
    !teller.is_broken()
}

/// Returns the error of an import as a person reads it.
fn told(error: DataError) -> AgentError {
    match error {
        // The sentence of this error speaks of a question.
        DataError::TooLarge => {
            AgentError::invalid("The file needs more memory than an import may use.")
                .reason("file_too_large")
                .hint("Export the table without its longest texts.")
        }
        other => AgentError::from(other),
    }
}

fn import(
    folder: &Path,
    drivers: &Path,
    input: impl Read,
    total: u64,
    teller: &Teller<'_>,
) -> Result<(TableReport, Option<PartRef>), DataError> {
    let job = read_job(folder)?;
    let input = Input::copy(input, total, folder, &job.limits, teller)?;
    let work = Work { folder, drivers, job: &job, input: &input, teller };
    let (mut report, part) = match import_format(&work) {
        // A compressed file of a format that is read here.
        Err(DataError::OtherFormat(_)) => {
            let content = input.unpack(folder, &job.limits)?;
            import_format(&Work { input: &content, ..work })?
        }
        done => done?,
    };
    report.file.clone_from(&job.name);
    report.hash.clone_from(&input.hash);
    report.bytes = input.bytes;
    Ok((report, part))
}

fn import_format(work: &Work<'_, '_>) -> Result<(TableReport, Option<PartRef>), DataError> {
    match work.input.format()? {
        Format::Table => tables::import(work),
        Format::Parquet => parquet::import(work),
        Format::JsonLines => import_json_lines(work),
        Format::Sqlite => import_sqlite(work),
    }
}

fn import_json_lines(work: &Work<'_, '_>) -> Result<(TableReport, Option<PartRef>), DataError> {
    let Flattened { flat, rejected, lists } = json_lines::flatten(work)?;
    let imported = tables::import_flat(work, &flat, FileFormat::JsonLines, rejected, Vec::new());
    let (mut report, part) = imported?;
    report.notes.extend(lists.into_iter().map(|column| {
        text!(
            "The lists of objects in {column} are kept as text, so that their numbers are in no sum. Write one object per line.",
            column
        )
    }));
    Ok((report, part))
}

fn import_sqlite(work: &Work<'_, '_>) -> Result<(TableReport, Option<PartRef>), DataError> {
    let found = sqlite::flatten(work)?;
    match found.chosen {
        Ok(table) => {
            let (flat, sheets) = (&table.flat, found.tables);
            let imported = tables::import_flat(work, flat, FileFormat::Sqlite, Vec::new(), sheets);
            let (mut report, part) = imported?;
            if let Some(Malformed { count, row }) = table.malformed {
                report.notes.push(text!(
                    "Texts with characters that are not valid in UTF-8 had them replaced by \"�\": {count}, the first in row {row}.",
                    count,
                    row
                ));
            }
            if found.has_log {
                report.notes.push(text!(
                    "The program that writes the SQLite file keeps its newest rows in a file beside it until it closes. They can be missing here."
                ));
            }
            Ok((report, part))
        }
        Err(question) => {
            let report = TableReport {
                format: FileFormat::Sqlite,
                sheets: found.tables,
                questions: vec![*question],
                ..TableReport::default()
            };
            Ok((report, None))
        }
    }
}

fn read_job(folder: &Path) -> Result<ImportJob, DataError> {
    let text = files::read_text(&folder.join(JOB_FILE), JOB_BYTES)
        .map_err(DataError::file("the job of the import"))?;
    serde_json::from_str(&text).map_err(|error| DataError::Arguments(error.to_string()))
}
