//! Sources that are computed from a delivery and a plan: proposes one when two tables of files fit, finds
//! its columns, and says which sources it needs. It has no file and no rows of its own. This module
//! must not know how the rows are computed.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use analytics::{Catalog, SourceModel, TableColumn, pacing_columns, propose_pacing};
use contract::{
    AgentError, CallerKind, ModelAccess, SourceDefineParams, SourceName, Text,
    definitions::{Definitions, DimensionKind, Pacing},
    sources::{ColumnKind, ColumnUse, DaySpan, FoundColumn, SourceKind},
    text,
};

use super::{
    Inner, change_record,
    describing::Described,
    naming::free_name,
    origins::is_sample,
    storage::{State, Storage, StoredSource},
    used::model_of,
};
use crate::log::current_caller;

/// The name of a proposed source.
const NAME: &str = "pacing";
/// The column with the days, and those with amounts that add up.
const DAY: &str = "day";
const SUMS: [&str; 3] = ["spend", "impressions", "budget"];

/// A delivery and its plan.
type Pair = (SourceName, SourceName);

impl Described {
    /// Whether the rows are computed from other sources.
    pub(super) fn is_computed(&self) -> bool {
        self.state().is_none() && self.definitions.pacing.is_some()
    }

    /// Returns the sources that the rows are computed from: the delivery, then the plan.
    pub(super) fn computed_from(&self) -> Vec<&SourceName> {
        let pacing = self.definitions.pacing.iter().filter(|_| self.is_computed());
        pacing.flat_map(sources_of).collect()
    }

    /// Fails for a computed source, whose rows are made for each question.
    pub(super) fn check_own_rows(&self) -> Result<(), AgentError> {
        let [delivery, plan] = self.computed_from()[..] else { return Ok(()) };
        Err(AgentError::invalid(text!(
            "{source} has no rows of its own: it is computed from {delivery} and {plan}.",
            source = &self.source.name,
            delivery,
            plan
        ))
        .reason("computed_source")
        .hint("Ask for its figures with a metric query."))
    }
}

fn sources_of(pacing: &Pacing) -> [&SourceName; 2] {
    [&pacing.delivery.source, &pacing.plan.source]
}

impl Inner {
    /// Proposes a computed source for each delivery and plan of files that have none. Returns what a
    /// person should know about it. The caller holds the lock of changes.
    pub(super) async fn propose_computed(&self, by: &CallerKind) -> Vec<Text> {
        let mut notes = Vec::new();
        if let Err(error) = self.propose_pairs(by, &mut notes).await {
            notes.push(error.text());
        }
        notes
    }

    async fn propose_pairs(
        &self,
        by: &CallerKind,
        notes: &mut Vec<Text>,
    ) -> Result<(), AgentError> {
        let all: Vec<Described> =
            self.storage.names().iter().filter_map(|name| self.read_described(name).ok()).collect();
        let mut known = self.removed_pairs()?;
        known.extend(all.iter().filter_map(pair_of));
        let is_table = |one: &&Described| one.state().is_some() && one.faults.is_empty();
        let tables: Vec<(&Described, SourceModel)> =
            all.iter().filter(is_table).map(|one| (one, model_of(one))).collect();
        for (plan, planned) in &tables {
            if planned.definitions.spread.is_none() {
                continue;
            }
            for (delivery, model) in &tables {
                let pair = (delivery.source.name.clone(), plan.source.name.clone());
                if pair.0 == pair.1 || known.contains(&pair) || !goes_with(delivery, plan) {
                    continue;
                }
                let name = free_name(&SourceName::new(NAME), &self.storage.names());
                let Some(definitions) = propose_pacing(&name, model, planned) else { continue };
                self.store_computed(&definitions, delivery, plan, by).await?;
                notes.push(text!(
                    "{source} was added as a source: it compares the spend of {delivery} with the plan of {plan}. Its definitions are proposals until a person approves them.",
                    source = &name,
                    delivery = &pair.0,
                    plan = &pair.1
                ));
            }
        }
        Ok(())
    }

    /// Stores a computed source. It is listed only when all its files are there.
    async fn store_computed(
        &self,
        definitions: &Definitions,
        delivery: &Described,
        plan: &Described,
        by: &CallerKind,
    ) -> Result<(), AgentError> {
        let name = &definitions.source;
        let text = analytics::write_definitions(definitions)?;
        let mut source = StoredSource::new(name.clone(), SourceKind::Files, self.clock.now());
        source.columns = found_columns(definitions, delivery, plan)?;
        let draft = change_record("computed", name)
            .field("delivery", delivery.source.name.as_str())
            .field("plan", plan.source.name.as_str())
            .commit("after", text.clone());
        self.record(draft, by).await?;
        self.storage.create(&self.storage.folder(name))?;
        self.storage.write_definitions(name, &text)?;
        self.keep_version(name, definitions)?;
        self.storage.write(&source)
    }

    /// Tells the sources that are computed from tables of a set what the set says: the time zones of
    /// accounts, and that a thing has the same names in all tables, so that one that is only planned
    /// has a name. Returns their names. The caller holds the lock of changes.
    pub(super) async fn complete_computed(
        &self,
        names: &[SourceName],
        zones: &BTreeMap<String, String>,
    ) -> Result<Vec<SourceName>, AgentError> {
        let mut found = Vec::new();
        for name in self.storage.names() {
            let Ok(described) = self.read_described(&name) else { continue };
            let from = described.computed_from();
            if from.is_empty() || !from.iter().all(|one| names.contains(one)) {
                continue;
            }
            found.push(name.clone());
            let mut definitions = described.definitions.clone();
            let Some(pacing) = &mut definitions.pacing else { continue };
            let plan = self.read_described(&pacing.plan.source)?.definitions;
            complete(pacing, &plan, zones);
            if definitions == described.definitions {
                continue;
            }
            let text = analytics::write_definitions(&definitions)?;
            let draft = change_record("defined", &name)
                .commit("before", described.text.clone())
                .commit("after", text.clone());
            self.record(draft, &current_caller()).await?;
            self.storage.write_definitions(&name, &text)?;
            self.keep_version(&name, &definitions)?;
        }
        Ok(found)
    }

    /// Returns the definitions that are proposed for a computed source of a set, with what the set
    /// says. None: its tables do not fit, or it is not computed.
    pub(super) fn propose_again(
        &self,
        computed: &Described,
        zones: &BTreeMap<String, String>,
    ) -> Result<Option<Definitions>, AgentError> {
        let [delivery, plan] = computed.computed_from()[..] else { return Ok(None) };
        let (delivery, plan) = (self.read_described(delivery)?, self.read_described(plan)?);
        let name = &computed.source.name;
        let mut proposed = propose_pacing(name, &model_of(&delivery), &model_of(&plan));
        if let Some(pacing) = proposed.as_mut().and_then(|proposed| proposed.pacing.as_mut()) {
            complete(pacing, &plan.definitions, zones);
        }
        Ok(proposed)
    }

    /// Returns the columns of a computed source as they follow from its definitions and the tables of
    /// now. None: it is not computed, or it needs a source that is missing.
    pub(super) fn columns_now(&self, source: &StoredSource) -> Option<Vec<FoundColumn>> {
        if source.present.is_some() || source.kind != SourceKind::Files {
            return None;
        }
        let text = self.storage.read_definitions(&source.name).ok()??;
        self.columns_by(&analytics::parse_definitions(&text).ok()?)
    }

    /// Returns the columns of a source after a person's change of its definitions.
    pub(super) fn columns_after(
        &self,
        before: &Described,
        params: &SourceDefineParams,
    ) -> Vec<FoundColumn> {
        let written = || analytics::parse_definitions(params.text.as_ref()?).ok();
        let changed = params.definitions.clone().or_else(written);
        let changed = changed.filter(|_| before.is_computed());
        let columns = changed.and_then(|changed| self.columns_by(&changed));
        columns.unwrap_or_else(|| before.columns().to_vec())
    }

    /// Returns the columns that computed rows have by definitions.
    fn columns_by(&self, definitions: &Definitions) -> Option<Vec<FoundColumn>> {
        let [delivery, plan] = sources_of(definitions.pacing.as_ref()?);
        let (delivery, plan) = (self.read_own_rows(delivery)?, self.read_own_rows(plan)?);
        found_columns(definitions, &delivery, &plan).ok()
    }

    /// Reads a source that has rows of its own. Another one could be computed from the one that asks.
    fn read_own_rows(&self, name: &SourceName) -> Option<Described> {
        self.storage.read(name).ok()?.present?;
        self.read_described(name).ok()
    }

    /// Returns the days of the rows: those of the delivery if they are computed.
    pub(super) fn days_of(&self, described: &Described) -> Option<DaySpan> {
        let table = described.computed_from().first().and_then(|name| self.read_own_rows(name));
        let state: Option<&State> = described.state().or_else(|| table.as_ref()?.state());
        state?.days
    }

    /// Returns what models on other computers get of a computed source: no more than of the sources
    /// that it is made of.
    pub(super) fn access_of(&self, own: ModelAccess, pacing: &Pacing) -> ModelAccess {
        let others = sources_of(pacing).into_iter().filter_map(|name| self.storage.read(name).ok());
        others.map(|source| source.models_get).fold(own, stricter)
    }

    /// Fails if a source is missing or empty that a computed one needs.
    pub(super) fn check_computed(&self, described: &Described) -> Result<(), AgentError> {
        let is_missing = |name: &&SourceName| {
            !self.storage.read(name).is_ok_and(|source| source.present.is_some())
        };
        let Some(missing) = described.computed_from().into_iter().find(is_missing) else {
            return Ok(());
        };
        let source = &described.source.name;
        Err(AgentError::invalid(text!(
            "{source} needs {missing}, which is missing or has no rows.",
            source,
            missing
        ))
        .reason("source_missing")
        .hint(text!(
            "Import a file into {missing} again, or remove {source}.",
            missing,
            source
        )))
    }

    /// Returns the pair of a computed source. None: it is another one, or cannot be read.
    pub(super) fn computed_pair(&self, name: &SourceName) -> Option<Pair> {
        pair_of(&self.read_described(name).ok()?)
    }

    /// Remembers that a person removed the computed source of a pair, so that it is not proposed again.
    /// The pair is forgotten with one of its own sources.
    pub(super) fn note_removed(
        &self,
        removed: &SourceName,
        pair: Option<Pair>,
    ) -> Result<(), AgentError> {
        let before = self.removed_pairs()?;
        let mut pairs = before.clone();
        pairs.retain(|(delivery, plan)| delivery != removed && plan != removed);
        let names = self.storage.names();
        pairs.extend(pair.filter(|(one, other)| names.contains(one) && names.contains(other)));
        if pairs == before {
            return Ok(());
        }
        self.storage.write_json(&removed_file(&self.storage), &pairs)
    }

    fn removed_pairs(&self) -> Result<BTreeSet<Pair>, AgentError> {
        let path = removed_file(&self.storage);
        if path.is_file() { self.storage.read_json(&path) } else { Ok(BTreeSet::new()) }
    }
}

/// Completes the definitions of a computed source by what is known of its tables.
fn complete(pacing: &mut Pacing, plan: &Definitions, zones: &BTreeMap<String, String>) {
    if pacing.feed.is_some() && pacing.zones.is_empty() {
        pacing.zones.clone_from(zones);
    }
    for by in pacing.by.iter_mut().filter(|by| by.plan.is_none()) {
        by.plan = plan.dimensions.contains_key(&by.name).then(|| by.name.clone());
    }
}

/// Returns the file with the deliveries and plans whose computed source a person removed.
fn removed_file(storage: &Storage) -> PathBuf {
    storage.root().join("removed-computed.json")
}

fn pair_of(described: &Described) -> Option<Pair> {
    let [delivery, plan] = described.computed_from()[..] else { return None };
    Some((delivery.clone(), plan.clone()))
}

/// Whether a delivery may be compared with a plan. A sample is compared with itself alone.
fn goes_with(delivery: &Described, plan: &Described) -> bool {
    let is_fictional = |one: &Described| is_sample(one.source.origin.as_ref());
    is_fictional(delivery) == is_fictional(plan)
}

fn stricter(one: ModelAccess, other: ModelAccess) -> ModelAccess {
    let is_in = |access| one == access || other == access;
    if is_in(ModelAccess::Nothing) {
        ModelAccess::Nothing
    } else if is_in(ModelAccess::Aggregates) {
        ModelAccess::Aggregates
    } else {
        ModelAccess::All
    }
}

/// Returns the columns of a computed source in the form of those of files.
fn found_columns(
    definitions: &Definitions,
    delivery: &Described,
    plan: &Described,
) -> Result<Vec<FoundColumn>, AgentError> {
    let catalog = Catalog::of(vec![model_of(delivery), model_of(plan)]);
    let columns = pacing_columns(definitions, &catalog)?;
    let found = |column: TableColumn| FoundColumn {
        usage: usage_of(&column, definitions.pacing.as_ref(), delivery, plan),
        heading: column.name.clone(),
        name: column.name,
        kind: column.kind,
        scale: column.scale,
        constant: column.constant,
        ..FoundColumn::default()
    };
    Ok(columns.into_iter().map(found).collect())
}

/// Returns the use of a column. A thing has the use of its column in the delivery, or else in the plan.
fn usage_of(
    column: &TableColumn,
    pacing: Option<&Pacing>,
    delivery: &Described,
    plan: &Described,
) -> ColumnUse {
    let things = pacing.map(|pacing| pacing.by.as_slice()).unwrap_or_default();
    if let Some(thing) = things.iter().find(|thing| thing.name == column.name) {
        let own = thing.delivery.as_ref().and_then(|name| column_of(delivery, name));
        let planned = || thing.plan.as_ref().and_then(|name| column_of(plan, name));
        own.or_else(planned).map(|column| column.usage).unwrap_or_default()
    } else if column.name == DAY {
        ColumnUse::Time
    } else if SUMS.contains(&column.name.as_str()) {
        ColumnUse::Sum
    } else if matches!(column.kind, ColumnKind::Text | ColumnKind::Flag) {
        ColumnUse::Dimension
    } else {
        ColumnUse::Other
    }
}

/// Returns the column of a table that a dimension has its values from.
fn column_of<'a>(table: &'a Described, dimension: &str) -> Option<&'a FoundColumn> {
    let name = match table.definitions.dimensions.get(dimension).map(|found| &found.kind) {
        Some(DimensionKind::Column(column)) => column.as_str(),
        Some(
            DimensionKind::When(_)
            | DimensionKind::Groups(_)
            | DimensionKind::Split(_)
            | DimensionKind::Bins(_)
            | DimensionKind::First(_)
            | DimensionKind::Lookup(_),
        )
        | None => dimension,
    };
    table.columns().iter().find(|column| column.name == name)
}
