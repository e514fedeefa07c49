//! The sentence about a name that does not exist: it tells what the name is instead, and offers only
//! names that fit there, the nearest first.

use contract::{
    Text,
    definitions::{Calculation, DimensionKind},
    members::{nearest_first, unknown_name},
    sources::ColumnKind,
    text,
};

use super::{ROWS, SourceModel};
use crate::{Problem, TableColumn};

/// The most names that are offered.
const MOST: usize = 24;

/// Returns the sentence about a name that does not exist, with those that fit.
pub(crate) fn unknown(written: &str, fitting: &[&str]) -> Text {
    let mut names = nearest_first(written, fitting);
    let is_cut = names.len() > MOST;
    names.truncate(MOST);
    if is_cut {
        names.push("\u{2026}");
    }
    unknown_name(written, &names)
}

impl SourceModel {
    /// Returns the problem of a measure that does not exist.
    pub(crate) fn unknown_measure(&self, name: &str) -> Problem {
        let names = self.definitions.measures.keys().map(String::as_str);
        let names: Vec<&str> = names.chain([ROWS]).collect();
        let source = self.name();
        if let Some(dimension) = self.named_dimension(name) {
            return Problem::new(text!(
                "{name} is a dimension of {source}, not a measure. Measures: {names}.",
                name = dimension,
                source,
                names = offer(name, &names)
            ))
            .hint(text!("Write it in \"by\" to group by it."));
        }
        match self.find_column(name) {
            Some(column) if is_number(column) => Problem::new(text!(
                "{name} is a column of {source}, not a measure. Write {{\"sum\": \"{name}\", \"as\": \"...\"}}, or define a measure.",
                name,
                source
            )),
            Some(_) => Problem::new(text!(
                "{name} is a column of {source} without numbers. Group by it, or count its values with {{\"distinct\": \"{name}\", \"as\": \"...\"}}.",
                name,
                source
            )),
            None => Problem::new(text!(
                "{source} has no such measure: {unknown}",
                source,
                unknown = unknown(name, &names)
            )),
        }
    }

    /// Returns the problem of a dimension that does not exist.
    pub(crate) fn unknown_dimension(&self, name: &str) -> Problem {
        let (names, source) = (self.dimension_names(), self.name());
        let measure = self.find_measure(name).filter(|_| name != ROWS);
        if names.is_empty() && measure.is_none() {
            return Problem::new(text!(
                "{source} has no {name}, and nothing else to group by but the time.",
                source,
                name
            ));
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match measure {
            Some(measure) => Problem::new(text!(
                "{name} is a measure of {source}, not a dimension. Dimensions: {names}.",
                name = measure,
                source,
                names = offer(name, &names)
            )),
            None => Problem::new(text!(
                "{source} has no such dimension: {unknown}",
                source,
                unknown = unknown(name, &names)
            )),
        }
    }

    /// Returns the problem of a condition on a name that does not exist. `figures` are the names of
    /// the figures of the result.
    pub(crate) fn unknown_in_condition(&self, name: &str, figures: &[String]) -> Problem {
        let mut names = self.dimension_names();
        names.extend(figures.iter().cloned());
        names.extend(self.definitions.measures.keys().cloned());
        // A condition may refer to the number of a row, too.
        names.extend(self.columns.iter().map(|column| column.name.clone()));
        let mut fitting: Vec<&str> = Vec::new();
        for name in &names {
            if !fitting.contains(&name.as_str()) {
                fitting.push(name);
            }
        }
        Problem::new(text!(
            "The condition names {name}, which {source} does not have: {unknown}",
            name,
            source = self.name(),
            unknown = unknown(name, &fitting)
        ))
    }

    /// Returns a defined dimension by its name or a synonym.
    fn named_dimension(&self, name: &str) -> Option<&str> {
        self.find_dimension(name).filter(|found| self.definitions.dimensions.contains_key(*found))
    }

    /// Returns what rows can be grouped by: dimensions, and columns that are neither the time nor
    /// numbers that measures compute with.
    fn dimension_names(&self) -> Vec<String> {
        let definitions = &self.definitions;
        let mut names: Vec<String> = definitions.dimensions.keys().cloned().collect();
        let is_used = |column: &&TableColumn| {
            definitions.dimensions.values().any(|dimension| {
                dimension.key.as_ref() == Some(&column.name)
                    || matches!(&dimension.kind, DimensionKind::Column(own) if *own == column.name)
            })
        };
        let is_time =
            |name: &str| definitions.time.as_ref().is_some_and(|time| time.column == name);
        let fits = |column: &&TableColumn| match column.kind {
            ColumnKind::Decimal => false,
            ColumnKind::Whole => !self.is_measured(&column.name),
            ColumnKind::Text | ColumnKind::Day | ColumnKind::Moment | ColumnKind::Flag => {
                !is_time(&column.name)
            }
        };
        let others = self.columns.iter().filter(|column| fits(column) && !is_used(column));
        names.extend(others.map(|column| column.name.clone()));
        names
    }

    /// Whether a measure computes with the numbers of a column.
    pub(crate) fn is_measured(&self, column: &str) -> bool {
        let measures = self.definitions.measures.values();
        let mut used = measures.map(|measure| column_of_measure(&measure.calculation));
        used.any(|used| used.is_some_and(|used| used == column))
    }
}

/// Returns the column whose numbers a calculation is of.
pub(crate) fn column_of_measure(calculation: &Calculation) -> Option<&String> {
    match calculation {
        Calculation::Sum(of)
        | Calculation::Average(of)
        | Calculation::Least(of)
        | Calculation::Greatest(of)
        | Calculation::Median(of)
        | Calculation::Single(of) => Some(of),
        Calculation::Weighted(of) => Some(&of.column),
        Calculation::Last(of) => Some(&of.column),
        Calculation::Percentile(of) => Some(&of.column),
        Calculation::Count(_)
        | Calculation::Distinct(_)
        | Calculation::Ratio(_)
        | Calculation::Plus(_)
        | Calculation::Minus(_)
        | Calculation::Of(_) => None,
    }
}

fn is_number(column: &TableColumn) -> bool {
    matches!(column.kind, ColumnKind::Whole | ColumnKind::Decimal)
}

/// Returns names as a list, the nearest first.
fn offer(written: &str, names: &[&str]) -> String {
    let names = nearest_first(written, names);
    names.into_iter().take(MOST).collect::<Vec<_>>().join(", ")
}
