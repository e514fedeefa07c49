//! The marks of an old workbook (XLS) beside the values of its cells: hidden rows and columns, and the
//! currencies of number formats. Must not know the values. The file can be hostile,
//! so each place in it is checked, and what cannot be read has no marks.

use std::collections::HashMap;

use super::{cells::unit::Unit, sheet::Sheet};
use crate::limits::MAX_CELLS;

/// The end of a chain of sectors.
const END: u32 = 0xFFFF_FFFA;

/// The marks of a sheet.
#[derive(Default)]
pub(crate) struct SheetMarks {
    hidden_rows: Vec<u32>,
    hidden_columns: Vec<u32>,
    units: HashMap<(u32, u32), Unit>,
}

impl SheetMarks {
    /// Returns the unit that the format of a cell shows.
    pub(crate) fn unit(&self, place: (u32, u32)) -> Option<Unit> {
        self.units.get(&place).copied()
    }

    /// Hides rows and columns of the sheet.
    pub(crate) fn hide(&self, sheet: &mut Sheet) {
        self.hidden_rows.iter().for_each(|row| sheet.hide_row(*row));
        self.hidden_columns.iter().for_each(|column| sheet.hide_column(*column));
    }
}

/// Reads the marks of all sheets, by their names.
pub(crate) fn read(file: &[u8]) -> HashMap<String, SheetMarks> {
    find_stream(file).and_then(|stream| read_book(&stream)).unwrap_or_default()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The records of a stream: their kind and their bytes.
struct Parts<'a> {
    stream: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Parts<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let kind = u16_at(self.stream, self.at)?;
        let length = usize::from(u16_at(self.stream, self.at + 2)?);
        let data = self.stream.get(self.at + 4..self.at + 4 + length)?;
        self.at += 4 + length;
        Some((kind, data))
    }
}

fn read_book(stream: &[u8]) -> Option<HashMap<String, SheetMarks>> {
    let mut own: HashMap<u16, Option<Unit>> = HashMap::new();
    let (mut units, mut sheets) = (Vec::new(), Vec::new());
    for (at, (kind, data)) in (Parts { stream, at: 0 }).enumerate() {
        match kind {
            // Only the last version of the format, and no password.
            0x0809 if at == 0 => (u16_at(data, 0)? == 0x0600).then_some(())?,
            0x002F => return None,
            0x041E => {
                let format = text_of(data.get(4..)?, usize::from(u16_at(data, 2)?))?;
                own.insert(u16_at(data, 0)?, Unit::of_format(&format));
            }
            0x00E0 => units.push(u16_at(data, 2)?),
            0x0085 => {
                let name = text_of(data.get(7..)?, usize::from(*data.get(6)?))?;
                sheets.push((name, size(u32_at(data, 0)?)));
            }
            0x000A => break,
            _ => {}
        }
    }
    let unit_of =
        |id: &u16| own.get(id).copied().unwrap_or_else(|| Unit::of_number(u32::from(*id)));
    let units: Vec<Option<Unit>> = units.iter().map(unit_of).collect();
    let marks = sheets.into_iter().map(|(name, start)| (name, read_sheet(stream, start, &units)));
    Some(marks.collect())
}

/// Returns a text of characters of one or two bytes.
fn text_of(data: &[u8], length: usize) -> Option<String> {
    let (flags, text) = data.split_first()?;
    if flags & 1 == 0 {
        return Some(text.get(..length)?.iter().map(|byte| char::from(*byte)).collect());
    }
    let signs = text.get(..length * 2)?.chunks_exact(2);
    let signs: Vec<u16> = signs.map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    Some(String::from_utf16_lossy(&signs))
}

fn read_sheet(stream: &[u8], start: usize, units: &[Option<Unit>]) -> SheetMarks {
    let mut marks = SheetMarks::default();
    // Charts in a sheet have records of their own.
    let mut depth = 0;
    for (kind, data) in (Parts { stream, at: start }) {
        match kind {
            0x0809 => depth += 1,
            0x000A if depth <= 1 => break,
            0x000A => depth -= 1,
            _ if depth == 1 => {
                let _ = marks.see(kind, data, units);
            }
            _ => {}
        }
    }
    marks
}

impl SheetMarks {
    /// Takes what a record says. Returns None if it is too short.
    fn see(&mut self, kind: u16, data: &[u8], units: &[Option<Unit>]) -> Option<()> {
        match kind {
            0x0208 if data.get(12)? & 0x20 > 0 => {
                self.hidden_rows.push(u32::from(u16_at(data, 0)?));
            }
            0x007D if data.get(8)? & 1 > 0 => {
                let (first, last) = (u16_at(data, 0)?, u16_at(data, 2)?);
                self.hidden_columns.extend((first..=last.min(0xFF)).map(u32::from));
            }
            0x0203 | 0x027E | 0x0006 => {
                self.see_cell(u16_at(data, 0)?, u16_at(data, 2)?, u16_at(data, 4)?, units);
            }
            0x00BD => {
                let (row, first) = (u16_at(data, 0)?, u16_at(data, 2)?);
                let cells = data.get(4..data.len().checked_sub(2)?)?.chunks_exact(6);
                for (column, cell) in (first..=u16::MAX).zip(cells) {
                    self.see_cell(row, column, u16_at(cell, 0)?, units);
                }
            }
            _ => {}
        }
        Some(())
    }

    fn see_cell(&mut self, row: u16, column: u16, format: u16, units: &[Option<Unit>]) {
        if let Some(Some(unit)) = units.get(usize::from(format))
            && self.units.len() < MAX_CELLS
        {
            self.units.insert((u32::from(row), u32::from(column)), *unit);
        }
    }
}

/// Finds the stream with the workbook in the file, which is a file system of its own.
fn find_stream(file: &[u8]) -> Option<Vec<u8>> {
    let shift = u32::from(u16_at(file, 30)?);
    let sector = 1_usize.checked_shl(shift).filter(|size| (128..=1 << 16).contains(size))?;
    let sector_at = |number: u32| {
        let start = size(number).checked_add(1)?.checked_mul(sector)?;
        file.get(start..).map(|rest| &rest[..rest.len().min(sector)])
    };
    let table = read_table(file, &sector_at)?;
    let chain = |start: u32| read_chain(start, &table, &sector_at, file.len());
    let folder = chain(u32_at(file, 48)?)?;
    let entries = || folder.chunks_exact(128);
    let place = |entry: &[u8]| Some((u32_at(entry, 116)?, size(u32_at(entry, 120)?)));
    let book = entries().find(|entry| matches!(name_of(entry).as_deref(), Some("Workbook")))?;
    let (start, length) = place(book)?;
    let mut stream = if length < size(u32_at(file, 56)?) {
        // Short streams are inside of that of the root.
        let root = entries().find(|entry| entry[66] == 5)?;
        let small = chain(place(root)?.0)?;
        let table: Vec<u32> = numbers(&chain(u32_at(file, 60)?)?).collect();
        let small_at = |number: u32| {
            let start = size(number).checked_mul(64)?;
            small.get(start..).map(|rest| &rest[..rest.len().min(64)])
        };
        read_chain(start, &table, &small_at, small.len())?
    } else {
        chain(start)?
    };
    stream.truncate(length);
    Some(stream)
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let numbers = bytes.chunks_exact(4);
    numbers.map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

fn name_of(entry: &[u8]) -> Option<String> {
    let length = usize::from(u16_at(entry, 64)?).checked_sub(2)?;
    let pairs = entry.get(..length.min(64))?.chunks_exact(2);
    let signs: Vec<u16> = pairs.map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    Some(String::from_utf16_lossy(&signs))
}

/// Reads the table with the sector that follows each sector.
fn read_table<'a>(file: &[u8], sector_at: &impl Fn(u32) -> Option<&'a [u8]>) -> Option<Vec<u32>> {
    let mut parts: Vec<u32> = numbers(file.get(76..512)?).collect();
    let mut next = u32_at(file, 68)?;
    // Each sector of the list is in the file, so that the list ends.
    while next < END && parts.len() <= file.len() / 128 {
        let sector = sector_at(next)?;
        let (list, last) = sector.split_at(sector.len().checked_sub(4)?);
        parts.extend(numbers(list));
        next = u32_at(last, 0)?;
    }
    let mut table = Vec::new();
    for part in parts.into_iter().filter(|part| *part < END) {
        table.extend(numbers(sector_at(part)?));
        if table.len() > file.len() {
            return None;
        }
    }
    Some(table)
}

/// Reads a chain of sectors. None if it is longer than the file.
fn read_chain<'a>(
    start: u32,
    table: &[u32],
    sector_at: &impl Fn(u32) -> Option<&'a [u8]>,
    most: usize,
) -> Option<Vec<u8>> {
    let (mut bytes, mut next) = (Vec::new(), start);
    while next < END {
        bytes.extend_from_slice(sector_at(next)?);
        if bytes.len() > most {
            return None;
        }
        next = *table.get(size(next))?;
    }
    Some(bytes)
}
