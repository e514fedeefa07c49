//! Waits for a job of an import: shows its progress, and stops it when the user presses Ctrl-C.
//! Knows no files.

use std::{io::IsTerminal as _, time::Duration};

use contract::{AgentError, Reason, SourceJob, SourceJobView, sources::ImportResult};

use super::{figures::count_of, interrupts::Interrupts, paragraph::Paragraph, table::shorten};
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::Out;
use crate::visible::escape_invisible;
use crate::width::text_width;

const ASK_FIRST: Duration = Duration::from_millis(10);
const ASK_EVERY: Duration = Duration::from_millis(100);

/// Waits for the end of a job. Returns one result for each file.
pub(super) async fn wait_for_job(
    link: &Link,
    out: Out,
    interrupts: &mut Interrupts,
    job: SourceJob,
    shown: &str,
) -> Result<Vec<ImportResult>, Halt> {
    let mut progress = ProgressLine::new(out, shown);
    let mut pause = ASK_FIRST;
    let mut is_stopping = false;
    loop {
        let view = link.commands.source_job(job.clone()).await?;
        if view.is_stopped {
            progress.clear();
            return Err(Halt::Stopped);
        }
        if let Some(error) = view.failure {
            progress.clear();
            return Err(error.into());
        }
        if let Some(results) = view.results {
            progress.clear();
            for note in &view.notes {
                Paragraph::new(note.as_str()).after("note: ").print_note(out);
            }
            return Ok(results);
        }
        progress.show(&view);
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = interrupts.next() => {
                progress.clear();
                stop_job(link, out, &job, std::mem::replace(&mut is_stopping, true)).await?;
            }
        }
        // A small file is read in a few milliseconds.
        pause = (pause * 2).min(ASK_EVERY);
    }
}

/// Stops a job. The second time, the program ends at once. The next start deletes what is left of
/// the job.
async fn stop_job(
    link: &Link,
    out: Out,
    job: &SourceJob,
    is_stopping: bool,
) -> Result<(), AgentError> {
    if is_stopping {
        std::process::exit(i32::from(Exit::Failed as u8));
    }
    out.print_note("Stopping. Press Ctrl-C again to leave at once.");
    match link.commands.source_job_stop(job.clone()).await {
        // The job may have ended in the meantime.
        Err(error) if error.has_reason(Reason::NotFound) => Ok(()),
        other => other.map(|_| ()),
    }
}

/// Why an import ended early.
#[derive(Debug)]
pub(super) enum Halt {
    /// The user stopped it, so that no other one is to begin.
    Stopped,
    /// It failed.
    Failed(Box<Failure>),
}

impl From<AgentError> for Halt {
    fn from(error: AgentError) -> Self {
        Self::Failed(Box::new(error.into()))
    }
}

impl From<Halt> for Failure {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Stopped => stopped_error().into(),
            Halt::Failed(failure) => *failure,
        }
    }
}

/// Returns the error of an import that the user stopped.
pub(super) fn stopped_error() -> AgentError {
    AgentError::invalid("The import was stopped.").reason("stopped").hint("Nothing was stored.")
}

/// A line on a terminal that shows how far a job is.
struct ProgressLine<'a> {
    out: Out,
    shown: &'a str,
    is_used: bool,
    last: String,
}

impl<'a> ProgressLine<'a> {
    fn new(out: Out, shown: &'a str) -> Self {
        let is_used = !out.json && std::io::stderr().is_terminal();
        Self { out, shown, is_used, last: String::new() }
    }

    fn show(&mut self, view: &SourceJobView) {
        if !self.is_used || view.records == 0 {
            return;
        }
        let part = match view.done_bytes.saturating_mul(100).checked_div(view.total_bytes) {
            Some(percent) => format!(", {}%", percent.min(100)),
            None => String::new(),
        };
        let rows = format!(": {} read{part}", count_of(view.records, "row"));
        // A line that the terminal wraps could not be written over.
        let width = self.out.note_width().unwrap_or(usize::MAX);
        let room = width.saturating_sub(text_width(&rows) + 1);
        let line = format!("{}{rows}", shorten(&escape_invisible(self.shown), room));
        if line != self.last {
            self.out.print_question(&format!("\r\u{1b}[K{line}"));
            self.last = line;
        }
    }

    fn clear(&mut self) {
        if !std::mem::take(&mut self.last).is_empty() {
            self.out.print_question("\r\u{1b}[K");
        }
    }
}
