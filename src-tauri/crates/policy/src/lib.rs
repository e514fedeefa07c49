//! Decides which tool calls may run. A pure function maps a question and its rules to a decision,
//! without I/O, clock or store.
//!
//! Precedence: built-in denials > deny rules > approvals that a pack requires > destinations of
//! reads > ask rules > allow rules (and grants) > tool default > global default. Deny always wins,
//! whatever the order of the rules. A rule that cannot be read leads to a question or a denial,
//! never to permission.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod destinations;
mod hindsight;
mod idle;
mod rules;

use chrono::{DateTime, Utc};
use contract::{
    CallerKind, Destination, Effect, Grant, GrantId, PolicyMode, SessionId, Text, ToolSpec,
    ToolTarget, manifest::OutputTrust, text,
};
use serde_json::{Map, Value};

pub use destinations::{addressed, named_in, server_destination, server_of, typed_destination};
pub use hindsight::{Doubt, Known, decide_past};
pub use rules::{Action, Rule, RuleFault, Rules, StandingGrant, has_parts, stored_text};

/// All circumstances on which a decision depends.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The tool of the call.
    pub tool: &'a ToolSpec,
    /// The arguments of the call.
    pub arguments: &'a Value,
    /// The session of the call.
    pub session: &'a SessionId,
    /// The caller of the turn.
    pub caller: &'a CallerKind,
    /// The default for tools that no rule matches.
    pub mode: PolicyMode,
    /// The user's rules and standing permissions.
    pub rules: &'a Rules,
    /// The permissions that a person gave for the rest of a session.
    pub grants: &'a [Grant],
    /// Whether a request of this turn carries content from outside. If so, a permission covers a
    /// call only if the permission fixes or `typed` names each argument.
    pub untrusted_entered: bool,
    /// The names of the arguments whose values the person typed in this conversation.
    pub typed: &'a [String],
    /// Whether the person allowed sending data to the destinations of a read.
    pub leave: Leave<'a>,
    /// The moment of the decision; expired rules and permissions do not apply.
    pub now: DateTime<Utc>,
}

/// Whether a read may send data to its destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave<'a> {
    /// The read sends no data out of this computer, or the person named or allowed each
    /// destination.
    Given,
    /// The person neither named nor allowed these destinations.
    Missing(&'a [Destination]),
    /// The conversation has sent a lot of data to these destinations since the person last allowed
    /// it to.
    Spent(&'a [Destination]),
}

/// The decision about a call, with the rule or default that led to the decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The call runs without asking the person.
    Allow {
        /// The rule or default that allowed the call, as a sentence for a person.
        why: Text,
        /// The permission that allowed the call, if any.
        grant: Option<GrantId>,
    },
    /// A person must approve the call.
    Ask {
        /// The rule or default that requires approval, as a sentence for a person.
        why: Text,
    },
    /// The call is refused.
    Deny {
        /// The rule or default that refused the call, as a sentence for a person.
        why: Text,
    },
}

impl Decision {
    /// Returns the field `why` of any decision.
    pub fn reason(&self) -> &Text {
        match self {
            Self::Allow { why, .. } | Self::Ask { why } | Self::Deny { why } => why,
        }
    }

    /// Returns 0 for allow, 1 for ask, 2 for deny. A higher number is stricter.
    pub fn strictness(&self) -> u8 {
        match self {
            Self::Allow { .. } => 0,
            Self::Ask { .. } => 1,
            Self::Deny { .. } => 2,
        }
    }
}

/// Decides whether a call may run.
pub fn decide(question: Question<'_>) -> Decision {
    let Question { tool, rules, .. } = question;
    if let Some(why) = built_in_denial(question) {
        return Decision::Deny { why };
    }
    if let Some(rule) = rules.first_matching_rule(Action::Deny, question) {
        return Decision::Deny { why: rules::describe_rule(rule) };
    }
    if let Some(why) = rules.describe_fault() {
        return Decision::Ask { why };
    }
    if tool.effect == Effect::Destructive {
        return Decision::Ask { why: "Destructive tools always ask.".into() };
    }
    if tool.human_required {
        return Decision::Ask {
            why: text!(
                "This pack requires your approval for every call of {tool}.",
                tool = tool.id
            ),
        };
    }
    if let Some(why) = missing_leave(question) {
        return Decision::Ask { why };
    }
    if let Some(rule) = rules.first_matching_rule(Action::Ask, question) {
        return Decision::Ask { why: rules::describe_rule(rule) };
    }
    let covers = |rule: &Rule| covers_marked(question, &rule.arguments);
    if let Some(rule) = rules.matching_rules(Action::Allow, question).find(|r| covers(r)) {
        return Decision::Allow { why: rules::describe_rule(rule), grant: None };
    }
    if let Some(grant) = find_live_grant(question) {
        return Decision::Allow {
            why: text!("You approved {tool} for this session.", tool = tool.title),
            grant: Some(grant.id.clone()),
        };
    }
    if let Some(grant) = find_standing_grant(question) {
        return Decision::Allow {
            why: text!(
                "Grant {id} of the rules file allows {tool} until {time}.",
                id = grant.id,
                tool = tool.id,
                time = grant.expires_at.format("%Y-%m-%d %H:%M UTC").to_string()
            ),
            grant: None,
        };
    }
    decide_by_effect(question)
}

/// Returns why a read must be approved because of its destinations. Returns none if its
/// destinations need no approval.
fn missing_leave(question: Question<'_>) -> Option<Text> {
    let is_read = question.tool.effect == Effect::ReadOnly;
    match question.leave {
        Leave::Missing(places) if is_read => Some(text!(
            "This read sends data to {places}, which you neither named in this conversation nor allowed.",
            places = destinations::describe(places)
        )),
        Leave::Spent(places) if is_read => Some(text!(
            "This conversation has sent more than 2 kB to {places} since you last allowed it.",
            places = destinations::describe(places)
        )),
        Leave::Given | Leave::Missing(_) | Leave::Spent(_) => None,
    }
}

/// Whether a permission that fixes these arguments covers a call in a turn with outside content.
/// The person must have typed every other argument. Reads are covered, because their destinations
/// are checked instead.
fn covers_marked(question: Question<'_>, fixed: &Map<String, Value>) -> bool {
    !question.untrusted_entered
        || question.tool.effect == Effect::ReadOnly
        || question.arguments.as_object().is_none_or(|given| {
            given.keys().all(|name| fixed.contains_key(name) || question.typed.contains(name))
        })
}

fn built_in_denial(question: Question<'_>) -> Option<Text> {
    let blocked =
        question.mode == PolicyMode::ReadOnlyOnly && question.tool.effect != Effect::ReadOnly;
    blocked.then(|| "The policy allows reading only.".into())
}

fn find_live_grant(question: Question<'_>) -> Option<&Grant> {
    question
        .grants
        .iter()
        .filter(|_| may_be_granted(question))
        .find(|grant| grant_covers(grant, question) && covers_marked(question, &grant.pattern))
}

fn find_standing_grant(question: Question<'_>) -> Option<&StandingGrant> {
    let named = question
        .rules
        .grants_of(question.tool, question.session)
        .filter(|_| may_be_granted(question));
    let mut live = named.filter(|grant| grant.expires_at > question.now);
    live.find(|grant| {
        matches_arguments(&grant.arguments, question.arguments)
            && covers_marked(question, &grant.arguments)
    })
}

fn may_be_granted(question: Question<'_>) -> bool {
    question.tool.grantable && question.tool.effect == Effect::Write
}

fn grant_covers(grant: &Grant, question: Question<'_>) -> bool {
    let tool = question.tool;
    grant.session == *question.session
        && tool.is_named(&grant.tool)
        && grant.server == tool.target.server()
        && grant.definition_hash == tool.definition_hash
        && grant.revoked_at.is_none()
        && grant.expires_at > question.now
        && matches_arguments(&grant.pattern, question.arguments)
}

/// Whether the arguments equal the pattern in every member that the pattern names. Other members
/// may have any value.
fn matches_arguments(pattern: &Map<String, Value>, arguments: &Value) -> bool {
    pattern.iter().all(|(name, value)| arguments.get(name) == Some(value))
        && arguments.as_object().is_none_or(|given| {
            given.iter().all(|(name, value)| can_vary(value) || pattern.contains_key(name))
        })
}

/// Whether an argument may differ from the one that was approved for a session. Numbers and
/// booleans may; every other value must be equal.
pub fn can_vary(value: &Value) -> bool {
    value.is_number() || value.is_boolean()
}

fn decide_by_effect(question: Question<'_>) -> Decision {
    match (question.tool.effect, question.mode) {
        (Effect::ReadOnly, _) => Decision::Allow { why: "Reading is allowed.".into(), grant: None },
        (Effect::Write, PolicyMode::WritesAllowed) => {
            Decision::Allow { why: "The policy allows writes.".into(), grant: None }
        }
        (Effect::Write, PolicyMode::WritesRequireApproval) => {
            Decision::Ask { why: "Writes need your approval.".into() }
        }
        (Effect::Write, PolicyMode::ReadOnlyOnly) => {
            Decision::Deny { why: "The policy allows reading only.".into() }
        }
        (Effect::Destructive, _) => Decision::Ask { why: "Destructive tools always ask.".into() },
    }
}

/// Whether results of this tool always count as outside content. Results of other tools are
/// classified by the data from which they were computed. Only the manifest of a built-in pack is
/// trusted to declare this.
pub fn returns_outside_content(tool: &ToolSpec) -> bool {
    tool.output_trust != OutputTrust::Trusted || !matches!(tool.target, ToolTarget::BuiltIn { .. })
}

#[cfg(test)]
mod tests;
