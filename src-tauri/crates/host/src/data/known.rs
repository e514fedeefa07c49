//! Keeps the things that questions in words may be about: all sources, their definitions, and the values
//! of their dimensions. They are read for the first question, and again for the first question after a
//! change. They stay in this process: models on other computers get none of them. This module must
//! not know how questions are read.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use analytics::{Catalog, SourceModel};
use chrono::{DateTime, TimeDelta, Utc};
use contract::{
    AgentError, ModelAccess, SourceName,
    definitions::{Calculation, DimensionKind},
    metric_query::{DataColumn, DataResult, DataType, Group, MeasureUse, MetricQuery, Order},
    sources::{AskLimits, AskMeasure, AskedSource, ColumnKind},
};
use futures::{
    FutureExt as _,
    future::{BoxFuture, join_all},
};
use offline::{KnownSources, SourceDirectory};
use parking_lot::Mutex;
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    Inner, Sources, WeakSources,
    asking::{LIMIT, is_database},
    describing::Described,
    hashes::hash_of,
    storage::{State, stored_columns},
    used::catalog_of,
};

/// The most values of a dimension. Of one with more values, such as an id, the most frequent ones are
/// known.
const MOST_OF_DIMENSION: u32 = 2_000;
/// The most values of all sources. The index of a value takes about 1 kB of memory.
const MOST_IN_ALL: usize = 50_000;
/// The longest value in characters. Nobody types a longer one.
const LONGEST: usize = 100;
/// The most file sources that are read at a time, so that the query process has room for questions.
const FILES_AT_A_TIME: usize = 4;
/// The time limit of all databases together. A question waits for them.
const DATABASES: Duration = Duration::from_secs(3);
/// The time after which values that could not be read are asked for again.
const AGAIN: TimeDelta = TimeDelta::minutes(10);
/// The time after which the values of a database are read again. It has no data version.
const DATABASE_AGE: TimeDelta = TimeDelta::hours(1);
/// The count by which values are ordered.
const COUNT: &str = "counted_rows";

/// The sources as the last question found them.
#[derive(Default)]
pub(super) struct Kept {
    /// Hashes of the files of the sources.
    prints: BTreeMap<SourceName, String>,
    values: BTreeMap<SourceName, SourceValues>,
    known: Option<Arc<KnownSources>>,
}

/// The values of the dimensions of a source.
#[derive(Clone, Default)]
struct SourceValues {
    /// Stands for the definitions and rows that the values come from.
    stamp: String,
    values: BTreeMap<String, Vec<String>>,
    /// The dimensions whose values could not be read.
    unread: BTreeSet<String>,
    /// When they are asked for again. None: after a change of the source.
    again_at: Option<DateTime<Utc>>,
}

/// A source whose values are read.
struct Reading<'a> {
    of: &'a Described,
    /// The sources that its dimensions come from, itself first.
    near: Vec<&'a Described>,
    wanted: BTreeSet<String>,
    found: Mutex<SourceValues>,
}

impl SourceDirectory for WeakSources {
    fn known(&self) -> BoxFuture<'_, Option<Arc<KnownSources>>> {
        async move { self.upgrade()?.known().await }.boxed()
    }
}

impl Sources {
    /// Returns the sources that a question in words may be about. None if there are none, or if this
    /// process serves visitors. Questions at the same time wait for one reading.
    pub(crate) async fn known(&self) -> Option<Arc<KnownSources>> {
        let inner = self.opened().ok()?;
        let mut kept = inner.known.lock().await;
        let (prints, now) = (inner.prints(), inner.clock.now());
        if kept.prints != prints || kept.values.values().any(|one| one.is_due(now)) {
            inner.read_known(&mut kept, now).await;
            kept.prints = prints;
        }
        kept.known.clone()
    }
}

impl Inner {
    /// Returns a hash of the files of each source. It tells whether something changed, without reading
    /// the states of all imports.
    fn prints(&self) -> BTreeMap<SourceName, String> {
        let print = |name: SourceName| {
            let source = self.storage.read(&name).ok();
            let definitions = self.storage.read_definitions(&name).ok();
            let print = hash_of(&(source, definitions));
            (name, print)
        };
        self.storage.names().into_iter().map(print).collect()
    }

    /// Reads what changed, and makes the index again if that makes a difference.
    async fn read_known(&self, kept: &mut Kept, now: DateTime<Utc>) {
        let described = self.askable();
        let catalog = catalog_of(&described);
        let readings = readings(&described, &catalog, &kept.values, now);
        self.read_values(&readings).await;
        let ends = readings.into_iter().map(|one| (one.of.source.name.clone(), one.end(now)));
        let mut values: BTreeMap<SourceName, SourceValues> = ends.collect();
        share_room(&mut values);
        let is_kept = |(name, one): (&SourceName, &SourceValues)| {
            kept.values.get(name).is_some_and(|before| before.is_like(one))
        };
        let is_same = values.len() == kept.values.len() && values.iter().all(is_kept);
        if !is_same {
            let limited = limited_sources(&described);
            kept.known = make_index(catalog, &values, limited).await;
        }
        kept.values = values;
    }

    /// Returns the sources that have rows of their own or are computed. One that cannot be read is left
    /// out.
    fn askable(&self) -> Vec<Described> {
        let read = |name: SourceName| self.read_described(&name).ok();
        let has_rows = |one: &Described| {
            let can_compute = || one.is_computed() && self.check_computed(one).is_ok();
            is_database(one) || one.state().is_some() || can_compute()
        };
        self.storage.names().into_iter().filter_map(read).filter(has_rows).collect()
    }

    /// Reads values from the query process and, for a short time, from databases.
    async fn read_values(&self, readings: &[Reading<'_>]) {
        let (databases, files): (Vec<&Reading<'_>>, Vec<&Reading<'_>>) =
            readings.iter().partition(|one| is_database(one.of));
        let at_a_time = Semaphore::new(FILES_AT_A_TIME);
        let each = Semaphore::new(databases.len());
        let files = files.iter().map(|one| self.read_source(one, LIMIT, &at_a_time));
        let databases = databases.iter().map(|one| self.read_source(one, DATABASES, &each));
        // Of what takes longer, the values that arrived in time are kept.
        let files = timeout(LIMIT, join_all(files));
        let databases = timeout(DATABASES, join_all(databases));
        let _ = tokio::join!(files, databases);
    }

    /// Reads the values of a source, one dimension after the other.
    async fn read_source(&self, reading: &Reading<'_>, limit: Duration, turns: &Semaphore) {
        if reading.wanted.is_empty() {
            return;
        }
        let Ok(_turn) = turns.acquire().await else { return };
        let name = &reading.of.source.name;
        let mut sources = Vec::new();
        for one in &reading.near {
            match self.asked(one).await {
                Ok(asked) => sources.push(asked),
                Err(error) => return note_unread(name, &error),
            }
        }
        for dimension in &reading.wanted {
            match self.read_dimension(reading.of, dimension, &sources, limit).await {
                Ok(values) => reading.found.lock().add(dimension, values),
                Err(error) => {
                    note_unread(name, &error);
                    // A database that refuses a password may count the attempts.
                    if self.processes.is_unreachable(name) {
                        return;
                    }
                }
            }
        }
    }

    /// Returns the values of a dimension, the most frequent first: a metric query finds those of each
    /// kind of dimension, of files and of databases.
    async fn read_dimension(
        &self,
        of: &Described,
        dimension: &str,
        sources: &[AskedSource],
        limit: Duration,
    ) -> Result<Vec<String>, AgentError> {
        let count = MeasureUse {
            calculation: Some(Calculation::Count("rows".to_owned())),
            name: Some(COUNT.to_owned()),
            ..MeasureUse::default()
        };
        let query = MetricQuery {
            source: Some(of.source.name.clone()),
            measures: vec![count],
            by: vec![Group::dimension(dimension)],
            order: vec![Order { by: COUNT.to_owned(), descending: true }],
            limit: Some(MOST_OF_DIMENSION),
            as_of: Some(self.now_here()),
            ..MetricQuery::default()
        };
        let limits = AskLimits {
            rows: u64::from(MOST_OF_DIMENSION),
            millis: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
            ..AskLimits::default()
        };
        let ask = AskMeasure { query, sources: sources.to_vec(), limits, cursor: None };
        let (of, cancel) = (std::slice::from_ref(of), CancellationToken::new());
        let result: DataResult = self.send(of, "data.measure", &ask, cancel).await?;
        Ok(texts_of(&result, dimension))
    }
}

impl SourceValues {
    fn is_due(&self, now: DateTime<Utc>) -> bool {
        self.again_at.is_some_and(|at| at <= now)
    }

    /// Whether an index of these values would be the same.
    fn is_like(&self, other: &Self) -> bool {
        self.stamp == other.stamp && self.values == other.values
    }

    fn add(&mut self, dimension: &str, values: Vec<String>) {
        self.unread.remove(dimension);
        self.values.insert(dimension.to_owned(), values);
    }
}

impl Reading<'_> {
    /// Returns what is known of the source after the reading.
    fn end(self, now: DateTime<Utc>) -> SourceValues {
        let mut found = self.found.into_inner();
        if !self.wanted.is_empty() {
            found.again_at = match (found.unread.is_empty(), is_database(self.of)) {
                (false, _) => Some(now + AGAIN),
                (true, true) => Some(now + DATABASE_AGE),
                (true, false) => None,
            };
        }
        found
    }
}

/// Returns what is to be read of each source. Values stay until others are read, unless the source
/// changed.
fn readings<'a>(
    described: &'a [Described],
    catalog: &Catalog,
    known: &BTreeMap<SourceName, SourceValues>,
    now: DateTime<Utc>,
) -> Vec<Reading<'a>> {
    let by_name: BTreeMap<&SourceName, &'a Described> =
        described.iter().map(|one| (&one.source.name, one)).collect();
    let reading = |(of, model): (&'a Described, &SourceModel)| {
        let dimensions = text_dimensions(model);
        let mut near = vec![of];
        let others = others_of(of, &dimensions, catalog);
        near.extend(others.iter().filter_map(|name| by_name.get(name).copied()));
        let stamp = hash_of(&near.iter().map(|one| stamp_of(one)).collect::<Vec<_>>());
        let before = known.get(&of.source.name).filter(|one| one.stamp == stamp);
        let wanted = match before {
            Some(before) if !before.is_due(now) => BTreeSet::new(),
            Some(before) if !before.unread.is_empty() => before.unread.clone(),
            Some(_) | None => dimensions,
        };
        let mut found = before.cloned().unwrap_or_default();
        if !wanted.is_empty() {
            found.unread.clone_from(&wanted);
        }
        found.stamp = stamp;
        Reading { of, near, wanted, found: Mutex::new(found) }
    };
    described.iter().zip(&catalog.sources).map(reading).collect()
}

/// Returns the other sources that dimensions come from. A query never combines files and a database.
fn others_of(
    described: &Described,
    dimensions: &BTreeSet<String>,
    catalog: &Catalog,
) -> BTreeSet<SourceName> {
    if is_database(described) {
        return BTreeSet::new();
    }
    let by = |dimension: &String| MetricQuery {
        source: Some(described.source.name.clone()),
        by: vec![Group::dimension(dimension.clone())],
        ..MetricQuery::default()
    };
    let joined = |dimension| analytics::joined_sources(&by(dimension), catalog);
    let mut others: BTreeSet<SourceName> = dimensions.iter().flat_map(joined).collect();
    others.remove(&described.source.name);
    others
}

/// Returns the sources of which models on other computers do not get all data.
fn limited_sources(described: &[Described]) -> BTreeSet<SourceName> {
    let limited = described.iter().filter(|one| one.source.models_get != ModelAccess::All);
    limited.map(|one| one.source.name.clone()).collect()
}

/// Returns a hash that changes with the definitions, the rows or the models' access of a source.
fn stamp_of(described: &Described) -> String {
    let version = described.state().map(State::data_version);
    let columns = stored_columns(described.columns());
    hash_of(&(&described.definitions, columns, version, described.source.models_get))
}

/// Returns the dimensions whose values are texts. Numbers, days, and yes and no are read without a list
/// of them.
fn text_dimensions(model: &SourceModel) -> BTreeSet<String> {
    let is_text = |name: &str| {
        let column = model.columns.iter().find(|column| column.name == name);
        column.is_some_and(|column| column.kind == ColumnKind::Text)
    };
    let has_texts = |kind: &DimensionKind| match kind {
        DimensionKind::Column(column) => is_text(column),
        DimensionKind::First(first) => is_text(&first.of),
        DimensionKind::Groups(_)
        | DimensionKind::Split(_)
        | DimensionKind::Bins(_)
        | DimensionKind::Lookup(_) => true,
        DimensionKind::When(_) => false,
    };
    let dimensions = model.definitions.dimensions.iter();
    dimensions.filter(|(_, one)| has_texts(&one.kind)).map(|(name, _)| name.clone()).collect()
}

/// Returns the texts in a column of a result, each once, without those that nobody types.
fn texts_of(result: &DataResult, name: &str) -> Vec<String> {
    let is_texts = |column: &DataColumn| column.name == name && column.kind == DataType::Text;
    let Some(at) = result.columns.iter().position(is_texts) else { return Vec::new() };
    let mut seen = BTreeSet::new();
    let texts = result.rows.iter().filter_map(|row| row.get(at)?.as_str());
    let is_typed = |text: &&str| !text.trim().is_empty() && text.chars().count() <= LONGEST;
    texts.filter(is_typed).filter(|text| seen.insert(*text)).map(str::to_owned).collect()
}

/// Makes the index of all names. None if there are no sources.
async fn make_index(
    catalog: Catalog,
    read: &BTreeMap<SourceName, SourceValues>,
    limited: BTreeSet<SourceName>,
) -> Option<Arc<KnownSources>> {
    if catalog.sources.is_empty() {
        return None;
    }
    let values: BTreeMap<SourceName, BTreeMap<String, Vec<String>>> =
        read.iter().map(|(name, one)| (name.clone(), one.values.clone())).collect();
    // Many values take a while, in which other work goes on.
    let make = move || {
        let known = KnownSources::new(catalog, values)?;
        Some(Arc::new(known.with_limited(limited)))
    };
    let made = spawn_blocking(make).await;
    made.inspect_err(|error| tracing::warn!(%error, "the names of sources cannot be indexed"))
        .ok()
        .flatten()
}

/// Drops the less frequent values of large dimensions if those of all sources are too many.
fn share_room(read: &mut BTreeMap<SourceName, SourceValues>) {
    let counts = read.values().flat_map(|one| one.values.values().map(Vec::len));
    let most = fair_share(&counts.collect::<Vec<_>>());
    for values in read.values_mut().flat_map(|one| one.values.values_mut()) {
        values.truncate(most);
    }
}

/// Returns the most values of each dimension, so that those of all are not too many. `counts` are the
/// values that the dimensions have.
fn fair_share(counts: &[usize]) -> usize {
    let mut most = usize::try_from(MOST_OF_DIMENSION).unwrap_or(usize::MAX);
    while most > 1 && counts.iter().map(|count| *count.min(&most)).sum::<usize>() > MOST_IN_ALL {
        most /= 2;
    }
    most
}

fn note_unread(source: &SourceName, error: &AgentError) {
    tracing::debug!(%source, %error.message, "values of a source cannot be read");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_dimensions_share_the_room_for_values() {
        let most = usize::try_from(MOST_OF_DIMENSION).unwrap();
        assert_eq!(fair_share(&[]), most);
        assert_eq!(fair_share(&[most, 3, 7]), most);
        let many = vec![most; 100];
        let share = fair_share(&many);
        assert!(share * many.len() <= MOST_IN_ALL && share * many.len() * 2 > MOST_IN_ALL);
    }
}
