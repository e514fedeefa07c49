//! Reads the records of a text file or of the first filled sheet of a workbook, in their order.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

use calamine::{Data, Range, Reader, Xlsx, open_workbook};
use csv::{Position, ReaderBuilder, StringRecord};

use crate::text::{Encoding, open_text};

/// Why a table cannot be read.
#[derive(Debug)]
pub enum TableError {
    /// The operating system refused.
    Io(io::Error),
    /// The file has no content.
    Empty,
    /// The workbook is damaged or protected.
    Workbook(String),
    /// The text broke off or cannot be split into cells.
    Text(String),
}

impl From<io::Error> for TableError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<csv::Error> for TableError {
    fn from(error: csv::Error) -> Self {
        Self::Text(error.to_string())
    }
}

/// The kind of a file, and how its text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Text { encoding: Encoding, separator: u8 },
    Workbook,
}

/// Records of a file, one after another.
pub struct Rows {
    source: Source,
    record: StringRecord,
}

enum Source {
    Text(Box<csv::Reader<Box<dyn Read + Send>>>),
    Sheet { range: Range<Data>, next: usize },
}

impl Rows {
    pub(crate) fn open(path: &Path, shape: Shape) -> Result<Self, TableError> {
        let source = match shape {
            Shape::Text { encoding, separator } => Source::Text(Box::new(
                ReaderBuilder::new()
                    .delimiter(separator)
                    .has_headers(false)
                    .flexible(true)
                    .from_reader(open_text(path, encoding)?),
            )),
            Shape::Workbook => Source::Sheet { range: first_sheet(path)?, next: 0 },
        };
        Ok(Self { source, record: StringRecord::new() })
    }

    /// Reads the next record with its line. Returns None at the end.
    pub fn next_row(&mut self) -> Result<Option<(u64, &StringRecord)>, TableError> {
        let line = match &mut self.source {
            Source::Text(reader) => {
                if !reader.read_record(&mut self.record)? {
                    return Ok(None);
                }
                self.record.position().map_or(0, Position::line)
            }
            Source::Sheet { range, next } => {
                if *next >= range.height() {
                    return Ok(None);
                }
                self.record.clear();
                for cell in &range[*next] {
                    push_cell(&mut self.record, cell);
                }
                *next += 1;
                let first = range.start().map_or(0, |(row, _)| u64::from(row));
                first + u64::try_from(*next).unwrap_or(0)
            }
        };
        Ok(Some((line, &self.record)))
    }

    /// Returns the number of bytes of text read so far.
    pub fn bytes(&self) -> u64 {
        match &self.source {
            Source::Text(reader) => reader.position().byte(),
            Source::Sheet { .. } => 0,
        }
    }
}

fn first_sheet(path: &Path) -> Result<Range<Data>, TableError> {
    let failed = |error: calamine::XlsxError| TableError::Workbook(error.to_string());
    let mut book: Xlsx<BufReader<File>> = open_workbook(path).map_err(failed)?;
    for name in book.sheet_names() {
        let range = book.worksheet_range(&name).map_err(failed)?;
        if !range.is_empty() {
            return Ok(range);
        }
    }
    Err(TableError::Empty)
}

/// Writes a cell as text: days as ISO dates, numbers with a decimal point.
fn push_cell(record: &mut StringRecord, cell: &Data) {
    match cell {
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => {
            record.push_field(text);
        }
        Data::DateTime(moment) => {
            let (year, month, day, hour, minute, ..) = moment.to_ymd_hms_milli();
            let text = if (hour, minute) == (0, 0) {
                format!("{year:04}-{month:02}-{day:02}")
            } else {
                format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
            };
            record.push_field(&text);
        }
        Data::Int(number) => record.push_field(&number.to_string()),
        Data::Float(number) => record.push_field(&number.to_string()),
        Data::Bool(value) => record.push_field(&value.to_string()),
        Data::Empty | Data::Error(_) => record.push_field(""),
        #[allow(unreachable_patterns, reason = "kinds of cells that a later version may add")]
        _ => record.push_field(""),
    }
}
