//! Determines which marks are kept when a person edits a proposal, and which values changed.

use std::collections::{BTreeMap, BTreeSet};

use contract::{Approval, ChangedValue, OutsideValue, ToolSpec};

use super::{Leaf, Origins, argument_of, is_fixed, leaves_of, pieces, text_of};
use crate::canonical::canonical;

/// The fewest characters that an edited text must share with the previous text.
const SHARED: usize = 6;

/// Returns the values that a person changed between two calls.
pub(crate) fn changed_values(before: &str, after: &str, spec: &ToolSpec) -> Vec<ChangedValue> {
    let values = |text: &str| -> BTreeMap<String, String> {
        let leaves = leaves_of(&serde_json::from_str(text).unwrap_or_default(), spec);
        leaves.into_iter().map(|leaf| (leaf.path, canonical(&leaf.value))).collect()
    };
    let (before, after) = (values(before), values(after));
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path))
        .map(|path| ChangedValue {
            path: path.clone(),
            before: before.get(path).cloned(),
            after: after.get(path).cloned(),
        })
        .collect()
}

/// Returns the origins that an earlier proposal had for values that are still in the same argument,
/// whole or in part, because an edit of a letter does not make the rest of the value the person's.
pub(super) fn kept_origins(leaves: &[Leaf], spec: &ToolSpec, before: &Approval) -> Origins {
    let earlier = leaves_of(&serde_json::from_str(&before.arguments).unwrap_or_default(), spec);
    let details = &before.details;
    // An older version of the app did not determine origins.
    let is_unknown = details.is_empty() && !before.follows.is_empty();
    let mut origins = Origins::default();
    for leaf in leaves {
        let kept = values_before(leaf, &earlier);
        let had = |path: &str| kept.iter().any(|then| is_within(&then.path, path));
        if let Some(value) = details.from_outside.iter().find(|value| had(&value.path)) {
            origins.from_outside.push(OutsideValue { path: leaf.path.clone(), ..value.clone() });
        } else if is_unknown && !kept.is_empty() && !is_fixed(spec, leaf) {
            origins.from_outside.push(OutsideValue { path: leaf.path.clone(), passage: None });
        } else if details.by_assistant.iter().any(|path| had(path)) {
            origins.by_assistant.push(leaf.path.clone());
        }
    }
    origins.with_few_marks()
}

/// Returns the earlier values of the same argument from which a value may come: equal values, or
/// otherwise values that share a part with it.
fn values_before<'a>(leaf: &Leaf, earlier: &'a [Leaf]) -> Vec<&'a Leaf> {
    let all = earlier.iter().filter(|then| argument_of(&then.path) == argument_of(&leaf.path));
    let (equal, others): (Vec<&Leaf>, Vec<&Leaf>) = all.partition(|then| then.value == leaf.value);
    if !equal.is_empty() {
        return equal;
    }
    let after = text_of(&leaf.value);
    others.into_iter().filter(|then| is_edited(&text_of(&then.value), &after)).collect()
}

fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a text is an edited form of another.
fn is_edited(before: &str, after: &str) -> bool {
    let (before_length, after_length) = (before.chars().count(), after.chars().count());
    let shorter = before_length.min(after_length);
    if shorter < SHARED {
        return false;
    }
    let start = before.chars().zip(after.chars()).take_while(|(a, b)| a == b).count();
    let end = before.chars().rev().zip(after.chars().rev()).take_while(|(a, b)| a == b).count();
    let common = (start + end).min(shorter);
    if common >= SHARED && common * 2 >= shorter || before.contains(after) || after.contains(before)
    {
        return true;
    }
    let known: BTreeSet<String> = pieces(before).into_iter().collect();
    pieces(after).iter().any(|piece| known.contains(piece))
}

#[cfg(test)]
mod tests {
    use contract::{ApprovalStatus, Effect, ProposalDetails, ResultView, UntrustedContent};
    use serde_json::{Value, json};

    use super::*;

    fn proposal(arguments: &str, details: ProposalDetails) -> Approval {
        let from = UntrustedContent {
            tool: "mail".into(),
            tool_title: "Mail".into(),
            server: "post".into(),
            call: None,
            excerpt: String::new(),
            quoted: false,
        };
        Approval {
            id: "a".into(),
            session: "s".into(),
            turn: "t".into(),
            call: "c".into(),
            tool: "w".into(),
            tool_title: "Tool w".into(),
            server: "test".into(),
            agent: String::new(),
            effect: Effect::Write,
            view: ResultView::default(),
            arguments: arguments.into(),
            hash: "h".into(),
            why: "w".into(),
            preview: None,
            created_at: chrono::DateTime::UNIX_EPOCH,
            expires_at: chrono::DateTime::UNIX_EPOCH,
            status: ApprovalStatus::Pending,
            grantable: false,
            confirm_word: None,
            locale: None,
            headless: false,
            caller: Default::default(),
            follows: vec![from],
            destinations: vec![],
            sends_bytes: 0,
            look_alikes: vec![],
            definition: None,
            details,
            replaces: None,
            reason: None,
            decided_at: None,
        }
    }

    fn marked(before: &Approval, arguments: Value) -> Vec<String> {
        let schema = json!({"properties": {"to": {}, "note": {}, "size": {}}});
        let spec = ToolSpec {
            input_schema: schema.clone(),
            full_input_schema: schema,
            caller_owned: Vec::new(),
            ..crate::context::results::result_reader()
        };
        let kept = kept_origins(&leaves_of(&arguments, &spec), &spec, before);
        kept.from_outside.into_iter().map(|value| value.path).collect()
    }

    #[test]
    fn editing_one_letter_keeps_a_value_marked_as_coming_from_outside() {
        let value = OutsideValue { path: "/to/0".into(), passage: None };
        let details = ProposalDetails { from_outside: vec![value], ..ProposalDetails::default() };
        let before =
            r#"{"to": ["eve@evil.example", "bob@corp.example"], "note": "eve@evil.example"}"#;
        let before = proposal(before, details);
        for (to, paths) in [
            (json!(["eva@evil.example"]), vec!["/to/0"]),
            (json!(["bob@corp.example", "eve@evil.example"]), vec!["/to/1"]),
            (json!(["bob@corp.example"]), vec![]),
            (json!(["kim"]), vec![]),
        ] {
            let arguments = json!({"to": to, "note": "eve@evil.example"});
            assert_eq!(marked(&before, arguments), paths, "{to}");
        }
    }

    #[test]
    fn unedited_values_of_a_proposal_without_origins_stay_marked() {
        let before = proposal(r#"{"to": "eve@evil.example", "size": 9}"#, Default::default());
        assert_eq!(marked(&before, json!({"to": "eve@evil.example", "size": 3})), ["/to"]);
    }

    #[test]
    fn an_edited_text_counts_as_the_same_value_if_most_of_it_is_unchanged() {
        for (before, after, is_same) in [
            ("SE4550000000058398257466", "SE4550000000058398257467", true),
            ("eve@evil.example", "eva@evil.example", true),
            ("CS-6666", "CS-6667", true),
            ("send it to Mallory", "Mallory", true),
            ("pay eve@evil.example soon", "Dear friend, write to eve@evil.example", true),
            ("CS-6666", "CS-1002", false),
            ("9", "3", false),
            ("1000", "1500", false),
            ("see you on Monday", "no more of this", false),
        ] {
            assert_eq!(is_edited(before, after), is_same, "{before}: {after}");
        }
    }
}
