//! A mapping: which column or constant each field is read from. Must not know how a file is written.

use std::collections::BTreeMap;

use csv::StringRecord;

use crate::{
    schema::Schema,
    totals::{self, TotalLines},
};

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

impl Mapping {
    /// Returns the rule by which lines of totals and notes are recognised.
    pub fn total_lines(&self, schema: &Schema) -> TotalLines {
        let names = schema.totals.iter().map(|field| self.place(field));
        TotalLines { day: self.place(&schema.day), name: names.min().unwrap_or(usize::MAX) }
    }

    /// Returns where a field is read from, to look it up once instead of once per row.
    pub fn source(&self, field: &str) -> FieldSource<'_> {
        match self.columns.get(field) {
            Some(place) => FieldSource::Column(*place),
            None => FieldSource::Constant(self.constants.get(field).map_or("", String::as_str)),
        }
    }

    /// Returns the required fields that have neither column nor constant.
    pub fn missing<'s>(&self, schema: &'s Schema) -> Vec<&'s str> {
        let is_missing = |fields: &&Vec<String>| !fields.iter().any(|field| self.has(field));
        let missing = schema.required.iter().filter(is_missing);
        missing.filter_map(|fields| fields.first()).map(String::as_str).collect()
    }

    fn has(&self, field: &str) -> bool {
        self.columns.contains_key(field) || self.constants.contains_key(field)
    }

    pub(crate) fn place(&self, field: &str) -> usize {
        self.columns.get(field).copied().unwrap_or(usize::MAX)
    }
}
