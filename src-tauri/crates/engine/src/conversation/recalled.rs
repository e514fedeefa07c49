//! The earlier messages that a model sees: recent items and a summary of the older ones. The
//! summary replaces exactly the items that it covers; all other items are shown. This module does
//! not depend on prompts, rounds or tools.

use std::{collections::HashSet, sync::Arc};

use chrono::TimeDelta;
use contract::{
    AgentId, Conversation, ConversationMode, ConversationScope, Item, ItemBody, SummaryMethod,
    TurnId,
};
use parking_lot::Mutex;
use serde_json::Value;

use crate::{
    conversation::{
        entries, heuristic,
        key::{self, Key, VISITOR},
        pack_egress::has_local_data,
        window,
    },
    ports::{
        Agent, AuditLog, Clock, Durability, Memory, MemoryItem, MemoryOf, Profile, RecordDraft,
        Side, Store, StoreError, Tools, World,
    },
    turn::{context::TurnContext, provenance::is_from_outside},
};

/// The most items that are read for a turn.
pub(crate) const PAGE: u32 = 500;

/// The memory of conversations: the earlier messages of turns, and summaries of the older ones.
pub(crate) struct ConversationMemory {
    pub(super) store: Arc<dyn Store>,
    audit: Arc<dyn AuditLog>,
    profile: Arc<dyn Profile>,
    clock: Arc<dyn Clock>,
    /// The lock for reading, changing and writing back memory rows. It is never held during a model
    /// call.
    pub(crate) rows: tokio::sync::Mutex<()>,
    /// The keys whose summary is being made.
    making: Mutex<HashSet<String>>,
}

impl ConversationMemory {
    pub(crate) fn new(world: &World) -> Self {
        Self {
            store: Arc::clone(&world.store),
            audit: Arc::clone(&world.audit),
            profile: Arc::clone(&world.profile),
            clock: Arc::clone(&world.clock),
            rows: tokio::sync::Mutex::default(),
            making: Mutex::default(),
        }
    }

    /// Runs work during which no memory is written: the deletion of a session, or a change of its
    /// shown messages.
    pub(crate) async fn exclusive<T>(&self, work: impl Future<Output = T>) -> T {
        let _one_at_a_time = self.rows.lock().await;
        work.await
    }

    /// Whether a memory still has exactly these items after a position. Other messages may be shown
    /// since the items were read. The caller must hold the lock of the rows.
    pub(crate) async fn still_has(
        &self,
        of: &MemoryOf,
        after: u64,
        items: &[MemoryItem],
    ) -> Result<bool, StoreError> {
        let limit = u32::try_from(items.len()).unwrap_or(u32::MAX);
        let now = self.store.memory_items(of, after, Side::Oldest, limit).await?;
        let places = |items: &[MemoryItem]| -> Vec<_> {
            items.iter().map(|one| (one.position, one.item.id.clone())).collect()
        };
        Ok(places(now.as_slice()) == places(items))
    }
}

/// The earlier messages that a turn sees under the same memory settings.
#[derive(Debug, Default)]
pub(crate) struct Recalled {
    pub(crate) policy: Conversation,
    /// The specialist whose own settings apply. None for the profile's settings.
    pub(crate) agent: Option<AgentId>,
    /// The memory's key. None if the turn sees no earlier messages, so that no memory is stored for
    /// the next turn.
    pub(crate) key: Option<Key>,
    /// The earlier items, in ascending order, for the model and for the turn's checks.
    pub(crate) items: Vec<Arc<Item>>,
    pub(crate) memory: Option<Memory>,
}

impl Recalled {
    /// Returns the summary, if there is one.
    pub(crate) fn summary(&self) -> Option<&str> {
        self.memory.as_ref().map(|memory| memory.summary.as_str()).filter(|text| !text.is_empty())
    }

    /// Whether the summary may contain untrusted content.
    pub(crate) fn untrusted(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.untrusted && !memory.summary.is_empty())
    }
}

impl Recalled {
    /// Whether the summary may contain data that must stay on this computer.
    pub(crate) fn local_only(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.local_only && !memory.summary.is_empty())
    }
}

pub(crate) fn summarises(policy: &Conversation) -> bool {
    matches!(policy.mode, ConversationMode::Summary | ConversationMode::SummaryBuffer)
}

/// Returns the number of messages in the policy's window.
pub(crate) fn window_of(policy: &Conversation, limit: u32) -> u32 {
    if policy.window_messages == 0 { limit } else { policy.window_messages }
}

/// Returns the index at which the last turn begins, or the end if there is only one turn.
pub(crate) fn last_turn(items: &[MemoryItem]) -> usize {
    items
        .iter()
        .rposition(|one| matches!(one.item.body, ItemBody::UserMessage { .. }))
        .filter(|at| *at > 0)
        .unwrap_or(items.len())
}

pub(crate) fn fresh(key: &Key, now: chrono::DateTime<chrono::Utc>) -> Memory {
    let session = match &key.of {
        MemoryOf::Session(session) => Some(session.clone()),
        MemoryOf::Shared(_) => None,
    };
    Memory {
        key: key.text.clone(),
        session,
        agent: key.agent.clone(),
        live: true,
        updated_at: now,
        since: 0,
        through: 0,
        summary: String::new(),
        messages: 0,
        method: SummaryMethod::Heuristic,
        untrusted: false,
        local_only: false,
        shown: true,
        told: true,
        failures: 0,
        failure: None,
        tried_at: None,
        summarised_at: None,
    }
}

/// Whether these settings do not allow storing conversations.
pub(crate) fn keeps_nothing(policy: &Conversation) -> bool {
    policy.mode == ConversationMode::NoNeed || policy.scope == ConversationScope::PerRequest
}

impl ConversationMemory {
    /// Returns the earlier messages for a turn, by the profile's settings or a specialist's own.
    pub(crate) async fn recall(
        &self,
        context: &TurnContext,
        own: Option<&Agent>,
    ) -> Result<Recalled, StoreError> {
        let (session, turn) = (&context.session, &context.id);
        let limit = context.settings.limits.window_messages;
        let settings = self.profile.settings();
        let own =
            own.and_then(|agent| agent.conversation.as_ref().map(|policy| (&agent.id, policy)));
        let policy = own.map_or(&settings.conversation, |(_, policy)| policy);
        let agent = own.map(|(id, _)| id.clone());
        let nothing =
            || Recalled { policy: policy.clone(), agent: agent.clone(), ..Recalled::default() };
        let (store, profile) = (&self.store, &self.profile);
        let mut known = profile.caller_values(&profile.locale());
        let names: Vec<&str> = key::member(policy).into_iter().chain([VISITOR]).collect();
        let mut values = store.session_values_of(session, &names).await?;
        let visitor = values.remove(VISITOR);
        // Values of the session take precedence over values of the profile.
        known.extend(values);
        let visitor = visitor.as_ref().and_then(Value::as_str);
        let Some(key) =
            key::of(policy, session, &known, visitor).map(|key| key.of_agent(agent.as_ref()))
        else {
            return Ok(nothing());
        };
        let memory = self.current_memory(&key, policy, turn).await?;
        let since = memory.as_ref().map_or(0, |memory| memory.since);
        let newest = async |messages: u32, tokens: u32| {
            // A turn rarely has more than ten items per message. Items beyond this number are
            // outside the window in any case.
            let most = messages.saturating_mul(10).clamp(20, PAGE);
            let mut items = items_of(store.memory_items(&key.of, since, Side::Newest, most).await?);
            // The current turn may already have items when a specialist is asked.
            items.retain(|item| item.turn != *turn);
            items.drain(..window::start(&items, messages, tokens));
            Ok(items)
        };
        let (items, memory) = match policy.mode {
            ConversationMode::NoNeed => return Ok(nothing()),
            ConversationMode::Buffer => {
                (newest(policy.max_messages, policy.max_tokens).await?, None)
            }
            ConversationMode::BufferWindow => {
                (newest(window_of(policy, limit), policy.window_tokens).await?, None)
            }
            ConversationMode::Summary | ConversationMode::SummaryBuffer => {
                let tools = context.world().tools.as_ref();
                let (mut items, memory) =
                    self.items_after_summary(tools, &key, memory, policy).await?;
                items.retain(|item| item.turn != *turn);
                (items, memory)
            }
        };
        Ok(Recalled { key: Some(key), items, memory, ..nothing() })
    }

    /// Returns the current memory. If the memory has expired or was deleted, a new memory begins
    /// after the existing items.
    async fn current_memory(
        &self,
        key: &Key,
        policy: &Conversation,
        turn: &TurnId,
    ) -> Result<Option<Memory>, StoreError> {
        let store = &self.store;
        let Some(memory) = store.memory(&key.text).await? else { return Ok(None) };
        let now = self.clock.now();
        let ttl = TimeDelta::try_seconds(i64::try_from(policy.ttl_seconds).unwrap_or(i64::MAX))
            .unwrap_or(TimeDelta::MAX);
        let too_old = policy.ttl_seconds > 0 && now - memory.updated_at > ttl;
        if memory.live && !too_old {
            return Ok(Some(memory));
        }
        // The items remain in the transcript. The new memory begins after them, also after those
        // that are not shown now, because a switch can show them again.
        let last = self.end_before(&key.of, turn).await?;
        let anew = Memory { since: last, through: last, ..fresh(key, now) };
        let _one_at_a_time = self.rows.lock().await;
        store.memory_put(&anew, 0).await?;
        let reason = if memory.live { "ttl" } else { "forgotten" };
        self.note_change(
            RecordDraft::new(contract::RecordType::Memory)
                .field("action", "started_anew")
                .field("key", key.text.as_str())
                .field("reason", reason),
        )
        .await;
        Ok(Some(anew))
    }

    /// Returns the position of the newest item before a running turn. The items of the turn itself
    /// belong to the new memory.
    async fn end_before(&self, of: &MemoryOf, turn: &TurnId) -> Result<u64, StoreError> {
        let end = self.store.memory_end(of).await?;
        // A shared memory gets the items of a turn after its end.
        let MemoryOf::Session(_) = of else { return Ok(end) };
        let own = self.store.items_of_turn(turn).await?;
        Ok(own.first().map_or(end, |first| end.min(first.seq.saturating_sub(1))))
    }

    /// Returns all items that the summary does not cover. If they exceed a page, as in a long
    /// conversation that never had a summary, the oldest items are summarised by the fixed rule.
    /// Each item is summarised only once, so the cost does not recur in every turn.
    async fn items_after_summary(
        &self,
        tools: &dyn Tools,
        key: &Key,
        memory: Option<Memory>,
        policy: &Conversation,
    ) -> Result<(Vec<Arc<Item>>, Option<Memory>), StoreError> {
        let store = &self.store;
        let mut memory = memory;
        loop {
            let through = memory.as_ref().map_or(0, |memory| memory.through);
            // An additional item shows whether there are more items than a page.
            let items = store.memory_items(&key.of, through, Side::Newest, PAGE + 1).await?;
            if items.len() <= PAGE as usize {
                return Ok((items_of(items), memory));
            }
            let oldest = store.memory_items(&key.of, through, Side::Oldest, PAGE).await?;
            let before = memory.unwrap_or_else(|| fresh(key, self.clock.now()));
            let covered = &oldest[..last_turn(&oldest)];
            let text = heuristic::summary(
                &before.summary,
                &entries::entries(covered.iter().map(|one| &one.item)),
                policy.summary.max_tokens,
            );
            let after =
                self.with_new_summary(tools, &before, covered, text, SummaryMethod::Heuristic);
            let _one_at_a_time = self.rows.lock().await;
            // Another session that shares the memory may show other messages since the items were
            // read.
            if self.still_has(&key.of, through, covered).await? {
                store.memory_put(&after, 0).await?;
                memory = Some(after);
            } else {
                memory = store.memory(&key.text).await?;
            }
        }
    }

    /// Returns the memory after the next items are covered by a new summary.
    pub(crate) fn with_new_summary(
        &self,
        tools: &dyn Tools,
        before: &Memory,
        covered: &[MemoryItem],
        summary: String,
        method: SummaryMethod,
    ) -> Memory {
        let now = self.clock.now();
        Memory {
            through: covered.last().map_or(before.through, |one| one.position),
            messages: before.messages + window::measure(covered.iter().map(|one| &one.item)).0,
            // A mark is never removed, because the new summary is created from the old summary.
            untrusted: before.untrusted || covered.iter().any(|one| is_from_outside(&one.item)),
            local_only: before.local_only
                || covered.iter().any(|one| has_local_data(tools, &one.item)),
            summary,
            method,
            shown: false,
            told: true,
            failures: 0,
            failure: None,
            tried_at: Some(now),
            summarised_at: Some(now),
            ..before.clone()
        }
    }

    pub(crate) async fn note_change(&self, record: RecordDraft) {
        if let Err(error) = self.audit.append(record, Durability::Grouped).await {
            tracing::warn!(%error, "a change of a memory could not be recorded");
        }
    }
}

impl ConversationMemory {
    /// Marks a key whose memory is being summarised. Returns none if the key is already marked.
    pub(crate) fn begin(self: &Arc<Self>, key: &str) -> Option<Making> {
        let new = self.making.lock().insert(key.to_owned());
        new.then(|| Making { memory: Arc::clone(self), key: key.to_owned() })
    }
}

/// The mark of a key whose memory is being summarised. Dropping this value removes the mark.
pub(crate) struct Making {
    memory: Arc<ConversationMemory>,
    key: String,
}

impl Drop for Making {
    fn drop(&mut self) {
        self.memory.making.lock().remove(&self.key);
    }
}

fn items_of(items: Vec<MemoryItem>) -> Vec<Arc<Item>> {
    items.into_iter().map(|one| one.item).collect()
}
