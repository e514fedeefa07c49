//! Checks the specialist of a pack: its tools exist, and its default arguments match the tools'
//! parameters. Tools of other packs are not known here.

use serde_json::Value;

use crate::{
    fault::Faults,
    files,
    subject::{Subject, list, text},
};

pub(crate) fn check(subject: &Subject<'_>, faults: &mut Faults) {
    check_instruction_files(subject, faults);
    let Some(agent) = subject.manifest.get("agent") else { return };
    if text(agent, "id").is_some_and(|id| id.eq_ignore_ascii_case("finish") || id.trim().is_empty())
    {
        faults.at(
            "/agent/id",
            "the specialist's id is empty or means the end of a turn",
            "choose another id",
        );
    }
    let own = text(subject.manifest, "id").unwrap_or_default();
    let ids: Vec<&str> = subject.tools().filter_map(|(_, tool)| text(tool, "id")).collect();
    for (index, id) in list(agent.get("tools")).enumerate() {
        let is_lent = |id: &str| id.split_once(':').is_some_and(|(pack, _)| pack != own);
        if let Some(id) = id.as_str().filter(|id| !is_lent(id) && !ids.contains(id)) {
            faults.at(
                format!("/agent/tools/{index}"),
                format!("the pack has no tool `{id}`"),
                "add the tool or correct the id",
            );
        }
    }
    let kinds: Vec<&str> =
        list(subject.manifest.get("entities")).filter_map(|entity| text(entity, "kind")).collect();
    let known = |name: &str| {
        subject
            .tools()
            .any(|(_, tool)| subject.parameters(tool).is_some_and(|names| names.contains(&name)))
    };
    for (index, default) in list(agent.get("defaults")).enumerate() {
        let at = format!("/agent/defaults/{index}");
        if let Some(name) = text(default, "parameter").filter(|name| !known(name)) {
            faults.at(
                format!("{at}/parameter"),
                format!("no tool of the pack has a parameter `{name}`"),
                "correct the name",
            );
        }
        if let Some(kind) = text(default, "entity").filter(|kind| !kinds.contains(kind)) {
            faults.at(
                format!("{at}/entity"),
                format!("the pack has no entity of the kind `{kind}`"),
                "add one or correct the kind",
            );
        }
    }
}

/// Checks the instruction files that the manifest names.
fn check_instruction_files(subject: &Subject<'_>, faults: &mut Faults) {
    for (at, tool) in subject.tools() {
        let Some(name) = tool.get("instructions").and_then(Value::as_str) else { continue };
        if let Err(problem) = files::read(subject.folder, name) {
            faults.at(format!("{at}/instructions"), problem, "name a text file inside the pack");
        }
    }
}
