//! Checks that the tools that answer, draw and explain metric queries exist in the pack.

use crate::{
    fault::Faults,
    subject::{Subject, text},
};

/// The members of the pack's `offline` block that name such a tool.
const MEMBERS: [&str; 3] = ["metric_queries", "charts", "changes"];

pub(super) fn check(subject: &Subject<'_>, faults: &mut Faults) {
    let Some(offline) = subject.manifest.get("offline") else { return };
    let is_known = |id: &str| subject.tools().any(|(_, tool)| text(tool, "id") == Some(id));
    for member in MEMBERS {
        if let Some(id) = text(offline, member).filter(|id| !is_known(id)) {
            faults.at(
                format!("/offline/{member}"),
                format!("the pack has no tool `{id}`"),
                "name a tool of this pack",
            );
        }
    }
    let has_others = MEMBERS[1..].iter().any(|member| offline.get(member).is_some());
    if has_others && offline.get(MEMBERS[0]).is_none() {
        faults.at(
            "/offline",
            "`charts` and `changes` are used only beside `metric_queries`",
            "name the tool that answers metric queries, or remove both",
        );
    }
}
