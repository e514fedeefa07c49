//! The copy of the input: a file that changes while it is read cannot change what is imported. Its
//! hash, and its format by content.

use std::{
    fs::File,
    io::{self, Read, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use contract::{AgentError, sources::ImportLimits, text};
use sha2::{Digest as _, Sha256};

use super::told::Teller;
use crate::DataError;

/// The name of the copy in the working folder.
const COPY: &str = "input";

/// The name of the content of a compressed copy.
const UNPACKED: &str = "content";

/// The copied input.
pub struct Input {
    /// The path of the copy.
    pub path: PathBuf,
    /// The SHA-256 of the content.
    pub hash: String,
    /// The number of bytes.
    pub bytes: u64,
}

/// The format of a file, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with separators, workbooks, and compressed ones of both.
    Table,
    /// Parquet.
    Parquet,
    /// One JSON object per line, or a list of objects.
    JsonLines,
    /// An SQLite database.
    Sqlite,
}

impl Input {
    /// Copies the input into a folder.
    pub fn copy(
        mut from: impl Read,
        total: u64,
        folder: &Path,
        limits: &ImportLimits,
        teller: &Teller<'_>,
    ) -> Result<Self, DataError> {
        let path = folder.join(COPY);
        let mut to = files::create(&path).map_err(DataError::file("the copy of the file"))?;
        let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0_u64, vec![0; 1 << 20]);
        loop {
            let read = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(DataError::file("the file cannot be read")(error)),
            };
            bytes += read as u64;
            if bytes > limits.input_bytes {
                return Err(too_large(limits.input_bytes));
            }
            hash.update(&buffer[..read]);
            to.write_all(&buffer[..read]).map_err(DataError::file("the copy of the file"))?;
            teller.progress(0, bytes, total);
        }
        let hash = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { path, hash, bytes })
    }

    /// Removes the copies of a folder.
    pub fn remove(folder: &Path) {
        for name in [COPY, UNPACKED] {
            // The host deletes the whole folder, so a copy that is left is no fault.
            let _ = std::fs::remove_file(folder.join(name));
        }
    }

    /// Writes the content of a compressed copy.
    pub fn unpack(&self, folder: &Path, limits: &ImportLimits) -> Result<Self, DataError> {
        let file = self.open()?;
        let content = tabular::table::open_content(&file)
            .map_err(|error| AgentError::invalid(error.message()).reason("file_unreadable"))?;
        let path = folder.join(UNPACKED);
        let mut to = files::create(&path).map_err(DataError::file("the working folder"))?;
        let most = limits.content_bytes;
        let bytes = io::copy(&mut content.take(most.saturating_add(1)), &mut to)
            .map_err(|error| unpacking(&error))?;
        if bytes > most {
            return Err(too_large(most));
        }
        Ok(Self { path, hash: self.hash.clone(), bytes })
    }

    /// Opens the copy.
    pub fn open(&self) -> Result<File, DataError> {
        files::open(&self.path).map_err(DataError::file("the copy of the file"))
    }

    /// Finds the format by the first bytes.
    pub fn format(&self) -> Result<Format, DataError> {
        let mut file = self.open()?;
        let start = self.start(&mut file)?;
        Ok(if start.starts_with(b"SQLite format 3\0") {
            Format::Sqlite
        } else if start.starts_with(b"PAR1") && ends_with_parquet(&mut file)? {
            Format::Parquet
        } else if is_json_lines(&start) || is_list(without_mark(&start)) {
            Format::JsonLines
        } else {
            Format::Table
        })
    }

    /// Whether the file is a list of JSON objects.
    pub fn is_json_list(&self) -> Result<bool, DataError> {
        let start = self.start(&mut self.open()?)?;
        Ok(is_list(without_mark(&start)))
    }

    /// Returns the first bytes.
    fn start(&self, file: &mut File) -> Result<Vec<u8>, DataError> {
        let mut start = [0; 4096];
        let mut length = 0;
        while length < start.len() {
            match file
                .read(&mut start[length..])
                .map_err(DataError::file("the copy of the file"))?
            {
                0 => break,
                read => length += read,
            }
        }
        Ok(start[..length].to_vec())
    }
}

fn ends_with_parquet(file: &mut File) -> Result<bool, DataError> {
    let mut end = [0; 4];
    let found = file
        .seek(SeekFrom::End(-4))
        .and_then(|_| file.read_exact(&mut end))
        .map_err(DataError::file("the copy of the file"));
    found.map(|()| end == *b"PAR1")
}

/// Returns a text without the mark of its byte order.
fn without_mark(start: &[u8]) -> &[u8] {
    start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start)
}

/// Whether a text begins with an object of JSON: `{"` or `{}`.
fn is_json_lines(start: &[u8]) -> bool {
    let start = without_mark(start);
    let mut signs = start.iter().filter(|byte| !byte.is_ascii_whitespace());
    signs.next() == Some(&b'{') && matches!(signs.next(), Some(b'"' | b'}'))
}

/// Whether a text begins with a list of objects: `[{"` or `[{}`.
fn is_list(start: &[u8]) -> bool {
    let mut signs = start.iter().filter(|byte| !byte.is_ascii_whitespace());
    signs.next() == Some(&b'[')
        && signs.next() == Some(&b'{')
        && matches!(signs.next(), Some(b'"' | b'}'))
}

fn unpacking(error: &io::Error) -> DataError {
    AgentError::invalid(text!(
        "The compressed file cannot be read: {cause}.",
        cause = error.to_string()
    ))
    .reason("file_unreadable")
    .hint("Download or write the file again.")
    .into()
}

pub(super) fn too_large(most: u64) -> DataError {
    AgentError::invalid(text!("The file is larger than {size} MB.", size = most >> 20))
        .reason("file_too_large")
        .hint("Export a shorter period.")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_lines_begin_with_an_object() {
        assert!(is_json_lines(b"\xef\xbb\xbf  {\"a\": 1}\n"));
        assert!(is_json_lines(b"{ \n\"a\""));
        assert!(!is_json_lines(b"{a},b\n1,2\n"));
        assert!(!is_json_lines(b"[{\"a\":1}]"));
        assert!(!is_json_lines(b""));
    }

    #[test]
    fn lists_of_objects_are_told_from_other_texts() {
        assert!(is_list(b" [\n {\"a\": 1}]") && is_list(b"[{}]"));
        assert!(!is_list(b"[1]") && !is_list(b"{\"a\": [{\"b\": 1}]}") && !is_list(b"[{a}]"));
    }
}
