//! Checks that previews only read and that their templates parse.

use serde_json::Value;

use crate::{
    fault::Faults,
    subject::{Subject, list, text},
    templates::TemplateChecker,
};

pub(crate) fn check(subject: &Subject<'_>, faults: &mut Faults, warnings: &mut Faults) {
    let mut templates = TemplateChecker::new(subject.folder);
    for (at, tool) in subject.tools() {
        let preview = tool.get("preview").filter(|p| p.is_object());
        if let Some(preview) = preview {
            let at = format!("{at}/preview");
            check_preview_reads(subject, &at, preview, faults, warnings);
            if let Some(source) = text(preview, "template") {
                templates.check(&format!("{at}/template"), source, faults);
            }
        }
    }
}

fn check_preview_reads(
    subject: &Subject<'_>,
    at: &str,
    preview: &Value,
    faults: &mut Faults,
    warnings: &mut Faults,
) {
    let mut names = vec!["args"];
    for (index, read) in list(preview.get("reads")).enumerate() {
        let at = format!("{at}/reads/{index}");
        if let Some(name) = text(read, "name") {
            if names.contains(&name) {
                faults.at(
                    format!("{at}/name"),
                    format!("the template already has a variable `{name}`"),
                    "choose another name",
                );
            }
            names.push(name);
        }
        let Some(id) = text(read, "tool") else { continue };
        let Some((_, tool)) = subject.tools().find(|(_, tool)| text(tool, "id") == Some(id)) else {
            faults.at(
                format!("{at}/tool"),
                format!("this pack has no tool `{id}`"),
                "name a tool of the same pack",
            );
            continue;
        };
        if text(tool, "side_effect_level") != Some("read_only") {
            faults.at(
                format!("{at}/tool"),
                format!("`{id}` is not read-only; a preview must not change anything"),
                "use a read-only tool",
            );
        }
        if tool.get("open_world") == Some(&Value::Bool(true)) {
            let problem = format!(
                "`{id}` reaches out to targets that its arguments choose, and a preview is read before anybody has approved the action"
            );
            let fix = "read with a tool that is not `open_world`; this preview is left out whenever such a read would have to be asked about";
            warnings.at(format!("{at}/tool"), problem, fix);
        }
        let Some(known) = subject.parameters(tool) else { continue };
        for name in
            read.get("arguments").and_then(Value::as_object).into_iter().flat_map(|m| m.keys())
        {
            if !known.contains(&name.as_str()) {
                let pointer = crate::fault::join(&format!("{at}/arguments"), name);
                faults.at(pointer, format!("`{id}` has no parameter `{name}`"), "correct the name");
            }
        }
    }
}
