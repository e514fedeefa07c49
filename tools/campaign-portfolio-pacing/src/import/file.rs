//! Reads one CSV file as a stream: encoding, separator, header, rows. A file with errors is read to
//! its end, so that all errors are found at once.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use contract::ImportProblem;
use csv::{ByteRecord, ReaderBuilder};
use rusqlite::Connection;

use super::{
    FileReport, Job, Stop,
    cells::Cells,
    columns::{FileKind, Header},
    number::Decimals,
    store::Store,
};

/// Rows between two checks of the cancel flag.
const ROWS_PER_TICK: u64 = 512;
const BUFFER: usize = 256 * 1024;

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
    let (source, delimiter) = match open(path) {
        Ok(opened) => opened,
        Err(problem) => {
            job.errors.add(name, 0, "", problem);
            return Ok(report);
        }
    };
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(source);
    let Some(header) = header(&mut reader, name, job) else { return Ok(report) };
    report.kind = Some(header.kind);
    report.ignored_columns.clone_from(&header.ignored);
    let decimals = if delimiter == b';' { Decimals::Comma } else { Decimals::Point };
    let (start_bytes, start_errors) = (job.progress.done_bytes, job.errors.total());
    let mut store = Store::new(db);
    let mut record = ByteRecord::new();
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => {
                job.errors.add(
                    name,
                    reader.position().line(),
                    "",
                    ImportProblem::BrokenOff { reason: error.to_string() },
                );
                break;
            }
        }
        if record.iter().all(<[u8]>::is_empty) {
            continue;
        }
        report.rows_read += 1;
        job.progress.rows_read += 1;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() == header.width {
            // After the first error no more rows are stored, and the rest of the file is only
            // checked.
            let mut cells = Cells {
                record: &record,
                header: &header,
                decimals,
                file: name,
                line,
                errors: &mut job.errors,
            };
            match header.kind {
                FileKind::Delivery => {
                    if let Some(row) =
                        cells.delivery().filter(|_| cells.errors.total() == start_errors)
                    {
                        store.delivery(&row)?;
                    }
                }
                FileKind::Campaigns => {
                    if let Some(row) =
                        cells.campaign().filter(|_| cells.errors.total() == start_errors)
                    {
                        store.campaign(&row)?;
                    }
                }
            }
        } else {
            let cells = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let problem = ImportProblem::CellCount {
                found: cells(record.len()),
                expected: cells(header.width),
            };
            job.errors.add(name, line, "", problem);
        }
        if report.rows_read.is_multiple_of(ROWS_PER_TICK) {
            job.progress.done_bytes = start_bytes + reader.position().byte();
            job.progress.rows_stored += store.take_new();
            job.tick()?;
        }
    }
    if report.rows_read == 0 && job.errors.total() == start_errors {
        job.errors.add(name, 1, "", ImportProblem::NoRows);
    }
    job.progress.rows_stored += store.take_new();
    (report.rows_stored, report.rows_replaced) = store.counts();
    Ok(report)
}

/// Opens a file. Returns a reader positioned after the byte order mark, and the separator of cells.
fn open(path: &Path) -> Result<(BufReader<File>, u8), ImportProblem> {
    let mut source =
        BufReader::with_capacity(BUFFER, File::open(path).map_err(|e| unreadable(&e))?);
    let start = source.fill_buf().map_err(|e| unreadable(&e))?;
    if start.is_empty() {
        return Err(ImportProblem::EmptyFile);
    }
    if start.starts_with(&[0xFF, 0xFE]) || start.starts_with(&[0xFE, 0xFF]) {
        return Err(ImportProblem::Utf16);
    }
    if start.starts_with(b"PK\x03\x04") {
        return Err(ImportProblem::Spreadsheet);
    }
    let mark = if start.starts_with(&[0xEF, 0xBB, 0xBF]) { 3 } else { 0 };
    let delimiter = delimiter(&start[mark..]);
    source.consume(mark);
    Ok((source, delimiter))
}

fn unreadable(error: &io::Error) -> ImportProblem {
    match error.kind() {
        io::ErrorKind::NotFound => ImportProblem::Missing,
        io::ErrorKind::PermissionDenied => ImportProblem::Forbidden,
        io::ErrorKind::IsADirectory => ImportProblem::IsFolder,
        _ => ImportProblem::Unreadable { reason: error.to_string() },
    }
}

/// Returns the most frequent separator of the first line, outside quotes.
fn delimiter(start: &[u8]) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for byte in start {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            byte if !quoted => counts
                .iter_mut()
                .filter(|(sign, _)| sign == byte)
                .for_each(|(_, count)| *count += 1),
            _ => {}
        }
    }
    counts.iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(sign, _)| *sign)
}

fn header<R: io::Read>(
    reader: &mut csv::Reader<R>,
    name: &str,
    job: &mut Job<'_>,
) -> Option<Header> {
    let mut record = ByteRecord::new();
    if !reader.read_byte_record(&mut record).unwrap_or(false) {
        job.errors.add(name, 1, "", ImportProblem::NoHeader);
        return None;
    }
    let line = record.position().map_or(1, csv::Position::line);
    let cells: Vec<String> =
        record.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
    match Header::read(&cells) {
        Ok(header) => Some(header),
        Err(problems) => {
            for (column, problem) in problems {
                job.errors.add(name, line, &column, problem);
            }
            None
        }
    }
}
