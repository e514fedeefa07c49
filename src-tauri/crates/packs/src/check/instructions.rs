//! Warns of members that execution instructions name between backticks and that no schema of the pack
//! has. A model never gets such a line, because no result has the member. Files of the user are read
//! later and are not checked, nor are those about tools of other packs.

use std::collections::HashSet;

use serde_json::Value;

use crate::{
    fault::Faults,
    files, instructions,
    subject::{Subject, list, text},
};

/// The members of schemas whose values are names or texts of results.
const NAMED: [&str; 4] = ["enum", "const", "examples", "required"];

pub(super) fn check(subject: &Subject<'_>, warnings: &mut Faults) {
    if subject.is_made_by_host || uses_others(subject) {
        return;
    }
    let mut known = HashSet::new();
    if let Some(schemas) = subject.manifest.get("schemas").and_then(Value::as_object) {
        schemas.values().for_each(|schema| add_names(schema, &mut known));
    }
    let mut names = vec![instructions::NAME.to_owned()];
    for (_, tool) in subject.tools() {
        let Some(id) = text(tool, "id") else { continue };
        known.insert(id.to_owned());
        names.push(format!("{id}/{}", instructions::NAME));
        names.extend(text(tool, "instructions").map(str::to_owned));
    }
    names.sort_unstable();
    names.dedup();
    for name in names {
        // A file that cannot be read has a fault of its own, if the manifest names it.
        let Ok(text) = files::read(subject.folder, &name) else { continue };
        check_text(&name, &text, &known, warnings);
    }
}

/// Whether the specialist calls tools of other packs, whose schemas are not known here.
fn uses_others(subject: &Subject<'_>) -> bool {
    let named = list(subject.manifest.pointer("/agent/tools"));
    named.filter_map(Value::as_str).any(|id| id.contains(':'))
}

fn check_text(file: &str, text: &str, known: &HashSet<String>, warnings: &mut Faults) {
    let mut in_fence = false;
    for (at, line) in text.lines().enumerate() {
        if ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence)) {
            in_fence = !in_fence;
            continue;
        }
        let codes = line.split('`').skip(1).step_by(2).filter(|_| !in_fence);
        for code in codes.filter(|code| !is_known(code, known)) {
            warnings.in_file(
                file,
                (at + 1).to_string(),
                format!("no schema of the pack has `{code}`"),
                "correct the name, or describe the member in a schema",
            );
        }
    }
}

/// Whether a text between backticks is a known name, or is no name of a member.
fn is_known(code: &str, known: &HashSet<String>) -> bool {
    if known.contains(code) {
        return true;
    }
    let path = code.split(':').next().unwrap_or(code).trim();
    let is_path = path.starts_with(|c: char| c.is_ascii_lowercase())
        && path.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    !is_path || path.split('.').all(|part| known.contains(part))
}

fn add_names(schema: &Value, known: &mut HashSet<String>) {
    match schema {
        Value::Object(members) => {
            for (name, part) in members {
                if let ("properties", Value::Object(fields)) = (name.as_str(), part) {
                    known.extend(fields.keys().cloned());
                }
                if NAMED.contains(&name.as_str()) {
                    add_texts(part, known);
                }
                add_names(part, known);
            }
        }
        Value::Array(list) => list.iter().for_each(|part| add_names(part, known)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn add_texts(value: &Value, known: &mut HashSet<String>) {
    match value {
        Value::String(text) => {
            known.insert(text.clone());
        }
        Value::Array(list) => list.iter().for_each(|one| add_texts(one, known)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
}
