//! The answer of a turn while it comes about: the text as it was shown, what was said beside calls,
//! whose answer it is, and the notes that the host adds. It outlives a failure in the middle of the
//! turn.

use std::{collections::HashSet, sync::Arc};

use chrono::{DateTime, Utc};
use contract::{
    Choice, EventBody, Item, ItemBody, NoticeLevel, ToParam as _, ToolId, ToolOutcome, TurnStatus,
    Usage, label_text,
};

use crate::{
    context::entities::{self, Used},
    ports::{Agent, Finish, TurnRow},
    texts::Text,
    tools::call::CallDone,
    turn::{
        context::TurnContext,
        outcome::{End, said_below},
    },
};

pub(crate) struct AnswerBuilder {
    context: Arc<TurnContext>,
    /// The specialist whose answer it is.
    pub(crate) agent: Option<Arc<Agent>>,
    /// The model that took over, if the chosen one could not answer.
    fallback: Option<String>,
    /// Text as the deltas have shown it.
    shown: String,
    /// Texts beside calls.
    asides: Vec<String>,
    usage: Usage,
    /// Default values that successful calls of this run used.
    used: Vec<Used>,
    /// Times of earlier analyses that answered in this run.
    reused: Vec<String>,
    /// Tools whose execution instructions this turn has given.
    pub(crate) instructed: HashSet<ToolId>,
    /// The asides are a part of the answer: no text stands for them at the end.
    pub(crate) is_in_parts: bool,
}

impl AnswerBuilder {
    pub(crate) fn new(context: &Arc<TurnContext>) -> Self {
        Self {
            context: Arc::clone(context),
            agent: None,
            fallback: None,
            shown: String::new(),
            asides: Vec::new(),
            usage: Usage::default(),
            used: Vec::new(),
            reused: Vec::new(),
            instructed: HashSet::new(),
            is_in_parts: false,
        }
    }

    /// The specialist's id, as records name it; empty if there is none.
    pub(crate) fn agent_id(&self) -> String {
        self.agent.as_ref().map(|agent| agent.id.0.clone()).unwrap_or_default()
    }

    /// The model that answers now, as shown to the user.
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

    /// Whether the deltas have shown exactly this text.
    pub(crate) fn has_shown(&self, text: &str) -> bool {
        self.shown == text
    }

    /// Emits a part of the answer.
    pub(crate) fn show(&mut self, text: impl Into<Option<String>>) {
        let Some(text) = text.into() else { return };
        self.shown.push_str(&text);
        self.context.emit(EventBody::Delta { text });
    }

    /// A new text begins: the deltas from here on are the answer.
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
            partial,
        })
    }

    /// The turn as it is stored.
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

    /// Keeps text that a model says beside its calls in the transcript, before the calls.
    pub(crate) async fn keep_aside(&mut self, text: &str) {
        self.asides.push(text.to_owned());
        self.context
            .add_item(self.item(text, Vec::new(), false), "text beside calls could not be saved")
            .await;
        self.clear_shown();
    }

    /// Another model took over. The transcript says so, so that nobody takes one for the other.
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

    /// Takes from a call what the answer has to name: default values that it used, and the time of
    /// an earlier analysis.
    pub(crate) fn note_call(&mut self, done: &CallDone) {
        self.reused.extend(done.as_of.clone());
        if done.outcome == ToolOutcome::Ok && !done.defaults.is_empty() {
            let given = done.arguments.as_object().cloned().unwrap_or_default();
            self.used.extend(entities::confirmed(done.defaults.clone(), &given, &done.data));
        }
    }

    /// The answer's text, which says so if a budget, the model or its provider ended it before its
    /// end, also where nothing of it came. A caller that said how long an answer may be knows.
    pub(crate) fn mark_cut(&mut self, text: String, finish: Option<Finish>) -> String {
        let (locale, empty) = (&self.context.locale, text.trim().is_empty());
        let has_own_limit = self.context.account.max_output_tokens.is_some();
        let why = match finish {
            Some(Finish::Length) if self.context.account.entries().is_cut => self.budget_cut(),
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
        let added = said_below(&text, why);
        self.show(added.clone());
        text + &added
    }

    /// That a budget ended an answer. A caller's customers have no budget and no settings.
    pub(crate) fn budget_cut(&self) -> &'static str {
        let text =
            if self.context.audience.is_remote() { Text::EndsEarly } else { Text::BudgetCut };
        text.in_locale(&self.context.locale)
    }

    /// The end of a run: its text, or the host's own if there is none, with the notes that the host
    /// adds.
    pub(crate) fn end(&mut self, text: String, choices: Vec<Choice>, at_bound: bool) -> End {
        let (context, empty) = (Arc::clone(&self.context), text.trim().is_empty());
        let locale = &context.locale;
        // The sentence of the bound speaks of what stands above it.
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
            said_below(&text, &format!("*{}.*", notes.join("; ")))
        };
        if !empty && !added.is_empty() {
            self.show(added.clone());
        }
        End::Answer { text: format!("{text}{added}"), choices, status }
    }
}
