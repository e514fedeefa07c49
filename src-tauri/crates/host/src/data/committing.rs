//! The new states of an import job: makes the state after each file, puts all of them into force
//! together, and deletes what a job that stores nothing has made. It asks nobody.

use contract::{
    AgentError, CallerKind, RecordType, SourceName,
    sources::{ImportEntry, ImportResult},
};
use engine::ports::RecordDraft;

use super::{
    Inner, deciding,
    importer::StagedPart,
    importing::{Import, Pending},
    places::FileStamp,
    remembering,
    replacing::{Effect, exclude},
    storage::{Former, State, Table},
};

impl Import<'_> {
    /// Makes the state after this file.
    pub(super) async fn add_state(
        &self,
        file: FileStamp,
        part: StagedPart,
        result: &mut ImportResult,
        effect: Effect,
        target: &mut Pending,
    ) -> Result<(), AgentError> {
        let before = target.state.as_ref();
        let empty = Table::default();
        let former = before.map_or(empty.columns.as_slice(), |state| &state.columns);
        let (columns, notes) = deciding::merge_columns(former, &result.report.columns);
        result.report.notes.extend(notes);
        let mut parts = before.map(|state| state.parts.clone()).unwrap_or_default();
        if effect.before > 0 {
            exclude(&mut parts, &part.part, &effect, &result.report, &target.chain);
        }
        let folder = self.inner.storage.parts(&target.source.name);
        let place = folder.join(&part.part.file);
        let is_fresh = !place.is_file();
        let own = part.part.clone();
        self.inner.storage.keep_part(&target.source.name, &part.path, &own)?;
        if is_fresh {
            target.parts.push(place);
        }
        parts.push(own);
        let mut table =
            Table { parts, columns, rows: result.report.stored, days: result.report.days };
        if table.parts.len() > 1 {
            (table.rows, table.days) =
                self.inner.measure_table(&target.source.name, &table).await?;
        }
        let entry = ImportEntry {
            id: self.inner.ids.next("import"),
            at: self.inner.clock.now(),
            by: self.by.name().to_owned(),
            report: result.report.clone(),
            decisions: result.decisions.clone(),
            change: effect.change,
        };
        let parent = before.map(|state| state.id.clone());
        let (decisions, place) = (target.source.decisions.clone(), target.source.place.clone());
        let kept = remembering::remembered_after(&result.decisions, &self.remembered(target));
        let former = Former { decisions, place };
        let state = State::new(parent, table, entry, file, former);
        target.source.decisions = kept;
        // A file that the app itself wrote is deleted, so that it cannot be read again.
        let is_of_person = self.origin.is_none();
        target.source.place = is_of_person.then(|| self.params.place.clone());
        target.source.origin = self.origin.cloned().or(target.source.origin.take());
        target.states.push(state.id.clone());
        target.chain.insert(0, state.clone());
        target.state = Some(state);
        Ok(())
    }

    /// Puts the new states into force.
    pub(super) async fn commit(&self, pending: &Pending) -> Result<(), AgentError> {
        let count = pending.states.len();
        let fresh: Vec<&State> = pending.chain.iter().take(count).collect();
        let Some(newest) = fresh.first() else { return Ok(()) };
        let (mut source, storage) = (pending.source.clone(), &self.inner.storage);
        if pending.is_new {
            // From now on, its rows belong to a source that is listed and can be removed.
            storage.write(&source)?;
        }
        for state in fresh.iter().rev() {
            storage.write_state(&source.name, state)?;
        }
        // All imports are recorded first, because a state must not come into force without a
        // record.
        for state in fresh.iter().rev() {
            self.inner.record_import(&source.name, state, &self.by).await?;
        }
        let had_rows = pending.chain.len() > count;
        self.inner.note_columns(&source, newest, had_rows)?;
        source.present = Some(newest.id.clone());
        storage.write(&source)
    }

    /// Deletes what a job that stores nothing has made.
    pub(super) fn discard(&self, pending: &Pending) {
        for part in &pending.parts {
            let _ = std::fs::remove_file(part);
        }
        for state in &pending.states {
            self.inner.storage.delete_state(&pending.source.name, state);
        }
        if pending.is_new {
            let _ = self.inner.storage.remove(&pending.source.name);
        }
    }
}

impl Inner {
    /// Records an import that is about to come into force.
    async fn record_import(
        &self,
        name: &SourceName,
        state: &State,
        by: &CallerKind,
    ) -> Result<(), AgentError> {
        let report = &state.import.report;
        let count = |counts: &mut dyn Iterator<Item = u64>| counts.sum::<u64>();
        let draft = RecordDraft::new(RecordType::DataImported)
            .field("source", name.as_str())
            .field("import", state.id.as_str())
            .field("rows_stored", report.stored)
            .field("left_out", count(&mut report.left_out.iter().map(|one| one.count)))
            .field("errors", count(&mut report.rejected.iter().map(|one| one.count)))
            .field("vanished", state.import.change.vanished_rows)
            .field("version", state.data_version())
            .commit("file", report.file.clone())
            .commit("file_hash", report.hash.clone());
        let decisions = &state.import.decisions;
        let draft = match &decisions.account_from_path {
            Some(pattern) => draft
                .commit("account_from_path", pattern.as_str())
                .commit("account", decisions.account.clone()),
            None => draft,
        };
        self.record(draft, by).await
    }
}
