//! Computes the figures of tiles: a query with the filters and the period of its board, what these do
//! not reach, and how fresh the rows are. It must not know where boards are stored.

use contract::{
    AgentError, BoardContent, Reason, SourceName, Text,
    boards::Freshness,
    metric_query::{
        Condition, DataColumn, DataResult, DataVersion, MeasureParams, MetricQuery, Period,
    },
    result::{Columns, Layout, MAX_ROWS, ResultContent, ResultView, Shape, read_content},
    sources::AskLimits,
    text,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{
    Sources,
    asking::{Page, needed, no_sources},
    describing::Described,
    processes::odd_answer,
    storage::State,
    used::catalog_of,
};
use crate::log::current_caller;

/// The query of a tile, with what holds for all tiles of its board.
pub(crate) struct TileQuery<'a> {
    pub(crate) query: &'a MetricQuery,
    pub(crate) filters: &'a [Condition],
    pub(crate) period: Option<&'a Period>,
    /// Whether the tile shows the figures of all groups together, too.
    pub(crate) has_totals: bool,
}

/// The figures of a tile.
pub(crate) struct Measured {
    /// The query with what reached it, in its relative form.
    pub(crate) query: MetricQuery,
    pub(crate) content: ResultContent,
    pub(crate) columns: Vec<DataColumn>,
    /// The filters that do not reach the query, and whether the period does not, one line each.
    pub(crate) unreached: Vec<Text>,
    pub(crate) notes: Vec<Text>,
    pub(crate) fresh: Vec<Freshness>,
    pub(crate) data_version: DataVersion,
}

impl Sources {
    /// Computes the figures of a tile, and records them.
    pub(crate) async fn measure_tile(
        &self,
        ask: TileQuery<'_>,
        cancel: CancellationToken,
    ) -> Result<Measured, AgentError> {
        let inner = self.opened()?;
        let described = inner.sources_of(ask.query).map_err(|error| or_gone(ask.query, error))?;
        if described.is_empty() {
            return Err(no_sources());
        }
        // The moment is settled once, so that filters, figures and freshness are of the same one.
        let query = MetricQuery { as_of: None, ..ask.query.clone() };
        let mut params = MeasureParams { query, cursor: None };
        let as_of = inner.settle_moment(&mut params);
        let catalog = catalog_of(&described);
        let narrowed = analytics::narrow(&params.query, ask.filters, ask.period, &catalog, &as_of)?;
        params.query = MetricQuery { as_of: Some(as_of.clone()), ..narrowed.query.clone() };
        // A ratio has no total that the window could add up.
        let has_totals = ask.has_totals && may_have_totals(&params.query);
        params.query.totals |= has_totals;
        let needed = needed(described, &params.query, &as_of)?;
        // Computed rows are as fresh as those that they come from, which are needed, too.
        let has_rows = |one: &&Described| !one.is_computed();
        let fresh = needed.iter().filter(has_rows).map(freshness_of).collect();
        let rows = u64::try_from(MAX_ROWS).unwrap_or(u64::MAX);
        let page = Page { rows, bytes: AskLimits::default().bytes };
        let (asked, mut result) = inner.measure(params, page, cancel).await?;
        let record = inner.record_figure(&asked, &result, &current_caller()).await?;
        result.record = Some(record);
        let mut content = content_of(&result)?;
        if result.row_count < 2 && !narrowed.query.totals {
            // One row is its own total.
            content.totals.clear();
        }
        // Columns that are not drawn are of no use.
        result.columns.truncate(content.columns.len());
        Ok(Measured {
            query: narrowed.query,
            content,
            columns: result.columns,
            unreached: narrowed.unreached,
            notes: result.notes,
            fresh,
            data_version: result.data_version,
        })
    }

    /// Proposes the first board of a source from its definitions.
    pub(crate) fn propose_board(&self, name: &SourceName) -> Result<BoardContent, AgentError> {
        let inner = self.opened()?;
        let described = inner.read_described(name)?;
        let days = inner.days_of(&described);
        let today = inner.now_here().moment.date();
        let (definitions, columns) = (&described.definitions, described.columns());
        Ok(analytics::propose_board(definitions, columns, days, today))
    }

    /// Returns a query with the name of the source that it finds now. A query that would not be the
    /// same with the name stays as it is.
    pub(crate) fn with_source(&self, query: MetricQuery) -> MetricQuery {
        let named = || {
            let inner = self.opened().ok()?;
            let source = inner.source_found(&query)?;
            let named = MetricQuery { source: Some(source), ..query.clone() };
            let catalog = catalog_of(&inner.sources_of(&named).ok()?);
            analytics::resolve(&named, &catalog, &inner.now_here()).ok()?;
            Some(named)
        };
        if query.source.is_some() { query } else { named().unwrap_or(query) }
    }
}

/// Returns the rows and columns as the window draws those of an answer.
fn content_of(result: &DataResult) -> Result<ResultContent, AgentError> {
    let layout = Layout {
        rows: "/rows".to_owned(),
        columns: Columns::InResult("/columns".to_owned()),
        ..Layout::default()
    };
    let view = ResultView { shape: Shape::Table(layout), pinned: false };
    let content = read_content(&view, &json!(result));
    let content = content.ok_or_else(|| odd_answer(&"the figures of a tile have no columns"))?;
    Ok(ResultContent { total: result.row_count, ..content })
}

/// Whether a query has groups whose figures can be computed together.
fn may_have_totals(query: &MetricQuery) -> bool {
    let is_plain = !query.rows && query.then.is_none() && query.explain.is_none();
    is_plain && query.pivot.is_none() && !query.measures.is_empty() && !query.by.is_empty()
}

fn freshness_of(described: &Described) -> Freshness {
    let state = described.state();
    Freshness {
        source: described.source.name.clone(),
        imported_at: state.map(|state| state.import.at),
        last_day: state.and_then(State::covered).map(|days| days.last),
    }
}

/// Returns the error of a tile whose source was removed.
fn or_gone(query: &MetricQuery, error: AgentError) -> AgentError {
    match &query.source {
        Some(source) if error.has_reason(Reason::NotFound) => {
            AgentError::invalid(text!("The source {source} of this tile is gone.", source))
                .reason("source_gone")
                .hint("Import its file again under the same name, or remove the tile.")
        }
        _ => error,
    }
}
