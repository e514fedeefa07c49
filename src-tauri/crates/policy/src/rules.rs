//! Reads the rules of `policy.json` and matches them against a call. Each fault in the file is
//! reported on its own. This file knows how a statement matches, not what a decision means.

use std::collections::HashSet;

pub use contract::{
    PolicyFault as RuleFault, PolicyRule as Rule, RuleAction as Action, StandingGrant,
};
use contract::{SessionId, Text, ToolId, ToolSpec, text};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

/// The rules and standing grants of a profile, and the faults of the parts that could not be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// The rules that could be read.
    pub rules: Vec<Rule>,
    /// The standing permissions that could be read.
    pub grants: Vec<StandingGrant>,
    /// The parts that could not be read.
    pub faults: Vec<RuleFault>,
}

/// The outer shape of the file. It is parsed first, so that each rule can be read and reported
/// separately.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileParts<'a> {
    #[serde(rename = "$schema", default)]
    _schema: Option<String>,
    #[serde(default, borrow)]
    rules: Vec<&'a RawValue>,
    #[serde(default, borrow)]
    grants: Vec<&'a RawValue>,
}

impl Rules {
    /// Reads the text of the file. A part that cannot be read becomes a fault; it never becomes a
    /// permission.
    pub fn parse(text: &str) -> Self {
        // Serde would accept a list as a struct, field by field.
        if text.trim_start().starts_with('[') {
            return Self::unreadable("line 1", "an object with `rules` and `grants` is expected");
        }
        let parts: FileParts<'_> = match serde_json::from_str(text) {
            Ok(parts) => parts,
            Err(e) => {
                return Self::unreadable(text!("line {line}", line = e.line()), e.to_string());
            }
        };
        let mut read = Self::default();
        let mut ids = HashSet::new();
        for (index, raw) in parts.rules.into_iter().enumerate() {
            let place = Place::find_place(text, raw, format!("rules[{index}]"));
            match place.parse_element::<Rule>(raw) {
                Ok(rule) => {
                    let fault = place.check_id(&rule.id, &mut ids).err();
                    // A deny rule counts even if its name has a fault.
                    if fault.is_none() || rule.action == Action::Deny {
                        read.rules.push(rule);
                    }
                    read.faults.extend(fault);
                }
                Err(fault) => read.faults.push(fault),
            }
        }
        ids.clear();
        for (index, raw) in parts.grants.into_iter().enumerate() {
            let place = Place::find_place(text, raw, format!("grants[{index}]"));
            match place
                .parse_element::<StandingGrant>(raw)
                .and_then(|grant| place.check_id(&grant.id, &mut ids).map(|()| grant))
            {
                Ok(grant) => read.grants.push(grant),
                Err(fault) => read.faults.push(fault),
            }
        }
        read
    }

    /// Returns no rules but a fault, for a file that cannot be read at all.
    pub fn unreadable(place: impl Into<Text>, problem: impl Into<Text>) -> Self {
        Self {
            faults: vec![RuleFault { place: place.into(), problem: problem.into() }],
            ..Self::default()
        }
    }

    pub(crate) fn first_matching_rule<'a>(
        &'a self,
        action: Action,
        tool: &'a ToolSpec,
        arguments: &'a Value,
    ) -> Option<&'a Rule> {
        self.matching_rules(action, tool, arguments).next()
    }

    /// Returns the rules of this action that match a call.
    pub(crate) fn matching_rules<'a>(
        &'a self,
        action: Action,
        tool: &'a ToolSpec,
        arguments: &'a Value,
    ) -> impl Iterator<Item = &'a Rule> {
        self.rules
            .iter()
            .filter(move |rule| rule.action == action && rule_matches(rule, tool, arguments))
    }

    /// Returns the standing grants of a tool in a session. If several packs have the id, a grant
    /// without a pack does not apply.
    pub(crate) fn grants_of<'a>(
        &'a self,
        tool: &'a ToolSpec,
        session: &'a SessionId,
    ) -> impl Iterator<Item = &'a StandingGrant> {
        let names_it = move |id: &ToolId| *id == tool.id || *id == tool.qualified_id();
        self.grants.iter().filter(move |grant| {
            names_it(&grant.tool) && grant.session.as_ref().is_none_or(|only| only == session)
        })
    }

    /// Describes the first fault of the rules file, if there is one. A fault concerns every tool, because
    /// the rule that cannot be read may have been about any of them.
    pub(crate) fn describe_fault(&self) -> Option<Text> {
        self.faults.first().map(|fault| {
            text!(
                "The rules file has a fault ({place}): {problem}.",
                place = fault.place,
                problem = trim_full_stop(&fault.problem)
            )
        })
    }
}

/// The position of a list element in the file.
struct Place {
    name: String,
    line: usize,
}

impl Place {
    fn find_place(text: &str, raw: &RawValue, name: String) -> Self {
        // `raw` is a slice of `text`, so its address gives its offset.
        let before = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        Self { name, line: text.get(..before).unwrap_or_default().matches('\n').count() + 1 }
    }

    fn make_fault(&self, line: usize, problem: impl Into<Text>) -> RuleFault {
        RuleFault {
            place: text!("{place}, line {line}", place = self.name, line = line),
            problem: problem.into(),
        }
    }

    fn parse_element<T: DeserializeOwned>(&self, raw: &RawValue) -> Result<T, RuleFault> {
        if !raw.get().starts_with('{') {
            return Err(self.make_fault(self.line, "an object is expected"));
        }
        serde_json::from_str(raw.get()).map_err(|e| {
            let said = e.to_string();
            let problem =
                said.rsplit_once(" at line ").map_or(said.as_str(), |(problem, _)| problem);
            self.make_fault(self.line + e.line().saturating_sub(1), problem.to_owned())
        })
    }

    fn check_id(&self, id: &str, taken: &mut HashSet<String>) -> Result<(), RuleFault> {
        if id.trim().is_empty() {
            return Err(self.make_fault(self.line, "the field `id` is empty"));
        }
        if !taken.insert(id.to_owned()) {
            return Err(self.make_fault(
                self.line,
                text!("the field `id` has the value {id}, which is taken already", id),
            ));
        }
        Ok(())
    }
}

fn rule_matches(rule: &Rule, tool: &ToolSpec, arguments: &Value) -> bool {
    let names_it = match rule.action {
        Action::Deny | Action::Ask => may_match_tool(&rule.tool, tool),
        Action::Allow => must_match_tool(&rule.tool, tool),
    };
    names_it
        && rule.effect.is_none_or(|effect| effect == tool.effect)
        && rule.arguments.iter().all(|(name, value)| arguments.get(name) == Some(value))
}

/// Whether a pattern could mean this tool, by its id with or without the pack, whatever other packs
/// exist.
fn may_match_tool(pattern: &str, tool: &ToolSpec) -> bool {
    matches_glob(pattern, tool.plain_id().as_str())
        || matches_glob(pattern, tool.qualified_id().as_str())
}

/// Whether a pattern certainly means this tool and not another pack's. A pattern without a pack
/// does not match an id that several packs have, unless it is `*`. A pack name matches only the
/// text before a colon.
fn must_match_tool(pattern: &str, tool: &ToolSpec) -> bool {
    let plain = tool.plain_id();
    match pattern.split_once(':') {
        Some((pack, id)) => {
            matches_glob(pack, tool.pack.as_str()) && matches_glob(id, plain.as_str())
        }
        None => pattern == "*" || (tool.id == plain && matches_glob(pattern, plain.as_str())),
    }
}

/// Describes the rule in a sentence.
pub(crate) fn describe_rule(rule: &Rule) -> Text {
    let Rule { id, tool, action, reason, .. } = rule;
    match (action, reason) {
        (Action::Deny, None) => text!("Rule {id} denies {tool}.", id, tool),
        (Action::Ask, None) => text!("Rule {id} asks for {tool}.", id, tool),
        (Action::Allow, None) => text!("Rule {id} allows {tool}.", id, tool),
        (Action::Deny, Some(reason)) => {
            text!("Rule {id} denies {tool}: {reason}", id, tool, reason)
        }
        (Action::Ask, Some(reason)) => {
            text!("Rule {id} asks for {tool}: {reason}", id, tool, reason)
        }
        (Action::Allow, Some(reason)) => {
            text!("Rule {id} allows {tool}: {reason}", id, tool, reason)
        }
    }
}

/// Removes the full stop at the end of a problem's text, so that the text fits into a sentence.
fn trim_full_stop(problem: &Text) -> Text {
    match problem {
        Text::Plain(problem) => problem.trim_end_matches('.').into(),
        Text::Filled(_) => problem.clone(),
    }
}

/// Whether `text` matches `pattern`. `*` matches any text; every other character matches itself.
fn matches_glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => {
            let Some(tail) = text.strip_prefix(head) else { return false };
            rest.is_empty()
                || tail
                    .char_indices()
                    .map(|(i, _)| i)
                    .chain([tail.len()])
                    .any(|i| matches_glob(rest, &tail[i..]))
        }
    }
}
