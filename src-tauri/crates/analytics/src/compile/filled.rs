//! Times without rows: they are listed, with zero if the data cover them.

use chrono::NaiveDate;
use contract::{metric_query::TimeGrain, text};

use super::{
    builder::Builder,
    conditions::join_conditions,
    model::Side,
    times::{interval, unit_of},
};
use crate::{Problem, calendar::shifted};

impl Builder<'_> {
    /// Adds times without rows.
    pub fn write_filled(&mut self, step: &str) -> Result<String, Problem> {
        let (time, grain) = self
            .time_dim()
            .map(|(dim, grain)| (dim.alias.clone(), grain))
            .ok_or_else(|| Problem::new(text!("\"fill\" needs a time in \"by\".")))?;
        let times = self.all_times(grain)?;
        let others: Vec<String> =
            self.dims.iter().map(|dim| dim.alias.clone()).filter(|alias| *alias != time).collect();
        // Rows outside of the days that are listed stay, and so do rows without a time.
        let mut from = format!("({times} UNION SELECT {time} FROM {step}) AS _times");
        let mut on = vec![format!("{step}.{time} IS NOT DISTINCT FROM _times._t")];

        let mut columns = vec![format!("_times._t AS {time}")];
        if !others.is_empty() {
            from.push_str(&format!(
                "\nCROSS JOIN (SELECT DISTINCT {} FROM {step}) AS _groups",
                others.join(", ")
            ));
            on.extend(
                others.iter().map(|o| format!("{step}.{o} IS NOT DISTINCT FROM _groups.{o}")),
            );
            columns.extend(others.iter().map(|other| format!("_groups.{other}")));
        }
        for number in 0..self.bases.len() {
            let own = format!("_b{}", number + 1);
            columns.push(match self.covered_condition(number, grain)? {
                // A row with empty cells is not a time without rows.
                Some(covered) => format!(
                    "CASE WHEN {step}.{time} IS NULL AND {covered} THEN 0 ELSE {step}.{own} END AS {own}"
                ),
                None => format!("{step}.{own}"),
            });
        }
        let sql = format!(
            "SELECT {}\nFROM {from}\nLEFT JOIN {step} ON {}",
            columns.join(", "),
            on.join(" AND ")
        );
        Ok(self.ctes.push("_filled", sql))
    }

    /// Returns the condition that a time without rows has the value zero. None: it never has.
    fn covered_condition(&self, base: usize, grain: TimeGrain) -> Result<Option<String>, Problem> {
        let base = &self.bases[base];
        if !base.is_zero_without_rows {
            return Ok(None);
        }
        let source = &self.catalog.sources[self.parts[base.part].key.source];
        let today = self.query.as_of.as_ref().map(|as_of| as_of.moment.date());
        let shift = self.shift(base.part, grain);
        let later = |day: NaiveDate| shift.map_or(day, |shift| shifted(day, shift));
        let first = source.covered_days().map(|days| later(days.first));
        let last = source.covered_days().map(|days| days.last).or(today).map(later);
        let calendar = source.calendar();
        let start = |day: NaiveDate| unit_of(grain).map_or(day, |unit| calendar.start(unit, day));
        let mut parts = vec![];
        if let Some(first) = first {
            parts.push(format!("_times._t >= {}", self.dialect.day(start(first))));
        }
        if let Some(last) = last {
            parts.push(format!("CAST(_times._t AS DATE) <= {}", self.dialect.day(last)));
        }
        Ok(Some(join_conditions(parts).unwrap_or_else(|| "TRUE".to_owned())))
    }

    /// Returns the SELECT of all times of the period.
    fn all_times(&self, grain: TimeGrain) -> Result<String, Problem> {
        let bounds = self.bounds(Side::Now);
        let covered = self.source().covered_days();
        let first = self.wide_from.or(bounds.first).or(covered.map(|days| days.first));
        let last = bounds.last.or(covered.map(|days| days.last));
        let (Some(first), Some(last)) = (first, last) else {
            return Err(Problem::new(text!(
                "\"fill\" needs a period with a first and a last day."
            )));
        };
        let midnight = |day: NaiveDate| {
            day.and_hms_opt(0, 0, 0).ok_or_else(|| Problem::new(text!("A day has no midnight.")))
        };
        let calendar = self.source().calendar();
        if let Some(unit) = unit_of(grain) {
            let (first, last) = (midnight(calendar.start(unit, first))?, midnight(last)?);
            let series = self.dialect.series(first, last, &interval(unit, 1))?;
            return Ok(format!("SELECT CAST({series} AS DATE) AS _t"));
        }
        if grain == TimeGrain::Hour {
            let end = midnight(last)? + chrono::TimeDelta::hours(23);
            let series = self.dialect.series(midnight(first)?, end, "1 hours")?;
            return Ok(format!("SELECT CAST({series} AS TIMESTAMP) AS _t"));
        }
        Err(Problem::new(text!(
            "\"fill\" works with hours, days, weeks, months, quarters and years only."
        )))
    }
}
