//! Finds the long-term memories that fit the message of a turn. A failure is logged and ignored,
//! because the message can be answered without them.

use contract::MemoryHit;

use crate::{
    memory::{
        long_term::{MOST_HITS, read_record},
        recalled::{Recalled, keeps_nothing},
    },
    tools::provenance::UntrustedSources,
    turn::context::TurnContext,
};

/// Returns the memories for the prompts of a turn, best first. Records them, and marks untrusted
/// ones as untrusted content of the turn.
pub(crate) async fn find_for_turn(
    context: &TurnContext,
    recalled: &Recalled,
    sources: &UntrustedSources,
) -> Vec<MemoryHit> {
    // The built-in model reads no prompt.
    if !context.settings.memory.recall
        || keeps_nothing(&recalled.policy)
        || context.model.in_process()
    {
        return Vec::new();
    }
    let mut hits = search_memories(context).await;
    if let Some(recorder) = &context.recorder {
        recorder.set_memories(&hits);
    }
    hits.retain(|hit| !hit.memory.local_only || context.model.is_local());
    if hits.is_empty() {
        return hits;
    }
    for hit in hits.iter().filter(|hit| hit.memory.untrusted) {
        sources.add_remembered_text(&hit.memory.text);
    }
    context.record(read_record("used", hits.iter().map(|hit| &hit.memory.id))).await;
    hits
}

/// Returns the memories that fit the message. In a replay, these are the recorded ones.
async fn search_memories(context: &TurnContext) -> Vec<MemoryHit> {
    if let Some(recorded) = &context.engine.recorded_memories {
        return recorded.to_vec();
    }
    let reach = context.engine.memory_reach(&context.session);
    context.engine.find_memories(&context.question, &reach, MOST_HITS).await.unwrap_or_else(
        |error| {
            tracing::warn!(%error, "memories could not be searched");
            Vec::new()
        },
    )
}
