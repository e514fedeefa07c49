//! Long-term memories: stores, finds and deletes them, and records each read and write. This module
//! does not depend on prompts or turns.

use std::{collections::HashMap, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use contract::{
    AgentError, DESKTOP, ItemBody, MEMORY_CHARS, MemoryAddParams, MemoryEditParams, MemoryEntry,
    MemoryHit, MemoryId, MemoryKind, MemoryListParams, MemoryListResponse, MemoryPinParams,
    MemorySearchParams, MemorySearchResponse, MemorySource, MemoryUsedParams, MemoryUsedResponse,
    Reason, RecordType, SessionId, text,
};
use serde_json::json;

use crate::{
    conversation::{pack_egress::has_local_data, recalled::keeps_nothing},
    long_term::{
        fusion,
        index::VectorIndex,
        records::{read_record, record_memory},
        switch::MemorySwitch,
    },
    ports::{MemoryReach, MemoryVector, RecordDraft, StoreError, TurnContent, World},
    turn::{provenance::is_from_outside, secrets::KnownSecrets},
};

/// The number of memories that a search returns.
pub(crate) const MOST_HITS: u32 = 5;
/// The number of candidates that each of the two searches returns.
const CANDIDATES: u32 = 50;
/// The number of items that are searched for the source of a note.
const NEAR_ITEMS: u32 = 50;

/// The long-term memories of the profile.
pub struct Memories {
    world: World,
    secrets: Arc<KnownSecrets>,
    /// The index of the vectors.
    pub index: Arc<VectorIndex>,
    /// The switch for individual sessions.
    pub switch: MemorySwitch,
    /// In a replay: the memories that matched the message.
    pub(crate) recorded: Option<Vec<MemoryHit>>,
    /// The sessions whose last summary for a memory failed, with the time of the next attempt.
    paused: parking_lot::Mutex<HashMap<SessionId, DateTime<Utc>>>,
}

/// The caller of a search, for its record.
struct Reader<'a> {
    action: &'a str,
    session: Option<&'a SessionId>,
}

impl Memories {
    pub(crate) fn new(
        world: &World,
        secrets: &Arc<KnownSecrets>,
        index: VectorIndex,
        switch: MemorySwitch,
        recorded: Option<Vec<MemoryHit>>,
    ) -> Self {
        Self {
            world: world.clone(),
            secrets: Arc::clone(secrets),
            index: Arc::new(index),
            switch,
            recorded,
            paused: parking_lot::Mutex::default(),
        }
    }

    /// Returns the time of the next attempt after a failure.
    pub(crate) fn paused_until(&self, session: &SessionId) -> Option<DateTime<Utc>> {
        self.paused.lock().get(session).copied()
    }

    /// Records that an attempt failed. The next attempt is not made before `until`.
    pub(crate) fn pause(&self, session: &SessionId, until: DateTime<Utc>) {
        let mut paused = self.paused.lock();
        // This map is not notified of the end of sessions, so old pauses are removed here.
        paused.retain(|_, other| *other > until - TimeDelta::days(1));
        paused.insert(session.clone(), until);
    }

    /// Returns a page of the memories: pinned memories first, then newest first.
    pub async fn list(&self, params: &MemoryListParams) -> Result<MemoryListResponse, AgentError> {
        let limit = if params.limit == 0 { 50 } else { params.limit.min(200) };
        let reach = match &params.session {
            Some(session) => MemoryReach::Session(session.clone()),
            None => MemoryReach::Everything,
        };
        let store = &self.world.store;
        let mut memories = match &params.used_in {
            Some(session) => {
                let ids = store.entries_used_in(session).await?;
                let page = ids.into_iter().skip(params.offset as usize).take(limit as usize + 1);
                store.entries_of(&page.collect::<Vec<_>>()).await?
            }
            // An additional memory shows whether another page follows.
            None => store.entries(&reach, params.offset, limit + 1).await?,
        };
        let has_more = memories.len() > limit as usize;
        memories.truncate(limit as usize);
        let session = params.used_in.as_ref().or(params.session.as_ref());
        let reader = Reader { action: "listed", session };
        self.record_read(&reader, memories.iter().map(|memory| &memory.id)).await?;
        let index = self.index.status().await?;
        let sources = self.sources_of(&memories).await?;
        Ok(MemoryListResponse { memories, sources, has_more, index })
    }

    /// Returns the memories that match a text. With a session, returns only memories that it may
    /// use.
    pub async fn search(
        &self,
        params: &MemorySearchParams,
    ) -> Result<MemorySearchResponse, AgentError> {
        let limit = if params.limit == 0 { MOST_HITS } else { params.limit.min(CANDIDATES) };
        let reach = params.session.as_ref().map_or(MemoryReach::Everything, |id| self.reach(id));
        let person = TurnContent { model_is_local: true, ..TurnContent::default() };
        let hits = self.find(&params.text, &reach, limit, person).await?;
        let reader = Reader { action: "searched", session: params.session.as_ref() };
        self.record_read(&reader, hits.iter().map(|hit| &hit.memory.id)).await?;
        let sources = self.sources_of(hits.iter().map(|hit| &hit.memory)).await?;
        Ok(MemorySearchResponse { hits, sources })
    }

    /// Returns the memories that an answer used, in their current form. Deleted memories are
    /// missing.
    pub async fn used(&self, params: &MemoryUsedParams) -> Result<MemoryUsedResponse, AgentError> {
        let ids = &params.ids[..params.ids.len().min(CANDIDATES as usize)];
        let memories = self.world.store.entries_of(ids).await?;
        let reader = Reader { action: "shown", session: None };
        self.record_read(&reader, memories.iter().map(|memory| &memory.id)).await?;
        let sources = self.sources_of(&memories).await?;
        Ok(MemoryUsedResponse { memories, sources })
    }

    async fn sources_of(
        &self,
        memories: impl IntoIterator<Item = &MemoryEntry>,
    ) -> Result<Vec<MemorySource>, StoreError> {
        let ids: Vec<_> = memories.into_iter().map(|memory| memory.id.clone()).collect();
        self.world.store.entry_sources(&ids).await
    }

    /// Returns a memory.
    pub async fn show(&self, id: &MemoryId) -> Result<MemoryEntry, AgentError> {
        let memory = self.world.store.entry(id).await?.ok_or_else(unknown_memory_error)?;
        let reader = Reader { action: "shown", session: memory.session.as_ref() };
        self.record_read(&reader, std::iter::once(&memory.id)).await?;
        Ok(memory)
    }

    /// Stores a note that a person wrote.
    pub async fn add(&self, params: &MemoryAddParams) -> Result<MemoryEntry, AgentError> {
        if let Some(session) = &params.session {
            self.world
                .store
                .session(session)
                .await?
                .ok_or_else(|| StoreError::NotFound(format!("session {session}")))?;
            self.switch.check_is_on(session).await?;
        }
        let note = self.new_note(&params.text, params.session.clone()).await?;
        self.store_note(note, "person", params.session.as_ref()).await
    }

    /// Deletes a memory with its vector.
    pub async fn forget(&self, id: &MemoryId) -> Result<(), AgentError> {
        if self.world.store.entry(id).await?.is_none() {
            return Err(unknown_memory_error());
        }
        // Recorded first, so that the deletion can be repeated in a copy of the database.
        let draft = RecordDraft::new(RecordType::Memory).field("action", "deleted");
        self.record(draft.field("memory", id.as_str())).await?;
        self.world.store.entry_delete(id).await?;
        self.index.prepare_again().await;
        Ok(())
    }

    /// Replaces the text of a memory, with new words and a new vector.
    pub async fn edit(&self, params: &MemoryEditParams) -> Result<MemoryEntry, AgentError> {
        let text = self.checked_text(&params.text).await?;
        let (vector, _) = self.index.vector_of_new(&text).await;
        let (store, now) = (&self.world.store, self.world.clock.now());
        // With the session in the record, an erasure of the session finds the record.
        let session = store.entry_session(&params.id).await?;
        if !store.entry_edit(&params.id, &text, vector.as_ref(), now).await? {
            return Err(unknown_memory_error());
        }
        self.index.prepare_again().await;
        if vector.is_none() {
            self.index.state.lock().await.lacks_vectors();
        }
        let mut draft = RecordDraft::new(RecordType::Memory).field("action", "edited");
        draft.session = session;
        self.record(draft.field("memory", params.id.as_str()).commit("text", text)).await?;
        store.entry(&params.id).await?.ok_or_else(unknown_memory_error)
    }

    /// Pins a memory, so that the model gets it with every message, or unpins it.
    pub async fn pin(&self, params: &MemoryPinParams) -> Result<MemoryEntry, AgentError> {
        let store = &self.world.store;
        if !store.entry_pin(&params.id, params.pinned).await? {
            return Err(unknown_memory_error());
        }
        let action = if params.pinned { "pinned" } else { "unpinned" };
        let draft = RecordDraft::new(RecordType::Memory).field("action", action);
        self.record(draft.field("memory", params.id.as_str())).await?;
        store.entry(&params.id).await?.ok_or_else(unknown_memory_error)
    }

    /// Stores a note for a tool whose call was approved. A note of the user is for the whole
    /// profile; a note of another application stays in its session. `content` describes the content
    /// that the turn of the call has seen.
    pub async fn remember_note(
        &self,
        text: &str,
        session: &SessionId,
        content: TurnContent,
    ) -> Result<MemoryEntry, AgentError> {
        self.switch.check_is_on(session).await?;
        let scope = (session.application() != DESKTOP).then(|| session.clone());
        let mut note = self.new_note(text, scope).await?;
        let near = self.world.store.items_before(session, None, NEAR_ITEMS).await?;
        let tools = self.world.tools.as_ref();
        note.local_only = content.is_local || near.iter().any(|item| has_local_data(tools, item));
        // The model may have copied the text of the note from one of the last items.
        note.untrusted = content.is_untrusted || near.iter().any(is_from_outside);
        // In a long turn, the question is further away. In this case, another item gives the
        // session.
        let question = near.iter().rfind(|item| matches!(item.body, ItemBody::UserMessage { .. }));
        let source = question.or(near.last());
        note.sources = source.map(|item| item.id.clone()).into_iter().collect();
        self.store_note(note, "tool", Some(session)).await
    }

    /// Returns the memories that match a text, for a tool that a session calls. Memories that must
    /// stay on this computer are omitted if the reading model runs elsewhere.
    pub async fn recall(
        &self,
        text: &str,
        session: &SessionId,
        content: TurnContent,
    ) -> Result<Vec<MemoryHit>, AgentError> {
        self.switch.check_is_on(session).await?;
        let reach = self.reach(session);
        let hits = self.find(text, &reach, MOST_HITS, content).await?;
        let reader = Reader { action: "recalled", session: Some(session) };
        self.record_read(&reader, hits.iter().map(|hit| &hit.memory.id)).await?;
        Ok(hits)
    }

    /// Returns the memories that a session may use: its own memories, and in the user's sessions
    /// the memories of the profile. Other applications see neither the profile's memories nor each
    /// other's.
    pub(crate) fn reach(&self, session: &SessionId) -> MemoryReach {
        if session.application() != DESKTOP {
            MemoryReach::Session(session.clone())
        } else if self.world.profile.settings().memory.whole_profile {
            MemoryReach::AllOfUser
        } else {
            MemoryReach::SessionAndProfile(session.clone())
        }
    }

    /// Returns the memories that match a text, best first, by their words and by their vectors. If
    /// one of the two searches fails, the results of the other are used. `content` says who reads
    /// the memories and whether the text may be sent to a server elsewhere.
    pub(crate) async fn find(
        &self,
        text: &str,
        reach: &MemoryReach,
        limit: u32,
        content: TurnContent,
    ) -> Result<Vec<MemoryHit>, StoreError> {
        let store = &self.world.store;
        if !store.has_entries(reach).await? {
            return Ok(Vec::new());
        }
        let words = fusion::words(text);
        let (by_words, by_vector) = tokio::join!(
            store.entries_by_words(&words, reach, CANDIDATES),
            self.find_by_vector(text, reach, content.is_local)
        );
        if let (Err(error), Err(_)) = (&by_words, &by_vector) {
            return Err(error.clone());
        }
        let by_words = by_words.unwrap_or_else(log_failed_search);
        let (by_vector, threshold) = by_vector.unwrap_or_else(log_failed_search);
        let mut hits = fusion::fuse(&words, by_words, by_vector, threshold);
        hits.retain(|hit| content.model_is_local || !hit.memory.local_only);
        hits.truncate(limit as usize);
        Ok(hits)
    }

    /// Returns the memories with similar vectors, and the threshold of the index.
    async fn find_by_vector(
        &self,
        text: &str,
        reach: &MemoryReach,
        stays_here: bool,
    ) -> Result<(Vec<(MemoryEntry, f32)>, f32), StoreError> {
        let (embedder, index) = self.index.ready().await?;
        // The question contains data that must stay on this computer, so the search uses only
        // words.
        if stays_here && embedder.is_elsewhere() {
            return Ok((Vec::new(), index.threshold));
        }
        let values = self.index.embed_question(&embedder, text).await?;
        let vector = MemoryVector { model: index.model, values };
        let found = self.world.store.entries_by_vector(&vector, reach, CANDIDATES).await?;
        Ok((found, index.threshold))
    }

    /// Creates a note after checking its text and removing known secrets.
    async fn new_note(
        &self,
        text: &str,
        session: Option<SessionId>,
    ) -> Result<MemoryEntry, AgentError> {
        if keeps_nothing(&self.world.profile.settings().conversation) {
            return Err(AgentError::invalid(
                "Nothing is remembered, because conversations are not kept.",
            )
            .reason("memory_off")
            .hint("Choose in Settings how much of earlier messages the model sees."));
        }
        let text = self.checked_text(text).await?;
        Ok(MemoryEntry {
            id: MemoryId(self.world.ids.next("memory")),
            session,
            kind: MemoryKind::Note,
            text,
            sources: Vec::new(),
            pinned: false,
            untrusted: false,
            local_only: false,
            created_at: self.world.clock.now(),
            edited_at: None,
        })
    }

    /// Removes known secrets from a text that a person wants to be remembered. Fails if the text is
    /// empty or too long.
    async fn checked_text(&self, text: &str) -> Result<String, AgentError> {
        self.secrets.reload().await;
        let text = self.secrets.matcher().redact_secrets(text.trim()).into_owned();
        let length = text.chars().count();
        if length == 0 {
            return Err(AgentError::invalid("There is no text to remember."));
        }
        if length > MEMORY_CHARS {
            return Err(AgentError::invalid(text!(
                "The text has {length} characters; a memory has at most {limit}.",
                length,
                limit = MEMORY_CHARS
            )));
        }
        Ok(text)
    }

    async fn store_note(
        &self,
        note: MemoryEntry,
        by: &str,
        asked_in: Option<&SessionId>,
    ) -> Result<MemoryEntry, AgentError> {
        self.store(&note, None).await?;
        let mut draft = RecordDraft::new(RecordType::Memory)
            .field("action", "remembered")
            .field("memory", note.id.as_str())
            .field("kind", json!(note.kind))
            .field("scope", if note.session.is_some() { "session" } else { "profile" })
            .field("by", by)
            .commit("text", note.text.clone());
        draft.session = asked_in.cloned();
        self.record(draft).await?;
        Ok(note)
    }

    /// Stores a memory with its vector in one transaction. If the model fails or is behind a
    /// server, the memory is stored without a vector and gets a vector later. `through` is the
    /// position up to which the messages of the session are summarised with it. Returns false if
    /// nothing was stored, because one of these messages is not shown any more.
    pub(crate) async fn store(
        &self,
        memory: &MemoryEntry,
        through: Option<u64>,
    ) -> Result<bool, StoreError> {
        let store = &self.world.store;
        let (vector, learner) = self.index.vector_of_new(&memory.text).await;
        let has_vector = vector.is_some();
        // The lock prevents the preparation of the index from learning the text a second time.
        let mut state = self.index.state.lock().await;
        let is_stored = match through {
            Some(through) => store.batch_add(memory, vector.as_ref(), through).await?,
            None => store.entry_add(memory, vector.as_ref()).await.map(|()| true)?,
        };
        if !is_stored {
            return Ok(false);
        }
        if let Some(learner) = learner {
            learner.learn(&memory.text);
        }
        if !has_vector {
            state.lacks_vectors();
        }
        Ok(true)
    }

    /// Records that memories were read. A read without results is not recorded.
    async fn record_read(
        &self,
        reader: &Reader<'_>,
        memories: impl Iterator<Item = &MemoryId>,
    ) -> Result<(), AgentError> {
        let mut draft = read_record(reader.action, memories);
        if draft.fields["count"] == json!(0) {
            return Ok(());
        }
        draft.session = reader.session.cloned();
        self.record(draft).await
    }

    async fn record(&self, draft: RecordDraft) -> Result<(), AgentError> {
        record_memory(self.world.audit.as_ref(), draft).await
    }
}

fn log_failed_search<T: Default>(error: StoreError) -> T {
    tracing::warn!(%error, "one of both searches for memories failed");
    T::default()
}

fn unknown_memory_error() -> AgentError {
    AgentError::invalid("There is no such memory.").reason(Reason::NotFound)
}
