//! Converts arguments to the types that their schema requires. A value that already matches never
//! changes. Only known mistakes of models are corrected; the validator decides whether the result
//! is valid.

use contract::{
    CallerParam, Effect, ToolSpec,
    arguments::{self, LARGEST_INTEGER},
};
use serde_json::{Map, Value};

use {super::nullable, crate::turn::named_members::NamedMembers};

/// The most references and unions that are followed for an argument.
const MOST_BRANCHES: usize = 100;

/// A change to an argument, for the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coercion {
    pub parameter: String,
    pub what: &'static str,
}

/// Returns a call's arguments, coerced to the tool's schema. The arguments of a change also get the
/// schema's default values, unless the arguments would become invalid.
pub(crate) fn fit_arguments(
    spec: &ToolSpec,
    arguments: Value,
    fits: impl FnOnce(&Value) -> bool,
) -> (Value, Vec<Coercion>) {
    // A server's own schema is taken literally, so only values that do not match it are converted.
    let (arguments, mut done) =
        convert(&spec.input_schema, arguments, spec.pack.is_of_added_server());
    if spec.effect == Effect::ReadOnly {
        return (arguments, done);
    }
    let (full, added) = with_defaults(&spec.input_schema, &spec.caller_owned, arguments.clone());
    if added.is_empty() || !fits(&full) {
        return (arguments, done);
    }
    done.extend(added);
    (full, done)
}

/// Coerces the arguments according to a schema. An argument that the schema does not name is kept,
/// and the validator decides whether it is allowed.
pub fn coerce(schema: &Value, arguments: Value) -> (Value, Vec<Coercion>) {
    convert(schema, arguments, false)
}

/// Coerces like `coerce`. With `keeps_blank`, blank text that matches its type is kept.
fn convert(schema: &Value, arguments: Value, keeps_blank: bool) -> (Value, Vec<Coercion>) {
    let Value::Object(given) = arguments else { return (arguments, Vec::new()) };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let members = NamedMembers::of(schema);
    let mut done = Vec::new();
    let mut out = Map::new();
    for (name, value) in given {
        let declared = members.declared(&name);
        let known: Vec<Vec<&Value>> =
            declared.iter().map(|property| branches(schema, property)).collect();
        let known = if known.iter().any(Vec::is_empty) { Vec::new() } else { known.concat() };
        // A member that only a part of the schema names may be required in that part.
        let is_required = required.contains(&name.as_str()) || !members.is_property_of_whole(&name);
        let fits_as_it_is = keeps_blank && types(&known).iter().any(|kind| fits(kind, &value));
        if fits_as_it_is {
            out.insert(name, value);
            continue;
        }
        match coerce_value(&known, value, is_required) {
            Outcome::Same(value) => {
                out.insert(name, value);
            }
            Outcome::Changed(value, what) => {
                done.push(Coercion { parameter: name.clone(), what });
                out.insert(name, value);
            }
            Outcome::Absent => done.push(Coercion { parameter: name, what: "treated as absent" }),
        }
    }
    (Value::Object(out), done)
}

/// Adds the schema's default values for missing arguments of a change, because a person must
/// approve all sent values. Caller-owned parameters, and default values of a wrong type, are
/// omitted.
pub fn with_defaults(
    schema: &Value,
    owned: &[CallerParam],
    mut arguments: Value,
) -> (Value, Vec<Coercion>) {
    let mut done = Vec::new();
    let (Some(given), Some(properties)) =
        (arguments.as_object_mut(), schema.get("properties").and_then(Value::as_object))
    else {
        return (arguments, done);
    };
    for (name, property) in properties {
        let Some(default) = property.get("default").filter(|default| !default.is_null()) else {
            continue;
        };
        let kinds = types(&branches(schema, property)).iter().any(|kind| fits(kind, default));
        if kinds && !given.contains_key(name) && owned.iter().all(|own| own.name != *name) {
            given.insert(name.clone(), default.clone());
            done.push(Coercion { parameter: name.clone(), what: "took the default" });
        }
    }
    (arguments, done)
}

enum Outcome {
    Same(Value),
    Changed(Value, &'static str),
    Absent,
}

fn coerce_value(branches: &[&Value], value: Value, required: bool) -> Outcome {
    let types = types(branches);
    if types.is_empty()
        || types.iter().any(|t| fits(t, &value))
            && !(is_blank(&value) && !required && !allows_blank(branches, &value))
    {
        return Outcome::Same(value);
    }
    let scalar = !types.iter().any(|t| *t == "array" || *t == "object");
    // If a list is expected, an empty list is a value. For other types it means a missing value.
    if !required && is_blank(&value) && (scalar || !value.is_array()) {
        return Outcome::Absent;
    }
    if types.contains(&"null") && value.as_str().is_some_and(|text| text.trim() == "null") {
        return Outcome::Changed(Value::Null, "parsed from text");
    }
    if scalar && let Some(inner) = unwrap_single(&value) {
        return match coerce_value(branches, inner, required) {
            Outcome::Same(value) | Outcome::Changed(value, _) => {
                Outcome::Changed(value, "unwrapped a list of one")
            }
            Outcome::Absent => Outcome::Absent,
        };
    }
    if types.contains(&"array") && !value.is_array() && !value.is_null() {
        if let Some(list) = parse("array", &value) {
            return Outcome::Changed(list, "parsed from text");
        }
        return Outcome::Changed(Value::Array(vec![value]), "wrapped in a list");
    }
    match (&value, types.iter().find_map(|t| parse(t, &value))) {
        (_, Some(parsed)) => Outcome::Changed(parsed, "parsed from text"),
        (Value::Number(n), None) if types.contains(&"string") => {
            Outcome::Changed(Value::String(n.to_string()), "written as text")
        }
        (_, None) => Outcome::Same(value),
    }
}

/// Returns the schemas of which a value must match at least one. Follows references inside the
/// whole schema and splits unions. Returns an empty list if there are too many, for example because
/// of circular references.
fn branches<'a>(whole: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let (mut open, mut found) = (vec![schema], Vec::new());
    for _ in 0..MOST_BRANCHES {
        let Some(one) = open.pop() else { return found };
        let target = one
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|at| whole.pointer(at.strip_prefix('#')?));
        let union = ["anyOf", "oneOf"].iter().find_map(|word| one.get(word)?.as_array());
        let speaks = ["type", "enum", "const"].iter().any(|word| one.get(word).is_some());
        match (target, union) {
            (Some(target), _) if !speaks => open.push(target),
            (None, Some(union)) if !speaks => open.extend(union.iter().rev()),
            _ => found.push(one),
        }
    }
    Vec::new()
}

/// Returns the types in all branches. Returns an empty list if a branch has no type, because it may
/// accept any type.
fn types<'a>(branches: &[&'a Value]) -> Vec<&'a str> {
    let mut all = Vec::new();
    for branch in branches {
        match branch.get("type") {
            Some(Value::String(one)) => all.push(one.as_str()),
            Some(Value::Array(many)) => all.extend(many.iter().filter_map(Value::as_str)),
            _ => return Vec::new(),
        }
        all.extend(nullable::is_said(branch).then_some("null"));
    }
    all
}

fn fits(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::String(text) => {
            matches!(text.trim().to_ascii_lowercase().as_str(), "" | "null" | "none")
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// Whether the schema explicitly accepts the blank value, by listing it or by having `null` as a
/// type.
fn allows_blank(branches: &[&Value], value: &Value) -> bool {
    let lists = |branch: &&Value| branch.get("enum").is_some() || branch.get("const").is_some();
    branches.iter().any(lists) || (value.is_null() && types(branches).contains(&"null"))
}

fn unwrap_single(value: &Value) -> Option<Value> {
    let mut current = value;
    let mut unwrapped = false;
    while let Value::Array(list) = current {
        let [inner] = list.as_slice() else { return None };
        current = inner;
        unwrapped = true;
    }
    unwrapped.then(|| current.clone())
}

fn parse(kind: &str, value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    match kind {
        // A number that would lose digits is kept as text.
        "integer" => plain_number(text)?
            .parse::<i64>()
            .ok()
            .filter(|whole| whole.unsigned_abs() <= LARGEST_INTEGER)
            .map(Value::from),
        "number" => arguments::number(&plain_number(text)?).map(Value::Number),
        "boolean" => match text.to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        "object" | "array" => serde_json::from_str::<Value>(text)
            .ok()
            .filter(|value| fits(kind, value) && arguments::check_numbers(text).is_ok()),
        _ => None,
    }
}

/// Returns a number's text without currency sign and thousands separators. Returns None for
/// percentages.
fn plain_number(text: &str) -> Option<String> {
    let bare = text.trim_start_matches(['$', '€', '£']).trim();
    if bare.is_empty() || bare.ends_with('%') {
        return None;
    }
    let groups: Vec<&str> = bare.split(',').collect();
    let grouped = groups.len() > 1
        && groups.iter().skip(1).enumerate().all(|(i, g)| {
            let whole = if i + 2 == groups.len() { g.split('.').next().unwrap_or(g) } else { g };
            whole.len() == 3 && whole.bytes().all(|b| b.is_ascii_digit())
        });
    (groups.len() == 1 || grouped).then(|| bare.replace(',', ""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({"type": "object", "properties": {
            "s": {"type": "string"}, "i": {"type": "integer"}, "n": {"type": "number"}, "b": {"type": "boolean"},
            "a": {"type": "array"}, "o": {"type": "object"}, "opt": {"type": "string"},
            "ref": {"$ref": "#/$defs/Count"}, "any": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "oneof": {"oneOf": [{"$ref": "#/$defs/Count"}, {"type": "boolean"}]}, "round": {"$ref": "#/$defs/Round"},
            "open": {"anyOf": [{"type": "integer"}, {}]}, "free": {"type": "string", "nullable": true},
            "lists": {"anyOf": [{"type": "array"}, {"type": "null"}]}},
            "required": ["s"], "$defs": {"Count": {"type": "integer"}, "Round": {"anyOf": [{"$ref": "#/$defs/Round"}, {"$ref": "#/$defs/Round"}]}}})
    }

    #[test]
    fn defaults_are_filled_into_the_arguments_of_a_change() {
        let schema = json!({"type": "object", "properties": {
            "partNo": {"type": "string"}, "quantity": {"type": "integer", "default": 1}, "ip": {"type": "string", "default": "::1"},
            "note": {"type": "string", "default": null}, "count": {"$ref": "#/$defs/Count", "default": 2}, "odd": {"type": "integer", "default": "x"}},
            "$defs": {"Count": {"type": "integer"}}});
        let owned =
            [CallerParam { name: "ip".into(), from: "client_ip".into(), exempt_from_hash: true }];
        let (full, done) = with_defaults(&schema, &owned, json!({"partNo": "A"}));
        assert_eq!(full, json!({"partNo": "A", "quantity": 1, "count": 2}));
        assert_eq!(
            done.iter().map(|one| one.parameter.as_str()).collect::<Vec<_>>(),
            ["count", "quantity"]
        );
        let given = json!({"partNo": "A", "quantity": 3, "count": 1});
        assert_eq!(with_defaults(&schema, &owned, given.clone()), (given, vec![]));
    }

    #[test]
    fn arguments_are_coerced_to_the_types_of_their_schema() {
        for (given, expected) in [
            (json!({"s": [["17"]]}), json!({"s": "17"})),
            (json!({"s": ["a", "b"]}), json!({"s": ["a", "b"]})),
            (json!({"s": "x", "opt": "none"}), json!({"s": "x"})),
            (json!({"s": "x", "opt": []}), json!({"s": "x"})),
            (json!({"s": "x", "a": 3}), json!({"s": "x", "a": [3]})),
            (json!({"s": "x", "a": "[1, \"b\"]"}), json!({"s": "x", "a": [1, "b"]})),
            (json!({"s": "x", "a": "[draft]"}), json!({"s": "x", "a": ["[draft]"]})),
            (json!({"s": "x", "a": "null"}), json!({"s": "x"})),
            (json!({"s": "x", "a": null}), json!({"s": "x"})),
            (json!({"s": "x", "a": []}), json!({"s": "x", "a": []})),
            (json!({"s": "x", "lists": "null"}), json!({"s": "x"})),
            (json!({"s": "x", "lists": null}), json!({"s": "x", "lists": null})),
            (json!({"s": "x", "free": null}), json!({"s": "x", "free": null})),
            (json!({"s": "x", "i": "1,200"}), json!({"s": "x", "i": 1200})),
            (json!({"s": "x", "n": "$1,234.50"}), json!({"s": "x", "n": 1234.5})),
            (json!({"s": "x", "n": "12%"}), json!({"s": "x", "n": "12%"})),
            (
                json!({"s": "x", "i": "9007199254740991"}),
                json!({"s": "x", "i": 9_007_199_254_740_991_i64}),
            ),
            (
                json!({"s": "x", "i": "9007199254740993"}),
                json!({"s": "x", "i": "9007199254740993"}),
            ),
            (
                json!({"s": "x", "n": "9007199254740993"}),
                json!({"s": "x", "n": "9007199254740993"}),
            ),
            (
                json!({"s": "x", "n": "0.1234567890123456789"}),
                json!({"s": "x", "n": "0.1234567890123456789"}),
            ),
            (json!({"s": "x", "b": "True"}), json!({"s": "x", "b": true})),
            (json!({"s": "x", "o": "{\"k\":1}"}), json!({"s": "x", "o": {"k": 1}})),
            (
                json!({"s": "x", "o": "{\"k\":0.1234567890123456789}"}),
                json!({"s": "x", "o": "{\"k\":0.1234567890123456789}"}),
            ),
            (json!({"s": "x", "extra": 1}), json!({"s": "x", "extra": 1})),
            (json!({"s": "x", "extra": "none"}), json!({"s": "x", "extra": "none"})),
            (json!({"s": 17}), json!({"s": "17"})),
            (json!({"s": "none"}), json!({"s": "none"})),
            (json!({"s": {"k": 1}}), json!({"s": {"k": 1}})),
            (json!({"s": "x", "ref": "1,200"}), json!({"s": "x", "ref": 1200})),
            (json!({"s": "x", "ref": ["7"]}), json!({"s": "x", "ref": 7})),
            (json!({"s": "x", "ref": "none"}), json!({"s": "x"})),
            (json!({"s": "x", "any": "12"}), json!({"s": "x", "any": 12})),
            (json!({"s": "x", "any": null}), json!({"s": "x", "any": null})),
            (json!({"s": "x", "oneof": "True"}), json!({"s": "x", "oneof": true})),
            (json!({"s": "x", "oneof": ["7"]}), json!({"s": "x", "oneof": 7})),
            (json!({"s": "x", "round": "12"}), json!({"s": "x", "round": "12"})),
            (json!({"s": "x", "open": "12"}), json!({"s": "x", "open": "12"})),
        ] {
            assert_eq!(coerce(&schema(), given.clone()).0, expected, "from {given}");
        }
        let mut strict = schema();
        strict["additionalProperties"] = json!(false);
        let extra = json!({"s": "x", "extra": 1});
        assert_eq!(
            coerce(&strict, extra.clone()),
            (extra, vec![]),
            "what is forbidden is left for validation to say"
        );
    }

    /// Generates any JSON that is not nested too deep.
    fn json_value() -> impl Strategy<Value = Value> {
        let words = vec!["none", "null", "", "true", "12", "1,200", "$3", "{}", "[1]"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1e12..1e12f64).prop_map(Value::from),
            (-1000..1000i32).prop_map(|n| Value::from(f64::from(n))),
            "[ -~]{0,6}".prop_map(Value::from),
            prop::sample::select(words).prop_map(Value::from),
        ];
        leaf.prop_recursive(2, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[a-c]", inner, 0..3)
                    .prop_map(|m| Value::Object(m.into_iter().collect())),
            ]
        })
    }

    /// Generates the schema of a property: any set of types, or none, sometimes with a list of
    /// values.
    fn property() -> impl Strategy<Value = Value> {
        let types = prop::sample::subsequence(
            vec!["string", "integer", "number", "boolean", "array", "object", "null"],
            0..4,
        );
        (types, 0..3).prop_map(|(types, form)| match (types.as_slice(), form) {
            ([], _) => json!({}),
            ([one], 0) => json!({"type": one}),
            (many, 1) => {
                json!({"anyOf": many.iter().map(|one| json!({"type": one})).collect::<Vec<_>>()})
            }
            (many, _) => json!({"type": many}),
        })
    }

    proptest! {
        /// A value that matches its schema is never changed, for any schema and value. The only
        /// exception is blank text for parameters that may be omitted.
        #[test]
        fn coercion_changes_no_value_that_fits_its_schema(schema in property(), value in json_value(), required: bool) {
            let whole = json!({"type": "object", "properties": {"p": schema.clone()}, "required": if required { vec!["p"] } else { vec![] }});
            prop_assume!(jsonschema::is_valid(&schema, &value));
            prop_assume!(required || !is_blank(&value) || value.is_null());
            let given = json!({"p": value});
            let (same, changes) = coerce(&whole, given.clone());
            prop_assert_eq!(same, given, "{}", whole);
            prop_assert!(changes.is_empty());
        }

        #[test]
        fn coercion_changes_no_value_of_the_sample_schema_that_is_valid(s in "[a-z0-9 ]{1,8}x", i: i64, n in -1e9f64..1e9, b: bool) {
            let given = json!({"s": s, "i": i, "n": n, "b": b, "a": [1], "o": {"k": 1}});
            let (same, changes) = coerce(&schema(), given.clone());
            prop_assert_eq!(same, given);
            prop_assert!(changes.is_empty());
        }
    }
}
