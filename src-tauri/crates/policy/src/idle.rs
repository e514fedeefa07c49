//! Finds rules that certainly decide no call: expired rules, and rules all of whose calls another
//! rule decides. Reports only what follows from the rules alone, so a rule that is not reported may
//! still decide nothing. Must not know tools, settings or the past.

use chrono::{DateTime, Utc};
use contract::IdleRule;

use crate::{
    Action, Rule, Rules,
    rules::{matches_glob, read_caller},
};

/// The most steps of comparing patterns. Rules that are not compared are not reported.
const MOST_STEPS: usize = 4_000_000;

impl Rules {
    /// Returns the rules that certainly decide no call at this time and later, in their order.
    pub fn idle(&self, now: DateTime<Utc>) -> Vec<IdleRule> {
        let mut steps = MOST_STEPS;
        let rules = self.rules.iter().enumerate();
        rules
            .filter_map(|(index, rule)| {
                if rule.expires_at.is_some_and(|end| end <= now) {
                    return Some(IdleRule { rule: index, decided_by: None });
                }
                let decided_by = self.find_deciding(index, rule, &mut steps)?;
                Some(IdleRule { rule: index, decided_by: Some(decided_by) })
            })
            .collect()
    }

    /// Returns the position of a rule that decides every call that this rule matches.
    fn find_deciding(&self, index: usize, rule: &Rule, steps: &mut usize) -> Option<usize> {
        self.rules.iter().enumerate().position(|(at, other)| {
            at != index
                && precedes(other, at, rule, index)
                && covers_conditions(other, rule)
                && covers_tools(other, rule, steps)
        })
    }
}

/// Whether a rule is examined before another one.
fn precedes(first: &Rule, at: usize, second: &Rule, index: usize) -> bool {
    let (before, after) = (rank(first.action), rank(second.action));
    before < after || before == after && at < index
}

fn rank(action: Action) -> u8 {
    match action {
        Action::Deny => 0,
        Action::Ask => 1,
        Action::Allow => 2,
    }
}

/// Whether every call that meets the conditions of `inner`, apart from its tool, also meets those
/// of `outer`.
fn covers_conditions(outer: &Rule, inner: &Rule) -> bool {
    // In a turn with outside content, an allow rule covers only the arguments that it fixes.
    let is_as_free = inner.action != Action::Allow
        || outer.action != Action::Allow
        || outer.arguments.len() == inner.arguments.len();
    outer.effect.is_none_or(|effect| inner.effect == Some(effect))
        && outer.arguments.iter().all(|(name, value)| inner.arguments.get(name) == Some(value))
        && is_as_free
        && covers_callers(outer, inner)
        && outer.expires_at.is_none_or(|end| inner.expires_at.is_some_and(|last| last <= end))
}

fn covers_callers(outer: &Rule, inner: &Rule) -> bool {
    let covers = |wide: &String, name: &String| {
        let kind = name.split_once(':').map_or(name.as_str(), |(kind, _)| kind);
        read_caller(wide).is_some() && (wide == name || wide == kind)
    };
    outer.callers.is_empty()
        || !inner.callers.is_empty()
            && inner.callers.iter().all(|name| outer.callers.iter().any(|wide| covers(wide, name)))
}

/// Whether every tool that `inner` names is also named by `outer`.
fn covers_tools(outer: &Rule, inner: &Rule, steps: &mut usize) -> bool {
    if outer.tool == inner.tool || outer.tool == "*" {
        return true;
    }
    // An allow rule without a pack names no tool whose id several packs have, so its pattern says
    // less than that of other rules.
    if outer.action == Action::Allow {
        return false;
    }
    let needed = outer.tool.len() * inner.tool.len();
    if needed > *steps {
        return false;
    }
    *steps -= needed;
    // A `*` of the inner pattern is matched as a character, which only a `*` of the outer one
    // matches. So the outer pattern matches each text that the inner one stands for.
    matches_glob(&outer.tool, &inner.tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle(rules: &str) -> Vec<(usize, Option<usize>)> {
        let read = Rules::parse(&format!(r#"{{"rules": [{rules}]}}"#));
        assert_eq!(read.faults, [], "{rules}");
        let now = DateTime::from_timestamp(1_000, 0).expect("a time");
        read.idle(now).into_iter().map(|found| (found.rule, found.decided_by)).collect()
    }

    #[test]
    fn a_rule_that_another_rule_always_precedes_decides_nothing() {
        let (deny, ask) = (r#""action": "deny""#, r#""action": "ask""#);
        let allow = r#""action": "allow""#;
        for (first, second, expected) in [
            // Deny precedes ask, wherever they stand.
            (format!(r#"{ask}, "tool": "cart.add""#), format!(r#"{deny}, "tool": "cart.*""#), 0),
            (format!(r#"{deny}, "tool": "*""#), format!(r#"{allow}, "tool": "*""#), 1),
            (format!(r#"{ask}, "tool": "c*""#), format!(r#"{allow}, "tool": "cart.*""#), 1),
            (format!(r#"{ask}, "tool": "a""#), format!(r#"{ask}, "tool": "a""#), 1),
            (
                format!(r#"{deny}, "tool": "a", "callers": ["agent"]"#),
                format!(r#"{ask}, "tool": "a", "callers": ["agent:x"]"#),
                1,
            ),
            (
                format!(r#"{deny}, "tool": "a", "arguments": {{"n": 1}}"#),
                format!(r#"{ask}, "tool": "a", "arguments": {{"n": 1, "m": 2}}"#),
                1,
            ),
            (
                format!(r#"{deny}, "tool": "a", "expires_at": "2030-01-02T00:00:00Z""#),
                format!(r#"{ask}, "tool": "a", "expires_at": "2030-01-01T00:00:00Z""#),
                1,
            ),
        ] {
            let found = idle(&format!(r#"{{"id": "a", {first}}}, {{"id": "b", {second}}}"#));
            assert_eq!(found, [(expected, Some(1 - expected))], "{first} | {second}");
        }
    }

    #[test]
    fn a_rule_that_may_decide_a_call_is_not_reported() {
        for (first, second) in [
            (r#""deny", "tool": "cart.add""#, r#""ask", "tool": "cart.*""#),
            (r#""deny", "tool": "a", "arguments": {"n": 1}"#, r#""ask", "tool": "a""#),
            (r#""deny", "tool": "a", "effect": "write""#, r#""ask", "tool": "a""#),
            (
                r#""deny", "tool": "a", "callers": ["agent:x"]"#,
                r#""ask", "tool": "a", "callers": ["agent"]"#,
            ),
            (
                r#""deny", "tool": "a", "expires_at": "2030-01-01T00:00:00Z""#,
                r#""ask", "tool": "a""#,
            ),
            (r#""allow", "tool": "a""#, r#""ask", "tool": "a""#),
            (r#""allow", "tool": "cart.*""#, r#""allow", "tool": "cart.add""#),
            // In a turn with outside content, only the second rule covers n = 1.
            (r#""allow", "tool": "a""#, r#""allow", "tool": "a", "arguments": {"n": 1}"#),
        ] {
            let found = idle(&format!(
                r#"{{"id": "a", "action": {first}}}, {{"id": "b", "action": {second}}}"#
            ));
            assert_eq!(
                found.iter().filter(|(rule, _)| *rule == 1).count(),
                0,
                "{first} | {second}"
            );
        }
    }

    #[test]
    fn an_expired_rule_decides_nothing_and_hides_no_other_rule() {
        let expired =
            r#"{"id": "a", "action": "deny", "tool": "*", "expires_at": "1970-01-01T00:16:40Z"}"#;
        let other = r#"{"id": "b", "action": "ask", "tool": "a"}"#;
        assert_eq!(idle(&format!("{expired}, {other}")), [(0, None)]);
    }

    #[test]
    fn many_rules_with_long_patterns_are_compared_quickly() {
        let rule = |index: usize| {
            let pattern = "*a".repeat(90);
            format!(r#"{{"id": "r{index}", "action": "ask", "tool": "{pattern}{index}"}}"#)
        };
        let rules: Vec<String> = (0..1_000).map(rule).collect();
        let start = std::time::Instant::now();
        idle(&rules.join(","));
        assert!(start.elapsed() < std::time::Duration::from_secs(10));
    }
}
