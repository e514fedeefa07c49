//! Reads the earlier messages that a turn sees, once for the profile's memory settings and once for
//! each specialist with its own settings. The result also decides what is stored after the turn.

use std::sync::Arc;

use contract::{AgentError, Item, ItemBody, MemoryHit, label_text, text};

use crate::{
    conversation::{
        pack_egress::has_local_data,
        recalled::{Recalled, keeps_nothing},
        services::ConversationServices,
    },
    ports::Agent,
    turn::{context::TurnContext, outcome::End, provenance::is_from_outside},
};

/// The earlier messages and memories that a turn has read so far.
pub(crate) struct Recollections {
    services: Arc<ConversationServices>,
    seen: Vec<Arc<Recalled>>,
    /// Whether any of the used settings does not allow storing conversations. If so, no items of
    /// the turn are kept.
    is_passing: bool,
    /// The long-term memories that match the message.
    pub(crate) remembered: Vec<MemoryHit>,
}

impl Recollections {
    pub(crate) fn new(services: &Arc<ConversationServices>) -> Self {
        Self {
            services: Arc::clone(services),
            seen: Vec::new(),
            is_passing: false,
            remembered: Vec::new(),
        }
    }

    /// Adds to the transcript the summary that the model now reads instead of older messages.
    pub(crate) async fn show_memory(&self, context: &TurnContext, recalled: &Recalled) {
        self.services.memory.show(context, recalled).await;
    }

    pub(crate) fn all(&self) -> &[Arc<Recalled>] {
        &self.seen
    }

    pub(crate) fn of(&self, agent: Option<&Agent>) -> Option<Arc<Recalled>> {
        self.seen
            .iter()
            .find(|recalled| recalled.agent.as_ref() == agent.map(|agent| &agent.id))
            .cloned()
    }

    /// Returns the earlier messages that a specialist sees, by its own settings or the profile's.
    /// Returns none if they have not been read yet.
    pub(crate) fn seen_by(&self, agent: Option<&Agent>) -> Option<Arc<Recalled>> {
        self.of(agent).or_else(|| self.of(None))
    }

    pub(crate) fn is_passing(&self) -> bool {
        self.is_passing
    }

    /// Reads the earlier messages for a specialist, or for all specialists without their own
    /// settings. Also checks that the model may receive them, and marks untrusted content.
    pub(crate) async fn recall(
        &mut self,
        context: &TurnContext,
        agent: Option<&Agent>,
    ) -> Result<Arc<Recalled>, End> {
        let own = agent.filter(|agent| agent.conversation.is_some());
        if let Some(found) = self.of(own) {
            return Ok(found);
        }
        let recalled = self.services.memory.recall(context, own).await.map_err(End::failed)?;
        check_recalled_egress(context, &recalled).map_err(End::failed)?;
        note_earlier_content(context, &recalled.items);
        if recalled.untrusted() {
            context.sources.add_remembered_text(recalled.summary().unwrap_or_default());
        }
        if keeps_nothing(&recalled.policy) && !std::mem::replace(&mut self.is_passing, true) {
            let passing = &self.services.passing;
            passing.mark(&context.session, &context.id).await.map_err(End::failed)?;
        }
        let recalled = Arc::new(recalled);
        self.seen.push(Arc::clone(&recalled));
        Ok(recalled)
    }
}

/// Marks the turn if an earlier item contains outside content, because the model reads the item
/// again.
fn note_earlier_content(context: &TurnContext, history: &[Arc<Item>]) {
    for item in history.iter().filter(|item| is_from_outside(item)) {
        match &item.body {
            ItemBody::ToolResult { tool, .. } => {
                let spec = context.specs.iter().find(|spec| spec.is_named(tool));
                context.sources.add_recalled_result(spec, item);
            }
            ItemBody::AssistantText { text, .. } => context.sources.add_remembered_text(text),
            ItemBody::ToolCall { arguments, .. } => {
                context.sources.add_recalled_arguments(arguments);
            }
            ItemBody::UserMessage { .. }
            | ItemBody::Approval { .. }
            | ItemBody::Redaction { .. }
            | ItemBody::Summary { .. }
            | ItemBody::Notice { .. } => {}
        }
    }
}

/// Records whether earlier messages contain data that must stay on this computer, and fails if they
/// would be sent to a cloud model. Any text of a turn that saw the data may contain the data.
fn check_recalled_egress(context: &TurnContext, recalled: &Recalled) -> Result<(), AgentError> {
    let tools = context.world().tools.as_ref();
    let has_local =
        recalled.local_only() || recalled.items.iter().any(|item| has_local_data(tools, item));
    if has_local {
        context.note_local_data();
    }
    let model = context.model.as_ref();
    if model.is_local() || !has_local {
        return Ok(());
    }
    Err(AgentError::invalid(text!("Nothing was sent: this conversation has data of a pack that keeps it on this computer, and {model} does not run here.", model = label_text(&model.label())))
    .reason("egress_denied")
    .hint("Choose the offline model or a server on this computer, or begin a new conversation. Say in Settings if a model runs at an address of this computer."))
}
