//! Updates a memory after a turn: adds the turn, and makes a summary if one is due. If the summary
//! fails, nothing changes and the model continues to read the messages themselves.

use std::{sync::Arc, time::Duration};

use contract::{
    Conversation, ConversationMode, ItemBody, RecordType, SummaryMethod, SummaryPolicy,
    UpdateTiming, Usage,
};
use futures::{StreamExt, stream::BoxStream};
use serde_json::json;

use crate::{
    context::egress::EgressSession,
    conversation::{
        due::{self, Waiting},
        entries::{self, Entry},
        heuristic,
        key::Key,
        pack_egress::has_local_data,
        recall::Recollections,
        recalled::{PAGE, Recalled, fresh, last_turn, summarises, window_of},
        services::ConversationServices,
        window,
    },
    ports::{
        Memory, MemoryItem, MemoryOf, Message, Model as _, ModelError, ModelEvent, ModelRequest,
        RecordDraft, Side, StoreError,
    },
    turn::{context::TurnContext, refusals::millis},
};

const PROMPT: &str = include_str!("../../prompts/summary.md");
/// The time limit of a summary.
const PATIENCE: Duration = Duration::from_secs(60);
/// Tokens for the model's reasoning before it writes the summary. Reasoning counts as part of the
/// answer.
const THOUGHT: u32 = 8_000;
/// The tokens of messages that a summariser call reads, in addition to the old summary.
const READS: u64 = 12_000;

/// A new summary and the number of items that it covers.
struct NewSummary {
    items: usize,
    text: String,
    method: SummaryMethod,
}

/// Adds an ended turn to its memories.
#[derive(Clone)]
pub(crate) struct MemoryKeeper {
    pub(crate) context: Arc<TurnContext>,
    pub(crate) services: Arc<ConversationServices>,
    /// The id of the specialist that answered, for records.
    agent: String,
    /// The number of messages in the turn: the question, the texts beside calls, and the answer.
    messages: usize,
}

impl MemoryKeeper {
    /// Creates the keeper. `asides` is the number of texts beside calls.
    pub(crate) fn new(
        context: &Arc<TurnContext>,
        services: &Arc<ConversationServices>,
        agent: String,
        asides: usize,
    ) -> Self {
        let (context, services) = (Arc::clone(context), Arc::clone(services));
        Self { context, services, agent, messages: asides + 2 }
    }

    /// Stores the turn in every memory that it used, and makes summaries that are due. Deletes the
    /// items of a turn that must not be kept.
    pub(crate) async fn store_turn(&self, recollections: &Recollections) {
        if recollections.is_passing() {
            return self.services.passing.sweep(Some(&self.context.id)).await;
        }
        for recalled in recollections.all() {
            let Some(key) = recalled.key.clone() else { continue };
            self.keep_turn_in(key, recalled).await;
        }
    }

    async fn keep_turn_in(&self, key: Key, recalled: &Recalled) {
        let policy = &recalled.policy;
        if let Err(error) = self.join_memory(&key, policy).await {
            // The answer and the transcript are saved. Only the memory for the next turn may lack
            // this turn.
            tracing::warn!(%error, "a turn could not be added to its memory");
            self.context
                .record(self.memory_record(&key, "not_kept").field("reason", error.to_string()))
                .await;
        }
        if !summarises(policy) || self.is_surely_not_due(&key, recalled) {
            return;
        }
        match policy.summary.update_timing {
            UpdateTiming::AfterTurn => self.refresh(&key, policy).await,
            UpdateTiming::AsyncPostTurn => {
                let (keeper, policy) = (self.clone(), policy.clone());
                tokio::spawn(async move { keeper.refresh(&key, &policy).await });
            }
        }
    }

    /// Whether the turn's own view of the memory proves that no summary is due, so that the items
    /// need not be read. This requires that the turn saw all items after the summary and that no
    /// other session adds to the memory.
    fn is_surely_not_due(&self, key: &Key, recalled: &Recalled) -> bool {
        let policy = &recalled.policy;
        let own = u32::try_from(self.messages).unwrap_or(u32::MAX);
        let window =
            window_of(policy, self.context.settings.limits.window_messages).checked_sub(own);
        let (ConversationMode::SummaryBuffer, 0, MemoryOf::Session(_), Some(window)) =
            (policy.mode, policy.window_tokens, &key.of, window)
        else {
            return false;
        };
        let start = window::start(&recalled.items, window, 0);
        let (messages, tokens) = window::measure(&recalled.items[..start]);
        let memory = recalled.memory.as_ref();
        let (tried_at, summarised_at) = (
            memory.and_then(|memory| memory.tried_at),
            memory.and_then(|memory| memory.summarised_at),
        );
        !due::due(
            &policy.summary,
            Waiting { messages, tokens, tried_at, summarised_at },
            self.context.world().clock.now(),
        )
    }

    async fn join_memory(&self, key: &Key, policy: &Conversation) -> Result<(), StoreError> {
        let store = &self.context.world().store;
        if let MemoryOf::Shared(name) = &key.of {
            store.memory_join(name, &self.context.id).await?;
        }
        // A memory of a single session without an expiry or a size limit needs no row before its
        // first summary.
        if policy.ttl_seconds == 0
            && policy.max_items == 0
            && matches!(key.of, MemoryOf::Session(_))
        {
            return Ok(());
        }
        let now = self.context.world().clock.now();
        let _one_at_a_time = self.services.memory.rows.lock().await;
        let mut row = store.memory(&key.text).await?.unwrap_or_else(|| fresh(key, now));
        row.updated_at = now;
        store.memory_put(&row, policy.max_items).await
    }

    async fn refresh(&self, key: &Key, policy: &Conversation) {
        // Another turn is already making this summary. A second summary would cover the same items.
        let Some(_making) = self.services.memory.begin(&key.text) else { return };
        if let Err(error) = self.refresh_when_due(key, policy).await {
            tracing::warn!(%error, "a summary could not be looked after");
        }
    }

    async fn refresh_when_due(&self, key: &Key, policy: &Conversation) -> Result<(), StoreError> {
        let store = &self.context.world().store;
        let memory = store
            .memory(&key.text)
            .await?
            .unwrap_or_else(|| fresh(key, self.context.world().clock.now()));
        if !memory.live {
            return Ok(());
        }
        // The oldest items are read, because the summary must cover consecutive items.
        let mut pending = store.memory_items(&key.of, memory.through, Side::Oldest, PAGE).await?;
        let full = PAGE as usize;
        if policy.mode == ConversationMode::SummaryBuffer {
            // The window is counted from the newest items, which a full page of the oldest items
            // may not contain.
            let beyond = if pending.len() < full {
                None
            } else {
                Some(store.memory_items(&key.of, memory.through, Side::Newest, PAGE).await?)
            };
            let newest = beyond.as_ref().unwrap_or(&pending);
            let items: Vec<_> = newest.iter().map(|one| one.item.clone()).collect();
            let start = window::start(
                &items,
                window_of(policy, self.context.settings.limits.window_messages),
                policy.window_tokens,
            );
            if let Some(first) = newest.get(start).map(|one| one.position) {
                pending.retain(|one| one.position < first);
            }
        }
        if pending.len() == full {
            // A page may end in the middle of a turn.
            pending.truncate(last_turn(&pending));
        }
        let (messages, tokens) = window::measure(pending.iter().map(|one| &one.item));
        let waiting = Waiting {
            messages,
            tokens,
            tried_at: memory.tried_at,
            summarised_at: memory.summarised_at,
        };
        if !due::due(&policy.summary, waiting, self.context.world().clock.now())
            || self.context.services.switches.check_enabled().is_err()
        {
            return Ok(());
        }
        match self
            .make_summary(
                &policy.summary,
                &memory,
                &pending,
                due::is_overdue(&policy.summary, waiting),
            )
            .await
        {
            Ok(made) => {
                self.store_summary(key, policy.max_items, &memory, &pending[..made.items], made)
                    .await
            }
            Err(why) => self.note_failed_summary(key, policy.max_items, why).await,
        }
    }

    /// Makes the new summary of the waiting items.
    async fn make_summary(
        &self,
        policy: &SummaryPolicy,
        memory: &Memory,
        pending: &[MemoryItem],
        overdue: bool,
    ) -> Result<NewSummary, contract::Text> {
        let by_rule = || {
            let text = heuristic::summary(
                &memory.summary,
                &entries::entries(pending.iter().map(|one| &one.item)),
                policy.max_tokens,
            );
            NewSummary { items: pending.len(), text, method: SummaryMethod::Heuristic }
        };
        let tools = self.context.world().tools.as_ref();
        let has_local_data =
            memory.local_only || pending.iter().any(|one| has_local_data(tools, &one.item));
        if policy.update_method == SummaryMethod::Heuristic || !self.may_ask(has_local_data) {
            return Ok(by_rule());
        }
        let items = count_whole_turns(pending);
        let entries = entries::entries(pending[..items].iter().map(|one| &one.item));
        match self.ask_for_summary(policy.max_tokens, &memory.summary, &entries).await {
            Ok(text) => Ok(NewSummary { items, text, method: SummaryMethod::Llm }),
            Err(why) if overdue => {
                tracing::info!(%why, "the summary is made by rule");
                Ok(by_rule())
            }
            Err(why) => Err(why),
        }
    }

    /// Whether a model may summarise. The built-in model makes no summaries, and data that must
    /// stay on this computer is not sent to a model elsewhere.
    pub(crate) fn may_ask(&self, has_local_data: bool) -> bool {
        let (model, summariser) = (&self.context.model, &self.context.summariser);
        !model.in_process()
            && !summariser.in_process()
            && (summariser.is_local() || !has_local_data)
    }

    pub(crate) async fn ask_for_summary(
        &self,
        most: u32,
        notes: &str,
        entries: &[Entry],
    ) -> Result<String, contract::Text> {
        let model = &self.context.summariser;
        let said = |error: contract::AgentError| error.text();
        self.context.services.models.check_egress(model.as_ref()).map_err(said)?;
        model.prepare_call().await;
        let words = EgressSession::of_session(
            &self.services.egress,
            &self.context.session,
            self.context.redaction_level(),
            model.reads_values(),
        )
        .await
        .map_err(|error| error.to_string())?;
        let messages: Vec<_> =
            entries.iter().map(|entry| json!({"role": entry.role, "text": entry.text})).collect();
        let input = words.redact_value(json!({"notes": notes, "messages": messages})).0;
        let prompt = PROMPT.trim_end().replace("{words}", &(most * 3 / 4).to_string());
        let request = ModelRequest {
            messages: vec![
                Message::System { text: words.redact_name(&prompt) },
                Message::User { text: input },
            ],
            tools: Vec::new(),
            max_output_tokens: Some(if model.capabilities().reasoning {
                most.saturating_add(THOUGHT)
            } else {
                most
            }),
            locale: self.context.locale.clone(),
            now: Some(self.context.world().clock.now()),
            time_zone: self.context.world().profile.time_zone(),
            ..ModelRequest::default()
        };
        words.store_numbers().await.map_err(|error| error.to_string())?;
        let (mut text, mut usage) = (String::new(), Usage::default());
        let began = tokio::time::Instant::now();
        let stream = model.open(request).await.map_err(|error| error.message)?;
        let failed = match tokio::time::timeout(
            PATIENCE,
            read_answer(stream, &mut text, &mut usage),
        )
        .await
        {
            Ok(read) => read.err(),
            Err(_) => Some("It took too long.".into()),
        };
        let record = RecordDraft::new(RecordType::ModelCall)
            .field("model", model.label())
            .field("purpose", "summary")
            .field("level", if failed.is_none() { "info" } else { "error" })
            .field("duration_ms", millis(began.elapsed()))
            .field("agent", self.agent.clone())
            .field("status", if failed.is_none() { "ok" } else { "error" })
            .field("local", model.is_local())
            .field("redaction", json!(words.level()))
            .field("tokens_in", usage.input_tokens)
            .field("tokens_out", usage.output_tokens);
        self.context.record(record).await;
        let text = words.restorer().restore(text.trim());
        match failed {
            Some(why) => Err(why),
            None if text.is_empty() => Err("The model gave no summary.".into()),
            None => Ok(cut_to_tokens(text, most)),
        }
    }

    /// Stores a summary that replaces exactly the items that it covers. Later items are kept. Does
    /// nothing if the memory was deleted or summarised by another task in the meantime, or if other
    /// messages are shown now.
    async fn store_summary(
        &self,
        key: &Key,
        max_items: u32,
        before: &Memory,
        covered: &[MemoryItem],
        made: NewSummary,
    ) -> Result<(), StoreError> {
        let world = self.context.world();
        let store = &world.store;
        let text = self.context.services.secrets.matcher().redact_secrets(&made.text).into_owned();
        let tools = world.tools.as_ref();
        let after =
            self.services.memory.with_new_summary(tools, before, covered, text, made.method);
        {
            let _one_at_a_time = self.services.memory.rows.lock().await;
            let now = store.memory(&key.text).await?;
            let memory = &self.services.memory;
            if self.is_gone(key).await?
                || !memory.still_has(&key.of, before.through, covered).await?
                || now.as_ref().is_some_and(|row| {
                    !row.live || row.through != before.through || row.since != before.since
                })
            {
                return Ok(());
            }
            let updated_at = now.map_or(after.updated_at, |row| row.updated_at);
            store.memory_put(&Memory { updated_at, ..after.clone() }, max_items).await?;
        }
        let record = self
            .memory_record(key, "summarised")
            .field("method", json!(after.method))
            .field("messages", after.messages)
            .commit("summary", after.summary);
        self.context.record(record).await;
        Ok(())
    }

    /// Whether the session was deleted in the meantime, so that its memory must not be stored
    /// again.
    async fn is_gone(&self, key: &Key) -> Result<bool, StoreError> {
        match &key.of {
            MemoryOf::Session(session) => {
                Ok(self.context.world().store.session(session).await?.is_none())
            }
            MemoryOf::Shared(_) => Ok(false),
        }
    }

    /// Records that a summary failed. The old summary and all later messages are kept.
    async fn note_failed_summary(
        &self,
        key: &Key,
        max_items: u32,
        why: contract::Text,
    ) -> Result<(), StoreError> {
        self.context
            .record(self.memory_record(key, "summary_failed").field("reason", why.as_str()))
            .await;
        let store = &self.context.world().store;
        let now = self.context.world().clock.now();
        let _one_at_a_time = self.services.memory.rows.lock().await;
        if self.is_gone(key).await? {
            return Ok(());
        }
        let mut row = store.memory(&key.text).await?.unwrap_or_else(|| fresh(key, now));
        // Consecutive failures are shown to the user only once.
        row.told &= row.failures > 0;
        row.failures += 1;
        row.failure = Some(why);
        row.tried_at = Some(now);
        store.memory_put(&row, max_items).await
    }

    fn memory_record(&self, key: &Key, action: &str) -> RecordDraft {
        RecordDraft::new(RecordType::Memory).field("action", action).field("key", key.text.as_str())
    }
}

/// Reads a model's answer to its end. Returns its text and its usage.
async fn read_answer(
    mut stream: BoxStream<'static, Result<ModelEvent, ModelError>>,
    text: &mut String,
    usage: &mut Usage,
) -> Result<(), contract::Text> {
    while let Some(event) = stream.next().await {
        match event.map_err(|error| error.message)? {
            ModelEvent::Text(piece) => text.push_str(&piece),
            ModelEvent::WasThought => text.clear(),
            ModelEvent::Done { usage: used, .. } => *usage = used,
            ModelEvent::Reasoning(_)
            | ModelEvent::Call(_)
            | ModelEvent::Choices(_)
            | ModelEvent::Opaque(_)
            | ModelEvent::LocalData
            | ModelEvent::SecretRemoved
            | ModelEvent::Loading
            | ModelEvent::FellBack { .. } => {}
        }
    }
    Ok(())
}

/// Returns the number of the oldest items that a summariser call reads: whole turns, and at least
/// one.
fn count_whole_turns(pending: &[MemoryItem]) -> usize {
    let mut sum = 0;
    let mut end = 0;
    for (index, one) in pending.iter().enumerate() {
        let begins = matches!(one.item.body, ItemBody::UserMessage { .. });
        if begins && index > 0 {
            end = index;
        }
        sum += entries::entries(std::iter::once(&one.item))
            .iter()
            .map(|entry| window::tokens(&entry.text))
            .sum::<u64>();
        if sum > READS && end > 0 {
            return end;
        }
    }
    pending.len()
}

/// Shortens a summary that exceeds the requested length.
fn cut_to_tokens(text: String, most_tokens: u32) -> String {
    match text.char_indices().nth(most_tokens as usize * 4) {
        Some((at, _)) => text[..at].to_owned(),
        None => text,
    }
}
