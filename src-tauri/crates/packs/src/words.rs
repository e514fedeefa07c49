//! The words of a pack in each language: the files `messages/LANG.json`. `@KEY` in a manifest
//! stands for the text of a key in each language. A template that is written once for all languages
//! gets the texts with the function `t`.

use std::{collections::BTreeMap, fs, path::Path};

use contract::manifest::PackTexts;
use messages::PACK_TEXTS;
use serde_json::{Map, Value};

use crate::{
    fault::{Faults, join},
    files, json,
};

/// The name of the words' folder inside a pack.
const FOLDER: &str = "messages";

/// The texts by language and key. A text may have separate forms for the number one and for other
/// numbers.
#[derive(Debug, Default)]
pub(crate) struct Words(PackTexts);

impl Words {
    /// Reads the words of a pack. A pack without the folder has no words.
    pub(crate) fn read(folder: &Path, faults: &mut Faults) -> Self {
        let entries = fs::read_dir(folder.join(FOLDER)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut words = Self::default();
        for name in names.filter(|name| name.ends_with(".json")) {
            let file = format!("{FOLDER}/{name}");
            let language = name.trim_end_matches(".json");
            if !is_language(language) {
                faults.in_file(&file, "", unknown_language(language), known_languages());
            } else if let Some(texts) = read_texts(folder, &file, faults) {
                words.0.insert(language.to_owned(), texts);
            }
        }
        words
    }

    /// Inserts the words into a manifest in which template files have been replaced by their texts.
    pub(crate) fn apply(&self, manifest: &mut Value, faults: &mut Faults) {
        if let Some(defaults) = manifest.pointer_mut("/agent/defaults") {
            self.replace_keys(defaults, faults);
        }
        if let Some(offline) = manifest.get_mut("offline") {
            for thing in members_mut(offline.get_mut("things")) {
                for name in ["label", "none", "unusable"] {
                    self.split_by_language(thing.get_mut(name));
                }
            }
            self.replace_keys(offline, faults);
        }
        let tools = manifest.pointer_mut("/tools/tools").and_then(Value::as_array_mut);
        for tool in tools.into_iter().flatten() {
            for intent in members_mut(tool.pointer_mut("/offline/intents")) {
                self.split_by_language(intent.get_mut("answer"));
            }
            for name in ["offline", "view"] {
                if let Some(member) = tool.get_mut(name) {
                    self.replace_keys(member, faults);
                }
            }
            if let Some(Value::String(template)) = tool.pointer_mut("/preview/template") {
                template.insert_str(0, &self.definition());
            }
        }
    }

    /// Returns the texts that templates can refer to by key.
    pub(crate) fn into_texts(self) -> PackTexts {
        let keyed = |(language, mut texts): (String, Map<String, Value>)| {
            texts.retain(|key, _| is_key(key));
            (language, texts)
        };
        self.0.into_iter().map(keyed).collect()
    }

    /// Replaces a template that is written once by a template for each language. The templates find
    /// the texts in a variable: if each of them had a copy, a manifest would be megabytes long.
    fn split_by_language(&self, template: Option<&mut Value>) {
        let Some(value) = template else { return };
        let Some(text) = value.as_str().filter(|text| key_of(text).is_none()) else { return };
        let english = messages::Language::ENGLISH.tag().to_owned();
        let in_language = |tag: &String| {
            let words = format!("{{% set t = catalogue('{tag}', {PACK_TEXTS}) %}}");
            (tag.clone(), Value::String(format!("{words}{text}")))
        };
        let mut texts: Map<String, Value> = self.0.keys().map(in_language).collect();
        texts.entry(english).or_insert_with(|| Value::String(text.to_owned()));
        *value = Value::Object(texts);
    }

    /// Replaces each `@KEY` by its text in each language.
    fn replace_keys(&self, value: &mut Value, faults: &mut Faults) {
        match value {
            Value::String(text) => {
                if let Some(key) = key_of(text) {
                    *value = self.texts_of(key, faults);
                }
            }
            Value::Object(members) => {
                members.values_mut().for_each(|member| self.replace_keys(member, faults));
            }
            Value::Array(items) => {
                items.iter_mut().for_each(|item| self.replace_keys(item, faults));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn texts_of(&self, key: &str, faults: &mut Faults) -> Value {
        let english = messages::Language::ENGLISH.tag();
        if !self.0.get(english).is_some_and(|texts| texts.contains_key(key)) {
            let problem = format!("there is no text `{key}`");
            faults.in_file(&format!("{FOLDER}/{english}.json"), join("", key), problem, "add it");
        }
        let in_language = |(tag, texts): (&String, &Map<String, Value>)| {
            Some((tag.clone(), texts.get(key)?.clone()))
        };
        Value::Object(self.0.iter().filter_map(in_language).collect())
    }

    /// Returns the beginning of a preview's template, which defines `t` with the words of all
    /// languages. The template contains the words, because approvals are bound to it as a part of
    /// the tool's definition.
    fn definition(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let words: BTreeMap<_, _> =
            self.0.iter().map(|(language, texts)| (language, keyed(texts))).collect();
        // JSON is valid syntax for an expression of the template language.
        let words = serde_json::to_string(&words).unwrap_or_default();
        format!("{{% set t = catalogue(locale, {words}) %}}")
    }
}

/// Whether the app supports a language.
pub(crate) fn is_language(tag: &str) -> bool {
    messages::Language::all().any(|language| language.tag() == tag)
}

/// Returns the message for a language that the app does not support.
pub(crate) fn unknown_language(tag: &str) -> String {
    format!("`{tag}` is not a language of the app")
}

/// Returns the hint that lists the supported languages.
pub(crate) fn known_languages() -> String {
    let tags: Vec<String> =
        messages::Language::all().map(|language| format!("`{}`", language.tag())).collect();
    format!("use one of {}", tags.join(", "))
}

/// Returns the texts that a manifest can refer to by key. The other texts translate English
/// sentences in the pack's code, and the sentences are their keys.
fn keyed(texts: &Map<String, Value>) -> BTreeMap<&String, &Value> {
    texts.iter().filter(|(key, _)| is_key(key)).collect()
}

/// Returns the key if a text has the form `@KEY`.
fn key_of(text: &str) -> Option<&str> {
    text.strip_prefix('@').filter(|key| is_key(key))
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn read_texts(folder: &Path, file: &str, faults: &mut Faults) -> Option<Map<String, Value>> {
    let parsed =
        files::read(folder, file).map_err(|problem| problem.to_string()).and_then(|text| {
            json::parse(&text).map_err(|error| format!("it is not valid JSON: {error}"))
        });
    let (value, doubles) = match parsed {
        Ok(parsed) => parsed,
        Err(problem) => {
            faults.in_file(file, "", problem, "give it texts by key");
            return None;
        }
    };
    for pointer in doubles {
        faults.in_file(file, pointer, "this text is given twice", "remove one of them");
    }
    let Value::Object(texts) = value else {
        faults.in_file(file, "", "it must be an object", "give it texts by key");
        return None;
    };
    for (key, text) in &texts {
        let has_forms = ["one", "other"].iter().all(|form| text[form].is_string());
        if !text.is_string() && !has_forms {
            let problem = "it is neither a text nor the forms `one` and `other`";
            faults.in_file(file, join("", key), problem, "correct it");
        }
    }
    Some(texts)
}

fn members_mut(value: Option<&mut Value>) -> Vec<&mut Value> {
    match value {
        Some(Value::Object(members)) => members.values_mut().collect(),
        Some(Value::Array(items)) => items.iter_mut().collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use serde_json::json;

    use super::*;

    fn words() -> Words {
        let texts = |value: Value| value.as_object().unwrap().clone();
        Words(BTreeMap::from([
            ("en".into(), texts(json!({"can": "greet", "hello": "Hello {name}"}))),
            ("sv".into(), texts(json!({"can": "hälsa", "hello": "Hej {name}"}))),
        ]))
    }

    #[test]
    fn a_message_key_in_a_manifest_is_replaced_by_its_text_in_each_language() {
        let mut faults = Faults::default();
        let mut manifest = json!({"offline": {"can": "@can", "examples": {"en": ["mail a@b"]}}});
        words().apply(&mut manifest, &mut faults);
        assert_eq!(manifest["offline"]["can"], json!({"en": "greet", "sv": "hälsa"}));
        assert_eq!(manifest["offline"]["examples"]["en"][0], "mail a@b");
        assert!(faults.is_empty());
        let mut manifest = json!({"offline": {"can": "@no_such"}});
        words().apply(&mut manifest, &mut faults);
        assert!(!faults.is_empty(), "a key without a text is a fault");
    }

    #[test]
    fn an_answer_template_is_given_once_or_for_each_language() {
        let mut faults = Faults::default();
        let tool = |answer: Value| json!({"offline": {"intents": [{"answer": answer}]}});
        let both = json!({"en": "A", "sv": "B"});
        let tools = [tool(json!("{{ t('hello', name='Ada') }}")), tool(both.clone())];
        let mut manifest = json!({"tools": {"tools": tools}});
        words().apply(&mut manifest, &mut faults);
        let answer = |tool: usize| {
            manifest["tools"]["tools"][tool]["offline"]["intents"][0]["answer"].clone()
        };
        for tag in ["sv", "en"] {
            let text = format!(
                "{{% set t = catalogue('{tag}', _texts_of_pack) %}}{{{{ t('hello', name='Ada') }}}}"
            );
            assert_eq!(answer(0)[tag], text);
        }
        assert_eq!(answer(1), both);
    }

    #[test]
    fn templates_get_the_texts_that_have_a_key() {
        let mut words = words();
        let sentence = ("A sentence of the code.".to_owned(), json!("En mening."));
        words.0.get_mut("sv").unwrap().extend([sentence]);
        let texts = words.into_texts();
        assert_eq!(texts["sv"].keys().collect::<Vec<_>>(), ["can", "hello"]);
        assert_eq!(texts["en"]["hello"], "Hello {name}");
    }

    #[test]
    fn a_preview_contains_the_words_of_all_languages() {
        let tool = json!({"preview": {"template": "{{ t('hello', name='Ada') }}"}});
        let mut manifest = json!({"tools": {"tools": [tool]}});
        words().apply(&mut manifest, &mut Faults::default());
        let text = manifest["tools"]["tools"][0]["preview"]["template"].as_str().unwrap();
        assert!(text.starts_with("{% set t = catalogue(locale, {"), "{text}");
        assert!(text.contains("Hello {name}") && text.contains("Hej {name}"), "{text}");
    }
}
