//! Checks the `offline` blocks: language tags are known, so that a mistyped tag does not hide a
//! text, and templates parse.

use serde_json::{Map, Value};

use crate::{
    fault::{Faults, join},
    subject::Subject,
    templates::TemplateChecker,
};

/// The languages that the app speaks.
const LANGUAGES: [&str; 2] = ["en", "sv"];
/// Members of the `offline` blocks that hold texts by language.
const LOCALISED: [&str; 12] = [
    "answer", "can", "cues", "examples", "label", "none", "not", "nouns", "synonyms", "triggers",
    "undone", "unusable",
];
/// The members of `LOCALISED` that are templates.
const TEMPLATES: [&str; 5] = ["answer", "label", "none", "undone", "unusable"];

pub(crate) fn check(subject: &Subject<'_>, faults: &mut Faults) {
    let mut templates = TemplateChecker::new(subject.folder);
    if let Some(offline) = subject.manifest.get("offline") {
        walk(&mut templates, offline, "/offline", faults);
    }
    for (at, tool) in subject.tools() {
        if let Some(offline) = tool.get("offline") {
            walk(&mut templates, offline, &format!("{at}/offline"), faults);
        }
    }
}

fn walk(templates: &mut TemplateChecker<'_>, value: &Value, at: &str, faults: &mut Faults) {
    match value {
        Value::Object(members) => {
            let name = at.rsplit('/').next().unwrap_or_default();
            if LOCALISED.contains(&name) || members.keys().any(|k| LANGUAGES.contains(&k.as_str()))
            {
                tags(members, at, faults);
            }
            if TEMPLATES.contains(&name) {
                for (language, text) in members.iter().filter_map(|(l, t)| Some((l, t.as_str()?))) {
                    templates.check(&join(at, language), text, faults);
                }
            }
            for (name, member) in members {
                walk(templates, member, &join(at, name), faults);
            }
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(i, item)| walk(templates, item, &format!("{at}/{i}"), faults)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn tags(members: &Map<String, Value>, at: &str, faults: &mut Faults) {
    for tag in members.keys().filter(|tag| !LANGUAGES.contains(&tag.as_str())) {
        let problem = format!("`{tag}` is not a language of the app");
        faults.at(
            join(at, tag),
            problem,
            format!("use one of {}", LANGUAGES.map(|l| format!("`{l}`")).join(", ")),
        );
    }
}
