//! Import jobs: one runs at a time, its progress can be asked for, and it can be stopped. A job whose
//! task breaks off ends with an error. This module must not know what an import does.

use std::collections::VecDeque;

use contract::{AgentError, Reason, SourceJob, SourceJobView, Text, sources::ImportResult};
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
    view: SourceJobView,
    is_finished: bool,
    stop: CancellationToken,
}

impl Jobs {
    /// Adds a job. Fails while another one runs.
    pub(super) fn begin(&self, id: String) -> Result<(SourceJob, CancellationToken), AgentError> {
        let mut jobs = self.0.lock();
        if jobs.iter().any(|job| !job.is_finished) {
            return Err(AgentError::invalid("Another import is running.")
                .reason("import_running")
                .hint("Wait for it or stop it first."));
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
        jobs.push_back(Job { id: id.clone(), view, is_finished: false, stop: stop.clone() });
        while jobs.len() > KEPT {
            jobs.pop_front();
        }
        Ok((SourceJob { job: id }, stop))
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

    #[test]
    fn a_job_whose_task_breaks_off_ends_with_an_error_and_another_can_begin() {
        let jobs = Jobs::default();
        let (first, _) = jobs.begin("one".to_owned()).unwrap();
        assert!(jobs.begin("two".to_owned()).is_err(), "one job runs");
        let task = std::panic::AssertUnwindSafe(|| {
            let _running = jobs.running(&first.job);
            panic!("a fault in the import");
        });
        assert!(std::panic::catch_unwind(task).is_err());
        let failure = jobs.view(&first.job).unwrap().failure.unwrap();
        assert_eq!(failure.reason_text(), Some("import_broke"));
        let (second, _) = jobs.begin("two".to_owned()).unwrap();
        jobs.running(&second.job).finish(Ok(Vec::new()));
        let view = jobs.view(&second.job).unwrap();
        assert_eq!((view.results.map(|all| all.len()), view.failure), (Some(0), None));
    }
}
