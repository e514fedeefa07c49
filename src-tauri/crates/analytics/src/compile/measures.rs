//! Measures as formulas over base figures.

use contract::{
    definitions::{Calculation, CurrencyOf, LastValue, Percentile, WeightedAverage},
    metric_query::Condition,
    sources::ColumnKind,
    text,
};

use super::{
    Value,
    builder::Builder,
    conditions::join_conditions,
    formulas::{Base, BaseKind, Formula, Merge},
    model::{LastRows, PartKey, Side},
};
use crate::{Problem, catalog::ROWS, resolve::owner};

/// The depth at which a measure made of measures is taken for a circle.
const MAX_DEPTH: usize = 16;

/// The rows that a measure is computed from.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// The place of the source.
    pub source: usize,
    /// The side of a comparison.
    pub side: Side,
    /// Whether earlier rows count.
    pub is_wide: bool,
    /// The conditions of the measure.
    pub conditions: Vec<Condition>,
    /// Where the currency of the amounts is, if they are amounts.
    pub currency: Option<CurrencyOf>,
    /// The number of measures around this one.
    pub depth: usize,
}

impl Builder<'_> {
    /// Returns the formula of a measure.
    pub fn measure(&mut self, name: &str, rows: &Rows) -> Result<Formula, Problem> {
        if rows.depth > MAX_DEPTH {
            return Err(Problem::new(text!("The measure {name} is defined by itself.", name)));
        }
        let (source, own_name) = owner(name, &self.catalog.sources[rows.source], self.catalog)?;
        let measure = source.measure(own_name)?;
        let mut rows = rows.clone();
        rows.source = self.catalog.place(source.name())?;
        rows.conditions.extend(measure.conditions.clone());
        rows.currency = measure.currency.clone().or(rows.currency);
        rows.depth += 1;
        self.calculation(&measure.calculation, &rows)
    }

    /// Returns the formula of a calculation.
    pub fn calculation(
        &mut self,
        calculation: &Calculation,
        rows: &Rows,
    ) -> Result<Formula, Problem> {
        let of_column = || self.catalog.sources[rows.source].currency_of(calculation);
        let currency = rows.currency.clone().or_else(of_column);
        let rows = &Rows { currency, ..rows.clone() };
        match calculation {
            Calculation::Sum(column) => self.sum(column, rows),
            Calculation::Count(column) => self.count(column, rows),
            Calculation::Distinct(name) => self.distinct(name, rows),
            Calculation::Average(column) => {
                let above = self.sum(column, rows)?;
                Ok(Formula::divide(above, self.count(column, rows)?))
            }
            Calculation::Weighted(weighted) => self.weighted(weighted, rows),
            Calculation::Last(last) => self.last(last, rows),
            Calculation::Least(column) => self.extreme(column, "min", rows),
            Calculation::Greatest(column) => self.extreme(column, "max", rows),
            Calculation::Median(column) => {
                self.percentile(&Percentile { column: column.clone(), at: 50 }, rows)
            }
            Calculation::Percentile(percentile) => self.percentile(percentile, rows),
            Calculation::Single(column) => self.single(column, rows),
            Calculation::Ratio([above, below]) => {
                let above = self.measure(above, rows)?;
                Ok(Formula::divide(above, self.measure(below, rows)?))
            }
            Calculation::Plus(names) => {
                let parts: Vec<Formula> =
                    names.iter().map(|name| self.measure(name, rows)).collect::<Result<_, _>>()?;
                Ok(Formula::Plus(parts))
            }
            Calculation::Minus([first, second]) => {
                let first = self.measure(first, rows)?;
                let second = self.measure(second, rows)?;
                Ok(Formula::Minus(Box::new(first), Box::new(second)))
            }
            Calculation::Of(name) => self.measure(name, rows),
        }
    }

    fn sums_part(&mut self, rows: &Rows) -> usize {
        self.part(PartKey {
            source: rows.source,
            side: rows.side,
            is_wide: rows.is_wide,
            last: None,
        })
    }

    fn condition_of(&mut self, part: usize, rows: &Rows) -> Result<Option<String>, Problem> {
        self.scope(part).conditions(&rows.conditions)
    }

    fn exact(&mut self, part: usize, sql: String, scale: u8, merge: Merge, zero: bool) -> Formula {
        let kind = BaseKind::Exact(scale);
        let base = Base { part, sql, kind, merge, is_zero_without_rows: zero };
        Formula::Base(self.base(base))
    }

    fn sum(&mut self, column: &str, rows: &Rows) -> Result<Formula, Problem> {
        let part = self.sums_part(rows);
        let value = self.amount(part, column, rows)?;
        let condition = self.condition_of(part, rows)?;
        let sql = self.sum_of(&value, condition.as_deref());
        Ok(self.exact(part, sql, value.scale, Merge::Sum, true))
    }

    /// Writes a sum. Rows that do not fulfil the condition add zero, so that a group with rows has a
    /// value.
    fn sum_of(&self, value: &Value, condition: Option<&str>) -> String {
        let sql = match condition {
            Some(condition) => {
                format!("sum(CASE WHEN {condition} THEN {} ELSE 0 END)", value.sql)
            }
            None => format!("sum({})", value.sql),
        };
        self.cast(&sql, value)
    }

    fn cast(&self, sql: &str, value: &Value) -> String {
        match value.kind {
            ColumnKind::Whole => format!("CAST({sql} AS {})", self.dialect.decimal(0)),
            ColumnKind::Decimal
            | ColumnKind::Text
            | ColumnKind::Day
            | ColumnKind::Moment
            | ColumnKind::Flag => sql.to_owned(),
        }
    }

    fn count(&mut self, column: &str, rows: &Rows) -> Result<Formula, Problem> {
        let part = self.sums_part(rows);
        let condition = self.condition_of(part, rows)?;
        let counted =
            if column == ROWS && self.catalog.sources[rows.source].find_column(ROWS).is_none() {
                "*".to_owned()
            } else {
                self.scope(part).column(column)?.sql
            };
        let sql = filtered(&format!("count({counted})"), condition.as_deref());
        let sql = self.count_of(part, &sql);
        Ok(self.exact(part, sql, 0, Merge::Sum, true))
    }

    fn distinct(&mut self, name: &str, rows: &Rows) -> Result<Formula, Problem> {
        let part = self.sums_part(rows);
        let condition = self.condition_of(part, rows)?;
        let mut scope = self.scope(part);
        let dimension = scope.source.dimension(name)?;
        let value = match &dimension.key {
            // Things are counted, not their names.
            Some(key) => {
                let own = contract::definitions::Dimension::of_kind(dimension.kind.clone());
                let name = scope.dimension_value(&own)?;
                let key = scope.column(key)?;
                format!("coalesce(CAST({} AS VARCHAR), {})", key.sql, name.sql)
            }
            None => scope.dimension_value(&dimension)?.sql,
        };
        let sql = filtered(&format!("count(DISTINCT {value})"), condition.as_deref());
        let sql = self.count_of(part, &sql);
        Ok(self.exact(part, sql, 0, Merge::Again, true))
    }

    /// Writes a count. One of a period without data is empty, not zero.
    fn count_of(&self, part: usize, sql: &str) -> String {
        let sql = format!("CAST({sql} AS {})", self.dialect.decimal(0));
        let key = &self.parts[part].key;
        if self.dims.is_empty() && self.is_without_data(key.source, key.side) {
            return format!("CASE WHEN count(*) > 0 THEN {sql} END");
        }
        sql
    }

    /// Whether a source has no data for any day of a side.
    pub fn is_without_data(&self, source: usize, side: Side) -> bool {
        let days = self.catalog.sources[source].covered_days();
        days.is_some_and(|days| self.bounds(side).is_outside(days))
    }

    fn weighted(&mut self, weighted: &WeightedAverage, rows: &Rows) -> Result<Formula, Problem> {
        let part = self.sums_part(rows);
        let value = self.amount(part, &weighted.column, rows)?;
        let by = self.scope(part).number(&weighted.by)?;
        let condition = self.condition_of(part, rows)?;
        let product = Value {
            sql: format!(
                "CAST({} AS {}) * {}",
                value.sql,
                self.dialect.decimal(value.scale),
                by.sql
            ),
            kind: ColumnKind::Decimal,
            scale: value.scale + by.scale,
        };
        let above = self.sum_of(&product, condition.as_deref());
        let above = self.exact(part, above, product.scale, Merge::Sum, true);
        // Weights count only where there is a value.
        let weights =
            Value { sql: format!("CASE WHEN {} IS NOT NULL THEN {} END", value.sql, by.sql), ..by };
        let below = self.sum_of(&weights, condition.as_deref());
        let below = self.exact(part, below, weights.scale, Merge::Sum, true);
        Ok(Formula::divide(above, below))
    }

    fn last(&mut self, last: &LastValue, rows: &Rows) -> Result<Formula, Problem> {
        if rows.is_wide {
            return Err(Problem::new(text!(
                "The last values of {column} do not add up over time, so there is no running or rolling total of them.",
                column = last.column
            )));
        }
        // The values are read in a part of their own. Groups without such a value stay in the result.
        let probe = self.sums_part(rows);
        self.parts[probe].is_needed = true;
        let value = self.amount(probe, &last.column, rows)?;
        let condition = self.condition_of(probe, rows)?;
        let mut keys = Vec::new();
        for key in &last.per {
            let mut scope = self.scope(probe);
            let dimension = scope.source.dimension(key)?;
            keys.push(match &dimension.key {
                Some(column) => scope.column(column)?.sql,
                None => scope.dimension_value(&dimension)?.sql,
            });
        }
        let joins = self.parts[probe].joins.clone();
        let part = self.part(PartKey {
            source: rows.source,
            side: rows.side,
            is_wide: false,
            last: Some(LastRows { value: value.sql.clone(), keys, condition }),
        });
        for join in joins {
            if !self.parts[part].joins.contains(&join) {
                self.parts[part].joins.push(join);
            }
        }
        let sql = self.cast("sum(_v)", &value);
        Ok(self.exact(part, sql, value.scale, Merge::SumWithinTime, false))
    }

    fn extreme(&mut self, column: &str, function: &str, rows: &Rows) -> Result<Formula, Problem> {
        let part = self.sums_part(rows);
        let value = self.scope(part).column(column)?;
        let kind = match value.kind {
            ColumnKind::Whole | ColumnKind::Decimal => BaseKind::Exact(value.scale),
            ColumnKind::Day => BaseKind::Day,
            ColumnKind::Moment => BaseKind::Moment,
            ColumnKind::Text | ColumnKind::Flag => {
                return Err(Problem::new(text!(
                    "{column} has neither numbers nor days, so it has no least or greatest value.",
                    column
                )));
            }
        };
        let value = match kind {
            BaseKind::Exact(_) => self.amount(part, column, rows)?,
            BaseKind::Day | BaseKind::Moment => value,
        };
        let kind = match kind {
            BaseKind::Exact(_) => BaseKind::Exact(value.scale),
            other => other,
        };
        let condition = self.condition_of(part, rows)?;
        let sql = filtered(&format!("{function}({})", value.sql), condition.as_deref());
        let sql = self.cast(&sql, &value);
        let base = Base { part, sql, kind, merge: Merge::Again, is_zero_without_rows: false };
        Ok(Formula::Base(self.base(base)))
    }

    /// Writes the value of the only row. Several values do not add up.
    fn single(&mut self, column: &str, rows: &Rows) -> Result<Formula, Problem> {
        let part = self.sums_part(rows);
        let value = self.amount(part, column, rows)?;
        let condition = self.condition_of(part, rows)?;
        let count = filtered(&format!("count({})", value.sql), condition.as_deref());
        let only = filtered(&format!("max({})", value.sql), condition.as_deref());
        let only = self.cast(&only, &value);
        let count_of = format!("CAST({count} AS {})", self.dialect.decimal(0));
        let known = (part, count_of, column.to_owned());
        if rows.side == Side::Now && !self.singles.contains(&known) {
            self.singles.push(known);
        }
        let sql = format!("CASE WHEN {count} = 1 THEN {only} END");
        Ok(self.exact(part, sql, value.scale, Merge::Again, false))
    }

    /// Writes a percentile as an exact value between two neighbours in the sorted list: with n
    /// values, the place is (n - 1) * at / 100 from the first one.
    fn percentile(&mut self, percentile: &Percentile, rows: &Rows) -> Result<Formula, Problem> {
        let part = self.sums_part(rows);
        let value = self.amount(part, &percentile.column, rows)?;
        let condition = self.condition_of(part, rows)?;
        let at = percentile.at;
        let present = format!("{} IS NOT NULL", value.sql);
        let filter = join_conditions([Some(present), condition].into_iter().flatten().collect());
        let filter = filter.unwrap_or_else(|| "TRUE".to_owned());
        let list = self.dialect.sorted_list(&value.sql, &filter)?;
        let steps = format!("(count(*) FILTER (WHERE {filter}) - 1) * {at}");
        let below = format!("CAST({} AS INTEGER)", self.dialect.whole_division(&steps, 100));
        let rest = format!("(({steps}) % 100)");
        let low = format!("{list}[{below} + 1]");
        let high = format!("coalesce({list}[{below} + 2], {low})");
        let scale = value.scale + 2;
        let sql = format!(
            "CAST({low} AS {decimal}) + ({high} - {low}) * CAST({rest} AS {whole}) * CAST(0.01 AS {hundredth})",
            decimal = self.dialect.decimal(scale),
            whole = match self.dialect {
                crate::Dialect::DuckDb | crate::Dialect::Standard => "DECIMAL(3, 0)",
                crate::Dialect::Postgres => "NUMERIC",
            },
            hundredth = match self.dialect {
                crate::Dialect::DuckDb | crate::Dialect::Standard => "DECIMAL(3, 2)",
                crate::Dialect::Postgres => "NUMERIC",
            },
        );
        let sql = format!("CAST({sql} AS {})", self.dialect.decimal(scale));
        Ok(self.exact(part, sql, scale, Merge::Again, false))
    }
}

fn filtered(aggregate: &str, condition: Option<&str>) -> String {
    match condition {
        Some(condition) => format!("{aggregate} FILTER (WHERE {condition})"),
        None => aggregate.to_owned(),
    }
}
