//! Checks the `offline` blocks: language tags are known, so that a mistyped tag does not hide a
//! text, and templates parse.

use serde_json::{Map, Value};

use crate::{
    fault::{Faults, join},
    subject::Subject,
    templates::TemplateChecker,
    words,
};

/// Members of the `offline` blocks that contain texts by language.
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
            if LOCALISED.contains(&name) || members.keys().any(|k| words::is_language(k)) {
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
        Value::String(text) if is_template(at, text) => templates.check(at, text, faults),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether the text is a single template for all languages. A text that begins with `@` is a key
/// into the pack's words.
fn is_template(at: &str, text: &str) -> bool {
    let name = at.rsplit('/').next().unwrap_or_default();
    TEMPLATES.contains(&name) && !text.starts_with('@')
}

/// Checks texts that a manifest gives by language. English is required, because it replaces the
/// text of a missing language.
pub(super) fn check_words(words: &Value, at: &str, faults: &mut Faults) {
    let Some(members) = words.as_object() else { return };
    tags(members, at, faults);
    let english = messages::Language::ENGLISH.tag();
    if !members.contains_key(english) {
        faults.at(
            join(at, english),
            "there are no English words",
            "add them: they stand in for those of a missing language",
        );
    }
}

fn tags(members: &Map<String, Value>, at: &str, faults: &mut Faults) {
    for tag in members.keys().filter(|tag| !words::is_language(tag)) {
        faults.at(join(at, tag), words::unknown_language(tag), words::known_languages());
    }
}
