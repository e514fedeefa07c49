//! Deletes rows that are no longer in force: undone imports after 90 days, and, if all rows take more
//! room than the limit in the settings, the oldest undone or superseded states. The present state of
//! a source is never deleted. The manifest of a superseded state stays, so that the imports are still
//! listed, and a figure of that time is told that its rows are gone. Each deletion is recorded first.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use contract::{
    AgentError, CallerKind, SourceName, Text,
    sources::{Exclusion, PartRef, StorageUse},
    text,
};
use engine::ports::Profile as _;

use super::{
    Inner, change_record,
    storage::{State, Storage},
};

/// The time for which an undone state is kept.
const KEPT: TimeDelta = TimeDelta::days(90);
/// The time for which an unused part is kept, because a running import may be about to use the
/// part.
const UNUSED: Duration = Duration::from_secs(24 * 3_600);
/// The bytes of a megabyte of the limit.
const MEGABYTE: u64 = 1_000_000;

/// The states and files of one source that a cleanup deletes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Dropped {
    /// The undone states that are too old, by id. Their manifests are deleted, too.
    expired: Vec<String>,
    /// The files of parts.
    files: Vec<String>,
    /// The number of states whose rows are deleted.
    pub(super) states: u64,
    /// The bytes of these rows.
    pub(super) bytes: u64,
}

/// A source as a cleanup sees it.
struct Kept {
    name: SourceName,
    /// All states, and the ids of those that are kept.
    states: Vec<State>,
    kept: BTreeSet<String>,
    /// The states that may be dropped, with their time.
    former: Vec<(DateTime<Utc>, String)>,
    expired: Vec<String>,
    /// The files in the folder of parts, with their bytes.
    files: BTreeMap<String, u64>,
    /// The files that may be of a running import.
    fresh: BTreeSet<String>,
}

/// Returns the files that parts need: their own, and those with keys that exclude rows.
pub(super) fn files_of_parts(parts: &[PartRef]) -> BTreeSet<&str> {
    let files = parts.iter().flat_map(|part| {
        let keys = part.without.iter().filter_map(|exclusion| match exclusion {
            Exclusion::Keys { of, .. } => Some(of.as_str()),
            Exclusion::Scope { .. } => None,
        });
        std::iter::once(part.file.as_str()).chain(keys)
    });
    files.collect()
}

fn files_of(state: &State) -> BTreeSet<&str> {
    files_of_parts(&state.parts)
}

impl Kept {
    /// Returns the files that kept states need.
    fn used(&self) -> BTreeSet<&str> {
        let kept = self.states.iter().filter(|state| self.kept.contains(&state.id));
        kept.flat_map(files_of).collect()
    }

    /// Returns the files that nobody needs.
    fn waste(&self) -> BTreeSet<&str> {
        let used = self.used();
        let files = self.files.keys().map(String::as_str);
        files.filter(|file| !used.contains(file) && !self.fresh.contains(*file)).collect()
    }

    fn bytes_of<'a>(&self, files: impl IntoIterator<Item = &'a str>) -> u64 {
        files.into_iter().filter_map(|file| self.files.get(file)).sum()
    }

    /// Returns the bytes of all files that stay.
    fn bytes(&self) -> u64 {
        let all: u64 = self.files.values().sum();
        all.saturating_sub(self.bytes_of(self.waste()))
    }

    /// Ends the plan: names the files that nobody needs, and counts what is lost with them.
    fn end(self) -> (SourceName, Dropped) {
        let waste = self.waste();
        let is_whole =
            |files: &BTreeSet<&str>| files.iter().all(|file| self.files.contains_key(*file));
        let is_lost = |files: &BTreeSet<&str>| is_whole(files) && !files.is_disjoint(&waste);
        let lost: Vec<BTreeSet<&str>> = self.states.iter().map(files_of).filter(is_lost).collect();
        let gone: BTreeSet<&str> = lost.iter().flat_map(|files| files & &waste).collect();
        let dropped = Dropped {
            states: u64::try_from(lost.len()).unwrap_or(u64::MAX),
            bytes: self.bytes_of(gone),
            files: waste.into_iter().map(str::to_owned).collect(),
            expired: self.expired,
        };
        (self.name, dropped)
    }
}

impl Storage {
    /// Returns all states of a source, including undone states.
    pub(super) fn states(&self, name: &SourceName) -> Vec<State> {
        let entries =
            fs::read_dir(self.folder(name).join("states")).into_iter().flatten().flatten();
        entries.filter_map(|entry| self.read_json(&entry.path()).ok()).collect()
    }

    /// Whether all rows of a state are still stored.
    pub(super) fn is_whole(&self, name: &SourceName, state: &State) -> bool {
        let folder = self.parts(name);
        files_of(state).iter().all(|file| folder.join(file).is_file())
    }

    /// Returns the bytes of all stored rows.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.names().iter().map(|name| self.bytes_of(name)).sum()
    }

    /// Returns the bytes of the stored rows of a source, with those of former imports.
    pub(super) fn bytes_of(&self, name: &SourceName) -> u64 {
        self.part_sizes(name).into_iter().map(|(_, bytes, _)| bytes).sum()
    }

    /// Returns name, bytes and freshness of each file of a source's parts.
    fn part_sizes(&self, name: &SourceName) -> Vec<(String, u64, bool)> {
        let entries = fs::read_dir(self.parts(name)).into_iter().flatten().flatten();
        let size = |entry: fs::DirEntry| {
            let data = entry.metadata().ok()?;
            let age = data.modified().ok().and_then(|at| at.elapsed().ok());
            let is_fresh = age.is_none_or(|age| age < UNUSED);
            Some((entry.file_name().to_string_lossy().into_owned(), data.len(), is_fresh))
        };
        entries.filter_map(size).collect()
    }

    /// Finds what to delete so that all rows take at most `limit` bytes. Deletes nothing. A source
    /// that cannot be read stays as it is.
    pub(super) fn plan_cleanup(
        &self,
        now: DateTime<Utc>,
        limit: u64,
    ) -> BTreeMap<SourceName, Dropped> {
        let names = self.names();
        let mut sources: Vec<Kept> =
            names.iter().filter_map(|name| self.look_at(name, now)).collect();
        let mut former: Vec<(DateTime<Utc>, usize, String)> = Vec::new();
        for (place, source) in sources.iter_mut().enumerate() {
            let own = std::mem::take(&mut source.former);
            former.extend(own.into_iter().map(|(at, id)| (at, place, id)));
        }
        // The oldest states go first, whatever their source is.
        former.sort();
        let mut total: u64 = sources.iter().map(Kept::bytes).sum();
        for (_, place, id) in former {
            if total <= limit {
                break;
            }
            if let Some(source) = sources.get_mut(place) {
                let before = source.bytes();
                source.kept.remove(&id);
                total = total.saturating_sub(before.saturating_sub(source.bytes()));
            }
        }
        let plans = sources.into_iter().map(Kept::end);
        plans.filter(|(_, dropped)| *dropped != Dropped::default()).collect()
    }

    /// Reads a source for a cleanup. None if it cannot be read.
    fn look_at(&self, name: &SourceName, now: DateTime<Utc>) -> Option<Kept> {
        let source = self.read(name).ok()?;
        let chain = self.chain(&source).ok()?;
        let in_force: BTreeSet<&String> = chain.iter().map(|state| &state.id).collect();
        let states = self.states(name);
        // A state that never came into force was not undone.
        let left_at = |state: &State| {
            source.undone.get(&state.id).map_or(state.import.at, |undone| undone.at)
        };
        let is_expired =
            |state: &State| !in_force.contains(&state.id) && left_at(state) + KEPT < now;
        let (expired, kept): (Vec<&State>, Vec<&State>) =
            states.iter().partition(|state| is_expired(state));
        let expired = expired.into_iter().map(|state| state.id.clone()).collect();
        let former = kept
            .iter()
            .filter(|state| source.present.as_ref() != Some(&state.id))
            .map(|state| (state.import.at, state.id.clone()))
            .collect();
        let kept = kept.into_iter().map(|state| state.id.clone()).collect();
        let sizes = self.part_sizes(name);
        // A file of any state is no file of a running import.
        let known: BTreeSet<&str> = states.iter().flat_map(files_of).collect();
        let is_new = |file: &str| !known.contains(file);
        let fresh = sizes
            .iter()
            .filter(|(file, _, is_fresh)| *is_fresh && is_new(file))
            .map(|(file, ..)| file.clone())
            .collect();
        let files = sizes.into_iter().map(|(file, bytes, _)| (file, bytes)).collect();
        Some(Kept { name: name.clone(), states, kept, former, expired, files, fresh })
    }

    /// Deletes what a plan names. A file that cannot be deleted is tried again by the next cleanup.
    fn delete_dropped(&self, plan: &BTreeMap<SourceName, Dropped>) {
        for (name, dropped) in plan {
            let states = dropped.expired.iter().map(|id| self.state_file(name, id));
            let parts = dropped.files.iter().map(|file| self.parts(name).join(file));
            for path in states.chain(parts) {
                if let Err(error) = fs::remove_file(&path) {
                    tracing::warn!(%error, path = %path.display(), "former rows cannot be deleted");
                }
            }
        }
    }
}

impl Inner {
    /// Returns how much room all rows take, and how much they may take.
    pub(super) fn storage_use(&self) -> StorageUse {
        let limit_mb = u64::from(self.profile.settings().data.snapshot_limit_mb);
        StorageUse { bytes: self.storage.stored_bytes(), limit_bytes: limit_mb * MEGABYTE }
    }

    /// Deletes former rows that are too old or take too much room. They stay if that cannot
    /// be recorded. Returns a sentence about it, if rows were deleted. The caller holds the lock of
    /// changes.
    pub(super) async fn clean_up(&self) -> Result<Option<Text>, AgentError> {
        let (storage, now) = (self.storage.clone(), self.clock.now());
        let limit = self.storage_use().limit_bytes;
        let planned = tokio::task::spawn_blocking(move || storage.plan_cleanup(now, limit)).await;
        let plan = planned.unwrap_or_default();
        let mut count = 0;
        for (name, dropped) in plan.iter().filter(|(_, dropped)| dropped.states > 0) {
            let draft = change_record("rows_deleted", name)
                .field("imports", dropped.states)
                .field("bytes", dropped.bytes);
            // This process does it by itself.
            self.record(draft, &CallerKind::default()).await?;
            count += dropped.states;
        }
        let storage = self.storage.clone();
        let deleted = tokio::task::spawn_blocking(move || storage.delete_dropped(&plan)).await;
        deleted.map_err(|error| AgentError::internal("data_dir", error.to_string()))?;
        Ok((count > 0).then(|| {
            text!(
                "The rows of {count} former imports were deleted: they were undone 90 days ago, or all rows took more than {limit} MB.",
                count,
                limit = limit / MEGABYTE
            )
        }))
    }
}

/// Returns a note about the imports of a chain whose rows are no longer stored.
pub(super) fn note_of_deleted(
    storage: &Storage,
    name: &SourceName,
    chain: &[State],
) -> Option<Text> {
    let gone = chain.iter().filter(|state| !storage.is_whole(name, state)).count();
    (gone > 0).then(|| {
        text!(
            "The rows of {count} former imports are no longer stored. These imports cannot be restored, and their figures cannot be computed again.",
            count = u64::try_from(gone).unwrap_or(u64::MAX)
        )
    })
}

#[cfg(test)]
mod tests {
    use contract::sources::{
        ImportChange, ImportDecisions, ImportEntry, PartRef, SourceKind, TableReport,
    };

    use super::{
        super::{
            places::FileStamp,
            storage::{Former, StoredSource, Table, Undone},
        },
        *,
    };

    /// The bytes of each part.
    const PART: usize = 100;

    fn at(day: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000, 0).unwrap() + TimeDelta::days(day)
    }

    /// Stores a state with a part of its own.
    fn keep(storage: &Storage, name: &SourceName, id: &str, parent: Option<&str>, day: i64) {
        let part = PartRef {
            file: format!("{id}.parquet"),
            rows: 1,
            hash: String::new(),
            columns: Vec::new(),
            without: Vec::new(),
        };
        storage.create(&storage.parts(name)).unwrap();
        fs::write(storage.parts(name).join(&part.file), vec![0; PART]).unwrap();
        let entry = ImportEntry {
            id: id.to_owned(),
            at: at(day),
            by: "terminal".to_owned(),
            report: TableReport::default(),
            decisions: ImportDecisions::default(),
            change: ImportChange::default(),
        };
        let table = Table { parts: vec![part], ..Table::default() };
        let parent = parent.map(str::to_owned);
        let state = State::new(parent, table, entry, FileStamp::default(), Former::default());
        storage.write_state(name, &state).unwrap();
    }

    fn new_source(storage: &Storage, present: &str) -> StoredSource {
        storage.prepare().unwrap();
        let mut source = StoredSource::new(SourceName::new("ads"), SourceKind::Files, at(0));
        source.present = Some(present.to_owned());
        storage.write(&source).unwrap();
        source
    }

    #[test]
    fn an_undone_import_is_kept_for_90_days_after_its_undo() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path().join("data"));
        let mut source = new_source(&storage, "one");
        keep(&storage, &source.name, "one", None, 0);
        keep(&storage, &source.name, "two", Some("one"), 1);
        let file = FileStamp::default();
        source.undone.insert("two".to_owned(), Undone { at: at(200), file });
        storage.write(&source).unwrap();
        let plan = |now| storage.plan_cleanup(now, u64::MAX);
        assert_eq!(plan(at(290)), BTreeMap::new(), "the import is much older than the undo");
        let dropped = plan(at(290) + TimeDelta::seconds(1)).remove(&source.name).unwrap();
        assert_eq!((dropped.expired.as_slice(), dropped.states), (&["two".to_owned()][..], 1));
        assert_eq!(dropped.files, ["two.parquet"]);
        // A state that no source names was cut off before it came into force.
        source.undone.clear();
        storage.write(&source).unwrap();
        assert_eq!(plan(at(91)), BTreeMap::new());
        assert_eq!(plan(at(92)).len(), 1);
    }

    #[test]
    fn former_rows_go_only_if_all_rows_take_more_than_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path().join("data"));
        let source = new_source(&storage, "two");
        keep(&storage, &source.name, "one", None, 0);
        keep(&storage, &source.name, "two", Some("one"), 1);
        let plan = |limit| storage.plan_cleanup(at(2), limit);
        assert_eq!(plan(200), BTreeMap::new());
        let dropped = plan(199).remove(&source.name).unwrap();
        assert_eq!(
            (dropped.files.as_slice(), dropped.bytes),
            (&["one.parquet".to_owned()][..], 100)
        );
        assert_eq!(plan(0).remove(&source.name).unwrap().files, ["one.parquet"], "not the present");
    }
}
