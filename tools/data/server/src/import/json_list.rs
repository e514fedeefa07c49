//! A list of JSON objects, element by element: `[{...}, {...}]`, on one line or on many. Only one
//! element is in memory at a time.

use std::io::{BufRead, BufReader};

use contract::{AgentError, text};

use super::input::Input;
use crate::DataError;

/// The longest line, or object of a list, in bytes.
pub(super) const LONGEST_LINE: u64 = 16 << 20;

/// Calls a function with each element, the line on which it begins, and the bytes read so far.
pub fn each_element(
    input: &Input,
    mut read: impl FnMut(u64, &[u8], u64) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let mut reader = BufReader::with_capacity(1 << 18, input.open()?);
    let (mut splitter, mut done) = (Splitter::default(), 0_u64);
    loop {
        let bytes = reader.fill_buf().map_err(DataError::file("the copy of the file"))?;
        let length = bytes.len();
        if length == 0 {
            return splitter.end();
        }
        for byte in bytes {
            done += 1;
            if splitter.take(*byte)? {
                read(splitter.began, &splitter.element, done)?;
                splitter.element.clear();
            }
        }
        reader.consume(length);
    }
}

/// The place in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Before the list.
    #[default]
    Before,
    /// Before an element, or the end of an empty list.
    Between,
    /// In an element: how many lists and objects of it are open.
    Inside(u32),
    /// In a text of an element.
    Text(u32),
    /// Behind the sign that makes the next one a part of the text.
    Escape(u32),
    /// Behind the list.
    After,
}

/// Splits a list into its elements.
#[derive(Default)]
struct Splitter {
    place: Place,
    element: Vec<u8>,
    /// The number of line ends so far, and the line on which the element begins.
    lines: u64,
    began: u64,
}

impl Splitter {
    /// Takes a byte. Returns whether an element is complete.
    fn take(&mut self, byte: u8) -> Result<bool, DataError> {
        self.lines += u64::from(byte == b'\n');
        match (self.place, byte) {
            (Place::Before, b'[') => self.place = Place::Between,
            // A mark of the byte order.
            (Place::Before, b'\xef' | b'\xbb' | b'\xbf') => {}
            (Place::Before | Place::Between | Place::After, byte) if byte.is_ascii_whitespace() => {
            }
            (Place::Before | Place::After, _) => return Err(self.no_list("[{...}, {...}]")),
            (Place::Between, b']') => self.place = Place::After,
            (Place::Inside(0), b',' | b']') => {
                let is_end = byte == b']';
                self.place = if is_end { Place::After } else { Place::Between };
                return Ok(true);
            }
            (Place::Between, _) => {
                self.began = self.lines + 1;
                self.place = Place::Inside(0);
                self.add(byte)?;
            }
            (Place::Inside(_) | Place::Text(_) | Place::Escape(_), _) => self.add(byte)?,
        }
        Ok(false)
    }

    /// Adds a byte to the element.
    fn add(&mut self, byte: u8) -> Result<(), DataError> {
        self.place = match (self.place, byte) {
            (Place::Inside(depth), b'"') => Place::Text(depth),
            (Place::Inside(depth), b'{' | b'[') => Place::Inside(depth + 1),
            (Place::Inside(depth), b'}' | b']') => Place::Inside(depth.saturating_sub(1)),
            (Place::Text(depth), b'\\') => Place::Escape(depth),
            (Place::Text(depth), b'"') => Place::Inside(depth),
            (Place::Escape(depth), _) => Place::Text(depth),
            (place, _) => place,
        };
        self.element.push(byte);
        if self.element.len() as u64 > LONGEST_LINE {
            return Err(AgentError::invalid(text!(
                "The object on line {line} is longer than {size} MB.",
                line = self.began,
                size = LONGEST_LINE >> 20
            ))
            .reason("line_too_long")
            .into());
        }
        Ok(())
    }

    /// Fails if the list does not end.
    fn end(&self) -> Result<(), DataError> {
        if self.place == Place::After { Ok(()) } else { Err(self.no_list("]")) }
    }

    fn no_list(&self, expected: &str) -> DataError {
        AgentError::invalid(text!(
            "Line {line} of the list of JSON objects is wrong: {expected} was expected.",
            line = self.lines + 1,
            expected
        ))
        .reason("file_unreadable")
        .hint("Write one list of objects, or one object per line.")
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(text: &str) -> Result<Vec<(u64, String)>, DataError> {
        let (mut splitter, mut found) = (Splitter::default(), Vec::new());
        for byte in text.bytes() {
            if splitter.take(byte)? {
                let element = String::from_utf8_lossy(&splitter.element).trim().to_owned();
                found.push((splitter.began, element));
                splitter.element.clear();
            }
        }
        splitter.end().map(|()| found)
    }

    #[test]
    fn elements_are_split_at_their_own_commas() {
        let text = "\u{feff}[\n {\"a\": [1, 2], \"b\": \"x, ]\\\" {\"},\n {\"a\": 3} , 7\n]\n";
        let found = elements(text).unwrap();
        let found: Vec<(u64, &str)> = found.iter().map(|(line, text)| (*line, &**text)).collect();
        assert_eq!(
            found,
            [(2, "{\"a\": [1, 2], \"b\": \"x, ]\\\" {\"}"), (3, "{\"a\": 3}"), (3, "7")]
        );
        assert_eq!(elements("[ ]").unwrap(), []);
    }

    #[test]
    fn a_list_that_does_not_end_is_no_list() {
        for text in
            ["[{\"a\": 1}", "[{\"a\": 1}, ", "[{\"a\": \"x]", "[{\"a\": 1}] {\"b\": 2}", "{}"]
        {
            assert!(elements(text).is_err(), "{text}");
        }
    }
}
