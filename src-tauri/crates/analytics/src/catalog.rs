//! The sources that a query can use: their definitions and columns, and how names are found.

use std::collections::BTreeSet;

use contract::{
    SourceName,
    definitions::{
        Calculation, Covers, CurrencyOf, Definitions, Dimension, DimensionKind, Lookup, Measure,
        Synonyms,
    },
    sources::{ColumnKind, DayRange, ExportedDays, FoundColumn},
    text,
};

use crate::{
    Problem,
    calendar::{Calendar, days_later, months_later},
};

mod offered;
mod pacing;
mod plan;
mod value_names;

pub(crate) use offered::{column_of_measure, unknown};
pub(crate) use pacing::{constant_of, pacing_of};
pub use pacing::{pacing_columns, verdict_at_end};

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// The name.
    pub name: String,
    /// The type of its values.
    pub kind: ColumnKind,
    /// The decimal places of decimals.
    pub scale: u8,
    /// The value, if all rows have the same one.
    pub constant: Option<String>,
    /// Whether the database keeps the numbers as floats. They are made decimals before they are
    /// added up.
    pub is_float: bool,
}

impl From<&FoundColumn> for TableColumn {
    fn from(column: &FoundColumn) -> Self {
        Self {
            name: column.name.clone(),
            kind: column.kind,
            scale: if column.kind == ColumnKind::Decimal { column.scale } else { 0 },
            constant: column.constant.clone().filter(|_| column.empty == 0),
            is_float: false,
        }
    }
}

/// A source as queries see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceModel {
    /// The definitions.
    pub definitions: Definitions,
    /// The name of the table, with schema and catalog before it if it has them.
    pub table: Vec<String>,
    /// The columns of the table.
    pub columns: Vec<TableColumn>,
    /// The days for which the data are complete. None: not known.
    pub covered: Option<DayRange>,
    /// The files that the days come from, the newest import first. Empty: the rows are those of now.
    pub exports: Vec<ExportedDays>,
    /// The hashes of the definitions that a person approved, or that need no approval.
    pub approved: BTreeSet<String>,
}

/// The sources that a query can use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// The sources.
    pub sources: Vec<SourceModel>,
}

/// The name of the measure that counts rows and needs no definition.
pub(crate) const ROWS: &str = "rows";

impl SourceModel {
    /// Creates the model of a source whose table has its name. The columns are those of the table. A
    /// plan has others, as its definitions say.
    pub fn new(definitions: Definitions, columns: Vec<TableColumn>) -> Self {
        let table = vec![definitions.source.to_string()];
        let columns = plan::columns_of(&definitions, columns);
        let (exports, approved) = (Vec::new(), BTreeSet::new());
        Self { definitions, table, columns, covered: None, exports, approved }
    }

    /// Returns the days for which the data are complete, with all days that the last rows cover. None
    /// if they are not known, and for plans.
    pub(crate) fn covered_days(&self) -> Option<DayRange> {
        if self.definitions.spread.is_some() || self.definitions.pacing.is_some() {
            return None;
        }
        self.covered.map(|days| self.whole_days(days))
    }

    /// Returns the files that the days come from, with all days that their last rows cover. Empty for
    /// plans.
    pub(crate) fn exported_days(&self) -> Vec<ExportedDays> {
        if self.definitions.spread.is_some() || self.definitions.pacing.is_some() {
            return Vec::new();
        }
        let whole = |one: &ExportedDays| ExportedDays { days: self.whole_days(one.days), ..*one };
        self.exports.iter().map(whole).collect()
    }

    /// Returns the days of rows with all days that the last rows cover.
    fn whole_days(&self, days: DayRange) -> DayRange {
        let covers = self.definitions.time.as_ref().and_then(|time| time.covers.as_ref());
        match covers {
            None | Some(Covers::Until(_)) => days,
            Some(Covers::Week) => DayRange { last: days_later(days.last, 6), ..days },
            Some(Covers::WeekEnding) => DayRange { first: days_later(days.first, -6), ..days },
            Some(Covers::Month) => {
                DayRange { last: days_later(months_later(days.last, 1), -1), ..days }
            }
            Some(Covers::Quarter) => {
                DayRange { last: days_later(months_later(days.last, 3), -1), ..days }
            }
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &SourceName {
        &self.definitions.source
    }

    /// Returns the calendar of the source.
    pub(crate) fn calendar(&self) -> Calendar {
        self.definitions.time.as_ref().map_or_else(Calendar::default, |time| Calendar {
            week_start: time.week.days_from_monday(),
            year_start: time.year_starts,
        })
    }

    /// Returns a column by its name.
    pub fn column(&self, name: &str) -> Result<&TableColumn, Problem> {
        self.find_column(name).ok_or_else(|| {
            let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
            Problem::new(text!(
                "{source} has no such column: {unknown}",
                source = self.name(),
                unknown = unknown(name, &names)
            ))
        })
    }

    pub(crate) fn find_column(&self, name: &str) -> Option<&TableColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Returns the time column.
    pub(crate) fn time_column(&self) -> Result<&TableColumn, Problem> {
        let time = self.definitions.time.as_ref().ok_or_else(|| {
            Problem::new(text!("{source} has no time column.", source = self.name()))
                .hint(text!("Say in the definitions which column is the day or the moment."))
        })?;
        self.column(&time.column)
    }

    /// Returns the name of the measure that is written in some way, if there is one.
    pub(crate) fn find_measure(&self, written: &str) -> Option<&str> {
        let measures = &self.definitions.measures;
        if written == ROWS && !measures.contains_key(ROWS) {
            return Some(ROWS);
        }
        find(written, measures.iter().map(|(name, measure)| (name.as_str(), &measure.synonyms)))
    }

    /// Returns a measure by its own name.
    pub(crate) fn measure(&self, name: &str) -> Result<Measure, Problem> {
        if let Some(measure) = self.definitions.measures.get(name) {
            return Ok(measure.clone());
        }
        if name == ROWS {
            return Ok(Measure::of(Calculation::Count(ROWS.to_owned())));
        }
        Err(self.unknown_measure(name))
    }

    /// Returns the currency of a calculation's column: the one that measures of this column have. An
    /// amount keeps its currency, whatever is computed from it.
    pub(crate) fn currency_of(&self, calculation: &Calculation) -> Option<CurrencyOf> {
        let column = column_of_measure(calculation)?;
        let same = |measure: &&Measure| column_of_measure(&measure.calculation) == Some(column);
        let known = || self.definitions.measures.values().filter(same);
        let in_column = |currency: &&CurrencyOf| matches!(currency, CurrencyOf::Column { .. });
        let all = || known().filter_map(|measure| measure.currency.as_ref());
        all().find(in_column).or_else(|| all().next()).cloned()
    }

    /// Returns the name of the dimension or column that is written in some way.
    pub(crate) fn find_dimension(&self, written: &str) -> Option<&str> {
        let dimensions = self.definitions.dimensions.iter();
        let named = dimensions.map(|(name, dimension)| (name.as_str(), &dimension.synonyms));
        find(written, named)
            .or_else(|| self.find_column(written).map(|column| column.name.as_str()))
            .or_else(|| {
                let lower = written.to_lowercase();
                let mut same = self.columns.iter().filter(|c| c.name.to_lowercase() == lower);
                let found = same.next()?;
                same.next().is_none().then_some(found.name.as_str())
            })
    }

    /// Returns a dimension by its own name, a column as one, or a dimension of a source that a join
    /// names, written as `SOURCE.DIMENSION`.
    pub(crate) fn dimension(&self, name: &str) -> Result<Dimension, Problem> {
        if let Some(dimension) = self.definitions.dimensions.get(name) {
            return Ok(dimension.clone());
        }
        if self.find_column(name).is_some() {
            return Ok(Dimension::of_column(name));
        }
        match self.split_lookup(name) {
            Some((source, of)) => {
                let lookup = Lookup { source: source.into(), of: of.to_owned() };
                Ok(Dimension::of_kind(DimensionKind::Lookup(lookup)))
            }
            None => Err(self.unknown_dimension(name)),
        }
    }

    /// Returns source and dimension of a name such as `clients.manager`, if a join names the source.
    pub(crate) fn split_lookup<'n>(&self, name: &'n str) -> Option<(&'n str, &'n str)> {
        name.split_once('.').filter(|(source, _)| self.definitions.joins.contains_key(*source))
    }
}

/// Finds a name, whole or by a synonym, in any case of letters.
fn find<'n>(
    written: &str,
    named: impl Iterator<Item = (&'n str, &'n Synonyms)> + Clone,
) -> Option<&'n str> {
    let exact = named.clone().find(|(name, _)| *name == written);
    let lower = written.to_lowercase();
    let by_letters = || named.clone().find(|(name, _)| name.to_lowercase() == lower);
    let by_synonym = || {
        named.clone().find(|(_, synonyms)| {
            synonyms.values().flatten().any(|synonym| synonym.to_lowercase() == lower)
        })
    };
    exact.or_else(by_letters).or_else(by_synonym).map(|(name, _)| name)
}

impl Catalog {
    /// Returns the place of a source in the list.
    pub(crate) fn place(&self, name: &SourceName) -> Result<usize, Problem> {
        self.sources.iter().position(|source| source.name() == name).ok_or_else(|| {
            let names: Vec<&str> =
                self.sources.iter().map(|source| source.name().as_str()).collect();
            Problem::new(text!(
                "There is no such source: {unknown}",
                unknown = unknown(name.as_str(), &names)
            ))
        })
    }
}
