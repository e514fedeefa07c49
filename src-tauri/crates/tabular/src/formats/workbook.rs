//! Reads the first sheet of a workbook that is not empty. Only cells with text are kept, so that
//! memory follows what is in a sheet and not how far apart it is.

use std::{
    fs::File,
    io::{BufReader, Seek as _},
    sync::Arc,
};

use calamine::{DataRef, Reader as _, Xlsx, XlsxError};
use csv::StringRecord;

use super::{
    once::{Once, Parts},
    unpacked,
};
use crate::{
    fault::TableError,
    limits::{Limit, MAX_AREA, MAX_CELL, MAX_CELLS, MAX_COLUMNS, MAX_SHEETS, MAX_TEXT},
};

type Workbook = Xlsx<Once<BufReader<File>>>;

/// The cells of a sheet that have text, by row and column.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    text: String,
    cells: Vec<Cell>,
    first_column: u32,
    width: usize,
}

/// Where a cell is, and where its text is in the text of the sheet.
#[derive(Clone, Copy, Debug)]
struct Cell {
    row: u32,
    column: u32,
    start: u32,
    length: u32,
}

impl From<XlsxError> for TableError {
    fn from(error: XlsxError) -> Self {
        Self::Workbook(error.to_string())
    }
}

impl Sheet {
    /// Reads the first sheet that is not empty.
    pub(crate) fn read_first(file: File) -> Result<Arc<Self>, TableError> {
        unpacked::check(&file)?;
        (&file).rewind()?;
        let (file, parts) = Once::new(BufReader::new(file));
        let mut book: Workbook = Xlsx::new(file)?;
        let names = book.sheet_names();
        if names.len() > MAX_SHEETS {
            return Err(Limit::Sheets.into());
        }
        parts.start();
        for name in names {
            let sheet = Self::read(&mut book, &parts, &name)?;
            if !sheet.cells.is_empty() {
                return Ok(Arc::new(sheet));
            }
        }
        Err(TableError::Empty)
    }

    fn read(book: &mut Workbook, parts: &Parts, name: &str) -> Result<Self, TableError> {
        let mut sheet = Self::default();
        let mut reader = match book.worksheet_cells_reader(name) {
            // A sheet of a chart has no cells.
            Err(XlsxError::NotAWorksheet(_)) => return Ok(sheet),
            // The part was read for another sheet, and has none either.
            Err(_) if parts.is_again() => return Ok(sheet),
            reader => reader?,
        };
        while let Some(cell) = reader.next_cell()? {
            sheet.add(cell.get_position(), cell.get_value())?;
        }
        sheet.finish()
    }

    fn add(&mut self, (row, column): (u32, u32), value: &DataRef<'_>) -> Result<(), TableError> {
        let start = self.text.len();
        push_text(&mut self.text, value);
        let length = self.text.len() - start;
        if length == 0 {
            return Ok(());
        }
        if length > MAX_CELL {
            return Err(Limit::Cell.into());
        }
        if self.text.len() > MAX_TEXT || self.cells.len() >= MAX_CELLS {
            return Err(Limit::Sheet.into());
        }
        let (Ok(start), Ok(length)) = (u32::try_from(start), u32::try_from(length)) else {
            return Err(Limit::Sheet.into());
        };
        self.cells.push(Cell { row, column, start, length });
        Ok(())
    }

    /// Puts the cells in order, and finds the columns. Of two cells in one place the last one
    /// counts.
    fn finish(mut self) -> Result<Self, TableError> {
        let place = |cell: &Cell| (cell.row, cell.column);
        if !self.cells.is_sorted_by(|a, b| place(a) < place(b)) {
            self.cells.sort_by_key(place);
            self.cells.dedup_by(|later, earlier| {
                let is_same = place(later) == place(earlier);
                if is_same {
                    *earlier = *later;
                }
                is_same
            });
        }
        let columns = || self.cells.iter().map(|cell| cell.column);
        let (Some(first), Some(last)) = (columns().min(), columns().max()) else { return Ok(self) };
        let width = usize::try_from(last - first).unwrap_or(usize::MAX).saturating_add(1);
        if width > MAX_COLUMNS {
            return Err(Limit::Columns.into());
        }
        let rows = self.cells.chunk_by(|a, b| a.row == b.row).count();
        if rows * width > MAX_AREA {
            return Err(Limit::Sheet.into());
        }
        (self.first_column, self.width) = (first, width);
        Ok(self)
    }

    /// Writes the row that begins at the cell `next`, and moves `next` to the row after it. Returns
    /// the row's line. Rows without text are left out.
    pub(crate) fn read_row(&self, next: &mut usize, record: &mut StringRecord) -> Option<u64> {
        let rest = self.cells.get(*next..).unwrap_or_default();
        let row = rest.first()?.row;
        record.clear();
        let mut column = self.first_column;
        for cell in rest.iter().take_while(|cell| cell.row == row) {
            (column..cell.column).for_each(|_| record.push_field(""));
            record.push_field(self.text_of(*cell));
            column = cell.column + 1;
            *next += 1;
        }
        (record.len()..self.width).for_each(|_| record.push_field(""));
        Some(u64::from(row) + 1)
    }

    fn text_of(&self, cell: Cell) -> &str {
        let (start, length) = (cell.start as usize, cell.length as usize);
        self.text.get(start..start + length).unwrap_or_default()
    }
}

/// Writes a cell as text: days as ISO dates, numbers with a decimal point.
fn push_text(text: &mut String, value: &DataRef<'_>) {
    match value {
        DataRef::String(value) | DataRef::DateTimeIso(value) | DataRef::DurationIso(value) => {
            text.push_str(value);
        }
        DataRef::SharedString(value) => text.push_str(value),
        DataRef::DateTime(moment) => {
            let (year, month, day, hour, minute, ..) = moment.to_ymd_hms_milli();
            text.push_str(&format!("{year:04}-{month:02}-{day:02}"));
            if (hour, minute) != (0, 0) {
                text.push_str(&format!(" {hour:02}:{minute:02}"));
            }
        }
        DataRef::Int(number) => text.push_str(&number.to_string()),
        DataRef::Float(number) => text.push_str(&number.to_string()),
        DataRef::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        DataRef::Empty | DataRef::Error(_) => {}
        #[allow(unreachable_patterns, reason = "kinds of cells that a later version may add")]
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_cells_has_a_bound() {
        let cell = Cell { row: 0, column: 0, start: 0, length: 1 };
        let mut sheet = Sheet { cells: vec![cell; MAX_CELLS], ..Sheet::default() };
        let more = sheet.add((1, 0), &DataRef::Int(1));
        assert!(matches!(more, Err(TableError::Limit(Limit::Sheet))), "{more:?}");
    }
}
