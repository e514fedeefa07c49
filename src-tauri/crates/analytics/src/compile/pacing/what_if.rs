//! Assumptions about flights that go on. A new budget or rate of several things is divided among them as
//! their budgets are. Flights that are over stay as they are.

use contract::{
    definitions::{DimensionKind, Pacing},
    metric_query::{WhatIf, WhatIfChange},
    text,
};

use super::Steps;
use crate::{
    Problem,
    compile::{row_scope::RowScope, statement::names_in},
    dialect::{Exact, RATIO_SCALE},
};

/// The condition that a flight goes on within the asked days.
pub(super) const IS_ON: &str = "_today <= _until";

/// The assumptions of a question, in SQL.
pub(super) struct Assumed {
    /// The step with what the assumptions need.
    pub rows: String,
    /// The amount that is added to the budget of a flight, with its sign. Empty: none.
    pub budget: String,
    /// The amount of the last full days.
    pub recent: String,
}

impl Assumed {
    /// Writes the columns with what is assumed, each on one row of its flight.
    pub fn columns(&self, stands: &str, runs: &str) -> String {
        if self.budget.is_empty() {
            return String::new();
        }
        format!(
            ", CASE WHEN {stands} THEN 0{} END AS _added, CASE WHEN {runs} THEN _e_recent END AS _assumed_recent",
            self.budget
        )
    }
}

impl RowScope<'_> {
    /// Adds the step that assumptions need. `recent` is the real amount of the last full days.
    pub(super) fn assumed(
        &mut self,
        pacing: &Pacing,
        steps: &Steps,
        rows: &str,
        recent: &str,
        days: &str,
    ) -> Result<Assumed, Problem> {
        let mut assumed =
            Assumed { rows: rows.to_owned(), budget: String::new(), recent: recent.to_owned() };
        let mut columns = Vec::new();
        for (at, one) in steps.scope.what_if.iter().enumerate() {
            self.check_names(pacing, one)?;
            let is_meant = self.conditions(&one.conditions)?;
            let is_meant = match is_meant {
                Some(condition) => format!("{condition} AND {IS_ON}"),
                None => IS_ON.to_owned(),
            };
            let all = format!("_c{}", at + 1);
            columns.push(format!("sum(CASE WHEN {is_meant} THEN _w_budget END) OVER () AS {all}"));
            if let Some(change) = &one.budget {
                let more = self.change(change, "_x_budget", "1", &all)?;
                assumed
                    .budget
                    .push_str(&format!(" + coalesce(CASE WHEN {is_meant} THEN {more} END, 0)"));
            } else {
                assumed.budget.push_str(" + 0");
            }
            if let Some(change) = &one.rate {
                let days = format!("({days})");
                let more = self.change(change, &assumed.recent, &days, &all)?;
                assumed.recent = format!(
                    "({} + coalesce(CASE WHEN {is_meant} THEN {more} END, 0))",
                    assumed.recent
                );
            }
        }
        if !columns.is_empty() {
            columns.push(format!("sum(_w_budget) OVER (PARTITION BY {}) AS _x_budget", steps.keys));
            let sql = format!("SELECT *, {}\nFROM {rows}", columns.join(", "));
            assumed.rows = self.ctes.add("_assumed", sql);
        }
        Ok(assumed)
    }

    /// Writes how much more an amount becomes. The part of one flight is that of its budget.
    fn change(
        &self,
        change: &WhatIfChange,
        own: &str,
        days: &str,
        all: &str,
    ) -> Result<String, Problem> {
        let exact = |sql: String, scale: u8| Exact { sql, scale };
        let part = |number: &serde_json::Number| -> Result<String, Problem> {
            let digits = self.dialect.number(&number.to_string())?;
            let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
            let scale = u8::try_from(places).unwrap_or(u8::MAX).saturating_add(RATIO_SCALE);
            let above = exact(format!("(_x_budget * {days} * ({digits}))"), scale);
            Ok(self.dialect.divide(&above, &exact(all.to_owned(), RATIO_SCALE)).sql)
        };
        Ok(match change {
            WhatIfChange::By(number) => part(number)?,
            WhatIfChange::To(number) => format!("({} - {own})", part(number)?),
            WhatIfChange::Percent(number) => {
                let digits = self.dialect.number(&number.to_string())?;
                let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
                let scale = u8::try_from(places).unwrap_or(u8::MAX).saturating_add(RATIO_SCALE);
                let above = exact(format!("({own} * ({digits}))"), scale);
                let hundred = format!("CAST(100 AS {})", self.dialect.decimal(0));
                self.dialect.divide(&above, &exact(hundred, 0)).sql
            }
        })
    }

    /// Fails if an assumption is about something else than the things of the source.
    fn check_names(&self, pacing: &Pacing, one: &WhatIf) -> Result<(), Problem> {
        let mut names = Vec::new();
        one.conditions.iter().for_each(|condition| names_in(condition, &mut names));
        for name in names {
            let is_thing = match self.source.dimension(&name)?.kind {
                DimensionKind::Column(column) => pacing.by.iter().any(|by| by.name == column),
                _ => false,
            };
            if !is_thing {
                return Err(Problem::new(text!(
                    "An assumption is about things such as {level}, not about {name}.",
                    level = &pacing.level,
                    name
                )));
            }
        }
        Ok(())
    }
}
