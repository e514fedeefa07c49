//! Runs an import: reads each file in a separate process, finds the source of the file, compares
//! the file with the stored rows, and asks the questions that only a person can answer. After the
//! last file, all new states come into force together (`committing`).

use std::{
    os::fd::AsRawFd as _,
    path::{Path, PathBuf},
};

use contract::{
    AgentError, CallerKind, SourceAddParams, SourceName, Text,
    sources::{
        ImportDecisions, ImportJob, ImportLimits, ImportQuestion, ImportResult, SourceKind,
        TableReport,
    },
    text,
};
use tokio_util::sync::CancellationToken;

use super::{
    Inner, deciding,
    failures::without_paths,
    folders,
    importer::{ReadFile, run_importer, stopped},
    opened::{OpenedFile, note_replaced},
    origins::{Origin, is_sample},
    path_accounts, places,
    questions::{self, SKIP},
    remembering,
    storage::{State, StoredSource},
};

/// One import job.
pub(super) struct Import<'a> {
    pub(super) inner: &'a Inner,
    pub(super) params: &'a SourceAddParams,
    pub(super) by: CallerKind,
    /// Whether the import only surveys the files and stores no rows.
    pub(super) is_survey: bool,
    pub(super) job: &'a str,
    pub(super) stop: &'a CancellationToken,
    /// The origin of the rows, if the app itself wrote the file. Such a file replaces all rows.
    pub(super) origin: Option<&'a Origin>,
}

/// A source in the state that it will have when all files are read.
pub(super) struct Pending {
    pub(super) source: StoredSource,
    pub(super) state: Option<State>,
    /// The states up to now, newest first, including the states of this job.
    pub(super) chain: Vec<State>,
    pub(super) is_new: bool,
    /// The parts of this job, which are deleted if the job fails.
    pub(super) parts: Vec<PathBuf>,
    /// The states of this job, oldest first.
    pub(super) states: Vec<String>,
}

/// A file that was read but not yet compared with its source.
pub(super) struct Candidate {
    pub(super) read: ReadFile,
    pub(super) decisions: ImportDecisions,
    pub(super) questions: Vec<ImportQuestion>,
    /// The remembered decisions that do not fit the file.
    pub(super) unused: Vec<String>,
}

impl Pending {
    /// Returns the source as it was before its first file.
    fn without_rows(self) -> Self {
        Self { state: None, chain: Vec::new(), ..self }
    }
}

impl Import<'_> {
    /// Reads all files. Returns one result for each file. A question ends the job.
    pub(super) async fn run(&self, files: &[PathBuf]) -> Result<Vec<ImportResult>, AgentError> {
        if let Some(pattern) = &self.params.decisions.account_from_path {
            path_accounts::check_pattern(pattern)?;
        }
        let Some(unknown) = questions::find_unknown(&self.params.decisions.answers) else {
            return self.run_files(files).await;
        };
        // The error names the questions that are open.
        let survey = Import { is_survey: true, by: self.by.clone(), ..*self };
        let open = survey.run_files(files).await?;
        Err(questions::unknown_question(unknown, &open))
    }

    async fn run_files(&self, files: &[PathBuf]) -> Result<Vec<ImportResult>, AgentError> {
        let mut pending = self.named_source()?;
        self.note_source(pending.as_ref());
        let read = self.read_files(files, &mut pending).await;
        let Some(pending) = pending else { return read };
        let ended = match read {
            _ if self.stop.is_cancelled() => Err(stopped()),
            Ok(results) if self.is_survey || results.iter().any(is_open) => Ok(results),
            Ok(results) => match self.commit(&pending).await {
                Ok(()) => return Ok(results),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        self.discard(&pending);
        let mut results = ended?;
        for result in &mut results {
            result.is_stored = false;
        }
        Ok(results)
    }

    /// Reads files one after the other, up to the first question.
    async fn read_files(
        &self,
        files: &[PathBuf],
        pending: &mut Option<Pending>,
    ) -> Result<Vec<ImportResult>, AgentError> {
        let mut results = Vec::new();
        for file in files {
            let params = self.params_of(file, files);
            let one = Import { params: &params, by: self.by.clone(), ..*self };
            let read = one.read_one(file, pending).await;
            let mut result = read.map_err(|error| name_file(error, file, files))?;
            if files.len() > 1 && !result.questions.is_empty() {
                name_questions(&mut result, &places::name_among(file, files));
            }
            let ends = is_open(&result);
            results.push(result);
            if ends {
                break;
            }
        }
        Ok(results)
    }

    fn note_source(&self, pending: Option<&Pending>) {
        if let Some(pending) = pending {
            self.inner.jobs.note_source(self.job, &pending.source.name);
        }
    }

    /// Returns the parameters for one file. An answer for this file takes precedence over an answer
    /// for all files.
    fn params_of(&self, file: &Path, files: &[PathBuf]) -> SourceAddParams {
        let mut params = self.params.clone();
        if params.decisions.answers.is_empty() {
            return params;
        }
        let name = format!(":{}", places::name_among(file, files));
        for (id, answer) in &self.params.decisions.answers {
            if let Some(id) = id.strip_suffix(name.as_str()) {
                params.decisions.answers.insert(id.to_owned(), answer.clone());
            }
        }
        params
    }

    /// Returns the source that the person named, new or not.
    fn named_source(&self) -> Result<Option<Pending>, AgentError> {
        let Some(name) = &self.params.name else { return Ok(None) };
        if self.inner.storage.names().contains(name) {
            let found = self.open(name)?;
            return Ok(Some(if self.origin.is_some() { found.without_rows() } else { found }));
        }
        let proper = super::naming::name_from(name.as_str());
        if proper != *name {
            return Err(AgentError::invalid(text!(
                "{name} cannot be the name of a source: use small letters, digits and underscores.",
                name
            ))
            .reason("bad_name")
            .hint(text!("Use the name {proper} (in a terminal: --name {proper}).", proper)));
        }
        Ok(Some(self.create(proper)))
    }

    pub(super) fn open(&self, name: &SourceName) -> Result<Pending, AgentError> {
        let source = self.inner.storage.read(name)?;
        if matches!(source.kind, SourceKind::Database { .. }) {
            return Err(AgentError::invalid(text!(
                "{name} is a database, which takes no files.",
                name
            ))
            .reason("is_database")
            .hint("Choose another name for the file."));
        }
        if self.origin.is_none() && is_sample(source.origin.as_ref()) {
            return Err(takes_no_files(name));
        }
        if source.present.is_none() {
            self.inner.read_described(name)?.check_own_rows()?;
        }
        let chain = self.inner.storage.chain(&source)?;
        let state = chain.first().cloned();
        let (parts, states) = (Vec::new(), Vec::new());
        Ok(Pending { source, state, chain, is_new: false, parts, states })
    }

    pub(super) fn create(&self, name: SourceName) -> Pending {
        let source = StoredSource::new(name, SourceKind::Files, self.inner.clock.now());
        let (parts, states) = (Vec::new(), Vec::new());
        Pending { source, state: None, chain: Vec::new(), is_new: true, parts, states }
    }

    async fn read_one(
        &self,
        path: &Path,
        pending: &mut Option<Pending>,
    ) -> Result<ImportResult, AgentError> {
        let staging = self.inner.storage.stage()?;
        let mut candidate = self.read_candidate(path, staging.path(), pending.as_ref()).await?;
        let is_named = pending.is_some();
        if pending.is_none() {
            let (found, questions) = self.find_source(path, &candidate)?;
            candidate.questions.extend(questions);
            *pending = Some(found);
            self.note_source(pending.as_ref());
        }
        let Some(target) = pending.as_mut() else { return Err(stopped()) };
        if !is_named {
            self.repeat_for(path, staging.path(), &mut candidate, target).await?;
        }
        self.name_account(path, staging.path(), &mut candidate, target).await?;
        let question = self.ask_account_of_file(path, &candidate);
        candidate.questions.extend(question);
        self.store(path, candidate, target).await
    }

    pub(super) async fn read_file(
        &self,
        path: &Path,
        staging: &Path,
        decisions: &ImportDecisions,
    ) -> Result<ReadFile, AgentError> {
        let opened = OpenedFile::open(path).map_err(|error| unreadable(path, &error))?;
        if self.params.unattended {
            // The path may lead to another file by now, so that the open file is checked instead.
            let link = PathBuf::from(format!("/proc/self/fd/{}", opened.file().as_raw_fd()));
            folders::check_allowed(&self.inner.storage, &link)?;
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let job = ImportJob {
            name: name.unwrap_or_default(),
            decisions: decisions.clone(),
            report_only: false,
            limits: ImportLimits::default(),
        };
        let progress = |progress| self.inner.jobs.note_progress(self.job, progress);
        let program = self.inner.processes.program()?;
        // A second reading of the file begins with an empty folder, too.
        let own = staging.join(format!("read-{}", self.inner.next_number()));
        std::fs::create_dir(&own)
            .map_err(|error| without_paths(unreadable(&own, &error), self.inner.storage.root()))?;
        let file = opened.file().try_clone().map_err(|error| unreadable(path, &error))?;
        let read = run_importer(program, &own, file, &job, progress, self.stop).await;
        let (report, part) = read?;
        opened.check_unchanged(report.bytes)?;
        Ok(ReadFile { report, part, file: opened.stamp })
    }

    /// Returns the person's decisions, including answers that affect how the file is read.
    pub(super) fn given(&self) -> ImportDecisions {
        let mut given = self.params.decisions.clone();
        given.skip_rejected |= self.answer("rejected") == Some(SKIP);
        remembering::apply_answers(&mut given);
        given
    }

    /// Returns the remembered decisions for a source, unless the person chose to ignore them.
    pub(super) fn remembered(&self, target: &Pending) -> ImportDecisions {
        if self.params.forget_remembered {
            ImportDecisions::default()
        } else {
            target.source.decisions.clone()
        }
    }

    /// Returns the person's answer to a question. Without a person, no answer takes stored rows out.
    pub(super) fn answer(&self, id: &str) -> Option<&str> {
        let answer = self.params.decisions.answers.get(id).map(String::as_str)?;
        let is_refused = self.params.unattended && questions::takes_rows_out(id, answer);
        (!is_refused).then_some(answer)
    }

    /// Returns the answers that were not used, because only a person may give them.
    fn refused_answers(&self) -> Vec<Text> {
        let answers = self.params.decisions.answers.iter();
        let refused = answers
            .filter(|(id, answer)| self.params.unattended && questions::takes_rows_out(id, answer));
        let note = |(id, answer): (&String, &String)| {
            text!(
                "The answer {id}={answer} was not used: only a person takes stored rows out. Import the file at a terminal or in the window.",
                id,
                answer
            )
        };
        refused.map(note).collect()
    }

    /// Compares the file with the stored rows, and makes the next state if there are no questions.
    async fn store(
        &self,
        path: &Path,
        candidate: Candidate,
        target: &mut Pending,
    ) -> Result<ImportResult, AgentError> {
        let Candidate { read, decisions, mut questions, unused } = candidate;
        let ReadFile { mut report, part, file } = read;
        let given = self.given();
        let of_path = path_accounts::note_account(&given, &decisions, &report);
        report.notes.extend(of_path);
        report.notes.extend(remembering::repeated_notes(&given, &decisions, &unused));
        report.notes.extend(self.refused_answers());
        questions.splice(0..0, report.questions.clone());
        if questions.is_empty() && !self.is_survey {
            check_stored(&report)?;
        }
        let may_skip = report.stored > 0 && !report.rejected.is_empty();
        if questions.is_empty() && may_skip && !decisions.skip_rejected {
            questions.push(questions::ask_rejected(&report.rejected));
        }
        let mut result = ImportResult {
            source: target.source.name.clone(),
            is_new_source: target.is_new,
            report,
            decisions,
            change: None,
            questions,
            is_stored: false,
        };
        let Some(part) = part.filter(|_| result.questions.is_empty()) else { return Ok(result) };
        let effect = self.compare(&file, &part, &mut result, target).await?;
        result.change = Some(effect.change.clone());
        let scopes = target.chain.iter().map(|state| &state.import.change.scope);
        result.report.notes.extend(deciding::note_spelling(&effect.change.scope, scopes));
        if !result.questions.is_empty() || effect.change.is_same_content {
            return Ok(result);
        }
        result.report.notes.extend(note_replaced(path, &file));
        self.add_state(file, part, &mut result, effect, target).await?;
        result.is_stored = !self.is_survey;
        Ok(result)
    }
}

/// Returns an error if no record of a file can be read: a source without rows answers nothing, and
/// would replace the rows of others.
fn check_stored(report: &TableReport) -> Result<(), AgentError> {
    if report.stored > 0 {
        return Ok(());
    }
    let left_out: u64 = report.left_out.iter().map(|lines| lines.count).sum();
    let told = match (report.rejected.first(), report.left_out.last()) {
        (Some(first), _) => text!(
            "No row of {file} can be read, the first in line {line}: {reason}",
            file = &report.file,
            line = first.lines.first().copied().unwrap_or_default(),
            reason = first.reason.clone()
        ),
        (None, Some(rule)) => text!(
            "{file} has no rows: all {count} lines are left out. {reason}",
            file = &report.file,
            count = left_out,
            reason = rule.reason.clone()
        ),
        (None, None) => text!("{file} has no rows.", file = &report.file),
    };
    Err(AgentError::invalid(told)
        .reason("no_rows")
        .hint("Nothing was stored. Correct the file, or say how its columns are read."))
}

/// Names the file of an error, if it is one of several.
fn name_file(mut error: AgentError, file: &Path, files: &[PathBuf]) -> AgentError {
    if files.len() > 1 {
        let problem = error.text();
        let file = places::name_among(file, files);
        error.set_message(text!("{file}: {problem}", file, problem));
    }
    error
}

/// Adds the name of the file to the identifiers of its questions, because several files can have
/// the same question.
fn name_questions(result: &mut ImportResult, file: &str) {
    for question in &mut result.questions {
        let own = format!("{}:{file}", question.id);
        let answer = questions::answer_option(&question.id, "");
        if let Some(values) = question.option.strip_prefix(&answer) {
            question.option = questions::answer_option(&own, values);
        }
        question.id = own;
    }
}

/// Whether a file needs an answer from a person, so that no rows of the job may be stored.
fn is_open(result: &ImportResult) -> bool {
    !result.questions.is_empty() || result.change.is_none()
}

fn takes_no_files(name: &SourceName) -> AgentError {
    AgentError::invalid(text!("{name} is fictional sample data, which takes no files.", name))
        .reason("is_sample")
        .hint("Choose another name for the file.")
}

fn unreadable(path: &Path, error: &std::io::Error) -> AgentError {
    let path = path.display();
    let text: Text = if files::is_not_a_file(error) {
        text!("{path} is a pipe, a socket or a device, not a file.", path)
    } else {
        text!("{path} cannot be read: {error}.", path, error)
    };
    AgentError::invalid(text).reason("unreadable_file").hint("Nothing was stored.")
}
