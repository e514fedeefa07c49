//! Looks at a file before anything is read from it: shape, header line, columns with samples, the
//! layout if it is known, and the formats of the mapped columns.

use std::{collections::BTreeMap, path::Path};

use csv::{ReaderBuilder, StringRecord};

use crate::{
    dates::{DateFormat, SeenDates, is_day},
    fault::TableError,
    formats::{
        Source, find_source,
        text::{Encoding, has_malformed},
    },
    layout::{Layout, bracketed_code, plain_heading},
    mapping::{Mapping, MappingError},
    number::{Decimals, NumberFormat},
    rows::Rows,
    schema::Schema,
};

/// The number of records at the start of a file in which the header line is searched for.
const HEAD: usize = 60;
/// Samples of a column.
const SAMPLES: usize = 5;
/// Rows from which formats are learnt, if they leave no doubt.
const FORMAT_ROWS: usize = 2_000;
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
pub struct Survey<'s> {
    schema: &'s Schema,
    source: Source,
    /// The number of records up to and including the header line.
    header_end: usize,
    /// The line of the header.
    pub header_line: u64,
    /// The number of lines with text above the header.
    pub title_lines: u64,
    /// All columns, in their order.
    pub columns: Vec<Column>,
    /// The layout, if the file has the columns of a known one.
    pub layout: Option<&'s Layout>,
}

/// How the mapped columns are written.
#[derive(Clone, Copy, Debug)]
pub struct Formats {
    /// The format of the days.
    pub days: DateFormat,
    /// The format of the amounts.
    pub amounts: NumberFormat,
}

impl<'s> Survey<'s> {
    /// Looks at a file, for the fields of a schema.
    pub fn from_file(path: &Path, schema: &'s Schema) -> Result<Self, TableError> {
        let source = find_source(path, |text| find_separator(text, schema))?;
        let head = read_head(&source)?;
        let (at, layout) = find_header(&head, schema);
        let Some((header_line, header)) = head.get(at) else { return Err(TableError::Empty) };
        let columns = header
            .iter()
            .enumerate()
            .map(|(column, heading)| Column {
                heading: heading.trim().to_owned(),
                samples: samples(&head[at + 1..], column),
            })
            .collect();
        let has_text = |record: &StringRecord| record.iter().any(|cell| !cell.trim().is_empty());
        let title_lines = head[..at].iter().filter(|(_, record)| has_text(record)).count();
        Ok(Self {
            schema,
            source,
            header_end: at + 1,
            header_line: *header_line,
            title_lines: u64::try_from(title_lines).unwrap_or(u64::MAX),
            columns,
            layout,
        })
    }

    /// Returns the encoding. None for a workbook.
    pub fn encoding(&self) -> Option<Encoding> {
        match &self.source {
            Source::Text { encoding, .. } => Some(*encoding),
            Source::Workbook(_) => None,
        }
    }

    /// Whether the file has bytes that are no characters of its encoding, which are replaced. Reads
    /// the file in UTF-16 to its end.
    pub fn has_malformed_text(&self) -> Result<bool, TableError> {
        match &self.source {
            Source::Text { path, encoding, .. } => has_malformed(path, *encoding),
            Source::Workbook(_) => Ok(false),
        }
    }

    /// Returns the separator of cells. None for a workbook.
    pub fn separator(&self) -> Option<char> {
        match &self.source {
            Source::Text { separator, .. } => Some(char::from(*separator)),
            Source::Workbook(_) => None,
        }
    }

    /// Returns the headings in their order, in lower case. Files with the same text are mapped in
    /// the same way.
    pub fn column_names(&self) -> String {
        let names: Vec<String> =
            self.columns.iter().map(|column| column.heading.to_lowercase()).collect();
        names.join(" | ")
    }

    /// Returns the mapping of the recognised layout, changed by what a person said: a heading for
    /// each field, and constants. `#2` is the second column; an empty heading or value leaves the
    /// field out.
    pub fn map(
        &self,
        headings: &BTreeMap<String, String>,
        constants: &BTreeMap<String, String>,
    ) -> Result<Mapping, MappingError> {
        let mapping = self.change_mapping(self.layout_mapping(), headings, constants)?;
        match mapping.missing(self.schema).first() {
            Some(field) => Err(MappingError::FieldMissing((*field).to_owned())),
            None => Ok(mapping),
        }
    }

    /// Returns the mapping that the headings suggest, changed by what a person said. Required
    /// fields may be missing.
    pub fn suggest_mapping(
        &self,
        headings: &BTreeMap<String, String>,
        constants: &BTreeMap<String, String>,
    ) -> Result<Mapping, MappingError> {
        let base = if self.layout.is_some() {
            self.layout_mapping()
        } else {
            Mapping { columns: self.known_columns(), ..Mapping::default() }
        };
        self.change_mapping(base, headings, constants)
    }

    /// Returns the value of a field that the heading of another column states.
    pub fn stated_constant(&self, field: &str, mapping: &Mapping) -> Option<&str> {
        let column = mapping.columns.get(self.schema.constants.get(field)?)?;
        bracketed_code(&self.columns[*column].heading)
    }

    fn layout_mapping(&self) -> Mapping {
        let Some(layout) = self.layout else { return Mapping::default() };
        Mapping {
            columns: layout.find_columns(&self.plain_headings()),
            constants: layout.constants.clone(),
        }
    }

    fn plain_headings(&self) -> Vec<String> {
        self.columns.iter().map(|column| plain_heading(&column.heading)).collect()
    }

    /// Returns the columns whose heading occurs in some layout, and the only column with days.
    fn known_columns(&self) -> BTreeMap<String, usize> {
        let plain = self.plain_headings();
        let mut columns: BTreeMap<String, usize> = BTreeMap::new();
        for (field, at) in self.schema.layouts.iter().flat_map(|known| known.find_columns(&plain)) {
            if !columns.values().any(|used| *used == at) {
                columns.entry(field).or_insert(at);
            }
        }
        let has_days = |column: &Column| {
            !column.samples.is_empty() && column.samples.iter().all(|cell| is_day(cell))
        };
        let mut with_days = self.columns.iter().enumerate().filter(|(_, column)| has_days(column));
        if let (Some((at, _)), None) = (with_days.next(), with_days.next()) {
            columns.entry(self.schema.day.clone()).or_insert(at);
        }
        columns
    }

    fn change_mapping(
        &self,
        mut mapping: Mapping,
        headings: &BTreeMap<String, String>,
        constants: &BTreeMap<String, String>,
    ) -> Result<Mapping, MappingError> {
        let known = |field: &String| {
            self.schema.field(field).ok_or_else(|| MappingError::NoField(field.clone()))
        };
        for (field, heading) in headings {
            let field = known(field)?;
            if heading.trim().is_empty() {
                mapping.columns.remove(field);
            } else {
                let place = self.find_column(heading);
                let place = place.ok_or_else(|| MappingError::NoColumn(heading.clone()))?;
                mapping.columns.insert(field.to_owned(), place);
            }
        }
        for (field, value) in constants {
            let field = known(field)?;
            if value.trim().is_empty() {
                mapping.constants.remove(field);
            } else {
                mapping.columns.remove(field);
                mapping.constants.insert(field.to_owned(), value.trim().to_owned());
            }
        }
        for field in self.schema.constants.keys() {
            if !mapping.columns.contains_key(field)
                && let Some(code) = self.stated_constant(field, &mapping)
            {
                mapping.constants.entry(field.clone()).or_insert_with(|| code.to_owned());
            }
        }
        Ok(mapping)
    }

    /// Finds a column by its heading, by `#` and its number, or by a heading of the same words.
    fn find_column(&self, heading: &str) -> Option<usize> {
        let exact = self.columns.iter().position(|column| column.heading == heading.trim());
        let numbered = || {
            let number: usize = heading.trim().strip_prefix('#')?.parse().ok()?;
            number.checked_sub(1).filter(|at| *at < self.columns.len())
        };
        let wanted = plain_heading(heading);
        exact
            .or_else(numbered)
            .or_else(|| self.plain_headings().iter().position(|plain| *plain == wanted))
    }

    /// Learns how days and amounts are written. Reads on while a date or a number leaves doubt.
    pub fn formats(&self, mapping: &Mapping) -> Result<Formats, TableError> {
        let decimals = match self.separator() {
            Some(';') => Decimals::Comma,
            _ => Decimals::Point,
        };
        let (mut days, mut amounts) =
            (SeenDates::default(), NumberFormat::with_assumed_decimals(decimals));
        let totals = mapping.total_lines(self.schema);
        let places = (mapping.place(&self.schema.day), mapping.place(&self.schema.amount));
        let mut rows = self.rows()?;
        let mut seen = 0;
        while let Some((_, record)) = rows.next_row()? {
            if totals.is_total(record) {
                continue;
            }
            days.observe(record.get(places.0).unwrap_or_default());
            amounts.observe(record.get(places.1).unwrap_or_default());
            seen += 1;
            if seen >= FORMAT_ROWS && amounts.is_certain && !days.format().is_ambiguous() {
                break;
            }
        }
        Ok(Formats { days: days.format(), amounts })
    }

    /// Opens the rows after the header line.
    pub fn rows(&self) -> Result<Rows, TableError> {
        let mut rows = Rows::open(&self.source)?;
        for _ in 0..self.header_end {
            rows.next_row()?;
        }
        Ok(rows)
    }
}

/// Returns the separator that gives a known header, or else the most lines of the same width.
fn find_separator(text: &[u8], schema: &Schema) -> u8 {
    let score = |separator: u8| {
        let mut reader = ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .flexible(true)
            .from_reader(text);
        let head: Vec<(u64, StringRecord)> =
            reader.records().flatten().take(HEAD).map(|record| (0, record)).collect();
        let known =
            head.iter().map(|(_, record)| known_headings(record, schema).0).max().unwrap_or(0);
        let width = common_width(&head);
        let lines = head.iter().filter(|(_, record)| record.len() == width).count();
        (known, if width > 1 { lines } else { 0 }, width)
    };
    [b'|', b'\t', b';', b','].into_iter().max_by_key(|sign| score(*sign)).unwrap_or(b',')
}

fn read_head(source: &Source) -> Result<Vec<(u64, StringRecord)>, TableError> {
    let mut rows = Rows::open(source)?;
    let mut head = Vec::new();
    while head.len() < HEAD
        && let Some((line, record)) = rows.next_row()?
    {
        head.push((line, record.clone()));
    }
    Ok(head)
}

/// Returns the position of the header line, and the layout if it is known.
fn find_header<'s>(
    head: &[(u64, StringRecord)],
    schema: &'s Schema,
) -> (usize, Option<&'s Layout>) {
    let mut best: (usize, usize, Option<&Layout>) = (0, 0, None);
    for (at, (_, record)) in head.iter().enumerate() {
        let (known, layout) = known_headings(record, schema);
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
fn known_headings<'s>(record: &StringRecord, schema: &'s Schema) -> (usize, Option<&'s Layout>) {
    let headings: Vec<String> = record.iter().map(plain_heading).collect();
    let mut best: (usize, Option<&Layout>) = (0, None);
    for layout in &schema.layouts {
        let columns = layout.find_columns(&headings);
        let mapping = Mapping { columns, constants: BTreeMap::new() };
        let is_whole = mapping.missing(schema).is_empty();
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
