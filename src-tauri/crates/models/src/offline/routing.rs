//! Who answers, decided by the packs: the specialists whose tools a message asks for, in the order in which it asks. And the
//! text that joins several answers: the first words of each, with its name. Nothing is worded here that was not answered.

use contract::AgentId;
use engine::ports::{FINISH, ModelRequest, Outbound, RouteDecision, RouteEntity};
use serde_json::Value;

use super::{book::Book, dialogue, goal::Goal, lang::Lang};

/// Characters of an answer in the joining text.
const FIRST_WORDS: usize = 280;

/// The supervisor's decision, as JSON.
pub(super) fn decide(book: &Book, request: &ModelRequest, agents: &[(AgentId, Vec<String>)], answered: &[AgentId]) -> String {
    let heard = dialogue::hear(book, request);
    let owner = |goal: &Goal| {
        let name = &book.tools[goal.tool].spec.model_name;
        agents.iter().find(|(_, tools)| tools.contains(name)).map(|(id, _)| id)
    };
    let next = heard.meaning.goals.iter().filter_map(owner).find(|id| !answered.contains(id));
    let decision = match next {
        Some(id) => RouteDecision {
            next: id.0.clone(),
            instruction: heard.current.user.clone(),
            reason_code: "in_field".to_owned(),
            entities: heard.meaning.goals.iter().filter(|goal| owner(goal) == Some(id)).flat_map(entities).collect(),
        },
        None => RouteDecision {
            next: FINISH.to_owned(),
            reason_code: if answered.is_empty() { "no_specialist_needed" } else { "answered" }.to_owned(),
            ..RouteDecision::default()
        },
    };
    serde_json::to_string(&decision).unwrap_or_default()
}

fn entities(goal: &Goal) -> Vec<RouteEntity> {
    let texts = goal.args.iter().filter_map(|(name, value)| match value {
        Value::String(text) => Some((name, text.clone())),
        Value::Number(number) => Some((name, number.to_string())),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    });
    texts.map(|(name, value)| RouteEntity { kind: name.clone(), value }).collect()
}

/// Several answers in short.
pub(super) fn synthesis(book: &Book, request: &ModelRequest, answers: &[(String, Outbound)]) -> String {
    let heard = dialogue::hear(book, request);
    let lang = heard.meaning.lang.or(heard.state.lang).unwrap_or_else(|| Lang::from_tag(&request.locale));
    let head = match lang {
        Lang::En => "In short:",
        Lang::Sv => "I korthet:",
    };
    let lines: Vec<String> = answers.iter().map(|(name, text)| format!("- **{name}**: {}", first_words(text))).collect();
    format!("{head}\n\n{}", lines.join("\n"))
}

/// The first line that is prose.
fn first_words(answer: &str) -> String {
    let prose = |line: &&str| !line.is_empty() && !line.starts_with(['|', '#', '>', '`']);
    let line = answer.lines().map(str::trim).find(prose).unwrap_or_default();
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line).to_owned();
    if line.chars().count() <= FIRST_WORDS { line } else { line.chars().take(FIRST_WORDS - 1).chain(['…']).collect() }
}
