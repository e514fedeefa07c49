//! Describes sources: their columns, imports and definitions. A person who changes definitions also
//! approves them; all other definitions are proposals. This module must not know how figures are
//! computed.

use std::collections::{BTreeMap, BTreeSet};

use analytics::Proof;
use contract::{
    AgentError, ModelAccess, SourceDefineParams, SourceDescription, SourceName, SourceParams,
    SourceView, Text,
    definitions::{DefinitionView, Definitions},
    params::{DefinitionFault, SemanticModel},
    sources::{FoundColumn, SourceKind, SourceStatus, TableReport},
};

use super::{
    Inner, Sources, change_record,
    corrections::{Before, add_new, change, choose_uses, parse, without},
    hashes::hash_of,
    origins::{is_sample, origin_notes, sample_note},
    storage::{State, StoredSource},
};
use crate::log::current_caller;

/// A source with its states and definitions.
pub(super) struct Described {
    pub(super) source: StoredSource,
    /// The states, newest first. Empty for a database.
    pub(super) chain: Vec<State>,
    pub(super) definitions: Definitions,
    pub(super) text: String,
    pub(super) faults: Vec<DefinitionFault>,
    pub(super) views: Vec<DefinitionView>,
}

impl Described {
    /// Returns the state in force.
    pub(super) fn state(&self) -> Option<&State> {
        self.chain.first()
    }

    pub(super) fn columns(&self) -> &[FoundColumn] {
        self.state().map_or(&self.source.columns, |state| &state.columns)
    }

    /// Returns the hashes of the approved definitions.
    pub(super) fn approved(&self) -> Vec<String> {
        self.views.iter().filter(|view| view.is_approved).map(|view| view.hash.clone()).collect()
    }
}

impl Sources {
    /// Returns the meaning of a source's columns.
    pub(crate) async fn describe(
        &self,
        params: &SourceParams,
    ) -> Result<SourceDescription, AgentError> {
        let inner = self.opened()?;
        let described = inner.read_described(&params.name)?;
        if described.is_computed() {
            return Ok(inner.description(described, BTreeMap::new()));
        }
        let samples = inner.samples(&described).await.unwrap_or_default();
        Ok(inner.description(described, samples))
    }

    /// Changes the definitions of a source's columns. The person who sends the change approves the
    /// changed definitions.
    pub(crate) async fn define(
        &self,
        params: &SourceDefineParams,
    ) -> Result<SourceDescription, AgentError> {
        let inner = self.opened()?;
        let _changing = inner.begin_change().await?;
        let before = inner.read_described(&params.name)?;
        if !params.columns.is_empty() {
            before.check_own_rows()?;
        }
        let mut source = inner.storage.read(&params.name)?;
        let choices = params.columns.iter().map(|(name, choice)| (name.clone(), choice.clone()));
        source.decisions.columns.extend(choices);
        source.models_get = params.models_get.unwrap_or(source.models_get);
        let columns = inner.columns_after(&before, params);
        let written =
            Before { columns: &columns, definitions: &before.definitions, text: &before.text };
        let (definitions, text) = change(&written, params)?;
        let draft = change_record("defined", &params.name)
            .field("models_get", access_name(source.models_get))
            .commit("before", before.text.clone())
            .commit("after", text.clone());
        inner.record(draft, &current_caller()).await?;
        inner.storage.write(&source)?;
        let mut notes = Vec::new();
        if text != before.text {
            inner.storage.write_definitions(&params.name, &text)?;
            inner.keep_version(&params.name, &definitions)?;
            inner.approve_changed(&before, &definitions)?;
            notes = inner.propose_computed(&current_caller()).await;
        }
        let after = inner.read_described(&params.name)?;
        inner.changed();
        let mut description = inner.description(after, BTreeMap::new());
        description.source.notes.extend(notes);
        Ok(description)
    }
}

impl Inner {
    /// Returns a source in the form for lists.
    pub(super) fn view(&self, name: &SourceName) -> Result<SourceView, AgentError> {
        Ok(self.view_of(&self.read_described(name)?))
    }

    fn view_of(&self, described: &Described) -> SourceView {
        let state = described.state();
        let approved = described.views.iter().filter(|view| view.is_approved).count();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let is_database = matches!(described.source.kind, SourceKind::Database { .. });
        let mut notes: Vec<Text> = Vec::new();
        if is_database {
            notes.extend(super::databases::network_note());
        }
        notes.extend(origin_notes(described.source.origin.as_ref()));
        let is_fictional = self.is_fictional(described);
        if is_fictional && !is_sample(described.source.origin.as_ref()) {
            notes.push(sample_note());
        }
        notes.extend(described.faults.iter().map(|fault| fault.text.clone()));
        notes.extend(self.check_computed(described).err().map(|error| error.text()));
        let name = &described.source.name;
        notes.extend(super::retention::note_of_deleted(&self.storage, name, &described.chain));
        let has_rows = !is_database && !described.is_computed();
        SourceView {
            name: described.source.name.clone(),
            kind: described.source.kind.clone(),
            place: if is_database { None } else { described.source.place.clone() },
            rows: has_rows.then(|| state.map_or(0, |state| state.rows)),
            columns: described.columns().to_vec(),
            days: self.days_of(described),
            version: state.map(State::data_version),
            imports: described.chain.iter().map(|state| state.import.clone()).collect(),
            approved: count(approved),
            proposed: count(described.views.len() - approved),
            status: self.status_of(described),
            bytes: has_rows.then(|| self.storage.bytes_of(name)),
            settles_after: described
                .definitions
                .measures
                .values()
                .filter_map(|measure| measure.settles_after)
                .max(),
            computed_from: described.computed_from().into_iter().cloned().collect(),
            is_sample: is_fictional,
            notes,
        }
    }

    fn status_of(&self, described: &Described) -> SourceStatus {
        let name = &described.source.name;
        let is_damaged = |state: &State| !self.storage.is_whole(name, state);
        let is_database = matches!(described.source.kind, SourceKind::Database { .. });
        if described.state().is_some_and(is_damaged) {
            SourceStatus::Damaged
        } else if self.jobs.is_changing(name) {
            SourceStatus::Importing
        } else if is_database && self.processes.is_unreachable(name) {
            SourceStatus::Unreachable
        } else if self.is_empty(described) {
            SourceStatus::Empty
        } else if described.views.iter().any(|view| !view.is_approved) {
            SourceStatus::ToApprove
        } else {
            SourceStatus::Ready
        }
    }

    /// Whether the rows are fictional, or computed from fictional ones.
    fn is_fictional(&self, described: &Described) -> bool {
        let is_one = |name: &SourceName| {
            self.storage.read(name).is_ok_and(|source| is_sample(source.origin.as_ref()))
        };
        is_sample(described.source.origin.as_ref())
            || described.computed_from().into_iter().any(is_one)
    }

    /// Whether a source has no rows, or cannot have any because those that it needs have none.
    fn is_empty(&self, described: &Described) -> bool {
        if described.is_computed() {
            return self.check_computed(described).is_err();
        }
        described.source.kind == SourceKind::Files && described.state().is_none()
    }

    /// Returns the view of a source whose files are damaged.
    pub(super) fn unreadable(&self, name: SourceName, error: &AgentError) -> SourceView {
        let notes = std::iter::once(error.text()).chain(error.hint_as_text()).collect();
        SourceView {
            bytes: Some(self.storage.bytes_of(&name)),
            name,
            kind: SourceKind::Files,
            place: None,
            rows: None,
            columns: Vec::new(),
            days: None,
            version: None,
            imports: Vec::new(),
            approved: 0,
            proposed: 0,
            status: SourceStatus::Damaged,
            settles_after: None,
            computed_from: Vec::new(),
            is_sample: false,
            notes,
        }
    }

    /// Reads the description of a source without values of its columns.
    pub(super) fn read_description(
        &self,
        name: &SourceName,
    ) -> Result<SourceDescription, AgentError> {
        Ok(self.description(self.read_described(name)?, BTreeMap::new()))
    }

    fn description(
        &self,
        described: Described,
        samples: BTreeMap<String, Vec<String>>,
    ) -> SourceDescription {
        let model = analytics::write_ossie(std::slice::from_ref(&described.definitions)).ok();
        SourceDescription {
            ossie: model.map(|model| SemanticModel { text: model.text, lost: model.lost }),
            path: analytics::drill_path(&described.definitions, described.columns()),
            source: self.view_of(&described),
            models_get: described.source.models_get,
            definitions_hash: hash_of(&described.definitions),
            definitions: described.definitions,
            text: described.text,
            states: described.views,
            faults: described.faults,
            samples,
        }
    }

    /// Reads a source with its definitions.
    pub(super) fn read_described(&self, name: &SourceName) -> Result<Described, AgentError> {
        let mut source = self.storage.read(name)?;
        if let Some(columns) = self.columns_now(&source) {
            source.columns = columns;
        }
        let mut chain = self.storage.chain(&source)?;
        if let Some(state) = chain.first_mut() {
            choose_uses(&mut state.columns, &source.decisions.columns);
        }
        let columns: Vec<FoundColumn> =
            chain.first().map_or_else(|| source.columns.clone(), |state| state.columns.clone());
        let (definitions, text, faults) = self.read_definitions(name, &columns)?;
        let approved = self.approvals_of(name)?;
        let proof = chain.first().map(|state| Proof::of_report(&state.import.report));
        let proof = proof.unwrap_or_default();
        let hashes: BTreeSet<String> = approved.keys().cloned().collect();
        let mut views = analytics::definition_views(&definitions, &proof, &hashes)?;
        for view in &mut views {
            view.approval = approved.get(&view.hash).cloned().flatten();
        }
        if let Some(pacing) = &definitions.pacing {
            source.models_get = self.access_of(source.models_get, pacing);
        }
        Ok(Described { source, chain, definitions, text, faults, views })
    }

    /// Reads the definitions. If the file has an error, the last version without errors is used.
    fn read_definitions(
        &self,
        name: &SourceName,
        columns: &[FoundColumn],
    ) -> Result<(Definitions, String, Vec<DefinitionFault>), AgentError> {
        let Some(text) = self.storage.read_definitions(name)? else {
            return Ok((Definitions::new(name.clone()), String::new(), Vec::new()));
        };
        match parse(&text, columns) {
            Ok(mut definitions) => {
                definitions.source = name.clone();
                Ok((definitions, text, Vec::new()))
            }
            Err(faults) => {
                let last = self.storage.kept_versions(name).into_iter().next();
                let last = last.unwrap_or_else(|| Definitions::new(name.clone()));
                Ok((last, text, faults))
            }
        }
    }

    /// Proposes definitions for all columns of a source that had no rows, or for the new columns of
    /// another source. Definitions of an import that was taken back stay only if the columns fit.
    pub(super) fn note_columns(
        &self,
        source: &StoredSource,
        state: &State,
        had_rows: bool,
    ) -> Result<(), AgentError> {
        let report = TableReport { columns: state.columns.clone(), ..state.import.report.clone() };
        let (_, text, faults) = self.read_definitions(&source.name, &report.columns)?;
        let is_first = !had_rows && (text.is_empty() || !faults.is_empty());
        self.note_table_columns(source, &report, is_first, &[])
    }

    /// Does the same for the columns of a report. Definitions of columns that are gone are dropped.
    pub(super) fn note_table_columns(
        &self,
        source: &StoredSource,
        report: &TableReport,
        is_new: bool,
        gone: &[String],
    ) -> Result<(), AgentError> {
        let mut definitions = analytics::propose(&source.name, report);
        if !is_new {
            let (known, _, faults) = self.read_definitions(&source.name, &report.columns)?;
            if !faults.is_empty() && gone.is_empty() {
                return Ok(());
            }
            let before = known.clone();
            definitions = add_new(without(known, gone), definitions, &report.columns);
            if definitions == before {
                return Ok(());
            }
        }
        let text = analytics::write_definitions(&definitions)?;
        self.storage.write_definitions(&source.name, &text)?;
        self.keep_version(&source.name, &definitions)
    }

    /// Drops the definitions of columns that are gone. `columns` are those before.
    pub(super) fn drop_columns(
        &self,
        name: &SourceName,
        columns: &[FoundColumn],
        gone: &[String],
    ) -> Result<(), AgentError> {
        let (known, ..) = self.read_definitions(name, columns)?;
        let left = without(known.clone(), gone);
        if left == known {
            return Ok(());
        }
        let text = analytics::write_definitions(&left)?;
        self.storage.write_definitions(name, &text)?;
        self.keep_version(name, &left)
    }

    /// Keeps a version of the definitions, so that a figure can be computed again with it.
    pub(super) fn keep_version(
        &self,
        name: &SourceName,
        definitions: &Definitions,
    ) -> Result<(), AgentError> {
        self.storage.keep_version(name, &hash_of(definitions), definitions, self.clock.now())
    }
}

fn access_name(access: ModelAccess) -> &'static str {
    match access {
        ModelAccess::All => "all",
        ModelAccess::Aggregates => "aggregates",
        ModelAccess::Nothing => "nothing",
    }
}
