//! A file that is open for an import. Its path can lead to another file before the import ends, and a
//! program can still write it: what is stored belongs to the file that was opened. This module must
//! not know what files contain.

use std::{
    fs::{File, Metadata},
    io,
    path::Path,
};

use contract::{AgentError, Text, text};

use super::places::{FileStamp, changed_at, stamp, stamp_of};

/// An open file, with what it was like when it was opened.
pub(super) struct OpenedFile {
    file: File,
    pub(super) stamp: FileStamp,
}

impl OpenedFile {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = files::open(path)?;
        let stamp = stamp_of(path, Some(&file.metadata()?));
        Ok(Self { file, stamp })
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Fails if the file changed since it was opened. `read` is the number of bytes that were read of
    /// it. The last row of a file that still grows can be cut.
    pub(super) fn check_unchanged(&self, read: u64) -> Result<(), AgentError> {
        let FileStamp { bytes, modified_at, .. } = self.stamp;
        let is_same = |now: Metadata| now.len() == bytes && changed_at(&now) == modified_at;
        // A file that the system makes while it is read has no size.
        let is_whole = read == bytes || bytes == 0;
        if is_whole && self.file.metadata().is_ok_and(is_same) {
            return Ok(());
        }
        Err(AgentError::invalid("The file changed while it was read.")
            .reason("file_changed")
            .hint("Nothing was stored. Try again when the file is complete."))
    }
}

/// Returns a note if the path of a file leads to another file or content by now.
pub(super) fn note_replaced(path: &Path, file: &FileStamp) -> Option<Text> {
    let is_other = path.exists() && stamp(path) != *file;
    is_other.then(|| {
        text!(
            "The file was replaced after it was read: these are the rows from before. Refresh the source to import the new ones."
        )
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use super::*;

    #[test]
    fn a_file_that_grows_is_refused_and_one_that_is_replaced_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, "Day,Cost\n2026-11-01,12").unwrap();
        let opened = OpenedFile::open(&path).unwrap();
        let bytes = opened.stamp.bytes;
        opened.check_unchanged(bytes).unwrap();
        assert!(opened.check_unchanged(bytes + 1).is_err(), "more was read than was there");
        assert_eq!(note_replaced(&path, &opened.stamp), None);

        let new = folder.path().join("new.csv");
        fs::write(&new, "Day,Cost\n2026-11-01,12.50\n").unwrap();
        fs::rename(&new, &path).unwrap();
        opened.check_unchanged(bytes).unwrap();
        assert!(note_replaced(&path, &opened.stamp).is_some());
        assert_ne!(stamp(&path), opened.stamp, "a refresh imports the new file");

        let opened = OpenedFile::open(&path).unwrap();
        let mut grows = File::options().append(true).open(&path).unwrap();
        grows.write_all(b"2026-11-02,3").unwrap();
        let error = opened.check_unchanged(opened.stamp.bytes).unwrap_err();
        assert_eq!(error.reason_text(), Some("file_changed"));
        fs::remove_file(&path).unwrap();
        assert_eq!(note_replaced(&path, &opened.stamp), None);
    }
}
