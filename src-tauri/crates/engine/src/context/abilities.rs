//! Builds the part of the prompt that describes what an assistant can do: the specialists and their
//! tools, the data that packs give to models, and where answers are computed. All of it comes from
//! manifests and settings.

use std::{collections::BTreeSet, sync::Arc};

use contract::{Effect, PackId, RedactionLevel, ToolSpec};

use crate::{ports::Agent, turn::context::TurnContext};

/// Returns the description of what can be done in this turn.
pub(crate) fn text(
    context: &TurnContext,
    agents: &[Arc<Agent>],
    redaction: RedactionLevel,
) -> String {
    let specs = context.offered();
    let mut text = "# What can be done here\nSay this when the user asks what you can do, which data you have, or what leaves this computer. Promise nothing beyond it.".to_owned();
    if !agents.is_empty() {
        text.push_str("\n\nSpecialists:");
    }
    for agent in agents {
        text.push_str(&format!("\n- {}: {}. {}", agent.id, agent.name, agent.summary.trim()));
        let own: Vec<&ToolSpec> =
            specs.iter().filter(|spec| agent.tools.contains(&spec.id)).copied().collect();
        text.push_str(&tools_text(&own));
    }
    let others: Vec<&ToolSpec> = specs
        .iter()
        .filter(|spec| !agents.iter().any(|agent| agent.tools.contains(&spec.id)))
        .copied()
        .collect();
    if agents.is_empty() && !others.is_empty() {
        text.push_str(&format!("\n\nYour tools:{}", tools_text(&others)));
    }
    text.push_str(&data_text(context, &specs));
    text.push_str(&privacy_text(context, redaction));
    text
}

fn tools_text(specs: &[&ToolSpec]) -> String {
    let titles = |changes: bool| {
        let kind = specs.iter().filter(|spec| (spec.effect != Effect::ReadOnly) == changes);
        kind.map(|spec| spec.title.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut text = String::new();
    for (head, titles) in [("Reads", titles(false)), ("Changes", titles(true))] {
        if !titles.is_empty() {
            text.push_str(&format!(" {head}: {titles}."));
        }
    }
    if text.is_empty() { " It has no tools and no data.".to_owned() } else { text }
}

fn data_text(context: &TurnContext, specs: &[&ToolSpec]) -> String {
    let packs: BTreeSet<&PackId> = specs.iter().map(|spec| &spec.pack).collect();
    let one = |pack: &PackId| {
        let flow = context.world().tools.data_flow(pack)?;
        let rule =
            if flow.llm_egress.allowed { "" } else { " Only models on this computer get it." };
        Some(format!("\n- {pack}: {}{rule}", flow.llm_egress.what_is_sent.trim()))
    };
    let lines: String = packs.into_iter().filter_map(one).collect();
    if lines.is_empty() { lines } else { format!("\n\nData that a model gets, by pack:{lines}") }
}

fn privacy_text(context: &TurnContext, redaction: RedactionLevel) -> String {
    let place = if context.model.is_local() {
        "The model that answers runs on this computer, so that the conversation does not leave it."
    } else {
        "The model that answers does not run on this computer: the messages and the results of tools are sent to it."
    };
    let replaced = match redaction {
        RedactionLevel::None => "Only keys and passwords that this program knows are held back.",
        RedactionLevel::Basic | RedactionLevel::Strict => {
            "Personal values, such as addresses and phone numbers, are replaced by placeholders before the model gets them."
        }
    };
    format!(
        "\n\nPrivacy: {place} {replaced} Conversations, approvals and the log of what was done are stored on this computer."
    )
}
