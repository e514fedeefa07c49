//! Applies the packs' rules about models: some packs' data must stay on this computer, and some
//! packs require stricter redaction. Does not know how text is redacted.

use contract::{
    AgentError, Item, ItemBody, PackId, ToolId, ToolOutcome, ToolSpec, ToolTarget, label_text, text,
};
use serde_json::Value;

use crate::ports::{MEMORY_PACK, Model, Tools};

/// Fails if this model may not receive the pack's data.
pub(crate) fn check_pack_egress(
    tools: &dyn Tools,
    model: &dyn Model,
    pack: &PackId,
) -> Result<(), AgentError> {
    if model.is_local() || tools.data_flow(pack).is_none_or(|flow| flow.llm_egress.allowed) {
        return Ok(());
    }
    Err(AgentError::invalid(text!(
        "The pack {pack} keeps its data on this computer, and {model} does not run here.",
        pack,
        model = label_text(&model.label())
    ))
    .reason("egress_denied")
    .hint("Choose the offline model or a server on this computer for this question. Say in Settings if a model runs at an address of this computer."))
}

/// Whether an item contains data that must stay on this computer: of a pack that says so, or of
/// a memory that does. A call that did not run contains none.
pub(crate) fn has_local_data(tools: &dyn Tools, item: &Item) -> bool {
    match &item.body {
        ItemBody::ToolResult { tool, outcome, data, local_only, .. } => {
            let is_marked = local_only.unwrap_or_else(|| was_marked(tools, tool, data));
            has_run(*outcome) && (is_marked || is_data_local(tools, tool))
        }
        ItemBody::AssistantText { local_only, .. } | ItemBody::ToolCall { local_only, .. } => {
            *local_only
        }
        _ => false,
    }
}

/// Whether the result of a call must stay on this computer. Of the data, only that of the app's
/// own memories is asked: a server could shut a conversation by a word.
pub(crate) fn is_local_result(
    tools: &dyn Tools,
    spec: &ToolSpec,
    outcome: ToolOutcome,
    data: &Value,
) -> bool {
    has_run(outcome) && (is_of_memories(spec) && is_marked(data) || is_data_local(tools, &spec.id))
}

/// Whether a result that an older version stored was marked. The mark was in its data then.
fn was_marked(tools: &dyn Tools, tool: &ToolId, data: &Value) -> bool {
    let specs = tools.specs();
    is_marked(data) && specs.iter().any(|spec| is_of_memories(spec) && spec.is_named(tool))
}

fn is_data_local(tools: &dyn Tools, tool: &ToolId) -> bool {
    let specs = tools.specs();
    let mut packs = specs.iter().filter(|spec| spec.is_named(tool)).map(|spec| &spec.pack);
    packs.any(|pack| tools.data_flow(pack).is_some_and(|flow| !flow.llm_egress.allowed))
}

fn has_run(outcome: ToolOutcome) -> bool {
    !matches!(outcome, ToolOutcome::Denied | ToolOutcome::Limit)
}

/// Whether a tool is the app's own service for memories. A pack or server may have the same ids, but
/// not this target.
fn is_of_memories(spec: &ToolSpec) -> bool {
    spec.pack.as_str() == MEMORY_PACK && matches!(spec.target, ToolTarget::BuiltIn { .. })
}

/// Whether the service for memories marked its result.
fn is_marked(data: &Value) -> bool {
    data["local_only"] == true
}
