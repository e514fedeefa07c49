//! Applies the packs' rules about models: some packs' data must stay on this computer, and some
//! packs require stricter redaction. The redaction itself is implemented elsewhere.

use contract::{
    AgentError, Item, ItemBody, PackId, ToolId, ToolOutcome, ToolSpec, ToolTarget, label_text, text,
};
use serde_json::Value;

use crate::ports::{DATA_PACK, MEMORY_PACK, Model, Tools};

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

/// Whether an item contains data that must stay on this computer: from a pack that requires this,
/// or from a memory that does. A call that did not run contains no such data.
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

/// Whether the result of a call must stay on this computer. A mark in the data itself is only
/// accepted from the app's own services, because otherwise a server could block a conversation with
/// a mark.
pub(crate) fn is_local_result(
    tools: &dyn Tools,
    spec: &ToolSpec,
    outcome: ToolOutcome,
    data: &Value,
) -> bool {
    has_run(outcome) && (may_mark(spec) && is_marked(data) || is_data_local(tools, &spec.id))
}

/// Whether a result that an older version stored was marked. Older versions stored the mark in the
/// data.
fn was_marked(tools: &dyn Tools, tool: &ToolId, data: &Value) -> bool {
    let specs = tools.specs();
    is_marked(data) && specs.iter().any(|spec| may_mark(spec) && spec.is_named(tool))
}

fn is_data_local(tools: &dyn Tools, tool: &ToolId) -> bool {
    let specs = tools.specs();
    let mut packs = specs.iter().filter(|spec| spec.is_named(tool)).map(|spec| &spec.pack);
    packs.any(|pack| tools.data_flow(pack).is_some_and(|flow| !flow.llm_egress.allowed))
}

fn has_run(outcome: ToolOutcome) -> bool {
    !matches!(outcome, ToolOutcome::Denied | ToolOutcome::Limit)
}

/// Whether a tool belongs to an own service of the app whose results may be marked: memories, and
/// sources of data. A pack or server may have the same ids, but not this target.
fn may_mark(spec: &ToolSpec) -> bool {
    [MEMORY_PACK, DATA_PACK].contains(&spec.pack.as_str())
        && matches!(spec.target, ToolTarget::BuiltIn { .. })
}

/// Whether a service marked its result.
fn is_marked(data: &Value) -> bool {
    data["local_only"] == true
}
