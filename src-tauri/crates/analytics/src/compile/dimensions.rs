//! The values of dimensions, row by row.

use contract::{
    definitions::{Bins, Dimension, DimensionKind, FirstValue, Groups, Split},
    sources::ColumnKind,
    text,
};

use super::{Value, conditions::simple_test, row_scope::RowScope};
use crate::Problem;

impl RowScope<'_> {
    /// Returns the value of a dimension. That of a keyed one is its latest name.
    pub fn dimension_value(&mut self, dimension: &Dimension) -> Result<Value, Problem> {
        match (&dimension.kind, &dimension.key) {
            (DimensionKind::Column(column), Some(key)) => self.latest_name(column, key),
            (DimensionKind::Column(column), None) => self.column(column),
            (DimensionKind::When(condition), _) => {
                let condition = self.condition(condition)?;
                let sql = format!("coalesce({condition}, FALSE)");
                Ok(Value { sql, kind: ColumnKind::Flag, scale: 0 })
            }
            (DimensionKind::Groups(groups), _) => self.group_of(groups),
            (DimensionKind::Split(split), _) => self.part_of(split),
            (DimensionKind::Bins(bins), _) => self.bin_of(bins),
            (DimensionKind::First(first), _) => self.first_value(first),
            (DimensionKind::Lookup(lookup), _) => self.lookup_value(lookup),
        }
    }

    fn group_of(&mut self, groups: &Groups) -> Result<Value, Problem> {
        let value = self.column(&groups.of)?;
        let mut cases = String::new();
        for (name, test) in &groups.groups {
            let test = simple_test(self.dialect, &value, test, &groups.of)?;
            cases.push_str(&format!(" WHEN {test} THEN {}", self.dialect.literal(name)?));
        }
        let other = match &groups.other {
            Some(other) => self.dialect.literal(other)?,
            None => "NULL".to_owned(),
        };
        if cases.is_empty() {
            return Err(Problem::new(text!("A dimension of groups needs at least one group.")));
        }
        Ok(text_value(format!("CASE{cases} ELSE {other} END")))
    }

    fn part_of(&mut self, split: &Split) -> Result<Value, Problem> {
        let value = self.column(&split.of)?;
        if value.kind != ColumnKind::Text {
            return Err(Problem::new(text!(
                "{name} has no texts, so it cannot be split.",
                name = split.of
            )));
        }
        let by = self.dialect.literal(&split.by)?;
        Ok(text_value(format!("NULLIF(split_part({}, {by}, {}), '')", value.sql, split.part)))
    }

    fn bin_of(&mut self, bins: &Bins) -> Result<Value, Problem> {
        let value = self.number(&bins.of)?.sql;
        let mut cases = format!("WHEN {value} IS NULL THEN NULL");
        for (at, edge) in bins.edges.iter().enumerate() {
            let label = bin_label(&bins.edges, at);
            cases.push_str(&format!(
                " WHEN {value} < {edge} THEN {}",
                self.dialect.literal(&label)?
            ));
        }
        let last = self.dialect.literal(&bin_label(&bins.edges, bins.edges.len()))?;
        Ok(text_value(format!("CASE {cases} ELSE {last} END")))
    }

    /// Returns the name of the latest row with the same key. Rows without a key keep their own name.
    fn latest_name(&mut self, column: &str, key: &str) -> Result<Value, Problem> {
        let value = self.column(column)?;
        let key = self.column(key)?.sql;
        let own = value.sql.clone();
        let order = match self.source.definitions.time {
            Some(_) => {
                let time = self.dialect.identifier(&self.source.time_column()?.name)?;
                format!("max({time}) DESC NULLS LAST, ")
            }
            None => String::new(),
        };
        let names = self.lookup("_names", &own, &key, &order)?;
        self.join(format!("LEFT JOIN {names} ON {names}._k = {key}"));
        Ok(Value { sql: format!("coalesce({names}._n, {own})"), ..value })
    }

    /// Returns the value of the earliest row with the same key.
    fn first_value(&mut self, first: &FirstValue) -> Result<Value, Problem> {
        let value = self.column(&first.of)?;
        let key = self.column(&first.per)?.sql;
        let time = self.dialect.identifier(&self.source.time_column()?.name)?;
        let order = format!("min({time}) NULLS LAST, ");
        let firsts = self.lookup("_firsts", &value.sql, &key, &order)?;
        self.join(format!("LEFT JOIN {firsts} ON {firsts}._k = {key}"));
        Ok(Value { sql: format!("{firsts}._n"), ..value })
    }

    /// Adds a step with one value for each key.
    fn lookup(
        &mut self,
        prefix: &str,
        value: &str,
        key: &str,
        order: &str,
    ) -> Result<String, Problem> {
        let table = self.table()?;
        let collation = self.text_collation(value);
        let sql = format!(
            "SELECT _k, _n FROM (SELECT {key} AS _k, {value} AS _n, row_number() OVER (PARTITION BY {key} ORDER BY {order}{value}{collation}) AS _p FROM {table} WHERE {key} IS NOT NULL AND {value} IS NOT NULL GROUP BY {key}, {value}) AS _ranked WHERE _p = 1"
        );
        Ok(self.ctes.add(prefix, sql))
    }

    fn text_collation(&self, identifier: &str) -> &'static str {
        let is_text = self.source.columns.iter().any(|column| {
            column.kind == ColumnKind::Text
                && self.dialect.identifier(&column.name).as_deref() == Ok(identifier)
        });
        if is_text { self.dialect.binary() } else { "" }
    }
}

fn text_value(sql: String) -> Value {
    Value { sql, kind: ColumnKind::Text, scale: 0 }
}

/// Returns the name of a range between edges, by the number of edges below it.
pub(crate) fn bin_label(edges: &[i64], below: usize) -> String {
    match (below.checked_sub(1).and_then(|at| edges.get(at)), edges.get(below)) {
        (None, Some(upper)) => format!("< {upper}"),
        (Some(lower), Some(upper)) => format!("{lower} to < {upper}"),
        (Some(lower), None) => format!(">= {lower}"),
        (None, None) => String::new(),
    }
}
