//! Reads one file as a stream: our own columns as they are, others as their layout or the user maps
//! them. A file with errors is read to its end, so that all errors are found at once.

use std::{io, path::Path};

use contract::ImportProblem;
use rusqlite::Connection;
use tabular::{Decimals, MappingError, NumberFormat, Rows, StringRecord, Survey, TableError};

use super::{
    FileReport, Job, Stop,
    cells::Cells,
    columns::{self, FileKind, Header},
    mapped,
    store::Store,
};

/// Rows between two checks of the cancel flag.
const ROWS_PER_TICK: u64 = 512;

/// The fields that a mapping can name, for messages.
const FIELDS: &str = "day, campaign, spend, impressions, account, account_id, advertiser, campaign_id, line_item, line_item_id, currency, time_zone, hour";

/// Reads a file into the open savepoint.
pub(crate) fn read(
    db: &Connection,
    path: &Path,
    name: &str,
    job: &mut Job<'_>,
) -> Result<FileReport, Stop> {
    let mut report = FileReport {
        file: name.to_owned(),
        kind: None,
        rows_read: 0,
        rows_stored: 0,
        rows_replaced: 0,
        ignored_columns: Vec::new(),
    };
    let survey = match Survey::of(path) {
        Ok(survey) => survey,
        Err(error) => {
            job.errors.add(name, 0, "", problem(error));
            return Ok(report);
        }
    };
    let headings: Vec<String> = survey.columns.iter().map(|c| c.heading.clone()).collect();
    let is_mapped = !job.options.columns.is_empty() || !job.options.constants.is_empty();
    let own = Header::read(&headings);
    if let (Ok(header), false) = (&own, is_mapped) {
        read_own(db, &survey, header, job, &mut report)?;
        return Ok(report);
    }
    let own_problems = own.err().unwrap_or_default();
    let is_doubled = own_problems.iter().any(|(_, p)| *p == ImportProblem::ColumnTwice);
    match survey.map(&job.options.columns, &job.options.constants) {
        Ok(mapping) if is_mapped || !is_doubled => {
            mapped::read(db, &survey, &mapping, job, &mut report)?;
        }
        Ok(_) => refuse(job, name, survey.header_line, own_problems),
        Err(error) => {
            let problems = match error {
                MappingError::FieldMissing(_) if !is_mapped && !own_problems.is_empty() => {
                    own_problems
                }
                MappingError::FieldMissing(_) => {
                    vec![(String::new(), columns::unknown(&headings))]
                }
                MappingError::NoColumn(heading) => {
                    let found = columns::list_columns(&headings);
                    vec![(heading, ImportProblem::NoSuchColumn { found })]
                }
                MappingError::NoField(field) => {
                    vec![(field, ImportProblem::NoSuchField { known: FIELDS.to_owned() })]
                }
            };
            refuse(job, name, survey.header_line, problems);
        }
    }
    Ok(report)
}

fn refuse(job: &mut Job<'_>, file: &str, line: u64, problems: Vec<(String, ImportProblem)>) {
    for (column, problem) in problems {
        job.errors.add(file, line, &column, problem);
    }
}

/// Reads a file with our own columns.
fn read_own(
    db: &Connection,
    survey: &Survey,
    header: &Header,
    job: &mut Job<'_>,
    report: &mut FileReport,
) -> Result<(), Stop> {
    report.kind = Some(header.kind);
    report.ignored_columns.clone_from(&header.ignored);
    let decimals = if survey.separator() == Some(';') { Decimals::Comma } else { Decimals::Point };
    let numbers = NumberFormat::likely(decimals);
    let mut store = Store::new(db);
    read_rows(survey, job, report, &mut store, |record, line, file, job, store| {
        if record.len() != header.width {
            let cells = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let (found, expected) = (cells(record.len()), cells(header.width));
            job.errors.add(file, line, "", ImportProblem::CellCount { found, expected });
            return Ok(());
        }
        let skips = job.options.skip_rejected;
        // After the first error no more rows are stored, and the rest of the file is only checked.
        let is_clean = job.file_is_clean();
        let mut cells = Cells { record, header, numbers, file, line, errors: &mut job.errors };
        match header.kind {
            FileKind::Delivery => match cells.delivery() {
                Some(row) if is_clean || skips => store.delivery(&row),
                _ => Ok(()),
            },
            FileKind::Campaigns => match cells.campaign() {
                Some(row) if is_clean || skips => store.campaign(&row),
                _ => Ok(()),
            },
        }
    })
}

/// Hands each row to `use_row`, counts it and reports the progress.
pub(super) fn read_rows<'c>(
    survey: &Survey,
    job: &mut Job<'_>,
    report: &mut FileReport,
    store: &mut Store<'c>,
    mut use_row: impl FnMut(
        &StringRecord,
        u64,
        &str,
        &mut Job<'_>,
        &mut Store<'c>,
    ) -> Result<(), rusqlite::Error>,
) -> Result<(), Stop> {
    let name = report.file.clone();
    let start_bytes = job.progress.done_bytes;
    let mut rows = match survey.rows() {
        Ok(rows) => rows,
        Err(error) => {
            job.errors.add(&name, 0, "", problem(error));
            return Ok(());
        }
    };
    loop {
        match rows.next_row() {
            Ok(None) => break,
            Ok(Some((_, record))) if record.iter().all(str::is_empty) => continue,
            Ok(Some((line, record))) => {
                report.rows_read += 1;
                job.progress.rows_read += 1;
                use_row(record, line, &name, job, store)?;
            }
            Err(error) => {
                job.errors.add(&name, 0, "", problem(error));
                break;
            }
        }
        if report.rows_read.is_multiple_of(ROWS_PER_TICK) {
            tell(&rows, start_bytes, job, store)?;
        }
    }
    if report.rows_read == 0 && job.file_is_clean() {
        job.errors.add(&name, survey.header_line, "", ImportProblem::NoRows);
    }
    job.progress.rows_stored += store.take_new();
    (report.rows_stored, report.rows_replaced) = store.counts();
    Ok(())
}

fn tell(
    rows: &Rows,
    start_bytes: u64,
    job: &mut Job<'_>,
    store: &mut Store<'_>,
) -> Result<(), Stop> {
    let done = start_bytes + rows.bytes();
    job.progress.done_bytes = done.min(job.progress.total_bytes);
    job.progress.rows_stored += store.take_new();
    job.tick()
}

/// Converts an error of reading to the problem of a file.
fn problem(error: TableError) -> ImportProblem {
    match error {
        TableError::Empty => ImportProblem::EmptyFile,
        TableError::Workbook(_) => ImportProblem::Spreadsheet,
        TableError::Text(reason) => ImportProblem::BrokenOff { reason },
        TableError::Io(error) => match error.kind() {
            io::ErrorKind::NotFound => ImportProblem::Missing,
            io::ErrorKind::PermissionDenied => ImportProblem::Forbidden,
            io::ErrorKind::IsADirectory => ImportProblem::IsFolder,
            _ => ImportProblem::Unreadable { reason: error.to_string() },
        },
    }
}
