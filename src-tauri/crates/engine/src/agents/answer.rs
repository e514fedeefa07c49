//! Builds the answer of a turn: the text shown so far, texts beside tool calls, the answering
//! specialist, and the notes that the host adds. The answer survives a panic in the middle of the
//! turn.

use std::{collections::HashSet, sync::Arc};

use chrono::{DateTime, Utc};
use contract::{
    Choice, EventBody, Item, ItemBody, Kept, MemoryEntry, NoticeLevel, ToParam as _, ToolOutcome,
    TurnStatus, Usage, label_text,
};

use crate::{
    context::{
        entities::{self, Used},
        guidance::Told,
    },
    ports::{Agent, Finish, TurnRow},
    texts::Text,
    tools::call::CallDone,
    turn::{
        context::TurnContext,
        outcome::{End, sentence_below},
        partial::{forget_partial, store_partial},
    },
};

pub(crate) struct AnswerBuilder {
    context: Arc<TurnContext>,
    /// The specialist that gives the answer.
    pub(crate) agent: Option<Arc<Agent>>,
    /// The name of the fallback model, if the chosen model could not answer.
    fallback: Option<String>,
    /// Whether the user was notified that a secret was removed from an answer of this turn.
    is_secret_told: bool,
    /// The text that the `delta` events have shown so far.
    shown: String,
    /// Texts that the model wrote beside tool calls.
    asides: Vec<String>,
    usage: Usage,
    /// Default values that successful calls of this run used.
    used: Vec<Used>,
    /// The times of earlier analyses whose results this run reused.
    reused: Vec<String>,
    /// The long-term memories that the model reads in this turn.
    pub(crate) remembered: Vec<MemoryEntry>,
    /// Whether a part of the answer is stored.
    has_partial: bool,
    /// The codes of notices that this turn has already handled.
    told: HashSet<&'static str>,
    /// The execution instructions that were already sent in this turn.
    pub(crate) instructed: Told,
    /// Whether the texts beside the calls form the answer, so that no final text replaces them.
    pub(crate) is_in_parts: bool,
    /// The members that must be returned to the model's server with the answer.
    pub(crate) kept: Option<Kept>,
}

impl AnswerBuilder {
    pub(crate) fn new(context: &Arc<TurnContext>) -> Self {
        Self {
            context: Arc::clone(context),
            agent: None,
            fallback: None,
            is_secret_told: false,
            shown: String::new(),
            asides: Vec::new(),
            usage: Usage::default(),
            used: Vec::new(),
            reused: Vec::new(),
            remembered: Vec::new(),
            has_partial: false,
            told: HashSet::new(),
            instructed: Told::default(),
            is_in_parts: false,
            kept: None,
        }
    }

    /// Returns the specialist's id for records, or an empty string if there is no specialist.
    pub(crate) fn agent_id(&self) -> String {
        self.agent.as_ref().map(|agent| agent.id.0.clone()).unwrap_or_default()
    }

    /// Returns the name of the model that answers now, as shown to the user.
    pub(crate) fn model_label(&self) -> String {
        self.fallback.clone().unwrap_or_else(|| self.context.model.label())
    }

    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    pub(crate) fn add_usage(&mut self, usage: Usage) {
        self.usage.input_tokens += usage.input_tokens;
        self.usage.output_tokens += usage.output_tokens;
        self.usage.model_calls += 1;
    }

    pub(crate) fn asides(&self) -> &[String] {
        &self.asides
    }

    /// Whether the `delta` events have shown exactly this text.
    pub(crate) fn has_shown(&self, text: &str) -> bool {
        self.shown == text
    }

    /// Emits a part of the answer as a `delta` event.
    pub(crate) fn show(&mut self, text: impl Into<Option<String>>) {
        let Some(text) = text.into() else { return };
        self.shown.push_str(&text);
        self.context.emit(EventBody::Delta { text });
    }

    /// Forgets the text shown so far. Only the following `delta` events form the answer.
    pub(crate) fn clear_shown(&mut self) {
        self.shown.clear();
    }

    pub(crate) fn item(&self, text: &str, choices: Vec<Choice>, partial: bool) -> Item {
        self.context.item(ItemBody::AssistantText {
            text: text.to_owned(),
            blocks: Vec::new(),
            model: Some(self.model_label()),
            agent: self.agent.as_ref().map(|agent| agent.name.clone()),
            choices,
            remembered: self.remembered.iter().map(|memory| memory.id.clone()).collect(),
            local_only: self.context.has_local_data(),
            untrusted: self.context.sources.is_any(),
            partial,
            kept: self.kept.clone().map(Box::new),
        })
    }

    /// Stores the text so far, in case the process ends before the answer is complete.
    pub(crate) async fn store_partial(&mut self, text: &str) {
        if text.is_empty() {
            return self.forget_partial().await;
        }
        if !self.context.kind.keeps_items() {
            return;
        }
        self.has_partial = true;
        let (store, body) = (&self.context.world().store, self.item(text, Vec::new(), true).body);
        let stored =
            store_partial(store.as_ref(), &self.context.session, &self.context.id, body).await;
        if let Err(error) = stored {
            tracing::warn!(%error, "the text so far could not be stored");
        }
    }

    /// Deletes the stored text, because an item now contains the text.
    pub(crate) async fn forget_partial(&self) {
        if !self.has_partial {
            return;
        }
        let store = &self.context.world().store;
        if let Err(error) = forget_partial(store.as_ref(), &self.context.session).await {
            tracing::warn!(%error, "the text so far could not be forgotten");
        }
    }

    /// Returns the turn's row for the store.
    pub(crate) fn row(&self, status: &str, ended_at: Option<DateTime<Utc>>) -> TurnRow {
        TurnRow {
            turn: self.context.id.clone(),
            session: self.context.session.clone(),
            started_at: self.context.started_at,
            ended_at,
            status: status.to_owned(),
            model: self.model_label(),
            usage: self.usage,
        }
    }

    /// Saves a text that the model wrote beside tool calls to the transcript, before these calls.
    pub(crate) async fn save_side_text(&mut self, text: &str) {
        self.asides.push(text.to_owned());
        self.context
            .add_item(self.item(text, Vec::new(), false), "text beside calls could not be saved")
            .await;
        self.clear_shown();
    }

    /// Switches to the fallback model and saves a notice of the change to the transcript.
    pub(crate) async fn fall_back(&mut self, from: &str, to: String, why: contract::Text) {
        let text = contract::Text::filled(
            Text::FellBack.in_locale(&self.context.locale),
            [
                ("from", label_text(from).to_param()),
                ("to", label_text(&to).to_param()),
                ("why", why.to_param()),
            ],
        );
        let item = self.context.item(ItemBody::Notice {
            level: NoticeLevel::Warning,
            code: "model_fallback".into(),
            text,
        });
        self.fallback = Some(to);
        self.context.add_item(item, "the notice of another model could not be saved").await;
    }

    /// Saves a notice to the transcript, once per conversation. For callers over HTTP, who cannot
    /// change the cause, the notice is logged for the operator instead.
    pub(crate) async fn tell_once(&mut self, code: &'static str, text: contract::Text) {
        if !self.told.insert(code) {
            return;
        }
        if self.context.is_remote() || !self.context.kind.keeps_items() {
            tracing::warn!(code, text = text.as_str(), "a notice for the operator");
            return;
        }
        let (store, session) = (&self.context.world().store, &self.context.session);
        let key = format!("$told_{code}");
        match store.session_values_of(session, &[&key]).await {
            Ok(values) if !values.is_empty() => return,
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "it is not known what was told"),
        }
        if let Err(error) =
            store.session_values_put(session, vec![(key, Some(serde_json::json!(true)))]).await
        {
            tracing::warn!(%error, "a notice may come again");
        }
        let item = self.context.item(ItemBody::Notice {
            level: NoticeLevel::Warning,
            code: code.into(),
            text,
        });
        self.context.add_item(item, "a notice could not be saved").await;
    }

    /// Saves a notice to the transcript that a known secret was removed from the model's answer, at
    /// most once per turn.
    pub(crate) async fn tell_secret_removed(&mut self) {
        if std::mem::replace(&mut self.is_secret_told, true) {
            return;
        }
        let item = self.context.item(ItemBody::Notice {
            level: NoticeLevel::Warning,
            code: "secret_removed".into(),
            text: Text::SecretRemoved.in_locale(&self.context.locale).into(),
        });
        self.context.add_item(item, "the notice of a removed key could not be saved").await;
    }

    /// Records the values of a finished call that the answer must mention: default values, and the
    /// time of a reused analysis.
    pub(crate) fn note_call(&mut self, done: &CallDone) {
        self.reused.extend(done.as_of.clone());
        if done.outcome == ToolOutcome::Ok && !done.defaults.is_empty() {
            let given = done.arguments.as_object().cloned().unwrap_or_default();
            self.used.extend(entities::correct_used_values(
                done.defaults.clone(),
                &given,
                &done.data,
            ));
        }
    }

    /// Adds a sentence to the answer if a budget, the length limit or the provider's filter cut it.
    /// No sentence is added if the caller set the length limit and the answer has text.
    pub(crate) fn mark_cut(&mut self, text: String, finish: Option<Finish>) -> String {
        let (locale, empty) = (&self.context.locale, text.trim().is_empty());
        let has_own_limit = self.context.account.max_output_tokens.is_some();
        let why = match finish {
            Some(Finish::Length) if self.context.account.entries().is_cut => self.budget_cut_text(),
            Some(Finish::Length) if empty || !has_own_limit => Text::LengthCut.in_locale(locale),
            Some(Finish::ContentFilter) if !empty => Text::FilterCut.in_locale(locale),
            Some(
                Finish::Length
                | Finish::ContentFilter
                | Finish::Stop
                | Finish::ToolCalls
                | Finish::OutOfScope,
            )
            | None => return text,
        };
        let added = sentence_below(&text, why);
        self.show(added.clone());
        text + &added
    }

    /// Returns the sentence that says that a budget ended the answer. Remote callers get a sentence
    /// without budget and settings, because their customers have neither.
    pub(crate) fn budget_cut_text(&self) -> &'static str {
        let text = if self.context.is_remote() { Text::EndsEarly } else { Text::BudgetCut };
        text.in_locale(&self.context.locale)
    }

    /// Ends a run with its text, or with a sentence of the host if the text is empty, and adds the
    /// notes of the host.
    pub(crate) fn end(&mut self, text: String, choices: Vec<Choice>, at_bound: bool) -> End {
        let (context, empty) = (Arc::clone(&self.context), text.trim().is_empty());
        // The notes are in the language of the answer above them.
        let locale = &context.locale_of(&text);
        // The sentence about the reached limit refers to the texts above it.
        self.is_in_parts = empty && at_bound;
        let (text, status) = match (empty, at_bound) {
            (false, _) => (text, TurnStatus::Ok),
            (true, true) => (Text::BoundReached.in_locale(locale).to_owned(), TurnStatus::Limit),
            (true, false) => (Text::EmptyAnswer.in_locale(locale).to_owned(), TurnStatus::Ok),
        };
        let mut notes: Vec<String> = Vec::new();
        let used = std::mem::take(&mut self.used);
        notes.extend(self.agent.as_ref().and_then(|agent| entities::line(agent, &used, locale)));
        let mut reused = std::mem::take(&mut self.reused);
        reused.dedup();
        let as_of = |at: &String| format!("{} {at}", Text::AsOf.in_locale(locale));
        notes.extend(reused.iter().map(as_of).filter(|note| !text.contains(note.as_str())));
        let added = if notes.is_empty() {
            String::new()
        } else {
            sentence_below(&text, &format!("*{}.*", notes.join("; ")))
        };
        if !empty && !added.is_empty() {
            self.show(added.clone());
        }
        End::Answer { text: format!("{text}{added}"), choices, status }
    }
}
