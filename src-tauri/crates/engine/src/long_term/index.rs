//! The index of memories, which computes missing vectors with the chosen model and reports the
//! progress. After a change of the model, all vectors are computed again in the background. They
//! are stored batch by batch, so that the work continues after a restart. In the meantime, a search
//! uses words and the existing vectors of the new model.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use contract::{AgentError, MemoryEntry, MemoryId, MemoryIndexView, Text, text};

use crate::{
    long_term::{
        calibration::{calibrate_threshold, calibration_texts},
        embedding_call::{EmbeddingCalls, is_text_refused},
    },
    ports::{
        ChosenEmbedder, Clock, Embedder, Embedders, EmbeddingModelId, MOST_TEXTS, MemoryIndex,
        MemoryVector, MissingVectors, Store, StoreError, TextRole, World,
    },
};

/// If the model runs inside this program, a search first embeds up to this many memories without a
/// vector. More memories are embedded in the background.
const FEW: u64 = 500;
/// The time after a failure during which no further attempt is made.
const PAUSE: TimeDelta = TimeDelta::minutes(1);
/// How long a question waits for its vector. Memories are also found by words.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time limit of a batch in the background.
const BATCH_PATIENCE: Duration = Duration::from_secs(120);

/// The index of memories by their vectors.
pub struct VectorIndex {
    store: Arc<dyn Store>,
    embedders: Arc<dyn Embedders>,
    clock: Arc<dyn Clock>,
    calls: EmbeddingCalls,
    pub(crate) state: tokio::sync::Mutex<IndexState>,
    work: parking_lot::Mutex<Work>,
}

/// The state of the vectors.
#[derive(Default)]
pub(crate) struct IndexState {
    /// The index of the model that was used last.
    prepared: Option<MemoryIndex>,
    /// Whether the model has learned the stored texts.
    knows_texts: bool,
    /// Whether every memory that the model may read has a vector.
    is_complete: bool,
    /// The number of memories that were stored without a vector.
    lacking: u64,
}

impl IndexState {
    /// Records that a memory was stored without a vector.
    pub(crate) fn lacks_vectors(&mut self) {
        self.is_complete = false;
        self.lacking += 1;
    }
}

/// The parameters of the background work.
#[derive(Default)]
struct Work {
    is_running: bool,
    problem: Option<Text>,
    next_attempt: Option<DateTime<Utc>>,
}

/// Marks the background work as ended when dropped, also after a panic.
struct Working<'a>(&'a VectorIndex);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.work.lock().is_running = false;
    }
}

impl VectorIndex {
    pub(crate) fn new(world: &World, calls: EmbeddingCalls) -> Self {
        Self {
            store: Arc::clone(&world.store),
            embedders: Arc::clone(&world.embedders),
            clock: Arc::clone(&world.clock),
            calls,
            state: tokio::sync::Mutex::default(),
            work: parking_lot::Mutex::default(),
        }
    }

    /// Returns the model for the vectors and the progress of the index. Starts or continues the
    /// work if vectors are missing.
    pub async fn status(self: &Arc<Self>) -> Result<MemoryIndexView, AgentError> {
        let ready = self.ready().await;
        let problem = match &ready {
            Ok(_) => self.work.lock().problem.clone(),
            Err(StoreError::Failed(why)) => {
                let why = why.trim_end_matches('.');
                Some(text!("The memory model cannot be used: {why}.", why))
            }
            Err(error) => return Err(error.clone().into()),
        };
        let chosen = self.embedders.current().await.ok();
        let index = match ready {
            Ok((_, index)) => Some(index),
            Err(_) => self.store.memory_index().await?,
        };
        let model = match (&chosen, &index) {
            (Some(chosen), _) => chosen.id(),
            (None, Some(index)) => index.model.clone(),
            (None, None) => EmbeddingModelId(String::new()),
        };
        let with_local = !chosen.as_ref().is_some_and(ChosenEmbedder::is_elsewhere);
        let wanted = MissingVectors { model: model.clone(), after: None, with_local };
        let count = self.store.count_vectors(&wanted).await?;
        let index = index.filter(|index| index.model == model);
        Ok(MemoryIndexView {
            model: model.0,
            description: chosen.map(|chosen| chosen.description()).unwrap_or_default(),
            threshold: index.as_ref().map_or(0.0, |index| index.threshold),
            dimension: index.map_or(0, |index| index.dimension),
            memories: count.memories,
            indexed: count.with_vector.min(count.memories),
            working: self.work.lock().is_running,
            problem,
        })
    }

    /// Returns the chosen model with its index. Computes missing vectors: a few immediately, many
    /// in the background.
    pub(crate) async fn ready(
        self: &Arc<Self>,
    ) -> Result<(ChosenEmbedder, MemoryIndex), StoreError> {
        let chosen = self.chosen_embedder().await?;
        let mut state = self.state.lock().await;
        let index = match state.prepared.clone().filter(|index| index.model == chosen.id()) {
            Some(index) => index,
            None => {
                let index = self.index_of(&chosen).await?;
                *state = IndexState {
                    prepared: Some(index.clone()),
                    // The count must never decrease, because background work compares it with the
                    // count at its beginning.
                    lacking: state.lacking,
                    ..IndexState::default()
                };
                index
            }
        };
        if state.knows_texts && state.is_complete {
            return Ok((chosen, index));
        }
        let missing = missing_vectors(&chosen, None);
        let count = self.store.count_vectors(&missing).await?;
        let is_little = count.memories <= FEW && matches!(chosen, ChosenEmbedder::Inside(_));
        if is_little {
            self.learn_texts(&chosen).await?;
            self.embed_missing(&chosen, &index).await.map_err(failed)?;
            (state.knows_texts, state.is_complete) = (true, true);
        } else {
            self.start_indexing(&chosen, &index, state.lacking);
        }
        Ok((chosen, index))
    }

    /// Makes the next search prepare the index again. Must be called after memories were deleted.
    pub(crate) async fn prepare_again(&self) {
        self.state.lock().await.knows_texts = false;
    }

    /// Returns the vector of a memory that is about to be stored, and the model that must learn its
    /// text. A server is not asked for a vector here, because storing must not wait for a server.
    pub(crate) async fn vector_of_new(
        &self,
        text: &str,
    ) -> (Option<MemoryVector>, Option<Arc<dyn Embedder>>) {
        let Ok(ChosenEmbedder::Inside(model)) = self.chosen_embedder().await else {
            return (None, None);
        };
        match model.embed_memory(text).await {
            Ok(values) => (Some(MemoryVector { model: model.model().id, values }), Some(model)),
            Err(error) => {
                tracing::warn!(%error, "a memory is stored without a vector");
                (None, Some(model))
            }
        }
    }

    /// Returns the vector of a text for searching memories.
    pub(crate) async fn embed_question(
        &self,
        chosen: &ChosenEmbedder,
        text: &str,
    ) -> Result<Vec<f32>, StoreError> {
        match chosen {
            ChosenEmbedder::Inside(model) => model.embed_question(text).await.map_err(failed),
            ChosenEmbedder::Server(server) => {
                let texts = [text];
                let made =
                    self.calls.embed(server.as_ref(), &texts, TextRole::Question, PATIENCE).await;
                made.map_err(failed)?.pop().ok_or_else(|| failed("the server sent no vector"))
            }
        }
    }

    /// Whether texts are compared without a server.
    pub(crate) async fn embeds_here(&self) -> bool {
        matches!(self.chosen_embedder().await, Ok(ChosenEmbedder::Inside(_)))
    }

    async fn chosen_embedder(&self) -> Result<ChosenEmbedder, StoreError> {
        self.embedders.current().await.map_err(failed)
    }

    /// Returns the stored index of a model. If another model was used before, creates and stores a
    /// new index.
    async fn index_of(&self, chosen: &ChosenEmbedder) -> Result<MemoryIndex, StoreError> {
        let store = &self.store;
        let stored = store.memory_index().await?;
        let index = match chosen {
            ChosenEmbedder::Inside(model) => {
                let model = model.model();
                let (dimension, threshold) = (model.dimension, model.threshold);
                MemoryIndex { model: model.id, dimension, threshold }
            }
            ChosenEmbedder::Server(server) => {
                if let Some(known) = stored.clone().filter(|index| index.model == server.id()) {
                    return Ok(known);
                }
                if let Some(problem) = self.recent_problem() {
                    return Err(failed(problem));
                }
                let texts = calibration_texts();
                let vectors = self
                    .calls
                    .embed(server.as_ref(), texts, TextRole::Memory, PATIENCE)
                    .await
                    .map_err(|error| failed(self.note_problem(error.text())))?;
                let dimension = vectors.first().map_or(0, Vec::len);
                MemoryIndex {
                    model: server.id(),
                    dimension: u32::try_from(dimension).unwrap_or(u32::MAX),
                    threshold: calibrate_threshold(&vectors),
                }
            }
        };
        if stored.as_ref() != Some(&index) {
            store.memory_index_put(&index).await?;
        }
        Ok(index)
    }

    /// Returns the problem of the last attempt, until the next attempt is allowed.
    fn recent_problem(&self) -> Option<Text> {
        let now = self.clock.now();
        let work = self.work.lock();
        let is_paused = work.next_attempt.is_some_and(|at| now < at);
        work.problem.clone().filter(|_| is_paused)
    }

    fn clear_problem(&self) {
        let mut work = self.work.lock();
        (work.problem, work.next_attempt) = (None, None);
    }

    /// Records why vectors cannot be computed. No further attempt is made for a while.
    fn note_problem(&self, problem: Text) -> Text {
        let mut work = self.work.lock();
        work.next_attempt = Some(self.clock.now() + PAUSE);
        work.problem = Some(problem.clone());
        problem
    }

    /// Lets the model learn the stored texts.
    async fn learn_texts(&self, chosen: &ChosenEmbedder) -> Result<(), StoreError> {
        if let ChosenEmbedder::Inside(model) = chosen {
            let texts = self.store.entry_texts().await?;
            // The texts are counted for the weights of words, so a text that was learned twice
            // would count twice.
            model.forget_learned();
            for (at, text) in texts.iter().enumerate() {
                model.learn(text);
                if at % 256 == 255 {
                    tokio::task::yield_now().await;
                }
            }
        }
        Ok(())
    }

    /// Starts the background work, unless it is already running or has just failed. `lacking` is
    /// the number of memories stored without a vector so far.
    fn start_indexing(
        self: &Arc<Self>,
        chosen: &ChosenEmbedder,
        index: &MemoryIndex,
        lacking: u64,
    ) {
        if self.recent_problem().is_some() {
            return;
        }
        {
            let mut work = self.work.lock();
            if work.is_running {
                return;
            }
            work.is_running = true;
        }
        let (vectors, chosen, index) = (Arc::clone(self), chosen.clone(), index.clone());
        tokio::spawn(async move {
            let working = Working(&vectors);
            let done = async {
                vectors.learn_texts(&chosen).await?;
                vectors.embed_missing(&chosen, &index).await
            };
            match done.await {
                Ok(()) => {
                    vectors.clear_problem();
                    let mut state = vectors.state.lock().await;
                    // Another model may have been chosen while this model read the memories.
                    if state.prepared.as_ref() == Some(&index) {
                        state.knows_texts = true;
                        // The last batch may not contain a memory that was stored without a vector
                        // in the meantime.
                        state.is_complete = state.lacking == lacking;
                    }
                }
                Err(error) => {
                    tracing::warn!(
                        message = error.message,
                        "vectors of memories could not be made"
                    );
                    vectors.note_problem(error.text());
                }
            }
            drop(working);
        });
    }

    /// Returns the vectors of the memories whose texts the server accepts. Fails if the server
    /// accepts none of them.
    async fn embed_each(
        &self,
        chosen: &ChosenEmbedder,
        batch: Vec<MemoryEntry>,
    ) -> Result<Vec<(MemoryEntry, Vec<f32>)>, AgentError> {
        let (mut made, mut refused) = (Vec::new(), None);
        for memory in batch {
            match self.embed_memories(chosen, std::slice::from_ref(&memory)).await {
                Ok(mut vectors) => made.extend(vectors.pop().map(|values| (memory, values))),
                Err(error) if is_text_refused(&error) => {
                    tracing::warn!(memory = memory.id.as_str(), "the text of a memory was refused");
                    refused = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        match refused {
            Some(error) if made.is_empty() => Err(error),
            _ => Ok(made),
        }
    }

    /// Computes missing vectors and stores them batch by batch. Stops if another model is chosen in
    /// the meantime.
    async fn embed_missing(
        &self,
        chosen: &ChosenEmbedder,
        index: &MemoryIndex,
    ) -> Result<(), AgentError> {
        let store = &self.store;
        let mut after: Option<MemoryId> = None;
        loop {
            let missing = missing_vectors(chosen, after.take());
            let batch = store.entries_without_vector(&missing, MOST_TEXTS as u32).await?;
            let Some(last) = batch.last() else { return Ok(()) };
            after = Some(last.id.clone());
            let made = match self.embed_memories(chosen, &batch).await {
                Ok(vectors) => batch.into_iter().zip(vectors).collect(),
                Err(error) if is_text_refused(&error) => self.embed_each(chosen, batch).await?,
                Err(error) => return Err(error),
            };
            let made = made.into_iter().map(|(memory, values)| {
                (memory, MemoryVector { model: index.model.clone(), values })
            });
            store.entry_vectors_put(made.collect()).await?;
            let is_chosen = self.embedders.current().await.is_ok_and(|now| now.id() == index.model);
            if !is_chosen {
                return Ok(());
            }
        }
    }

    async fn embed_memories(
        &self,
        chosen: &ChosenEmbedder,
        memories: &[MemoryEntry],
    ) -> Result<Vec<Vec<f32>>, AgentError> {
        match chosen {
            ChosenEmbedder::Inside(model) => {
                let mut vectors = Vec::with_capacity(memories.len());
                for memory in memories {
                    let made = model.embed_memory(&memory.text).await;
                    vectors.push(made.map_err(|error| embedding_error(error.to_string()))?);
                    tokio::task::yield_now().await;
                }
                Ok(vectors)
            }
            ChosenEmbedder::Server(server) => {
                let texts: Vec<&str> = memories.iter().map(|memory| memory.text.as_str()).collect();
                self.calls.embed(server.as_ref(), &texts, TextRole::Memory, BATCH_PATIENCE).await
            }
        }
    }
}

/// Selects the memories that the model has not read. A model elsewhere does not read memories that
/// must stay on this computer.
fn missing_vectors(chosen: &ChosenEmbedder, after: Option<MemoryId>) -> MissingVectors {
    MissingVectors { model: chosen.id(), after, with_local: !chosen.is_elsewhere() }
}

fn failed(why: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(why.to_string())
}

fn embedding_error(why: String) -> AgentError {
    AgentError::internal("embedding_failed", text!("Memories cannot be compared: {why}.", why))
}
