//! Layer 3 of the prompt: the entities that users name, and default values for parameters that they
//! do not name. The prompt lists the defaults. The host ensures that only the user's own words
//! replace a default, and adds the used value and its origin to each answer.

use std::sync::Arc;

use contract::{AgentError, Effect, Item, ItemBody, ToolSpec, manifest::Entity, text};
use serde_json::{Map, Value};

use crate::{context::guidance::words, ports::Agent, texts::Text};

/// The most entities that are listed in the prompt.
const LISTED: usize = 60;

/// The origin of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    /// The value was used in an earlier call of the conversation.
    Inherited,
    /// The user's message names the value or an entity that implies it.
    Explicit,
}

/// A value that a call used for a parameter with a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) parameter: String,
    pub(crate) kind: String,
    pub(crate) id: String,
    pub(crate) origin: Origin,
}

/// The user's text and the earlier conversation, in which values are searched for.
pub(crate) struct Past<'a> {
    /// The user's message of this turn.
    pub(crate) said: &'a str,
    pub(crate) earlier: &'a [Arc<Item>],
    /// Whether the built-in model answers. The built-in model finds names with the packs' own
    /// tables, so its arguments are not changed.
    pub(crate) in_process: bool,
}

/// Returns the part of the prompt that lists the defaults.
pub(crate) fn defaults_text(agent: &Agent) -> String {
    if agent.defaults.is_empty() {
        return String::new();
    }
    let mut text = "# Defaults\nUsed when the user names no other value. Override one only with a value that the user's own words name:".to_owned();
    for default in &agent.defaults {
        match &default.value {
            Some(value) => text.push_str(&format!(
                "\n- {}: {value}{}",
                default.parameter,
                bracketed(name_of(agent, &default.entity, value))
            )),
            None => text.push_str(&format!(
                "\n- {}: None (means all, or none was chosen)",
                default.parameter
            )),
        }
    }
    let mut listed = agent.entities.iter().take(LISTED).peekable();
    if listed.peek().is_some() {
        text.push_str("\nNames that users say, with the values they stand for:");
    }
    for entity in listed {
        let also = if entity.aliases.is_empty() {
            String::new()
        } else {
            format!(" (also: {})", entity.aliases.join(", "))
        };
        let implied: String = entity
            .implies
            .iter()
            .map(|(parameter, value)| format!("; {parameter} {value}"))
            .collect();
        text.push_str(&format!(
            "\n- {} {}: {}{also}{implied}",
            entity.kind, entity.name, entity.id
        ));
    }
    text.push_str("\nA follow-up keeps the values of the question before. Always name the value used and say whether it was default, inherited or explicit.");
    text
}

fn bracketed(name: Option<&str>) -> String {
    name.map(|name| format!(" ({name})")).unwrap_or_default()
}

fn name_of<'a>(agent: &'a Agent, kind: &str, id: &str) -> Option<&'a str> {
    agent
        .entities
        .iter()
        .find(|entity| entity.kind == kind && entity.id == id)
        .map(|entity| entity.name.as_str())
        .filter(|name| *name != id)
}

/// Adds default values to a call's arguments and returns the origin of each value. Fails if the
/// model gave a value that the user has not named.
pub(crate) fn fill_defaults(
    agent: &Agent,
    spec: &ToolSpec,
    arguments: &mut Value,
    past: &Past<'_>,
) -> Result<Vec<Used>, AgentError> {
    // A change gets no default values, because the user must name them.
    if spec.effect != Effect::ReadOnly {
        return Ok(Vec::new());
    }
    let Some(given) = arguments.as_object_mut() else { return Ok(Vec::new()) };
    let mut used = Vec::new();
    for default in agent.defaults.iter().filter(|default| has_parameter(spec, &default.parameter)) {
        let (parameter, kind) = (&default.parameter, &default.entity);
        let named = named_ids(agent, kind, parameter, past.said);
        let before = inherited_value(parameter, past.earlier);
        let (id, origin) = match given.get(parameter).and_then(as_text) {
            Some(id) => {
                let origin = if named.contains(&id) || contains_words(past.said, &id) {
                    Origin::Explicit
                } else if before.as_ref() == Some(&id)
                    || is_named_earlier(agent, kind, parameter, &id, past.earlier)
                {
                    Origin::Inherited
                } else if default.value.as_ref() == Some(&id) {
                    Origin::Default
                } else if past.in_process {
                    Origin::Explicit
                } else {
                    return Err(unnamed_value_error(parameter, &id, default.value.as_deref()));
                };
                (id, origin)
            }
            None => {
                let (id, origin) = match (named.as_slice(), before, &default.value) {
                    ([one], ..) => (one.clone(), Origin::Explicit),
                    (_, Some(before), Some(_)) => (before, Origin::Inherited),
                    (_, _, Some(value)) => (value.clone(), Origin::Default),
                    // Without a default, an absent argument means all, unless the result names the
                    // value that was used.
                    (_, _, None) => (String::new(), Origin::Default),
                };
                if !past.in_process && default.value.is_some() {
                    given.insert(parameter.clone(), Value::String(id.clone()));
                }
                (id, origin)
            }
        };
        used.push(Used { parameter: parameter.clone(), kind: kind.clone(), id, origin });
    }
    Ok(used)
}

fn unnamed_value_error(parameter: &str, id: &str, default: Option<&str>) -> AgentError {
    let hint = default.map_or_else(
        || "Leave it out, or ask the user which one is meant.".into(),
        |default| text!("Use the default {default}, or ask the user which one is meant.", default),
    );
    AgentError::invalid(text!("The user's words do not name {parameter} {id}.", parameter, id))
        .reason("default_owned")
        .hint(hint)
}

fn has_parameter(spec: &ToolSpec, parameter: &str) -> bool {
    spec.input_schema
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(|fields| fields.contains_key(parameter))
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the parameter's value in the newest call that has one.
fn inherited_value(parameter: &str, earlier: &[Arc<Item>]) -> Option<String> {
    earlier.iter().rev().find_map(|item| match &item.body {
        ItemBody::ToolCall { arguments, .. } => arguments.get(parameter).and_then(as_text),
        _ => None,
    })
}

fn is_named_earlier(
    agent: &Agent,
    kind: &str,
    parameter: &str,
    id: &str,
    earlier: &[Arc<Item>],
) -> bool {
    let texts = earlier.iter().filter_map(|item| {
        if let ItemBody::UserMessage { text } = &item.body { Some(text) } else { None }
    });
    texts.into_iter().any(|text| {
        contains_words(text, id)
            || named_ids(agent, kind, parameter, text).iter().any(|known| known == id)
    })
}

fn contains_words(text: &str, value: &str) -> bool {
    let (text, value) = (words(text), words(value));
    !value.is_empty() && text.windows(value.len()).any(|part| part == value)
}

/// Returns the entities that a text names for a parameter, and the entities that these imply.
/// Matches whole words, longest name first.
fn named_ids(agent: &Agent, kind: &str, parameter: &str, text: &str) -> Vec<String> {
    let said = words(text);
    let mut taken = vec![false; said.len()];
    let names = |entity: &Entity| {
        let mut names: Vec<Vec<String>> = entity
            .aliases
            .iter()
            .chain([&entity.name])
            .map(|name| words(name))
            .filter(|name| !name.is_empty())
            .collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names
    };
    let mut all: Vec<(&Entity, Vec<String>)> = agent
        .entities
        .iter()
        .flat_map(|entity| names(entity).into_iter().map(move |name| (entity, name)))
        .collect();
    all.sort_by_key(|(_, name)| std::cmp::Reverse(name.len()));
    let mut found: Vec<String> = Vec::new();
    for (entity, name) in all {
        for at in 0..(said.len() + 1).saturating_sub(name.len()) {
            let here = at..at + name.len();
            if taken[here.clone()].contains(&true)
                || !said[here.clone()]
                    .iter()
                    .zip(&name)
                    .all(|(said, known)| is_similar_word(said, known))
            {
                continue;
            }
            taken[here].fill(true);
            let id =
                if entity.kind == kind { Some(&entity.id) } else { entity.implies.get(parameter) };
            if let Some(id) = id.filter(|id| !found.contains(id)) {
                found.push(id.clone());
            }
        }
    }
    found
}

/// Whether two words are equal, or both long and different in only one letter.
fn is_similar_word(said: &str, known: &str) -> bool {
    if said == known {
        return true;
    }
    let (said, known): (Vec<char>, Vec<char>) = (said.chars().collect(), known.chars().collect());
    if known.len() < 5 || said.len().abs_diff(known.len()) > 1 {
        return false;
    }
    let front = said.iter().zip(&known).take_while(|(a, b)| a == b).count();
    let rest = |text: &[char], skip: usize| text.get(front + skip..).unwrap_or_default().to_vec();
    rest(&said, 1) == rest(&known, 1)
        || rest(&said, 1) == rest(&known, 0)
        || rest(&said, 0) == rest(&known, 1)
}

/// Returns the name of a kind of entity for people.
fn title_of<'a>(agent: &'a Agent, kind: &'a str, locale: &str) -> &'a str {
    let default = agent.defaults.iter().find(|default| default.entity == kind);
    let mut titles = default.into_iter().flat_map(|default| &default.title);
    titles.find(|(language, _)| locale.starts_with(*language)).map_or(kind, |(_, title)| title)
}

/// Returns the line under an answer that names the values used. The line includes the origin of a
/// value unless the question named the value.
pub(crate) fn line(agent: &Agent, used: &[Used], locale: &str) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for one in used {
        let id = &one.id;
        let value = name_of(agent, &one.kind, id)
            .map_or_else(|| id.clone(), |name| format!("{name} ({id})"));
        let origin = match one.origin {
            Origin::Default => Some(Text::OriginDefault),
            Origin::Inherited => Some(Text::OriginInherited),
            Origin::Explicit => None,
        };
        let origin =
            origin.map_or_else(String::new, |origin| format!(", {}", origin.in_locale(locale)));
        let part = format!("{}: {value}{origin}", title_of(agent, &one.kind, locale));
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let line = parts.join("; ");
    let first = line.chars().next()?;
    Some(first.to_uppercase().chain(line.chars().skip(1)).collect())
}

/// Replaces the used values by the values that the result reports, for parameters that the call did
/// not set.
pub(crate) fn correct_used_values(
    mut used: Vec<Used>,
    arguments: &Map<String, Value>,
    data: &Value,
) -> Vec<Used> {
    for one in &mut used {
        if !arguments.contains_key(&one.parameter)
            && let Some(id) = data.get(&one.parameter).and_then(as_text)
        {
            if id != one.id && !one.id.is_empty() {
                one.origin = Origin::Default;
            }
            one.id = id;
        } else if !arguments.contains_key(&one.parameter)
            && !data.is_null()
            && data.get(&one.parameter).is_some()
        {
            one.id.clear();
        }
    }
    used.retain(|one| !one.id.is_empty());
    used
}

#[cfg(test)]
mod tests {
    use contract::manifest::EntityDefault;

    use super::*;

    fn agent() -> Agent {
        let entity = |kind: &str, id: &str, name: &str, alias: &str| Entity {
            kind: kind.into(),
            id: id.into(),
            name: name.into(),
            aliases: vec![alias.into()],
            implies: if kind == "advertiser" {
                [("account_id".to_owned(), "23".to_owned())].into()
            } else {
                [].into()
            },
        };
        Agent {
            id: "guardian".into(),
            pack: "p".into(),
            name: "Guardian".into(),
            summary: String::new(),
            prompt: String::new(),
            tools: vec![],
            defaults: vec![EntityDefault {
                parameter: "account_id".into(),
                entity: "account".into(),
                value: Some("17".into()),
                title: Default::default(),
            }],
            entities: vec![
                entity("account", "17", "Northwind Outdoor", "northwind"),
                entity("account", "18", "Northwind Outdoor Nordic", "nordic"),
                entity("account", "23", "Bluebell Home", "bluebell"),
                entity("advertiser", "Moss", "Moss & Oak", "moss"),
            ],
            max_steps: 5,
            conversation: None,
            calls_per_round: None,
        }
    }

    #[test]
    fn instructions_6_entity_names_match_as_whole_words_and_the_longest_name_wins() {
        let named = |text: &str| named_ids(&agent(), "account", "account_id", text);
        assert_eq!(named("how is Bluebell doing"), ["23"]);
        assert_eq!(
            named("northwind outdoor nordic, please"),
            ["18"],
            "not the shorter name inside it"
        );
        assert!(
            named("bluebells are flowers, mossy stones").iter().all(|id| id == "23"),
            "no hit inside of other words"
        );
        assert!(named("mossy").is_empty());
        assert_eq!(named("is Moss & Oak on track"), ["23"], "an advertiser names its account");
        assert_eq!(named("how is Bluebel"), ["23"], "one letter is missing");
        assert!(named("nothing of it").is_empty());
    }
}
