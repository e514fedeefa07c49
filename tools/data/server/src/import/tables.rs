//! Files that `tabular` reads: text, workbooks, and flat files made of other formats. One thread reads
//! rows, another one loads them.

use std::{cell::RefCell, fs::File, sync::mpsc::sync_channel};

use contract::{
    AgentError, Reason,
    sources::{FileFormat, PartRef, RejectedRows, SheetFound, TableReport},
};
use tabular::table::{Inspected, Progress, TableError, inspect, inspect_flat};

use super::{
    batches::{Batcher, Received, schema},
    flat::{self, Flat},
    store::{Store, all_rows},
    work::Work,
};
use crate::{DataError, stop::Stop};

/// Batches that wait to be loaded.
const WAITING: usize = 4;

/// Imports a file of text or a workbook.
pub fn import(work: &Work<'_, '_>) -> Result<(TableReport, Option<PartRef>), DataError> {
    let file = work.input.open()?;
    let inspected = look(work, &file)?;
    let report = inspected.report().clone();
    if !work.stores(&report) {
        return Ok((report, None));
    }
    let part = store(work, &file, &inspected, &report)?;
    Ok((report, Some(part)))
}

/// Imports a flat file that was made of another format.
pub fn import_flat(
    work: &Work<'_, '_>,
    flat: &Flat,
    format: FileFormat,
    rejected: Vec<RejectedRows>,
    sheets: Vec<SheetFound>,
) -> Result<(TableReport, Option<PartRef>), DataError> {
    let file = files::open(&flat.path).map_err(DataError::file("the working folder"))?;
    let inspected = look_at_flat(work, &file, flat)?;
    let mut report = inspected.report().clone();
    flat::restore(&mut report, format, rejected);
    report.sheets = sheets;
    if !work.stores(&report) {
        return Ok((report, None));
    }
    let part = store(work, &file, &inspected, &report)?;
    Ok((report, Some(part)))
}

fn look(work: &Work<'_, '_>, file: &File) -> Result<Inspected, DataError> {
    let (watch, job) = (Watch::new(work), work.job);
    let mut see = |progress| watch.see(progress);
    let inspected = inspect(file, &job.name, &job.decisions, &mut see, &|| watch.stops());
    watch.end(inspected)
}

fn look_at_flat(work: &Work<'_, '_>, file: &File, flat: &Flat) -> Result<Inspected, DataError> {
    let watch = Watch::new(work);
    let inspected = inspect_flat(
        file,
        &work.job.name,
        &flat::decisions_for(&work.job.decisions),
        flat.origin.clone(),
        &mut |progress| watch.see(progress),
        &|| watch.stops(),
    );
    watch.end(inspected)
}

/// Tells how far a reading is, and stops it when a table is longer than the job allows.
struct Watch<'w, 'a, 't> {
    work: &'w Work<'a, 't>,
    /// The limit that the table exceeds.
    exceeded: RefCell<Option<DataError>>,
}

impl<'w, 'a, 't> Watch<'w, 'a, 't> {
    fn new(work: &'w Work<'a, 't>) -> Self {
        Self { work, exceeded: RefCell::new(None) }
    }

    fn see(&self, progress: Progress) {
        let Progress { records, bytes, total_bytes } = progress;
        self.work.teller.progress(records, bytes, total_bytes);
        let checked =
            self.work.check_records(records).and_then(|()| self.work.check_content(bytes));
        if let Err(error) = checked {
            *self.exceeded.borrow_mut() = Some(error);
        }
    }

    fn stops(&self) -> bool {
        self.work.teller.is_broken() || self.exceeded.borrow().is_some()
    }

    /// Returns the table, if it is within the limits.
    fn end(self, inspected: Result<Inspected, TableError>) -> Result<Inspected, DataError> {
        if let Some(error) = self.exceeded.into_inner() {
            return Err(error);
        }
        let inspected = inspected.map_err(from_table)?;
        self.work.check_records(inspected.report().records)?;
        Ok(inspected)
    }
}

pub(super) fn from_table(error: TableError) -> DataError {
    if let TableError::Other(format) = error {
        return DataError::OtherFormat(format);
    }
    // The host leaves out a decision about an earlier file that does not fit this one.
    let told = match &error {
        TableError::NoColumn { name, .. } => AgentError::invalid(error.message())
            .reason(Reason::NoColumn)
            .with("column", name.as_str()),
        TableError::NoSheet { .. } => AgentError::invalid(error.message()).reason(Reason::NoTable),
        _ => AgentError::invalid(error.message()).reason("file_unreadable"),
    };
    match error.hint() {
        Some(hint) => told.hint(hint).into(),
        None => told.into(),
    }
}

/// Reads all rows again and stores them.
fn store(
    work: &Work<'_, '_>,
    file: &File,
    inspected: &Inspected,
    report: &TableReport,
) -> Result<PartRef, DataError> {
    let mut store = Store::open(work.folder, work.drivers, &work.job.limits)?;
    let greatest: Vec<u128> = (0..report.columns.len()).map(|at| inspected.greatest(at)).collect();
    let schema = schema(&report.columns, &greatest);
    let (to, from) = sync_channel(WAITING);
    let reader = Received::new(schema.clone(), from);
    let (sent, loaded) = std::thread::scope(|scope| {
        let reading =
            scope.spawn(move || read_rows(work, file, inspected, Batcher::new(schema, to)));
        let loaded = store.load(Box::new(reader));
        let sent = reading
            .join()
            .unwrap_or_else(|_| Err(DataError::Engine("the reader of the file failed".to_owned())));
        (sent, loaded)
    });
    // If loading failed, the reader only saw that nobody takes its rows.
    loaded?;
    store.write_part(&all_rows(), &report.columns, sent?, &report.sums, &Stop::never())
}

fn read_rows(
    work: &Work<'_, '_>,
    file: &File,
    inspected: &Inspected,
    mut batcher: Batcher,
) -> Result<u64, DataError> {
    let teller = work.teller;
    let mut failure = None;
    let read = inspected.read(
        file,
        &mut |progress| teller.progress(progress.records, progress.bytes, progress.total_bytes),
        &|| teller.is_broken(),
        &mut |cells| {
            batcher.add(cells).map_err(|error| {
                failure = Some(error);
                TableError::Stopped
            })
        },
    );
    match (failure, read) {
        (Some(failure), _) => Err(failure),
        (None, Err(error)) => Err(from_table(error)),
        (None, Ok(_)) => batcher.finish(),
    }
}
