//! Builds the supervisor's question and reads its decision: the list of specialists, the schema for
//! models that support schemas, and a lenient parser for models that do not. `supervisor` acts on
//! the decision.

use std::sync::Arc;

use contract::AgentId;
use serde_json::{Value, json};

use crate::{
    context::{egress::EgressSession, prompt::escape_tags},
    ports::{Agent, FINISH, RouteDecision, Structured, Supervision},
};

const SUPERVISOR: &str = include_str!("../../prompts/supervisor.md");
/// The rules for a message outside the specialists' subjects.
const BEYOND_DECLINED: &str = include_str!("../../prompts/beyond_declined.md");
const BEYOND_ANSWERED: &str = include_str!("../../prompts/beyond_answered.md");
const SYNTHESIS: &str = include_str!("../../prompts/synthesis.md");
/// The reasons for which the same specialist may be asked a second time.
const AGAIN: [&str; 2] = ["incomplete", "new_request"];
const REASONS: [&str; 6] =
    ["in_field", "incomplete", "new_request", "answered", "no_specialist_needed", DECLINED];
/// The reason for a message that no specialist is responsible for.
const DECLINED: &str = "out_of_scope";

/// A specialist's answer in this turn.
#[derive(Clone)]
pub(crate) struct Answered {
    pub(crate) agent: Arc<Agent>,
    pub(crate) text: String,
}

/// The next step according to a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Finish,
    Agent(AgentId),
}

/// Returns the supervisor's rules as prompt text.
pub(crate) fn rules(supervision: Supervision) -> String {
    let beyond = match supervision {
        Supervision::Assistant => BEYOND_ANSWERED,
        Supervision::Contract => BEYOND_DECLINED,
    };
    SUPERVISOR.trim_end().replace("{beyond}", beyond.trim_end())
}

/// Returns the list of specialists that can be asked, as the prompt shows it.
pub(crate) fn roster(agents: &[Arc<Agent>]) -> String {
    let mut text = "Specialists:".to_owned();
    for agent in agents {
        let data = if agent.tools.is_empty() { " It has no tools and no data." } else { "" };
        text.push_str(&format!("\n- {}: {}. {}{data}", agent.id, agent.name, agent.summary.trim()));
    }
    text
}

/// Returns the instruction for the model that combines several answers.
pub(crate) fn synthesis() -> &'static str {
    SYNTHESIS.trim_end()
}

/// Returns the answers so far, each inside a tag that the text of the answer cannot close.
pub(crate) fn answers(answered: &[Answered]) -> String {
    let one = |answer: &Answered| {
        format!(
            "<answer specialist=\"{}\" id=\"{}\">\n{}\n</answer>",
            escape_tags(&answer.agent.name),
            escape_tags(answer.agent.id.as_str()),
            escape_tags(answer.text.trim())
        )
    };
    let texts: Vec<String> = answered.iter().map(one).collect();
    if texts.is_empty() {
        String::new()
    } else {
        format!("Answers of this turn so far:\n{}", texts.join("\n"))
    }
}

/// Returns the JSON schema of a decision. The schema accepts only the ids of the given specialists.
pub(crate) fn decision_format(agents: &[Arc<Agent>], words: &EgressSession) -> Structured {
    let next = agents.iter().map(|agent| agent.id.as_str()).chain([FINISH]).collect();
    let schema = decision_schema(next, &REASONS);
    Structured { name: "route", schema: words.redact_schema(&schema) }
}

/// Returns the JSON schema of a decision between the ids in `next`.
pub(crate) fn decision_schema(next: Vec<&str>, reasons: &[&str]) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["next", "instruction", "reason_code", "entities"],
        "properties": {
            "next": {"type": "string", "enum": next},
            "instruction": {"type": "string", "description": "An order for the specialist; with FINISH the answer to the user, or nothing."},
            "reason_code": {"type": "string", "enum": reasons},
            "entities": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["kind", "value"],
                    "properties": {"kind": {"type": "string"}, "value": {"type": "string"}}
                }
            }
        }
    })
}

/// Parses a decision from the model's text. An error is written for the model, which gets it for
/// another attempt.
pub(crate) fn read(text: &str, agents: &[Arc<Agent>]) -> Result<(Next, RouteDecision), String> {
    let known = || {
        agents.iter().map(|agent| agent.id.as_str()).chain([FINISH]).collect::<Vec<_>>().join(", ")
    };
    let Some(decision) =
        object(text).and_then(|value| serde_json::from_value::<RouteDecision>(value).ok())
    else {
        return Err(format!(
            "That is no decision. Answer with one JSON object as described; next is one of {}.",
            known()
        ));
    };
    let named = decision.next.trim();
    if named.eq_ignore_ascii_case(FINISH) {
        return Ok((Next::Finish, decision));
    }
    match agents.iter().find(|agent| agent.id.as_str().eq_ignore_ascii_case(named)) {
        Some(agent) => Ok((Next::Agent(agent.id.clone()), decision)),
        None => Err(format!(
            "There is no specialist \"{}\". Decide again; next is one of {}.",
            named.chars().take(60).collect::<String>(),
            known()
        )),
    }
}

/// Returns the first JSON object in a text. Models often surround the object with words and code
/// fences.
fn object(text: &str) -> Option<Value> {
    text.match_indices('{').find_map(|(at, _)| {
        serde_json::Deserializer::from_str(&text[at..])
            .into_iter::<Value>()
            .next()?
            .ok()
            .filter(|value| value.get("next").is_some())
    })
}

/// Whether a specialist may be asked. The first time is always allowed, the second time only for
/// certain reasons.
pub(crate) fn may_visit(agent: &AgentId, decision: &RouteDecision, answered: &[Answered]) -> bool {
    match answered.iter().filter(|answer| answer.agent.id == *agent).count() {
        0 => true,
        1 => AGAIN.contains(&decision.reason_code.trim()),
        _ => false,
    }
}

/// Whether a decision says that the message is outside the task of every specialist.
pub(crate) fn is_out_of_scope(decision: &RouteDecision, answered: &[Answered]) -> bool {
    answered.is_empty() && decision.reason_code.trim() == DECLINED
}

/// Returns the supervisor's instruction in the form that the specialist receives.
pub(crate) fn instruction_for_specialist(decision: &RouteDecision) -> String {
    let mut text = decision.instruction.trim().to_owned();
    let entities = decision.entities.iter().filter(|entity| !entity.value.trim().is_empty());
    let entities: Vec<String> = entities
        .map(|entity| format!("{} {}", entity.kind.trim(), entity.value.trim()).trim().to_owned())
        .collect();
    if !entities.is_empty() {
        text.push_str(&format!("\nIt is about: {}.", entities.join(", ")));
    }
    text
}
