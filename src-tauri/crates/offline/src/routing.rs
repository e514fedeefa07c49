//! Chooses the specialists that answer, by the tools that the message needs, in the order of the
//! message. Also joins several answers into a text with the name and first words of each answer.

use contract::AgentId;
use engine::ports::{FINISH, ModelRequest, Outbound, RouteDecision, RouteEntity};
use messages::Language;
use serde_json::Value;

use super::{
    book::Book,
    data::KnownSources,
    dialogue::{self, Understanding},
    goal::Goal,
    texts::Text,
};

/// The most characters of an answer in the joined text.
const FIRST_WORDS: usize = 280;
/// The most list entries in the joined text.
const LISTED: usize = 3;

/// Returns the supervisor's decision as JSON.
pub(super) fn decide_route(
    book: &Book,
    known: Option<&KnownSources>,
    request: &ModelRequest,
    agents: &[(AgentId, Vec<String>)],
    answered: &[AgentId],
) -> String {
    let heard = dialogue::replay_conversation(book, known, request);
    serde_json::to_string(&decide(book, &heard, agents, answered)).unwrap_or_default()
}

fn decide(
    book: &Book,
    understood: &Understanding<'_>,
    agents: &[(AgentId, Vec<String>)],
    answered: &[AgentId],
) -> RouteDecision {
    // A tool may be lent to specialists of other packs. That of its own pack comes first.
    let owner = |tool: usize| {
        let tool = &book.tools[tool];
        let is_own = |id: &AgentId| book.packs[tool.pack].specialist.contains(&id.0);
        let mut may_call = agents
            .iter()
            .filter(|(_, tools)| tools.contains(&tool.spec.model_name))
            .map(|(id, _)| id);
        let first = may_call.clone().next();
        may_call.find(|id| is_own(id)).or(first)
    };
    let tools = understood.heard.tools(book).into_iter();
    let next = tools.filter_map(owner).find(|id| !answered.contains(id));
    match next {
        Some(id) => RouteDecision {
            next: id.0.clone(),
            instruction: understood.current.user.clone(),
            reason_code: "in_field".to_owned(),
            entities: understood
                .heard
                .meaning
                .goals
                .iter()
                .filter(|goal| owner(goal.tool) == Some(id))
                .flat_map(goal_entities)
                .collect(),
        },
        None => RouteDecision {
            next: FINISH.to_owned(),
            reason_code: if answered.is_empty() { "no_specialist_needed" } else { "answered" }
                .to_owned(),
            ..RouteDecision::default()
        },
    }
}

/// Returns a decision as JSON for each specialist that the message needs, in the order of the
/// message.
pub(super) fn decide_routes(
    book: &Book,
    known: Option<&KnownSources>,
    request: &ModelRequest,
    agents: &[(AgentId, Vec<String>)],
) -> Vec<String> {
    // All decisions are about the same message, which takes long to read.
    let understood = dialogue::replay_conversation(book, known, request);
    let mut answered: Vec<AgentId> = Vec::new();
    let mut decisions = Vec::new();
    for _ in agents {
        let decision = decide(book, &understood, agents, &answered);
        if decision.next == FINISH {
            break;
        }
        decisions.push(serde_json::to_string(&decision).unwrap_or_default());
        answered.push(AgentId::new(decision.next));
    }
    decisions
}

fn goal_entities(goal: &Goal) -> Vec<RouteEntity> {
    let texts = goal.args.iter().filter_map(|(name, value)| match value {
        Value::String(text) => Some((name, text.clone())),
        Value::Number(number) => Some((name, number.to_string())),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    });
    texts.map(|(name, value)| RouteEntity { kind: name.clone(), value }).collect()
}

/// Returns a short text that joins several answers.
pub(super) fn join_answers(
    book: &Book,
    known: Option<&KnownSources>,
    request: &ModelRequest,
    answers: &[(String, Outbound)],
) -> String {
    let understood = dialogue::replay_conversation(book, known, request);
    let spoken = understood.heard.meaning.lang.or(understood.state.lang);
    let lang = Language::of_tag(spoken.map_or(request.locale.as_str(), |lang| lang.tag()));
    let head = Text::InShort.text(lang);
    let lines: Vec<String> =
        answers.iter().map(|(name, text)| format!("- **{name}**: {}", first_words(text))).collect();
    format!("{head}\n\n{}", lines.join("\n"))
}

/// Returns the first line of prose in an answer. If the line introduces a list, adds the list's
/// first entries.
fn first_words(answer: &str) -> String {
    let prose = |line: &&str| !line.is_empty() && !line.starts_with(['|', '#', '>', '`']);
    let mut lines = answer.lines().map(str::trim).filter(prose);
    let first = lines.next().unwrap_or_default();
    let first = list_line_text(first).unwrap_or(first);
    let text = match first.strip_suffix(':') {
        None => first.to_owned(),
        Some(head) => announce_list(head.trim_end(), lines.map_while(list_line_text)),
    };
    if text.chars().count() <= FIRST_WORDS {
        text
    } else {
        text.chars().take(FIRST_WORDS - 1).chain(['…']).collect()
    }
}

/// Returns the text of a list line, or None for other lines.
fn list_line_text(line: &str) -> Option<&str> {
    line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))
}

fn announce_list<'a>(head: &str, entries: impl Iterator<Item = &'a str>) -> String {
    let mut entries: Vec<&str> =
        entries.take(LISTED + 1).map(|entry| entry.trim_end_matches(['.', ';'])).collect();
    let more = entries.len() > LISTED;
    entries.truncate(LISTED);
    match (entries.is_empty(), more) {
        (true, _) => format!("{head}."),
        (false, true) => format!("{head}: {} …", entries.join("; ")),
        (false, false) => format!("{head}: {}.", entries.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::first_words;

    #[test]
    fn a_short_form_of_an_answer_includes_the_list_that_its_first_line_announces() {
        for (answer, expected) in [
            ("It paces well.\n\n- more", "It paces well."),
            ("| a |\n- first\n- second", "first"),
            (
                "2 products for boots:\n\n- Trail boot, 900 kr\n- Town boot, 800 kr.\n\nAnything else?",
                "2 products for boots: Trail boot, 900 kr; Town boot, 800 kr.",
            ),
            ("4 products:\n- a\n- b\n- c\n- d", "4 products: a; b; c …"),
            ("7 products for boots:\n\n| name |\n|---|", "7 products for boots."),
            ("", ""),
        ] {
            assert_eq!(first_words(answer), expected, "{answer}");
        }
    }
}
