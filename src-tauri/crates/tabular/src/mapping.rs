//! A mapping: which column or constant each field is read from. Must not know how a file is written.

use std::collections::BTreeMap;

use csv::StringRecord;

use crate::totals;

/// The fields that a row cannot do without.
pub(crate) const REQUIRED: [&str; 3] = ["day", "campaign", "spend"];

/// Whether a row cannot do without this field.
pub fn is_required(field: &str) -> bool {
    REQUIRED.contains(&field)
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

    /// Returns the required fields that have neither column nor constant.
    pub fn missing(&self) -> Vec<&'static str> {
        REQUIRED.into_iter().filter(|field| !self.has(field)).collect()
    }

    fn has(&self, field: &str) -> bool {
        let has = |name: &str| self.columns.contains_key(name) || self.constants.contains_key(name);
        has(field) || (field == "campaign" && has("campaign_id"))
    }

    pub(crate) fn place(&self, field: &str) -> usize {
        self.columns.get(field).copied().unwrap_or(usize::MAX)
    }

    pub(crate) fn place_of_campaign(&self) -> usize {
        self.place("campaign").min(self.place("campaign_id"))
    }
}
