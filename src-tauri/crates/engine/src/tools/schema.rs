//! Compiles JSON schemas and caches one validator for each. Knows no tool and loads nothing from
//! outside the schema.

use std::{collections::HashMap, sync::Arc};

use jsonschema::Validator;
use parking_lot::Mutex;
use serde_json::{Value, json};

const UNUSABLE: &str = "the schema cannot be used";
/// The highest number of reported problems of one value.
const MOST: usize = 20;

/// The highest number of characters of one problem, which quotes the value.
const MOST_CHARS: usize = 400;

fn shortened(problem: &str) -> String {
    if problem.chars().nth(MOST_CHARS).is_none() {
        problem.to_owned()
    } else {
        problem.chars().take(MOST_CHARS).chain(['…']).collect()
    }
}

/// A cache that compiles each schema once.
#[derive(Default)]
pub struct Validators {
    compiled: Mutex<HashMap<String, Option<Arc<Validator>>>>,
}

impl Validators {
    /// Returns the problems of `value` as `[{path, problem}]`; `key` identifies the schema. A
    /// schema that cannot be compiled accepts no value.
    pub fn problems(&self, key: &str, schema: &Value, value: &Value) -> Vec<Value> {
        match self.validator(key, schema, true) {
            None => vec![json!({"path": "", "problem": UNUSABLE})],
            Some(validator) => {
                let problem = |e: jsonschema::ValidationError<'_>| json!({"path": e.instance_path().to_string(), "problem": shortened(&e.to_string())});
                validator.iter_errors(value).take(MOST).map(problem).collect()
            }
        }
    }

    /// Returns the places in the schema that a tool's result violates, each with the keyword as its
    /// last part. They contain nothing of the result, from which secrets have not been removed yet.
    /// Formats such as `date` are not checked: the call has already been made, and a result with a
    /// wrong format is still readable.
    pub(crate) fn misfits_of_result(
        &self,
        key: &str,
        schema: &Value,
        value: &Value,
    ) -> Vec<String> {
        match self.validator(key, schema, false) {
            None => vec![UNUSABLE.to_owned()],
            Some(validator) => validator
                .iter_errors(value)
                .take(MOST)
                .map(|e| e.schema_path().to_string())
                .collect(),
        }
    }

    fn validator(&self, key: &str, schema: &Value, formats: bool) -> Option<Arc<Validator>> {
        let mut compiled = self.compiled.lock();
        if let Some(known) = compiled.get(key) {
            return known.clone();
        }
        let fresh =
            jsonschema::options().should_validate_formats(formats).build(schema).ok().map(Arc::new);
        compiled.insert(key.to_owned(), fresh.clone());
        fresh
    }
}
