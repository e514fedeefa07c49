//! What packs say about models: data of some may stay on this computer only, and some want more held back. Decided per turn; how text
//! is redacted is not known here.

use contract::{AgentError, Item, ItemBody, PackId, RedactionLevel, ToolId, ToolOutcome};

use crate::{Engine, memory::Recalled, ports::Model, turn::Turn};

impl Engine {
    /// Whether the pack's data may be known to this model.
    fn check_pack(&self, model: &dyn Model, pack: &PackId) -> Result<(), AgentError> {
        if model.local() || self.world.tools.data_flow(pack).is_none_or(|flow| flow.llm_egress.allowed) {
            return Ok(());
        }
        Err(AgentError::invalid(format!("The pack {pack} keeps its data on this computer, and {} does not run here.", model.label()))
            .reason("egress_denied")
            .hint("Choose the offline model or a server on this computer for this question."))
    }

    /// Whether an item came from a pack that keeps its data here. A call that was not run tells nothing.
    pub(crate) fn stays_here(&self, item: &Item) -> bool {
        match &item.body {
            ItemBody::ToolResult { tool, outcome, .. } => !matches!(outcome, ToolOutcome::Denied | ToolOutcome::Limit) && self.keeps_data_here(tool),
            _ => false,
        }
    }

    fn keeps_data_here(&self, tool: &ToolId) -> bool {
        let specs = self.world.tools.specs();
        let mut packs = specs.iter().filter(|spec| spec.is_named(tool)).map(|spec| &spec.pack);
        packs.any(|pack| self.world.tools.data_flow(pack).is_some_and(|flow| !flow.llm_egress.allowed))
    }
}

impl Turn {
    /// Before a call is asked about or run.
    pub(crate) fn check_pack_egress(&self, pack: &PackId) -> Result<(), AgentError> {
        self.engine.check_pack(self.model.as_ref(), pack)
    }

    /// Before earlier messages go to another model: a turn that used such a pack may have said anything of its data.
    pub(crate) fn check_recalled_egress(&self, recalled: &Recalled) -> Result<(), AgentError> {
        if self.model.local() {
            return Ok(());
        }
        if recalled.items.iter().any(|item| self.engine.stays_here(item)) || recalled.local_only() {
            return Err(AgentError::invalid(format!(
                "Nothing was sent: this conversation has data of a pack that keeps it on this computer, and {} does not run here.",
                self.model.label()
            ))
            .reason("egress_denied")
            .hint("Choose the offline model or a server on this computer, or begin a new conversation."));
        }
        Ok(())
    }

    /// What is held back at least: as the user says, and as the packs whose tools are there want it.
    pub(crate) fn level_with_packs(&self) -> RedactionLevel {
        let mut level = self.settings.egress.redaction;
        let mut last: Option<&PackId> = None;
        for spec in self.specs.iter() {
            if last != Some(&spec.pack) {
                level = level.max(self.world().tools.data_flow(&spec.pack).map_or(RedactionLevel::None, |flow| flow.redaction()));
                last = Some(&spec.pack);
            }
        }
        level
    }
}
