//! Amounts, converted to one currency if the query asks for it. A row has the rate of the last day on
//! or before its own.

use contract::{
    definitions::{CurrencyOf, Rates},
    metric_query::{Condition, Test},
    sources::ColumnKind,
    text,
};

use super::{
    Purpose, Value, builder::Builder, counts::count_query, measures::Rows, row_scope::RowScope,
};
use crate::Problem;

/// The number of days after which a rate is old. Rates of each month are not.
pub(crate) const OLDEST_RATE: i64 = 31;

impl Builder<'_> {
    /// Returns the number of a row that a measure adds up.
    pub fn amount(&mut self, part: usize, column: &str, rows: &Rows) -> Result<Value, Problem> {
        let value = self.scope(part).number(column)?;
        match (&self.query.in_currency, &rows.currency) {
            (Some(target), Some(currency)) => {
                let target = target.clone();
                self.scope(part).converted(&value, currency, &target)
            }
            (_, _) => Ok(value),
        }
    }

    /// Adds the counts of rows whose currency has no rate, and of those with an old one.
    pub fn add_rate_counts(&mut self) -> Result<(), Problem> {
        let Some(target) = self.query.in_currency.clone() else { return Ok(()) };
        for (source, currency) in self.currencies.of_source.clone() {
            let model = &self.catalog.sources[source];
            let (kept, sides) = (self.all_row_conditions(), self.sides());
            let mut joins = Vec::new();
            let mut scope = self.rows_of(model, &mut joins);
            let Some(rate) = scope.rate_of(&currency, &target)? else { continue };
            let mut conditions: Vec<String> = scope.in_one_of(&sides)?.into_iter().collect();
            conditions.extend(scope.conditions(&kept)?);
            let table = scope.rows()?;
            let with = |condition: String| {
                count_query(&table, &joins, [conditions.clone(), vec![condition]].concat())
            };
            let missing = with(format!("{} IS NULL", rate.sql));
            let old = with(rate.is_old);
            self.add_count(missing, Purpose::WithoutRate);
            self.add_count(old, Purpose::OldRate);
        }
        Ok(())
    }

    /// Returns the conditions of the query that concern rows, with the two values of a comparison.
    fn all_row_conditions(&self) -> Vec<Condition> {
        let compared = self.query.compare.iter().flat_map(|compare| &compare.values);
        let compared = compared.map(|(name, values)| Condition::Is {
            name: name.clone(),
            test: Test::OneOf(values.clone()),
        });
        self.row_conditions().into_iter().chain(compared).collect()
    }
}

/// The rate of a row.
struct Rate {
    /// The rate in SQL. It is empty if there is none.
    sql: String,
    /// The decimal places.
    scale: u8,
    /// The condition that the rate is of a much earlier day.
    is_old: String,
}

impl RowScope<'_> {
    fn converted(
        &mut self,
        value: &Value,
        currency: &CurrencyOf,
        target: &str,
    ) -> Result<Value, Problem> {
        let Some(rate) = self.rate_of(currency, target)? else { return Ok(value.clone()) };
        Ok(Value {
            sql: format!(
                "(CAST({} AS {}) * {})",
                value.sql,
                self.dialect.decimal(value.scale),
                rate.sql
            ),
            kind: ColumnKind::Decimal,
            scale: value.scale + rate.scale,
        })
    }

    /// Joins the rate of a row. None if all amounts have the wanted currency.
    fn rate_of(&mut self, currency: &CurrencyOf, target: &str) -> Result<Option<Rate>, Problem> {
        let own = match currency {
            CurrencyOf::Column { column } => self.column(column)?.sql,
            CurrencyOf::Constant(code) if code == target => return Ok(None),
            CurrencyOf::Constant(code) => self.dialect.literal(code)?,
        };
        let rates = self.source.definitions.rates.clone().ok_or_else(|| {
            Problem::new(text!(
                "{source} has no rates of currencies, so amounts cannot be converted to {target}.",
                source = self.source.name(),
                target
            ))
            .hint(text!("Add a source with days, currencies and rates, and name it with \"rates\" in the definitions."))
        })?;
        let (name, scale) = self.rates(&rates, target)?;
        let time = self.source.time_column()?;
        let is_moment = time.kind == ColumnKind::Moment;
        let time = self.dialect.identifier(&time.name)?;
        let day = if is_moment { format!("CAST({time} AS DATE)") } else { time };
        self.join(format!(
            "LEFT JOIN {name} ON {name}._f = {own} AND {name}._d <= {day} AND ({name}._u IS NULL OR {name}._u > {day})"
        ));
        let target = self.dialect.literal(target)?;
        Ok(Some(Rate {
            sql: format!("CASE WHEN {own} = {target} THEN 1 ELSE {name}._r END"),
            scale,
            is_old: format!("({own} <> {target} AND {name}._d < {day} - {OLDEST_RATE})"),
        }))
    }

    /// Adds a step with the rates to a currency, each with the days for which it holds.
    fn rates(&mut self, rates: &Rates, target: &str) -> Result<(String, u8), Problem> {
        let place = self.catalog.place(&rates.source)?;
        let source = &self.catalog.sources[place];
        let mut joins = Vec::new();
        let (dialect, catalog, primary) = (self.dialect, self.catalog, self.primary);
        let scope = RowScope {
            dialect,
            catalog,
            source,
            primary,
            ctes: &mut *self.ctes,
            joins: &mut joins,
        };
        let day = scope.column(&rates.day)?;
        let from = scope.column(&rates.from)?.sql;
        let to = scope.column(&rates.to)?.sql;
        let rate = scope.number(&rates.rate)?;
        let table = scope.table()?;
        let target = dialect.literal(target)?;
        let day = if day.kind == ColumnKind::Moment {
            format!("CAST({} AS DATE)", day.sql)
        } else {
            day.sql
        };
        let sql = format!(
            "SELECT _f, _d, _r, lead(_d) OVER (PARTITION BY _f ORDER BY _d) AS _u FROM (SELECT {from} AS _f, {day} AS _d, max({}) AS _r FROM {table} WHERE {to} = {target} AND {rate} IS NOT NULL AND {day} IS NOT NULL GROUP BY 1, 2) AS _days",
            rate.sql,
            rate = rate.sql
        );
        Ok((self.ctes.add("_rates", sql), rate.scale))
    }
}
