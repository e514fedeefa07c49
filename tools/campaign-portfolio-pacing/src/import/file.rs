//! Reads one file as a stream into the database. A file with errors is read to its end, so that all
//! errors are found at once.

use std::path::Path;

use contract::ImportProblem;
use rusqlite::Connection;
use tabular::{Rows, Survey};

use super::{
    FileReport, Job, Stop,
    columns::FileKind,
    lines::{Line, Lines},
    mapped::Fields,
    store::Store,
    table::{Table, Way, problem},
};

/// The number of rows between two checks of the cancel flag.
pub(super) const ROWS_PER_TICK: u64 = 512;

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
        is_remembered: false,
        is_malformed: false,
    };
    let table = match Table::open(path, job.options, job.memory) {
        Ok(table) => table,
        Err(problem) => {
            job.errors.add(name, 0, "", problem);
            return Ok(report);
        }
    };
    match &table.way {
        Way::Own(header) => {
            report.kind = Some(header.kind);
            report.ignored_columns.clone_from(&header.ignored);
            let mut lines = Lines::own(&table, header);
            store_rows(db, &table.survey, &mut lines, job, &mut report)?;
        }
        Way::Mapped(mapping) => {
            let used: Vec<usize> = mapping.columns.values().copied().collect();
            let columns = table.survey.columns.iter().enumerate();
            let ignored = columns.filter(|(at, _)| !used.contains(at));
            report.kind = Some(FileKind::Delivery);
            report.ignored_columns = ignored.map(|(_, column)| column.heading.clone()).collect();
            report.is_remembered = table.decisions.is_remembered && job.options.columns.is_empty();
            match table.formats(mapping) {
                Ok(formats) => {
                    let fields = Fields::new(mapping);
                    let mut lines = Lines::mapped(&table, mapping, &fields, formats);
                    store_rows(db, &table.survey, &mut lines, job, &mut report)?;
                }
                Err((column, problem)) => job.errors.add(name, 0, &column, problem),
            }
        }
        Way::Refused(problems) => {
            for (column, problem) in problems {
                job.errors.add(name, table.survey.header_line, column, problem.clone());
            }
        }
    }
    if report.rows_stored > 0 {
        // A file that cannot be read once more was told by its rows.
        report.is_malformed = table.survey.has_malformed_text().unwrap_or(false);
        job.read.push((table.survey.column_names(), table.decisions));
    }
    Ok(report)
}

/// Stores each row, counts it and reports the progress.
fn store_rows(
    db: &Connection,
    survey: &Survey<'_>,
    lines: &mut Lines<'_>,
    job: &mut Job<'_>,
    report: &mut FileReport,
) -> Result<(), Stop> {
    let name = report.file.clone();
    let start_bytes = job.progress.done_bytes;
    let mut store = Store::new(db);
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
                // After the first error the remaining rows are only checked, unless rejected lines
                // are skipped.
                let is_kept = job.file_is_clean() || job.options.skip_rejected;
                let adds = lines.adds_rows();
                match lines.read(record, &name, line, &mut job.errors) {
                    Line::Delivery(row) if is_kept && adds => store.add_delivery(&row)?,
                    Line::Delivery(row) if is_kept => store.delivery(&row)?,
                    Line::Campaign(row) if is_kept => store.campaign(&row)?,
                    _ => {}
                }
            }
            Err(error) => {
                job.errors.add(&name, 0, "", problem(error));
                break;
            }
        }
        if report.rows_read.is_multiple_of(ROWS_PER_TICK) {
            report_progress(&rows, start_bytes, job, &mut store)?;
        }
    }
    if report.rows_read == 0 && job.file_is_clean() {
        job.errors.add(&name, survey.header_line, "", ImportProblem::NoRows);
    }
    job.progress.rows_stored += store.take_new();
    (report.rows_stored, report.rows_replaced) = store.counts();
    Ok(())
}

fn report_progress(
    rows: &Rows,
    start_bytes: u64,
    job: &mut Job<'_>,
    store: &mut Store<'_>,
) -> Result<(), Stop> {
    let done = start_bytes + rows.bytes();
    job.progress.done_bytes = done.min(job.progress.total_bytes);
    job.progress.rows_stored += store.take_new();
    job.report_progress()
}
