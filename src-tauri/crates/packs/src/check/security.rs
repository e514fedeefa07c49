//! Checks the approvals that a pack requires: the tools exist, and none of these approvals can be
//! granted for a session.

use serde_json::Value;

use crate::{
    fault::{Faults, join},
    subject::{Subject, list, text},
};

pub(crate) fn check(subject: &Subject<'_>, faults: &mut Faults) {
    let demands = list(subject.manifest.pointer("/security/approvals"));
    for (index, demand) in demands.enumerate() {
        let at = format!("/security/approvals/{index}/applies_to");
        let Some(applies) = demand.get("applies_to").filter(|applies| applies.is_object()) else {
            continue;
        };
        let named: Vec<&str> = list(applies.get("tool_ids")).filter_map(Value::as_str).collect();
        let level = text(applies, "side_effect_level");
        if named.is_empty() && level.is_none() {
            faults.at(
                &at,
                "it applies to no tool",
                "name tools in `tool_ids`, or a `side_effect_level`",
            );
        }
        for (place, id) in named.iter().enumerate() {
            if !subject.tools().any(|(_, tool)| text(tool, "id") == Some(id)) {
                faults.at(
                    format!("{at}/tool_ids/{place}"),
                    format!("the pack has no tool `{id}`"),
                    "correct the id or remove it",
                );
            }
        }
        for (pointer, tool) in subject.tools() {
            let of_it = text(tool, "id").is_some_and(|id| named.contains(&id))
                || (level.is_some() && text(tool, "side_effect_level") == level);
            if of_it && tool.get("grantable") == Some(&Value::Bool(true)) {
                let problem =
                    "a person has to approve each call, so it cannot be allowed for a session";
                faults.at(
                    join(&pointer, "grantable"),
                    problem,
                    "remove `grantable`, or take the tool out of `security`",
                );
            }
        }
    }
}
