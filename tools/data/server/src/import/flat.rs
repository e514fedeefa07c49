//! A file of text with commas that this program writes from another format, so that the types of
//! columns are decided in one place. It remembers from where each record came. Texts are in quotes, and
//! numbers are not.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
};

use contract::{
    AgentError,
    sources::{FileFormat, ImportDecisions, RejectedRows, TableReport},
    text,
};
use tabular::{limits::MAX_LINE, table::Origin};

use crate::DataError;

/// The name of the file in the working folder.
const FLAT: &str = "flat.csv";
/// The most lines that a report names.
pub const LINES: usize = 20;

/// Writes the file.
pub struct FlatWriter {
    path: PathBuf,
    to: BufWriter<File>,
    line: u64,
    origin: Origin,
}

impl Drop for Flat {
    fn drop(&mut self) {
        // The host deletes the whole working folder, so a file that is left is no fault.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The written file.
pub struct Flat {
    /// The path.
    pub path: PathBuf,
    /// The records of the original.
    pub origin: Origin,
}

impl FlatWriter {
    /// Creates the file with its headings.
    pub fn create(folder: &Path, headings: &[String]) -> Result<Self, DataError> {
        let path = folder.join(FLAT);
        let file = files::create(&path).map_err(DataError::file("the working folder"))?;
        let mut writer = Self {
            path,
            to: BufWriter::with_capacity(1 << 18, file),
            line: 1,
            origin: Origin::default(),
        };
        writer.put(1, headings.iter().map(|heading| (heading.as_str(), false)))?;
        Ok(writer)
    }

    /// Writes a record that comes from a line or row of the original. Each cell says whether it is a
    /// number.
    pub fn record<'a>(
        &mut self,
        from: u64,
        cells: impl Iterator<Item = (&'a str, bool)>,
    ) -> Result<(), DataError> {
        self.origin.note(self.line, from);
        self.put(from, cells)
    }

    fn put<'a>(
        &mut self,
        from: u64,
        cells: impl Iterator<Item = (&'a str, bool)>,
    ) -> Result<(), DataError> {
        let mut text = String::new();
        for (at, (cell, is_number)) in cells.enumerate() {
            if at > 0 {
                text.push(',');
            }
            if is_number {
                text.push_str(cell);
            } else if !cell.is_empty() {
                text.push('"');
                text.push_str(&cell.replace('"', "\"\""));
                text.push('"');
            }
        }
        text.push('\n');
        // The reader of the text would take the lines inside a longer record for records.
        if text.len() as u64 > MAX_LINE {
            return Err(too_long(from));
        }
        self.line += text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        self.to.write_all(text.as_bytes()).map_err(DataError::file("the working folder"))
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<Flat, DataError> {
        self.to.flush().map_err(DataError::file("the working folder"))?;
        Ok(Flat { path: self.path, origin: self.origin })
    }
}

fn too_long(line: u64) -> DataError {
    AgentError::invalid(text!("Line {line} is longer than {size} MB.", line, size = MAX_LINE >> 20))
        .reason("line_too_long")
        .hint("Export the table without its longest texts.")
        .into()
}

/// Returns the decisions by which the flat file is read.
pub fn decisions_for(decisions: &ImportDecisions) -> ImportDecisions {
    let mut answers = decisions.answers.clone();
    // Only reports for people leave out what repeats. Here an empty value is one without a value.
    answers.entry("blank_labels".to_owned()).or_insert_with(|| "store".to_owned());
    answers.entry("blank_days".to_owned()).or_insert_with(|| "store".to_owned());
    ImportDecisions {
        answers,
        sheets: Vec::new(),
        header_line: Some(1),
        encoding: Some("utf-8".to_owned()),
        ..decisions.clone()
    }
}

/// Makes the report of a flat file that of the original.
pub fn restore(report: &mut TableReport, format: FileFormat, rejected: Vec<RejectedRows>) {
    report.format = format;
    report.separator = None;
    report.header_line = 0;
    report.compression = None;
    report.records += rejected.iter().map(|rows| rows.count).sum::<u64>();
    report.rejected.extend(rejected);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lead_back_to_the_record_they_come_from() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer =
            FlatWriter::create(folder.path(), &["a".to_owned(), "b".to_owned()]).unwrap();
        writer.record(1, [("x", false), ("one\ntwo", false)].into_iter()).unwrap();
        writer.record(2, [("\"q\"", false), ("", false)].into_iter()).unwrap();
        writer.record(5, [("1.5", true), ("1,5", false)].into_iter()).unwrap();
        let flat = writer.finish().unwrap();
        let text = std::fs::read_to_string(&flat.path).unwrap();
        assert_eq!(text, "\"a\",\"b\"\n\"x\",\"one\ntwo\"\n\"\"\"q\"\"\",\n1.5,\"1,5\"\n");
        assert_eq!([2, 3, 4, 5].map(|line| flat.origin.of(line)), [1, 2, 2, 5]);
    }
}
