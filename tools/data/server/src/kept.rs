//! Whole results that are kept for further pages, up to a number of rows and bytes.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use arrow_array::RecordBatch;
use serde_json::Value;

use crate::{
    DataError,
    cells::{self, Column},
    link::Rows,
};

pub use contract::sources::{RESULT_BYTES as MOST_BYTES, RESULT_ROWS as MOST_ROWS};
/// The most bytes of all kept results.
const MOST_KEPT_BYTES: usize = 96 << 20;
/// The most kept results.
const MOST_KEPT: usize = 8;

/// The rows of a query.
#[derive(Debug)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    batches: Vec<RecordBatch>,
    /// The number of rows.
    pub rows: u64,
    /// Whether the query has more rows than are kept.
    pub is_cut: bool,
    /// The bytes of the rows in memory.
    pub bytes: usize,
}

/// Rows of a table, from one place on.
#[derive(Debug, Default, PartialEq)]
pub struct Page {
    /// The cells of each row.
    pub rows: Vec<Vec<Value>>,
    /// The place of the next row. None: there are no more rows.
    pub next: Option<u64>,
}

impl Table {
    /// Takes the rows of a query, up to the limits.
    pub fn collect(mut rows: Rows, most_rows: u64) -> Result<Self, DataError> {
        let columns = cells::columns(&rows.schema())?;
        let mut table = Self { columns, batches: Vec::new(), rows: 0, is_cut: false, bytes: 0 };
        while let Some(batch) = rows.next_batch()? {
            let room = most_rows.min(MOST_ROWS).saturating_sub(table.rows);
            let taken = usize::try_from(room).unwrap_or(usize::MAX).min(batch.num_rows());
            let part = batch.slice(0, taken);
            table.rows += taken as u64;
            table.bytes += batch.get_array_memory_size();
            table.is_cut = taken < batch.num_rows() || table.bytes as u64 > MOST_BYTES;
            table.batches.push(part);
            if table.is_cut {
                break;
            }
        }
        Ok(table)
    }

    /// Returns the rows from a place on, up to a number of rows and of bytes. There is at least one
    /// row if there is one at the place.
    pub fn page(&self, offset: u64, most_rows: u64, most_bytes: u64) -> Result<Page, DataError> {
        let mut filling = Filling::new(offset, most_rows, most_bytes);
        let mut skip = offset;
        for batch in &self.batches {
            let rows = batch.num_rows() as u64;
            if skip >= rows {
                skip -= rows;
                continue;
            }
            for row in usize::try_from(skip).unwrap_or(usize::MAX)..batch.num_rows() {
                if !filling.has_room() || !filling.add(self.row(batch, row)?) {
                    return Ok(filling.end());
                }
            }
            skip = 0;
        }
        Ok(filling.page)
    }

    fn row(&self, batch: &RecordBatch, row: usize) -> Result<Vec<Value>, DataError> {
        self.columns
            .iter()
            .enumerate()
            .map(|(at, column)| cells::cell(batch.column(at), column, row))
            .collect()
    }
}

/// Returns rows from a place on, up to a number of rows and of bytes.
pub fn page_of_rows(rows: &[Vec<Value>], offset: u64, most_rows: u64, most_bytes: u64) -> Page {
    let mut filling = Filling::new(offset, most_rows, most_bytes);
    for row in rows.iter().skip(usize::try_from(offset).unwrap_or(usize::MAX)) {
        if !filling.has_room() || !filling.add(row.clone()) {
            return filling.end();
        }
    }
    filling.page
}

/// A page that is filled.
struct Filling {
    page: Page,
    offset: u64,
    bytes: u64,
    most_rows: u64,
    most_bytes: u64,
}

impl Filling {
    fn new(offset: u64, most_rows: u64, most_bytes: u64) -> Self {
        Self { page: Page::default(), offset, bytes: 0, most_rows, most_bytes }
    }

    fn has_room(&self) -> bool {
        (self.page.rows.len() as u64) < self.most_rows
    }

    /// Adds a row. Returns whether it fits.
    fn add(&mut self, row: Vec<Value>) -> bool {
        // Each row is a list, with a comma.
        self.bytes += 2 + row.iter().map(size_of_cell).sum::<u64>();
        let fits = self.bytes <= self.most_bytes || self.page.rows.is_empty();
        if fits {
            self.page.rows.push(row);
        }
        fits
    }

    /// Ends the page before the last row of the result.
    fn end(mut self) -> Page {
        self.page.next = Some(self.offset + self.page.rows.len() as u64);
        self.page
    }
}

/// Returns the length of a cell in JSON, with its comma.
fn size_of_cell(cell: &Value) -> u64 {
    match cell {
        Value::String(text) => text.len() as u64 + 3,
        Value::Null | Value::Bool(_) => 6,
        other => other.to_string().len() as u64 + 1,
    }
}

/// Results by the hash of their query and data, the newest last.
pub struct Kept<T> {
    results: Mutex<VecDeque<Entry<T>>>,
}

struct Entry<T> {
    key: String,
    bytes: usize,
    result: Arc<T>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { results: Mutex::default() }
    }
}

impl<T> Kept<T> {
    /// Returns a kept result.
    pub fn find(&self, key: &str) -> Option<Arc<T>> {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let at = results.iter().position(|entry| entry.key == key)?;
        let entry = results.remove(at)?;
        let result = entry.result.clone();
        results.push_back(entry);
        Some(result)
    }

    /// Removes a result.
    pub fn forget(&self, key: &str) {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.retain(|entry| entry.key != key);
    }

    /// Keeps a result. Older ones make room.
    pub fn keep(&self, key: String, result: Arc<T>, bytes: usize) {
        self.forget(&key);
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.push_back(Entry { key, bytes, result });
        let all = |results: &VecDeque<Entry<T>>| -> usize {
            results.iter().map(|entry| entry.bytes).sum()
        };
        while results.len() > 1 && (results.len() > MOST_KEPT || all(&results) > MOST_KEPT_BYTES) {
            results.pop_front();
        }
    }
}
