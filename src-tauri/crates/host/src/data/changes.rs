//! Compares a file with its source: finds the changes. The counts come from queries over the file
//! and the stored rows. `change_questions` finds the questions about them that only a person can
//! answer. This module stores nothing.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use contract::{
    AgentError, SourceName,
    sources::{
        ColumnUse, FoundColumn, ImportChange, ImportMode, ImportQuestion, ImportResult,
        ImportScope, PartRef,
    },
    text,
};

use super::{
    comparing::{Comparison, Counts, has_blank_days, scope_of, values_of, whole},
    deciding,
    importer::StagedPart,
    importing::{Import, Pending},
    places::FileStamp,
    questions::{self, KEEP, SAME},
    replacing::{Effect, Stored, first_sums, stored_content},
    shared_columns::Shared,
    storage::State,
};

/// A file that is compared with its source.
pub(super) struct Compared<'a> {
    pub(super) file: &'a FileStamp,
    pub(super) part: &'a StagedPart,
    /// The folder of the part.
    pub(super) folder: PathBuf,
    pub(super) comparison: Comparison,
    pub(super) counts: Counts,
}

impl Import<'_> {
    /// Returns the effect of the file on its source.
    pub(super) async fn compare(
        &self,
        file: &FileStamp,
        part: &StagedPart,
        result: &mut ImportResult,
        target: &Pending,
    ) -> Result<Effect, AgentError> {
        let scope = self.find_scope(part, result).await?;
        let mode = result.decisions.mode.unwrap_or_default();
        let change = ImportChange { mode, scope, ..ImportChange::default() };
        let Some(state) = &target.state else {
            let sums = first_sums(&result.report.sums);
            let new_rows = result.report.stored;
            return Ok(Effect::of(ImportChange { new_rows, sums, ..change }));
        };
        if let Some(stored) = stored_content(result, &change.scope, file, &target.chain) {
            if stored == Stored::Superseded {
                result.report.notes.push(
                    "This content was imported before, and later files changed its rows since. It is not imported again.".into(),
                );
            }
            return Ok(Effect::of(ImportChange { is_same_content: true, ..change }));
        }
        if let Some(question) = find_other_data(result, state, &target.source.name)? {
            result.questions.push(question);
            return Ok(Effect::of(change));
        }
        self.compare_rows(file, part, result, target, change).await
    }

    /// Returns the rows that a file covers.
    async fn find_scope(
        &self,
        part: &StagedPart,
        result: &ImportResult,
    ) -> Result<ImportScope, AgentError> {
        let account = result.report.columns.iter().find(|one| one.usage == ColumnUse::Account);
        let accounts = match account {
            Some(account) => {
                let sql = values_of(&account.name);
                let folder = self.inner.folder_of(part);
                let rows = self.inner.ask_file(&folder, part, None, &sql).await?;
                rows.iter().filter_map(|row| Some(row[0].as_str()?.to_owned())).collect()
            }
            None => BTreeSet::new(),
        };
        Ok(scope_of(&result.report, accounts))
    }

    async fn compare_rows(
        &self,
        file: &FileStamp,
        part: &StagedPart,
        result: &mut ImportResult,
        target: &Pending,
        mut change: ImportChange,
    ) -> Result<Effect, AgentError> {
        let Some(state) = &target.state else { return Ok(Effect::of(change)) };
        let folder = self.inner.folder_of(part);
        let shared = Shared::find(&result.report.columns, &state.columns);
        let has = |usage| state.columns.iter().any(|column| column.usage == usage);
        let is_other = has(ColumnUse::Sum) && shared.sums.is_empty()
            || has(ColumnUse::Time) && shared.time.is_none()
            || shared.keys.is_empty() && shared.sums.is_empty();
        if is_other {
            return Err(other_table(&target.source.name));
        }
        let (scope, mode) = (&mut change.scope, change.mode);
        if let Some(question) =
            self.place_unnamed(&folder, part, &shared, scope, mode, target).await?
        {
            result.questions.push(question);
            return Ok(Effect::of(change));
        }
        let is_blank = has_blank_days(&result.report);
        let comparison =
            Comparison::new(shared, &change.scope, &state.columns, &state.parts, is_blank);
        let counts = Counts::default();
        let mut compared = Compared { file, part, folder, comparison, counts };
        self.count(&mut compared, target, &mut change, result).await?;
        let renamed = self.ask_person(&mut compared, result, &mut change, target).await?;
        Ok(Effect { change, before: compared.counts.before, renamed })
    }

    /// Adds former rows without an account to the scope of a file that names its accounts, if a
    /// person says that they belong to them. Returns the question if nobody has answered it.
    async fn place_unnamed(
        &self,
        folder: &Path,
        part: &StagedPart,
        shared: &Shared,
        scope: &mut ImportScope,
        mode: ImportMode,
        target: &Pending,
    ) -> Result<Option<ImportQuestion>, AgentError> {
        let Some(state) = target.state.as_ref().filter(|_| mode != ImportMode::Add) else {
            return Ok(None);
        };
        let lacks = |part: &PartRef, column: &str| !part.columns.iter().any(|c| c.name == column);
        let open = scope.values.iter().find(|(column, values)| {
            state.parts.iter().any(|part| lacks(part, column))
                && !values.iter().any(String::is_empty)
        });
        let Some((column, accounts)) = open.map(|(one, other)| (one.clone(), other.clone())) else {
            return Ok(None);
        };
        let mut unnamed = scope.clone();
        unnamed.values.insert(column.clone(), vec![String::new()]);
        let sql =
            Comparison::new(shared.clone(), &unnamed, &state.columns, &state.parts, false).size();
        let before = Some((&target.source.name, state));
        let rows = self.inner.ask_file(folder, part, before, &sql).await?;
        if rows.first().is_none_or(|row| whole(&row[0]) == 0) {
            return Ok(None);
        }
        match self.answer("whose_data") {
            Some(KEEP) => {}
            Some(SAME) => scope.values.entry(column).or_default().insert(0, String::new()),
            _ => return Ok(Some(questions::ask_unnamed(&target.source.name, &accounts))),
        }
        Ok(None)
    }

    async fn count(
        &self,
        compared: &mut Compared<'_>,
        target: &Pending,
        change: &mut ImportChange,
        result: &ImportResult,
    ) -> Result<(), AgentError> {
        let rows = self.query(compared.comparison.counts(), compared, target).await?;
        let counts = Comparison::read_counts(&rows);
        change.new_rows = counts.new;
        change.changed_rows = counts.changed;
        compared.counts = counts;
        self.sum_up(compared, target, change, result).await
    }

    /// Sets what the import in its mode does to the sums, and how many rows go.
    pub(super) async fn sum_up(
        &self,
        compared: &Compared<'_>,
        target: &Pending,
        change: &mut ImportChange,
        result: &ImportResult,
    ) -> Result<(), AgentError> {
        change.vanished_rows = match compared.comparison.gone(change.mode) {
            Some(_) if change.mode == ImportMode::Replace => compared.counts.vanished,
            Some(sql) => {
                let rows = self.query(sql, compared, target).await?;
                rows.first().map_or(0, |row| whole(&row[0]))
            }
            None => 0,
        };
        let stays = compared.counts.vanished > change.vanished_rows;
        let days = compared.counts.vanished_days.or(change.scope.days);
        change.kept_days = days.filter(|_| stays && change.mode == ImportMode::Key);
        change.sums.clear();
        for money in [true, false] {
            let Some(sql) = compared.comparison.sums(change.mode, money) else { continue };
            let rows = self.query(sql, compared, target).await?;
            let mut sums = compared.comparison.read_sums(&rows, money);
            for sum in sums.iter_mut().filter(|_| money) {
                sum.currency = sum.currency.take().or_else(|| unit_of(result, &sum.column));
            }
            change.sums.extend(sums);
        }
        Ok(())
    }

    pub(super) async fn query(
        &self,
        sql: String,
        compared: &Compared<'_>,
        target: &Pending,
    ) -> Result<Vec<serde_json::Value>, AgentError> {
        let before = target.state.as_ref().map(|state| (&target.source.name, state));
        self.inner.ask_file(&compared.folder, compared.part, before, &sql).await
    }
}

/// Finds out from the columns alone that a file has other numbers or currencies than its source.
/// Returns the question about it.
fn find_other_data(
    result: &ImportResult,
    state: &State,
    source: &SourceName,
) -> Result<Option<ImportQuestion>, AgentError> {
    let (file, before) = (&result.report.columns, &state.columns);
    if let Some(column) = deciding::find_text_in_sum(file, before, result.report.stored) {
        return Err(no_number(column, source));
    }
    if let Some((column, former, now)) = deciding::find_other_currency(file, before) {
        return Ok(Some(questions::ask_currency(&column, &former, &now)));
    }
    let missing = deciding::find_missing_currency(file, before);
    Ok(missing.map(|(column, former)| questions::ask_same_currency(&column, &former)))
}

/// Returns the unit of the amounts in a column, if all have the same.
pub(super) fn unit_of(result: &ImportResult, column: &str) -> Option<String> {
    let found = result.report.columns.iter().find(|one| one.name == column);
    found.filter(|one| one.currency_column.is_none()).and_then(|one| one.unit.clone())
}

fn no_number(column: &FoundColumn, source: &SourceName) -> AgentError {
    AgentError::invalid(text!(
        "{column} is a number in {source}, but the file has cells such as \u{201c}{sample}\u{201d} in it.",
        column = &column.name,
        source,
        sample = column.samples.first().cloned().unwrap_or_default()
    ))
    .reason("not_a_number")
    .hint("Correct the file, or import it under another name.")
}

fn other_table(source: &SourceName) -> AgentError {
    AgentError::invalid(text!(
        "The file lacks columns of {source}: its time or its amounts.",
        source
    ))
    .reason("other_table")
    .hint("Import it under another name.")
}
