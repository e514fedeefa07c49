//! Statements of what may run, as written in the rules file. Knows how a rule matches, not what a decision means.

use contract::{Effect, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Deny,
    Ask,
    Allow,
}

/// One rule. All given conditions must hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub id: String,
    pub action: Action,
    /// A tool id; `*` stands for any text.
    pub tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Arguments that must be equal, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
}

impl Rule {
    fn matches(&self, tool: &ToolSpec, arguments: &Value) -> bool {
        glob(&self.tool, tool.id.as_str())
            && self.effect.is_none_or(|effect| effect == tool.effect)
            && self.arguments.iter().all(|(name, value)| arguments.get(name) == Some(value))
    }

    /// The rule in words.
    pub fn why(&self) -> String {
        let verb = match self.action {
            Action::Deny => "denies",
            Action::Ask => "asks for",
            Action::Allow => "allows",
        };
        format!("Rule {} {verb} {}.", self.id, self.tool)
    }
}

/// A rule that could not be read. While it stands, tools it may have spoken of ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFault {
    pub place: String,
    pub problem: String,
}

/// The rules of a profile, with those that could not be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    pub rules: Vec<Rule>,
    pub faults: Vec<RuleFault>,
}

impl Rules {
    /// Reads a JSON list of rules; what cannot be read becomes a fault and never a permission.
    pub fn parse(text: &str) -> Self {
        let list: Vec<Value> = match serde_json::from_str(text) {
            Ok(list) => list,
            Err(e) => return Self { rules: Vec::new(), faults: vec![RuleFault { place: format!("line {}", e.line()), problem: e.to_string() }] },
        };
        let mut read = Self::default();
        for (index, value) in list.into_iter().enumerate() {
            match serde_json::from_value::<Rule>(value) {
                Ok(rule) => read.rules.push(rule),
                Err(e) => read.faults.push(RuleFault { place: format!("rule {}", index + 1), problem: e.to_string() }),
            }
        }
        read
    }

    pub(crate) fn first(&self, action: Action, tool: &ToolSpec, arguments: &Value) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.action == action && rule.matches(tool, arguments))
    }

    /// A rule that cannot be read may have spoken of any tool.
    pub(crate) fn fault(&self) -> Option<String> {
        self.faults.first().map(|fault| format!("The rules file has a fault ({}): {}", fault.place, fault.problem))
    }
}

/// `*` matches any text, everything else itself.
fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => {
            let Some(tail) = text.strip_prefix(head) else { return false };
            rest.is_empty() || tail.char_indices().map(|(i, _)| i).chain([tail.len()]).any(|i| glob(rest, &tail[i..]))
        }
    }
}
