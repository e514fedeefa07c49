//! Evaluates the policy for a past call when part of its circumstances is unknown: the arguments
//! were erased, the record does not say whether untrusted content was in the turn, its caller is not
//! recorded, or a permission of the session is lost. The decision is certain only if every possible state of the unknown part
//! leads to the same decision. Does not access the log.

use std::collections::HashSet;

use contract::{CallerKind, Grant, GrantId};
use serde_json::{Map, Value};

use crate::{Action, Decision, Question, Rules, decide, rules::read_caller};

/// The most callers that are tried if the caller of a call is unknown.
const MOST_CALLERS: usize = 24;

/// States which circumstances of a past call are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Whether the arguments of the call are known.
    pub arguments: bool,
    /// Whether it is known if untrusted content was in the turn.
    pub untrusted: bool,
    /// Whether all permissions that the session had for the tool are known.
    pub grants: bool,
    /// Whether the caller of the turn is known.
    pub caller: bool,
}

/// The unknown part on which a decision depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The arguments.
    Arguments,
    /// Whether untrusted content was in the turn.
    Untrusted,
    /// The permissions of the session.
    Grants,
    /// The caller of the turn.
    Caller,
}

/// Decides a past call with `decide`, once for each possible state of its unknown parts.
pub fn decide_past(question: Question<'_>, known: Known) -> Result<Decision, Doubt> {
    if !known.caller {
        return decide_for_each_caller(question, known);
    }
    let certain = decide_each(question, known)?;
    if known.untrusted {
        return Ok(certain);
    }
    let other = decide_each(
        Question { untrusted_entered: !question.untrusted_entered, ..question },
        known,
    )?;
    if other.strictness() == certain.strictness() { Ok(certain) } else { Err(Doubt::Untrusted) }
}

/// Decides for each caller that the rules tell apart, and for one that no rule names.
fn decide_for_each_caller(question: Question<'_>, known: Known) -> Result<Decision, Doubt> {
    let known = Known { caller: true, ..known };
    let certain = decide_past(question, known)?;
    if !question.rules.name_callers() {
        return Ok(certain);
    }
    let named = question.rules.rules.iter().flat_map(|rule| &rule.callers);
    let mut callers: HashSet<CallerKind> = named.filter_map(|name| read_caller(name)).collect();
    callers.extend(CallerKind::ALL);
    if callers.len() > MOST_CALLERS {
        return Err(Doubt::Caller);
    }
    for caller in &callers {
        let other = decide_past(Question { caller, ..question }, known)?;
        if other.strictness() != certain.strictness() {
            return Err(Doubt::Caller);
        }
    }
    Ok(certain)
}

fn decide_each(question: Question<'_>, known: Known) -> Result<Decision, Doubt> {
    if !known.arguments {
        return decide_without_arguments(question, known.grants);
    }
    let certain = decide(question);
    if !known.grants {
        let mut grants = question.grants.to_vec();
        grants.push(covering_grant(question, question.arguments));
        let other = decide(Question { grants: &grants, ..question });
        if other.strictness() != certain.strictness() {
            return Err(Doubt::Grants);
        }
    }
    Ok(certain)
}

/// Decides for arguments that match no rule and no permission. Then decides for arguments that
/// match the rules of each set of actions, with and without the permissions.
fn decide_without_arguments(question: Question<'_>, knows_grants: bool) -> Result<Decision, Doubt> {
    let empty = Value::Object(Map::new());
    // In a turn with outside content, a permission may or may not cover the arguments, because it
    // is unknown whether the person typed this number.
    let untyped = serde_json::json!({"": 0});
    let decide_for = |matching: &[Action], is_granted: bool, arguments: &Value| {
        let mut grants = Vec::new();
        let has_grant = question
            .grants
            .iter()
            .any(|grant| question.tool.is_named(&grant.tool) && grant.session == *question.session);
        if is_granted && (has_grant || !knows_grants) {
            grants.push(covering_grant(question, &empty));
        }
        let rules = assume_match(question.rules, matching, is_granted);
        decide(Question { arguments, rules: &rules, grants: &grants, ..question })
    };
    let certain = decide_for(&[], false, &empty);
    let actions = [Action::Deny, Action::Ask, Action::Allow];
    for set in 0..8_u8 {
        let matching: Vec<Action> = actions
            .into_iter()
            .enumerate()
            .filter(|(index, _)| set & (1 << index) != 0)
            .map(|(_, action)| action)
            .collect();
        for (is_granted, arguments) in
            [(false, &empty), (false, &untyped), (true, &empty), (true, &untyped)]
        {
            let other = decide_for(&matching, is_granted, arguments);
            if other.strictness() != certain.strictness() {
                return Err(Doubt::Arguments);
            }
        }
    }
    Ok(certain)
}

/// Returns the rules as they apply to a call whose arguments match exactly the rules with these
/// actions. Standing grants are included only if `is_granted`.
fn assume_match(rules: &Rules, matching: &[Action], is_granted: bool) -> Rules {
    let fits = |action: Action, is_free: bool| is_free || matching.contains(&action);
    let assumed = rules
        .rules
        .iter()
        .filter(|rule| fits(rule.action, rule.arguments.is_empty()))
        .map(|rule| crate::Rule { arguments: Map::new(), ..rule.clone() });
    let grants = rules
        .grants
        .iter()
        .filter(|_| is_granted)
        .map(|grant| crate::StandingGrant { arguments: Map::new(), ..grant.clone() });
    Rules { rules: assumed.collect(), grants: grants.collect(), faults: rules.faults.clone() }
}

/// Returns a permission that covers only this call.
fn covering_grant(question: Question<'_>, arguments: &Value) -> Grant {
    Grant {
        id: GrantId(String::new()),
        session: question.session.clone(),
        tool: question.tool.id.clone(),
        server: question.tool.target.server().to_owned(),
        definition_hash: question.tool.definition_hash.clone(),
        pattern: arguments.as_object().cloned().unwrap_or_default(),
        granted_by: None,
        created_at: question.now,
        expires_at: question.now + chrono::TimeDelta::seconds(1),
        last_used_at: None,
        revoked_at: None,
    }
}
