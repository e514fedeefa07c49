//! Stores rows as one Parquet file, and compares what was stored with what was read.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatchReader;
use contract::sources::{
    ColumnKind, ColumnSum, FoundColumn, ImportLimits, PART_FILE, PartRef, StoredColumn,
};

use crate::{
    DataError,
    duck::{Duck, Settings},
    link::Link,
    sql::{identifier, literal},
    stop::Stop,
};

/// The name of the folder for spilling, in the working folder.
const SCRATCH: &str = "scratch";
/// How many times the memory limit may be spilled.
const SPILL: u64 = 64;
/// The table with the rows.
const TABLE: &str = "rows";

/// The open database of an import.
pub struct Store {
    folder: PathBuf,
    duck: Duck,
    link: Link,
}

impl Store {
    /// Opens a database in memory, which spills rows into the working folder. A database in a file
    /// would compress its tables, which takes more time than all else here.
    pub fn open(folder: &Path, drivers: &Path, limits: &ImportLimits) -> Result<Self, DataError> {
        let scratch = folder.join(SCRATCH);
        std::fs::create_dir_all(&scratch).map_err(DataError::file("the working folder"))?;
        let duck = Duck::open(&Settings {
            drivers: drivers.to_owned(),
            folders: vec![folder.to_owned()],
            scratch,
            // The rest is for batches on their way, and for what the library does not count.
            memory_bytes: limits.memory_bytes / 4 * 3,
            spill_bytes: limits.memory_bytes.saturating_mul(SPILL),
            threads: limits.threads,
        })?;
        let link = duck.connect()?;
        Ok(Self { folder: folder.to_owned(), duck, link })
    }

    /// Loads rows into the table.
    pub fn load(&mut self, batches: Box<dyn RecordBatchReader + Send>) -> Result<(), DataError> {
        self.link.load(TABLE, batches)
    }

    /// Returns the connection, for readers of other formats.
    pub fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    /// Writes the rows of the table as a part. Fails if rows or sums are not those that were read.
    pub fn write_part(
        mut self,
        from: &str,
        columns: &[FoundColumn],
        rows: u64,
        sums: &[ColumnSum],
        stop: &Stop,
    ) -> Result<PartRef, DataError> {
        let path = self.folder.join(PART_FILE);
        let written = literal(&path.display().to_string());
        self.link.run_until(
            &format!(
                "COPY ({from}) TO {written} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880)"
            ),
            stop,
        )?;
        let table = format!("read_parquet({written})");
        compare(&mut self.link, &table, columns, rows, sums, stop)?;
        let stored = stored_columns(columns);
        self.close();
        let hash = hash_of(&path)?;
        Ok(PartRef { file: PART_FILE.to_owned(), rows, hash, columns: stored, without: Vec::new() })
    }

    /// Closes the database and removes what it spilled.
    pub fn close(self) {
        let folder = self.folder;
        drop(self.link);
        drop(self.duck);
        // The host deletes the whole working folder, so a file that is left is no fault.
        let _ = std::fs::remove_dir_all(folder.join(SCRATCH));
    }
}

/// The query of all rows of the table, in their order.
pub fn all_rows() -> String {
    format!("SELECT * FROM {TABLE}")
}

/// Returns the columns of a part.
pub fn stored_columns(columns: &[FoundColumn]) -> Vec<StoredColumn> {
    let stored = |column: &FoundColumn| StoredColumn {
        name: column.name.clone(),
        kind: column.kind,
        scale: if column.kind == ColumnKind::Decimal { column.scale } else { 0 },
        constant: None,
    };
    columns.iter().map(stored).collect()
}

fn compare(
    link: &mut Link,
    table: &str,
    columns: &[FoundColumn],
    rows: u64,
    sums: &[ColumnSum],
    stop: &Stop,
) -> Result<(), DataError> {
    let summed: Vec<&FoundColumn> =
        columns.iter().filter(|column| sums.iter().any(|sum| sum.column == column.name)).collect();
    let cells: String = summed
        .iter()
        .map(|column| format!(", CAST(coalesce(sum({}), 0) AS VARCHAR)", identifier(&column.name)))
        .collect();
    let found = link.row(&format!("SELECT CAST(count(*) AS VARCHAR){cells} FROM {table}"), stop)?;
    let cell = |at: usize| found.get(at).and_then(Option::as_deref).unwrap_or_default();
    if cell(0) != rows.to_string() {
        return Err(differs("rows", &rows.to_string(), cell(0)));
    }
    for (at, column) in summed.iter().enumerate() {
        let read: Option<i128> = sums
            .iter()
            .filter(|sum| sum.column == column.name)
            .try_fold(0_i128, |total, sum| total.checked_add(unscaled(&sum.sum, column.scale)?));
        let stored = unscaled(cell(at + 1), column.scale);
        if read.is_none() || read != stored {
            let read = read.map_or_else(|| "?".to_owned(), |sum| sum.to_string());
            return Err(differs(&column.name, &read, cell(at + 1)));
        }
    }
    Ok(())
}

fn differs(what: &str, read: &str, stored: &str) -> DataError {
    DataError::Engine(format!("{what}: {read} was read and {stored} stored"))
}

/// Returns a decimal number without its point, at a number of places. None if it has more places.
pub fn unscaled(digits: &str, scale: u8) -> Option<i128> {
    let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
    let places = places.trim_end_matches('0');
    let scale = usize::from(scale);
    if digits.is_empty() || places.len() > scale {
        return None;
    }
    format!("{whole}{places:0<scale$}").parse().ok()
}

fn hash_of(path: &Path) -> Result<String, DataError> {
    use sha2::{Digest as _, Sha256};
    use std::io::Read as _;
    let mut file = files::open(path).map_err(DataError::file("the part"))?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer).map_err(DataError::file("the part"))? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_compared_at_the_places_of_the_column() {
        assert_eq!(unscaled("1234.5", 2), Some(123_450));
        assert_eq!(unscaled("-0.50", 2), Some(-50));
        assert_eq!(unscaled("12", 0), Some(12));
        assert_eq!(unscaled("1.234", 2), None);
        assert_eq!(unscaled("1.2300", 2), Some(123));
        assert_eq!(unscaled("", 2), None);
    }
}
