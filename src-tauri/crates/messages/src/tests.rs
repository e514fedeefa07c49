#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::*;

/// The texts of all files of a language, by file and key.
type Texts = BTreeMap<(String, String), Value>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../messages")
}

fn read(folder: &Path, prefix: &str, texts: &mut Texts) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            read(&path, &format!("{name}/"), texts);
        } else if name != "language.json" {
            let file: Map<String, Value> =
                serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            texts.extend(
                file.into_iter().map(|(key, text)| ((format!("{prefix}{name}"), key), text)),
            );
        }
    }
}

fn texts_of(tag: &str) -> Texts {
    let mut texts = Texts::new();
    read(&folder().join(tag), "", &mut texts);
    for pack in fs::read_dir(folder().join("../tools")).unwrap() {
        let pack = pack.unwrap();
        let file = pack.path().join(format!("messages/{tag}.json"));
        if let Ok(file) = fs::read_to_string(file) {
            let file: Map<String, Value> = serde_json::from_str(&file).unwrap();
            let name = format!("tools/{}", pack.file_name().to_string_lossy());
            texts.extend(file.into_iter().map(|(key, text)| ((name.clone(), key), text)));
        }
    }
    texts
}

/// Whether a text translates a sentence of the host or of a pack, so that the sentence is its key.
fn is_sentence((file, key): &(String, String)) -> bool {
    let is_key = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    file == "host.json" || (file.starts_with("tools/") && !(is_key && key.contains('_')))
}

/// The English texts that a language can translate: the texts of the fallback, and the sentences of
/// the host and the packs.
fn english() -> Texts {
    let mut texts = texts_of("en");
    for language in Language::all().filter(|language| !language.is_draft()) {
        for key in texts_of(language.tag()).into_keys().filter(is_sentence) {
            texts.entry(key.clone()).or_insert(Value::String(key.1));
        }
    }
    texts
}

fn forms(text: &Value) -> Vec<&str> {
    match text {
        Value::Object(forms) => forms.values().filter_map(Value::as_str).collect(),
        text => text.as_str().into_iter().collect(),
    }
}

fn holes(text: &Value) -> BTreeSet<&str> {
    let named =
        |form| str::split(form, '{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    // A form may write the number as a word instead of using `count`.
    forms(text).into_iter().flat_map(named).filter(|name| *name != "count").collect()
}

#[test]
fn each_language_has_the_texts_of_english_with_the_same_placeholders() {
    let english = english();
    assert!(english.len() > 2_000, "the texts were found: {}", english.len());
    for language in Language::all().skip(1) {
        let said = texts_of(language.tag());
        let missing: Vec<_> = english.keys().filter(|key| !said.contains_key(*key)).collect();
        let surplus: Vec<_> = said.keys().filter(|key| !english.contains_key(*key)).collect();
        let different: Vec<_> = said
            .iter()
            .filter(|(key, text)| english.get(*key).is_some_and(|one| holes(one) != holes(text)))
            .map(|(key, _)| key)
            .collect();
        assert!(surplus.is_empty(), "{} has texts that English lacks: {surplus:?}", language.tag());
        assert!(different.is_empty(), "{} has other holes in: {different:?}", language.tag());
        assert!(
            missing.is_empty() || language.is_draft(),
            "{} lacks texts and is no draft: {missing:?}",
            language.tag()
        );
    }
}

#[test]
fn no_catalogue_text_is_empty() {
    for language in Language::all() {
        for (key, text) in texts_of(language.tag()) {
            let forms = forms(&text);
            assert!(!forms.is_empty() && forms.iter().all(|form| !form.is_empty()), "{key:?}");
        }
    }
}

#[test]
fn a_language_tag_selects_its_first_part_or_else_english() {
    assert_eq!(Language::ENGLISH.tag(), "en");
    for (tag, language) in [
        ("sv", "sv"),
        ("sv-SE", "sv"),
        ("SV_se", "sv"),
        ("sv_SE.UTF-8", "sv"),
        ("en-sv", "en"),
        ("svx", "en"),
        ("C", "en"),
        ("fi", "en"),
        ("", "en"),
    ] {
        assert_eq!(Language::of_tag(tag).tag(), language, "{tag}");
    }
    assert_eq!(Language::with_area("no-such-area", "sv"), Language::ENGLISH);
}

#[test]
fn placeholders_inside_a_value_are_not_filled() {
    let values = [("a", "{b}"), ("b", "two")];
    assert_eq!(fill("{a} and {b}, {c} {", &values), "{b} and two, {c} {");
}

#[test]
fn a_missing_text_falls_back_to_english_and_then_to_the_key() {
    let swedish = Language::of_tag("sv");
    assert_eq!(swedish.text("desktop", "no_such_key"), "no_such_key");
    assert_eq!(swedish.sentence("No such sentence."), None);
}
