//! Looks at a file before anything is read from it: shape, header line, columns with samples, the
//! layout if it is known, and the formats of the mapped columns.

use std::{
    collections::BTreeMap,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use csv::{ReaderBuilder, StringRecord};

use crate::{
    dates::DateFormat,
    layout::{Layout, currency_of, layouts, plain_heading},
    number::{Decimals, NumberFormat},
    rows::{Rows, Shape, TableError},
    text::{Encoding, find_encoding, open_text},
    totals,
};

/// The number of records at the start of a file in which the header line is searched for.
const HEAD: usize = 60;
/// Samples of a column.
const SAMPLES: usize = 3;
/// Rows from which formats are learnt, if they leave no doubt.
const FORMAT_ROWS: usize = 2_000;
/// The fields that a row cannot do without.
const REQUIRED: [&str; 3] = ["day", "campaign", "spend"];

/// A column as a person sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The heading as it is written.
    pub heading: String,
    /// Some of the first cells that are not empty.
    pub samples: Vec<String>,
}

/// The findings about a file.
#[derive(Clone, Debug)]
pub struct Survey {
    path: PathBuf,
    shape: Shape,
    /// The number of records up to and including the header line.
    header_end: usize,
    /// The line of the header.
    pub header_line: u64,
    /// All columns, in their order.
    pub columns: Vec<Column>,
    /// The layout, if the file has the columns of a known one.
    pub layout: Option<&'static Layout>,
}

/// Which column or constant each field is read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// The position of the column of each field.
    pub columns: BTreeMap<String, usize>,
    /// Values for fields that have no column.
    pub constants: BTreeMap<String, String>,
}

/// Where the text of a field is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldSource<'m> {
    /// A column.
    Column(usize),
    /// The same text for each row; empty if the field is not in the file.
    Constant(&'m str),
}

impl FieldSource<'_> {
    /// Returns the text of the field in a row. A cell of dashes is empty.
    pub fn text<'a>(&'a self, record: &'a StringRecord) -> &'a str {
        match self {
            Self::Constant(text) => text,
            Self::Column(place) => {
                let cell = record.get(*place).unwrap_or_default().trim();
                if totals::is_blank(cell) { "" } else { cell }
            }
        }
    }
}

/// Why a mapping cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappingError {
    /// A required field has neither column nor constant.
    FieldMissing(String),
    /// There is no column with this heading.
    NoColumn(String),
    /// There is no field with this name.
    NoField(String),
}

/// How the mapped columns are written.
#[derive(Clone, Copy, Debug)]
pub struct Formats {
    /// The format of the days.
    pub days: DateFormat,
    /// The format of the spend.
    pub amounts: NumberFormat,
}

/// Returns the name of a field, if there is such a field.
pub fn field_of(name: &str) -> Option<&'static str> {
    let name = name.trim();
    layouts()
        .iter()
        .flat_map(|layout| layout.columns.keys())
        .find(|f| *f == name)
        .map(String::as_str)
}

impl Survey {
    /// Looks at a file.
    pub fn of(path: &Path) -> Result<Self, TableError> {
        let shape = find_shape(path)?;
        let head = read_head(path, shape)?;
        let (at, layout) = find_header(&head);
        let Some((header_line, header)) = head.get(at) else { return Err(TableError::Empty) };
        let columns = header
            .iter()
            .enumerate()
            .map(|(column, heading)| Column {
                heading: heading.trim().to_owned(),
                samples: samples(&head[at + 1..], column),
            })
            .collect();
        Ok(Self {
            path: path.to_owned(),
            shape,
            header_end: at + 1,
            header_line: *header_line,
            columns,
            layout,
        })
    }

    /// Returns the encoding. None for a workbook.
    pub fn encoding(&self) -> Option<Encoding> {
        match self.shape {
            Shape::Text { encoding, .. } => Some(encoding),
            Shape::Workbook => None,
        }
    }

    /// Returns the separator of cells. None for a workbook.
    pub fn separator(&self) -> Option<char> {
        match self.shape {
            Shape::Text { separator, .. } => Some(char::from(separator)),
            Shape::Workbook => None,
        }
    }

    /// Returns the mapping of the recognised layout, changed by what a person said: a heading for
    /// each field, and constants.
    pub fn map(
        &self,
        headings: &BTreeMap<String, String>,
        constants: &BTreeMap<String, String>,
    ) -> Result<Mapping, MappingError> {
        let plain: Vec<String> = self.columns.iter().map(|c| plain_heading(&c.heading)).collect();
        let mut mapping = Mapping::default();
        if let Some(layout) = self.layout {
            mapping.columns = layout.find_columns(&plain);
            mapping.constants = layout.constants.clone();
        }
        for (field, heading) in headings {
            let field = field_of(field).ok_or_else(|| MappingError::NoField(field.clone()))?;
            let wanted = plain_heading(heading);
            let exact = self.columns.iter().position(|c| c.heading == heading.trim());
            let place = exact.or_else(|| plain.iter().position(|heading| *heading == wanted));
            let place = place.ok_or_else(|| MappingError::NoColumn(heading.clone()))?;
            mapping.columns.insert(field.to_owned(), place);
        }
        for (field, value) in constants {
            let field = field_of(field).ok_or_else(|| MappingError::NoField(field.clone()))?;
            mapping.columns.remove(field);
            mapping.constants.insert(field.to_owned(), value.clone());
        }
        if !mapping.columns.contains_key("currency")
            && let Some(code) =
                mapping.columns.get("spend").and_then(|at| currency_of(&self.columns[*at].heading))
        {
            mapping.constants.entry("currency".to_owned()).or_insert_with(|| code.to_owned());
        }
        match REQUIRED.iter().find(|field| !mapping.has(field)) {
            Some(field) => Err(MappingError::FieldMissing((*field).to_owned())),
            None => Ok(mapping),
        }
    }

    /// Learns how days and amounts are written. Reads on while a date or a number leaves doubt.
    pub fn formats(&self, mapping: &Mapping) -> Result<Formats, TableError> {
        let decimals = match self.separator() {
            Some(';') => Decimals::Comma,
            _ => Decimals::Point,
        };
        let mut formats =
            Formats { days: DateFormat::default(), amounts: NumberFormat::likely(decimals) };
        let (day, campaign) = (mapping.place("day"), mapping.place_of_campaign());
        let spend = mapping.place("spend");
        let mut rows = self.rows()?;
        let mut seen = 0;
        while let Some((_, record)) = rows.next_row()? {
            if totals::is_total(record, day, campaign) {
                continue;
            }
            formats.days.observe(record.get(day).unwrap_or_default());
            formats.amounts.observe(record.get(spend).unwrap_or_default());
            seen += 1;
            if seen >= FORMAT_ROWS && !formats.days.is_ambiguous() && formats.amounts.is_certain {
                break;
            }
        }
        Ok(formats)
    }

    /// Opens the rows after the header line.
    pub fn rows(&self) -> Result<Rows, TableError> {
        let mut rows = Rows::open(&self.path, self.shape)?;
        for _ in 0..self.header_end {
            rows.next_row()?;
        }
        Ok(rows)
    }
}

impl Mapping {
    /// Whether a line holds totals or a note instead of a row.
    pub fn is_total(&self, record: &StringRecord) -> bool {
        totals::is_total(record, self.place("day"), self.place_of_campaign())
    }

    /// Returns where a field is read from, to look it up once instead of once per row.
    pub fn source(&self, field: &str) -> FieldSource<'_> {
        match self.columns.get(field) {
            Some(place) => FieldSource::Column(*place),
            None => FieldSource::Constant(self.constants.get(field).map_or("", String::as_str)),
        }
    }

    fn has(&self, field: &str) -> bool {
        let has = |name: &str| self.columns.contains_key(name) || self.constants.contains_key(name);
        has(field) || (field == "campaign" && has("campaign_id"))
    }

    fn place(&self, field: &str) -> usize {
        self.columns.get(field).copied().unwrap_or(usize::MAX)
    }

    fn place_of_campaign(&self) -> usize {
        self.place("campaign").min(self.place("campaign_id"))
    }
}

fn find_shape(path: &Path) -> Result<Shape, TableError> {
    let mut start = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut start)?;
    if start.is_empty() {
        return Err(TableError::Empty);
    }
    if start.starts_with(b"PK\x03\x04") {
        return Ok(Shape::Workbook);
    }
    let encoding = find_encoding(path)?;
    let mut text = Vec::new();
    open_text(path, encoding)?.take(64 * 1024).read_to_end(&mut text)?;
    let separator = find_separator(&text);
    Ok(Shape::Text { encoding, separator })
}

/// Returns the separator that gives a known header, or else the most lines of the same width.
fn find_separator(text: &[u8]) -> u8 {
    let score = |separator: u8| {
        let mut reader = ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .flexible(true)
            .from_reader(text);
        let head: Vec<(u64, StringRecord)> =
            reader.records().flatten().take(HEAD).map(|record| (0, record)).collect();
        let known = head.iter().map(|(_, record)| known_headings(record).0).max().unwrap_or(0);
        let width = common_width(&head);
        let lines = head.iter().filter(|(_, record)| record.len() == width).count();
        (known, if width > 1 { lines } else { 0 }, width)
    };
    [b'|', b'\t', b';', b','].into_iter().max_by_key(|sign| score(*sign)).unwrap_or(b',')
}

fn read_head(path: &Path, shape: Shape) -> Result<Vec<(u64, StringRecord)>, TableError> {
    let mut rows = Rows::open(path, shape)?;
    let mut head = Vec::new();
    while head.len() < HEAD
        && let Some((line, record)) = rows.next_row()?
    {
        head.push((line, record.clone()));
    }
    Ok(head)
}

/// Returns the position of the header line, and the layout if it is known.
fn find_header(head: &[(u64, StringRecord)]) -> (usize, Option<&'static Layout>) {
    let mut best: (usize, usize, Option<&'static Layout>) = (0, 0, None);
    for (at, (_, record)) in head.iter().enumerate() {
        let (known, layout) = known_headings(record);
        if (layout.is_some(), known) > (best.2.is_some(), best.1) {
            best = (at, known, layout);
        }
    }
    if best.1 > 1 {
        return (best.0, best.2);
    }
    let width = common_width(head);
    let is_header = |record: &StringRecord| {
        record.len() == width && record.iter().all(|cell| !cell.trim().is_empty())
    };
    (head.iter().position(|(_, record)| is_header(record)).unwrap_or(0), None)
}

/// Returns the number of headings that a layout knows, and the layout if it knows all that are
/// required.
fn known_headings(record: &StringRecord) -> (usize, Option<&'static Layout>) {
    let headings: Vec<String> = record.iter().map(plain_heading).collect();
    let mut best: (usize, Option<&'static Layout>) = (0, None);
    for layout in layouts() {
        let columns = layout.find_columns(&headings);
        let mapping = Mapping { columns, constants: BTreeMap::new() };
        let is_whole = REQUIRED.iter().all(|field| mapping.has(field));
        let found = (mapping.columns.len(), is_whole.then_some(layout));
        if (found.1.is_some(), found.0) > (best.1.is_some(), best.0) {
            best = found;
        }
    }
    best
}

/// Returns the width that most lines have.
fn common_width(head: &[(u64, StringRecord)]) -> usize {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for (_, record) in head {
        *counts.entry(record.len()).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map_or(0, |(width, _)| width)
}

fn samples(rows: &[(u64, StringRecord)], column: usize) -> Vec<String> {
    rows.iter()
        .filter_map(|(_, record)| record.get(column))
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .take(SAMPLES)
        .map(|cell| cell.chars().take(60).collect())
        .collect()
}
