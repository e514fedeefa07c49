//! Finds the source of a file, and reads the file with the decisions that are remembered for that
//! source. A remembered decision never counts more than the file. This module stores nothing.

use std::path::Path;

use contract::{
    AgentError, SourceName,
    sources::{ImportDecisions, ImportQuestion},
};

use super::{
    deciding::{self, Fit},
    importing::{Candidate, Import, Pending},
    naming::{base_name, free_name},
    path_accounts::{PathAccount, account_by_rule, find_account},
    questions::{self, OTHER, SAME},
    remembering::{SameData, drop_unfitting, repeat_decisions},
    storage::State,
};

/// The questions by whose answer a file becomes a source of its own.
const OWN_SOURCE: [&str; 7] = [
    "source",
    "same_account",
    "whose_data",
    "coarser",
    "missing_amounts",
    "other_currency",
    "same_currency",
];

impl Import<'_> {
    /// Reads the file with the decisions that are known now.
    pub(super) async fn read_candidate(
        &self,
        path: &Path,
        staging: &Path,
        named: Option<&Pending>,
    ) -> Result<Candidate, AgentError> {
        let before = named.map(|pending| self.remembered(pending)).unwrap_or_default();
        // A person who names a source confirms that the file belongs to the source.
        let same = SameData { account: named.is_some(), currency: named.is_some() };
        let decisions = self.decisions_for(path, &before, same);
        let mut candidate = self.read_fitting(path, staging, decisions).await?;
        if let Some(pending) = named {
            self.repeat_open(path, staging, &mut candidate, pending).await?;
        }
        Ok(candidate)
    }

    /// Returns the decisions about a file: those of the person, completed by those for earlier files
    /// and by the account in the path.
    fn decisions_for(
        &self,
        path: &Path,
        before: &ImportDecisions,
        same: SameData,
    ) -> ImportDecisions {
        let mut decisions = repeat_decisions(&self.given(), before, same);
        if decisions.account.is_none() {
            decisions.account = account_by_rule(&decisions, self.path_of_person(path));
        }
        decisions
    }

    /// Returns the path of a file, as far as a person chose it: the copy of a pipe has none.
    fn path_of_person<'p>(&self, path: &'p Path) -> &'p Path {
        let pipes = self.inner.profile.paths().piped_data();
        if path.starts_with(pipes) { Path::new("") } else { path }
    }

    /// Reads the file. Remembered decisions that do not fit the file are left out.
    async fn read_fitting(
        &self,
        path: &Path,
        staging: &Path,
        mut decisions: ImportDecisions,
    ) -> Result<Candidate, AgentError> {
        let (given, mut unused) = (self.given(), Vec::new());
        loop {
            match self.read_file(path, staging, &decisions).await {
                Ok(read) => {
                    return Ok(Candidate { read, decisions, questions: Vec::new(), unused });
                }
                Err(error) => match drop_unfitting(&mut decisions, &given, &error) {
                    Some(name) => unused.push(name),
                    None => return Err(error),
                },
            }
        }
    }

    /// Reads the file again with other decisions.
    async fn read_again(
        &self,
        path: &Path,
        staging: &Path,
        candidate: &mut Candidate,
        decisions: ImportDecisions,
    ) -> Result<(), AgentError> {
        let again = self.read_fitting(path, staging, decisions).await?;
        let questions = std::mem::take(&mut candidate.questions);
        let mut unused = std::mem::take(&mut candidate.unused);
        unused.extend(again.unused);
        *candidate = Candidate { questions, unused, ..again };
        Ok(())
    }

    /// Reads the file again if decisions about the found source change how it is read.
    pub(super) async fn repeat_for(
        &self,
        path: &Path,
        staging: &Path,
        candidate: &mut Candidate,
        target: &Pending,
    ) -> Result<(), AgentError> {
        if target.is_new {
            return Ok(());
        }
        // Content that was stored before still has the same account and currency.
        let hash = &candidate.read.report.hash;
        let account = self.answer("same_account") == Some(SAME) || has_content(target, hash);
        let currency = account || self.answer("same_currency") == Some(SAME);
        let same = SameData { account, currency };
        let repeated = self.decisions_for(path, &self.remembered(target), same);
        if repeated != candidate.decisions {
            self.read_again(path, staging, candidate, repeated).await?;
        }
        self.repeat_open(path, staging, candidate, target).await
    }

    /// Applies remembered decisions to what the file leaves open: the line with the headings, the
    /// decimal sign, and the order of dates.
    async fn repeat_open(
        &self,
        path: &Path,
        staging: &Path,
        candidate: &mut Candidate,
        target: &Pending,
    ) -> Result<(), AgentError> {
        self.repeat_header_line(path, staging, candidate, target).await?;
        let decimal = self.remembered(target).decimal;
        if candidate.decisions.decimal.is_none() && decimal.is_some() && asks(candidate, "decimal")
        {
            let decisions = ImportDecisions { decimal, ..candidate.decisions.clone() };
            self.read_again(path, staging, candidate, decisions).await?;
        }
        self.repeat_date_order(path, staging, candidate, target).await
    }

    /// Applies a remembered line with the headings to a file in which none is found, or whose
    /// columns are only then those of the source.
    async fn repeat_header_line(
        &self,
        path: &Path,
        staging: &Path,
        candidate: &mut Candidate,
        target: &Pending,
    ) -> Result<(), AgentError> {
        let header_line = self.remembered(target).header_line;
        let fits = |candidate: &Candidate| {
            let before = target.state.as_ref();
            let columns = &candidate.read.report.columns;
            before.is_none_or(|state| deciding::fit(columns, &state.columns).is_some())
        };
        let is_found = fits(candidate) && !asks(candidate, "header_line");
        if candidate.decisions.header_line.is_some() || header_line.is_none() || is_found {
            return Ok(());
        }
        let decisions = ImportDecisions { header_line, ..candidate.decisions.clone() };
        let again = self.read_fitting(path, staging, decisions).await?;
        if fits(&again) {
            let questions = std::mem::take(&mut candidate.questions);
            *candidate = Candidate { questions, ..again };
        }
        Ok(())
    }

    /// Applies a remembered order of dates to a file whose order is ambiguous, unless the
    /// resulting days are far from the days of the source.
    async fn repeat_date_order(
        &self,
        path: &Path,
        staging: &Path,
        candidate: &mut Candidate,
        target: &Pending,
    ) -> Result<(), AgentError> {
        let date_order = self.remembered(target).date_order;
        if date_order.is_none()
            || !asks(candidate, "date_order")
            || candidate.decisions.date_order.is_some()
        {
            return Ok(());
        }
        let decisions = ImportDecisions { date_order, ..candidate.decisions.clone() };
        let read = self.read_file(path, staging, &decisions).await?;
        let days = target.state.as_ref().and_then(|state| state.days);
        // An order that leaves no row, or the question open, is not that of the file.
        let is_open = read.report.questions.iter().any(|question| question.id == "date_order");
        if read.report.stored > 0 && !is_open && deciding::is_near(read.report.days, days) {
            candidate.read = read;
            candidate.decisions = decisions;
        }
        Ok(())
    }

    /// Reads the file again if its account belongs into another column of the source.
    pub(super) async fn name_account(
        &self,
        path: &Path,
        staging: &Path,
        candidate: &mut Candidate,
        target: &Pending,
    ) -> Result<(), AgentError> {
        let Some(state) = &target.state else { return Ok(()) };
        let column = deciding::account_column(&candidate.read.report.columns, &state.columns);
        if column.is_none() || candidate.decisions.account_column == column {
            return Ok(());
        }
        let decisions = ImportDecisions { account_column: column, ..candidate.decisions.clone() };
        self.read_again(path, staging, candidate, decisions).await
    }

    /// Finds the source that a file belongs to, by its columns.
    pub(super) fn find_source(
        &self,
        path: &Path,
        candidate: &Candidate,
    ) -> Result<(Pending, Vec<ImportQuestion>), AgentError> {
        let storage = &self.inner.storage;
        let taken = storage.names();
        let new = || self.new_source(path, &taken);
        if OWN_SOURCE.iter().any(|id| self.answer(id) == Some(OTHER)) {
            return Ok((new(), Vec::new()));
        }
        if let Some(name) = self.answer("source") {
            return Ok((self.open(&name.into())?, Vec::new()));
        }
        let mut fitting: Vec<(Fit, Pending)> = Vec::new();
        for name in &taken {
            // A source that cannot be read must not prevent imports into other sources.
            let Ok(pending) = self.open(name) else { continue };
            let Some(state) = &pending.state else { continue };
            if let Some(fit) = deciding::fit(&candidate.read.report.columns, &state.columns) {
                fitting.push((fit, pending));
            }
        }
        let best = fitting.iter().map(|(fit, _)| *fit).max();
        fitting.retain(|(fit, _)| Some(*fit) == best);
        if fitting.len() > 1 {
            let names: Vec<SourceName> =
                fitting.iter().map(|(_, pending)| pending.source.name.clone()).collect();
            return Ok((new(), vec![questions::ask_source(&names)]));
        }
        let Some((_, found)) = fitting.pop() else { return Ok((new(), Vec::new())) };
        let is_known = deciding::names_account(&candidate.read.report, &candidate.decisions)
            || self.answer("same_account") == Some(SAME);
        let question = if is_known { None } else { self.ask_account(path, candidate, &found) };
        Ok((found, question.into_iter().collect()))
    }

    /// Asks whether a file that does not say its account has that of earlier files, or the one in its
    /// path. An account in the path that an earlier file has is not asked about.
    fn ask_account(
        &self,
        path: &Path,
        candidate: &Candidate,
        found: &Pending,
    ) -> Option<ImportQuestion> {
        let before = self.remembered(found);
        let Some(pattern) = &before.account_from_path else {
            let is_same = has_content(found, &candidate.read.report.hash);
            return before.account.filter(|_| !is_same).map(|one| questions::ask_account(&one));
        };
        let account = account_by_rule(&before, self.path_of_person(path))?;
        let has_it = |state: &State| state.import.decisions.account.as_ref() == Some(&account);
        let is_new = !found.chain.iter().any(has_it);
        is_new.then(|| questions::ask_account_of_path(&account, pattern))
    }

    /// Asks whose data a file is, if the account should be in the path and is not.
    pub(super) fn ask_account_of_file(
        &self,
        path: &Path,
        candidate: &Candidate,
    ) -> Option<ImportQuestion> {
        let Candidate { read, decisions, .. } = candidate;
        let pattern = decisions.account_from_path.as_ref()?;
        if decisions.account.is_some() || deciding::says_account(&read.report) {
            return None;
        }
        let accounts = match find_account(pattern, self.path_of_person(path)) {
            PathAccount::Several(accounts) => accounts,
            PathAccount::None | PathAccount::One(_) => Vec::new(),
        };
        // The copy of a pipe is in the profile.
        let is_of_person = self.path_of_person(path) == path;
        let shown = if is_of_person { path } else { path.file_name().map_or(path, Path::new) };
        Some(questions::ask_account_of_file(&shown.display().to_string(), pattern, &accounts))
    }

    /// Returns a new source that is named after a file, or the source of that name if all of its
    /// imports were taken back.
    fn new_source(&self, path: &Path, taken: &[SourceName]) -> Pending {
        let base = base_name(path);
        let known = taken.contains(&base).then(|| self.open(&base).ok()).flatten();
        match known.filter(|known| known.state.is_none()) {
            Some(emptied) => emptied,
            None => self.create(free_name(&base, taken)),
        }
    }
}

/// Whether a question about the file is open.
fn asks(candidate: &Candidate, id: &str) -> bool {
    candidate.read.report.questions.iter().any(|question| question.id == id)
}

/// Whether an earlier import of the source had this content.
fn has_content(source: &Pending, hash: &str) -> bool {
    source.chain.iter().any(|state| state.import.report.hash == hash)
}
