//! Compiled validators, one per schema, kept by content. Knows no tool and resolves nothing outside
//! the schema itself.

use std::{collections::HashMap, sync::Arc};

use jsonschema::Validator;
use parking_lot::Mutex;
use serde_json::{Value, json};

const UNUSABLE: &str = "the schema cannot be used";
/// Faults of one value that are told.
const MOST: usize = 20;

/// Characters of one of them: it quotes the value.
const MOST_CHARS: usize = 400;

fn shortened(problem: &str) -> String {
    if problem.chars().nth(MOST_CHARS).is_none() {
        problem.to_owned()
    } else {
        problem.chars().take(MOST_CHARS).chain(['…']).collect()
    }
}

/// Compiles each schema once.
#[derive(Default)]
pub struct Validators {
    compiled: Mutex<HashMap<String, Option<Arc<Validator>>>>,
}

impl Validators {
    /// Problems of `value` as `[{path, problem}]`; `key` identifies the schema. A schema that
    /// cannot be compiled refuses everything.
    pub fn problems(&self, key: &str, schema: &Value, value: &Value) -> Vec<Value> {
        match self.validator(key, schema, true) {
            None => vec![json!({"path": "", "problem": UNUSABLE})],
            Some(validator) => {
                let problem = |e: jsonschema::ValidationError<'_>| json!({"path": e.instance_path().to_string(), "problem": shortened(&e.to_string())});
                validator.iter_errors(value).take(MOST).map(problem).collect()
            }
        }
    }

    /// Where what a tool returned does not fit: places in the schema, each with its keyword as the
    /// last part. Nothing of the result is in them, in which nobody has looked for secrets yet. A
    /// format (`date`) only describes there: the call has been made, and refusing what came of it
    /// over a format would take away a result that can be read.
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
