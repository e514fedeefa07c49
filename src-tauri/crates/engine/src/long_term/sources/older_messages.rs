//! Summarises the oldest messages outside of the window into long-term memories, one batch after
//! the other, after a turn. Outside content and actions that did not happen are omitted. If a
//! summary fails, the messages remain for a later attempt.

use std::sync::Arc;

use chrono::TimeDelta;
use contract::{
    Conversation, DESKTOP, Item, ItemBody, MemoryEntry, MemoryId, MemoryKind, NoticeLevel,
    RecordType, SummaryMethod, ToolOutcome, UpdateTiming,
};
use serde_json::json;

use crate::{
    conversation::{
        entries, heuristic,
        pack_egress::has_local_data,
        recalled::{PAGE, last_turn, summarises},
        refresh::MemoryKeeper,
        window,
    },
    long_term::memories::Memories,
    ports::{MemoryItem, MemoryOf, RecordDraft, Side, StoreError},
    turn::provenance::is_from_outside,
};

/// The number of messages outside the window, and the number of their tokens, at which a batch is
/// summarised.
const MESSAGES: u64 = 20;
const TOKENS: u64 = 4_000;
/// If a model's summaries keep failing until this multiple is waiting, the fixed rule is used.
const OVERDUE: u64 = 4;
/// The length of a summary in tokens.
const SUMMARY_TOKENS: u32 = 300;
/// The time after a failure during which no further attempt is made.
const PAUSE: TimeDelta = TimeDelta::minutes(10);

/// Creates long-term memories from a session's older messages, after a turn.
#[derive(Clone)]
pub(crate) struct MessageSource {
    pub(crate) keeper: MemoryKeeper,
    pub(crate) memories: Arc<Memories>,
}

impl MessageSource {
    /// Summarises the oldest batch of the session's messages if one is due. Waits for the summary
    /// only if the settings require summaries to be made before the next message.
    pub(crate) async fn memorise(&self, policy: &Conversation) {
        let context = &self.keeper.context;
        let is_ours = context.session.application() == DESKTOP && context.run().is_none();
        // Conversations that expire leave no long-term memories. A replay has no earlier memories,
        // and must not change the live model.
        let is_replay = self.memories.recorded.is_some();
        let is_bounded = policy.ttl_seconds > 0 || policy.max_items > 0;
        if is_replay
            || !is_ours
            || is_bounded
            || !summarises(policy)
            || !context.settings.memory.recall
        {
            return;
        }
        let (memoriser, method) = (self.clone(), policy.summary.update_method);
        let work = async move { memoriser.memorise_oldest(method).await };
        match policy.summary.update_timing {
            UpdateTiming::AfterTurn => work.await,
            UpdateTiming::AsyncPostTurn => drop(tokio::spawn(work)),
        }
    }

    async fn memorise_oldest(&self, method: SummaryMethod) {
        let key = format!("batch {}", self.keeper.context.session);
        let Some(_making) = self.keeper.services.memory.begin(&key) else { return };
        if let Err(error) = self.memorise_when_due(method).await {
            tracing::warn!(%error, "older messages could not be put into a memory");
        }
    }

    async fn memorise_when_due(&self, method: SummaryMethod) -> Result<(), StoreError> {
        let (context, memories) = (&self.keeper.context, &self.memories);
        let (pending, waiting) = self.items_outside_window().await?;
        let Some(batch) = oldest_batch(&pending) else { return Ok(()) };
        if memories.switch.is_off(&context.session).await? {
            return Ok(());
        }
        let now = context.world().clock.now();
        let paused_until = memories.paused_until(&context.session);
        if paused_until.is_some_and(|until| now < until)
            || context.services.switches.check_enabled().is_err()
        {
            return Ok(());
        }
        let readable: Vec<Arc<Item>> =
            batch.iter().map(|one| &one.item).filter(|item| may_memorise(item)).cloned().collect();
        let entries = entries::entries(&readable);
        let tools = context.world().tools.as_ref();
        let has_local_data = batch.iter().any(|one| has_local_data(tools, &one.item));
        let by_rule =
            || (heuristic::summary("", &entries, SUMMARY_TOKENS), SummaryMethod::Heuristic);
        let may_ask = method == SummaryMethod::Llm && self.keeper.may_ask(has_local_data);
        let (text, method) = match may_ask {
            false => by_rule(),
            true => match self.keeper.ask_for_summary(SUMMARY_TOKENS, "", &entries).await {
                Ok(text) => (text, SummaryMethod::Llm),
                Err(why) if waiting.0 >= MESSAGES * OVERDUE || waiting.1 >= TOKENS * OVERDUE => {
                    tracing::info!(%why, "the memory is made by rule");
                    by_rule()
                }
                Err(why) => {
                    memories.pause(&context.session, now + PAUSE);
                    let failed = RecordDraft::new(RecordType::Memory)
                        .field("action", "summary_failed")
                        .field("reason", why.as_str());
                    context.record(failed).await;
                    return Ok(());
                }
            },
        };
        self.store_batch(batch, text, method, has_local_data).await
    }

    /// Stores the summary of a batch, and the position up to which messages are summarised.
    async fn store_batch(
        &self,
        batch: &[MemoryItem],
        text: String,
        method: SummaryMethod,
        local_only: bool,
    ) -> Result<(), StoreError> {
        let context = &self.keeper.context;
        let text = context.services.secrets.matcher().redact_secrets(text.trim()).into_owned();
        let said = batch.iter().filter(|one| window::message(&one.item).is_some());
        let sources = said.map(|one| one.item.id.clone()).collect();
        let memory = MemoryEntry {
            id: MemoryId(context.world().ids.next("memory")),
            session: Some(context.session.clone()),
            kind: MemoryKind::Summary,
            text,
            sources,
            pinned: false,
            untrusted: batch.iter().any(|one| is_from_outside(&one.item)),
            local_only,
            created_at: context.world().clock.now(),
            edited_at: None,
        };
        let through = batch.last().map(|one| one.position);
        if !self.memories.store(&memory, through).await? {
            return Ok(());
        }
        let record = RecordDraft::new(RecordType::Memory)
            .field("action", "summarised")
            .field("memory", memory.id.as_str())
            .field("kind", json!(memory.kind))
            .field("scope", "session")
            .field("method", json!(method))
            .field("messages", memory.sources.len())
            .commit("text", memory.text);
        context.record(record).await;
        Ok(())
    }

    /// Returns the session's items that are outside the window and not in a memory yet, with the
    /// number of their messages and tokens.
    async fn items_outside_window(&self) -> Result<(Vec<MemoryItem>, (u64, u64)), StoreError> {
        let context = &self.keeper.context;
        let store = &context.world().store;
        let through = store.memorised_through(&context.session).await?;
        let of = MemoryOf::Session(context.session.clone());
        let mut pending = store.memory_items(&of, through, Side::Oldest, PAGE).await?;
        // A full page of the oldest items may not contain the newest items.
        let newest = match pending.len() < PAGE as usize {
            true => pending.clone(),
            false => store.memory_items(&of, through, Side::Newest, PAGE).await?,
        };
        let items: Vec<_> = newest.iter().map(|one| Arc::clone(&one.item)).collect();
        let start = window::start(&items, context.settings.limits.window_messages, 0);
        if let Some(first) = newest.get(start).map(|one| one.position) {
            pending.retain(|one| one.position < first);
        }
        let waiting = window::measure(pending.iter().map(|one| &one.item));
        Ok((pending, waiting))
    }
}

/// Whether a summary may read the item. Outside content, actions that did not happen, and failed
/// answers are omitted.
fn may_memorise(item: &Item) -> bool {
    match &item.body {
        ItemBody::ToolResult { outcome, .. } => {
            *outcome == ToolOutcome::Ok && !is_from_outside(item)
        }
        ItemBody::Notice { level, .. } => *level != NoticeLevel::Error,
        ItemBody::UserMessage { .. }
        | ItemBody::AssistantText { .. }
        | ItemBody::ToolCall { .. }
        | ItemBody::Approval { .. }
        | ItemBody::Redaction { .. }
        | ItemBody::Summary { .. } => true,
    }
}

/// Returns the oldest whole turns that form a batch. Returns none if too few messages are waiting.
fn oldest_batch(pending: &[MemoryItem]) -> Option<&[MemoryItem]> {
    let (mut messages, mut tokens) = (0, 0);
    for (index, one) in pending.iter().enumerate() {
        let begins = matches!(one.item.body, ItemBody::UserMessage { .. });
        if begins && (messages >= MESSAGES || tokens >= TOKENS) {
            return Some(&pending[..index]);
        }
        let (count, length) = window::measure(std::iter::once(&one.item));
        (messages, tokens) = (messages + count, tokens + length);
    }
    if pending.len() >= PAGE as usize {
        // A full page may end in the middle of a turn. Its whole turns form a batch even if they
        // have few messages, because the next page begins after them.
        let whole = last_turn(pending);
        return Some(if whole == 0 { pending } else { &pending[..whole] });
    }
    // The pending items end before a turn of the window, so the last turn is complete as well.
    (messages >= MESSAGES || tokens >= TOKENS).then_some(pending)
}
