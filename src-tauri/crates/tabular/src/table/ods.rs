//! Reads the sheets of an OpenDocument spreadsheet, cell by cell. Repeated cells and rows are written
//! in a few bytes, so that each is counted before it is kept.

use std::{
    collections::HashSet,
    io::{BufRead, BufReader, Read, Seek},
};

use calamine::SheetVisible;
use quick_xml::{
    Reader, XmlVersion,
    escape::resolve_xml_entity,
    events::{BytesStart, Event},
};
use zip::ZipArchive;

use super::{
    cells::{
        currency::Currency,
        unit::Unit,
        value::{Tag, is_error},
    },
    fault::TableError,
    sheet::Sheet,
    sheet_text::push_unit,
    xml::{attribute, count},
};
use crate::limits::{Limit, MAX_CELL, MAX_CELLS, MAX_COLUMNS, MAX_SHEETS};

/// The most rows of a sheet.
const MAX_ROWS: u32 = 1 << 20;
/// The beginnings of the names of attributes that are read.
const READ: [&str; 4] = ["office:", "table:", "style:", "calcext:"];

/// A sheet with its name and whether it is shown.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) visible: SheetVisible,
    pub(crate) sheet: Sheet,
    /// Merged cells: the first and last row, and the column.
    pub(crate) merged: Vec<(u32, u32, u32)>,
}

/// Reads all sheets.
pub(crate) fn read(file: impl Read + Seek) -> Result<Vec<Named>, TableError> {
    let failed = |error: zip::result::ZipError| TableError::Workbook(error.to_string());
    let mut archive = ZipArchive::new(file).map_err(failed)?;
    let content = archive.by_name("content.xml").map_err(failed)?;
    let mut document = Document { row_repeated: 1, ..Document::default() };
    document.read(BufReader::with_capacity(64 << 10, content))?;
    Ok(document.sheets)
}

/// A cell that is being read.
#[derive(Default)]
struct OpenCell {
    kind: String,
    value: Option<String>,
    text: String,
    paragraphs: usize,
    is_error: bool,
    has_formula: bool,
    /// The code of the currency that the cell shows.
    currency: Option<String>,
    repeated: u32,
    rows: u32,
    /// Elements of notes beside the cell, whose text is not that of the cell.
    notes: usize,
}

/// The part of a document that was read so far.
#[derive(Default)]
struct Document {
    sheets: Vec<Named>,
    /// The styles of sheets that are hidden.
    hidden: HashSet<String>,
    style: String,
    row: u32,
    row_repeated: u32,
    is_row_hidden: bool,
    column: u32,
    /// The number of the columns that were described so far.
    described: u32,
    /// The cells of the present row: their column, number of repetitions, tag and text.
    cells: Vec<(u32, u32, Tag, Vec<u8>)>,
    cell: Option<OpenCell>,
}

impl Document {
    fn read(&mut self, content: impl BufRead) -> Result<(), TableError> {
        let mut xml = Reader::from_reader(content);
        xml.config_mut().expand_empty_elements = true;
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            match xml.read_event_into(&mut buffer).map_err(damaged)? {
                Event::Eof => return Ok(()),
                Event::Start(start) => {
                    check_values(&start)?;
                    self.open(&start)?;
                }
                Event::End(end) => self.close(end.name().as_ref())?,
                Event::Text(text) => self.push_text(&text.xml10_content())?,
                Event::CData(text) => self.push_text(&text)?,
                Event::GeneralRef(entity) => {
                    let known = resolve_xml_entity(&entity).map(str::to_owned);
                    let sign = || entity.resolve_char_ref().ok().flatten().map(String::from);
                    let Some(text) = known.or_else(sign) else {
                        return Err(TableError::Workbook(format!("unknown entity &{};", &*entity)));
                    };
                    self.push_text(&text)?;
                }
                _ => {}
            }
        }
    }

    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), TableError> {
        match start.name().as_ref() {
            "style:style" => self.style = attribute(start, "style:name").unwrap_or_default(),
            "style:table-properties"
                if attribute(start, "table:display").as_deref() == Some("false") =>
            {
                self.hidden.insert(self.style.clone());
            }
            "table:table" => self.open_sheet(start)?,
            "table:table-row" => {
                self.row_repeated = count(start, "table:number-rows-repeated");
                self.is_row_hidden = is_hidden(start);
                (self.column, self.cells) = (0, Vec::new());
            }
            "table:table-cell" | "table:covered-table-cell" => {
                self.cell = Some(OpenCell::new(start));
            }
            "table:table-column" => self.describe_columns(start),
            "office:annotation" => self.change_notes(1),
            "text:p" => {
                let is_next = self.cell.as_mut().is_some_and(|cell| {
                    cell.paragraphs += usize::from(cell.notes == 0);
                    cell.paragraphs > 1
                });
                if is_next {
                    self.push_text("\n")?;
                }
            }
            "text:s" => {
                let spaces = count(start, "text:c").min(1000);
                self.push_text(&" ".repeat(usize::try_from(spaces).unwrap_or(1)))?;
            }
            "text:tab" => self.push_text("\t")?,
            "text:line-break" => self.push_text("\n")?,
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<(), TableError> {
        match name {
            "table:table-cell" | "table:covered-table-cell" => self.close_cell()?,
            "table:table-row" => self.close_row()?,
            "office:annotation" => self.change_notes(-1),
            _ => {}
        }
        Ok(())
    }

    fn open_sheet(&mut self, start: &BytesStart<'_>) -> Result<(), TableError> {
        if self.sheets.len() >= MAX_SHEETS {
            return Err(Limit::Sheets.into());
        }
        let style = attribute(start, "table:style-name").unwrap_or_default();
        let is_hidden = self.hidden.contains(&style);
        self.sheets.push(Named {
            name: attribute(start, "table:name").unwrap_or_default(),
            visible: if is_hidden { SheetVisible::Hidden } else { SheetVisible::Visible },
            sheet: Sheet::default(),
            merged: Vec::new(),
        });
        (self.row, self.described) = (0, 0);
        Ok(())
    }

    fn describe_columns(&mut self, start: &BytesStart<'_>) {
        let first = self.described;
        self.described = first.saturating_add(count(start, "table:number-columns-repeated"));
        let most = u32::try_from(MAX_COLUMNS).unwrap_or(u32::MAX);
        if is_hidden(start)
            && let Some(named) = self.sheets.last_mut()
        {
            for column in first..self.described.min(first.saturating_add(most)) {
                named.sheet.hide_column(column);
            }
        }
    }

    fn change_notes(&mut self, by: isize) {
        if let Some(cell) = &mut self.cell {
            cell.notes = cell.notes.saturating_add_signed(by);
        }
    }

    fn push_text(&mut self, text: &str) -> Result<(), TableError> {
        let Some(cell) = self.cell.as_mut().filter(|cell| cell.notes == 0 && cell.paragraphs > 0)
        else {
            return Ok(());
        };
        if cell.text.len() + text.len() > MAX_CELL {
            return Err(Limit::Cell.into());
        }
        cell.text.push_str(text);
        Ok(())
    }

    fn close_cell(&mut self) -> Result<(), TableError> {
        let Some(cell) = self.cell.take() else { return Ok(()) };
        let repeated = cell.repeated;
        if let Some((tag, text)) = cell.value() {
            let end = self.column.saturating_add(repeated);
            if usize::try_from(end).unwrap_or(usize::MAX) > 8 * MAX_COLUMNS {
                return Err(Limit::Columns.into());
            }
            if cell.rows > 1
                && let Some(sheet) = self.sheets.last_mut()
                && sheet.merged.len() < 1_000_000
            {
                let last = self.row.saturating_add(cell.rows - 1);
                sheet.merged.push((self.row, last, self.column));
            }
            self.cells.push((self.column, repeated, tag, text));
        }
        self.column = self.column.saturating_add(repeated);
        Ok(())
    }

    fn close_row(&mut self) -> Result<(), TableError> {
        let (first, repeated) = (self.row, self.row_repeated);
        self.row = self.row.saturating_add(repeated);
        let cells = std::mem::take(&mut self.cells);
        let Some(sheet) = self.sheets.last_mut().filter(|_| !cells.is_empty()) else {
            return Ok(());
        };
        let width: u64 = cells.iter().map(|(_, times, ..)| u64::from(*times)).sum();
        let more = usize::try_from(width.saturating_mul(u64::from(repeated))).unwrap_or(usize::MAX);
        if self.row > MAX_ROWS || sheet.sheet.size().0.saturating_add(more) > MAX_CELLS {
            return Err(Limit::Sheet.into());
        }
        for row in first..first + repeated {
            if self.is_row_hidden {
                sheet.sheet.hide_row(row);
            }
            for (column, times, tag, text) in &cells {
                for column in *column..*column + *times {
                    sheet.sheet.add((row, column), *tag, |out| {
                        out.extend_from_slice(text);
                        *tag
                    })?;
                }
            }
        }
        Ok(())
    }
}

impl OpenCell {
    fn new(start: &BytesStart<'_>) -> Self {
        let of = |name: &str| attribute(start, name);
        Self {
            kind: of("office:value-type").unwrap_or_default(),
            value: of("office:value")
                .or_else(|| of("office:date-value"))
                .or_else(|| of("office:boolean-value"))
                .or_else(|| of("office:string-value").filter(|text| !text.is_empty())),
            is_error: of("calcext:value-type").is_some_and(|kind| kind == "error"),
            has_formula: of("table:formula").is_some(),
            currency: of("office:currency"),
            repeated: count(start, "table:number-columns-repeated"),
            rows: count(start, "table:number-rows-spanned"),
            ..Self::default()
        }
    }

    /// Returns what is kept of the cell. None if it is empty.
    fn value(&self) -> Option<(Tag, Vec<u8>)> {
        let text = || self.text.trim().as_bytes().to_vec();
        let value = || self.value.clone().unwrap_or_default().into_bytes();
        let shows_error = is_error(self.text.as_bytes()) || self.text.starts_with("Err:");
        if self.is_error || (self.has_formula && shows_error) {
            return Some((Tag::Error, text()));
        }
        match self.kind.as_str() {
            "float" | "percentage" | "currency" => self.number(),
            "date" => {
                let moment = value();
                let day = moment.strip_suffix(b"T00:00:00").map(<[u8]>::to_vec);
                Some((Tag::Moment, day.unwrap_or(moment)))
            }
            "boolean" => Some((Tag::Plain, value())),
            _ if !self.text.trim().is_empty() => Some((Tag::Plain, text())),
            _ if self.value.is_some() => Some((Tag::Plain, value())),
            "" if self.has_formula => Some((Tag::NoValue, Vec::new())),
            _ => None,
        }
    }

    /// Returns the number of the cell, with the unit that its format shows.
    fn number(&self) -> Option<(Tag, Vec<u8>)> {
        let stored = self.value.clone().unwrap_or_default();
        let Ok(number) = stored.trim().parse::<f64>() else {
            let shown = self.text.trim();
            return match (shown.is_empty(), self.has_formula) {
                (_, true) => Some((Tag::NoValue, Vec::new())),
                (false, false) => Some((Tag::Plain, shown.as_bytes().to_vec())),
                (true, false) => None,
            };
        };
        let unit = match self.kind.as_str() {
            "percentage" => Some(Unit::Percent),
            "currency" => self.shown_currency().map(Unit::Currency),
            _ => None,
        };
        let mut text = Vec::new();
        match unit {
            Some(_) => push_unit(&mut text, number, unit),
            None => {
                text.extend_from_slice(stored.trim().as_bytes());
                Tag::Number
            }
        };
        Some((Tag::Number, text))
    }

    /// Returns the currency that the cell states, or that its text shows.
    fn shown_currency(&self) -> Option<Currency> {
        let stated = self.currency.as_deref().and_then(Currency::from_name);
        stated.or_else(|| {
            let is_of_number = |c: char| {
                c.is_ascii_digit() || c.is_whitespace() || matches!(c, '.' | ',' | '-' | '(' | ')')
            };
            Currency::from_sign(self.text.trim_matches(is_of_number))
        })
    }
}

fn damaged(error: quick_xml::Error) -> TableError {
    TableError::Workbook(error.to_string())
}

/// Refuses an element whose values name an entity that is not one of XML, or are too long: a value
/// that is left out would change the cell.
fn check_values(start: &BytesStart<'_>) -> Result<(), TableError> {
    let values = start.attributes_raw();
    if values.len() <= MAX_CELL && !values.contains('&') {
        return Ok(());
    }
    for attribute in start.attributes().with_checks(false).flatten() {
        let key: &str = attribute.key.as_ref();
        if READ.iter().any(|prefix| key.starts_with(prefix)) {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(damaged)?;
            if value.len() > MAX_CELL {
                return Err(Limit::Cell.into());
            }
        }
    }
    Ok(())
}

/// Whether a row or column is hidden by hand or by a filter.
fn is_hidden(start: &BytesStart<'_>) -> bool {
    let visibility = attribute(start, "table:visibility");
    visibility.is_some_and(|visibility| visibility == "collapse" || visibility == "filter")
}
