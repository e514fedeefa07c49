//! `csign ask`: sends one message, prints its events as they arrive, asks the user questions, and
//! ends with an exit code for the result. Text for a file or a pipe is printed when it is complete,
//! because a model may still retract such text.

use std::collections::BTreeMap;

use contract::{
    AgentError, AgentId, CallId, ErrorCode, EventBody, ItemBody, NoticeLevel, Push, ResultView,
    SessionId, Stage, ToolOutcome, TurnCancelParams, TurnEvent, TurnStartParams, TurnStatus,
};
use serde_json::Value;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::Ask;
use crate::exit::{Exit, Failure};
use crate::keys::Keys;
use crate::link::Link;
use crate::listen::{self, Asker};
use crate::markdown::GrowingAnswer;
use crate::out::{self, Out, Tone};
use crate::refused_calls::RefusedCalls;
use crate::results;
use crate::visible::escape_invisible;

/// The maximum number of bytes of a text from standard input. The engine refuses much shorter
/// texts.
const MOST_TEXT: u64 = 16 << 20;

/// Returns text from the command line, or all of standard input for `-`.
pub(crate) fn text_or_stdin(text: &str) -> Result<String, Failure> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    files::read_text_from(std::io::stdin(), MOST_TEXT)
        .map_err(|error| Failure::usage_error(format!("Standard input cannot be read: {error}.")))
}

/// Checks the arguments before the profile is opened.
pub(crate) fn check_arguments(args: &Ask) -> Result<String, Failure> {
    if args.message == "-" && args.with.iter().any(|file| file == "-") {
        return Err(Failure::usage_error("Standard input can be read once.")
            .hint("Give the message or the file in another way."));
    }
    let text = text_or_stdin(&args.message)?;
    if text.trim().is_empty() {
        return Err(Failure::usage_error("The message is empty.")
            .hint("Type a question, for example: csign ask \"What can you do?\""));
    }
    Ok(text)
}

pub(crate) async fn run(
    link: &mut Link,
    out: Out,
    args: Ask,
    text: String,
    (person, keys): (bool, Option<Keys>),
) -> Result<Exit, Failure> {
    // Uses the same listener from the start, so that a key pressed between two waits is not lost.
    let mut interrupts = listen_for_interrupts()?;
    let params = TurnStartParams {
        session: args.session.map(SessionId::from),
        text,
        model: args.model,
        agent: args.agent.map(AgentId::from),
        headless: !person,
        replaces: None,
    };
    let started = link.commands.turn_start(params).await?;
    link.warn_of_packs(out).await;
    let mut view = View::new(out);
    let mut asker = match keys {
        Some(keys) => Asker::with_keys(out, keys),
        None => Asker::new(out, person),
    };
    let mut cancelled = false;
    let mut heard = std::collections::VecDeque::new();
    loop {
        let push = match heard.pop_front() {
            Some(push) => push,
            None => tokio::select! {
                push = listen::next(link) => push.inspect_err(|_| view.finish_line())?,
                _ = interrupts.recv(), if !cancelled => {
                    cancelled = true;
                    out.print_note("\nStopping. Press Ctrl-C again to leave at once.");
                    exit_on_second_interrupt()?;
                    link.commands.turn_cancel(TurnCancelParams { session: started.session.clone(), turn: started.turn.clone() }).await?;
                    continue;
                }
            },
        };
        listen::print_declined(out, &push);
        let event = listen::find_turn_event(&push, &started.session, &started.turn);
        if let Some(event) = event {
            view.show_event(event);
            // If the reader of the output has closed the pipe, the turn is cancelled, and the
            // command ends at the turn's `final` event.
            if matches!(out::stdout_state(), out::Delivery::ReaderLeft)
                && !std::mem::replace(&mut cancelled, true)
            {
                let _ = link
                    .commands
                    .turn_cancel(TurnCancelParams {
                        session: started.session.clone(),
                        turn: started.turn.clone(),
                    })
                    .await;
            }
            if let EventBody::Final { status, error, .. } = &event.event {
                return Ok(view.report_outcome(*status, error.as_ref()));
            }
        }
        if asker.can_ask_about(&push) && (event.is_some() || matches!(push, Push::Questions { .. }))
        {
            let cancel =
                TurnCancelParams { session: started.session.clone(), turn: started.turn.clone() };
            tokio::select! {
                more = asker.ask_about(link, &push) => heard.extend(more?),
                _ = interrupts.recv(), if !cancelled => {
                    cancelled = true;
                    out.print_note("\nStopping. Press Ctrl-C again to leave at once.");
                    exit_on_second_interrupt()?;
                }
            }
            if cancelled {
                link.commands.turn_cancel(cancel).await?;
            }
        }
    }
}

fn listen_for_interrupts() -> Result<Signal, AgentError> {
    signal(SignalKind::interrupt()).map_err(|error| {
        AgentError::internal("signals", format!("Ctrl-C cannot be heard: {error}."))
    })
}

/// Lets a second Ctrl-C end the process. The next start recovers the running turn.
fn exit_on_second_interrupt() -> Result<(), AgentError> {
    let mut again = listen_for_interrupts()?;
    tokio::spawn(async move {
        if again.recv().await.is_some() {
            std::process::exit(i32::from(Exit::Failed as u8));
        }
    });
    Ok(())
}

/// The state of a turn's output so far.
struct View {
    out: Out,
    /// The answer as it is formatted for a terminal. The open block is not printed yet.
    formatted: GrowingAnswer,
    /// The provisional text that was passed to standard output, including the held text.
    printed: String,
    /// The end of `printed` that is not written yet, if standard output is not a terminal.
    held: String,
    /// Whether the last line of the printed text has a line end.
    is_line_ended: bool,
    /// Whether the printed text is complete and stored as a separate item.
    kept: bool,
    /// Failed calls whose lines are not printed yet.
    failed: RefusedCalls,
    /// The titles of the calls, by their ids.
    titles: BTreeMap<CallId, String>,
    /// Results with a declared shape, which are printed after the answer.
    results: Vec<(String, ResultView, Value)>,
    /// Notices that arrived in the middle of a line of the answer.
    notices: Vec<String>,
    /// Whether a call was denied, rejected or not decided in time.
    refused: bool,
    /// The id and title of an action that stays pending.
    pending: Option<(String, String)>,
}

impl View {
    fn new(out: Out) -> Self {
        Self {
            out,
            formatted: GrowingAnswer::new(),
            printed: String::new(),
            held: String::new(),
            is_line_ended: false,
            kept: false,
            failed: RefusedCalls::default(),
            titles: BTreeMap::new(),
            results: Vec::new(),
            notices: Vec::new(),
            refused: false,
            pending: None,
        }
    }

    fn show_event(&mut self, event: &TurnEvent) {
        self.record_event(&event.event);
        if self.out.json {
            self.out.event(event);
        } else {
            self.print_event(&event.event);
        }
    }

    fn record_event(&mut self, event: &EventBody) {
        if let EventBody::ApprovalRequested { approval } = event {
            self.pending = Some((approval.id.0.clone(), approval.tool_title.clone()));
        }
        if let EventBody::ToolEnd { outcome, .. } = event {
            self.refused |= Exit::of_outcome(*outcome) == Exit::Denied;
        }
    }

    fn print_event(&mut self, event: &EventBody) {
        let out = self.out;
        let ends = matches!(event, EventBody::Final { .. } | EventBody::ApprovalRequested { .. });
        if ends || matches!(event, EventBody::Error { .. }) {
            let left = self.failed.take_all();
            self.print_failed(left);
        }
        match event {
            EventBody::Delta { text } => {
                if std::mem::take(&mut self.kept) {
                    self.finish_line();
                }
                self.print_piece(text);
                self.printed.push_str(text);
            }
            EventBody::Status { stage: Stage::OutputReplaced, .. } => self.take_back(),
            EventBody::Status { stage: Stage::Queued, .. } => out.print_note(
                out.colour_text(Tone::Quiet, "Waiting for the answer before this one."),
            ),
            EventBody::Status { stage: Stage::Retrying, text } => {
                self.finish_line();
                out.print_note(out.colour_text(
                    Tone::Quiet,
                    text.as_deref().map_or("Trying again.".to_owned(), escape_invisible).as_str(),
                ));
            }
            EventBody::ToolStart { call, title, tool, .. } => {
                self.finish_line();
                self.titles.insert(call.clone(), title.clone());
                for summary in self.failed.take_corrected(tool) {
                    out.print_note(outcome_line(out, Tone::Quiet, "corrected", &summary));
                }
                out.print_note(out.colour_text(
                    Tone::Quiet,
                    &format!("> {} ({})", escape_invisible(title), escape_invisible(tool.as_str())),
                ));
            }
            EventBody::ToolEnd { outcome: ToolOutcome::Error, call, tool, summary } => {
                self.failed.hold(call, tool, summary);
            }
            EventBody::ToolEnd { outcome, summary, .. } => {
                let tone = if *outcome == ToolOutcome::Ok { Tone::Good } else { Tone::Bad };
                out.print_note(outcome_line(out, tone, &format_outcome(*outcome), summary));
            }
            // This error is reported at the end, together with its remedy.
            EventBody::Error { error } if error.code == ErrorCode::ApprovalRequired => {}
            // The final event repeats an interrupted answer, so the printed text is remembered.
            EventBody::Error { error } => {
                self.end_line();
                out.print_error(error);
            }
            EventBody::Final { text, status, error, .. } => match (status, error) {
                // If there is no answer, the text is the same as the error that was printed above.
                (TurnStatus::Error, Some(error)) if *text == error.message => {}
                (TurnStatus::Cancelled, _) if !self.begins(text) => {
                    self.finish_line();
                    out.print_note(escape_invisible(text));
                }
                _ => {
                    self.print_final_answer(text);
                    self.print_results(text);
                }
            },
            EventBody::AgentStart { name, .. } => {
                self.finish_line();
                out.print_note(
                    out.colour_text(Tone::Quiet, &format!("> {}", escape_invisible(name))),
                );
            }
            EventBody::Item { item } => self.note_item(&item.body),
            // The user must see the text before the question.
            EventBody::ApprovalRequested { .. } => self.flush(),
            EventBody::Status { .. }
            | EventBody::DevStatus { .. }
            | EventBody::AgentEnd { .. }
            | EventBody::ApprovalResolved { .. }
            | EventBody::Reasoning { .. }
            | EventBody::Blocks { .. } => {}
        }
    }

    fn note_item(&mut self, body: &ItemBody) {
        match body {
            // This text is complete, so later text begins on a new line.
            ItemBody::AssistantText { text, partial: false, .. } if *text == self.printed => {
                self.kept = true;
                self.flush();
            }
            ItemBody::ToolResult { call, error, outcome, view, data, .. } => {
                let failed = self.failed.take_failed(call, error.as_ref());
                self.print_failed(failed);
                if *outcome == ToolOutcome::Ok && view.shape.layout().is_some() {
                    let title = self.titles.remove(call).unwrap_or_default();
                    if let Some(mark) = results::mark_of(view, data) {
                        self.finish_line();
                        self.out.print_note(self.out.colour_text(Tone::Quiet, &mark));
                    }
                    self.results.push((title, view.clone(), data.clone()));
                }
            }
            // Such notices report, for example, another model, tools that were left out, or a key
            // that was removed.
            ItemBody::Notice { level: NoticeLevel::Warning, text, .. } => {
                self.notices.push(escape_invisible(text));
                if self.printed.is_empty() {
                    self.print_notices();
                }
            }
            _ => {}
        }
    }

    /// Prints the results that have a shape, unless the answer already contains them.
    fn print_results(&mut self, answer: &str) {
        for (title, view, data) in std::mem::take(&mut self.results) {
            if results::is_told_in(&view, &data, answer) {
                continue;
            }
            if let Some(text) = results::to_markdown(&title, &view, &data) {
                self.print_piece(&format!("\n{text}"));
                self.printed.push_str(&text);
                self.finish_line();
            }
        }
    }

    /// Prints failed calls with their summaries.
    fn print_failed(&mut self, summaries: impl IntoIterator<Item = String>) {
        for summary in summaries {
            self.end_line();
            let word = format_outcome(ToolOutcome::Error);
            self.out.print_note(outcome_line(self.out, Tone::Bad, &word, &summary));
        }
    }

    /// Whether a text continues the printed text.
    fn begins(&self, text: &str) -> bool {
        !self.printed.is_empty() && text.starts_with(&self.printed)
    }

    /// Prints the final answer: only the rest if the answer begins with the printed text, or else
    /// the whole answer.
    fn print_final_answer(&mut self, text: &str) {
        match text.strip_prefix(self.printed.as_str()) {
            Some(rest) => self.print_piece(rest),
            None => {
                self.finish_line();
                self.print_piece(text);
            }
        }
        self.printed = text.to_owned();
        self.finish_line();
    }

    /// Prints a piece of the answer. On a terminal, prints the blocks that the piece completes.
    /// Elsewhere, holds the piece until the text is complete.
    fn print_piece(&mut self, text: &str) {
        self.is_line_ended &= text.is_empty();
        match self.out.screen() {
            Some(screen) => self.out.print_formatted(&self.formatted.push(text, screen)),
            None => self.held.push_str(text),
        }
    }

    /// Prints the open block on a terminal, or the held text elsewhere.
    fn flush(&mut self) {
        match self.out.screen() {
            Some(screen) => self.out.print_formatted(&self.formatted.flush(screen)),
            None => self.out.print_piece(&with_plain_figures(&std::mem::take(&mut self.held))),
        }
    }

    /// Drops the held text, because it is not part of the answer. Text that a person has seen
    /// stays.
    fn take_back(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.printed.truncate(self.printed.len().saturating_sub(held.len()));
        self.finish_line();
    }

    /// Ends the line of the printed text, unless it has a line end.
    fn end_line(&mut self) {
        self.flush();
        match self.out.screen() {
            Some(screen) => self.out.print_formatted(&self.formatted.finish(screen)),
            None if self.is_line_ended
                || self.printed.is_empty()
                || self.printed.ends_with('\n') => {}
            None => self.out.print_piece("\n"),
        }
        self.is_line_ended = true;
        self.print_notices();
    }

    fn print_notices(&mut self) {
        for notice in self.notices.drain(..) {
            self.out.print_note(notice);
        }
    }

    /// Ends the line of the printed text. Later text belongs to another answer.
    fn finish_line(&mut self) {
        self.end_line();
        self.printed.clear();
        self.is_line_ended = false;
    }

    fn report_outcome(&self, status: TurnStatus, error: Option<&AgentError>) -> Exit {
        match status {
            TurnStatus::Ok | TurnStatus::Limit if self.refused => Exit::Denied,
            TurnStatus::Ok | TurnStatus::Limit => Exit::Done,
            TurnStatus::Cancelled => Exit::Failed,
            TurnStatus::Error => error.map_or(Exit::Failed, Exit::of_error),
            TurnStatus::ApprovalRequired => {
                if let Some((id, title)) = &self.pending
                    && !self.out.json
                {
                    self.out.print_note(format!(
                        "{} waits for your approval: {}",
                        escape_invisible(title),
                        escape_invisible(id)
                    ));
                    self.out.print_note(format!(
                        "See it with: csign approvals show {}",
                        escape_invisible(id)
                    ));
                }
                Exit::ApprovalRequired
            }
        }
    }
}

/// Returns a text for programs: its figures have plain spaces and a plain sign, so that they can be
/// searched and read again.
fn with_plain_figures(text: &str) -> String {
    text.replace(['\u{a0}', '\u{202f}'], " ").replace('\u{2212}', "-")
}

/// Returns the line of a call that has ended.
fn outcome_line(out: Out, tone: Tone, word: &str, summary: &str) -> String {
    let more =
        if summary.is_empty() { String::new() } else { format!(": {}", escape_invisible(summary)) };
    out.colour_text(tone, &format!("< {word}{more}"))
}

/// Returns an outcome as the word used in JSON.
pub(crate) fn format_outcome(outcome: ToolOutcome) -> String {
    serde_json::to_value(outcome)
        .ok()
        .and_then(|v| v.as_str().map(str::to_owned))
        .unwrap_or_default()
}
