//! Reads the records of a text file or of the first filled sheet of a workbook, in their order and
//! within the limits.

use std::{
    io::{self, Read},
    sync::Arc,
};

use csv::{Position, ReaderBuilder, StringRecord};

use crate::{
    fault::TableError,
    formats::{Source, text::open_text, workbook::Sheet},
    limits::{Limit, MAX_COLUMNS, MAX_LINE},
};

/// Records of a file, one after another.
pub struct Rows {
    reading: Reading,
    record: StringRecord,
}

enum Reading {
    Text(Box<csv::Reader<Metered>>),
    Sheet { sheet: Arc<Sheet>, next: usize },
}

impl Rows {
    pub(crate) fn open(source: &Source) -> Result<Self, TableError> {
        let reading = match source {
            Source::Text { path, encoding, separator } => {
                let text = Metered { text: open_text(path, *encoding)?, left: MAX_LINE };
                Reading::Text(Box::new(
                    ReaderBuilder::new()
                        .delimiter(*separator)
                        .has_headers(false)
                        .flexible(true)
                        .from_reader(text),
                ))
            }
            Source::Workbook(sheet) => Reading::Sheet { sheet: Arc::clone(sheet), next: 0 },
        };
        Ok(Self { reading, record: StringRecord::new() })
    }

    /// Reads the next record with its line. Returns None at the end.
    pub fn next_row(&mut self) -> Result<Option<(u64, &StringRecord)>, TableError> {
        let line = match &mut self.reading {
            Reading::Text(reader) => {
                reader.get_mut().left = MAX_LINE;
                let begins = reader.position().line();
                match reader.read_record(&mut self.record) {
                    Ok(true) => self.record.position().map_or(0, Position::line),
                    Ok(false) => return Ok(None),
                    Err(_) if reader.get_ref().left == 0 => {
                        return Err(Limit::Line { line: begins }.into());
                    }
                    Err(error) => return Err(TableError::Text(error.to_string())),
                }
            }
            Reading::Sheet { sheet, next } => match sheet.read_row(next, &mut self.record) {
                Some(line) => line,
                None => return Ok(None),
            },
        };
        if self.record.len() > MAX_COLUMNS {
            return Err(Limit::Columns.into());
        }
        Ok(Some((line, &self.record)))
    }

    /// Returns the number of bytes of text read so far.
    pub fn bytes(&self) -> u64 {
        match &self.reading {
            Reading::Text(reader) => reader.position().byte(),
            Reading::Sheet { .. } => 0,
        }
    }
}

/// Gives out text up to a bound, which is reset for each record: the reader of records would
/// keep a line of any length.
struct Metered {
    text: Box<dyn Read + Send>,
    left: u64,
}

impl Read for Metered {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let length = self.text.read(out)?;
        self.left = self.left.saturating_sub(length as u64);
        Ok(length)
    }
}
