//! Figures for rules that are checked without a person: up to which day the rows of a query are
//! complete, and its figures at a moment. Rules are checked in a process that serves visitors, too.
//! Its visitors do not get the figures. This module must not know what a rule compares.

use std::collections::BTreeSet;

use chrono::{Days, NaiveDate};
use contract::{
    AgentError, Reason, SourceName,
    metric_query::{DataResult, MeasureParams, MetricQuery},
    sources::AskLimits,
};
use tokio_util::sync::CancellationToken;

use super::{
    Sources,
    asking::{Page, is_database, no_sources},
    describing::Described,
    hashes::hash_of,
    storage::State,
    used::{catalog_of, used_sources},
};

/// The most rows of a query that is checked.
const MOST_ROWS: u64 = 10_000;

/// The days that a query can be checked for. Its own source decides. Others that it uses may be older.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FullDays {
    /// The zone in which days end.
    pub(crate) zone: String,
    /// Whether the rows have a time.
    pub(crate) has_time: bool,
    /// The last day that is over.
    pub(crate) yesterday: NaiveDate,
    /// The last day that is over and whose rows are there. None if there are no rows.
    pub(crate) complete: Option<NaiveDate>,
    /// The rows that the query uses, and their meaning. None: the figures of an earlier day cannot be
    /// computed again.
    pub(crate) version: Option<String>,
}

impl Sources {
    /// Returns the days that a query can be checked for.
    pub(crate) fn full_days(&self, query: &MetricQuery) -> Result<FullDays, AgentError> {
        let inner = &self.0;
        let found = query.source.clone().or_else(|| inner.source_found(query));
        let source = found.ok_or_else(no_sources)?;
        let described = inner.read_described(&source)?;
        let named = MetricQuery { source: Some(source), as_of: None, ..query.clone() };
        let asked = named.clone();
        let as_of = inner.settle_moment(&mut MeasureParams { query: asked, cursor: None });
        let today = as_of.moment.date();
        let yesterday = today.checked_sub_days(Days::new(1)).unwrap_or(today);
        // Computed rows are as complete as what was delivered, and their period is a parameter.
        let delivery = described.definitions.pacing.as_ref().map(|pacing| &pacing.delivery.source);
        let has_time = described.definitions.time.is_some() && delivery.is_none();
        let complete = match delivery {
            Some(name) => complete_day(&inner.read_described(name)?, yesterday, &as_of.zone),
            None => complete_day(&described, yesterday, &as_of.zone),
        };
        let has_days = has_time || delivery.is_some();
        let version = if has_days { self.rows_version(&named, yesterday) } else { None };
        Ok(FullDays { has_time, yesterday, complete, version, zone: as_of.zone })
    }

    /// Whether there is a source with this name, also if it cannot be read.
    pub(crate) fn has(&self, name: &SourceName) -> bool {
        !self.0.storage.read(name).is_err_and(|error| error.has_reason(Reason::NotFound))
    }

    /// Returns the sources that the figures of a query come from, its own among them.
    pub(crate) fn sources_behind(&self, query: &MetricQuery) -> BTreeSet<SourceName> {
        let mut behind: BTreeSet<SourceName> = query.source.iter().cloned().collect();
        let Ok(described) = self.0.sources_of(query) else { return behind };
        let catalog = catalog_of(&described);
        if let Ok(resolved) = analytics::resolve(query, &catalog, &self.0.now_here()) {
            behind.extend(used_sources(&resolved.query, &catalog));
        }
        behind
    }

    /// Returns the hash of the rows that a query uses. That of a database, whose rows change without
    /// an import, is another one each day.
    fn rows_version(&self, query: &MetricQuery, day: NaiveDate) -> Option<String> {
        let mut versions = Vec::new();
        for name in self.sources_behind(query) {
            let described = self.0.read_described(&name).ok()?;
            let rows = described.state().map_or_else(|| day.to_string(), State::data_version);
            versions.push((name, rows, described.text));
        }
        Some(hash_of(&versions))
    }

    /// Fails if a query cannot be computed over the present sources.
    pub(crate) fn check_query(&self, query: &MetricQuery) -> Result<(), AgentError> {
        let inner = self.opened()?;
        let described = inner.sources_of(query)?;
        if described.is_empty() {
            return Err(no_sources());
        }
        analytics::resolve(query, &catalog_of(&described), &inner.now_here())?;
        Ok(())
    }

    /// Computes the figures of a query that has a moment. They are not recorded: what is told of them
    /// is.
    pub(crate) async fn measure_at(&self, query: MetricQuery) -> Result<DataResult, AgentError> {
        let params = MeasureParams { query, cursor: None };
        let page = Page { rows: MOST_ROWS, bytes: AskLimits::default().bytes };
        let (_, result) = self.0.measure(params, page, CancellationToken::new()).await?;
        Ok(result)
    }
}

/// Returns the last day that is over and whose rows are there. A file that was exported on a day has
/// only a part of its rows.
fn complete_day(described: &Described, yesterday: NaiveDate, zone: &str) -> Option<NaiveDate> {
    let Some(state) = described.state() else {
        // The rows of a database are those of each moment. Other sources without a state are empty.
        return is_database(described).then_some(yesterday);
    };
    let (Some(_), Some(covered)) = (&described.definitions.time, state.covered()) else {
        return Some(yesterday);
    };
    let zone: chrono_tz::Tz = zone.parse().unwrap_or(chrono_tz::UTC);
    let reaches = |state: &&State| last_day(state).is_none_or(|last| last >= covered.last);
    let newest = described.chain.iter().find(reaches).unwrap_or(state);
    let exported = newest.import.at.with_timezone(&zone).date_naive();
    let before = exported.checked_sub_days(Days::new(1)).unwrap_or(exported);
    Some(yesterday.min(covered.last).min(before))
}

/// Returns the last day of the file of an import.
fn last_day(state: &State) -> Option<NaiveDate> {
    let stated = state.import.change.scope.days.map(|days| days.last);
    stated.max(state.import.report.days.map(|days| days.last))
}
