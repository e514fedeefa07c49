//! Runs a turn: saves the question, lets the supervisor answer, and ends the turn exactly once.

use std::{panic::AssertUnwindSafe, sync::Arc};

use contract::{AgentError, EventBody, ItemBody, RecordType, Stage};
use futures::FutureExt;

use crate::{
    Engine,
    agents::{
        answer::AnswerBuilder,
        prompts::agents_of,
        supervisor::{Supervisor, single_agent},
    },
    context::egress::EgressSession,
    conversation::{
        recall::Recollections,
        recalled::Recalled,
        refresh::{MemoryKeeper, show_memory},
    },
    destinations::keep_named_destinations,
    long_term::remembered::{search_for_turn, use_in_turn},
    ports::{MemoryOf, Point, RecordDraft, StoreError},
    turn::caller_records::add_caller,
    turn::{
        context::{TurnContext, TurnStart},
        outcome::End,
    },
};

/// A running turn. It owns the parts that must survive a panic in the middle of the turn.
pub(crate) struct Turn {
    pub(crate) context: Arc<TurnContext>,
    pub(crate) answer: AnswerBuilder,
    /// Makes every text that the model reads. It is set before the first round.
    pub(crate) words: Option<Arc<EgressSession>>,
    recollections: Recollections,
    /// Whether the question is in the store.
    is_question_saved: bool,
}

impl Turn {
    pub(crate) fn new(engine: &Arc<Engine>, start: TurnStart) -> Self {
        let context = Arc::new(TurnContext::new(engine, start));
        let answer = AnswerBuilder::new(&context);
        Self {
            context,
            answer,
            words: None,
            recollections: Recollections::default(),
            is_question_saved: false,
        }
    }

    /// Runs the turn to its end. Emits exactly one `final` event, even after a panic.
    pub(crate) async fn run(mut self) {
        let end = match AssertUnwindSafe(self.answer()).catch_unwind().await {
            Ok(end) => end,
            Err(_) => End::failed(
                AgentError::internal("unexpected", "An internal error occurred in Countersign.")
                    .hint("Ask again; `csign doctor` shows the state of the installation."),
            ),
        };
        // The recording is stored together with the answer.
        let is_recorded = self.is_recorded();
        self.context.engine.recordings.keep(&self.context, is_recorded).await;
        self.finish(end).await;
        MemoryKeeper::new(&self.context, self.answer.agent_id(), self.answer.asides().len())
            .store_turn(&self.recollections)
            .await;
    }

    async fn answer(&mut self) -> End {
        let context = Arc::clone(&self.context);
        context.probe(Point::BeforeUserMessage);
        context.emit(EventBody::Status { stage: Stage::Started, text: None });
        if let Some(Err(error)) =
            context.wanted.as_ref().map(|id| context.engine.check_specialist(context.world(), id))
        {
            return End::failed(error);
        }
        context.engine.recordings.note_start(&context).await;
        let agents = agents_of(&context);
        let recalled = match self.recollections.recall(&context, single_agent(&agents)).await {
            Ok(recalled) => recalled,
            Err(end) => return end,
        };
        // The memories are searched while the question is written, unless a server gets the question:
        // it is stored and recorded first.
        let (saved, found) = if context.engine.memories.index.embeds_here().await {
            let search = search_for_turn(&context, &recalled);
            let (saved, found) = tokio::join!(self.save_question(), search);
            (saved, Some(found))
        } else {
            (self.save_question().await, None)
        };
        if let Err(error) = saved {
            return End::failed(error);
        }
        self.is_question_saved = true;
        if !self.recollections.is_passing() {
            keep_named_destinations(&context).await;
        }
        context.probe(Point::AfterUserMessage);
        context.engine.push_session(&context.session).await;
        let wanted = context.wanted.as_ref().map(|agent| agent.0.clone()).unwrap_or_default();
        let started = RecordDraft::new(RecordType::RunStarted)
            .field("duration_ms", 0)
            .field("agent", wanted)
            .field("model", context.model.label());
        let started = add_caller(started, &context.caller.kind, context.world().profile.as_ref());
        context.record(started.commit("input", context.question.clone())).await;
        show_memory(&context, &recalled).await;
        let found = match found {
            Some(found) => found,
            None => search_for_turn(&context, &recalled).await,
        };
        let remembered = use_in_turn(&context, found).await;
        self.answer.remembered = remembered.iter().map(|hit| hit.memory.clone()).collect();
        self.recollections.remembered = remembered;
        let words = match EgressSession::open(&context).await {
            Ok(words) => Arc::clone(self.words.insert(Arc::new(words))),
            Err(end) => return end,
        };
        let supervisor =
            Supervisor::new(&context, &words, &mut self.answer, &mut self.recollections);
        let end = supervisor.answer_message(&agents, &recalled).await;
        self.end_within_budget(end)
    }

    /// Whether the turn's recording is stored: the turn itself is stored, and it read only messages of
    /// its own session. A replay does not have those of other sessions, and an erasure of these would
    /// not find them in the recording.
    fn is_recorded(&self) -> bool {
        let agents = self.context.world().roster.agents();
        let readers = agents.iter().map(Some).chain([None]);
        let mut read = readers.filter_map(|agent| self.recollections.of(agent));
        let is_shared = |recalled: Arc<Recalled>| {
            recalled.key.as_ref().is_some_and(|key| matches!(key.of, MemoryOf::Shared(_)))
        };
        self.is_question_saved && !self.recollections.is_passing() && !read.any(is_shared)
    }

    async fn save_question(&self) -> Result<(), StoreError> {
        let context = &self.context;
        let item = context.item(ItemBody::UserMessage { text: context.question.clone() });
        let row = self.answer.row("running", None);
        context.emit_items(context.world().store.turn_save(&row, vec![item], None).await?);
        Ok(())
    }
}
