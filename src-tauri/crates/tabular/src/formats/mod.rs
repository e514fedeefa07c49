//! The formats of files: finds which one a file has, and reads its text or cells. Knows nothing of
//! headers, columns and fields.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::fault::{TableError, open_file};

pub(crate) mod once;
pub(crate) mod text;
pub(crate) mod unpacked;
pub(crate) mod workbook;

use text::{Encoding, find_encoding, open_text};
use workbook::Sheet;

/// A file whose format is known, and how its text is written. The cells of a workbook are read once.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Text { path: PathBuf, encoding: Encoding, separator: u8 },
    Workbook(Arc<Sheet>),
}

/// Finds the format of a file by its first bytes. `find_separator` gets the beginning of a text.
pub(crate) fn find_source(
    path: &Path,
    find_separator: impl FnOnce(&[u8]) -> u8,
) -> Result<Source, TableError> {
    let mut start = Vec::new();
    open_file(path)?.take(4).read_to_end(&mut start)?;
    if start.is_empty() {
        return Err(TableError::Empty);
    }
    if start.starts_with(b"PK\x03\x04") {
        return Ok(Source::Workbook(Sheet::read_first(open_file(path)?)?));
    }
    let encoding = find_encoding(path)?;
    let mut text = Vec::new();
    open_text(path, encoding)?.take(64 * 1024).read_to_end(&mut text)?;
    Ok(Source::Text { path: path.to_owned(), encoding, separator: find_separator(&text) })
}
