//! Adds execution instructions (layer 2 of the prompt) after tool results, once per tool and
//! specialist of a turn, and lists all instructions for the window. Instructions are sent as messages
//! of the host and are not stored. Lines about members that a result does not have are left out, and
//! so are lines that were told before. They grant no permissions, because the approval gate does not
//! read them.

use std::sync::Arc;

use contract::{
    AgentView, InstructionState, InstructionsResponse, InstructionsView, SectionView, ToolOutcome,
    ToolSpec,
};
use serde_json::Value;

use crate::{
    context::{
        egress::EgressSession,
        guidance::{Guide, Names, Told, fill, fitting},
    },
    ports::{Agent, Instructions, Message, Outbound, Profile, Roster, Tools, World},
    tools::call::CallDone,
    turn::{context::TurnContext, switches::Switches, traces::Traces},
};

/// The parts of a tool's instructions that were selected for a question.
pub(crate) struct Given {
    pub(crate) view: InstructionsView,
    pub(crate) text: Option<Outbound>,
}

/// Returns the messages that follow the tool results of a round.
pub(crate) fn guidance(
    context: &TurnContext,
    agent: Option<&Agent>,
    told: &mut Told,
    done: &[CallDone],
    words: &EgressSession,
) -> Vec<Message> {
    let mut messages = Vec::new();
    for result in done {
        if let Some(at) = &result.as_of {
            let text = format!(
                "The result of {} is the earlier analysis, as of {at}; nothing was fetched anew. Say \"as of {at}\" in the answer.",
                result.model_name
            );
            messages.push(Message::System { text: words.redact_name(&text) });
        }
        let ran = matches!(result.outcome, ToolOutcome::Ok | ToolOutcome::Error);
        let Some(spec) = context.specs.iter().find(|spec| ran && spec.id == result.tool) else {
            continue;
        };
        if !told.tools.insert((agent.map(|agent| agent.id.clone()), spec.id.clone())) {
            continue;
        }
        let names = Names::of(&result.data, spec, &context.specs);
        let call = InstructedCall {
            spec,
            agent,
            arguments: &result.arguments,
            question: &context.question,
            names: Some(&names),
        };
        let mut given = instructions_for_call(context, &call, told, words);
        if let Some(text) = given.text.take() {
            given.view.last_used = Some(context.world().clock.now());
            messages.push(Message::System { text });
        }
        context.services.traces.note_instructions(&context.id, given.view);
    }
    messages
}

/// A call whose result instructions explain.
pub(crate) struct InstructedCall<'a> {
    pub(crate) spec: &'a ToolSpec,
    /// The specialist that reads the result.
    pub(crate) agent: Option<&'a Agent>,
    pub(crate) arguments: &'a Value,
    pub(crate) question: &'a str,
    /// The names that the instructions may mention. None: there is no result yet.
    pub(crate) names: Option<&'a Names>,
}

/// Returns the instructions for the result of a call, without what was told before in the turn.
pub(crate) fn instructions_for_call(
    context: &TurnContext,
    call: &InstructedCall<'_>,
    told: &mut Told,
    words: &EgressSession,
) -> Given {
    let InstructedCall { spec, agent, arguments, question, names } = *call;
    let found = context.world().roster.instructions(spec, agent);
    let mut view = instructions_view(spec, &found);
    let Some((_, text)) = found.found else { return Given { view, text: None } };
    let chosen = Guide::parse(&text).choose(question);
    view.sections = chosen.sections;
    view.whole = chosen.whole;
    let value = |name: &str| placeholder_value(spec, arguments, question, name);
    let filled = fitting(&chosen.text, names, told, |line| fill(line, value));
    if filled.is_empty() {
        return Given { view, text: None };
    }
    let head = format!(
        "Guidance for reading results of {}. It explains and permits nothing.\n\n",
        spec.model_name
    );
    let text = words.text(&format!("{head}{filled}"));
    view.characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    Given { view, text: Some(text) }
}

/// Returns the value of a placeholder in the instructions. Returns none for an unknown placeholder,
/// which is kept unchanged.
fn placeholder_value(
    spec: &ToolSpec,
    arguments: &Value,
    question: &str,
    name: &str,
) -> Option<String> {
    match name {
        "question" => return Some(question.to_owned()),
        "tool_name" => return Some(spec.model_name.clone()),
        _ => {}
    }
    match arguments.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Null) => Some("None".to_owned()),
        Some(value) => Some(value.to_string()),
        None => spec
            .input_schema
            .pointer("/properties")
            .and_then(|fields| fields.get(name))
            .map(|_| "None".to_owned()),
    }
}

fn instructions_view(spec: &ToolSpec, found: &Instructions) -> InstructionsView {
    let state = match (&found.found, found.problems.is_empty()) {
        (Some(_), _) => InstructionState::Found,
        (None, true) => InstructionState::Missing,
        (None, false) => InstructionState::Error,
    };
    InstructionsView {
        tool: spec.id.clone(),
        title: spec.title.clone(),
        state,
        place: found.found.as_ref().map(|(place, _)| place.clone()),
        problems: found.problems.clone(),
        sections: Vec::new(),
        whole: false,
        characters: 0,
        last_used: None,
    }
}

/// The specialists and the tools' instructions, for the page that lists them.
pub struct InstructionsList {
    profile: Arc<dyn Profile>,
    roster: Arc<dyn Roster>,
    tools: Arc<dyn Tools>,
    switches: Arc<Switches>,
    traces: Arc<Traces>,
}

impl InstructionsList {
    pub(crate) fn new(world: &World, switches: &Arc<Switches>, traces: &Arc<Traces>) -> Self {
        Self {
            profile: Arc::clone(&world.profile),
            roster: Arc::clone(&world.roster),
            tools: Arc::clone(&world.tools),
            switches: Arc::clone(switches),
            traces: Arc::clone(traces),
        }
    }

    /// Returns the specialists, the tools with their current instructions, and the prompts of the
    /// newest turns.
    pub async fn read(&self) -> InstructionsResponse {
        let last_used = self.traces.last_used().await;
        let limits = self.profile.settings().limits;
        let agent = |agent: &Agent| AgentView {
            id: agent.id.clone(),
            name: agent.name.clone(),
            summary: agent.summary.clone(),
            pack: agent.pack.clone(),
            tools: agent.tools.clone(),
            defaults: agent.defaults.clone(),
            rounds: limits.rounds.min(agent.max_steps.saturating_add(1)),
            calls_per_round: limits.calls_per_round.min(agent.calls_per_round.unwrap_or(u32::MAX)),
            enabled: self.switches.check_agent(&agent.id).is_ok(),
        };
        let tool = |spec: &ToolSpec| {
            let found = self.roster.instructions(spec, None);
            let mut view = instructions_view(spec, &found);
            view.last_used = last_used.get(&spec.id).copied();
            if let Some((_, text)) = &found.found {
                let sections = Guide::parse(text).choose("").sections;
                view.sections = sections
                    .into_iter()
                    .map(|section| SectionView { chosen: false, ..section })
                    .collect();
            }
            view
        };
        InstructionsResponse {
            agents: self.roster.agents().iter().map(agent).collect(),
            tools: self.tools.specs().iter().map(tool).collect(),
            turns: self.traces.runs(),
        }
    }
}
