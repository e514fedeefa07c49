//! The notes beside the figures of a computed source.

use contract::{
    definitions::{Calculation, Pacing},
    metric_query::{GroupBy, MetricQuery},
    text,
};

use super::{PaceScope, is_key, level_of, names_of_level};
use crate::{
    Problem, SourceModel,
    calendar::days_later,
    catalog::column_of_measure,
    compile::{Purpose, builder::Builder, conditions::join_conditions, counts::count_query},
    resolve::parts_of,
};

/// The columns that say nothing about a plan.
const OF_DELIVERY: [&str; 3] = ["spend", "impressions", "thousand_impressions"];
/// The columns with verdicts.
const VERDICTS: [&str; 5] = ["status", "at_risk", "runs_out_early", "no_delivery", "late_data"];

impl Builder<'_> {
    /// Adds the notes about days that are not over, and the count of things without a budget.
    pub(in crate::compile) fn count_without_budget(
        &mut self,
        source: usize,
    ) -> Result<(), Problem> {
        let model = &self.catalog.sources[source];
        let Some(pacing) = &model.definitions.pacing else { return Ok(()) };
        if !is_about_plan(self.query, model) {
            return Ok(());
        }
        let window = self.bounds(crate::compile::model::Side::Now);
        let scope = PaceScope::of_query(self.query, model, window)?;
        let Some(scope) = scope else { return Ok(()) };
        self.notes.push(text!(
            "{today} is not over: pace counts full days until {last}.",
            today = scope.today.to_string(),
            last = days_later(scope.today, -1).to_string()
        ));
        self.note_level(model, pacing);
        self.ctes.pacing = Some(scope);
        let Some(name) =
            pacing.by.iter().rfind(|by| is_key(by) && by.name != pacing_currency(model))
        else {
            return Ok(());
        };
        let mut joins = Vec::new();
        let conditions = self.row_conditions();
        let mut scope = self.rows_of(model, &mut joins);
        let thing = scope.dialect.identifier(&name.name)?;
        let mut all = vec!["\"spend_without_budget\" <> 0".to_owned()];
        all.extend(scope.in_period(window)?);
        all.extend(scope.conditions(&conditions)?);
        let rows = scope.rows()?;
        let filter = join_conditions(all).into_iter().collect();
        let sql = count_query(&rows, &joins, filter);
        let sql = sql.replacen("count(*)", &format!("count(DISTINCT {thing})"), 1);
        self.add_count(sql, Purpose::WithoutBudget(name.name.clone()));
        Ok(())
    }

    fn note_level(&mut self, model: &SourceModel, pacing: &Pacing) {
        let level = level_of(self.query, model, pacing);
        if names_of_level(model, pacing, level).is_none() {
            self.notes.push(text!(
                "{name} has no budgets of its own, so it is not judged. Ask by {level}.",
                name = &pacing.by[level].name,
                level = &pacing.level
            ));
        }
    }
}

/// Returns the name of the column with currencies, or an empty one.
fn pacing_currency(model: &SourceModel) -> &str {
    let mut measures = model.definitions.measures.values();
    let found = measures.find_map(|measure| match &measure.currency {
        Some(contract::definitions::CurrencyOf::Column { column }) => Some(column.as_str()),
        Some(contract::definitions::CurrencyOf::Constant(_)) | None => None,
    });
    found.unwrap_or_default()
}

/// Whether a query asks for more than what was delivered.
fn is_about_plan(query: &MetricQuery, model: &SourceModel) -> bool {
    let is_verdict = |name: &String| VERDICTS.contains(&name.as_str());
    let grouped = query.by.iter().any(|group| match &group.by {
        GroupBy::Dimension(name) => is_verdict(name),
        GroupBy::Time(_) | GroupBy::Define(_) => false,
    });
    let mut names = Vec::new();
    query.conditions.iter().for_each(|one| crate::compile::statement::names_in(one, &mut names));
    let about = |calculation: &Calculation| is_planned(calculation, model, 0);
    grouped
        || names.iter().any(is_verdict)
        || query.measures.iter().any(|used| match (&used.measure, &used.calculation) {
            (Some(name), _) => model.measure(name).is_ok_and(|one| about(&one.calculation)),
            (None, Some(own)) => about(own),
            (None, None) => false,
        })
}

fn is_planned(calculation: &Calculation, model: &SourceModel, depth: usize) -> bool {
    match column_of_measure(calculation) {
        Some(column) => !OF_DELIVERY.contains(&column.as_str()),
        None => parts_of(calculation).into_iter().any(|name| {
            let part = model.measure(name);
            depth < 16 && part.is_ok_and(|one| is_planned(&one.calculation, model, depth + 1))
        }),
    }
}
