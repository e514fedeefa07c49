//! Answers queries over sources: a metric query, one SELECT, or rows. Each query is sent with the
//! tables and definitions that it needs and the hashes that identify them, and a figure for a
//! person is recorded. This module must not know how figures are computed.

use std::time::Duration;

use contract::{
    AgentError, CallerKind, Reason, RecordType, RowsParams, SourceName, SourceQueryParams,
    definitions::DefinitionState,
    metric_query::{AsOf, AskedQuestion, DataResult, MeasureParams, MetricQuery},
    sources::{
        AskDescribe, AskLimits, AskMeasure, AskQuery, AskRows, AskedPlace, AskedSource,
        Described as Values, SourceKind,
    },
    text,
};
use engine::ports::{Profile as _, RecordDraft};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    Inner, Sources,
    describing::Described,
    failures::removed_meanwhile,
    origins::{is_sample, sample_note},
    storage::{State, stored_columns},
    used::{catalog_of, used_sources},
};
use crate::log::current_caller;

/// The number of rows of a page if the query sets no limit.
const PAGE: u64 = 1_000;
const ROWS_PAGE: u64 = 200;
/// The maximum number of rows of a page.
const LARGEST_PAGE: u64 = 10_000;
/// The maximum size of a result whose rows are stored beside the log. Of a larger result, only the
/// hash is stored.
const RECORDED: usize = 256 << 10;
pub(super) const LIMIT: Duration = Duration::from_secs(60);
/// The maximum number of values of a column in a description.
const SAMPLES: u32 = 10;

/// The maximum size of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

impl Page {
    fn of_rows(asked: u64, usual: u64) -> Self {
        let rows = if asked == 0 { usual } else { asked.min(LARGEST_PAGE) };
        Self { rows, bytes: AskLimits::default().bytes }
    }

    fn limits(self) -> AskLimits {
        let millis = u64::try_from(LIMIT.as_millis()).unwrap_or(u64::MAX);
        AskLimits { rows: self.rows, bytes: self.bytes, millis }
    }
}

/// The query of an answer, in the form that is recorded.
pub(super) enum Asked {
    Query(Box<MetricQuery>),
    Sql(String),
}

impl Asked {
    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::Query(query) => json!({ "query": query }),
            Self::Sql(sql) => json!({ "sql": sql }),
        }
    }
}

impl Sources {
    /// Computes figures by a metric query, for a person.
    pub(crate) async fn measure(&self, params: MeasureParams) -> Result<DataResult, AgentError> {
        let inner = self.opened()?;
        let page = Page::of_rows(0, PAGE);
        let is_first = params.cursor.is_none();
        let cancel = CancellationToken::new();
        let (asked, mut result) = inner.measure(params, page, cancel).await?;
        if is_first {
            let record = inner.record_figure(&asked, &result, &current_caller()).await?;
            result.record = Some(record);
        }
        Ok(result)
    }

    /// Computes figures by one SELECT of a person.
    pub(crate) async fn query(&self, params: SourceQueryParams) -> Result<DataResult, AgentError> {
        let inner = self.opened()?;
        let page = Page::of_rows(params.limit, PAGE);
        let is_first = params.cursor.is_none();
        let cancel = CancellationToken::new();
        let mut result = inner.query(&params.sql, params.cursor, page, cancel).await?;
        // A person wrote the SELECT, so that it needs no approval.
        result.definition_state = DefinitionState::Approved;
        if is_first {
            let asked = Asked::Sql(params.sql);
            let record = inner.record_figure(&asked, &result, &current_caller()).await?;
            result.record = Some(record);
        }
        Ok(result)
    }

    /// Reads rows of a source as they are stored.
    pub(crate) async fn rows(&self, params: RowsParams) -> Result<DataResult, AgentError> {
        let inner = self.opened()?;
        let described = inner.read_described(&params.name)?;
        described.check_own_rows()?;
        let source = inner.asked(&described).await?;
        let ask = AskRows {
            source,
            columns: params.columns,
            order: params.order,
            offset: params.offset,
            limits: Page::of_rows(params.limit, ROWS_PAGE).limits(),
        };
        inner.send(&[described], "data.rows", &ask, CancellationToken::new()).await
    }
}

impl Inner {
    /// Computes figures by a metric query. Also returns the query with the moment that relative
    /// periods refer to.
    pub(super) async fn measure(
        &self,
        params: MeasureParams,
        page: Page,
        cancel: CancellationToken,
    ) -> Result<(Asked, DataResult), AgentError> {
        let mut params = params;
        let as_of = self.settle_moment(&mut params);
        let MeasureParams { query, cursor: place } = params;
        let cursor = place.as_deref().map(own_cursor);
        let described = needed(self.sources_of(&query)?, &query, &as_of)?;
        if described.is_empty() {
            return Err(no_sources());
        }
        let mut sources = Vec::new();
        for one in &described {
            sources.push(self.asked(one).await?);
        }
        let tool = if query.explain.is_some() { "data.explain_change" } else { "data.measure" };
        let ask = AskMeasure { query: query.clone(), sources, limits: page.limits(), cursor };
        let mut result: DataResult = self.send(&described, tool, &ask, cancel).await?;
        let words = analytics::paraphrase(&query, &catalog_of(&described), &as_of)?;
        result.asked = Some(AskedQuestion {
            query: Some(Box::new(query.clone())),
            source: Some(words.source),
            sql: None,
            cursor: place,
            parts: words.parts,
        });
        note_sample(&described, &mut result);
        result.more = result.more.map(|cursor| Place { as_of: Some(as_of), cursor }.write());
        Ok((Asked::Query(Box::new(query)), result))
    }

    /// Makes a query refer to a moment: its own, that of its first page, or the present one.
    pub(super) fn settle_moment(&self, params: &mut MeasureParams) -> AsOf {
        let began = || params.cursor.as_deref().and_then(|cursor| Place::read(cursor).as_of);
        let own = params.query.as_of.take();
        let as_of = own.or_else(began).unwrap_or_else(|| self.now_of(&params.query));
        params.query.as_of = Some(as_of.clone());
        as_of
    }

    /// Runs one SELECT over the sources that it names.
    pub(super) async fn query(
        &self,
        sql: &str,
        cursor: Option<String>,
        page: Page,
        cancel: CancellationToken,
    ) -> Result<DataResult, AgentError> {
        let mut described = Vec::new();
        for name in names_in(sql, self.storage.names()) {
            let read = self.read_described(&name);
            described.push(read.map_err(|error| self.or_removed([&name], error))?);
        }
        described.iter().try_for_each(Described::check_own_rows)?;
        let is_database = |one: &&Described| is_database(one);
        if let Some(database) = described.iter().find(is_database)
            && described.len() > 1
        {
            return Err(AgentError::invalid(text!(
                "{source} is in a database, which a SELECT cannot join with other sources.",
                source = &database.source.name
            ))
            .reason("database_alone")
            .hint("Ask each on its own, or use a metric query with measures of both."));
        }
        let mut sources = Vec::new();
        for one in &described {
            sources.push(self.asked(one).await?);
        }
        let place = cursor.clone();
        let ask = AskQuery { sql: sql.to_owned(), sources, limits: page.limits(), cursor };
        let mut result: DataResult = self.send(&described, "data.query", &ask, cancel).await?;
        note_sample(&described, &mut result);
        result.asked = Some(AskedQuestion {
            sql: Some(sql.to_owned()),
            cursor: place,
            ..AskedQuestion::default()
        });
        Ok(result)
    }

    /// Sends a query to the process that has the rows of its sources.
    pub(super) async fn send<T: serde::de::DeserializeOwned>(
        &self,
        described: &[Described],
        tool: &str,
        ask: &(impl serde::Serialize + Sync),
        cancel: CancellationToken,
    ) -> Result<T, AgentError> {
        let answer = match described.first().filter(|one| is_database(one)) {
            Some(one) => {
                self.processes.ask_database(&one.source.name, tool, ask, LIMIT, cancel).await
            }
            None => self.processes.ask(tool, ask, LIMIT, cancel).await,
        };
        let names = || described.iter().map(|one| &one.source.name);
        answer.map_err(|error| self.or_removed(names(), error))
    }

    /// Returns the removal of a source that was asked, if it is the cause of an error.
    fn or_removed<'n>(
        &self,
        asked: impl IntoIterator<Item = &'n SourceName>,
        error: AgentError,
    ) -> AgentError {
        let is_gone = |name: &&SourceName| {
            self.storage.read(name).is_err_and(|error| error.has_reason(Reason::NotFound))
        };
        match asked.into_iter().find(is_gone) {
            Some(name) => removed_meanwhile(name, &error),
            None => error,
        }
    }

    /// Returns the sources that a metric query may need, the named source first. A query never
    /// combines files and a database.
    pub(super) fn sources_of(&self, query: &MetricQuery) -> Result<Vec<Described>, AgentError> {
        if let Some(name) = &query.source {
            let named = self.read_described(name)?;
            self.check_computed(&named)?;
            if is_database(&named) {
                return Ok(vec![named]);
            }
            let mut all = vec![named];
            for other in self.storage.names().into_iter().filter(|other| other != name) {
                all.extend(self.read_described(&other).ok().filter(|one| !is_database(one)));
            }
            return Ok(all);
        }
        let (databases, files): (Vec<Described>, Vec<Described>) = self
            .storage
            .names()
            .into_iter()
            .filter_map(|name| self.read_described(&name).ok())
            .partition(is_database);
        let knows = |one: &Described| {
            let measures = query.measures.iter().filter_map(|one| one.measure.as_ref());
            measures.into_iter().all(|name| one.definitions.measures.contains_key(name))
        };
        if files.is_empty() || !files.iter().any(knows) {
            let found = databases.into_iter().find(|one| knows(one) || files.is_empty());
            if let Some(found) = found {
                return Ok(vec![found]);
            }
        }
        Ok(files)
    }

    /// Returns the description of a source that its process needs.
    pub(super) async fn asked(&self, described: &Described) -> Result<AskedSource, AgentError> {
        let name = &described.source.name;
        let place = match (&described.source.kind, described.state()) {
            (SourceKind::Database { .. }, _) => self.database_place(&described.source).await?,
            (SourceKind::Files, Some(state)) => AskedPlace::Parts {
                folder: self.storage.parts(name).display().to_string(),
                parts: state.parts.clone(),
            },
            // Its rows are computed from other sources of the call.
            (SourceKind::Files, None) if described.is_computed() => AskedPlace::Parts {
                folder: self.storage.parts(name).display().to_string(),
                parts: Vec::new(),
            },
            (SourceKind::Files, None) => return Err(empty_source(name)),
        };
        Ok(AskedSource {
            name: name.clone(),
            columns: stored_columns(described.columns()),
            place,
            definitions: Some(described.definitions.clone()),
            approved: described.approved(),
            covered: described.state().and_then(State::covered),
            exports: self.exports(&described.definitions, &described.chain),
            version: described.state().map(State::data_version),
        })
    }

    /// Returns the present moment in the time zone of a query's source, else in that of the profile.
    fn now_of(&self, query: &MetricQuery) -> AsOf {
        let source = query.source.clone().or_else(|| self.source_found(query));
        let described = source.and_then(|name| self.read_described(&name).ok());
        let zone = described.and_then(|described| described.definitions.time?.zone);
        match zone.and_then(|zone| zone.parse().ok()) {
            Some(zone) => self.now_in(zone),
            None => self.now_here(),
        }
    }

    /// Returns the source of a query that does not name it. None if there is none, which the query's
    /// process says.
    pub(super) fn source_found(&self, query: &MetricQuery) -> Option<SourceName> {
        let catalog = catalog_of(&self.sources_of(query).ok()?);
        analytics::resolve(query, &catalog, &self.now_here()).ok()?.query.source
    }

    /// Returns the present moment in the time zone of the profile.
    pub(super) fn now_here(&self) -> AsOf {
        let zone = self.profile.time_zone();
        self.now_in(zone.parse().unwrap_or(chrono_tz::UTC))
    }

    fn now_in(&self, zone: chrono_tz::Tz) -> AsOf {
        let moment = self.clock.now().with_timezone(&zone).naive_local();
        AsOf { moment, zone: zone.name().to_owned() }
    }

    /// Returns the most frequent values of each column.
    pub(super) async fn samples(
        &self,
        described: &Described,
    ) -> Result<std::collections::BTreeMap<String, Vec<String>>, AgentError> {
        let ask = AskDescribe { source: self.asked(described).await?, samples: SAMPLES };
        let (asked, cancel) = (std::slice::from_ref(described), CancellationToken::new());
        let values: Values = self.send(asked, "data.describe", &ask, cancel).await?;
        Ok(values.samples)
    }

    /// Records a figure that a person requested. Returns the number of the record.
    pub(super) async fn record_figure(
        &self,
        asked: &Asked,
        result: &DataResult,
        by: &CallerKind,
    ) -> Result<u64, AgentError> {
        let text = serde_json::to_string(result).unwrap_or_default();
        let draft = RecordDraft::new(RecordType::FigureComputed)
            .field("rows", result.row_count)
            .field("result_hash", super::hashes::hash_of(&text))
            .commit("asked", asked.to_value().to_string());
        let draft = if text.len() <= RECORDED { draft.commit("result", text) } else { draft };
        self.append(draft, by).await
    }
}

/// Says that figures are those of a sample.
fn note_sample(described: &[Described], result: &mut DataResult) {
    if described.iter().any(|one| is_sample(one.source.origin.as_ref())) {
        result.notes.insert(0, sample_note());
    }
}

/// Returns those of several sources that a metric query uses, so that a figure does not depend on the
/// others.
pub(super) fn needed(
    mut described: Vec<Described>,
    query: &MetricQuery,
    as_of: &AsOf,
) -> Result<Vec<Described>, AgentError> {
    if described.len() > 1 {
        let catalog = catalog_of(&described);
        let used = used_sources(&analytics::resolve(query, &catalog, as_of)?.query, &catalog);
        described.retain(|one| used.contains(&one.source.name));
    }
    Ok(described)
}

/// The place of a page in the result of a metric query, with the moment that the query refers to. A
/// query that says no moment has the same result on all pages.
struct Place {
    as_of: Option<AsOf>,
    cursor: String,
}

impl Place {
    fn write(&self) -> String {
        let Self { as_of: Some(as_of), cursor } = self else { return self.cursor.clone() };
        format!("{:?}@{};{cursor}", as_of.moment, as_of.zone)
    }

    fn read(text: &str) -> Self {
        let read = || {
            let (at, cursor) = text.split_once(';')?;
            let (moment, zone) = at.split_once('@')?;
            let as_of = AsOf { moment: moment.parse().ok()?, zone: zone.to_owned() };
            Some(Self { as_of: Some(as_of), cursor: cursor.to_owned() })
        };
        read().unwrap_or_else(|| Self { as_of: None, cursor: text.to_owned() })
    }
}

/// Returns the cursor that a data process knows.
pub(super) fn own_cursor(cursor: &str) -> String {
    Place::read(cursor).cursor
}

/// Returns the number of rows before the page of a cursor.
pub(super) fn first_row(cursor: Option<&str>) -> u64 {
    let place = cursor.and_then(|cursor| cursor.rsplit_once(':')?.1.parse().ok());
    place.unwrap_or_default()
}

/// Returns the sources whose names are words of a SELECT, in any case of letters.
pub(super) fn names_in(sql: &str, names: Vec<SourceName>) -> Vec<SourceName> {
    let lower = sql.to_lowercase();
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words: std::collections::BTreeSet<&str> = lower.split(|letter| !is_part(letter)).collect();
    names.into_iter().filter(|name| words.contains(name.as_str())).collect()
}

pub(super) fn is_database(described: &Described) -> bool {
    matches!(described.source.kind, SourceKind::Database { .. })
}

pub(super) fn no_sources() -> AgentError {
    AgentError::invalid("There are no sources of data yet.")
        .reason("no_sources")
        .hint("Import a file, or connect a database.")
}

fn empty_source(name: &SourceName) -> AgentError {
    AgentError::invalid(text!("{source} has no rows: its imports were taken back.", source = name))
        .reason("empty_source")
        .hint("Import its file again.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_keeps_the_moment_of_its_query() {
        let moment = "2026-11-29T10:11:12.345".parse().unwrap();
        let as_of = AsOf { moment, zone: "Europe/Stockholm".to_owned() };
        let place = Place { as_of: Some(as_of.clone()), cursor: "abc:500".to_owned() };
        let read = Place::read(&place.write());
        assert_eq!((read.as_of, read.cursor.as_str()), (Some(as_of), "abc:500"));
        assert_eq!(Place::read("abc:500").cursor, "abc:500");
    }

    #[test]
    fn only_whole_words_of_a_select_name_sources() {
        let names = || ["orders", "orders_2026", "ads"].map(SourceName::new).to_vec();
        let found = |sql| names_in(sql, names()).into_iter().map(|name| name.0).collect::<Vec<_>>();
        assert_eq!(found("SELECT * FROM orders_2026"), ["orders_2026"]);
        assert_eq!(found("SELECT * FROM \"ORDERS\" o, Ads WHERE loads = 1"), ["orders", "ads"]);
    }
}
