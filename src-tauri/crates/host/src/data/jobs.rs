//! Import jobs: one runs at a time, its progress can be asked for, and it can be stopped. A job whose
//! task breaks off ends with an error. This module must not know what an import does.

use std::collections::VecDeque;

use contract::{
    AgentError, Reason, SourceJob, SourceJobView, SourceName, Text, sources::ImportResult, text,
};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::importer::Progress;

/// The number of jobs that are remembered.
const KEPT: usize = 20;

/// The jobs of this process, oldest first.
#[derive(Default)]
pub(super) struct Jobs(Mutex<VecDeque<Job>>);

struct Job {
    id: String,
    /// The name of the imported file, pattern or database, for people.
    of: String,
    /// The source that the job changes. None as long as it is not known.
    source: Option<SourceName>,
    /// Whether nothing is stored.
    is_survey: bool,
    view: SourceJobView,
    is_finished: bool,
    stop: CancellationToken,
}

impl Jobs {
    /// Adds a job that imports a file or a pattern of files, or connects a database. Fails while
    /// another one runs.
    pub(super) fn begin(
        &self,
        id: String,
        of: String,
        is_survey: bool,
    ) -> Result<(SourceJob, CancellationToken), AgentError> {
        let mut jobs = self.0.lock();
        if jobs.iter().any(|job| !job.is_finished) {
            return Err(running_error("Another import is running."));
        }
        let stop = CancellationToken::new();
        let view = SourceJobView {
            records: 0,
            done_bytes: 0,
            total_bytes: 0,
            results: None,
            failure: None,
            is_stopped: false,
            notes: Vec::new(),
        };
        let (job, is_finished) = (id.clone(), false);
        let source = None;
        jobs.push_back(Job {
            id: job,
            of,
            source,
            is_survey,
            view,
            is_finished,
            stop: stop.clone(),
        });
        while jobs.len() > KEPT {
            jobs.pop_front();
        }
        Ok((SourceJob { job: id }, stop))
    }

    /// Fails while a job runs, because sources cannot change before it ends.
    pub(super) fn check_none_runs(&self) -> Result<(), AgentError> {
        match self.0.lock().iter().find(|job| !job.is_finished) {
            Some(job) => Err(running_error(text!(
                "The import of {file} is running. Sources can be changed after it.",
                file = &job.of
            ))),
            None => Ok(()),
        }
    }

    /// Whether a job runs that would be lost if the program ended now.
    pub(super) fn is_storing(&self) -> bool {
        self.0.lock().iter().any(|job| !job.is_finished && !job.is_survey)
    }

    /// Whether a job runs that changes a source.
    pub(super) fn is_changing(&self, source: &SourceName) -> bool {
        let is_one = |job: &Job| !job.is_survey && job.source.as_ref() == Some(source);
        self.0.lock().iter().any(|job| !job.is_finished && is_one(job))
    }

    /// Notes which source a job changes.
    pub(super) fn note_source(&self, id: &str, source: &SourceName) {
        self.change(id, |job| job.source = Some(source.clone()));
    }

    /// Notes how far a job is.
    pub(super) fn note_progress(&self, id: &str, progress: Progress) {
        self.change(id, |job| {
            job.view.records = progress.records;
            job.view.done_bytes = progress.done_bytes;
            job.view.total_bytes = progress.total_bytes;
        });
    }

    /// Adds a note for people to a job.
    pub(super) fn note(&self, id: &str, note: Text) {
        self.change(id, |job| job.view.notes.push(note));
    }

    /// Returns the guard of a running job.
    pub(super) fn running(&self, id: &str) -> Running<'_> {
        Running { jobs: self, id: id.to_owned(), is_finished: false }
    }

    /// Notes how a job ended.
    fn finish(&self, id: &str, end: Result<Vec<ImportResult>, AgentError>) {
        self.change(id, |job| {
            job.is_finished = true;
            match end {
                Ok(results) => {
                    job.view.done_bytes = job.view.total_bytes;
                    job.view.results = Some(results);
                }
                Err(_) if job.stop.is_cancelled() => job.view.is_stopped = true,
                Err(error) => job.view.failure = Some(error),
            }
        });
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Job)) {
        if let Some(job) = self.0.lock().iter_mut().find(|job| job.id == id) {
            change(job);
        }
    }

    /// Returns how far a job is, and its results at the end.
    pub(super) fn view(&self, id: &str) -> Result<SourceJobView, AgentError> {
        let jobs = self.0.lock();
        jobs.iter().find(|job| job.id == id).map(|job| job.view.clone()).ok_or_else(unknown_job)
    }

    /// Stops a job.
    pub(super) fn stop(&self, id: &str) -> Result<(), AgentError> {
        let jobs = self.0.lock();
        jobs.iter().find(|job| job.id == id).map(|job| job.stop.cancel()).ok_or_else(unknown_job)
    }

    /// Stops all jobs.
    pub(super) fn stop_all(&self) {
        self.0.lock().iter().for_each(|job| job.stop.cancel());
    }
}

/// A running job. If this is dropped before the job has finished, its task broke off.
pub(super) struct Running<'a> {
    jobs: &'a Jobs,
    id: String,
    is_finished: bool,
}

impl Running<'_> {
    /// Notes how the job ended.
    pub(super) fn finish(mut self, end: Result<Vec<ImportResult>, AgentError>) {
        self.is_finished = true;
        self.jobs.finish(&self.id, end);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            self.jobs.finish(&self.id, Err(broke_off()));
        }
    }
}

fn running_error(message: impl Into<Text>) -> AgentError {
    AgentError::invalid(message).reason("import_running").hint("Wait for it or stop it first.")
}

fn broke_off() -> AgentError {
    AgentError::internal("import_broke", "The import stopped because of an internal error.")
        .hint("Nothing was stored. Run `csign doctor`, then try again.")
}

fn unknown_job() -> AgentError {
    AgentError::invalid("There is no such import.").reason(Reason::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(jobs: &Jobs, id: &str) -> Result<(SourceJob, CancellationToken), AgentError> {
        jobs.begin(id.to_owned(), format!("{id}.csv"), false)
    }

    #[test]
    fn a_change_during_a_job_is_refused_and_names_it() {
        let jobs = Jobs::default();
        jobs.check_none_runs().unwrap();
        let (job, _) = begin(&jobs, "november").unwrap();
        let refused = jobs.check_none_runs().unwrap_err();
        assert_eq!(refused.reason_text(), Some("import_running"));
        assert!(refused.message.contains("november.csv"), "{refused:?}");
        jobs.running(&job.job).finish(Ok(Vec::new()));
        jobs.check_none_runs().unwrap();
    }

    #[test]
    fn a_survey_loses_nothing_if_the_program_ends() {
        let jobs = Jobs::default();
        let (survey, _) = jobs.begin("one".to_owned(), "one.csv".to_owned(), true).unwrap();
        assert!(!jobs.is_storing() && jobs.check_none_runs().is_err());
        jobs.running(&survey.job).finish(Ok(Vec::new()));
        let (import, _) = begin(&jobs, "two").unwrap();
        assert!(jobs.is_storing());
        let source = SourceName::new("ads");
        assert!(!jobs.is_changing(&source), "the source is not known yet");
        jobs.note_source(&import.job, &source);
        assert!(jobs.is_changing(&source) && !jobs.is_changing(&SourceName::new("shop")));
        jobs.running(&import.job).finish(Ok(Vec::new()));
        assert!(!jobs.is_storing() && !jobs.is_changing(&source));
    }

    #[test]
    fn a_job_whose_task_breaks_off_ends_with_an_error_and_another_can_begin() {
        let jobs = Jobs::default();
        let (first, _) = begin(&jobs, "one").unwrap();
        assert!(begin(&jobs, "two").is_err(), "one job runs");
        let task = std::panic::AssertUnwindSafe(|| {
            let _running = jobs.running(&first.job);
            panic!("a fault in the import");
        });
        assert!(std::panic::catch_unwind(task).is_err());
        let failure = jobs.view(&first.job).unwrap().failure.unwrap();
        assert_eq!(failure.reason_text(), Some("import_broke"));
        let (second, _) = begin(&jobs, "two").unwrap();
        jobs.running(&second.job).finish(Ok(Vec::new()));
        let view = jobs.view(&second.job).unwrap();
        assert_eq!((view.results.map(|all| all.len()), view.failure), (Some(0), None));
    }
}
