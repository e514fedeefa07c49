//! The figures of all groups together. They are computed again from rows, by a query without groups, so
//! that ratios, distinct counts and percentiles are right.

use contract::{
    metric_query::{GroupBy, MeasureUse, MetricQuery},
    text,
};

use super::{
    CompiledColumn, Purpose,
    builder::Builder,
    compile_query,
    groups::name_of_group,
    steps::hidden_column,
    top::{is_about_figures, row_conditions},
};
use crate::{Problem, SourceModel, figure_names::name_of_measure};

/// The name of the column that marks totals.
pub(crate) const TOTAL: &str = "_total";

/// Returns the query for the totals of another one. Running totals, windows and parts of a group's
/// total have none.
pub(crate) fn totals_query(query: &MetricQuery, source: &SourceModel) -> MetricQuery {
    let has_total = |used: &&MeasureUse| {
        let is_of_all = used.share_of.iter().all(|of| of == "total");
        is_of_all && !used.running && used.rolling.is_none()
    };
    let measures = query
        .measures
        .iter()
        .filter(has_total)
        .map(|used| MeasureUse { name: Some(name_of_measure(used)), ..used.clone() });
    let is_pivot = |group: &usize| query.pivot.as_ref() == Some(&name_of_group(query, *group));
    let by = (0..query.by.len()).filter(is_pivot).map(|group| query.by[group].clone());
    MetricQuery {
        measures: measures.collect(),
        by: by.collect(),
        conditions: row_conditions(query, source),
        order: Vec::new(),
        limit: None,
        top: None,
        totals: false,
        pivot: None,
        fill: false,
        ..query.clone()
    }
}

/// Fails if a query of this form has no totals.
pub(crate) fn check_totals(query: &MetricQuery) -> Result<(), Problem> {
    if !query.totals {
        return Ok(());
    }
    if query.rows || query.then.is_some() || query.explain.is_some() {
        return Err(Problem::new(text!(
            "Single rows, a second step and explanations have no totals."
        )));
    }
    if query.measures.is_empty() {
        return Err(Problem::new(text!("Totals need a measure.")));
    }
    Ok(())
}

impl Builder<'_> {
    /// Adds the totals before the rows of a statement. `rows` is the SELECT of the rows, and `order`
    /// their order.
    pub fn with_totals(
        &mut self,
        rows: &str,
        order: &str,
        columns: &mut Vec<CompiledColumn>,
    ) -> Result<String, Problem> {
        let query = totals_query(self.query, self.source());
        let ranked = self.ranking.as_ref().filter(|ranking| ranking.others);
        let ranked = ranked.map(|ranking| name_of_group(self.query, ranking.of));
        if let Some(dimension) = ranked.filter(|name| self.query.pivot.as_ref() == Some(name)) {
            return Err(Problem::new(text!(
                "\"totals\" are those of each {dimension}, not of all others as one.",
                dimension
            ))
            .hint(text!("Leave out \"totals\", or \"others\" of \"top\".")));
        }
        self.note_totals();
        if query.measures.is_empty() {
            return Ok(rows.to_owned());
        }
        let compiled = compile_query(&query, self.catalog, self.dialect)?;
        let currency = self.currency_place().map(|place| self.dims[place].name.clone());
        let (mut names, mut cells) = (Vec::new(), Vec::new());
        for column in columns.iter() {
            let name = self.dialect.identifier(&column.column.name)?;
            let found = compiled.columns.iter().find(|total| {
                let is_same = total.column.name == column.column.name;
                // The currency is a group of the rows, or a column of its own.
                let is_currency = currency.as_ref() == Some(&column.column.name)
                    && total.column.name == super::currency::CURRENCY;
                (is_same || is_currency) && total.purpose == column.purpose
            });
            let is_shown = matches!(column.purpose, Purpose::Shown | Purpose::Key);
            let cell = match found.filter(|_| is_shown) {
                Some(total) => self.dialect.identifier(&total.column.name)?,
                None => "NULL".to_owned(),
            };
            cells.push(format!("{cell} AS {name}"));
            names.push(name);
        }
        self.ctes.push("_listed", rows.to_owned());
        self.ctes.push("_totals", compiled.sql);
        columns.push(hidden_column(TOTAL, Purpose::Total));
        let order = order.strip_prefix("\nORDER BY ").map_or(String::new(), |o| format!(", {o}"));
        Ok(format!(
            "SELECT *\nFROM (\nSELECT {}, FALSE AS {TOTAL} FROM _listed\nUNION ALL\nSELECT {}, TRUE AS {TOTAL} FROM _totals\n) AS _both\nORDER BY {TOTAL} DESC{order}",
            names.join(", "),
            cells.join(", ")
        ))
    }

    /// Says which groups the totals contain beside those that are listed.
    fn note_totals(&mut self) {
        let query = self.query;
        let is_top = query.top.as_ref().is_some_and(|top| !top.others);
        let is_figure = |condition| is_about_figures(condition, query, self.source());
        if is_top || query.conditions.iter().any(is_figure) {
            self.notes.push(text!("The totals are of all groups, not only of those listed."));
        }
        let is_time = |group: &contract::metric_query::Group| matches!(group.by, GroupBy::Time(_));
        let is_window = |used: &MeasureUse| used.running || used.rolling.is_some();
        if query.by.iter().any(is_time) && query.measures.iter().any(is_window) {
            self.notes.push(text!("Running totals and windows have no total."));
        }
    }
}
