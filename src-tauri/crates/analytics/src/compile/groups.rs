//! The dimensions of a result, and their values in each part.

use contract::{
    Text,
    definitions::{CurrencyOf, Dimension},
    manifest::Localised,
    metric_query::{GroupBy, MeasureUse, MetricQuery, Shift, TimeGrain},
    result::ColumnRole,
    sources::ColumnKind,
    text,
};

use super::{
    Purpose, Value,
    builder::Builder,
    currency::CURRENCY,
    model::{Dim, DimFrom, Side},
    times::shift_of_grain,
};
use crate::Problem;

/// The name of the group of all others.
pub(crate) const OTHER: &str = "Other";

/// Returns the name of a group in the result.
pub(crate) fn name_of_group(query: &MetricQuery, group: usize) -> String {
    let group = &query.by[group];
    match (&group.name, &group.by) {
        (Some(name), _) => name.clone(),
        (None, GroupBy::Dimension(name)) => name.clone(),
        (None, GroupBy::Time(grain)) => grain_name(*grain).to_owned(),
        (None, GroupBy::Define(_)) => "group".to_owned(),
    }
}

/// Returns the name of a grain of time.
pub(crate) fn grain_name(grain: TimeGrain) -> &'static str {
    match grain {
        TimeGrain::Hour => "hour",
        TimeGrain::Day => "day",
        TimeGrain::Week => "week",
        TimeGrain::Month => "month",
        TimeGrain::Quarter => "quarter",
        TimeGrain::Year => "year",
        TimeGrain::Weekday => "weekday",
        TimeGrain::HourOfDay => "hour_of_day",
        TimeGrain::MonthOfYear => "month_of_year",
        TimeGrain::PartOfDay => "part_of_day",
    }
}

impl Builder<'_> {
    /// Finds the dimensions of the result.
    pub fn plan_dims(&mut self) -> Result<(), Problem> {
        let mut dims = Vec::new();
        for group in 0..self.query.by.len() {
            let name = name_of_group(self.query, group);
            let value = self.probe(group)?;
            let (role, of) = match &self.query.by[group].by {
                GroupBy::Dimension(name) => (ColumnRole::Dimension, Some(name.clone())),
                GroupBy::Time(_) => (ColumnRole::Time, None),
                GroupBy::Define(_) => (ColumnRole::Dimension, None),
            };
            let is_time = matches!(value.kind, ColumnKind::Day | ColumnKind::Moment);
            let role = if is_time { ColumnRole::Time } else { role };
            let role =
                if role == ColumnRole::Time && !is_time { ColumnRole::Dimension } else { role };
            dims.push(self.dim(&name, value, role, Purpose::Shown, DimFrom::Group(group), of)?);
            if let Some(key) = self.key_of(group) {
                let value = self.key_value(&key)?;
                let own = if dims.iter().any(|dim| dim.name == key) {
                    format!("{name}_key")
                } else {
                    key
                };
                dims.push(self.dim(
                    &own,
                    value,
                    ColumnRole::Dimension,
                    Purpose::Key,
                    DimFrom::Key(group),
                    None,
                )?);
            }
        }
        if self.currencies.is_split && !dims.iter().any(|dim| self.is_currency(dim)) {
            let value = Value { sql: String::new(), kind: ColumnKind::Text, scale: 0 };
            dims.push(self.dim(
                CURRENCY,
                value,
                ColumnRole::Dimension,
                Purpose::Shown,
                DimFrom::Currency,
                None,
            )?);
            self.notes.push(text!(
                "Amounts of different currencies are not added: there is a row for each currency."
            ));
        }
        if reads_others(self.query) {
            let is_shown = self.query.top.as_ref().is_some_and(|top| top.others);
            let purpose = if is_shown { Purpose::Rest } else { Purpose::Hidden };
            let value = Value { sql: String::new(), kind: ColumnKind::Flag, scale: 0 };
            let role = ColumnRole::Dimension;
            dims.push(self.dim("_rest", value, role, purpose, DimFrom::Rest, None)?);
        }
        check_names(dims.iter().map(|dim| dim.name.as_str()))?;
        self.dims = dims;
        Ok(())
    }

    fn dim(
        &self,
        name: &str,
        value: Value,
        role: ColumnRole,
        purpose: Purpose,
        from: DimFrom,
        of: Option<String>,
    ) -> Result<Dim, Problem> {
        Ok(Dim {
            name: name.to_owned(),
            alias: self.dialect.identifier(name)?,
            kind: if self.is_ranked(from) { ColumnKind::Text } else { value.kind },
            scale: value.scale,
            role,
            purpose,
            from,
            of,
            label: Localised::new(),
        })
    }

    /// Whether a dimension has the currencies of the amounts.
    fn is_currency(&self, dim: &Dim) -> bool {
        let column = |name: &String| match self.source().dimension(name).ok()?.kind {
            contract::definitions::DimensionKind::Column(column) => Some(column),
            _ => None,
        };
        let own = dim.of.as_ref().and_then(column);
        let of_source = self.currencies.of_source.get(&self.primary);
        matches!((own, of_source), (Some(own), Some(CurrencyOf::Column { column })) if own == *column)
    }

    /// Returns the place of the dimension that has the currencies.
    pub fn currency_place(&self) -> Option<usize> {
        if !self.currencies.is_split {
            return None;
        }
        self.dims.iter().position(|dim| dim.from == DimFrom::Currency || self.is_currency(dim))
    }

    /// Returns the value of a group in a new part, for its type alone.
    fn probe(&mut self, group: usize) -> Result<Value, Problem> {
        let query = self.query;
        let mut joins = Vec::new();
        let source = self.source();
        let mut scope = super::row_scope::RowScope {
            dialect: self.dialect,
            catalog: self.catalog,
            source,
            primary: source,
            ctes: &mut super::Ctes::default(),
            joins: &mut joins,
        };
        match &query.by[group].by {
            GroupBy::Dimension(name) => {
                let dimension = source.dimension(name)?;
                scope.dimension_value(&dimension)
            }
            GroupBy::Time(grain) => scope.time_value(*grain, None),
            GroupBy::Define(kind) => scope.dimension_value(&Dimension::of_kind(kind.clone())),
        }
    }

    /// Returns the column with the key of a group, if all sources have one.
    pub fn key_of(&self, group: usize) -> Option<String> {
        let GroupBy::Dimension(name) = &self.query.by[group].by else { return None };
        let key = self.source().definitions.dimensions.get(name)?.key.clone()?;
        let has_key = |source: &usize| {
            let mut joins = Vec::new();
            let scope = super::row_scope::RowScope {
                dialect: self.dialect,
                catalog: self.catalog,
                source: &self.catalog.sources[*source],
                primary: self.source(),
                ctes: &mut super::Ctes::default(),
                joins: &mut joins,
            };
            scope.key_column(name).is_some()
        };
        self.sources.iter().all(has_key).then_some(key)
    }

    fn key_value(&self, key: &str) -> Result<Value, Problem> {
        let column = self.source().column(key)?;
        let is_text = self.sources.len() > 1;
        let kind = if is_text { ColumnKind::Text } else { column.kind };
        Ok(Value { sql: String::new(), kind, scale: column.scale })
    }

    /// Whether the name of a keyed group is found after the parts stand side by side.
    pub fn is_named_late(&self, from: DimFrom) -> bool {
        match from {
            DimFrom::Group(group) => self.sources.len() > 1 && self.key_of(group).is_some(),
            DimFrom::Key(_) | DimFrom::Currency | DimFrom::Rest => false,
        }
    }

    /// Writes the values of all dimensions in a part.
    pub fn write_dims(&mut self, part: usize) -> Result<Vec<String>, Problem> {
        let dims = self.dims.clone();
        let mut written = Vec::new();
        for dim in &dims {
            if self.is_named_late(dim.from) {
                continue;
            }
            let value = self.dim_value(part, dim.from)?;
            let value = self.rank_value(dim, value);
            written.push(format!("{value} AS {}", dim.alias));
        }
        Ok(written)
    }

    /// Returns the value of a dimension in a part.
    pub fn dim_value(&mut self, part: usize, from: DimFrom) -> Result<String, Problem> {
        match from {
            DimFrom::Group(group) => self.group_value(part, group),
            DimFrom::Key(group) => {
                let GroupBy::Dimension(name) = self.query.by[group].by.clone() else {
                    return Ok("NULL".to_owned());
                };
                let is_text = self.sources.len() > 1;
                let scope = self.scope(part);
                let key = scope.key_column(&name).ok_or_else(|| {
                    Problem::new(text!("{name} has no key in every source.", name))
                })?;
                let key = scope.column(&key)?.sql;
                Ok(if is_text { format!("CAST({key} AS VARCHAR)") } else { key })
            }
            DimFrom::Currency => {
                let source = self.parts[part].key.source;
                match self.currencies.of_source.get(&source).cloned() {
                    Some(CurrencyOf::Column { column }) => {
                        Ok(self.scope(part).column(&column)?.sql)
                    }
                    Some(CurrencyOf::Constant(code)) => self.dialect.literal(&code),
                    None => Ok("CAST(NULL AS VARCHAR)".to_owned()),
                }
            }
            DimFrom::Rest => Ok("(_top._p IS NULL)".to_owned()),
        }
    }

    fn group_value(&mut self, part: usize, group: usize) -> Result<String, Problem> {
        match self.query.by[group].by.clone() {
            GroupBy::Dimension(name) => {
                let mut scope = self.scope(part);
                let dimension = scope.dimension(&name)?;
                Ok(scope.dimension_value(&dimension)?.sql)
            }
            GroupBy::Time(grain) => {
                let shift = self.shift(part, grain);
                Ok(self.scope(part).time_value(grain, shift)?.sql)
            }
            GroupBy::Define(kind) => {
                Ok(self.scope(part).dimension_value(&Dimension::of_kind(kind))?.sql)
            }
        }
    }

    /// Returns how much later the times of a part are counted.
    pub fn shift(&self, part: usize, grain: TimeGrain) -> Option<Shift> {
        if self.parts[part].key.side == Side::Now {
            return None;
        }
        let shift = self.query.compare.as_ref()?.shift?;
        let now = self.bounds(Side::Now).first?;
        let before = self.bounds(Side::Before).first?;
        Some(shift_of_grain(grain, shift, now, before))
    }

    /// Returns the dimension that has the times, with their grain.
    pub fn time_dim(&self) -> Option<(&Dim, TimeGrain)> {
        self.dims.iter().find_map(|dim| match dim.from {
            DimFrom::Group(group) => match self.query.by[group].by {
                GroupBy::Time(grain) => Some((dim, grain)),
                GroupBy::Dimension(_) | GroupBy::Define(_) => None,
            },
            DimFrom::Key(_) | DimFrom::Currency | DimFrom::Rest => None,
        })
    }
}

/// Fails if two columns of a result have the same name. DuckDB takes small and capital letters for the
/// same.
pub(crate) fn check_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<(), Problem> {
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        let lower = name.to_lowercase();
        if seen.contains(&lower) {
            let problem: Text = text!("Two columns of the result are named {name}.", name);
            return Err(
                Problem::new(problem).hint(text!("Give one of them another name with \"as\"."))
            );
        }
        seen.push(lower);
    }
    Ok(())
}

/// Whether the rows of groups that are not among the first ones are read: they are a row of their own,
/// or figures are parts of a total of all groups.
pub(crate) fn reads_others(query: &MetricQuery) -> bool {
    let is_share = |used: &MeasureUse| !used.share_of.is_empty();
    query.top.as_ref().is_some_and(|top| top.others || query.measures.iter().any(is_share))
}
