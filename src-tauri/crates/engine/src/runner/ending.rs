//! Ends a turn in all cases: completes the last text, saves the answer, and emits the `final`
//! event.

use contract::{
    AgentError, Choice, ErrorCode, EventBody, Item, ItemBody, NoticeLevel, RecordType, Stage,
    TurnStatus,
};

use crate::{
    budget::metering::BUDGET,
    ports::{Point, RecordDraft, Served, StoreError},
    runner::running::Turn,
    texts::Text,
    tools::refused_calls,
    turn::{
        outcome::{End, append_below, refusal_text, sentence_below},
        run_context::Ended,
    },
};

impl Turn {
    /// Ends a turn whose model call a budget refused. The texts so far become the answer. Without
    /// any text, the refusal becomes the error.
    pub(crate) fn end_within_budget(&mut self, end: End) -> End {
        let Some(refusal) = self.context.account.entries().refusal.take() else { return end };
        let over_budget = refusal.has_reason(contract::Reason::BudgetExceeded);
        match end {
            // The answer is complete. The refused call would only have chosen the next specialist
            // or joined the answers.
            End::Answer { text, choices, status } if over_budget => {
                self.note_early_end(&refusal);
                let is_told =
                    self.context.is_remote() || text.ends_with(self.answer.budget_cut_text());
                End::Answer {
                    text: if is_told { text } else { append_below(text, &refusal_text(&refusal)) },
                    choices,
                    status,
                }
            }
            End::Failed { partial, .. }
                if over_budget && (!partial.is_empty() || self.has_shown_texts()) =>
            {
                self.note_early_end(&refusal);
                self.answer.is_in_parts = true;
                let why = if self.context.is_remote() {
                    self.answer.budget_cut_text().to_owned()
                } else {
                    refusal_text(&refusal)
                };
                End::Answer {
                    text: append_below(partial, &why),
                    choices: Vec::new(),
                    status: TurnStatus::Limit,
                }
            }
            End::Failed { partial, .. } => End::Failed { partial, error: refusal },
            other => other,
        }
    }

    /// Records that a budget refused a call. For a remote caller, the details are logged for the
    /// operator.
    fn note_early_end(&self, refusal: &AgentError) {
        self.context.account.entries().is_truncated = true;
        if self.context.is_remote() {
            tracing::warn!(reason = BUDGET, why = %refusal, "an answer ends early");
        }
    }

    /// Whether the turn has already shown texts or made changes.
    fn has_shown_texts(&self) -> bool {
        self.has_reported() || !self.answer.asides().is_empty()
    }

    pub(crate) async fn finish(&self, end: End) {
        self.context.probe(Point::BeforeAnswerSaved);
        let (mut text, choices, status, error) = self.complete_last_text(end);
        let mut body: Vec<Item> = self.redaction_item().into_iter().collect();
        match status {
            TurnStatus::Ok | TurnStatus::Limit if !text.is_empty() => {
                body.push(self.answer.item(&text, choices.clone(), false))
            }
            // Changes that were made are reported even if the turn then waits for a decision.
            TurnStatus::ApprovalRequired if self.has_reported() => {
                body.push(self.answer.item(&text, Vec::new(), false))
            }
            TurnStatus::Ok | TurnStatus::Limit | TurnStatus::ApprovalRequired => {}
            TurnStatus::Cancelled | TurnStatus::Error => {
                if !text.is_empty() {
                    body.push(self.answer.item(&text, Vec::new(), true));
                }
                body.push(self.context.item(ending_notice(
                    status,
                    error.as_ref(),
                    &self.context.locale,
                )));
            }
        }
        let saved = self.save_end(body, status, error.as_ref()).await;
        self.answer.forget_partial().await;
        if !self.answer.instructed.tools.is_empty() {
            self.context.services.traces.keep_last_used().await;
        }
        // The caller gets an error that the answer was not saved, although its text was shown.
        let error = error.or(saved.err().map(|e| e.into()));
        self.context.probe(Point::AfterAnswerSaved);
        if let Some(error) = &error {
            self.context.emit(EventBody::Error { error: error.clone() });
            if text.is_empty() {
                text.clone_from(&error.message);
            }
        }
        if status == TurnStatus::Cancelled && text.is_empty() {
            Text::Cancelled.in_locale(&self.context.locale).clone_into(&mut text);
        }
        // Listeners have the text of the deltas, so they are notified that the final text replaces
        // it.
        if !self.answer.has_shown(&text) {
            self.context.emit(EventBody::Status { stage: Stage::OutputReplaced, text: None });
        }
        // A client that gets the last event may change the messages of the session at once.
        self.context.services.lanes.note_answered(&self.context.session, &self.context.id);
        self.context.emit(EventBody::Final {
            status,
            text: text.clone(),
            choices: choices.clone(),
            error: error.clone(),
            usage: self.answer.usage(),
        });
        if let Some(run) = self.context.run() {
            run.end(self.ended(status, text, choices, error));
        }
    }

    fn complete_last_text(
        &self,
        end: End,
    ) -> (String, Vec<Choice>, TurnStatus, Option<AgentError>) {
        let (mut text, choices, status, error) = match end {
            End::Answer { text, choices, status } => (text, choices, status, None),
            End::Cancelled { partial } => (partial, Vec::new(), TurnStatus::Cancelled, None),
            End::Failed { partial, error } => (partial, Vec::new(), TurnStatus::Error, Some(error)),
            End::ApprovalRequired { error } => (
                Text::NotApprovedHeadless.in_locale(&self.context.locale).to_owned(),
                Vec::new(),
                TurnStatus::ApprovalRequired,
                Some(error),
            ),
        };
        let writes = self.context.account.entries().unasked_writes.clone();
        if !writes.is_empty() {
            let done = format!(
                "{} {}",
                Text::WriteDone.in_locale(&self.context.locale),
                writes.join("; ")
            );
            text.push_str(&sentence_below(&text, &done));
        }
        (text, choices, status, error)
    }

    fn has_reported(&self) -> bool {
        !self.context.account.entries().unasked_writes.is_empty()
    }

    fn ended(
        &self,
        status: TurnStatus,
        text: String,
        choices: Vec<Choice>,
        error: Option<AgentError>,
    ) -> Ended {
        let entries = self.context.account.entries();
        Ended {
            status,
            text,
            asides: self.answer.asides().to_vec(),
            choices,
            error,
            usage: self.answer.usage(),
            model: self.answer.model_label(),
            tools: entries.tools.clone(),
            results: entries.results.clone(),
            answers: entries.answers.clone(),
            changed: entries.has_changed,
            truncated: entries.is_truncated,
            in_parts: self.answer.is_in_parts,
            declined: entries.is_declined,
            nano_usd: entries.nano_usd,
            unpriced: entries.unpriced.iter().cloned().collect(),
        }
    }

    fn served(&self, status: &str, code: Option<&str>) -> Served {
        let took =
            self.context.started.elapsed().saturating_sub(self.context.account.entries().waited);
        Served {
            turn: self.context.id.clone(),
            ended_at: self.context.world().clock.now(),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            tools: u32::try_from(self.context.account.entries().tools.len()).unwrap_or(u32::MAX),
            status: status.to_owned(),
            code: code.map(str::to_owned),
        }
    }

    async fn save_end(
        &self,
        body: Vec<Item>,
        status: TurnStatus,
        error: Option<&AgentError>,
    ) -> Result<(), StoreError> {
        let world = self.context.world();
        let name = status_name(status);
        let row = self.answer.row(name, Some(world.clock.now()));
        let usage = self.answer.usage();
        // A change that waits for approval is not an error.
        let code =
            error.filter(|_| status != TurnStatus::ApprovalRequired).map(|error| error.code.name());
        tracing::Span::current().record("status", name).record("code", code);
        let served = self.served(name, code);
        let (nano_usd, unpriced) = {
            let entries = self.context.account.entries();
            (entries.nano_usd, entries.unpriced.len())
        };
        let mut draft = RecordDraft::new(RecordType::RunEnded)
            .field("status", name)
            .field("level", if code.is_some() { "error" } else { "info" })
            .field("agent", self.answer.agent_id())
            .field("duration_ms", served.duration_ms)
            .field("model_calls", usage.model_calls)
            .field("tokens_in", usage.input_tokens)
            .field("tokens_out", usage.output_tokens)
            .field("nano_usd", nano_usd)
            .field("unpriced_models", unpriced);
        if let Some(code) = code {
            draft = draft.field("code", code);
        }
        refused_calls::note_more_refused(&self.context, self.answer.agent_id()).await;
        self.context.record(draft).await;
        let saving = async {
            match self.is_refused() {
                true => Ok(Vec::new()),
                false => world.store.turn_save(&row, body, Some(&served)).await,
            }
        };
        // Both operations wait for the disk, so they run concurrently.
        let (items, flushed) = tokio::join!(saving, world.audit.flush());
        if let Err(error) = flushed {
            tracing::warn!(%error, "the audit log could not be flushed at the end of a turn");
        }
        self.context.emit_items(items?);
        Ok(())
    }

    /// Returns the item that counts the redactions of this turn, or None if nothing was redacted.
    fn redaction_item(&self) -> Option<Item> {
        let words = self.words.as_ref()?;
        let counts = words.counts();
        (!counts.is_empty())
            .then(|| self.context.item(ItemBody::Redaction { level: words.level(), counts }))
    }
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
        return ItemBody::Notice {
            level: NoticeLevel::Info,
            code: "turn_cancelled".into(),
            text: Text::Cancelled.in_locale(locale).into(),
        };
    }
    let texts = error.map(|e| [Some(e.text()), e.hint_as_text()]);
    let text = contract::Text::join(texts.into_iter().flatten().flatten());
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
