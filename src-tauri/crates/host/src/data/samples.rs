//! The samples that ship with the app, as sources: adds them, and makes them again each day, because
//! their days end today. It must not know what they are about.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use analytics::Proof;
use chrono::{DateTime, Utc};
use contract::{
    AgentError, CallerKind, SourceJob, SourceName,
    pack_code::{SampleData, TableSet},
    sources::{ImportResult, TableReport},
};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::{
    Inner, Sources, change_record, describing::Described, origins::Origin, storage::StoredSource,
    table_sets::creator,
};
use crate::log::{current_caller, for_caller};

/// The files of a sample that are imported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Those that are not there.
    Missing,
    /// Those that are there and end on an earlier day.
    Outdated,
}

impl Sources {
    /// Starts a job that adds the samples as sources. Those that are there stay as they are.
    pub(crate) fn add_samples(&self) -> Result<SourceJob, AgentError> {
        let inner = Arc::clone(self.opened()?);
        if inner.pack_code.samples.is_empty() {
            return Err(AgentError::invalid("There is no sample.").reason("no_sample"));
        }
        let (job, stop) = inner.jobs.begin(inner.ids.next("source"), "sample".to_owned(), false)?;
        let (id, by) = (job.job.clone(), current_caller());
        tokio::spawn(for_caller(by, async move {
            let running = inner.jobs.running(&id);
            let _changing = inner.changing.lock().await;
            let end = inner.import_samples(Wanted::Missing, &id, &stop).await;
            if end.as_ref().is_ok_and(Vec::is_empty) {
                inner.jobs.note(&id, "The sample is already there.".into());
            }
            inner.changed();
            running.finish(end);
        }));
        Ok(job)
    }

    /// Makes the samples again that are there and end on an earlier day.
    pub(crate) async fn renew_samples(&self) {
        let Ok(inner) = self.opened() else { return };
        if !inner.has_outdated() {
            return;
        }
        let _changing = inner.changing.lock().await;
        // No person asked for it.
        let renewing = inner.import_samples(Wanted::Outdated, "", &inner.closing);
        match for_caller(CallerKind::default(), renewing).await {
            Ok(_) => inner.changed(),
            Err(error) => tracing::info!(%error.message, "the sample was not made again"),
        }
    }
}

impl Inner {
    fn has_outdated(&self) -> bool {
        let now = self.clock.now();
        let sources = self.storage.names().into_iter();
        let mut sources = sources.filter_map(|name| self.storage.read(&name).ok());
        sources.any(|source| is_outdated(&source, now))
    }

    async fn import_samples(
        &self,
        wanted: Wanted,
        job: &str,
        stop: &CancellationToken,
    ) -> Result<Vec<ImportResult>, AgentError> {
        let mut results = Vec::new();
        for sample in &self.pack_code.samples {
            results.extend(self.import_sample(sample, wanted, job, stop).await?);
        }
        Ok(results)
    }

    async fn import_sample(
        &self,
        sample: &Arc<dyn SampleData>,
        wanted: Wanted,
        job: &str,
        stop: &CancellationToken,
    ) -> Result<Vec<ImportResult>, AgentError> {
        let (staged, now) = (self.storage.stage()?, self.clock.now());
        let set = self.write_sample(sample, staged.path(), now).await?;
        let (mut results, mut names) = (Vec::new(), Vec::new());
        for file in &set.files {
            let origin = Origin::Sample {
                set: sample.name().to_owned(),
                file: file.name.clone(),
                made_at: now,
            };
            let known = self.source_from(&origin);
            let is_due = match (wanted, &known) {
                (Wanted::Missing, Some(source)) => source.present.is_none(),
                (Wanted::Missing, None) => true,
                (Wanted::Outdated, Some(source)) => is_outdated(source, now),
                (Wanted::Outdated, None) => false,
            };
            if is_due {
                let result = self.import_table(staged.path(), file, &origin, job, stop).await?;
                names.push(result.source.clone());
                results.push(result);
            } else {
                names.extend(known.map(|source| source.name));
            }
        }
        if wanted == Wanted::Missing && (!results.is_empty() || self.is_unfinished(&names)) {
            // The notes ask for an approval, which a sample does not need.
            let _notes = self.propose_computed(&current_caller()).await;
            // The tables come last: while they lack approvals, a job that was cut off is finished by
            // the next one.
            let mut all = self.complete_computed(&names, &set.zones).await?;
            all.extend(names);
            for name in &all {
                self.approve_sample(name, &set.zones).await?;
            }
        }
        Ok(results)
    }

    async fn write_sample(
        &self,
        sample: &Arc<dyn SampleData>,
        folder: &Path,
        now: DateTime<Utc>,
    ) -> Result<TableSet, AgentError> {
        let (sample, mut create) = (Arc::clone(sample), creator(folder));
        let written = spawn_blocking(move || sample.write_tables(now, &mut create)).await;
        match written {
            Ok(written) => written.map_err(|error| self.storage.unusable(folder, &error)),
            Err(_) => Err(AgentError::internal("sample_broke", "The sample cannot be written.")),
        }
    }

    /// Whether tables of a sample have definitions that nobody has approved.
    fn is_unfinished(&self, names: &[SourceName]) -> bool {
        let described = names.iter().filter_map(|name| self.read_described(name).ok());
        described.flat_map(|one| one.views).any(|view| view.approval.is_none())
    }

    /// Approves the definitions of a sample that are proposed for its tables. They ship with the app,
    /// as its rows do, and the person who adds it has not seen them yet. Definitions that somebody
    /// wrote stay proposals.
    async fn approve_sample(
        &self,
        name: &SourceName,
        zones: &BTreeMap<String, String>,
    ) -> Result<(), AgentError> {
        let described = self.read_described(name)?;
        let shipped = self.shipped_definitions(&described, zones)?;
        let (names, hashes): (Vec<String>, BTreeSet<String>) = described
            .views
            .iter()
            .filter(|view| view.approval.is_none() && shipped.contains(&view.hash))
            .map(|view| (view.name.clone(), view.hash.clone()))
            .unzip();
        if hashes.is_empty() {
            return Ok(());
        }
        let draft = change_record("approved", name)
            .field("is_sample", true)
            .commit("approved", names)
            .commit("definitions", described.text.clone());
        self.record(draft, &current_caller()).await?;
        self.add_approvals(name, hashes)?;
        self.keep_version(name, &described.definitions)
    }

    /// Returns the hashes of the definitions that are proposed for a source of a sample.
    fn shipped_definitions(
        &self,
        described: &Described,
        zones: &BTreeMap<String, String>,
    ) -> Result<BTreeSet<String>, AgentError> {
        let proposed = match described.state() {
            Some(state) => {
                let columns = state.columns.clone();
                let report = TableReport { columns, ..state.import.report.clone() };
                Some(analytics::propose(&described.source.name, &report))
            }
            None => self.propose_again(described, zones)?,
        };
        let Some(proposed) = proposed else { return Ok(BTreeSet::new()) };
        // As the file would be read.
        let text = analytics::write_definitions(&proposed)?;
        let read = analytics::parse_definitions(&text)?;
        let views = analytics::definition_views(&read, &Proof::default(), &BTreeSet::new())?;
        Ok(views.into_iter().map(|view| view.hash).collect())
    }
}

/// Whether a source is a sample with rows that end on an earlier day. One that was taken back stays
/// empty.
fn is_outdated(source: &StoredSource, now: DateTime<Utc>) -> bool {
    match &source.origin {
        Some(Origin::Sample { made_at, .. }) => {
            source.present.is_some() && made_at.date_naive() < now.date_naive()
        }
        Some(Origin::Pack { .. }) | None => false,
    }
}
