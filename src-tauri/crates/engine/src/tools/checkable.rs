//! Extracts the part of a schema that can be checked locally. A server's schema may contain an
//! unsupported pattern, refer to an external schema or use an unknown dialect. Such parts are
//! checked only by the server. The remaining schema accepts every value that the whole schema
//! accepts. No external schema is loaded.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value, json};

use super::{nullable, steps};

/// The most backtracking steps of a pattern on a text.
const MOST_STEPS: usize = 10_000;

/// The most locations that are listed, and the most characters of a location.
const PLACES: usize = 20;
const PLACE_CHARS: usize = 200;

/// The most keywords that are examined. A larger schema is checked only by the server.
const KEYWORDS: usize = 2_000;

/// The keywords whose value is an object of schemas, a list of schemas, or a single schema.
const MAPS: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const SINGLE: [&str; 12] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contentSchema",
];
/// The keywords that may refuse more values if a part of the schema is removed.
const REVERSING: [&str; 9] = [
    "not",
    "if",
    "then",
    "else",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// Compiles a schema. Returns none if a part of the schema cannot be checked.
pub(crate) fn build(schema: &Value, formats: bool) -> Option<Validator> {
    // Patterns in a server's schema are limited: a pattern that needs too many steps is treated as
    // not matching.
    let patterns = PatternOptions::fancy_regex().backtrack_limit(MOST_STEPS);
    let options = steps::count_steps(jsonschema::options());
    options
        .should_validate_formats(formats)
        .with_pattern_options(patterns)
        .build(&steps::counted(&nullable::written_out(schema))?)
        .ok()
}

/// A schema without the parts that cannot be checked.
#[derive(Debug, PartialEq)]
pub(crate) struct Checkable {
    pub(crate) schema: Value,
    pub(crate) left: Left,
}

/// The locations in a schema that only the server checks.
#[derive(Debug, Default, PartialEq)]
pub struct Left {
    /// The first locations, as JSON pointers. Long pointers are cut.
    pub places: Vec<String>,
    /// The number of further locations.
    pub more: usize,
}

impl Left {
    fn one(place: &str) -> Self {
        Self { places: vec![place.to_owned()], more: 0 }
    }

    fn push(&mut self, place: &str) {
        if self.places.len() < PLACES {
            self.places.push(place.chars().take(PLACE_CHARS).collect());
        } else {
            self.more += 1;
        }
    }
}

/// Returns the locations in a schema that cannot be checked locally.
pub fn unchecked_places(schema: &Value) -> Left {
    if build(schema, true).is_some() { Left::default() } else { Checkable::of(schema).left }
}

impl Checkable {
    pub(crate) fn of(schema: &Value) -> Self {
        let dialect = schema.get("$schema").cloned();
        if let Some(dialect) = &dialect
            && build(&json!({"$schema": dialect}), false).is_none()
        {
            // The keywords of an unknown dialect may have any meaning.
            return Self { schema: Value::Bool(true), left: Left::one("/$schema") };
        }
        let mut search = Search { whole: schema, dialect, left: Left::default(), checked: 0 };
        let mut rest = search.without_faults(schema, &mut String::new());
        if !search.left.places.is_empty() {
            loosen(&mut rest);
        }
        if search.checked > KEYWORDS || build(&rest, false).is_none() {
            return Self { schema: Value::Bool(true), left: Left::one("") };
        }
        Self { schema: rest, left: search.left }
    }
}

struct Search<'a> {
    whole: &'a Value,
    dialect: Option<Value>,
    left: Left,
    checked: usize,
}

impl Search<'_> {
    /// Returns a schema without the parts that cannot be checked, and records their locations.
    fn without_faults(&mut self, schema: &Value, place: &mut String) -> Value {
        let members = match schema {
            Value::Object(members) => members,
            Value::Bool(_) => return schema.clone(),
            _ => {
                self.left.push(place);
                return Value::Bool(true);
            }
        };
        let mut rest = Map::new();
        for (word, value) in members {
            let length = place.len();
            push_step(place, word);
            if let Some(kept) = self.keyword(word, value, place) {
                rest.insert(word.clone(), kept);
            }
            place.truncate(length);
        }
        // A member or item that only a removed part described must not be refused as additional.
        let size = |value: &Value| value.as_object().map(Map::len);
        let is_lost = |word: &str, rest: &Map<String, Value>| {
            members
                .get(word)
                .is_some_and(|all| rest.get(word).is_none_or(|of| size(of) != size(all)))
        };
        if is_lost("patternProperties", &rest) || is_lost("properties", &rest) {
            rest.remove("additionalProperties");
        }
        if is_lost("prefixItems", &rest) {
            rest.remove("items");
            rest.remove("additionalItems");
        }
        self.write_tuple_anew(&mut rest);
        Value::Object(rest)
    }

    fn keyword(&mut self, word: &str, value: &Value, place: &mut String) -> Option<Value> {
        match value {
            Value::Object(all) if MAPS.contains(&word) => {
                let mut kept = Map::new();
                for (name, schema) in all {
                    let length = place.len();
                    push_step(place, name);
                    if word == "patternProperties" && !self.is_usable("pattern", &json!(name)) {
                        self.left.push(place);
                    } else {
                        kept.insert(name.clone(), self.without_faults(schema, place));
                    }
                    place.truncate(length);
                }
                Some(Value::Object(kept))
            }
            Value::Array(all) if LISTS.contains(&word) || word == "items" => {
                let mut kept = Vec::with_capacity(all.len());
                for (at, schema) in all.iter().enumerate() {
                    let length = place.len();
                    push_step(place, &at.to_string());
                    kept.push(self.without_faults(schema, place));
                    place.truncate(length);
                }
                Some(Value::Array(kept))
            }
            _ if SINGLE.contains(&word) => Some(self.without_faults(value, place)),
            _ if self.is_usable(word, value) => Some(value.clone()),
            _ => {
                self.left.push(place);
                None
            }
        }
    }

    /// Whether a keyword that contains no schemas can be checked.
    fn is_usable(&mut self, word: &str, value: &Value) -> bool {
        self.checked += 1;
        match word {
            _ if self.checked > KEYWORDS => true,
            "$schema" => true,
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                let pointer = value.as_str().and_then(|place| place.strip_prefix('#'));
                pointer.is_some_and(|place| self.whole.pointer(place).is_some())
            }
            _ => {
                let mut alone = Map::from_iter([(word.to_owned(), value.clone())]);
                if let Some(dialect) = &self.dialect {
                    alone.insert("$schema".to_owned(), dialect.clone());
                }
                build(&Value::Object(alone), false).is_some()
            }
        }
    }

    /// Converts a tuple of an older dialect to the keywords of the newest. A schema without a
    /// dialect is read as the newest.
    fn write_tuple_anew(&self, schema: &mut Map<String, Value>) {
        if self.dialect.is_some() || !schema.get("items").is_some_and(Value::is_array) {
            return;
        }
        let further = schema.remove("additionalItems");
        if let Some(items) = schema.remove("items") {
            schema.insert("prefixItems".to_owned(), items);
        }
        if let Some(further) = further {
            schema.insert("items".to_owned(), further);
        }
    }
}

/// Removes keywords that might refuse a value only because another part was removed. More than one
/// alternative may match.
fn loosen(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    for word in REVERSING {
        members.remove(word);
    }
    if let Some(one) = members.remove("oneOf") {
        let any = json!({"anyOf": one});
        match members.get_mut("allOf").and_then(Value::as_array_mut) {
            Some(all) => all.push(any),
            None => drop(members.insert("allOf".to_owned(), json!([any]))),
        }
    }
    for (word, value) in members.iter_mut() {
        match value {
            Value::Object(all) if MAPS.contains(&word.as_str()) => {
                all.values_mut().for_each(loosen);
            }
            Value::Array(all) if LISTS.contains(&word.as_str()) || word == "items" => {
                all.iter_mut().for_each(loosen);
            }
            value if SINGLE.contains(&word.as_str()) => loosen(value),
            _ => {}
        }
    }
}

fn push_step(place: &mut String, step: &str) {
    place.push('/');
    place.push_str(&step.replace('~', "~0").replace('/', "~1"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(schema: &Value, value: &Value) -> bool {
        build(&Checkable::of(schema).schema, true).unwrap().is_valid(value)
    }

    #[test]
    fn unsupported_parts_of_a_schema_are_skipped_and_the_rest_is_checked() {
        let of = |property: Value| json!({"type": "object", "required": ["a"], "properties": {"a": property, "n": {"type": "integer"}}});
        for (property, places) in [
            (json!({"type": "string", "pattern": "(?<n>["}), vec!["/properties/a/pattern"]),
            (json!({"$ref": "https://example.com/a.json"}), vec!["/properties/a/$ref"]),
            (json!({"$ref": "#/$defs/Gone"}), vec!["/properties/a/$ref"]),
            (json!({"type": "text"}), vec!["/properties/a/type"]),
            (json!({"type": "string", "required": true}), vec!["/properties/a/required"]),
            (json!("string"), vec!["/properties/a"]),
            (json!({"enum": "x"}), vec!["/properties/a/enum"]),
        ] {
            let schema = of(property);
            assert_eq!(unchecked_places(&schema).places, places);
            assert!(fits(&schema, &json!({"a": "x", "n": 1})), "{schema}");
            assert!(!fits(&schema, &json!({"n": 1})), "a is required in {schema}");
            assert!(!fits(&schema, &json!({"a": "x", "n": "1"})), "{schema}");
        }
        assert_eq!(unchecked_places(&of(json!({"type": "string"}))), Left::default());
    }

    #[test]
    fn a_tuple_of_an_older_schema_dialect_is_checked() {
        let schema = json!({"type": "object", "properties": {"range": {"type": "array",
            "items": [{"type": "integer"}, {"type": "string"}], "additionalItems": false}}});
        assert_eq!(unchecked_places(&schema), Left::default());
        assert!(fits(&schema, &json!({"range": [1, "x"]})));
        assert!(!fits(&schema, &json!({"range": ["x"]})));
        assert!(!fits(&schema, &json!({"range": [1, "x", 2]})));
    }

    #[test]
    fn a_schema_of_an_unknown_dialect_is_not_checked() {
        let schema =
            json!({"$schema": "https://example.com/own", "type": "object", "required": ["a"]});
        assert_eq!(unchecked_places(&schema), Left::one("/$schema"));
        assert!(fits(&schema, &json!({})));
    }

    #[test]
    fn removing_unsupported_parts_never_makes_a_schema_stricter() {
        let bad = json!({"type": "string", "pattern": "["});
        for (schema, value) in [
            (json!({"properties": {"a": {"not": bad.clone()}}}), json!({"a": "x"})),
            (
                json!({"properties": {"a": {"oneOf": [bad.clone(), {"type": "string"}]}}}),
                json!({"a": "x"}),
            ),
            (json!({"if": {"properties": {"a": bad.clone()}}, "then": false}), json!({"a": "x"})),
            (
                json!({"patternProperties": {"[": {}}, "additionalProperties": false}),
                json!({"x": 1}),
            ),
            (
                json!({"properties": {"n": {}}, "$ref": "https://example.com/a", "unevaluatedProperties": false}),
                json!({"x": 1}),
            ),
            (json!({"properties": ["x"], "additionalProperties": false}), json!({"x": 1})),
            (json!({"prefixItems": {"0": {}}, "items": false}), json!([1])),
            (json!({"prefixItems": "x", "items": [{}], "additionalItems": false}), json!([1, 2])),
        ] {
            assert!(!unchecked_places(&schema).places.is_empty());
            assert!(fits(&schema, &value), "{schema}");
        }
    }
    #[test]
    fn the_list_of_unchecked_schema_locations_is_bounded() {
        let long = "n".repeat(10_000);
        let faults = |count: usize| -> Map<String, Value> {
            (0..count).map(|at| (format!("{long}{at}"), json!({"type": "text"}))).collect()
        };
        let left = unchecked_places(&json!({"properties": faults(100)}));
        assert_eq!((left.places.len(), left.more), (PLACES, 100 - PLACES));
        assert!(left.places.iter().all(|place| place.chars().count() == PLACE_CHARS));
        let of_names = |count: usize| -> Map<String, Value> {
            (0..count).map(|at| (at.to_string(), json!({"type": "text"}))).collect()
        };
        let schema = json!({"required": ["a"], "properties": of_names(KEYWORDS)});
        assert_eq!(unchecked_places(&schema), Left::one(""));
        assert!(fits(&schema, &json!({})));
    }
}
