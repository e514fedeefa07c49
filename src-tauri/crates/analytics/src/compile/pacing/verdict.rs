//! The verdicts: sums of what is judged, compared with the limits. Only what has a budget is judged.

use contract::definitions::{Pacing, PacingLimits};

use super::{Steps, names_of_level};
use crate::{
    Problem,
    compile::row_scope::RowScope,
    dialect::{Exact, RATIO_SCALE},
};

impl RowScope<'_> {
    /// Adds the verdicts, and writes the columns that queries see.
    pub(super) fn judged(
        &mut self,
        pacing: &Pacing,
        steps: &Steps,
        rows: &str,
    ) -> Result<String, Problem> {
        let is_assumed = !steps.scope.what_if.is_empty();
        let budget = if is_assumed {
            "CASE WHEN _is_plan THEN _planned + coalesce(_added, 0) END"
        } else {
            "_planned"
        };
        let names = names_of_level(self.source, pacing, steps.scope.level);
        let (rows, status, flags) = match names {
            Some(places) => {
                let names: Vec<&str> =
                    places.iter().map(|place| steps.names[*place].as_str()).collect();
                let levels = self.levels(pacing, &names.join(", "), rows, is_assumed);
                (levels, status(&pacing.limits), self.flags(&pacing.limits))
            }
            // Budgets are those of something larger.
            None => (
                rows.to_owned(),
                "CAST(NULL AS VARCHAR)".to_owned(),
                ["CAST(NULL AS BOOLEAN)"; 4].map(str::to_owned),
            ),
        };
        let [at_risk, runs_out, silent, late] = flags;
        let whole = self.dialect.decimal(0);
        let thousandth = match self.dialect {
            crate::Dialect::Postgres => "0.001",
            crate::Dialect::DuckDb | crate::Dialect::Standard => "CAST(0.001 AS DECIMAL(3, 3))",
        };
        let thousand = self.dialect.decimal(3);
        let money = self.dialect.decimal(RATIO_SCALE);
        let mut columns = steps.names.clone();
        columns.push(format!(
            "_day AS \"day\", {status} AS \"status\", {at_risk} AS \"at_risk\", {runs_out} AS \"runs_out_early\", {silent} AS \"no_delivery\", {late} AS \"late_data\""
        ));
        columns.push(format!(
            "_spend AS \"spend\", _impressions AS \"impressions\", CAST(_impressions * {thousandth} AS {thousand}) AS \"thousand_impressions\", {budget} AS \"budget\", _w_planned AS \"planned_to_date\", _w_spend AS \"spend_to_date\""
        ));
        columns.push(format!(
            "CASE WHEN NOT _is_plan AND NOT coalesce(_day BETWEEN _first AND _last, FALSE) THEN CAST(_spend AS {money}) END AS \"spend_without_budget\""
        ));
        columns.push(format!(
            "_rate AS \"daily_rate\", _needed AS \"needed_per_day\", _projection AS \"projection\", CAST(_days_left AS {whole}) AS \"days_left\", _run_out AS \"run_out_day\", CAST(_days_early AS {whole}) AS \"days_early\""
        ));
        let sql = format!("SELECT {}\nFROM {rows}", columns.join(", "));
        Ok(self.ctes.add("_pacing", sql))
    }

    /// Adds the sums of all that is judged together.
    fn levels(&mut self, pacing: &Pacing, names: &str, rows: &str, is_assumed: bool) -> String {
        let over = format!("OVER (PARTITION BY {names})");
        let late = format!(
            "CASE WHEN _today <= _until AND _today > _from AND (_data IS NULL OR _today - _data >= {}) THEN 1 ELSE 0 END",
            pacing.limits.late_days
        );
        let sums = [
            ("_l_budget", "sum(_w_budget)"),
            ("_l_planned", "sum(_w_planned)"),
            ("_l_spend", "sum(_w_spend)"),
            ("_l_from", "min(_from)"),
            ("_l_until", "max(_until)"),
            ("_l_through", "max(_through)"),
            ("_l_today", "max(_today)"),
            (
                "_l_is_over",
                "min(CASE WHEN _from IS NULL THEN NULL WHEN _through >= _until THEN 1 ELSE 0 END)",
            ),
            ("_l_flight", "sum(CASE WHEN _through >= _first THEN _f_budget END)"),
            ("_l_spent", "sum(_f_spend)"),
            ("_l_left", "sum(CASE WHEN _through >= _first THEN _f_left END)"),
            ("_l_recent", "sum(_r_spend)"),
            ("_l_recent_planned", "sum(_r_planned)"),
            ("_l_activity", "sum(_s_activity)"),
            ("_l_active_planned", "sum(_s_planned)"),
            ("_l_days_early", "max(_days_early)"),
            ("_l_is_late", &format!("max({late})")),
        ];
        let written = |(name, sum): &(&str, &str)| {
            let plain = format!("{sum} {over}");
            let with = |added: &str| format!("({plain} + coalesce({added} {over}, 0)) AS {name}");
            match *name {
                "_l_budget" if is_assumed => with("sum(_added)"),
                "_l_flight" if is_assumed => {
                    with("sum(CASE WHEN _through >= _first THEN _added END)")
                }
                "_l_recent" if is_assumed => format!("sum(_assumed_recent) {over} AS {name}"),
                _ => format!("{plain} AS {name}"),
            }
        };
        let columns: Vec<String> = sums.iter().map(written).collect();
        self.ctes.add("_levels", format!("SELECT *, {}\nFROM {rows}", columns.join(", ")))
    }

    /// Writes the flags: at risk, runs out early, no delivery, late data. They are empty for what is not
    /// judged.
    fn flags(&self, limits: &PacingLimits) -> [String; 4] {
        let pace = |above: &str, below: &str| {
            let exact = |sql: &str| Exact { sql: sql.to_owned(), scale: RATIO_SCALE };
            self.dialect.divide(&exact(above), &exact(below)).sql
        };
        // Both rates are parts of the plan of their days, so that a plan that rises is no risk.
        let needed = pace("(_l_flight - coalesce(_l_spent, 0))", "_l_left");
        let actual = pace("_l_recent", "_l_recent_planned");
        let at_risk = format!(
            "_l_flight > coalesce(_l_spent, 0) AND {needed} * 100 >= {actual} * {}",
            limits.at_risk
        );
        let flag = |condition: &str| {
            format!("CASE WHEN _l_budget > 0 THEN coalesce({condition}, FALSE) END")
        };
        [
            flag(&at_risk),
            flag("_l_days_early > 0"),
            flag("_l_active_planned > 0 AND _l_activity = 0"),
            flag("_l_is_late = 1"),
        ]
    }
}

/// Writes the verdict.
fn status(limits: &PacingLimits) -> String {
    let PacingLimits {
        on_track,
        slightly,
        delivered_from,
        delivered_to,
        early_days,
        early_percent,
        ..
    } = limits;
    let is_early = |days: &str| {
        format!(
            "({days} < {early_days} OR {days} * 100 < (_l_until - _l_from + 1) * {early_percent})"
        )
    };
    let (known, elapsed) =
        (is_early("(_l_through - _l_from + 1)"), is_early("(_l_today - _l_from)"));
    let ended = format!(
        "_l_spend * 100 > _l_budget * {delivered_to} THEN 'over_delivered' WHEN {{}} AND _l_spend * 100 >= _l_budget * {delivered_from} THEN 'delivered'"
    );
    let at_end = |when: &str| format!("{when} AND {}", ended.replace("{}", when));
    let difference = "(_l_spend - _l_planned) * 100";
    format!(
        "CASE WHEN _l_budget IS NULL OR _l_budget <= 0 THEN NULL WHEN _l_today < _l_from THEN 'not_started' WHEN {over} WHEN _l_is_over = 1 THEN 'under_delivered' WHEN (_l_through IS NULL OR _l_through < _l_from) AND {elapsed} THEN 'too_early' WHEN _l_through IS NULL OR _l_through < _l_from THEN 'no_data' WHEN {late} WHEN _l_today > _l_until THEN 'no_data' WHEN {known} THEN 'too_early' WHEN {difference} < -_l_planned * {slightly} THEN 'behind' WHEN {difference} < -_l_planned * {on_track} THEN 'slightly_behind' WHEN {difference} > _l_planned * {slightly} THEN 'ahead' WHEN {difference} > _l_planned * {on_track} THEN 'slightly_ahead' ELSE 'on_track' END",
        over = at_end("_l_is_over = 1"),
        late = at_end("_l_today > _l_until"),
    )
}
