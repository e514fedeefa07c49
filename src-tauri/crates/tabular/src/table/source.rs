//! The records of a file of any format: text of any encoding, or sheets of a workbook.

use std::{fs::File, sync::Arc};

use contract::{
    Text,
    sources::{ImportDecisions, SheetFound},
};
use encoding_rs::{Encoding, UTF_8};

use super::{
    content::{Content, Kind, find_utf16},
    control::TableControl,
    encoding,
    fault::TableError,
    header::HEAD,
    origin::{Numbered, Origin},
    records::{Kept, Records},
    separator,
    sheet::{Sheet, SheetRecords},
    sheets::read_sheets,
    split::{Signs, Splitter},
};

/// The records of a file.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Text {
        content: Content,
        encoding: &'static Encoding,
        signs: Signs,
        is_certain: bool,
        /// The records of another format of which the text was made.
        origin: Option<Arc<Origin>>,
    },
    Sheets {
        content: Content,
        sheets: Arc<Vec<Sheet>>,
        found: Vec<SheetFound>,
    },
}

impl Source {
    /// Finds how a file is written.
    pub(crate) fn find(file: &File, decisions: &ImportDecisions) -> Result<Self, TableError> {
        let content = Content::find(file)?;
        if content.kind != Kind::Text {
            let (sheets, found) = read_sheets(&content, file)?;
            return Ok(Self::Sheets { content, sheets: Arc::new(sheets), found });
        }
        if let Some(name) = &decisions.encoding {
            return Self::find_text(content, file, encoding::find_named(name)?, true);
        }
        let start = content.open(file)?;
        let mut sample = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(start, 1024), &mut sample)?;
        let encoding = find_utf16(&sample).unwrap_or(UTF_8);
        match Self::find_text(content, file, encoding, true) {
            Err(error) if encoding::is_not_utf8(&error) => Self::find_legacy(content, file),
            found => found,
        }
    }

    /// Returns a text with commas that was made of another format.
    pub(crate) fn of_flat(file: &File, origin: Origin) -> Result<Self, TableError> {
        let signs = Signs { separator: b',', newline: b'\n', plain_quotes: false };
        Ok(Self::Text {
            content: Content::plain_text(file)?,
            encoding: UTF_8,
            signs,
            is_certain: true,
            origin: Some(Arc::new(origin)),
        })
    }

    /// Finds the encoding of a text that is not UTF-8.
    pub(crate) fn find_legacy(content: Content, file: &File) -> Result<Self, TableError> {
        let encoding = encoding::guess(&content, file)?;
        Self::find_text(content, file, encoding, false)
    }

    fn find_text(
        content: Content,
        file: &File,
        encoding: &'static Encoding,
        is_certain: bool,
    ) -> Result<Self, TableError> {
        let signs = separator::find(encoding::open(&content, file, encoding)?)?;
        Ok(Self::Text { content, encoding, signs, is_certain, origin: None })
    }

    pub(crate) fn content(&self) -> &Content {
        match self {
            Self::Text { content, .. } | Self::Sheets { content, .. } => content,
        }
    }

    /// Returns the error of a sheet in which the headings of the first one do not occur.
    pub(crate) fn other_headings(&self, sheet: usize) -> TableError {
        let Self::Sheets { found, .. } = self else { return TableError::NoTable };
        let mut names = found.iter().filter(|found| found.is_read).map(|found| found.name.clone());
        let first = names.next().unwrap_or_default();
        let name = sheet.checked_sub(1).and_then(|at| names.nth(at)).unwrap_or_default();
        TableError::OtherHeadings { name, first }
    }

    /// Whether the file is a text that commas divide, as it was written.
    pub(crate) fn has_commas(&self) -> bool {
        matches!(self, Self::Text { signs, origin: None, .. } if signs.separator == b',')
    }

    /// Returns a note about characters that are not valid in the encoding of the text.
    pub(crate) fn note_replaced(
        &self,
        file: &File,
        control: &TableControl<'_>,
    ) -> Result<Option<Text>, TableError> {
        let Self::Text { content, encoding, signs, .. } = self else { return Ok(None) };
        encoding::note_replaced(content, file, encoding, signs.newline, control)
    }

    /// Opens the records from the first one.
    pub(crate) fn open<'f>(&'f self, file: &'f File) -> Result<Box<dyn Records + 'f>, TableError> {
        Ok(match self {
            Self::Text { content, encoding, signs, origin, .. } => {
                let records = Splitter::new(encoding::open(content, file, encoding)?, *signs);
                match origin {
                    Some(origin) => Box::new(Numbered::new(records, origin)),
                    None => Box::new(records),
                }
            }
            Self::Sheets { sheets, found, .. } => Box::new(SheetRecords::new(sheets, found)),
        })
    }

    /// Reads the first records.
    pub(crate) fn read_head(&self, file: &File) -> Result<Vec<Kept>, TableError> {
        let mut records = self.open(file)?;
        let mut head = Vec::new();
        while head.len() < HEAD
            && let Some(record) = records.next()?
        {
            head.push(Kept::new(&record));
        }
        Ok(head)
    }
}
