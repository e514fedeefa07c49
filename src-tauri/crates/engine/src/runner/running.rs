//! Runs a turn: saves the question, lets the supervisor answer, and ends the turn exactly once.

use std::{panic::AssertUnwindSafe, sync::Arc};

use contract::{AgentError, EventBody, ItemBody, RecordType, Stage};
use futures::FutureExt;

use crate::{
    agents::{
        answer::AnswerBuilder,
        prompts::agents_of,
        supervisor::{Supervisor, single_agent},
    },
    context::egress::EgressSession,
    conversation::{recall::Recollections, recalled::Recalled, refresh::MemoryKeeper},
    destinations::keep_named_destinations,
    long_term::{
        recall::{search_for_turn, use_in_turn},
        sources::older_messages::MessageSource,
    },
    ports::{MemoryOf, Point, RecordDraft, StoreError},
    runner::services::RunnerServices,
    turn::recording::of_turn::{keep_recording, note_start},
    turn::{
        caller_records::add_caller,
        context::{TurnContext, TurnStart},
        outcome::End,
    },
};

/// A running turn, which owns the parts that must survive a panic in the middle of the turn.
pub(crate) struct Turn {
    services: Arc<RunnerServices>,
    pub(crate) context: Arc<TurnContext>,
    pub(crate) answer: AnswerBuilder,
    /// Creates every text that the model reads. It is set before the first round.
    pub(crate) words: Option<Arc<EgressSession>>,
    recollections: Recollections,
    /// Whether the question is stored.
    is_question_saved: bool,
}

impl Turn {
    pub(crate) fn new(services: &Arc<RunnerServices>, start: TurnStart) -> Self {
        let context = Arc::new(TurnContext::new(&services.shared, start));
        let answer = AnswerBuilder::new(&context);
        Self {
            services: Arc::clone(services),
            context,
            answer,
            words: None,
            recollections: Recollections::new(&services.conversation),
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
        keep_recording(&self.context, is_recorded).await;
        self.finish(end).await;
        self.keep_in_memories().await;
    }

    /// Adds the turn to its memories, and creates long-term memories from older messages.
    async fn keep_in_memories(&self) {
        let (answer, conversation) = (&self.answer, &self.services.conversation);
        let keeper = MemoryKeeper::new(
            &self.context,
            conversation,
            answer.agent_id(),
            answer.asides().len(),
        );
        keeper.store_turn(&self.recollections).await;
        if let Some(recalled) = self.recollections.of(None)
            && !self.recollections.is_passing()
        {
            let memories = Arc::clone(&self.services.memories);
            MessageSource { keeper, memories }.memorise(&recalled.policy).await;
        }
    }

    async fn answer(&mut self) -> End {
        let (context, services) = (Arc::clone(&self.context), Arc::clone(&self.services));
        let (shared, memories) = (&services.shared, &services.memories);
        context.probe(Point::BeforeUserMessage);
        context.emit(EventBody::Status { stage: Stage::Started, text: None });
        let roster = context.world().roster.as_ref();
        if let Some(Err(error)) =
            context.wanted.as_ref().map(|id| shared.switches.check_specialist(roster, id))
        {
            return End::failed(error);
        }
        note_start(&context).await;
        let agents = agents_of(&context);
        let recalled = match self.recollections.recall(&context, single_agent(&agents)).await {
            Ok(recalled) => recalled,
            Err(end) => return end,
        };
        // The memories are searched while the question is being stored. If a server gets the
        // question, the question is stored and recorded first.
        let (saved, found) = if memories.index.embeds_here().await {
            let search = search_for_turn(memories, &context, &recalled);
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
        shared.summaries.push(&context.session).await;
        let wanted = context.wanted.as_ref().map(|agent| agent.0.clone()).unwrap_or_default();
        let started = RecordDraft::new(RecordType::RunStarted)
            .field("duration_ms", 0)
            .field("agent", wanted)
            .field("model", context.model.label());
        let started = add_caller(started, &context.caller.kind, context.world().profile.as_ref());
        context.record(started.commit("input", context.question.clone())).await;
        self.recollections.show_memory(&context, &recalled).await;
        let found = match found {
            Some(found) => found,
            None => search_for_turn(memories, &context, &recalled).await,
        };
        let remembered = use_in_turn(&context, found).await;
        self.answer.remembered = remembered.iter().map(|hit| hit.memory.clone()).collect();
        self.recollections.remembered = remembered;
        let words = match EgressSession::open(&services.conversation.egress, &context).await {
            Ok(words) => Arc::clone(self.words.insert(Arc::new(words))),
            Err(end) => return end,
        };
        let supervisor = Supervisor::new(
            &context,
            &services.calls,
            &words,
            &mut self.answer,
            &mut self.recollections,
        );
        let end = supervisor.answer_message(&agents, &recalled).await;
        self.end_within_budget(end)
    }

    /// Whether the turn's recording is stored. This requires that the turn itself is stored and has
    /// read only messages of its own session, because a replay does not have messages of other
    /// sessions, and an erasure of those sessions would not find the recording.
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
