//! Finds the specialist that a message addresses with `@` and its name.

use contract::AgentId;

use crate::ports::Agent;

/// Returns the specialist that the text addresses by name or id. Returns none if the text addresses
/// no specialist or several.
pub(crate) fn find_mentioned_agent(text: &str, agents: &[Agent]) -> Option<AgentId> {
    let mut found: Option<&Agent> = None;
    for (at, _) in text.match_indices('@') {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| !c.is_whitespace() && c != '(') {
            continue;
        }
        let Some(agent) = find_agent_by_name(&text[at + 1..], agents) else { continue };
        if found.is_some_and(|known| known.id != agent.id) {
            return None;
        }
        found = Some(agent);
    }
    found.map(|agent| agent.id.clone())
}

/// Returns the specialist whose name or id the text begins with. The longest matching name is used.
fn find_agent_by_name<'a>(text: &str, agents: &'a [Agent]) -> Option<&'a Agent> {
    let length = |agent: &Agent| {
        let names = [agent.name.as_str(), agent.id.as_str()];
        names.into_iter().filter(|name| begins_with(text, name)).map(str::len).max()
    };
    agents
        .iter()
        .filter_map(|agent| length(agent).map(|length| (length, agent)))
        .max_by_key(|(length, _)| *length)
        .map(|(_, agent)| agent)
}

/// Whether the text begins with this name as a whole, ignoring case.
fn begins_with(text: &str, name: &str) -> bool {
    let mut rest = text.chars();
    !name.is_empty()
        && name
            .chars()
            .all(|c| rest.next().is_some_and(|given| given.to_lowercase().eq(c.to_lowercase())))
        && rest.next().is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents() -> Vec<Agent> {
        let one = |id: &str, name: &str| Agent {
            id: id.into(),
            pack: "test".into(),
            name: name.into(),
            summary: String::new(),
            prompt: String::new(),
            tools: Vec::new(),
            defaults: Vec::new(),
            entities: Vec::new(),
            max_steps: 1,
            calls_per_round: None,
            conversation: None,
        };
        vec![one("a", "Alma"), one("b", "Åke Berg"), one("c", "Åke Berg Larsson")]
    }

    #[test]
    fn a_specialist_is_addressed_by_a_whole_name_or_its_id() {
        for (text, expected) in [
            ("@Alma how is it?", Some("a")),
            ("how is it, @alma?", Some("a")),
            ("(@ALMA) how is it", Some("a")),
            ("@åke berg: boots", Some("b")),
            ("@Åke Berg Larsson boots", Some("c")),
            ("@c boots", Some("c")),
            ("@Almas cat", None),
            ("mail to x@alma", None),
            ("@nobody", None),
            ("@Alma and @Åke Berg", None),
            ("@Alma and @Alma again", Some("a")),
            ("Alma", None),
            ("@", None),
        ] {
            let found = find_mentioned_agent(text, &agents());
            assert_eq!(found.as_ref().map(AgentId::as_str), expected, "{text}");
        }
    }
}
