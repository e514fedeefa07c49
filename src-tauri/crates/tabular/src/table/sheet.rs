//! The cells of one sheet of a workbook, and its rows as records. Only cells with a value are kept, so
//! that memory follows what is in a sheet and not how far apart it is. Must not know how workbooks
//! are written.

use std::collections::HashSet;

use calamine::{Dimensions, SheetVisible};
use contract::sources::SheetFound;

use super::{
    cells::value::Tag,
    fault::TableError,
    records::{Record, Records, Span},
};
use crate::limits::{Limit, MAX_AREA, MAX_CELL, MAX_CELLS, MAX_COLUMNS, MAX_TEXT};

/// The cells of a sheet, by row and column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sheet {
    text: Vec<u8>,
    cells: Vec<Cell>,
    first_column: u32,
    width: usize,
    /// Cells that repeat the text of merged cells above.
    pub(crate) repeated: u64,
    /// Merged cells with a number, which is not repeated.
    pub(crate) merged_numbers: u64,
    /// Formulas whose value is 0 although a program that opens the workbook must compute it.
    pub(crate) zero_formulas: u64,
    /// The rows that the sheet hides, by a filter or by hand.
    hidden_rows: Vec<u32>,
    hidden_columns: Vec<u32>,
}

/// Where a cell is, and where its text is in the text of the sheet.
#[derive(Clone, Copy, Debug)]
struct Cell {
    row: u32,
    column: u32,
    start: u32,
    length: u32,
    tag: Tag,
}

impl Sheet {
    /// Adds a cell whose text `push` writes. A cell without a text is left out, unless it is a
    /// formula without a value.
    pub(crate) fn add(
        &mut self,
        (row, column): (u32, u32),
        tag: Tag,
        push: impl FnOnce(&mut Vec<u8>) -> Tag,
    ) -> Result<(), TableError> {
        let start = self.text.len();
        let pushed = push(&mut self.text);
        let length = self.text.len() - start;
        if length == 0 && tag != Tag::NoValue {
            return Ok(());
        }
        if length > MAX_CELL {
            return Err(Limit::Cell.into());
        }
        if self.text.len() > MAX_TEXT || self.cells.len() >= MAX_CELLS {
            return Err(Limit::Sheet.into());
        }
        let (start, length) = (place(start), place(length));
        self.cells.push(Cell { row, column, start, length, tag: pushed });
        Ok(())
    }

    /// Puts the cells in order, and finds the columns. Of two cells in one place the last one
    /// counts.
    pub(crate) fn finish(&mut self) -> Result<(), TableError> {
        let key = |cell: &Cell| (cell.row, cell.column);
        if !self.cells.is_sorted_by(|a, b| key(a) < key(b)) {
            self.cells.sort_by_key(key);
            self.cells.dedup_by(|later, earlier| {
                let is_same = key(later) == key(earlier);
                if is_same {
                    *earlier = *later;
                }
                is_same
            });
        }
        self.hidden_rows.sort_unstable();
        let columns = || self.cells.iter().map(|cell| cell.column);
        let (Some(first), Some(last)) = (columns().min(), columns().max()) else { return Ok(()) };
        let width = usize::try_from(last - first).unwrap_or(usize::MAX).saturating_add(1);
        if width > MAX_COLUMNS {
            return Err(Limit::Columns.into());
        }
        if self.count_rows() * width > MAX_AREA {
            return Err(Limit::Sheet.into());
        }
        (self.first_column, self.width) = (first, width);
        Ok(())
    }

    /// Hides a row.
    pub(crate) fn hide_row(&mut self, row: u32) {
        self.hidden_rows.push(row);
    }

    /// Hides a column.
    pub(crate) fn hide_column(&mut self, column: u32) {
        self.hidden_columns.push(column);
    }

    /// Whether a column of the table is hidden.
    pub(crate) fn hides_column(&self, at: usize) -> bool {
        let column = u32::try_from(at).ok().and_then(|at| self.first_column.checked_add(at));
        column.is_some_and(|column| self.hidden_columns.contains(&column))
    }

    /// Forgets the values of formulas that no program computed.
    pub(crate) fn forget_values(&mut self, places: &[(u32, u32)]) {
        let places: HashSet<&(u32, u32)> = places.iter().collect();
        for cell in &mut self.cells {
            if places.contains(&(cell.row, cell.column)) {
                (cell.length, cell.tag) = (0, Tag::NoValue);
            }
        }
    }

    /// Whether the sheet has no cells.
    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Returns the number of cells, and the bytes of their text.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.cells.len(), self.text.len())
    }

    fn count_rows(&self) -> usize {
        self.cells.chunk_by(|a, b| a.row == b.row).count()
    }

    /// Repeats the texts and days of merged cells in the rows that they cover. Numbers are not
    /// repeated, because they would be added several times.
    pub(crate) fn repeat_merged(&mut self, merged: &[Dimensions]) -> Result<(), TableError> {
        let rows: Vec<u32> =
            self.cells.chunk_by(|a, b| a.row == b.row).map(|row| row[0].row).collect();
        let mut more = Vec::new();
        for area in merged.iter().filter(|area| area.end.0 > area.start.0) {
            let at = self.cells.binary_search_by_key(&area.start, |cell| (cell.row, cell.column));
            let Ok(anchor) = at.map(|at| self.cells[at]) else { continue };
            if !matches!(anchor.tag, Tag::Plain | Tag::Moment) {
                self.merged_numbers += 1;
                continue;
            }
            let from = rows.partition_point(|row| *row <= area.start.0);
            for row in rows[from..].iter().take_while(|row| **row <= area.end.0) {
                if more.len() + self.cells.len() >= MAX_CELLS {
                    return Err(Limit::Sheet.into());
                }
                more.push(Cell { row: *row, ..anchor });
            }
        }
        self.repeated = more.len() as u64;
        self.cells.extend(more);
        Ok(())
    }

    pub(crate) fn describe(&self, name: &str, visible: SheetVisible) -> SheetFound {
        SheetFound {
            name: name.to_owned(),
            rows: self.count_rows() as u64,
            is_hidden: visible != SheetVisible::Visible,
            is_read: false,
        }
    }
}

fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The rows of sheets, one after another.
pub(crate) struct SheetRecords<'s> {
    sheets: Vec<&'s Sheet>,
    sheet: usize,
    next: usize,
    spans: Vec<Span>,
    bytes: u64,
}

impl<'s> SheetRecords<'s> {
    /// Opens the sheets that are read.
    pub(crate) fn new(sheets: &'s [Sheet], found: &[SheetFound]) -> Self {
        let read = sheets.iter().zip(found).filter(|(_, found)| found.is_read);
        let sheets = read.map(|(sheet, _)| sheet).collect();
        Self { sheets, sheet: 0, next: 0, spans: Vec::new(), bytes: 0 }
    }

    /// Opens one sheet.
    pub(crate) fn of(sheet: &'s Sheet) -> Self {
        Self { sheets: vec![sheet], sheet: 0, next: 0, spans: Vec::new(), bytes: 0 }
    }
}

impl Records for SheetRecords<'_> {
    fn next(&mut self) -> Result<Option<Record<'_>>, TableError> {
        let (sheet, first) = loop {
            let Some(sheet) = self.sheets.get(self.sheet) else { return Ok(None) };
            match sheet.cells.get(self.next) {
                Some(first) => break (*sheet, *first),
                None => (self.sheet, self.next) = (self.sheet + 1, 0),
            }
        };
        self.spans.clear();
        self.spans.resize(sheet.width, Span::default());
        for cell in sheet.cells[self.next..].iter().take_while(|cell| cell.row == first.row) {
            let at = usize::try_from(cell.column - sheet.first_column).unwrap_or(usize::MAX);
            if let Some(span) = self.spans.get_mut(at) {
                *span = Span { start: cell.start, end: cell.start + cell.length, tag: cell.tag };
            }
            self.next += 1;
            self.bytes += u64::from(cell.length);
        }
        Ok(Some(Record {
            line: u64::from(first.row) + 1,
            sheet: self.sheet,
            bytes: &sheet.text,
            spans: &self.spans,
            fault: None,
            is_hidden: sheet.hidden_rows.binary_search(&first.row).is_ok(),
            is_text: false,
        }))
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_cells_has_a_bound() {
        let cell = Cell { row: 0, column: 0, start: 0, length: 1, tag: Tag::Plain };
        let mut sheet = Sheet { cells: vec![cell; MAX_CELLS], ..Sheet::default() };
        let more = sheet.add((1, 0), Tag::Plain, |text| {
            text.push(b'1');
            Tag::Plain
        });
        assert!(matches!(more, Err(TableError::Limit(Limit::Sheet))), "{more:?}");
    }
}
