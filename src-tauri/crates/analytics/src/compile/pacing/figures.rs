//! The figures of each flight: what counts of each row, and the rates of whole flights, which stand on
//! one row of the flight so that they add up.

use contract::definitions::Pacing;

use super::{
    Steps,
    what_if::{Assumed, IS_ON},
};
use crate::{
    Problem,
    compile::row_scope::RowScope,
    dialect::{Exact, RATIO_SCALE},
};

/// The condition that a row is one of a full day of the flight that has data.
const IS_FULL: &str = "_day BETWEEN _first AND _last AND _day <= _through";

impl RowScope<'_> {
    /// Adds what counts of each row, for the asked days (`_w`), for the whole flight (`_f`), for the last
    /// full days (`_r`), and for the days that decide whether anything is delivered (`_s`).
    pub(super) fn counted(&mut self, pacing: &Pacing, rows: &str) -> String {
        let money = self.dialect.decimal(RATIO_SCALE);
        let limits = &pacing.limits;
        let recent = limits.recent_days - 1;
        let asked = "_day BETWEEN _from AND _until";
        let is_recent = format!(
            "{IS_ON} AND {IS_FULL} AND _day BETWEEN greatest(_first, _through - {recent}) AND _through"
        );
        let is_silent = format!(
            "{IS_ON} AND {IS_FULL} AND _through - {days} >= _first AND _day >= _through - {days}",
            days = limits.silent_days - 1
        );
        let spend = format!("coalesce(CAST(_spend AS {money}), 0)");
        let activity = "CASE WHEN coalesce(_spend, 0) <> 0 OR coalesce(_impressions, 0) <> 0 THEN 1 ELSE 0 END";
        let when = |condition: &str, value: &str, name: &str| {
            format!("CASE WHEN {condition} THEN {value} END AS {name}")
        };
        let columns = [
            when(asked, "_planned", "_w_budget"),
            when(&format!("{asked} AND {IS_FULL}"), "_planned", "_w_planned"),
            when(&format!("{asked} AND {IS_FULL}"), &spend, "_w_spend"),
            when(IS_ON, "_planned", "_f_budget"),
            when(&format!("{IS_ON} AND {IS_FULL}"), &spend, "_f_spend"),
            when(
                &format!("{IS_ON} AND _day > coalesce(_through, _first - 1)"),
                "_planned",
                "_f_left",
            ),
            when(&is_recent, &spend, "_r_spend"),
            when(&is_recent, "_planned", "_r_planned"),
            when(&is_silent, activity, "_s_activity"),
            when(&is_silent, "_planned", "_s_planned"),
        ];
        let sql = format!("SELECT *, {}\nFROM {rows}", columns.join(", "));
        self.ctes.add("_counted", sql)
    }

    /// Adds the sums of each flight, and the place of the row that has its figures: the last of its
    /// planned days that is asked about. Returns the step and what is assumed.
    fn flight_sums(
        &mut self,
        pacing: &Pacing,
        steps: &Steps,
        rows: &str,
    ) -> Result<(String, Assumed), Problem> {
        let keys = &steps.keys;
        let over = format!("OVER (PARTITION BY {keys})");
        let binary = self.dialect.binary();
        let order: Vec<String> =
            steps.names.iter().map(|name| format!("{name}{binary} NULLS LAST")).collect();
        let days = format!(
            "_through - greatest(_first, _through - {}) + 1",
            pacing.limits.recent_days - 1
        );
        let recent = format!("coalesce(sum(_r_spend) {over}, 0)");
        let assumed = self.assumed(pacing, steps, rows, &recent, &days)?;
        let (rows, extra, recent) = (&assumed.rows, &assumed.budget, &assumed.recent);
        let sql = format!(
            "SELECT *, row_number() OVER (PARTITION BY {keys} ORDER BY CASE WHEN _w_budget IS NOT NULL THEN 0 ELSE 1 END, _day DESC NULLS LAST, {order}) AS _place, sum(_f_budget) {over} - coalesce(sum(_f_spend) {over}, 0){extra} AS _e_left, coalesce(sum(_w_spend) {over}, 0) AS _e_spend, {recent} AS _e_recent, {days} AS _e_days, _last - greatest(_through, _first - 1) AS _e_days_left, _until - greatest(_through, _from - 1) AS _e_days_asked\nFROM {rows}",
            order = order.join(", "),
        );
        Ok((self.ctes.add("_rates", sql), assumed))
    }

    /// Adds the figures of each flight that goes on, each on one row of the flight.
    pub(super) fn standing(
        &mut self,
        pacing: &Pacing,
        steps: &Steps,
        rows: &str,
    ) -> Result<String, Problem> {
        let (flights, assumed) = self.flight_sums(pacing, steps, rows)?;
        let exact = |sql: &str, scale: u8| Exact { sql: sql.to_owned(), scale };
        let whole = self.dialect.decimal(0);
        let days = exact(&format!("CAST(_e_days AS {whole})"), 0);
        let days_left = exact(&format!("CAST(_e_days_left AS {whole})"), 0);
        let recent = exact("_e_recent", RATIO_SCALE);
        let rate = self.dialect.divide(&recent, &days).sql;
        let rest = exact("(_e_recent * _e_days_asked)", RATIO_SCALE);
        let rest = self.dialect.divide(&rest, &days).sql;
        let needed = exact("CASE WHEN _e_left > 0 THEN _e_left ELSE 0 END", RATIO_SCALE);
        let needed = self.dialect.divide(&needed, &days_left).sql;
        // The number of days that the rest of the budget lasts at the actual rate.
        let lasts = self.dialect.divide(&exact("(_e_left * _e_days)", RATIO_SCALE), &recent).sql;
        let stands = format!("_place = 1 AND _w_budget IS NOT NULL AND {IS_ON}");
        let runs = format!("{stands} AND _through >= _first");
        let run_out = format!(
            "CASE WHEN _e_left <= 0 THEN _through WHEN {lasts} <= _e_days_left THEN _through + CAST(ceil({lasts}) AS INTEGER) END"
        );
        let sql = format!(
            "SELECT *, CASE WHEN {runs} THEN {rate} END AS _rate, CASE WHEN {stands} THEN {needed} END AS _needed, CASE WHEN {runs} THEN _e_spend + {rest} END AS _projection, CASE WHEN {stands} THEN _e_days_left END AS _days_left, CASE WHEN {runs} THEN {run_out} END AS _run_out{added}\nFROM {flights}",
            added = assumed.columns(&stands, &runs),
        );
        let standing = self.ctes.add("_standing", sql);
        let early = "CASE WHEN _last > _run_out THEN _last - _run_out END";
        Ok(self.ctes.add("_ends", format!("SELECT *, {early} AS _days_early\nFROM {standing}")))
    }
}
