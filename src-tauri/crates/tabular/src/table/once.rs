//! Reads the file of a workbook so that no part of it is read twice: several sheets can name one
//! part, and it would be unpacked for each of them.

use std::{
    cell::RefCell,
    collections::HashSet,
    io::{self, BufRead, Read, Seek, SeekFrom},
    rc::Rc,
};

/// Where parts were read since `start`.
#[derive(Debug, Default)]
struct Seen {
    starts: Option<HashSet<u64>>,
    is_again: bool,
}

/// Tells whether the last part was one that had been read before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts(Rc<RefCell<Seen>>);

impl Parts {
    /// Begins to note the parts.
    pub(crate) fn start(&self) {
        self.0.borrow_mut().starts = Some(HashSet::new());
    }

    pub(crate) fn is_again(&self) -> bool {
        self.0.borrow().is_again
    }
}

/// The file. A reader of a part moves to its start first, and to no other place.
#[derive(Debug)]
pub(crate) struct Once<R> {
    file: R,
    parts: Parts,
}

impl<R: BufRead + Seek> Once<R> {
    pub(crate) fn new(file: R) -> (Self, Parts) {
        let parts = Parts::default();
        (Self { file, parts: parts.clone() }, parts)
    }
}

impl<R: BufRead> Read for Once<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.parts.is_again() {
            return Err(io::Error::other("a part is named twice"));
        }
        self.file.read(buffer)
    }
}

impl<R: Seek> Seek for Once<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let start = self.file.seek(to)?;
        let mut seen = self.parts.0.borrow_mut();
        seen.is_again = seen.starts.as_mut().is_some_and(|starts| !starts.insert(start));
        Ok(start)
    }

    fn stream_position(&mut self) -> io::Result<u64> {
        self.file.stream_position()
    }
}
