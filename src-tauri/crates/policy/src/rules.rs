//! Reads the rules of `policy.json` and matches them against a call. Each error in the file is
//! reported separately. This file matches rules but does not decide calls.

use std::collections::HashSet;

use contract::{CallerKind, PolicyFile, SessionId, Text, ToolId, ToolSpec, text};
pub use contract::{
    PolicyFault as RuleFault, PolicyRule as Rule, RuleAction as Action, StandingGrant,
};
use files::fault;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use wildmatch::WildMatchPattern;

use crate::Question;

/// The most rules of a file, and the most grants. Every decision examines all of them.
const MOST: usize = 1_000;
/// The most bytes of a pattern, an id or a caller of a rule.
const MOST_BYTES: usize = 200;
/// The most callers of a rule.
const MOST_CALLERS: usize = 20;

/// The rules and standing grants of a profile, and the problems of the parts that could not be
/// read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// The rules that could be read.
    pub rules: Vec<Rule>,
    /// The standing permissions that could be read.
    pub grants: Vec<StandingGrant>,
    /// The parts that could not be read.
    pub faults: Vec<RuleFault>,
}

/// The outer structure of the file. The elements are parsed later, so that each rule is read and
/// reported separately.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileParts<'a> {
    #[serde(rename = "$schema", default)]
    schema: Option<String>,
    #[serde(default)]
    version: Option<u32>,
    #[serde(default, borrow)]
    rules: Vec<&'a RawValue>,
    #[serde(default, borrow)]
    grants: Vec<&'a RawValue>,
}

impl Rules {
    /// Reads the text of the file. A part that cannot be read is reported as a fault and never
    /// grants permission.
    pub fn parse(text: &str) -> Self {
        // Serde would accept a JSON list for a struct and assign its elements to the fields in
        // order.
        if text.trim_start().starts_with('[') {
            return Self::unreadable("line 1", "an object with `rules` and `grants` is expected");
        }
        let parts: FileParts<'_> = match serde_json::from_str(text) {
            Ok(parts) => parts,
            Err(e) => {
                let problem = fault::without_values(&e.to_string());
                return Self::unreadable(text!("line {line}", line = e.line()), problem);
            }
        };
        let mut read = Self::default();
        read.faults.extend(parts.version.and_then(newer_version));
        let mut ids = HashSet::new();
        for (index, raw) in parts.rules.into_iter().enumerate() {
            let position = ElementPosition::find(text, raw, format!("rules[{index}]"));
            match position.parse_element::<Rule>(raw) {
                Ok(rule) => {
                    if let Err(fault) = position.check_pattern(&rule.tool) {
                        read.faults.push(fault);
                        continue;
                    }
                    let fault = position
                        .check_id(&rule.id, &mut ids)
                        .and_then(|()| position.check_callers(&rule.callers))
                        .err()
                        .or_else(|| {
                            (index == MOST)
                                .then(|| position.make_fault(position.line, too_many("rules")))
                        });
                    // A deny rule applies even if its name or one of its callers is invalid.
                    let fits = fault.is_none() && index < MOST;
                    if fits || rule.action == Action::Deny {
                        read.rules.push(rule);
                    }
                    read.faults.extend(fault);
                }
                Err(fault) => read.faults.push(fault),
            }
        }
        ids.clear();
        for (index, raw) in parts.grants.into_iter().enumerate() {
            let position = ElementPosition::find(text, raw, format!("grants[{index}]"));
            match position
                .parse_element::<StandingGrant>(raw)
                .and_then(|grant| position.check_id(&grant.id, &mut ids).map(|()| grant))
            {
                Ok(grant) if index < MOST => read.grants.push(grant),
                Ok(_) if index == MOST => {
                    read.faults.push(position.make_fault(position.line, too_many("grants")));
                }
                Ok(_) => {}
                Err(fault) => read.faults.push(fault),
            }
        }
        read
    }

    /// Returns a single fault and no rules, for a file that cannot be read at all.
    pub fn unreadable(place: impl Into<Text>, problem: impl Into<Text>) -> Self {
        Self {
            faults: vec![RuleFault { place: place.into(), problem: problem.into() }],
            ..Self::default()
        }
    }

    /// Returns the parts that are relevant to a tool: the rules whose pattern may match the tool,
    /// the grants that name the tool, and all faults.
    #[must_use]
    pub fn about(&self, tool: &ToolSpec) -> Self {
        let names_it = |id: &ToolId| *id == tool.id || *id == tool.qualified_id();
        Self {
            rules: self.rules.iter().filter(|rule| names_tool(rule, tool)).cloned().collect(),
            grants: self.grants.iter().filter(|grant| names_it(&grant.tool)).cloned().collect(),
            faults: self.faults.clone(),
        }
    }

    /// Whether a rule applies only to calls of certain callers.
    pub fn name_callers(&self) -> bool {
        self.rules.iter().any(|rule| !rule.callers.is_empty())
    }

    pub(crate) fn first_matching_rule<'a>(
        &'a self,
        action: Action,
        question: Question<'a>,
    ) -> Option<&'a Rule> {
        self.matching_rules(action, question).next()
    }

    /// Returns the rules of this action that match a call.
    pub(crate) fn matching_rules<'a>(
        &'a self,
        action: Action,
        question: Question<'a>,
    ) -> impl Iterator<Item = &'a Rule> {
        self.rules.iter().filter(move |rule| rule.action == action && rule_matches(rule, question))
    }

    /// Returns the standing grants of a tool in a session. If several packs have a tool with this
    /// id, a grant without a pack does not apply.
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

    /// Describes the first fault of the rules file, if there is one. A fault affects every tool,
    /// because a rule that cannot be read may have been about any tool.
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

/// Whether the text of a rules file can be split into its parts. Otherwise all of it is one fault.
pub fn has_parts(text: &str) -> bool {
    !text.trim_start().starts_with('[') && serde_json::from_str::<FileParts<'_>>(text).is_ok()
}

/// Returns the readable parts of a rules file as text, in the form in which changed rules are
/// stored. A file without rules gives an empty list.
pub fn stored_text(text: &str) -> String {
    let parts = serde_json::from_str::<FileParts<'_>>(text).ok();
    let (schema, version) = parts.map(|parts| (parts.schema, parts.version)).unwrap_or_default();
    let Rules { rules, grants, .. } = Rules::parse(text);
    // An older program must not read these rules without their limits.
    let is_limited = |rule: &Rule| !rule.callers.is_empty() || rule.expires_at.is_some();
    let version = if rules.iter().any(is_limited) {
        Some(version.unwrap_or_default().max(PolicyFile::VERSION))
    } else {
        version
    };
    let file = PolicyFile { schema, version, rules, grants };
    serde_json::to_string_pretty(&file).map(|text| text + "\n").unwrap_or_default()
}

/// The position of a list element in the file.
struct ElementPosition {
    name: String,
    line: usize,
}

impl ElementPosition {
    fn find(text: &str, raw: &RawValue, name: String) -> Self {
        // `raw` is a slice of `text`, so the difference of their addresses is the offset.
        let before = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        Self { name, line: text.get(..before).unwrap_or_default().matches('\n').count() + 1 }
    }

    fn make_fault(&self, line: usize, problem: impl Into<Text>) -> RuleFault {
        RuleFault {
            place: text!("{place}, line {line}", place = self.name, line = line),
            problem: problem.into(),
        }
    }

    fn check_pattern(&self, pattern: &str) -> Result<(), RuleFault> {
        if pattern.len() > MOST_BYTES {
            Err(self.too_long("tool"))
        } else if pattern.contains(ANY_ONE) {
            Err(self.make_fault(self.line, "the field `tool` is not the id of a tool"))
        } else {
            Ok(())
        }
    }

    fn check_callers(&self, callers: &[String]) -> Result<(), RuleFault> {
        if callers.len() > MOST_CALLERS || callers.iter().any(|name| name.len() > MOST_BYTES) {
            let problem = text!(
                "the field `callers` has more than {most} names, or a name that is too long",
                most = MOST_CALLERS
            );
            Err(self.make_fault(self.line, problem))
        } else if callers.iter().any(|name| read_caller(name).is_none()) {
            Err(self.make_fault(self.line, "the field `callers` has a name that is no caller"))
        } else {
            Ok(())
        }
    }

    fn too_long(&self, field: &str) -> RuleFault {
        let problem =
            text!("the field `{field}` has more than {most} characters", field, most = MOST_BYTES);
        self.make_fault(self.line, problem)
    }

    fn parse_element<T: DeserializeOwned>(&self, raw: &RawValue) -> Result<T, RuleFault> {
        if !raw.get().starts_with('{') {
            return Err(self.make_fault(self.line, "an object is expected"));
        }
        let mut reader = serde_json::Deserializer::from_str(raw.get());
        serde_path_to_error::deserialize(&mut reader).map_err(|e| {
            let (field, said) = (e.path().to_string(), e.inner().to_string());
            let problem =
                said.rsplit_once(" at line ").map_or(said.as_str(), |(problem, _)| problem);
            let problem = fault::without_values(problem);
            let line = self.line + e.inner().line().saturating_sub(1);
            // Messages that are not about a value name the field themselves.
            let is_about_value = !problem.contains("field `") && field != ".";
            if is_about_value {
                self.make_fault(line, format!("the field `{field}`: {problem}"))
            } else {
                self.make_fault(line, problem)
            }
        })
    }

    fn check_id(&self, id: &str, taken: &mut HashSet<String>) -> Result<(), RuleFault> {
        if id.trim().is_empty() {
            return Err(self.make_fault(self.line, "the field `id` is empty"));
        }
        if id.len() > MOST_BYTES {
            return Err(self.too_long("id"));
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

fn too_many(list: &str) -> Text {
    text!("the file has more than {most} {list}", most = MOST, list)
}

/// Returns a fault if a newer program wrote the file, whose rules may mean something else.
fn newer_version(version: u32) -> Option<RuleFault> {
    (version > PolicyFile::VERSION).then(|| RuleFault {
        place: "version".into(),
        problem: text!(
            "the file needs version {version} of the format, and this program knows version {known}",
            version,
            known = PolicyFile::VERSION
        ),
    })
}

/// Reads the name of a caller in a rule: a kind, or `kind:NAME` for a kind with named callers.
pub(crate) fn read_caller(name: &str) -> Option<CallerKind> {
    let (kind, own) = match name.split_once(':') {
        Some((kind, own)) => (kind, Some(own)),
        None => (name, None),
    };
    let found = CallerKind::ALL.into_iter().find(|known| known.name() == kind)?;
    match own {
        None => Some(found),
        Some(own) if found.takes_own_name() && !own.is_empty() => Some(found.with_own_name(own)),
        Some(_) => None,
    }
}

/// Whether the name of a caller in a rule covers a caller: the caller's kind, or its own name.
fn names_caller(name: &str, caller: &CallerKind) -> bool {
    match name.split_once(':') {
        None => name == caller.name(),
        Some((kind, own)) => kind == caller.name() && caller.own_name() == Some(own),
    }
}

fn rule_matches(rule: &Rule, question: Question<'_>) -> bool {
    let Question { tool, arguments, caller, now, .. } = question;
    names_tool(rule, tool)
        && rule.effect.is_none_or(|effect| effect == tool.effect)
        && rule.arguments.iter().all(|(name, value)| arguments.get(name) == Some(value))
        && (rule.callers.is_empty() || rule.callers.iter().any(|name| names_caller(name, caller)))
        && rule.expires_at.is_none_or(|end| end > now)
}

/// Whether the pattern of a rule matches a tool.
fn names_tool(rule: &Rule, tool: &ToolSpec) -> bool {
    match rule.action {
        Action::Deny | Action::Ask => may_match_tool(&rule.tool, tool),
        Action::Allow => must_match_tool(&rule.tool, tool),
    }
}

/// Whether a pattern could match this tool, by its id with or without the pack, regardless of which
/// other packs exist.
fn may_match_tool(pattern: &str, tool: &ToolSpec) -> bool {
    matches_glob(pattern, tool.plain_id().as_str())
        || matches_glob(pattern, tool.qualified_id().as_str())
}

/// Whether a pattern can only match this tool and not a tool of another pack. A pattern without a
/// pack does not match an id that several packs have, unless it is `*`. A pack name matches only
/// the text before a colon.
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

/// Removes the full stop at the end of a problem's text, so that the text can be used within a
/// sentence.
fn trim_full_stop(problem: &Text) -> Text {
    match problem {
        Text::Plain(problem) => problem.trim_end_matches('.').into(),
        Text::Filled(_) => problem.clone(),
    }
}

/// The library requires a wildcard for a single character. This character is a Unicode
/// noncharacter, so no id contains it. A pattern that contains it is reported as a fault.
const ANY_ONE: char = '\u{10ffff}';
/// A pattern in which only `*` is a wildcard.
type Glob = WildMatchPattern<'*', ANY_ONE>;

/// Whether `text` matches `pattern`. `*` matches any text; every other character matches itself.
/// The number of steps is at most the product of both lengths.
pub(crate) fn matches_glob(pattern: &str, text: &str) -> bool {
    Glob::new(pattern).matches(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Matches a pattern with dynamic programming, as a reference for the test.
    fn means(pattern: &str, text: &str) -> bool {
        let (pattern, text): (Vec<char>, Vec<char>) =
            (pattern.chars().collect(), text.chars().collect());
        let mut row: Vec<bool> = (0..=text.len()).map(|at| at == 0).collect();
        for sign in pattern {
            let mut next = vec![sign == '*' && row[0]];
            for (at, letter) in text.iter().enumerate() {
                let is_met =
                    if sign == '*' { row[at + 1] || next[at] } else { row[at] && sign == *letter };
                next.push(is_met);
            }
            row = next;
        }
        row[text.len()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn only_the_star_is_a_wildcard_in_patterns(pattern in "[ab.?\\[\\]\\\\{}*å]{0,9}", text in "[ab.?\\[\\]\\\\{}*å]{0,9}") {
            prop_assert_eq!(matches_glob(&pattern, &text), means(&pattern, &text), "{} {}", pattern, text);
        }
    }

    #[test]
    fn a_pattern_with_many_stars_is_matched_quickly() {
        let text = "a".repeat(200);
        for pattern in ["*a".repeat(40) + "b", "*".repeat(200), "a*".repeat(100) + "b"] {
            assert_eq!(matches_glob(&pattern, &text), means(&pattern, &text), "{pattern}");
        }
    }
}
