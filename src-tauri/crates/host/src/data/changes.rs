//! Compares a file with its source: finds the changes, and the questions that only a person can
//! answer. The counts come from queries over the file and the stored rows. This module stores
//! nothing.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use contract::{
    AgentError, SourceName,
    sources::{
        ColumnUse, FoundColumn, ImportChange, ImportMode, ImportQuestion, ImportResult,
        ImportScope, PartRef, SumChange,
    },
    text,
};

use super::{
    comparing::{
        Comparison, Counts, Renamed, Vanished, has_blank_days, scope_of, values_of, whole,
    },
    deciding,
    importer::StagedPart,
    importing::{Import, Pending},
    places::{self, FileStamp},
    questions::{self, Doubt, KEEP, Leaving, RENAMED, REPLACE, SAME},
    replacing::{
        Effect, Stored, first_sums, is_amount, is_level, missing_columns, newest_file, other_files,
        stored_content,
    },
    shared_columns::Shared,
    storage::State,
};

/// A file that is compared with its source.
struct Compared<'a> {
    file: &'a FileStamp,
    part: &'a StagedPart,
    /// The folder of the part.
    folder: PathBuf,
    comparison: Comparison,
    counts: Counts,
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
    async fn sum_up(
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

    async fn query(
        &self,
        sql: String,
        compared: &Compared<'_>,
        target: &Pending,
    ) -> Result<Vec<serde_json::Value>, AgentError> {
        let before = target.state.as_ref().map(|state| (&target.source.name, state));
        self.inner.ask_file(&compared.folder, compared.part, before, &sql).await
    }

    /// Adds the questions that a person has not answered. Returns the former names whose rows go
    /// although other rows that are not in the file stay, with their column.
    async fn ask_person(
        &self,
        compared: &mut Compared<'_>,
        result: &mut ImportResult,
        change: &mut ImportChange,
        target: &Pending,
    ) -> Result<Option<(String, Vec<String>)>, AgentError> {
        if change.mode == ImportMode::Add {
            return Ok(None);
        }
        let has_vanished = compared.counts.vanished_with_amount > 0;
        let renamed = match compared.comparison.renamed().filter(|_| has_vanished) {
            Some(sql) => Comparison::read_renamed(&self.query(sql, compared, target).await?),
            None => Vec::new(),
        };
        if renamed.is_empty()
            && let Some(doubt) = self.find_doubt(compared, result, change, target).await?
        {
            result.questions.push(questions::ask_whose_data(&target.source.name, &doubt));
            return Ok(None);
        }
        self.ask_older(compared, result, change, target);
        self.ask_missing(compared, result, target).await?;
        self.ask_vanished(compared, renamed, result, change, target).await
    }

    /// Asks whether a file replaces rows of a newer one.
    fn ask_older(
        &self,
        compared: &Compared<'_>,
        result: &mut ImportResult,
        change: &ImportChange,
        target: &Pending,
    ) {
        let file = compared.file;
        let newest = newest_file(&target.chain, &change.scope);
        if let Some(newest) = newest.filter(|newest| newest.modified_at > file.modified_at)
            && compared.counts.changed + compared.counts.vanished > 0
            && self.answer("older") != Some(REPLACE)
        {
            result.questions.push(questions::ask_older(file, newest));
        }
    }

    /// Asks whether a file replaces rows that have values in columns that it lacks. Other columns than
    /// levels and amounts are only told.
    async fn ask_missing(
        &self,
        compared: &Compared<'_>,
        result: &mut ImportResult,
        target: &Pending,
    ) -> Result<(), AgentError> {
        let Some(state) = &target.state else { return Ok(()) };
        let missing = missing_columns(result, state);
        if missing.is_empty() || compared.counts.before <= compared.counts.vanished {
            return Ok(());
        }
        let names: Vec<String> = missing.iter().map(|column| column.name.clone()).collect();
        let rows = self.query(compared.comparison.filled(&names), compared, target).await?;
        let is_filled = |at: usize| rows.first().is_some_and(|row| whole(&row[at]) > 0);
        let filled: Vec<&FoundColumn> = missing
            .into_iter()
            .enumerate()
            .filter(|(at, _)| is_filled(*at))
            .map(|(_, column)| column)
            .collect();
        let named = |test: &dyn Fn(&FoundColumn) -> bool| -> Vec<String> {
            filled.iter().filter(|column| test(column)).map(|column| column.name.clone()).collect()
        };
        let (levels, amounts) = (named(&is_level), named(&is_amount));
        let others = named(&|column| !is_level(column) && !is_amount(column));
        if !levels.is_empty() && self.answer("coarser") != Some(REPLACE) {
            result.questions.push(questions::ask_coarser(&levels));
        }
        if !amounts.is_empty() && self.answer("missing_amounts") != Some(REPLACE) {
            result.questions.push(questions::ask_missing_amounts(&amounts));
        }
        if !others.is_empty() {
            result.report.notes.push(text!(
                "The rows that the file replaces have further columns, which the file lacks: {columns}.",
                columns = others.join(", ")
            ));
        }
        Ok(())
    }

    /// Asks what becomes of rows with amounts that are not in the file, and applies the answer.
    async fn ask_vanished(
        &self,
        compared: &mut Compared<'_>,
        renamed: Vec<Renamed>,
        result: &mut ImportResult,
        change: &mut ImportChange,
        target: &Pending,
    ) -> Result<Option<(String, Vec<String>)>, AgentError> {
        // By key, other rows stay in any case, but a renamed thing would count twice.
        let is_by_key = change.mode == ImportMode::Key;
        if compared.counts.vanished_with_amount == 0 {
            self.ask_other_file(compared, result, change, target).await?;
            return Ok(None);
        }
        if is_by_key && renamed.is_empty() {
            return Ok(None);
        }
        match self.answer("vanished") {
            Some(KEEP) => {
                change.mode = ImportMode::Key;
                self.sum_up(compared, target, change, result).await?;
            }
            Some(RENAMED) if !renamed.is_empty() => {
                change.mode = ImportMode::Key;
                let names: Vec<String> = renamed.into_iter().map(|one| one.from).collect();
                compared.comparison.renamed.clone_from(&names);
                self.sum_up(compared, target, change, result).await?;
                return Ok(compared.comparison.shared.label.clone().zip(Some(names)));
            }
            Some(REPLACE) if !is_by_key => {}
            _ => {
                let examples = match compared.comparison.vanished(&renamed) {
                    Some(sql) => {
                        Comparison::read_vanished(&self.query(sql, compared, target).await?)
                    }
                    None => Vec::new(),
                };
                let places = places_of_sum(result, &compared.comparison.shared);
                let leaving = Leaving {
                    count: compared.counts.vanished_with_amount,
                    examples: with_units(examples, result, &compared.comparison.shared),
                    renamed,
                    is_by_key,
                    places,
                };
                result.questions.push(questions::ask_vanished(&leaving));
            }
        }
        Ok(None)
    }

    /// Asks what becomes of rows that come from another file of the same pattern, if the table has no
    /// amounts by which rows that matter could be told: each file of a folder has rows of its own.
    async fn ask_other_file(
        &self,
        compared: &Compared<'_>,
        result: &mut ImportResult,
        change: &mut ImportChange,
        target: &Pending,
    ) -> Result<(), AgentError> {
        let has_amounts = !compared.comparison.shared.sums.is_empty();
        let vanished = compared.counts.vanished;
        let is_replaced = change.mode == ImportMode::Replace && vanished > 0;
        if has_amounts || !is_replaced || !places::is_pattern(&self.params.place) {
            return Ok(());
        }
        let others = other_files(&target.chain, &change.scope, &compared.file.path);
        let Some(other) = others.into_iter().find(|other| Path::new(&other.path).exists()) else {
            return Ok(());
        };
        match self.answer("vanished") {
            Some(KEEP) => {
                change.mode = ImportMode::Key;
                self.sum_up(compared, target, change, result).await?;
            }
            Some(REPLACE) => {}
            _ => result.questions.push(questions::ask_other_file(vanished, &other.path)),
        }
        Ok(())
    }

    /// Finds out why the file may belong to another source: the file does not name its account, and
    /// shares no label with the source or changes the totals of the same days by a large amount.
    async fn find_doubt(
        &self,
        compared: &Compared<'_>,
        result: &ImportResult,
        change: &ImportChange,
        target: &Pending,
    ) -> Result<Option<Doubt>, AgentError> {
        let is_answered =
            ["whose_data", "same_account"].iter().any(|id| self.answer(id) == Some(SAME));
        if is_answered
            || self.params.name.is_some()
            || deciding::names_account(&result.report, &result.decisions)
        {
            return Ok(None);
        }
        if compared.counts.before > 0 {
            let sums = match compared.comparison.same_days() {
                Some(sql) => {
                    let rows = self.query(sql, compared, target).await?;
                    compared.comparison.read_same_days(&rows)
                }
                None => first_of(&change.sums),
            };
            if let Some(mut sum) = sums.into_iter().find(deciding::is_large_change) {
                sum.currency = sum.currency.or_else(|| unit_of(result, &sum.column));
                let places = places_of_sum(result, &compared.comparison.shared);
                return Ok(Some(Doubt::Sum { sum, places }));
            }
        }
        let Some(sql) = compared.comparison.common_names() else { return Ok(None) };
        let rows = self.query(sql, compared, target).await?;
        let has_none = rows.first().is_some_and(|row| whole(&row[0]) == 0);
        Ok(has_none.then_some(Doubt::Names))
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
fn unit_of(result: &ImportResult, column: &str) -> Option<String> {
    let found = result.report.columns.iter().find(|one| one.name == column);
    found.filter(|one| one.currency_column.is_none()).and_then(|one| one.unit.clone())
}

/// Returns the number of decimals of the column whose sums are shown in questions.
fn places_of_sum(result: &ImportResult, shared: &Shared) -> u8 {
    let first = shared.sums.first();
    let mut columns = result.report.columns.iter();
    columns.find(|one| Some(&one.name) == first).map_or(0, |column| column.scale)
}

/// Adds the currency to sums that show none, if all amounts have the same.
fn with_units(examples: Vec<Vanished>, result: &ImportResult, shared: &Shared) -> Vec<Vanished> {
    let unit = shared.sums.first().and_then(|sum| unit_of(result, sum));
    let with_unit = |one: Vanished| {
        let currency = one.currency.clone().or_else(|| unit.clone());
        Vanished { currency, ..one }
    };
    examples.into_iter().map(with_unit).collect()
}

/// Returns the changes of the first column, one for each currency.
fn first_of(sums: &[SumChange]) -> Vec<SumChange> {
    let first = sums.first().map(|sum| sum.column.clone());
    sums.iter().filter(|sum| Some(&sum.column) == first.as_ref()).cloned().collect()
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
