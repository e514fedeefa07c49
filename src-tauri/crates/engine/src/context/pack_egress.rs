//! The rules of packs about models: the data of some must stay on this computer, and some require
//! more redaction. How text is redacted is not known here.

use contract::{AgentError, Item, ItemBody, PackId, ToolId, ToolOutcome, label_text, text};

use crate::{Engine, memory::recalled::Recalled, ports::Model, turn::context::TurnContext};

impl Engine {
    /// Whether the pack's data may be known to this model.
    pub(crate) fn check_pack_egress(
        &self,
        model: &dyn Model,
        pack: &PackId,
    ) -> Result<(), AgentError> {
        if model.local()
            || self.world.tools.data_flow(pack).is_none_or(|flow| flow.llm_egress.allowed)
        {
            return Ok(());
        }
        Err(AgentError::invalid(text!(
            "The pack {pack} keeps its data on this computer, and {model} does not run here.",
            pack,
            model = label_text(&model.label())
        ))
        .reason("egress_denied")
        .hint("Choose the offline model or a server on this computer for this question."))
    }

    /// Whether an item came from a pack that keeps its data here. A call that was not run tells
    /// nothing.
    pub(crate) fn stays_here(&self, item: &Item) -> bool {
        match &item.body {
            ItemBody::ToolResult { tool, outcome, .. } => {
                !matches!(outcome, ToolOutcome::Denied | ToolOutcome::Limit)
                    && self.keeps_data_here(tool)
            }
            _ => false,
        }
    }

    fn keeps_data_here(&self, tool: &ToolId) -> bool {
        let specs = self.world.tools.specs();
        let mut packs = specs.iter().filter(|spec| spec.is_named(tool)).map(|spec| &spec.pack);
        packs.any(|pack| {
            self.world.tools.data_flow(pack).is_some_and(|flow| !flow.llm_egress.allowed)
        })
    }
}

/// Before earlier messages go to another model: a turn that used such a pack may have said anything
/// of its data.
pub(crate) fn check_recalled_egress(
    context: &TurnContext,
    recalled: &Recalled,
) -> Result<(), AgentError> {
    let model = context.model.as_ref();
    if model.local()
        || (!recalled.items.iter().any(|item| context.engine.stays_here(item))
            && !recalled.local_only())
    {
        return Ok(());
    }
    Err(AgentError::invalid(text!("Nothing was sent: this conversation has data of a pack that keeps it on this computer, and {model} does not run here.", model = label_text(&model.label())))
    .reason("egress_denied")
    .hint("Choose the offline model or a server on this computer, or begin a new conversation."))
}
