//! Layer 2 at work, and all layers as they are shown. Instructions are read when a tool was used, once per tool and turn; they
//! go behind the results as the host's own words, are not stored, and permit nothing: the gate does not know them.

use std::sync::{Arc, Weak};

use contract::{
    AgentError, AgentView, InstructionState, InstructionsPreview, InstructionsResponse, InstructionsView, PromptPreviewParams, PromptPreviewResponse,
    SectionView, SessionId, ToolOutcome, ToolSpec, TurnId,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    Engine,
    context::{
        egress::EgressSession,
        guidance::{Guide, fill},
        prompt::Voice,
    },
    ports::{Agent, Instructions, Message, Outbound},
    sessions::lanes::Accepted,
    tools::call::CallDone,
    turn::Turn,
};

/// Where previews belong: no session of a user's.
const PREVIEW: &str = "preview";

/// Instructions as one question gets them.
struct Given {
    view: InstructionsView,
    text: Option<Outbound>,
}

impl Turn {
    /// What follows the results of a round.
    pub(crate) fn guidance(&self, done: &[CallDone], words: &EgressSession) -> Vec<Message> {
        let mut messages = Vec::new();
        for result in done {
            if let Some(at) = &result.as_of {
                let text = format!(
                    "The result of {} is the earlier analysis, as of {at}; nothing was fetched anew. Say \"as of {at}\" in the answer.",
                    result.model_name
                );
                messages.push(Message::System { text: words.name(&text) });
            }
            let ran = matches!(result.outcome, ToolOutcome::Ok | ToolOutcome::Error);
            let Some(spec) = self.specs.iter().find(|spec| ran && spec.id == result.tool) else { continue };
            if !self.instructed.lock().insert(spec.id.clone()) {
                continue;
            }
            let mut given = self.given(spec, &result.arguments, &self.text, words);
            if let Some(text) = given.text.take() {
                given.view.last_used = Some(self.world().clock.now());
                messages.push(Message::System { text });
            }
            self.engine.traces.instructed(&self.id, given.view);
        }
        messages
    }

    fn given(&self, spec: &ToolSpec, arguments: &Value, question: &str, words: &EgressSession) -> Given {
        let found = self.world().roster.instructions(spec);
        let mut view = state(spec, &found);
        let Some((_, text)) = found.found else { return Given { view, text: None } };
        let chosen = Guide::parse(&text).choose(question);
        let filled = fill(&chosen.text, |name| value(spec, arguments, question, name));
        let head = format!("Guidance for reading results of {}. It explains and permits nothing.\n\n", spec.model_name);
        let text = words.text(&format!("{head}{filled}"));
        view.characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        view.sections = chosen.sections;
        view.whole = chosen.whole;
        Given { view, text: Some(text) }
    }
}

/// The value behind a placeholder of the file; `None` leaves it as it is written.
fn value(spec: &ToolSpec, arguments: &Value, question: &str, name: &str) -> Option<String> {
    match name {
        "question" => return Some(question.to_owned()),
        "tool_name" => return Some(spec.model_name.clone()),
        _ => {}
    }
    match arguments.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Null) => Some("None".to_owned()),
        Some(value) => Some(value.to_string()),
        None => spec.input_schema.pointer("/properties").and_then(|fields| fields.get(name)).map(|_| "None".to_owned()),
    }
}

fn state(spec: &ToolSpec, found: &Instructions) -> InstructionsView {
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

impl Engine {
    /// Specialists, tools with their instructions as they are now, and what the newest turns were told.
    pub async fn instructions_list(&self) -> InstructionsResponse {
        let last_used = self.last_used().await;
        let limits = self.world.profile.settings().limits;
        let agent = |agent: &Agent| AgentView {
            id: agent.id.clone(),
            name: agent.name.clone(),
            summary: agent.summary.clone(),
            pack: agent.pack.clone(),
            tools: agent.tools.clone(),
            defaults: agent.defaults.clone(),
            rounds: limits.rounds.min(agent.max_steps.saturating_add(1)),
            calls_per_round: limits.calls_per_round.min(agent.calls_per_round.unwrap_or(u32::MAX)),
            enabled: self.check_agent(&agent.id).is_ok(),
        };
        let tool = |spec: &ToolSpec| {
            let found = self.world.roster.instructions(spec);
            let mut view = state(spec, &found);
            view.last_used = last_used.get(&spec.id).copied();
            if let Some((_, text)) = &found.found {
                let sections = Guide::parse(text).choose("").sections;
                view.sections = sections.into_iter().map(|section| SectionView { chosen: false, ..section }).collect();
            }
            view
        };
        InstructionsResponse {
            agents: self.world.roster.agents().iter().map(agent).collect(),
            tools: self.world.tools.specs().iter().map(tool).collect(),
            turns: self.traces.runs(),
        }
    }

    /// The prompt that a question would send now in a new conversation, and the instructions that would follow results. Nothing is
    /// sent or kept.
    pub async fn prompt_preview(self: &Arc<Self>, params: &PromptPreviewParams) -> Result<PromptPreviewResponse, AgentError> {
        self.check_enabled()?;
        let session = SessionId::new(PREVIEW);
        let accepted = Accepted { turn: TurnId::new(PREVIEW), text: params.question.clone(), model: None, agent: None, headless: true, by: Weak::new() };
        let turn = Turn::new(Arc::clone(self), session.clone(), accepted, CancellationToken::new());
        let words = turn.open_words().await.map_err(|_| AgentError::internal("preview", "The prompt could not be made."))?;
        // Whoever is switched off is neither asked nor told of.
        let agents = turn.agents();
        let wanted = match &params.agent {
            Some(id) => {
                self.check_specialist(id)?;
                agents.iter().find(|agent| agent.id == *id).map(|agent| &**agent)
            }
            None => Turn::only(&agents),
        };
        let alone = self.world.roster.agents().is_empty();
        let specs: Vec<&ToolSpec> = turn.offered().into_iter().filter(|spec| wanted.map_or(alone, |agent| agent.tools.contains(&spec.id))).collect();
        let prompt = match wanted {
            Some(agent) => turn.prompt(words, &Voice::Agent { agent, among: agents.len() > 1 }, &specs, None),
            None if alone => turn.prompt(words, &Voice::Alone, &specs, None),
            None if agents.is_empty() => turn.prompt(words, &Voice::Orchestrator, &specs, None),
            None => turn.supervisor_prompt(words, &agents, &[]),
        };
        let one = |spec: &&ToolSpec| {
            let given = turn.given(spec, &Value::Null, &params.question, words);
            given.text.map(|text| InstructionsPreview { view: given.view, text: text.to_string() })
        };
        let instructions = specs.iter().filter_map(one).collect();
        let parts = prompt.views();
        self.egress.forget(&session);
        Ok(PromptPreviewResponse { parts, instructions })
    }
}
