//! The placeholders in the settings of other clients: `${VAR}`, `${env:VAR}`, `{env:VAR}`,
//! `${VAR:-default}`, `${input:id}` and those of editors. Fills in the given values and lists the
//! missing values. Must not read the environment: the caller supplies the values.

use std::{collections::BTreeMap, env};

use contract::{AskedValue, Text, text};
use serde_json::Value;

use super::keys::{is_key_name, is_variable};

/// The maximum nesting depth of placeholders in defaults.
const DEEPEST: usize = 8;

/// The description of a value that the user must enter (`inputs` of VS Code).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Input {
    about: String,
    default: Option<String>,
    is_key: bool,
}

/// Reads the inputs of a file, by the name that placeholders use.
pub(super) fn read_inputs(file: &Value) -> BTreeMap<String, Input> {
    let lists = [file.get("inputs"), file.get("mcp").and_then(|mcp| mcp.get("inputs"))];
    let inputs = lists.into_iter().flatten().filter_map(Value::as_array).flatten();
    let text =
        |input: &Value, member: &str| input.get(member).and_then(Value::as_str).map(str::to_owned);
    let read = |input: &Value| {
        let about = text(input, "description").unwrap_or_default();
        let is_key = input.get("password").and_then(Value::as_bool).unwrap_or_default();
        let name = format!("input:{}", text(input, "id")?);
        Some((name, Input { about, default: text(input, "default"), is_key }))
    };
    inputs.filter_map(read).collect()
}

/// Fills the placeholders of one server.
#[derive(Debug)]
pub(super) struct Filling<'a> {
    given: &'a BTreeMap<String, String>,
    inputs: &'a BTreeMap<String, Input>,
    pub(super) asks: Vec<AskedValue>,
    pub(super) notes: Vec<Text>,
    /// Given and default values that are keys.
    pub(super) keys: Vec<String>,
    /// Why the placeholders of the server cannot be filled.
    pub(super) problem: Option<Text>,
    /// The nesting depth of the current text in defaults.
    depth: usize,
}

impl<'a> Filling<'a> {
    pub(super) fn new(
        given: &'a BTreeMap<String, String>,
        inputs: &'a BTreeMap<String, Input>,
    ) -> Self {
        Self {
            given,
            inputs,
            asks: Vec::new(),
            notes: Vec::new(),
            keys: Vec::new(),
            problem: None,
            depth: 0,
        }
    }

    /// Returns a text with its placeholders replaced with values. A placeholder without a value is
    /// kept.
    pub(super) fn fill(&mut self, text: &str) -> String {
        let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
        while let Some((before, inside, after)) = split_placeholder(rest) {
            filled.push_str(before);
            match self.value_of(inside) {
                Some(value) => filled.push_str(&value),
                None => filled.push_str(&rest[before.len()..rest.len() - after.len()]),
            }
            rest = after;
        }
        filled.push_str(rest);
        filled
    }

    /// Fills a value that may also contain variables without braces, such as the value of a
    /// variable or a header.
    pub(super) fn fill_value(&mut self, text: &str) -> String {
        let braced = |word: &str| match word.strip_prefix('$') {
            Some(name) if is_plain_variable(name) => format!("${{{name}}}"),
            _ => word.to_owned(),
        };
        self.fill(&text.split(' ').map(braced).collect::<Vec<_>>().join(" "))
    }

    fn value_of(&mut self, inside: &str) -> Option<String> {
        let (name, default) = split_default(inside.strip_prefix("env:").unwrap_or(inside));
        if let Some(known) = known_value(name) {
            return Some(known);
        }
        if !is_name(name) {
            let placeholder = format!("${{{inside}}}");
            self.add_note(text!(
                "{placeholder} is not a known placeholder. It is passed on unchanged.",
                placeholder
            ));
            return None;
        }
        let input = self.inputs.get(name).cloned().unwrap_or_default();
        let is_key = input.is_key || is_key_name(name.strip_prefix("input:").unwrap_or(name));
        if let Some(value) = self.given.get(name) {
            if is_key {
                self.keys.push(value.clone());
            }
            return Some(value.clone());
        }
        let default = default.map(|default| self.fill_default(default)).or(input.default);
        if !self.asks.iter().any(|asked| asked.name == name) {
            let default = default.clone();
            self.asks.push(AskedValue { name: name.into(), about: input.about, default, is_key });
        }
        let default = default?;
        if is_key {
            self.keys.push(default.clone());
            self.add_note(text!("{name} has no value, so its default is used.", name));
        } else {
            self.add_note(text!(
                "{name} has no value, so its default is used: {default}",
                name,
                default = default.as_str()
            ));
        }
        Some(default)
    }

    fn fill_default(&mut self, default: &str) -> String {
        if self.depth + 1 >= DEEPEST && default.contains("${") {
            self.problem.get_or_insert_with(|| {
                text!(
                    "More than {most} placeholders are nested. Replace them by their values.",
                    most = DEEPEST
                )
            });
            return default.to_owned();
        }
        self.depth += 1;
        let filled = self.fill(default);
        self.depth -= 1;
        filled
    }

    fn add_note(&mut self, note: Text) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Splits a text at its first placeholder: the texts before, inside and after it.
fn split_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    // OpenCode writes placeholders without a dollar sign.
    let signs = [("${", 2), ("{env:", 1)];
    let (begin, length) =
        signs.iter().filter_map(|(sign, length)| Some((text.find(sign)?, *length))).min()?;
    let inside = &text[begin + length..];
    let mut open = 1;
    for (at, c) in inside.char_indices() {
        match c {
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some((&text[..begin], &inside[..at], &inside[at + 1..]));
        }
    }
    None
}

fn split_default(inside: &str) -> (&str, Option<&str>) {
    inside.split_once(":-").map_or((inside, None), |(name, default)| (name, Some(default)))
}

/// Returns the value of a placeholder that is the same for every server.
fn known_value(name: &str) -> Option<String> {
    match name {
        "userHome" | "HOME" => env::home_dir().map(|home| home.display().to_string()),
        "pathSeparator" | "/" => Some("/".into()),
        _ => None,
    }
}

/// Whether the text inside the braces is a name and not a shell expression.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:/ ".contains(c))
}

/// Whether a word after a dollar sign is the name of a variable. The name must be in capitals,
/// because a value such as `$ecret` may be a password.
fn is_plain_variable(name: &str) -> bool {
    name.len() > 1 && is_variable(name) && !name.contains(|c: char| c.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str, given: &[(&str, &str)]) -> (String, Vec<String>, usize) {
        let given = given.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let inputs = BTreeMap::new();
        let mut filling = Filling::new(&given, &inputs);
        let filled = filling.fill_value(text);
        let asks = filling.asks.into_iter().map(|asked| asked.name).collect();
        (filled, asks, filling.notes.len())
    }

    #[test]
    fn placeholders_with_given_values_are_filled_and_others_are_requested() {
        let given = [("A", "1"), ("input:b", "${A}")];
        let nothing = Vec::<String>::new();
        assert_eq!(fill("x${A}y${env:A}", &given), ("x1y1".into(), nothing.clone(), 0));
        assert_eq!(fill("Bearer {env:A}", &given), ("Bearer 1".into(), nothing.clone(), 0));
        assert_eq!(fill("{env:B}", &given), ("{env:B}".into(), vec!["B".into()], 0));
        assert_eq!(fill("${input:b}", &given), ("${A}".into(), nothing.clone(), 0));
        assert_eq!(fill("Bearer $A", &given), ("Bearer $A".into(), nothing.clone(), 0));
        assert_eq!(fill("Bearer $AB", &[("AB", "1")]), ("Bearer 1".into(), nothing.clone(), 0));
        assert_eq!(fill("${B} ${B}", &given), ("${B} ${B}".into(), vec!["B".into()], 0));
        assert_eq!(fill("${workspaceFolder}", &[]).1, ["workspaceFolder"]);
        assert_eq!(fill("${B:-${A}-2}", &given), ("1-2".into(), vec!["B".into()], 1));
        assert_eq!(fill("${PWD##*/}", &[]), ("${PWD##*/}".into(), nothing.clone(), 1));
        for plain in ["${open", "$5", "pa$$word", "$ecret", "a$AB"] {
            assert_eq!(fill(plain, &given), (plain.into(), nothing.clone(), 0));
        }
        assert!(!fill("${userHome}${/}x", &[]).0.contains('$'));
    }

    #[test]
    fn a_key_as_the_default_of_a_placeholder_is_treated_as_a_key() {
        let file =
            serde_json::json!({"inputs": [{"id": "word", "password": true, "default": "w"}]});
        let (none, inputs) = (BTreeMap::new(), read_inputs(&file));
        let mut filling = Filling::new(&none, &inputs);
        let text = "${DB_PASSWORD:-hunter22} ${input:word} ${HOST_NAME:-here}";
        assert_eq!(filling.fill(text), "hunter22 w here");
        assert_eq!(filling.keys, ["hunter22", "w"]);
        let notes: Vec<String> = filling.notes.iter().map(ToString::to_string).collect();
        assert_eq!(notes.len(), 3);
        assert!(!notes[0].contains("hunter22") && notes[2].contains("here"), "{notes:?}");
    }

    #[test]
    fn a_placeholder_is_a_key_by_its_name_or_its_declaration_in_the_settings() {
        let file = serde_json::json!({"inputs": [
            {"id": "word", "password": true, "description": "The word"}, {"id": "other", "default": "o"}
        ]});
        let inputs = read_inputs(&file);
        let given = [("input:word", "w"), ("API_KEY", "k"), ("TOKEN_LIMIT", "10")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let mut filling = Filling::new(&given, &inputs);
        assert_eq!(
            filling.fill("${input:word} ${API_KEY} ${TOKEN_LIMIT} ${input:other}"),
            "w k 10 o"
        );
        assert_eq!(filling.keys, ["w", "k"]);
        let none = BTreeMap::new();
        let mut filling = Filling::new(&none, &inputs);
        filling.fill("${input:word}");
        assert_eq!((filling.asks[0].about.as_str(), filling.asks[0].is_key), ("The word", true));
    }
}
