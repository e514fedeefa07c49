//! The rows of one source inside a statement: columns, and the joins that their values need.

use contract::{
    definitions::{Dimension, DimensionKind},
    sources::ColumnKind,
    text,
};

use super::{Value, pace_scope::PaceScope};
use crate::{Catalog, Dialect, Problem, SourceModel, catalog::TableColumn, resolve::DayBounds};

/// The named steps of a statement, in order.
#[derive(Debug, Default)]
pub(crate) struct Ctes {
    /// The days that the statement needs, for steps with a row for each day.
    pub days: DayBounds,
    /// The part of the question that is about the rows of computed sources.
    pub pacing: Option<PaceScope>,
    steps: Vec<(String, String)>,
}

impl Ctes {
    /// Begins a statement that reads rows of some days.
    pub fn of_days(days: DayBounds) -> Self {
        Self { days, ..Self::default() }
    }

    /// Adds a step, unless the same one is there. Returns its name.
    pub fn add(&mut self, prefix: &str, sql: String) -> String {
        if let Some((name, _)) = self.steps.iter().find(|(_, known)| *known == sql) {
            return name.clone();
        }
        let same = self.steps.iter().filter(|(name, _)| {
            name.strip_prefix(prefix).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
        });
        let name = format!("{prefix}{}", same.count() + 1);
        self.steps.push((name.clone(), sql));
        name
    }

    /// Adds the step with a name that no other one has.
    pub fn push(&mut self, name: &str, sql: String) -> String {
        self.steps.push((name.to_owned(), sql));
        name.to_owned()
    }

    /// Writes the statement that ends with a SELECT.
    pub fn write(&self, select: &str) -> String {
        if self.steps.is_empty() {
            return select.to_owned();
        }
        let steps: Vec<String> =
            self.steps.iter().map(|(name, sql)| format!("{name} AS (\n{sql}\n)")).collect();
        format!("WITH {}\n{select}", steps.join(",\n"))
    }
}

/// The rows of one source.
pub(crate) struct RowScope<'a> {
    /// The database.
    pub dialect: Dialect,
    /// All sources.
    pub catalog: &'a Catalog,
    /// The source.
    pub source: &'a SourceModel,
    /// The source that the query begins with, whose names it uses.
    pub primary: &'a SourceModel,
    /// The steps of the statement.
    pub ctes: &'a mut Ctes,
    /// The joins that values need, each at most once.
    pub joins: &'a mut Vec<String>,
}

impl RowScope<'_> {
    /// Returns the table in SQL.
    pub fn table(&self) -> Result<String, Problem> {
        let parts: Vec<String> = self
            .source
            .table
            .iter()
            .map(|part| self.dialect.identifier(part))
            .collect::<Result<_, _>>()?;
        Ok(parts.join("."))
    }

    /// Returns a dimension of the query as this source has it: by its name, or by a join.
    pub fn dimension(&self, name: &str) -> Result<Dimension, Problem> {
        if self.source.name() == self.primary.name() {
            return self.source.dimension(name);
        }
        if let Some(own) = self.source.definitions.dimensions.get(name) {
            return Ok(own.clone());
        }
        // A source that two others are joined with describes rows of both.
        if let Ok(dimension) = self.primary.dimension(name)
            && let DimensionKind::Lookup(lookup) = &dimension.kind
            && self.source.definitions.joins.contains_key(lookup.source.as_str())
        {
            return Ok(dimension);
        }
        let joined = self.joined_column(name);
        let own = joined.or_else(|| self.source.find_column(name).map(|c| c.name.clone()));
        own.map(Dimension::of_column).ok_or_else(|| {
            Problem::new(text!(
                "{source} has no {name}, so its figures cannot be divided or filtered by it.",
                source = self.source.name(),
                name
            ))
            .hint(text!(
                "Ask for the figures of each source apart, or define a join on {name}.",
                name
            ))
        })
    }

    /// Returns the column of this source that a join sets equal to a dimension of the first one.
    fn joined_column(&self, name: &str) -> Option<String> {
        let dimension = self.primary.dimension(name).ok()?;
        let DimensionKind::Column(column) = dimension.kind else { return None };
        let join = self.primary.definitions.joins.get(self.source.name().as_str())?;
        let by_key = dimension.key.and_then(|key| join.on.get(&key));
        by_key.or_else(|| join.on.get(&column)).cloned()
    }

    /// Returns the column with the key of a dimension, if this source has one.
    pub fn key_column(&self, name: &str) -> Option<String> {
        if self.source.name() == self.primary.name() {
            return self.source.definitions.dimensions.get(name)?.key.clone();
        }
        if let Some(own) = self.source.definitions.dimensions.get(name) {
            return own.key.clone();
        }
        let key = self.primary.definitions.dimensions.get(name)?.key.as_ref()?;
        let join = self.primary.definitions.joins.get(self.source.name().as_str())?;
        join.on.get(key).cloned()
    }

    /// Returns a column as a value.
    pub fn column(&self, name: &str) -> Result<Value, Problem> {
        let column = self.source.column(name)?;
        self.value_of(column)
    }

    fn value_of(&self, column: &TableColumn) -> Result<Value, Problem> {
        let name = self.dialect.identifier(&column.name)?;
        let sql = if column.is_float {
            format!("CAST({name} AS {})", self.dialect.decimal(column.scale))
        } else {
            name
        };
        Ok(Value { sql, kind: column.kind, scale: column.scale })
    }

    /// Returns a column that has numbers.
    pub fn number(&self, name: &str) -> Result<Value, Problem> {
        let value = self.column(name)?;
        match value.kind {
            ColumnKind::Whole | ColumnKind::Decimal => Ok(value),
            ColumnKind::Text | ColumnKind::Day | ColumnKind::Moment | ColumnKind::Flag => {
                Err(Problem::new(text!(
                    "{name} of {source} has no numbers, so nothing can be computed from it.",
                    name,
                    source = self.source.name()
                )))
            }
        }
    }

    /// Adds a join, unless it is there.
    pub fn join(&mut self, join: String) {
        if !self.joins.contains(&join) {
            self.joins.push(join);
        }
    }
}
