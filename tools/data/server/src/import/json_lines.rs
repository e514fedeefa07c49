//! JSON lines: one object per line, or a list of objects. Objects inside become columns with points in their names, lists
//! stay texts. Digits of numbers are kept as the file writes them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    io::{BufRead, BufReader, Read as _},
};

use contract::{AgentError, Text, sources::RejectedRows, text};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{
    flat::{Flat, FlatWriter, LINES},
    input::Input,
    json_list::{LONGEST_LINE, each_element},
    work::Work,
};
use crate::DataError;

/// The most columns.
const MOST_COLUMNS: usize = 2_000;
/// How deep objects may stand in objects.
const DEEPEST: usize = 8;

/// The members of an object, in their order, with the text of their values.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members: Vec<(String, Box<RawValue>)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    if members.iter().any(|(known, _)| *known == name) {
                        return Err(serde::de::Error::custom(format!(
                            "the member {name} occurs twice"
                        )));
                    }
                    members.push((name, value));
                    if members.len() > MOST_COLUMNS {
                        return Err(serde::de::Error::custom("the object has too many members"));
                    }
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// The columns found so far.
#[derive(Default)]
struct Headings {
    names: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Headings {
    fn place_of(&mut self, name: String) -> Result<usize, DataError> {
        if let Some(at) = self.places.get(&name) {
            return Ok(*at);
        }
        if self.names.len() >= MOST_COLUMNS {
            return Err(AgentError::invalid(text!(
                "The file has more than {most} different members, so it is no table.",
                most = MOST_COLUMNS as u64
            ))
            .reason("too_many_columns")
            .into());
        }
        self.places.insert(name.clone(), self.names.len());
        self.names.push(name);
        Ok(self.names.len() - 1)
    }
}

/// A file of JSON lines as a flat file.
pub struct Flattened {
    /// The file.
    pub flat: Flat,
    /// The lines that cannot be read.
    pub rejected: Vec<RejectedRows>,
    /// The columns with lists of objects, whose values are in no column of their own.
    pub lists: BTreeSet<String>,
}

/// Writes a file of JSON lines as a flat file.
pub fn flatten(work: &Work<'_, '_>) -> Result<Flattened, DataError> {
    let Work { folder, input, teller, .. } = *work;
    let mut headings = Headings::default();
    let mut faults: BTreeMap<u64, String> = BTreeMap::new();
    let mut lists: BTreeSet<String> = BTreeSet::new();
    let (mut count, mut objects) = (0_u64, 0_u64);
    let is_list = input.is_json_list()?;
    each_object(input, is_list, |number, line, done| {
        teller.progress(number, done, input.bytes * 2);
        match members(line) {
            Ok(Some(found)) => {
                objects += 1;
                work.check_records(objects)?;
                for (name, cell) in found {
                    if cell.is_list && !lists.contains(&name) {
                        lists.insert(name.clone());
                    }
                    headings.place_of(name)?;
                }
            }
            Ok(None) => {}
            Err(cause) => {
                count += 1;
                if faults.len() < LINES {
                    faults.insert(number, cause);
                }
            }
        }
        Ok(())
    })?;
    let mut writer = FlatWriter::create(folder, &headings.names)?;
    let mut cells = vec![Cell::default(); headings.names.len()];
    each_object(input, is_list, |number, line, done| {
        teller.progress(number, input.bytes + done, input.bytes * 2);
        if let Ok(Some(found)) = members(line) {
            cells.iter_mut().for_each(|cell| *cell = Cell::default());
            for (name, cell) in found {
                let at = headings.place_of(name)?;
                cells[at] = cell;
            }
            let cells = cells.iter().map(|cell| (cell.text.as_str(), cell.is_number));
            writer.record(number, cells)?;
        }
        Ok(())
    })?;
    Ok(Flattened { flat: writer.finish()?, rejected: rejected(&faults, count), lists })
}

fn rejected(faults: &BTreeMap<u64, String>, count: u64) -> Vec<RejectedRows> {
    let Some((line, cause)) = faults.iter().next() else { return Vec::new() };
    let reason: Text = text!(
        "Line {line} is no object of JSON: {cause}. Correct the line, or leave such lines out.",
        line = *line,
        cause = cause.as_str()
    );
    vec![RejectedRows {
        cause: "not_json".to_owned(),
        reason,
        column: String::new(),
        lines: faults.keys().copied().collect(),
        count,
        sample: cause.clone(),
    }]
}

/// Calls a function with each object, its line and the bytes read so far.
fn each_object(
    input: &Input,
    is_list: bool,
    read: impl FnMut(u64, &[u8], u64) -> Result<(), DataError>,
) -> Result<(), DataError> {
    if is_list { each_element(input, read) } else { each_line(input, read) }
}

/// Calls a function with each line, its number and the bytes read so far.
fn each_line(
    input: &Input,
    mut read: impl FnMut(u64, &[u8], u64) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let mut reader = BufReader::with_capacity(1 << 18, input.open()?);
    let (mut line, mut number, mut done) = (Vec::new(), 0_u64, 0_u64);
    loop {
        line.clear();
        let length = reader
            .by_ref()
            .take(LONGEST_LINE + 1)
            .read_until(b'\n', &mut line)
            .map_err(DataError::file("the copy of the file"))? as u64;
        if length == 0 {
            return Ok(());
        }
        number += 1;
        done += length;
        if length > LONGEST_LINE {
            return Err(AgentError::invalid(text!(
                "Line {line} is longer than {size} MB.",
                line = number,
                size = LONGEST_LINE >> 20
            ))
            .reason("line_too_long")
            .hint("A file of JSON lines has one object per line.")
            .into());
        }
        let start = if number == 1 && line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        read(number, &line[start..], done)?;
    }
}

/// A value of a member.
#[derive(Clone, Debug, Default, PartialEq)]
struct Cell {
    text: String,
    /// Whether it is a number, and no text of digits.
    is_number: bool,
    /// Whether it is a list of objects.
    is_list: bool,
}

impl Cell {
    fn text(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Returns the cells of a line by the names of their columns. None for an empty line.
fn members(line: &[u8]) -> Result<Option<Vec<(String, Cell)>>, String> {
    let text = std::str::from_utf8(line).map_err(|_| "it is not UTF-8".to_owned())?.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let mut cells = Vec::new();
    collect(text, "", 0, &mut cells)?;
    // A member with a point in its name can have the name of one inside of an object.
    let mut names: Vec<&str> =
        cells.iter().map(|(name, _): &(String, Cell)| name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("the member {} occurs twice", pair[0]));
    }
    Ok(Some(cells))
}

fn collect(
    object: &str,
    prefix: &str,
    depth: usize,
    cells: &mut Vec<(String, Cell)>,
) -> Result<(), String> {
    let Members(members) = serde_json::from_str(object).map_err(|error| plain(&error))?;
    for (name, value) in members {
        let name = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        let value = value.get();
        match value.as_bytes().first() {
            Some(b'{') if depth < DEEPEST => collect(value, &name, depth + 1, cells)?,
            Some(b'"') => {
                let text = serde_json::from_str(value).map_err(|error| plain(&error))?;
                cells.push((name, Cell::text(text)));
            }
            Some(b'-' | b'0'..=b'9') => {
                cells.push((
                    name,
                    Cell { text: plain_number(value), is_number: true, is_list: false },
                ));
            }
            Some(b'n') => cells.push((name, Cell::default())),
            first => {
                let is_list = first == Some(&b'[') && value.contains('{');
                cells.push((name, Cell { text: value.to_owned(), is_number: false, is_list }));
            }
        }
    }
    Ok(())
}

/// The message without its place, which is one inside the line.
fn plain(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().to_owned()
}

/// Writes a number without an exponent, such as 1.5e3 as 1500.
fn plain_number(number: &str) -> String {
    let Some((digits, exponent)) = number.split_once(['e', 'E']) else { return number.to_owned() };
    let Some(exponent) = exponent.parse::<i32>().ok().filter(|most| most.abs() <= 40) else {
        return number.to_owned();
    };
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{places}");
    let point = i32::try_from(whole.len()).unwrap_or(0) + exponent;
    let length = i32::try_from(all.len()).unwrap_or(0);
    let padded = if point <= 0 {
        format!("0.{}{all}", "0".repeat(point.unsigned_abs() as usize))
    } else if point >= length {
        format!("{all}{}", "0".repeat((point - length).unsigned_abs() as usize))
    } else {
        let (whole, places) = all.split_at(point.unsigned_abs() as usize);
        format!("{whole}.{places}")
    };
    format!("{sign}{padded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_inner_objects_are_columns_and_digits_stay() {
        let line = br#"{"day": "2026-11-01", "m": {"cost": 1234.50, "n": 12345678901234567890}, "l": [1, 2], "x": null, "t": true}"#;
        let found = members(line).unwrap().unwrap();
        let texts: Vec<_> =
            found.iter().map(|(name, value)| (name.as_str(), value.text.as_str())).collect();
        assert_eq!(
            texts,
            [
                ("day", "2026-11-01"),
                ("m.cost", "1234.50"),
                ("m.n", "12345678901234567890"),
                ("l", "[1, 2]"),
                ("x", ""),
                ("t", "true")
            ]
        );
    }

    #[test]
    fn a_line_that_is_no_object_has_a_cause() {
        for line in [
            "[1]",
            "{\"a\": 1",
            "{\"a\": 1, \"a\": 2}",
            "{\"a.b\": 1, \"a\": {\"b\": 2}}",
            "text",
            "{\"a\": 1} {\"b\": 2}",
        ] {
            assert!(members(line.as_bytes()).is_err(), "{line}");
        }
        assert_eq!(members(b"  \n"), Ok(None));
        assert!(members(b"{\"a\": \"\xff\"}").is_err());
    }

    #[test]
    fn exponents_are_written_out() {
        for (written, plain) in [
            ("1.5e3", "1500"),
            ("-1.25E-2", "-0.0125"),
            ("12e0", "12"),
            ("1.2345e2", "123.45"),
            ("7", "7"),
            ("1e999", "1e999"),
        ] {
            assert_eq!(plain_number(written), plain, "{written}");
        }
    }
}
