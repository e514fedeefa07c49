//! Reads the sheets of a workbook: XLSX, XLS and ODS. This module must not know the meaning of
//! cells.

use std::{
    collections::HashMap,
    fs::File,
    io::{BufRead, BufReader, Cursor, Read, Seek},
};

use calamine::{
    Data, DataRef, Dimensions, Range, Reader, SheetType, Xls, XlsError, Xlsx, XlsxError,
};
use contract::sources::SheetFound;

use super::{
    cells::value::Tag,
    content::{Content, Kind},
    fault::{TableError, Unreadable},
    ods,
    once::{Once, Parts},
    sheet::Sheet,
    sheet_text::{push_data, push_value},
    unpacked,
    xls_marks::{self, SheetMarks},
    xlsx_marks::BookMarks,
};
use crate::limits::{Limit, MAX_CELLS, MAX_SHEETS, MAX_UNPACKED};

/// Reads all sheets of a workbook.
pub(crate) fn read_sheets(
    content: &Content,
    file: &File,
) -> Result<(Vec<Sheet>, Vec<SheetFound>), TableError> {
    if content.is_plain() {
        return read_book(content.kind, || {
            let mut file = file;
            file.rewind()?;
            Ok(BufReader::new(file))
        });
    }
    let bytes = content.unpack_book(file)?;
    read_book(content.kind, || Ok(Cursor::new(bytes.as_slice())))
}

fn read_book<R: BufRead + Seek>(
    kind: Kind,
    open: impl Fn() -> Result<R, TableError>,
) -> Result<(Vec<Sheet>, Vec<SheetFound>), TableError> {
    match kind {
        Kind::Xls => read_xls(open()?),
        Kind::Ods => read_ods(open()?, open()?),
        Kind::Xlsx | Kind::Text => read_xlsx(open),
    }
}

fn failed(error: impl std::fmt::Display) -> TableError {
    TableError::Workbook(error.to_string())
}

fn read_xlsx<R: BufRead + Seek>(
    open: impl Fn() -> Result<R, TableError>,
) -> Result<(Vec<Sheet>, Vec<SheetFound>), TableError> {
    let checked = unpacked::check(open()?)?;
    let mut marks = BookMarks::read(open()?, checked.has_hidden)?;
    let (file, parts) = Once::new(open()?);
    let mut book: Xlsx<Once<R>> = Xlsx::new(file).map_err(xlsx_error)?;
    let mut merged_book: Option<Xlsx<Once<R>>> = None;
    if checked.has_merged {
        merged_book = Some(Xlsx::new(Once::new(open()?).0).map_err(xlsx_error)?);
    }
    let listed = book.sheets_metadata().to_vec();
    if listed.len() > MAX_SHEETS {
        return Err(Limit::Sheets.into());
    }
    parts.start();
    let mut limits = Total::default();
    let (mut sheets, mut found) = (Vec::new(), Vec::new());
    for listed in listed.iter().filter(|listed| listed.typ == SheetType::WorkSheet) {
        let mut sheet = read_xlsx_sheet(&mut book, &parts, &listed.name, &mut marks)?;
        if let Some(book) = &mut merged_book
            && !sheet.is_empty()
        {
            let merged = book.merge_cells_by_sheet_name(&listed.name).map_err(xlsx_error)?;
            sheet.finish()?;
            sheet.repeat_merged(&merged)?;
        }
        sheet.finish()?;
        limits.count(&sheet)?;
        found.push(sheet.describe(&listed.name, listed.visible));
        sheets.push(sheet);
    }
    Ok((sheets, found))
}

fn xlsx_error(error: XlsxError) -> TableError {
    match error {
        XlsxError::Password => TableError::Unreadable(Unreadable::Password),
        error => failed(error),
    }
}

fn read_xlsx_sheet<R: BufRead + Seek>(
    book: &mut Xlsx<Once<R>>,
    parts: &Parts,
    name: &str,
    marks: &mut BookMarks<impl BufRead + Seek>,
) -> Result<Sheet, TableError> {
    let mut sheet = Sheet::default();
    let is_uncomputed = marks.is_uncomputed;
    let mut units = marks.read_sheet(name, &mut sheet)?;
    let mut formulas = Formulas::default();
    let mut reader = match book.worksheet_cells_reader(name) {
        // A sheet of a chart has no cells.
        Err(XlsxError::NotAWorksheet(_)) => return Ok(sheet),
        // The part of this sheet was already read for another sheet.
        Err(_) if parts.is_again() => return Ok(sheet),
        reader => reader.map_err(xlsx_error)?,
    };
    while let Some(cell) = reader.next_cell_with_formula_metadata().map_err(xlsx_error)? {
        let unit = units.next();
        if cell.formula.is_some() {
            formulas.see(cell.pos, is_zero(&cell.value));
        }
        if cell.formula.is_some() && matches!(cell.value, DataRef::Empty) {
            sheet.add(cell.pos, Tag::NoValue, |_| Tag::NoValue)?;
        } else {
            sheet.add(cell.pos, Tag::Plain, |text| push_value(text, &cell.value, unit))?;
        }
    }
    if is_uncomputed {
        formulas.judge(&mut sheet);
    }
    Ok(sheet)
}

fn is_zero(value: &DataRef<'_>) -> bool {
    match value {
        DataRef::Int(number) => *number == 0,
        DataRef::Float(number) => *number == 0.0,
        DataRef::Empty => true,
        _ => false,
    }
}

/// The formulas of a sheet that has values only if a program computed them. Programs that write
/// workbooks without computing them write 0.
#[derive(Default)]
struct Formulas {
    count: u64,
    zeros: Vec<(u32, u32)>,
}

impl Formulas {
    fn see(&mut self, place: (u32, u32), is_zero: bool) {
        self.count += 1;
        if is_zero {
            self.zeros.push(place);
        }
    }

    /// Takes the zeros for missing values if no formula has another value.
    fn judge(&self, sheet: &mut Sheet) {
        if self.count == 0 {
            return;
        }
        if self.zeros.len() as u64 == self.count {
            sheet.forget_values(&self.zeros);
        } else {
            sheet.zero_formulas = self.zeros.len() as u64;
        }
    }
}

fn read_xls(mut file: impl Read + Seek) -> Result<(Vec<Sheet>, Vec<SheetFound>), TableError> {
    let mut bytes = Vec::new();
    file.by_ref().take(MAX_UNPACKED).read_to_end(&mut bytes)?;
    let mut book: Xls<_> =
        Xls::new(Cursor::new(bytes.as_slice())).map_err(|error| match error {
            XlsError::Password => TableError::Unreadable(Unreadable::Password),
            error => failed(error),
        })?;
    let merged =
        |book: &Xls<_>, name: &str| book.merge_cells_by_sheet_name(name).unwrap_or_default();
    read_ranges(&mut book, &xls_marks::read(&bytes), merged)
}

fn read_ods(
    file: impl Read + Seek,
    again: impl Read + Seek,
) -> Result<(Vec<Sheet>, Vec<SheetFound>), TableError> {
    unpacked::check(again)?;
    let mut limits = Total::default();
    let (mut sheets, mut found) = (Vec::new(), Vec::new());
    for mut named in ods::read(file)? {
        let merged: Vec<Dimensions> = named
            .merged
            .iter()
            .map(|(first, last, column)| Dimensions::new((*first, *column), (*last, *column)))
            .collect();
        named.sheet.finish()?;
        named.sheet.repeat_merged(&merged)?;
        named.sheet.finish()?;
        limits.count(&named.sheet)?;
        found.push(named.sheet.describe(&named.name, named.visible));
        sheets.push(named.sheet);
    }
    Ok((sheets, found))
}

fn read_ranges<F: Read + Seek, B: Reader<F>>(
    book: &mut B,
    marks: &HashMap<String, SheetMarks>,
    merged: impl Fn(&B, &str) -> Vec<Dimensions>,
) -> Result<(Vec<Sheet>, Vec<SheetFound>), TableError> {
    let listed = book.sheets_metadata().to_vec();
    if listed.len() > MAX_SHEETS {
        return Err(Limit::Sheets.into());
    }
    let mut limits = Total::default();
    let (mut sheets, mut found) = (Vec::new(), Vec::new());
    for listed in listed.iter().filter(|listed| listed.typ == SheetType::WorkSheet) {
        let error = |error: B::Error| TableError::Workbook(format!("{error:?}"));
        let range = book.worksheet_range(&listed.name).map_err(error)?;
        let formulas = book.worksheet_formula(&listed.name).unwrap_or_default();
        let mut sheet = Sheet::default();
        let marks = marks.get(&listed.name);
        if let Some(marks) = marks {
            marks.hide(&mut sheet);
        }
        add_range(&mut sheet, &range, &formulas, marks)?;
        sheet.finish()?;
        sheet.repeat_merged(&merged(book, &listed.name))?;
        sheet.finish()?;
        limits.count(&sheet)?;
        found.push(sheet.describe(&listed.name, listed.visible));
        sheets.push(sheet);
    }
    Ok((sheets, found))
}

/// The total size of all sheets of a workbook.
#[derive(Default)]
struct Total {
    cells: usize,
    text: usize,
}

impl Total {
    fn count(&mut self, sheet: &Sheet) -> Result<(), TableError> {
        let (cells, text) = sheet.size();
        self.cells += cells;
        self.text += text;
        let most = usize::try_from(MAX_UNPACKED).unwrap_or(usize::MAX);
        if self.cells > 2 * MAX_CELLS || self.text > most {
            Err(Limit::Sheet.into())
        } else {
            Ok(())
        }
    }
}

/// Adds the cells of a sheet that a reader returns as a whole range.
fn add_range(
    sheet: &mut Sheet,
    range: &Range<Data>,
    formulas: &Range<String>,
    marks: Option<&SheetMarks>,
) -> Result<(), TableError> {
    let (top, left) = range.start().unwrap_or_default();
    for (row, column, value) in range.used_cells() {
        let place = (top + place(row), left + place(column));
        let unit = marks.and_then(|marks| marks.unit(place));
        sheet.add(place, Tag::Plain, |text| push_data(text, value, unit))?;
    }
    let (top, left) = formulas.start().unwrap_or_default();
    let places = || {
        let cells = formulas.used_cells().filter(|(.., formula)| !formula.is_empty());
        cells.map(|(row, column, _)| (top + place(row), left + place(column)))
    };
    let is_blank = |at: &(u32, u32)| match range.get_value(*at) {
        None | Some(Data::Empty) => true,
        Some(Data::String(text)) => text.is_empty(),
        Some(_) => false,
    };
    // An empty text can be the result of a formula, but not if all formulas have none.
    let are_uncomputed = places().all(|at| is_blank(&at));
    for at in places().filter(|at| is_blank(at)) {
        if are_uncomputed || matches!(range.get_value(at), None | Some(Data::Empty)) {
            sheet.add(at, Tag::NoValue, |_| Tag::NoValue)?;
        }
    }
    let is_zero = |at: &(u32, u32)| matches!(range.get_value(*at), Some(Data::Float(number)) if *number == 0.0);
    let zeros = places().filter(is_zero).count();
    if zeros > 1 && zeros == places().count() {
        sheet.zero_formulas = zeros as u64;
    }
    Ok(())
}

fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
