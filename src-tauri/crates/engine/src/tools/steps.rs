//! Limits the steps of a check against a JSON schema. References can lead to the same part of a
//! schema so often that a check of a small value would take years, or so deep that the stack
//! overflows. Each reference that is followed counts as a step.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
};

use jsonschema::{Keyword, ValidationError, ValidationOptions};
use serde_json::{Map, Value, json};

/// The most references that a check follows.
const MOST_STEPS: usize = 250_000;
/// The most references in a schema. The library's time for preparing references grows faster than
/// their number.
const MOST_REFERENCES: usize = 2_000;
/// The most bytes of stack that a check uses.
const MOST_STACK: usize = 512 * 1024;
/// The keyword inserted before each reference. Schemas of servers do not normally contain it.
const WORD: &str = "countersign:step";

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Dialects in which keywords beside a reference are ignored.
const OLDER: [&str; 4] = ["draft-03", "draft-04", "draft-06", "draft-07"];
/// The members that are kept beside a reference in these dialects, because other references may
/// point into them.
const PLACES: [&str; 2] = ["definitions", "$defs"];

thread_local! {
    /// The number of remaining steps, and the stack address at which the check began.
    static LEFT: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// The panic payload that ends a check without remaining steps.
struct TooLong;

/// Runs a check. Returns none if the check takes too many steps.
pub(crate) fn within_bound<T>(check: impl FnOnce() -> T) -> Option<T> {
    LEFT.set((MOST_STEPS, stack_place()));
    match panic::catch_unwind(AssertUnwindSafe(check)) {
        Ok(done) => Some(done),
        Err(why) if why.is::<TooLong>() => None,
        Err(why) => panic::resume_unwind(why),
    }
}

#[inline(never)]
fn stack_place() -> usize {
    let here = 0_u8;
    &raw const here as usize
}

/// Adds the keyword that counts the references of a schema from `counted`.
pub(crate) fn count_steps(options: ValidationOptions<'_>) -> ValidationOptions<'_> {
    options.with_keyword(WORD, |_, _, _| Ok(Box::new(Step)))
}

struct Step;

impl<'i> Keyword<'i> for Step {
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        self.is_valid(value);
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        let (left, begin) = LEFT.get();
        if left == 0 || begin.abs_diff(stack_place()) > MOST_STACK {
            // Unlike a normal panic, this writes no message to the app's log.
            panic::resume_unwind(Box::new(TooLong));
        }
        LEFT.set((left - 1, begin));
        true
    }
}

/// Returns a schema with a step before each reference, or none if there are too many references.
pub(crate) fn counted(schema: &Value) -> Option<Value> {
    let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    let is_older = OLDER.iter().any(|older| dialect.contains(older));
    let (mut schema, mut left) = (schema.clone(), MOST_REFERENCES);
    count_in(&mut schema, is_older, &mut left).then_some(schema)
}

/// Counts the references in a value. Returns false if there are more than `left`.
fn count_in(value: &mut Value, is_older: bool, left: &mut usize) -> bool {
    match value {
        Value::Object(members) => {
            members.values_mut().all(|member| count_in(member, is_older, left))
                && (!has_reference(members) || count_reference(members, is_older, left))
        }
        Value::Array(items) => items.iter_mut().all(|item| count_in(item, is_older, left)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn has_reference(members: &Map<String, Value>) -> bool {
    REFERENCES.iter().any(|word| members.get(*word).is_some_and(Value::is_string))
}

/// Moves the references of a part behind a step.
fn count_reference(members: &mut Map<String, Value>, is_older: bool, left: &mut usize) -> bool {
    let Some(rest) = left.checked_sub(1) else { return false };
    *left = rest;
    let mut steps = vec![json!({(WORD): true})];
    for word in REFERENCES {
        steps.extend(members.remove(word).map(|place| json!({(word): place})));
    }
    if is_older {
        members.retain(|word, _| PLACES.contains(&word.as_str()) || word == "$schema");
    } else if let Some(Value::Array(more)) = members.remove("allOf") {
        steps.extend(more);
    }
    members.insert("allOf".to_owned(), Value::Array(steps));
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::schema::Validators;

    /// Returns a schema in which each part refers to the next part twice.
    fn doubling(refer: impl Fn(usize) -> Value, word: &str) -> Map<String, Value> {
        let name = |at: usize| format!("d {at}");
        let part = |at: usize| json!({(word): [refer(at + 1), refer(at + 1)], "$anchor": format!("a{at}")});
        let mut parts: Map<String, Value> = (0..40).map(|at| (name(at), part(at))).collect();
        parts.insert(name(40), json!({"type": "string", "$anchor": "a40"}));
        parts
    }

    #[test]
    fn a_schema_check_with_exponential_cost_is_stopped() {
        let by_place = |at: usize| json!({"$ref": format!("#/const/d%20{at}")});
        let by_name = |at: usize| json!({"$ref": format!("#a{at}")});
        let by_id = |at: usize| json!({"$ref": format!("other#/x/d%20{at}")});
        let schemas = [
            json!({"properties": {"x": by_place(0)}, "const": doubling(by_place, "allOf")}),
            json!({"properties": {"x": by_name(0)}, "$defs": doubling(by_name, "anyOf")}),
            json!({"properties": {"x": by_id(0)}, "$defs": {"o": {"$id": "other", "x": doubling(by_id, "oneOf")}}}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#",
                "properties": {"x": {"$ref": "#/definitions/d%200"}},
                "definitions": doubling(|at| json!({"$ref": format!("#/definitions/d%20{at}")}), "allOf")}),
        ];
        let validators = Validators::default();
        for (at, schema) in schemas.iter().enumerate().take(3) {
            validators.problems(&at.to_string(), schema, &json!({"x": 1}));
        }
        assert!(!validators.result_problems("out", &schemas[3], &json!({"x": 1})).is_empty());
        let problems = validators.problems("in", &schemas[3], &json!({"x": 1}));
        assert!(problems[0]["problem"].as_str().unwrap().contains("too often"), "{problems:?}");
    }

    #[test]
    fn a_long_chain_of_references_does_not_overflow_the_stack() {
        let check = |length: usize| {
            let part = |at: usize| match at {
                at if at == length => json!({"type": "string"}),
                at => json!({"allOf": [{"$ref": format!("#/$defs/{}", at + 1)}]}),
            };
            let parts: Map<String, Value> =
                (0..=length).map(|at| (at.to_string(), part(at))).collect();
            let schema = json!({"properties": {"x": {"$ref": "#/$defs/0"}}, "$defs": parts});
            Validators::default().problems("deep", &schema, &json!({"x": "one"}))
        };
        assert!(check(10).is_empty());
        let problems = check(MOST_REFERENCES - 1);
        assert_eq!(problems.len(), 1, "{problems:?}");
        // A schema with more references is checked only by the server.
        assert!(check(10 * MOST_REFERENCES).is_empty());
        let around = json!({"allOf": [{"$ref": "#"}], "properties": {"x": {"type": "string"}}});
        Validators::default().problems("around", &around, &json!({"x": "one"}));
    }

    #[test]
    fn keywords_beside_a_reference_are_applied_according_to_the_schema_dialect() {
        let beside = json!({"$ref": "#/definitions/a", "type": "string",
            "definitions": {"a": {"type": "object"}}});
        let mut older = beside.clone();
        older["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        let validators = Validators::default();
        assert!(validators.problems("older", &older, &json!({})).is_empty());
        assert!(!validators.problems("older", &older, &json!(1)).is_empty());
        assert!(!validators.problems("newer", &beside, &json!({})).is_empty());
    }

    #[test]
    fn a_long_list_of_similar_values_is_checked_to_its_last_item() {
        let row = json!({"$ref": "#/$defs/Row"});
        let schema = json!({"type": "array", "items": row,
            "$defs": {"Row": {"properties": {"n": {"type": "integer"}, "below": {"type": "array", "items": row}}}}});
        let rows = |last: Value| {
            Value::Array((0..10_000).map(|n| json!({"n": n})).chain([last]).collect())
        };
        let validators = Validators::default();
        let good = rows(json!({"n": 1, "below": [{"n": 2}]}));
        assert!(validators.problems("rows", &schema, &good).is_empty());
        let bad = rows(json!({"n": 1, "below": [{"n": "2"}]}));
        let problems = validators.problems("rows", &schema, &bad);
        assert_eq!(problems[0]["path"], "/10000/below/0/n");
        let places = validators.result_problems("rows out", &schema, &bad);
        assert_eq!(places, ["/$defs/Row/properties/n/type"]);
    }
}
