//! Rows that packs of an older version kept themselves become sources, once: at the first start with
//! them. Their sums are compared with those of the pack. Its file stays until a person removes it. This
//! module must not know a pack by name, nor what its rows mean.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use contract::{
    AgentError, CallerKind, RecordType, SourceName, Text,
    pack_code::{EarlierData, OldDelivery, OldTables},
    sources::AskLimits,
    text,
};
use engine::ports::RecordDraft;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::{
    Inner, Sources, asking::Page, change_record, comparing::identifier, hash_of, origins::Origin,
    storage::State, table_sets::creator,
};
use crate::log::{current_caller, for_caller};

/// The rows of a page of sums.
const PAGE: u64 = 10_000;
/// The maximum size of sums that are stored beside the log. Of larger ones, only the hash is stored.
const RECORDED: usize = 256 << 10;
/// The most months that a note names.
const NAMED: usize = 5;

/// The problems of takeovers since the start, by service.
pub(super) type Problems = Mutex<BTreeMap<&'static str, Text>>;
/// The takeovers, by service.
type Taken = BTreeMap<String, TakenOver>;
/// The sums of each account and month, without zeros at their end.
type Sums = BTreeMap<(String, String), Vec<String>>;

/// The takeover of the rows of a service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TakenOver {
    at: DateTime<Utc>,
    /// The sources with its rows. Empty: there were no rows, or a person removed the earlier file.
    sources: Vec<SourceName>,
}

impl Sources {
    /// Makes sources of the rows that packs of an older version kept. A later start tries again what
    /// fails.
    pub(crate) async fn take_over_old_data(&self) {
        let Ok(inner) = self.opened() else { return };
        for service in &inner.pack_code.earlier {
            if inner.problems.lock().contains_key(service.name()) {
                continue;
            }
            // No person asked for it.
            let taken = for_caller(CallerKind::default(), inner.take_over(service)).await;
            if let Err(error) = taken {
                tracing::warn!(%error.message, service = service.name(), "earlier rows were not taken over");
                inner.problems.lock().insert(service.name(), error.text());
            }
        }
    }

    /// Whether a file of a pack is still there whose rows became sources.
    pub(crate) fn has_old_data(&self) -> Result<bool, AgentError> {
        let inner = self.opened()?;
        let files = |service: &Arc<dyn EarlierData>| service.files(&inner.data_of(service));
        Ok(inner.taken_over()?.into_iter().flat_map(files).any(|file| file.exists()))
    }

    /// Deletes the files of packs whose rows became sources, once. A pack may begin a new file, whose
    /// rows never became sources.
    pub(crate) async fn remove_old_data(&self) -> Result<(), AgentError> {
        let inner = self.opened()?;
        let _changing = inner.begin_change().await?;
        let due = inner.taken_over()?;
        if due.is_empty() {
            return Err(nothing_to_remove());
        }
        for service in due {
            for file in service.files(&inner.data_of(service)) {
                let draft = RecordDraft::new(RecordType::SourceChanged)
                    .field("action", "old_data_removed")
                    .field("service", service.name());
                inner.record(draft, &current_caller()).await?;
                let removed = remove_database(&file);
                removed.map_err(|error| inner.storage.unusable(&file, &error))?;
            }
            inner.note_taken(service.name(), Vec::new())?;
        }
        Ok(())
    }
}

impl Inner {
    /// Notes for a profile without earlier rows that there are none. Files that a person imports later
    /// become sources by their own import.
    pub(super) fn note_new_profile(&self) {
        if let Err(error) = self.try_note_new() {
            tracing::warn!(%error.message, "a new profile cannot be noted");
        }
    }

    fn try_note_new(&self) -> Result<(), AgentError> {
        let before = self.taken()?;
        let mut taken = before.clone();
        for service in &self.pack_code.earlier {
            let files = service.files(&self.data_of(service));
            if !files.is_empty() && !files.iter().any(|file| file.exists()) {
                let none = TakenOver { at: self.clock.now(), sources: Vec::new() };
                taken.entry(service.name().to_owned()).or_insert(none);
            }
        }
        if taken == before {
            return Ok(());
        }
        self.storage.write_json(&self.taken_file(), &taken)
    }

    async fn take_over(&self, service: &Arc<dyn EarlierData>) -> Result<(), AgentError> {
        let name = service.name();
        let has_files = !service.files(&self.data_of(service)).is_empty();
        if !has_files || self.taken()?.contains_key(name) {
            return Ok(());
        }
        let staged = self.storage.stage()?;
        let Some(old) = self.export_old(service, staged.path()).await? else {
            return self.note_taken(name, Vec::new());
        };
        let _changing = self.changing.lock().await;
        let sources = self.import_old(name, &old, staged.path()).await?;
        let names: Vec<SourceName> = sources.values().cloned().collect();
        let _notes = self.propose_computed(&current_caller()).await;
        self.complete_computed(&names, &old.tables.zones).await?;
        for (file, source) in &sources {
            let mut notes =
                vec![text!("These rows are from the earlier data of {service}.", service = name)];
            match old.delivery.as_ref().filter(|delivery| delivery.file == *file) {
                Some(delivery) => notes.push(self.compare_old(name, source, delivery).await?),
                None => notes.extend(old.notes.iter().cloned()),
            }
            if sources.len() == 1 && old.delivery.is_some() {
                // There is no plan that could have them.
                notes.extend(old.notes.iter().cloned());
            }
            notes.push("The earlier file stays until you remove it with csign data remove-old. How its exports are read is learned again.".into());
            self.write_notes(source, notes)?;
        }
        self.note_taken(name, names)?;
        self.changed();
        Ok(())
    }

    /// Imports the tables. Those that an earlier start imported, which was cut off, stay.
    async fn import_old(
        &self,
        service: &str,
        old: &OldTables,
        folder: &Path,
    ) -> Result<BTreeMap<String, SourceName>, AgentError> {
        let mut sources = BTreeMap::new();
        for file in &old.tables.files {
            let (service, file_name) = (service.to_owned(), file.name.clone());
            let origin = Origin::Pack { service, file: file_name, notes: Vec::new() };
            let known = self.source_from(&origin).filter(|source| source.present.is_some());
            let name = match known {
                Some(known) => known.name,
                None => self.import_table(folder, file, &origin, "", &self.closing).await?.source,
            };
            sources.insert(file.name.clone(), name);
        }
        Ok(sources)
    }

    async fn export_old(
        &self,
        service: &Arc<dyn EarlierData>,
        folder: &Path,
    ) -> Result<Option<OldTables>, AgentError> {
        let (service, data) = (Arc::clone(service), self.data_of(service));
        let (broken, mut create) = (service.broken_error(), creator(folder));
        let exported = spawn_blocking(move || service.export_tables(&data, &mut create)).await;
        exported.unwrap_or(Err(broken))
    }

    /// Compares the sums of each account and month with those of the pack, and records both. Returns
    /// the result for people.
    async fn compare_old(
        &self,
        service: &str,
        source: &SourceName,
        delivery: &OldDelivery,
    ) -> Result<Text, AgentError> {
        let old: Sums = delivery
            .sums
            .iter()
            .map(|one| {
                let sums = one.sums.iter().map(|sum| plain(sum).to_owned()).collect();
                ((one.account.clone(), one.month.clone()), sums)
            })
            .collect();
        let new = self.sums_of(source, delivery).await?;
        let described = self.read_described(source)?;
        let rows = described.state().map_or(0, |state: &State| state.rows);
        let draft = change_record("taken_over", source)
            .field("service", service)
            .field("rows", rows)
            .field("are_equal", old == new)
            .commit("before", recorded(&old))
            .commit("after", recorded(&new));
        self.record(draft, &current_caller()).await?;
        Ok(told(rows, &old, &new))
    }

    /// Returns the sums of each account and month of a source.
    async fn sums_of(
        &self,
        source: &SourceName,
        delivery: &OldDelivery,
    ) -> Result<Sums, AgentError> {
        let columns = delivery.columns.iter().enumerate();
        let sums: String = columns
            .map(|(at, column)| {
                format!(", CAST(sum({}) AS VARCHAR) AS sum_{at}", identifier(column))
            })
            .collect();
        let sql = format!(
            "SELECT CAST({} AS VARCHAR) AS of_account, substr(CAST({} AS VARCHAR), 1, 7) AS of_month{sums} FROM {} GROUP BY 1, 2 ORDER BY 1, 2",
            identifier(&delivery.account),
            identifier(&delivery.day),
            identifier(source.as_str())
        );
        let (mut found, mut cursor) = (Sums::new(), None);
        loop {
            let page = Page { rows: PAGE, bytes: AskLimits::default().bytes };
            let result = self.query(&sql, cursor, page, self.closing.child_token()).await?;
            for row in &result.rows {
                let mut cells = row.iter().map(|cell| cell.as_str().unwrap_or_default());
                let key = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
                let sums = cells.map(|sum| plain(sum).to_owned()).collect();
                found.insert((key.0.to_owned(), key.1.to_owned()), sums);
            }
            cursor = result.more;
            if cursor.is_none() {
                return Ok(found);
            }
        }
    }

    fn write_notes(&self, source: &SourceName, told: Vec<Text>) -> Result<(), AgentError> {
        let mut stored = self.storage.read(source)?;
        match &mut stored.origin {
            Some(Origin::Pack { notes, .. }) => *notes = told,
            Some(Origin::Sample { .. }) | None => return Ok(()),
        }
        self.storage.write(&stored)
    }

    fn data_of(&self, service: &Arc<dyn EarlierData>) -> PathBuf {
        self.profile.paths().pack_data(service.name())
    }

    fn taken_file(&self) -> PathBuf {
        self.storage.root().join("old-data.json")
    }

    fn taken(&self) -> Result<Taken, AgentError> {
        let path = self.taken_file();
        if path.is_file() { self.storage.read_json(&path) } else { Ok(Taken::new()) }
    }

    /// Returns the packs whose rows became sources, and whose files nobody removed.
    fn taken_over(&self) -> Result<Vec<&Arc<dyn EarlierData>>, AgentError> {
        let taken = self.taken()?;
        let has_sources = |service: &&Arc<dyn EarlierData>| {
            taken.get(service.name()).is_some_and(|one| !one.sources.is_empty())
        };
        Ok(self.pack_code.earlier.iter().filter(has_sources).collect())
    }

    fn note_taken(&self, service: &str, sources: Vec<SourceName>) -> Result<(), AgentError> {
        let mut taken = self.taken()?;
        taken.insert(service.to_owned(), TakenOver { at: self.clock.now(), sources });
        self.storage.write_json(&self.taken_file(), &taken)
    }
}

fn nothing_to_remove() -> AgentError {
    AgentError::invalid("There is no earlier file whose rows became sources.")
        .reason("nothing_to_remove")
}

/// Returns a number without zeros after its decimals, so that equal numbers are equal texts.
fn plain(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Returns sums for a record.
fn recorded(sums: &Sums) -> String {
    let rows: Vec<_> = sums.iter().collect();
    let text = serde_json::to_string(&rows).unwrap_or_default();
    if text.len() <= RECORDED { text } else { hash_of(&text) }
}

/// Says whether all sums are equal, or which differ.
fn told(rows: u64, old: &Sums, new: &Sums) -> Text {
    let keys = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key)));
    let other = keys.filter(|key| old.get(*key) != new.get(*key));
    let other: Vec<String> = other.map(|(account, month)| format!("{account} {month}")).collect();
    if other.is_empty() {
        return text!("{count} rows; the sums of each account and month are equal.", count = rows);
    }
    text!(
        "{count} rows; {months} sums of an account and month differ, such as {names}. Compare them before you remove the earlier file.",
        count = rows,
        months = other.len(),
        names = other.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ")
    )
}

/// Deletes a database with its journals and copies.
fn remove_database(file: &Path) -> io::Result<()> {
    let Some(name) = file.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Ok(());
    };
    let stem = name.split('.').next().unwrap_or_default().to_owned();
    let copies = file.with_file_name("backups");
    let copies = fs::read_dir(copies).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_copy = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let rest = name.as_deref().and_then(|name| name.strip_prefix(stem.as_str()));
        rest.is_some_and(|rest| rest.starts_with(['-', '.']))
    };
    let journals = ["-wal", "-shm"].map(|end| file.with_file_name(format!("{name}{end}")));
    let others: Vec<PathBuf> = copies.filter(is_copy).chain(journals).collect();
    for path in others.iter().map(PathBuf::as_path).chain([file]) {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(rows: &[(&str, &str, &str)]) -> Sums {
        let row = |(account, month, sum): &(&str, &str, &str)| {
            (((*account).to_owned(), (*month).to_owned()), vec![plain(sum).to_owned()])
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn sums_that_differ_are_named_and_zeros_after_decimals_make_no_difference() {
        let old = sums(&[("7", "2026-10", "12.30"), ("7", "2026-11", "100")]);
        let new = sums(&[("7", "2026-10", "12.300000"), ("7", "2026-11", "100")]);
        assert_eq!(
            told(3, &old, &new).as_str(),
            "3 rows; the sums of each account and month are equal."
        );
        let other = sums(&[("7", "2026-10", "12.3"), ("8", "2026-11", "100")]);
        assert!(
            told(3, &old, &other)
                .contains("2 sums of an account and month differ, such as 7 2026-11, 8 2026-11.")
        );
    }

    #[test]
    fn a_database_goes_with_its_journals_and_copies() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("backups")).unwrap();
        let names =
            ["rows.db", "rows.db-wal", "other.db", "backups/rows-1.db", "backups/other-1.db"];
        for name in names {
            fs::write(folder.path().join(name), "").unwrap();
        }
        remove_database(&folder.path().join("rows.db")).unwrap();
        let left: Vec<&str> =
            names.into_iter().filter(|name| folder.path().join(name).exists()).collect();
        assert_eq!(left, ["other.db", "backups/other-1.db"]);
    }
}
