//! Reads the earlier messages that a turn sees, once for the profile's memory settings and once for
//! each specialist with its own settings. The result also decides what is stored after the turn.

use std::sync::Arc;

use contract::{Item, ItemBody, MemoryHit, ToolSpec};

use crate::{
    context::pack_egress::check_recalled_egress,
    memory::recalled::{Recalled, keeps_nothing},
    ports::Agent,
    tools::provenance::UntrustedSources,
    turn::{context::TurnContext, outcome::End},
};

/// The memories that a turn has read so far.
#[derive(Default)]
pub(crate) struct Recollections {
    seen: Vec<Arc<Recalled>>,
    /// Whether any of the read settings says that conversations are not stored. Then nothing of the
    /// turn is stored.
    is_passing: bool,
    /// The long-term memories that fit the message.
    pub(crate) remembered: Vec<MemoryHit>,
}

impl Recollections {
    pub(super) fn all(&self) -> &[Arc<Recalled>] {
        &self.seen
    }

    pub(crate) fn of(&self, agent: Option<&Agent>) -> Option<Arc<Recalled>> {
        self.seen
            .iter()
            .find(|recalled| recalled.agent.as_ref() == agent.map(|agent| &agent.id))
            .cloned()
    }

    /// Returns the earlier messages that a specialist sees, by its own settings or the profile's.
    /// None if they have not been read yet.
    pub(crate) fn seen_by(&self, agent: Option<&Agent>) -> Option<Arc<Recalled>> {
        self.of(agent).or_else(|| self.of(None))
    }

    pub(crate) fn is_passing(&self) -> bool {
        self.is_passing
    }

    /// Reads the earlier messages for a specialist, or for everyone without own settings. Also
    /// checks that the model may receive them, and marks untrusted content.
    pub(crate) async fn recall(
        &mut self,
        context: &TurnContext,
        sources: &UntrustedSources,
        agent: Option<&Agent>,
    ) -> Result<Arc<Recalled>, End> {
        let own = agent.filter(|agent| agent.conversation.is_some());
        if let Some(found) = self.of(own) {
            return Ok(found);
        }
        let window = context.settings.limits.window_messages;
        let recalled = context
            .engine
            .recall(&context.session, &context.id, own, window)
            .await
            .map_err(End::failed)?;
        check_recalled_egress(context, &recalled).map_err(End::failed)?;
        note_earlier_results(context, sources, &recalled.items);
        if recalled.untrusted() {
            sources.add_remembered_text(recalled.summary().unwrap_or_default());
        }
        if keeps_nothing(&recalled.policy) && !std::mem::replace(&mut self.is_passing, true) {
            context
                .engine
                .mark_passing(&context.session, &context.id)
                .await
                .map_err(End::failed)?;
        }
        let recalled = Arc::new(recalled);
        self.seen.push(Arc::clone(&recalled));
        Ok(recalled)
    }
}

/// Marks earlier results from untrusted tools, and answers made from untrusted memories, as untrusted
/// content of this turn, because the model sees them again.
fn note_earlier_results(context: &TurnContext, sources: &UntrustedSources, history: &[Arc<Item>]) {
    for item in history {
        if let ItemBody::AssistantText { text, untrusted: true, .. } = &item.body {
            sources.add_remembered_text(text);
        }
        if let ItemBody::ToolResult { tool, .. } = &item.body {
            let named: Vec<&ToolSpec> =
                context.specs.iter().filter(|spec| spec.is_named(tool)).collect();
            if named.is_empty() || named.iter().any(|spec| policy::suspends_grants(spec)) {
                sources.add_recalled_result(named.first().copied(), item);
            }
        }
    }
}
