//! How a turn ends, whatever brought it there: the last words, what is saved, and the one `final` that tells of it.

use std::sync::atomic::Ordering;

use contract::{AgentError, Choice, ErrorCode, EventBody, Item, ItemBody, NoticeLevel, RecordType, Stage, TurnStatus};

use crate::{
    budget::metering::BUDGET,
    ports::{Point, RecordDraft, Served, StoreError},
    run::Ended,
    texts::Text,
    turn::Turn,
};

/// How a turn ended, with what is to be said.
pub(crate) enum End {
    Answer { text: String, choices: Vec<Choice>, status: TurnStatus },
    Cancelled { partial: String },
    Failed { partial: String, error: AgentError },
    ApprovalRequired { error: AgentError },
}

impl Turn {
    /// When a budget refused a call: what was said so far is the answer, else the refusal is the error.
    pub(crate) fn within_budget(&self, end: End) -> End {
        let Some(refusal) = self.account.refusal.lock().take() else { return end };
        let over_budget = refusal.reason_text() == Some(BUDGET);
        match end {
            // The answer stands without the call: nobody was asked who is next, or to bring answers together.
            End::Answer { text, choices, status } if over_budget => {
                self.ends_early(&refusal);
                let is_told = self.is_heard() || text.ends_with(self.budget_cut());
                End::Answer { text: if is_told { text } else { below(text, &why(&refusal)) }, choices, status }
            }
            End::Failed { partial, .. } if over_budget && (!partial.is_empty() || self.has_said()) => {
                self.ends_early(&refusal);
                self.account.in_parts.store(true, Ordering::Release);
                let why = if self.is_heard() { self.budget_cut().to_owned() } else { why(&refusal) };
                End::Answer { text: below(partial, &why), choices: Vec::new(), status: TurnStatus::Limit }
            }
            End::Failed { partial, .. } => End::Failed { partial, error: refusal },
            other => other,
        }
    }

    /// Notes that a budget refused a call. The figures are for whoever runs the host.
    fn ends_early(&self, refusal: &AgentError) {
        self.account.truncated.store(true, Ordering::Release);
        if self.is_heard() {
            tracing::warn!(reason = BUDGET, why = %refusal, "an answer ends early");
        }
    }

    /// That a budget ended an answer. A caller's customers have no budget and no settings.
    pub(crate) fn budget_cut(&self) -> &'static str {
        if self.is_heard() { Text::EndsEarly.in_locale(&self.locale) } else { Text::BudgetCut.in_locale(&self.locale) }
    }

    /// Something was said or done on the way.
    fn has_said(&self) -> bool {
        self.has_reported() || !self.asides.lock().is_empty()
    }

    pub(crate) async fn finish(&self, end: End) {
        self.probe(Point::BeforeAnswerSaved);
        let (mut text, choices, status, error) = self.last_words(end);
        let mut body: Vec<Item> = self.redaction_item().into_iter().collect();
        match status {
            TurnStatus::Ok | TurnStatus::Limit if !text.is_empty() => body.push(self.answer_item(&text, choices.clone(), false)),
            // What was done stays told, also when the turn then waits for somebody.
            TurnStatus::ApprovalRequired if self.has_reported() => body.push(self.answer_item(&text, Vec::new(), false)),
            TurnStatus::Ok | TurnStatus::Limit | TurnStatus::ApprovalRequired => {}
            TurnStatus::Cancelled | TurnStatus::Error => {
                if !text.is_empty() {
                    body.push(self.answer_item(&text, Vec::new(), true));
                }
                body.push(self.item(ending_notice(status, error.as_ref(), &self.locale)));
            }
        }
        let saved = self.save_end(body, status, error.as_ref()).await;
        if !self.instructed.lock().is_empty() {
            self.engine.keep_last_used().await;
        }
        let error = error.or(saved.err().map(|e| e.into()));
        self.probe(Point::AfterAnswerSaved);
        if let Some(error) = &error {
            self.emit(EventBody::Error { error: error.clone() });
            if text.is_empty() {
                text.clone_from(&error.message);
            }
        }
        if status == TurnStatus::Cancelled && text.is_empty() {
            Text::Cancelled.in_locale(&self.locale).clone_into(&mut text);
        }
        if *self.shown.lock() != text {
            self.emit(EventBody::Status { stage: Stage::OutputReplaced, text: None });
        }
        self.emit(EventBody::Final { status, text: text.clone(), choices: choices.clone(), error: error.clone(), usage: self.usage() });
        if let Some(run) = &self.run {
            run.end(self.ended(status, text, choices, error));
        }
    }

    fn last_words(&self, end: End) -> (String, Vec<Choice>, TurnStatus, Option<AgentError>) {
        let (mut text, choices, status, error) = match end {
            End::Answer { text, choices, status } => (text, choices, status, None),
            End::Cancelled { partial } => (partial, Vec::new(), TurnStatus::Cancelled, None),
            End::Failed { partial, error } => (partial, Vec::new(), TurnStatus::Error, Some(error)),
            End::ApprovalRequired { error } => {
                (Text::NotApprovedHeadless.in_locale(&self.locale).to_owned(), Vec::new(), TurnStatus::ApprovalRequired, Some(error))
            }
        };
        let reported = self.reported.lock();
        if !reported.is_empty() {
            let done = format!("{} {}", Text::WriteDone.in_locale(&self.locale), reported.join("; "));
            text.push_str(&said_below(&text, &done));
        }
        (text, choices, status, error)
    }

    fn has_reported(&self) -> bool {
        !self.reported.lock().is_empty()
    }

    fn ended(&self, status: TurnStatus, text: String, choices: Vec<Choice>, error: Option<AgentError>) -> Ended {
        let account = &self.account;
        Ended {
            status,
            text,
            asides: self.asides.lock().clone(),
            choices,
            error,
            usage: self.usage(),
            model: self.answering_label(),
            tools: account.tools(),
            changed: account.changed.load(Ordering::Acquire),
            truncated: account.truncated.load(Ordering::Acquire),
            in_parts: account.in_parts.load(Ordering::Acquire),
            declined: account.declined.load(Ordering::Acquire),
            nano_usd: account.nano_usd.load(Ordering::Acquire),
            unpriced: account.unpriced.lock().iter().cloned().collect(),
        }
    }

    fn served(&self, status: &str, code: Option<&str>) -> Served {
        let took = self.started.elapsed().saturating_sub(self.account.waited());
        Served {
            turn: self.id.clone(),
            ended_at: self.world().clock.now(),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            tools: u32::try_from(self.account.tools().len()).unwrap_or(u32::MAX),
            status: status.to_owned(),
            code: code.map(str::to_owned),
        }
    }

    async fn save_end(&self, body: Vec<Item>, status: TurnStatus, error: Option<&AgentError>) -> Result<(), StoreError> {
        let world = self.world();
        let name = status_name(status);
        let row = self.row(name, Some(world.clock.now()));
        let usage = self.usage();
        // A change that waits for a person is no failure.
        let code = error.filter(|_| status != TurnStatus::ApprovalRequired).map(|error| error.code.name());
        tracing::Span::current().record("status", name).record("code", code);
        let served = self.served(name, code);
        let mut draft = RecordDraft::new(RecordType::RunEnded)
            .field("status", name)
            .field("level", if code.is_some() { "error" } else { "info" })
            .field("agent", self.agent_id())
            .field("duration_ms", served.duration_ms)
            .field("model_calls", usage.model_calls)
            .field("tokens_in", usage.input_tokens)
            .field("tokens_out", usage.output_tokens)
            .field("nano_usd", self.account.nano_usd.load(Ordering::Acquire));
        if let Some(code) = code {
            draft = draft.field("code", code);
        }
        self.note_more_refused().await;
        self.record(draft).await;
        let (items, flushed) = tokio::join!(world.store.turn_save(&row, body, Some(&served)), world.audit.flush());
        if let Err(error) = flushed {
            tracing::warn!(%error, "the audit log could not be flushed at the end of a turn");
        }
        self.emit_items(items?);
        Ok(())
    }

    /// What was held back from the model in this turn, if anything was.
    fn redaction_item(&self) -> Option<Item> {
        let words = self.words.get()?;
        let counts = words.counts();
        (!counts.is_empty()).then(|| self.item(ItemBody::Redaction { level: words.level(), counts }))
    }
}

/// Why a budget ended an answer, for who can change it.
fn why(refusal: &AgentError) -> String {
    [Some(refusal.message.as_str()), refusal.hint_text()].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// A text with a sentence of the host below it.
fn below(text: String, sentence: &str) -> String {
    let added = said_below(&text, sentence);
    text + &added
}

/// A sentence of the host as it goes below a text: outside of the block of code that is open there.
pub(crate) fn said_below(text: &str, sentence: &str) -> String {
    if text.trim().is_empty() {
        return sentence.to_owned();
    }
    open_fence(text).map_or_else(|| format!("\n\n{sentence}"), |fence| format!("\n{fence}\n\n{sentence}"))
}

/// The fence of a block of code that is not closed, with its indentation.
fn open_fence(text: &str) -> Option<&str> {
    let mut open: Option<(&str, &str)> = None;
    for line in text.lines() {
        let words = line.trim_start();
        let begins = |mark: char| words.len() - words.trim_start_matches(mark).len();
        let marks = begins('`').max(begins('~'));
        let (fence, rest) = words.split_at(marks);
        match open {
            Some((_, opened)) if fence.starts_with(opened) && rest.trim().is_empty() => open = None,
            None if marks >= 3 && !(fence.starts_with('`') && rest.contains('`')) => open = Some((&line[..line.len() - rest.len()], fence)),
            Some(_) | None => {}
        }
    }
    open.map(|(indented, _)| indented)
}

fn status_name(status: TurnStatus) -> &'static str {
    match status {
        TurnStatus::Ok => "ok",
        TurnStatus::Limit => "limit",
        TurnStatus::Cancelled => "cancelled",
        TurnStatus::Error => "error",
        TurnStatus::ApprovalRequired => "approval_required",
    }
}

fn ending_notice(status: TurnStatus, error: Option<&AgentError>, locale: &str) -> ItemBody {
    if status == TurnStatus::Cancelled {
        return ItemBody::Notice { level: NoticeLevel::Info, code: "turn_cancelled".into(), text: Text::Cancelled.in_locale(locale).into() };
    }
    let text = error.map_or_else(String::new, |e| match e.hint_text() {
        Some(hint) => format!("{} {hint}", e.message),
        None => e.message.clone(),
    });
    let code = error.map_or("internal_error", |e| match e.code {
        ErrorCode::LlmError => "llm_error",
        ErrorCode::RateLimited => "rate_limited",
        ErrorCode::AgentDisabled => "agent_disabled",
        ErrorCode::InvalidInput
        | ErrorCode::ApprovalRequired
        | ErrorCode::ToolNotFound
        | ErrorCode::ToolTimeout
        | ErrorCode::ToolHttpError
        | ErrorCode::InternalError => "turn_failed",
    });
    ItemBody::Notice { level: NoticeLevel::Error, code: code.into(), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_below_a_text_is_outside_of_its_code() {
        let table = [
            ("Half of", "\n\nEnd."),
            ("", "End."),
            ("```rust\nlet a", "\n```\n\nEnd."),
            ("- so:\n  ~~~~\n  ~~~\n  a", "\n  ~~~~\n\nEnd."),
            ("```\na\n```\nb ```c", "\n\nEnd."),
            ("```a``` is code", "\n\nEnd."),
            ("```\na\n````\n```\nb\n~~~", "\n```\n\nEnd."),
            ("```\n```b", "\n```\n\nEnd."),
        ];
        for (text, added) in table {
            assert_eq!(said_below(text, "End."), added, "{text}");
        }
    }
}
