//! Applies the packs' rules about models: some packs' data must stay on this computer, and some
//! packs require stricter redaction. Does not know how text is redacted.

use contract::{AgentError, Item, ItemBody, PackId, ToolId, ToolOutcome, label_text, text};

use serde_json::Value;

use crate::{Engine, memory::recalled::Recalled, ports::Model, turn::context::TurnContext};

impl Engine {
    /// Fails if this model may not receive the pack's data.
    pub(crate) fn check_pack_egress(
        &self,
        model: &dyn Model,
        pack: &PackId,
    ) -> Result<(), AgentError> {
        if model.is_local()
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

    /// Whether an item contains data that must stay on this computer: of a pack that says so, or of
    /// a result that says so itself. A call that did not run contains none.
    pub(crate) fn has_local_data(&self, item: &Item) -> bool {
        match &item.body {
            ItemBody::ToolResult { tool, outcome, data, .. } => {
                self.is_local_result(tool, *outcome, data)
            }
            ItemBody::AssistantText { local_only, .. } | ItemBody::ToolCall { local_only, .. } => {
                *local_only
            }
            _ => false,
        }
    }

    /// Whether the result of a call must stay on this computer.
    pub(crate) fn is_local_result(
        &self,
        tool: &ToolId,
        outcome: ToolOutcome,
        data: &Value,
    ) -> bool {
        !matches!(outcome, ToolOutcome::Denied | ToolOutcome::Limit)
            && (data["local_only"] == true || self.is_data_local(tool))
    }

    fn is_data_local(&self, tool: &ToolId) -> bool {
        let specs = self.world.tools.specs();
        let mut packs = specs.iter().filter(|spec| spec.is_named(tool)).map(|spec| &spec.pack);
        packs.any(|pack| {
            self.world.tools.data_flow(pack).is_some_and(|flow| !flow.llm_egress.allowed)
        })
    }
}

/// Notes whether earlier messages have data that must stay on this computer, and fails if they would
/// be sent to a cloud model. Every text of a turn that saw the data may contain it.
pub(crate) fn check_recalled_egress(
    context: &TurnContext,
    recalled: &Recalled,
) -> Result<(), AgentError> {
    let has_local = recalled.local_only()
        || recalled.items.iter().any(|item| context.engine.has_local_data(item));
    if has_local {
        context.note_local_data();
    }
    let model = context.model.as_ref();
    if model.is_local() || !has_local {
        return Ok(());
    }
    Err(AgentError::invalid(text!("Nothing was sent: this conversation has data of a pack that keeps it on this computer, and {model} does not run here.", model = label_text(&model.label())))
    .reason("egress_denied")
    .hint("Choose the offline model or a server on this computer, or begin a new conversation."))
}
