//! The marks of an XLSX workbook beside the values of its cells: hidden rows and columns, the
//! currencies of number formats, and whether its formulas were never computed. Must not know the
//! values.

use std::{
    collections::{HashMap, HashSet},
    io::{BufReader, Read, Seek},
};

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};
use zip::ZipArchive;

use super::{
    cells::unit::Unit,
    fault::TableError,
    sheet::Sheet,
    xml::{attribute, attribute_without_prefix, is_set},
};
use crate::limits::{Limit, MAX_CELLS, MAX_COLUMNS};

const BUFFER: usize = 64 << 10;

/// The most formats of cells.
const MAX_FORMATS: usize = 100_000;

/// The marks of a workbook.
pub(crate) struct BookMarks<R: Read + Seek> {
    archive: ZipArchive<R>,
    /// The parts of sheets, by the names of the sheets.
    parts: HashMap<String, String>,
    /// The parts that were read. No part is read twice.
    read: HashSet<String>,
    /// The unit of each format of cells.
    units: Vec<Option<Unit>>,
    /// Whether values of formulas must be computed by the program that opens the workbook.
    pub(crate) is_uncomputed: bool,
    /// Whether rows, columns or names are hidden.
    has_hidden: bool,
}

fn failed(error: impl std::fmt::Display) -> TableError {
    TableError::Workbook(error.to_string())
}

impl<R: Read + Seek> BookMarks<R> {
    /// Reads the list of the sheets and the formats.
    pub(crate) fn read(file: R, has_hidden: bool) -> Result<Self, TableError> {
        let mut marks = Self {
            archive: ZipArchive::new(file).map_err(failed)?,
            parts: HashMap::new(),
            read: HashSet::new(),
            units: Vec::new(),
            is_uncomputed: false,
            has_hidden,
        };
        let mut targets: HashMap<String, String> = HashMap::new();
        marks.each("xl/_rels/workbook.xml.rels", |start| {
            let id = attribute(start, "Id");
            let target = attribute(start, "Target").map(|target| part_of(&target));
            targets.extend(id.zip(target));
        })?;
        let (mut sheets, mut is_uncomputed) = (Vec::new(), false);
        marks.each("xl/workbook.xml", |start| match start.local_name().as_ref() {
            "sheet" => {
                let id = attribute(start, "r:id").or_else(|| attribute_without_prefix(start, "id"));
                sheets.extend(attribute(start, "name").zip(id));
            }
            "calcPr" => is_uncomputed = is_set(start, "fullCalcOnLoad"),
            _ => {}
        })?;
        marks.is_uncomputed = is_uncomputed;
        let named = sheets.into_iter();
        let named = named.filter_map(|(name, id)| Some((name, targets.get(&id)?.clone())));
        marks.parts = named.collect();
        marks.read_formats()?;
        Ok(marks)
    }

    fn read_formats(&mut self) -> Result<(), TableError> {
        let mut own: HashMap<u32, Option<Unit>> = HashMap::new();
        let (mut units, mut is_in_cells) = (Vec::new(), false);
        self.each("xl/styles.xml", |start| {
            let number = |name: &str| attribute(start, name).and_then(|id| id.parse::<u32>().ok());
            match start.local_name().as_ref() {
                "numFmt" => {
                    let format = attribute(start, "formatCode").unwrap_or_default();
                    own.extend(number("numFmtId").map(|id| (id, Unit::of_format(&format))));
                }
                "cellXfs" => is_in_cells = true,
                "cellStyles" | "dxfs" | "cellStyleXfs" => is_in_cells = false,
                "xf" if is_in_cells && units.len() < MAX_FORMATS => {
                    let id = number("numFmtId").unwrap_or(0);
                    units.push(own.get(&id).copied().unwrap_or_else(|| Unit::of_number(id)));
                }
                _ => {}
            }
        })?;
        self.units = units;
        Ok(())
    }

    /// Calls a function with each element of a part. A part that is not there has none.
    fn each(&mut self, part: &str, mut see: impl FnMut(&BytesStart<'_>)) -> Result<(), TableError> {
        let Some(name) = find_name(&self.archive, part) else { return Ok(()) };
        let part = self.archive.by_name(&name).map_err(failed)?;
        let mut xml = Reader::from_reader(BufReader::with_capacity(BUFFER, part));
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            match xml.read_event_into(&mut buffer).map_err(failed)? {
                Event::Eof => return Ok(()),
                Event::Start(start) | Event::Empty(start) => see(&start),
                _ => {}
            }
        }
    }

    /// Reads the marks of a sheet to their end, because its values are read from the same file.
    /// Hides rows and columns of the sheet. Returns the units of its cells.
    pub(crate) fn read_sheet(
        &mut self,
        name: &str,
        sheet: &mut Sheet,
    ) -> Result<CellUnits, TableError> {
        let mut found = CellUnits::default();
        let has_units = self.units.iter().any(Option::is_some);
        let Some(part) = self.parts.get(name).filter(|_| has_units || self.has_hidden) else {
            return Ok(found);
        };
        let Some(part) = find_name(&self.archive, part) else { return Ok(found) };
        if !self.read.insert(part.clone()) {
            return Ok(found);
        }
        let part = self.archive.by_name(&part).map_err(failed)?;
        let mut xml = Reader::from_reader(BufReader::with_capacity(BUFFER, part));
        let (mut buffer, mut next_row) = (Vec::new(), 0);
        loop {
            buffer.clear();
            let event = xml.read_event_into(&mut buffer).map_err(failed)?;
            let start = match event {
                Event::Eof => return Ok(found),
                Event::Start(start) | Event::Empty(start) => start,
                _ => continue,
            };
            match start.local_name().as_ref() {
                "c" if has_units => {
                    let style = attribute(&start, "s").and_then(|style| style.parse().ok());
                    found.push(self.units.get(style.unwrap_or(0_usize)).copied().flatten())?;
                }
                "row" => {
                    let row = attribute(&start, "r").and_then(|row| row.parse::<u32>().ok());
                    let row = row.map_or(next_row, |row| row.saturating_sub(1));
                    next_row = row.saturating_add(1);
                    let is_flat = attribute(&start, "ht").is_some_and(|height| height == "0");
                    if is_set(&start, "hidden") || is_flat {
                        sheet.hide_row(row);
                    }
                }
                "col" if is_set(&start, "hidden") => hide_columns(&start, sheet),
                _ => {}
            }
        }
    }
}

/// Returns the name of a part in the archive, without regard to case.
fn find_name<R: Read + Seek>(archive: &ZipArchive<R>, part: &str) -> Option<String> {
    if archive.index_for_name(part).is_some() {
        return Some(part.to_owned());
    }
    let mut names = archive.file_names().flatten();
    names.find(|name| name.eq_ignore_ascii_case(part)).map(|name| name.into_owned())
}

/// Returns the name of the part that a relation of the workbook names.
fn part_of(target: &str) -> String {
    match target.strip_prefix('/') {
        Some(whole) => whole.to_owned(),
        None if target.starts_with("xl/") => target.to_owned(),
        None => format!("xl/{target}"),
    }
}

/// The units of the cells of a sheet, one byte for each cell.
#[derive(Default)]
pub(crate) struct CellUnits {
    /// For each cell, the place of its unit among those that were seen, from 1 on.
    cells: Vec<u8>,
    units: Vec<Unit>,
    next: usize,
}

impl CellUnits {
    fn push(&mut self, unit: Option<Unit>) -> Result<(), TableError> {
        if self.cells.len() >= MAX_CELLS {
            return Err(Limit::Sheet.into());
        }
        let place = unit.and_then(|unit| {
            let known = self.units.iter().position(|known| *known == unit);
            let at = known.unwrap_or_else(|| {
                self.units.push(unit);
                self.units.len() - 1
            });
            u8::try_from(at + 1).ok()
        });
        self.cells.push(place.unwrap_or(0));
        Ok(())
    }

    /// Returns the unit of the next cell, in the order of the sheet.
    pub(crate) fn next(&mut self) -> Option<Unit> {
        let place = usize::from(*self.cells.get(self.next)?);
        self.next += 1;
        self.units.get(place.checked_sub(1)?).copied()
    }
}

fn hide_columns(start: &BytesStart<'_>, sheet: &mut Sheet) {
    let number = |name: &str| attribute(start, name).and_then(|at| at.parse::<u32>().ok());
    let (first, last) = (number("min").unwrap_or(1), number("max").unwrap_or(0));
    let most = u32::try_from(MAX_COLUMNS).unwrap_or(u32::MAX);
    for column in first.max(1)..=last.min(first.saturating_add(most)) {
        sheet.hide_column(column - 1);
    }
}
