//! Finds the long-term memories that match the message of a turn. A failure is logged and ignored,
//! because the message can be answered without memories.

use contract::MemoryHit;

use crate::{
    conversation::recalled::{Recalled, keeps_nothing},
    long_term::{
        memories::{MOST_HITS, Memories},
        records::read_record,
    },
    ports::StoreError,
    turn::context::TurnContext,
};

/// The most pinned memories that are added to every message. The newest ones are used.
const MOST_PINNED: usize = 5;
/// The number of pinned memories that are read. Some of them may not be sent to this model.
const PINNED_READ: u32 = 100;

/// Returns the memories that match the message of a turn: pinned memories first, then the best
/// matches. The message is sent to the embedding server, if there is one.
pub(crate) async fn search_for_turn(
    memories: &Memories,
    context: &TurnContext,
    recalled: &Recalled,
) -> Vec<MemoryHit> {
    // The built-in model does not read the prompt.
    if !context.settings.memory.recall
        || keeps_nothing(&recalled.policy)
        || context.model.in_process()
    {
        return Vec::new();
    }
    find_all(memories, context).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "memories could not be searched");
        Vec::new()
    })
}

/// Returns the found memories that the model may read, for the prompts of the turn. Records the
/// memories, and records for the turn whether any are untrusted or must stay on this computer.
pub(crate) async fn use_in_turn(context: &TurnContext, mut hits: Vec<MemoryHit>) -> Vec<MemoryHit> {
    if let Some(recorder) = &context.recorder {
        recorder.set_memories(&hits);
    }
    hits.retain(|hit| !hit.memory.local_only || context.model.is_local());
    if hits.is_empty() {
        return hits;
    }
    if hits.iter().any(|hit| hit.memory.local_only) {
        context.note_local_data();
    }
    for hit in hits.iter().filter(|hit| hit.memory.untrusted) {
        context.sources.add_remembered_text(&hit.memory.text);
    }
    context.record(read_record("used", hits.iter().map(|hit| &hit.memory.id))).await;
    hits
}

/// Returns the pinned memories first, and then the memories that match the message. Returns none if
/// memory is switched off for the session. In a replay, the recorded memories are returned.
async fn find_all(
    memories: &Memories,
    context: &TurnContext,
) -> Result<Vec<MemoryHit>, StoreError> {
    if let Some(recorded) = &memories.recorded {
        return Ok(recorded.clone());
    }
    if memories.switch.is_off(&context.session).await? {
        return Ok(Vec::new());
    }
    let reach = memories.reach(&context.session);
    let content = context.content();
    let pinned = context.world().store.entries_pinned(&reach, PINNED_READ).await?;
    let mut hits: Vec<MemoryHit> = pinned
        .into_iter()
        .filter(|memory| content.model_is_local || !memory.local_only)
        .take(MOST_PINNED)
        .map(|memory| MemoryHit { memory, score: 0.0, similarity: None })
        .collect();
    let fitting = memories.find(&context.question, &reach, MOST_HITS, content).await?;
    let is_pinned = |hit: &MemoryHit| hits.iter().any(|other| other.memory.id == hit.memory.id);
    let fitting: Vec<_> = fitting.into_iter().filter(|hit| !is_pinned(hit)).collect();
    hits.extend(fitting);
    Ok(hits)
}
