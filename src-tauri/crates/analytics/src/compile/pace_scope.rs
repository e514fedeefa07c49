//! The part of a question that is about the rows of a computed source: its days, the level that is judged,
//! and the assumptions. It must not know the statement.

use chrono::NaiveDate;
use contract::{
    definitions::{Calculation, CurrencyOf, Definitions, DimensionKind, Pacing},
    metric_query::{AsOf, GroupBy, MetricQuery, WhatIf},
    text,
};

use super::pacing::zones::today_in;
use crate::{Problem, SourceModel, resolve::DayBounds};

/// The part of a question that is about the rows of a computed source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PaceScope {
    /// The day that is not over, in the zone of the question.
    pub today: NaiveDate,
    /// The same of feeds that have other days.
    pub todays: Vec<(String, NaiveDate)>,
    /// The place in `Pacing::by` of what is judged.
    pub level: usize,
    /// The days that are asked about.
    pub window: DayBounds,
    /// The assumptions.
    pub what_if: Vec<WhatIf>,
}

impl PaceScope {
    /// Returns the scope of a query, if its source is computed.
    pub fn of_query(
        query: &MetricQuery,
        source: &SourceModel,
        window: DayBounds,
    ) -> Result<Option<Self>, Problem> {
        let Some(pacing) = &source.definitions.pacing else { return Ok(None) };
        let as_of = query.as_of.as_ref().ok_or_else(|| {
            Problem::new(text!("The question does not say the moment that it refers to."))
        })?;
        Ok(Some(Self {
            today: as_of.moment.date(),
            todays: todays(pacing, as_of)?,
            level: level_of(query, source, pacing),
            window,
            what_if: query.what_if.clone(),
        }))
    }
}

/// Returns the days of the feeds whose zones have another day than that of the question.
fn todays(pacing: &Pacing, as_of: &AsOf) -> Result<Vec<(String, NaiveDate)>, Problem> {
    let mut found = Vec::new();
    for (feed, zone) in &pacing.zones {
        let today = today_in(zone, as_of)?;
        if today != as_of.moment.date() {
            found.push((feed.clone(), today));
        }
    }
    Ok(found)
}

/// Returns the place of the smallest thing that a query is about: one that it groups by or counts, else
/// the usual one.
pub(crate) fn level_of(query: &MetricQuery, source: &SourceModel, pacing: &Pacing) -> usize {
    let place = |name: &str| {
        let DimensionKind::Column(column) = source.dimension(name).ok()?.kind else { return None };
        pacing.by.iter().position(|by| by.name == column)
    };
    let groups = query.by.iter().filter_map(|group| match &group.by {
        GroupBy::Dimension(name) => place(name),
        GroupBy::Time(_) | GroupBy::Define(_) => None,
    });
    let counted = query.measures.iter().filter_map(|used| {
        let own = used.measure.as_ref().and_then(|name| source.measure(name).ok());
        match used.calculation.clone().or_else(|| own.map(|measure| measure.calculation))? {
            Calculation::Distinct(name) => place(&name),
            _ => None,
        }
    });
    let asked = groups
        .chain(counted)
        .filter(|place| !is_currency(&source.definitions, &pacing.by[*place].name));
    let usual = || pacing.by.iter().position(|by| by.name == pacing.level);
    asked.max().or_else(usual).unwrap_or(0)
}

/// Whether a column has the currencies of amounts.
pub(crate) fn is_currency(definitions: &Definitions, name: &str) -> bool {
    let mut measures = definitions.measures.values();
    measures.any(|measure| match &measure.currency {
        Some(CurrencyOf::Column { column }) => column == name,
        Some(CurrencyOf::Constant(_)) | None => false,
    })
}
