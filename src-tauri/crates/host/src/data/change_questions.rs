//! Finds the questions about the changes of a source that only a person can answer, and applies the
//! answers. Does not know how changes are counted, and stores nothing.

use std::path::Path;

use contract::{
    AgentError,
    sources::{FoundColumn, ImportChange, ImportMode, ImportResult, SumChange},
    text,
};

use super::{
    changes::{Compared, unit_of},
    comparing::{Comparison, Renamed, Vanished, whole},
    deciding,
    importing::{Import, Pending},
    places,
    questions::{self, Doubt, KEEP, RENAMED, REPLACE, SAME},
    replacing::{is_amount, is_level, missing_columns, newest_file, other_files},
    shared_columns::Shared,
    vanished_questions::{Leaving, ask_other_file, ask_vanished},
};

impl Import<'_> {
    /// Adds the questions that a person has not answered. Returns the former names whose rows go
    /// although other rows that are not in the file stay, with their column.
    pub(super) async fn ask_person(
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
                result.questions.push(ask_vanished(&leaving));
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
            _ => result.questions.push(ask_other_file(vanished, &other.path)),
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
