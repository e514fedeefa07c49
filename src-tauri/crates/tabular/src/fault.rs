//! Why a table cannot be read, and how its file is opened. Must not know how a file is written.

use std::{fs::File, io, path::Path};

use crate::limits::{Limit, MAX_FILE};

/// Why a table cannot be read.
#[derive(Debug)]
pub enum TableError {
    /// The operating system refused.
    Io(io::Error),
    /// The path leads to a pipe, a socket or a device.
    NotAFile,
    /// The file has no content.
    Empty,
    /// The workbook is damaged or protected.
    Workbook(String),
    /// The text broke off or cannot be split into cells.
    Text(String),
    /// The file is larger than what is read of one file.
    Limit(Limit),
}

impl From<io::Error> for TableError {
    fn from(error: io::Error) -> Self {
        if files::is_not_a_file(&error) { Self::NotAFile } else { Self::Io(error) }
    }
}

impl From<Limit> for TableError {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}

/// Opens a file whose size is within the limit.
pub(crate) fn open_file(path: &Path) -> Result<File, TableError> {
    let file = files::open(path)?;
    if file.metadata()?.len() > MAX_FILE { Err(Limit::File.into()) } else { Ok(file) }
}
