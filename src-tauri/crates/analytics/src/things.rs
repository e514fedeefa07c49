//! The things that a computed source is about, from the largest to the smallest, and the dimensions with
//! verdicts on them. They are found by the columns of their definitions, whatever their names. This
//! module must not know the names that a source is proposed with.

use contract::{
    SourceName,
    definitions::{Calculation, Definitions, DimensionKind, Measure, Pacing, PacingName},
    params::DrillPath,
    sources::{ColumnUse, FoundColumn},
};

use crate::compile::{pace_scope::is_currency, pacing::is_key};

/// The columns with verdicts, the one with their words first.
const VERDICTS: [&str; 5] = ["status", "at_risk", "runs_out_early", "no_delivery", "late_data"];

/// Returns how the rows of a source are divided step by step. None: in any order.
pub fn drill_path(definitions: &Definitions, columns: &[FoundColumn]) -> Option<DrillPath> {
    let things = Things::of(definitions, columns)?;
    let named: Vec<String> = things.named().into_iter().cloned().collect();
    let level = things.judged().last().map(|name| (*name).clone())?;
    let verdicts = VERDICTS.iter().filter_map(|column| things.dimension(column));
    Some(DrillPath { things: named, level, verdicts: verdicts.cloned().collect() })
}

/// The things of a computed source.
pub(crate) struct Things<'a> {
    definitions: &'a Definitions,
    pacing: &'a Pacing,
    columns: &'a [FoundColumn],
}

impl<'a> Things<'a> {
    /// Returns the things of a source. None: its rows are those of a table.
    pub fn of(definitions: &'a Definitions, columns: &'a [FoundColumn]) -> Option<Self> {
        let pacing = definitions.pacing.as_ref()?;
        Some(Self { definitions, pacing, columns })
    }

    /// Returns the name of the source.
    pub fn source(&self) -> &'a SourceName {
        &self.definitions.source
    }

    /// Returns the dimension that has the values of a column.
    pub fn dimension(&self, column: &str) -> Option<&'a String> {
        let kind = DimensionKind::Column(column.to_owned());
        let mut dimensions = self.definitions.dimensions.iter();
        dimensions.find(|(_, dimension)| dimension.kind == kind).map(|(name, _)| name)
    }

    /// Returns the measure that is computed in some way, from all rows.
    pub fn measure(&self, calculation: &Calculation) -> Option<&'a String> {
        let mut measures = self.definitions.measures.iter();
        let is_same = |measure: &Measure| {
            measure.calculation == *calculation && measure.conditions.is_empty()
        };
        measures.find(|(_, measure)| is_same(measure)).map(|(name, _)| name)
    }

    /// Returns the measure with the number of things of a dimension.
    pub fn count(&self, dimension: &str) -> Option<&'a String> {
        self.measure(&Calculation::Distinct(dimension.to_owned()))
    }

    /// Returns the dimensions that people know things by. An id is left out if others are there.
    pub fn named(&self) -> Vec<&'a String> {
        let all = self.own();
        let is_id =
            |name: &PacingName| self.column(name).is_some_and(|one| one.usage == ColumnUse::Id);
        let without_ids: Vec<_> = all.iter().copied().filter(|(_, name)| !is_id(name)).collect();
        let found = self.dimensions(&without_ids);
        if found.is_empty() { self.dimensions(&all) } else { found }
    }

    /// Returns the dimensions with things that have verdicts: those that a measure counts, and the usual
    /// one if none of them is as small.
    pub fn judged(&self) -> Vec<&'a String> {
        let level = self.pacing.by.iter().position(|name| name.name == self.pacing.level);
        let last_key = self.pacing.by.iter().rposition(is_key);
        let mut judged = self.own();
        judged.retain(|(at, name)| Some(*at) <= last_key || name.plan.is_some());
        let is_counted = |name: &PacingName| {
            self.dimension(&name.name).is_some_and(|name| self.count(name).is_some())
        };
        let is_last = |at: usize| Some(at) >= level;
        let has_counted = judged.iter().any(|(at, name)| is_last(*at) && is_counted(name));
        let counted: Vec<(usize, &PacingName)> = judged
            .into_iter()
            .filter(|(at, name)| is_counted(name) || (!has_counted && Some(*at) == level))
            .collect();
        self.dimensions(&counted)
    }

    /// Returns the things with their places, without the currency and without those that are one alone.
    fn own(&self) -> Vec<(usize, &'a PacingName)> {
        let is_own = |name: &PacingName| {
            let is_constant = self.column(name).is_some_and(|column| column.constant.is_some());
            !is_constant && !is_currency(self.definitions, &name.name)
        };
        self.pacing.by.iter().enumerate().filter(|(_, name)| is_own(name)).collect()
    }

    fn dimensions(&self, names: &[(usize, &PacingName)]) -> Vec<&'a String> {
        names.iter().filter_map(|(_, name)| self.dimension(&name.name)).collect()
    }

    fn column(&self, name: &PacingName) -> Option<&'a FoundColumn> {
        self.columns.iter().find(|column| column.name == name.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::pacing_catalog;

    #[test]
    fn the_path_goes_from_the_largest_thing_to_the_smallest_and_knows_the_verdicts() {
        let catalog = pacing_catalog(true).unwrap();
        let definitions = &catalog.sources[2].definitions;
        let path = drill_path(definitions, &[]).unwrap();
        assert_eq!(path.things, ["account", "campaign", "line_item"]);
        assert_eq!((path.level.as_str(), path.verdicts.len()), ("campaign", VERDICTS.len()));
        let alone = FoundColumn {
            name: "account".to_owned(),
            constant: Some("One".to_owned()),
            ..FoundColumn::default()
        };
        let path = drill_path(definitions, &[alone]).unwrap();
        assert_eq!(path.things, ["campaign", "line_item"], "one account divides nothing");
        assert_eq!(drill_path(&catalog.sources[0].definitions, &[]), None);
    }
}
