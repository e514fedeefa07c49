//! Checks recorded figures: asks the same question again over the kept rows of that time, and
//! compares. It must not know how figures are computed.

use std::time::Duration;

use contract::{
    AgentError, AuditRecordView, FigureCheck, RecordType, SourceName, Text,
    definitions::Definitions,
    metric_query::{DataResult, DataVersion, ENGINE, MetricQuery},
    sources::{AskLimits, AskVerify, AskedSource, Verified},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    Inner, Sources, asked_parts,
    asking::{first_row, names_in},
    describing::Described,
    storage::stored_columns,
};

/// The maximum size of a result that is compared.
const MOST_BYTES: u64 = 64 << 20;

/// Figures with the question that they answer, as a record has them.
pub(super) struct Recorded {
    pub(super) query: Option<MetricQuery>,
    pub(super) sql: Option<String>,
    pub(super) result: DataResult,
    /// The number of rows of the whole result before those of the record.
    first: u64,
}

impl Recorded {
    /// Returns the call that asks the same question again over the sources of that time.
    pub(super) fn ask(&self, sources: Vec<AskedSource>) -> AskVerify {
        let sql = self.sql.clone().filter(|_| self.query.is_none());
        let limits = AskLimits { bytes: MOST_BYTES, ..AskLimits::default() };
        let (query, result) = (self.query.clone(), self.result.clone());
        AskVerify { sources, query, sql, limits, result, first: self.first }
    }
}

impl Recorded {
    /// Whether an older version of the engine computed the figures. A query in SQL has none.
    fn is_of_older_engine(&self) -> bool {
        self.query.is_some() && self.result.engine.is_none_or(|engine| engine < ENGINE)
    }
}

impl Sources {
    /// Computes the figures of a record again and compares.
    pub(crate) async fn check(&self, record: &AuditRecordView) -> Result<FigureCheck, AgentError> {
        let inner = self.opened()?;
        let Some(recorded) = read_record(record) else {
            return Ok(not_repeated(
                record.seq,
                None,
                "The record has no figures, or they were erased.",
            ));
        };
        let version = shown_version(&recorded.result.data_version);
        let sources = match inner.sources_at(&recorded) {
            Ok(sources) => sources,
            Err(why) => return Ok(not_repeated(record.seq, version, why)),
        };
        let ask = recorded.ask(sources);
        let limit = Duration::from_millis(ask.limits.millis);
        let cancel = CancellationToken::new();
        let found: Verified = inner.processes.ask("data.verify", &ask, limit, cancel).await?;
        let text: Text = if !found.is_intact() {
            "The stored rows of that time were changed. The figures prove nothing.".into()
        } else if found.equal {
            "The same question over the same rows gives the same figures.".into()
        } else if recorded.is_of_older_engine() {
            "The same question over the same rows gives other figures now. These were computed by an older version of the engine, which computed some questions in another way.".into()
        } else {
            "The same question over the same rows gives other figures now.".into()
        };
        Ok(FigureCheck {
            record: record.seq,
            is_repeated: true,
            agrees: found.equal,
            text,
            data_version: version,
            result: Some(found.result),
        })
    }
}

impl Inner {
    /// Returns the sources as they were for a record.
    pub(super) fn sources_at(&self, recorded: &Recorded) -> Result<Vec<AskedSource>, Text> {
        let named = recorded.query.as_ref().and_then(|query| query.source.clone());
        let versions: Vec<(SourceName, Option<String>)> = match &recorded.result.data_version {
            DataVersion::One(version) => {
                let version = Some(version.clone()).filter(|version| !version.is_empty());
                let sql = recorded.sql.as_deref().unwrap_or_default();
                let named: Vec<SourceName> =
                    named.into_iter().chain(names_in(sql, self.storage.names())).collect();
                // Two sources can have the same rows.
                let mut names = named.iter().cloned().chain(self.storage.names());
                let found = version.as_ref().and_then(|version| {
                    names.find(|name| self.storage.find_version(name, version).is_some())
                });
                match (found.or_else(|| named.first().cloned()), version) {
                    (Some(name), version) => vec![(name, version)],
                    (None, Some(_)) => return Err(gone()),
                    // The question uses no source.
                    (None, None) => Vec::new(),
                }
            }
            DataVersion::Each(versions) => {
                versions.iter().map(|(name, version)| (name.clone(), version.clone())).collect()
            }
        };
        versions
            .into_iter()
            .map(|(name, version)| self.source_at(&name, version, recorded))
            .collect()
    }

    fn source_at(
        &self,
        name: &SourceName,
        version: Option<String>,
        recorded: &Recorded,
    ) -> Result<AskedSource, Text> {
        let described = self.read_described(name).map_err(|_| gone())?;
        if super::asking::is_database(&described) {
            return Err("The figures come from a database, which keeps no former rows. They cannot be computed again.".into());
        }
        let folder = self.storage.parts(name);
        if described.is_computed() {
            // Its rows are those of the other sources of the record.
            let columns = stored_columns(described.columns());
            return Ok(AskedSource {
                definitions: Some(self.definitions_at(&described, recorded)),
                approved: described.approved(),
                ..asked_parts(name.as_str(), &folder, columns, Vec::new())
            });
        }
        let state = version.and_then(|version| self.storage.find_version(name, &version));
        let state = state.ok_or_else(gone)?;
        if !self.storage.is_whole(name, &state) {
            return Err(gone());
        }
        let definitions = self.definitions_at(&described, recorded);
        let columns = stored_columns(&state.columns);
        let asked = asked_parts(name.as_str(), &folder, columns, state.parts.clone());
        let chain = self.storage.chain_from(name, Some(state.id.clone()));
        let exports = chain.map(|chain| self.exports(&definitions, &chain)).unwrap_or_default();
        Ok(AskedSource {
            definitions: Some(definitions),
            approved: described.approved(),
            covered: state.covered(),
            exports,
            version: Some(state.data_version()),
            ..asked
        })
    }

    /// Returns the version of a source's definitions with which the figures were computed.
    fn definitions_at(&self, described: &Described, recorded: &Recorded) -> Definitions {
        // Each is named with its source.
        let prefix = format!("{}.", described.source.name);
        let used: Vec<(&str, &String)> = recorded
            .result
            .definitions
            .iter()
            .filter_map(|(name, hash)| Some((name.strip_prefix(&prefix)?, hash)))
            .collect();
        let fits = |definitions: &Definitions| {
            let views = analytics::definition_views(
                definitions,
                &analytics::Proof::default(),
                &std::collections::BTreeSet::new(),
            );
            let views = views.unwrap_or_default();
            let known = |name: &str| views.iter().find(|view| view.name == name);
            used.iter().all(|(name, hash)| known(name).is_none_or(|view| view.hash == **hash))
        };
        if fits(&described.definitions) {
            return described.definitions.clone();
        }
        let kept = self.storage.kept_versions(&described.source.name).into_iter();
        kept.into_iter().find(fits).unwrap_or_else(|| described.definitions.clone())
    }
}

pub(super) fn gone() -> Text {
    "The rows of that time are no longer stored. The figures cannot be computed again.".into()
}

fn not_repeated(record: u64, version: Option<String>, why: impl Into<Text>) -> FigureCheck {
    FigureCheck {
        record,
        is_repeated: false,
        agrees: false,
        text: why.into(),
        data_version: version,
        result: None,
    }
}

fn shown_version(version: &DataVersion) -> Option<String> {
    match version {
        DataVersion::One(version) => Some(version.clone()).filter(|version| !version.is_empty()),
        DataVersion::Each(versions) => Some(
            versions
                .iter()
                .map(|(name, version)| format!("{name} {}", version.as_deref().unwrap_or("-")))
                .collect::<Vec<_>>()
                .join(", "),
        ),
    }
}

/// Reads the question and the figures of a record: of a command, or of a tool's call. A chart has its
/// figures inside.
pub(super) fn read_record(record: &AuditRecordView) -> Option<Recorded> {
    let text = |name: &str| record.revealed.get(name)?.as_str().map(str::to_owned);
    let mut result: Value = serde_json::from_str(&text("result")?).ok()?;
    if let Some(figures) = result.get_mut("result").filter(|figures| figures.is_object()) {
        result = figures.take();
    }
    let asked: Value = match record.record_type {
        RecordType::FigureComputed => serde_json::from_str(&text("asked")?).ok()?,
        _ => result.get("asked")?.clone(),
    };
    let result: DataResult = serde_json::from_value(result).ok()?;
    let query = asked.get("query").and_then(|query| serde_json::from_value(query.clone()).ok());
    let sql = asked.get("sql").and_then(Value::as_str).map(str::to_owned);
    let first = first_row(asked.get("cursor").and_then(Value::as_str));
    (query.is_some() || sql.is_some()).then_some(Recorded { query, sql, result, first })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_without_the_present_version_of_the_engine_are_of_an_older_one() {
        let is_older = |query: bool, engine: Option<u32>| {
            let query = query.then(MetricQuery::default);
            let result = DataResult { engine, ..DataResult::default() };
            Recorded { query, sql: None, result, first: 0 }.is_of_older_engine()
        };
        assert!(is_older(true, None) && is_older(true, Some(ENGINE - 1)));
        assert!(!is_older(true, Some(ENGINE)) && !is_older(false, None));
    }
}
