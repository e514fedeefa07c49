//! The days of plans. Each row becomes one row for each of its days, with its part of the amounts. The
//! parts are differences of rounded running totals, so that all days of a row add up to its amount.

use contract::{
    definitions::{PLAN_DAY, Spread, SpreadDays, SpreadMonths},
    text,
};

use super::row_scope::RowScope;
use crate::{
    Problem,
    calendar::last_of_month,
    dialect::{Exact, RATIO_SCALE},
    resolve::read_month,
};

impl RowScope<'_> {
    /// Returns what rows are read from: the table, or the step with the days of a plan.
    pub fn rows(&mut self) -> Result<String, Problem> {
        let source = self.source;
        if source.definitions.pacing.is_some() {
            return self.pacing_rows();
        }
        let (rows, time, parts) = match &source.definitions.spread {
            None => return self.table(),
            Some(Spread::Days(days)) => {
                let time = source.time_column()?.name.clone();
                (self.rows_with_ends(days, &time)?, time, days.total.clone())
            }
            Some(Spread::Months(months)) => {
                (self.rows_of_months(months)?, PLAN_DAY.to_owned(), vec![months.name.clone()])
            }
        };
        let mut columns = Vec::new();
        for column in &source.columns {
            let name = self.dialect.identifier(&column.name)?;
            columns.push(if column.name == time {
                format!("_plan_day AS {name}")
            } else if parts.contains(&column.name) {
                format!("{} AS {name}", self.part_of_day(&name))
            } else {
                name
            });
        }
        let sql =
            format!("SELECT {}\nFROM (\n{}\n) AS _plan", columns.join(", "), self.days(&rows));
        Ok(self.ctes.add("_days", sql))
    }

    /// Writes the rows of a plan with their first and last day.
    fn rows_with_ends(&self, days: &SpreadDays, time: &str) -> Result<String, Problem> {
        let (first, last) = (self.column(time)?.sql, self.column(&days.until)?.sql);
        Ok(format!(
            "SELECT *, {first} AS _plan_from, greatest({first}, coalesce({last}, {first})) AS _plan_until FROM {}",
            self.table()?
        ))
    }

    /// Writes one row for each month of each row.
    fn rows_of_months(&self, months: &SpreadMonths) -> Result<String, Problem> {
        let amount = self.dialect.identifier(&months.name)?;
        let kind = self.dialect.decimal(RATIO_SCALE);
        let table = self.table()?;
        let mut selects = Vec::new();
        for (column, month) in &months.months {
            let column = self.dialect.identifier(column)?;
            let first = read_month(month)?;
            selects.push(format!(
                "SELECT *, CAST({column} AS {kind}) AS {amount}, {} AS _plan_from, {} AS _plan_until FROM {table} WHERE {column} IS NOT NULL",
                self.dialect.day(first),
                self.dialect.day(last_of_month(first))
            ));
        }
        if selects.is_empty() {
            return Err(Problem::new(text!(
                "A plan with columns of months needs at least one month."
            )));
        }
        Ok(selects.join("\nUNION ALL\n"))
    }

    /// Writes the days of rows, as far as the query needs them. A row without a first day stays.
    fn days(&self, rows: &str) -> String {
        let bounds = self.ctes.days;
        let first = bounds.first.map_or("_plan_from".to_owned(), |day| {
            format!("greatest(_plan_from, {})", self.dialect.day(day))
        });
        let last = bounds.last.map_or("_plan_until".to_owned(), |day| {
            format!("least(_plan_until, {})", self.dialect.day(day))
        });
        let series = self.dialect.days_between(&first, &last);
        format!(
            "SELECT *, CAST({series} AS DATE) AS _plan_day FROM (\n{rows}\n) AS _rows WHERE _plan_from IS NOT NULL\nUNION ALL\nSELECT *, CAST(NULL AS DATE) AS _plan_day FROM (\n{rows}\n) AS _rows WHERE _plan_from IS NULL"
        )
    }

    /// Writes the part of an amount that belongs to a day.
    fn part_of_day(&self, amount: &str) -> String {
        let whole = format!("CAST({amount} AS {})", self.dialect.decimal(RATIO_SCALE));
        let whole_number = self.dialect.decimal(0);
        let days = format!("CAST(_plan_until - _plan_from + 1 AS {whole_number})");
        let days = Exact { sql: days, scale: 0 };
        let until = |count: &str| {
            let above = Exact { sql: format!("({whole} * {count})"), scale: RATIO_SCALE };
            self.dialect.divide(&above, &days).sql
        };
        let (today, before) =
            (until("(_plan_day - _plan_from + 1)"), until("(_plan_day - _plan_from)"));
        format!("CASE WHEN _plan_day IS NULL THEN {whole} ELSE {today} - {before} END")
    }
}
