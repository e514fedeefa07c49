//! Runs a turn: saves the question, lets the supervisor answer, and ends the turn exactly once.

use std::{panic::AssertUnwindSafe, sync::Arc};

use contract::{AgentError, EventBody, ItemBody, MemoryHit, Push, RecordType, Stage, TurnId};
use futures::FutureExt;

use crate::{
    agents::{
        answer::AnswerBuilder,
        prompts::agents_of,
        supervisor::{Supervisor, single_agent},
    },
    context::egress::EgressSession,
    conversation::{
        recall::Recollections,
        recalled::{Recalled, keeps_nothing},
        refresh::MemoryKeeper,
    },
    destinations::keep_named_destinations,
    long_term::{
        recall::{search_for_turn, use_in_turn},
        sources::older_messages::MessageSource,
    },
    ports::{Agent, MemoryOf, Point, RecordDraft, StoreError},
    runner::services::RunnerServices,
    turn::recording::of_turn::{keep_recording, note_start},
    turn::{
        caller_records::add_caller,
        context::{TurnContext, TurnStart},
        outcome::End,
        versions::{not_kept_error, refusal_error},
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
        let agents = agents_of(&context);
        if let Some(replaced) = &context.replaces
            && let Err(end) = self.replace_question(replaced, single_agent(&agents)).await
        {
            return end;
        }
        note_start(&context).await;
        let recalled = match self.recollections.recall(&context, single_agent(&agents)).await {
            Ok(recalled) => recalled,
            Err(end) => return end,
        };
        let found = match self.save_and_search(&recalled).await {
            Ok(found) => found,
            Err(error) => return End::failed(error),
        };
        self.is_question_saved = true;
        if !self.recollections.is_passing() {
            keep_named_destinations(&context).await;
        }
        context.probe(Point::AfterUserMessage);
        shared.summaries.push(&context.session).await;
        if context.replaces.is_none() {
            self.record_start().await;
        }
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

    /// Stores the question, unless that was done already. The memories are searched meanwhile. If a
    /// server gets the question, the question is stored and recorded first, and None is returned.
    async fn save_and_search(
        &self,
        recalled: &Recalled,
    ) -> Result<Option<Vec<MemoryHit>>, StoreError> {
        let memories = &self.services.memories;
        if self.is_question_saved {
            return Ok(None);
        }
        if memories.index.embeds_here().await {
            let search = search_for_turn(memories, &self.context, recalled);
            let (saved, found) = tokio::join!(self.save_question(), search);
            return saved.map(|()| Some(found));
        }
        self.save_question().await.map(|()| None)
    }

    /// Records the question, and the turn that it replaces.
    async fn record_start(&self) {
        let context = &self.context;
        let wanted = context.wanted.as_ref().map(|agent| agent.0.clone()).unwrap_or_default();
        let mut started = RecordDraft::new(RecordType::RunStarted)
            .field("duration_ms", 0)
            .field("agent", wanted)
            .field("model", context.model.label());
        if let Some(replaced) = &context.replaces {
            started = started.field("replaces", replaced.as_str());
        }
        let started = add_caller(started, &context.caller.kind, context.world().profile.as_ref());
        context.record(started.commit("input", context.question.clone())).await;
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

    /// Stores the question of a turn that replaces another, which hides that one in the same
    /// transaction. The earlier messages are read afterwards, so that they contain no hidden ones.
    async fn replace_question(
        &mut self,
        replaced: &TurnId,
        agent: Option<&Agent>,
    ) -> Result<(), End> {
        let context = &self.context;
        let settings = context.world().profile.settings();
        let own = agent.and_then(|agent| agent.conversation.as_ref());
        if keeps_nothing(own.unwrap_or(&settings.conversation)) {
            return Err(End::failed(not_kept_error()));
        }
        let item = context.item(ItemBody::UserMessage { text: context.question.clone() });
        let row = self.answer.row("running", None);
        let (store, memory) = (&context.world().store, &self.services.conversation.memory);
        let saved = memory.exclusive(store.turn_replace(&row, vec![item], replaced)).await;
        let items =
            saved.map_err(End::failed)?.map_err(|refusal| End::failed(refusal_error(refusal)))?;
        context.world().events.push(Push::ItemsChanged { session: context.session.clone() });
        context.emit_items(items);
        self.is_question_saved = true;
        // Recorded now, because the earlier messages may turn out not to be readable.
        self.record_start().await;
        Ok(())
    }

    /// Whether the turn was to replace another and was refused. Such a turn stores no items,
    /// because a refused change changes no data.
    pub(super) fn is_refused(&self) -> bool {
        self.context.replaces.is_some() && !self.is_question_saved
    }

    async fn save_question(&self) -> Result<(), StoreError> {
        let context = &self.context;
        let item = context.item(ItemBody::UserMessage { text: context.question.clone() });
        let row = self.answer.row("running", None);
        context.emit_items(context.world().store.turn_save(&row, vec![item], None).await?);
        Ok(())
    }
}
