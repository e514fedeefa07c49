//! Reads the templates of a manifest. A template is a text, or the name of a file of the pack if it
//! ends in `.jinja`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use contract::Text;
use minijinja::Environment;
use serde_json::Value;

use crate::{fault::Faults, files};

const EXTENSION: &str = ".jinja";

/// Whether a template is the name of a file.
fn is_file(text: &str) -> bool {
    text.ends_with(EXTENSION) && !text.contains('\n')
}

/// Checks the templates of a pack. A file that is named several times is checked only once.
pub(crate) struct TemplateChecker<'a> {
    folder: &'a Path,
    checked: BTreeSet<String>,
}

impl<'a> TemplateChecker<'a> {
    pub(crate) fn new(folder: &'a Path) -> Self {
        Self { folder, checked: BTreeSet::new() }
    }

    /// Adds a fault if a template does not parse or its file is missing.
    pub(crate) fn check(&mut self, at: &str, source: &str, faults: &mut Faults) {
        if is_file(source) {
            if self.checked.insert(source.to_owned()) {
                self.check_file(at, source, faults);
            }
        } else if let Err(error) = Environment::new().template_from_str(source) {
            faults.at(
                at,
                format!("the template does not parse: {}", reason(&error)),
                "correct the template",
            );
        }
    }

    fn check_file(&self, at: &str, source: &str, faults: &mut Faults) {
        let text = match files::read(self.folder, source) {
            Ok(text) => text,
            Err(problem) => return faults.at(at, problem, "name a template file inside the pack"),
        };
        if let Err(error) = Environment::new().template_from_str(&text) {
            let line = format!("line {}", error.line().unwrap_or(1));
            faults.in_file(
                source,
                line,
                format!("the template does not parse: {}", reason(&error)),
                "correct the template",
            );
        }
    }
}

fn reason(error: &minijinja::Error) -> String {
    error.detail().map_or_else(|| error.kind().to_string(), str::to_owned)
}

/// Replaces the names of template files by the files' texts, in previews and in the `offline`
/// blocks.
pub(crate) fn inline(folder: &Path, manifest: &mut Value, faults: &mut Faults) {
    let mut files = TemplateFiles { folder, known: BTreeMap::new() };
    if let Some(offline) = manifest.get_mut("offline") {
        files.insert_texts(offline, faults);
    }
    for tool in
        manifest.pointer_mut("/tools/tools").and_then(Value::as_array_mut).into_iter().flatten()
    {
        if let Some(template) = tool.pointer_mut("/preview/template") {
            files.insert_texts(template, faults);
        }
        if let Some(offline) = tool.get_mut("offline") {
            files.insert_texts(offline, faults);
        }
    }
}

/// The template files of a pack. Many places name the same file, which is read once.
struct TemplateFiles<'a> {
    folder: &'a Path,
    known: BTreeMap<String, Result<String, Text>>,
}

impl TemplateFiles<'_> {
    fn insert_texts(&mut self, value: &mut Value, faults: &mut Faults) {
        match value {
            Value::String(text) if is_file(text) => match self.read(text) {
                Ok(content) => *text = content,
                Err(problem) => {
                    faults.in_file(text, "", problem, "name a template file inside the pack")
                }
            },
            Value::Object(members) => {
                members.values_mut().for_each(|member| self.insert_texts(member, faults))
            }
            Value::Array(items) => {
                items.iter_mut().for_each(|item| self.insert_texts(item, faults))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn read(&mut self, name: &str) -> Result<String, Text> {
        let read = || files::read(self.folder, name);
        self.known.entry(name.to_owned()).or_insert_with(read).clone()
    }
}
