//! Dimensions of another source. A join finds at most one row of it, so that no row is counted twice:
//! a source that may have several is refused, and one that has several all the same gives no value.

use contract::{
    definitions::{Dimension, DimensionKind, Join, Lookup, Unmatched},
    sources::ColumnKind,
    text,
};

use super::{Value, row_scope::RowScope};
use crate::{Problem, SourceModel};

impl RowScope<'_> {
    /// Returns the value of a dimension of another source.
    pub fn lookup_value(&mut self, lookup: &Lookup) -> Result<Value, Problem> {
        let (step, value) = self.lookup_step(lookup)?;
        Ok(Value { sql: format!("{step}._n"), ..value })
    }

    /// Joins the step that has one value for each key. Returns its name, and the value for its type.
    pub fn lookup_step(&mut self, lookup: &Lookup) -> Result<(String, Value), Problem> {
        let source = self.source;
        let join = source.definitions.joins.get(lookup.source.as_str()).ok_or_else(|| {
            Problem::new(text!(
                "{source} has no join with {other}, so it has no {name} of it.",
                source = source.name(),
                other = &lookup.source,
                name = &lookup.of
            ))
            .hint(text!("Define a join on the columns that both have."))
        })?;
        let other = &self.catalog.sources[self.catalog.place(&lookup.source)?];
        check_one_row(other, join)?;
        let (sql, value, theirs) = self.write_lookup(other, join, lookup)?;
        let step = self.ctes.add("_lookup", sql);
        let mut on = Vec::new();
        for (at, (own, kind)) in join.on.keys().zip(theirs).enumerate() {
            let (own, theirs) = (self.column(own)?, format!("{step}._k{}", at + 1));
            on.push(if own.kind == kind {
                format!("{theirs} = {}", own.sql)
            } else {
                format!("CAST({theirs} AS VARCHAR) = CAST({} AS VARCHAR)", own.sql)
            });
        }
        let word = if join.unmatched == Unmatched::LeaveOut { "JOIN" } else { "LEFT JOIN" };
        self.join(format!("{word} {step} ON {}", on.join(" AND ")));
        Ok((step, value))
    }

    /// Writes the step with one row for each key. Returns the types of the keys, too.
    fn write_lookup(
        &mut self,
        other: &SourceModel,
        join: &Join,
        lookup: &Lookup,
    ) -> Result<(String, Value, Vec<ColumnKind>), Problem> {
        let dimension = other.dimension(&lookup.of)?;
        if matches!(dimension.kind, DimensionKind::Lookup(_)) {
            return Err(Problem::new(text!(
                "{name} of {source} comes from a third source, so it cannot describe rows of another one.",
                name = &lookup.of,
                source = other.name()
            )));
        }
        let mut joins = Vec::new();
        let mut scope = RowScope {
            dialect: self.dialect,
            catalog: self.catalog,
            source: other,
            primary: other,
            ctes: &mut *self.ctes,
            joins: &mut joins,
        };
        let value = scope.dimension_value(&dimension)?;
        let (mut select, mut present, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
        for (at, column) in join.on.values().enumerate() {
            let key = scope.column(column)?;
            select.push(format!("{} AS _k{}", key.sql, at + 1));
            present.push(format!("{} IS NOT NULL", key.sql));
            kinds.push(key.kind);
        }
        let table = scope.table()?;
        let from: Vec<String> = [table].into_iter().chain(joins).collect();
        let least = match value.kind {
            ColumnKind::Flag => format!("CAST(min(CAST({} AS INTEGER)) AS BOOLEAN)", value.sql),
            ColumnKind::Text
            | ColumnKind::Whole
            | ColumnKind::Decimal
            | ColumnKind::Day
            | ColumnKind::Moment => format!("min({})", value.sql),
        };
        let count = format!("count(DISTINCT {})", value.sql);
        let sql = format!(
            "SELECT {}, CASE WHEN {count} = 1 THEN {least} END AS _n, {count} > 1 AS _a\nFROM {}\nWHERE {}{}",
            select.join(", "),
            from.join("\n"),
            present.join(" AND "),
            super::parts::group_by(select.len())
        );
        Ok((sql, value, kinds))
    }
}

/// Fails unless a source has at most one row for the columns of a join.
fn check_one_row(other: &SourceModel, join: &Join) -> Result<(), Problem> {
    let columns: Vec<&str> = join.on.values().map(String::as_str).collect();
    let is_joined = |name: &String| {
        let column = match other.definitions.dimensions.get(name) {
            Some(Dimension { key: Some(key), .. }) => key,
            Some(Dimension { kind: DimensionKind::Column(column), .. }) => column,
            Some(_) | None => name,
        };
        columns.contains(&column.as_str()) || columns.contains(&name.as_str())
    };
    let one_per = &other.definitions.rows.one_per;
    if !one_per.is_empty() && one_per.iter().all(is_joined) {
        return Ok(());
    }
    let columns = columns.join(", ");
    Err(Problem::new(text!(
        "{source} may have several rows for one {columns}, which would count rows several times.",
        source = other.name(),
        columns = &columns
    ))
    .hint(text!(
        "If it has one row for each, say so in its definitions: {example}.",
        example = format!("rows: {{one_per: [{columns}]}}")
    )))
}
