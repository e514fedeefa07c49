//! Compiles JSON schemas and caches one validator for each. A part that cannot be checked is
//! removed (`checkable`). External schemas are not loaded.

use std::{collections::HashMap, sync::Arc};

use contract::{AgentError, Text, ToolSpec, text};
use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::{
    checkable::{Checkable, build},
    steps::within_bound,
};

/// The most problems that are reported for a value.
const MOST: usize = 20;

/// The most characters of a problem, which quotes the value.
const MOST_CHARS: usize = 400;

/// The problem of a value whose check was aborted.
const TOO_LONG: &str = "cannot be checked: the references of the schema multiply too often";

/// Returns the library's message about a value. Messages about a range have keys for translation.
fn explain(error: &ValidationError<'_>) -> Text {
    let value = error.instance().to_string();
    let text = match error.kind() {
        ValidationErrorKind::Minimum { limit } => {
            let least = limit.to_string();
            text!("{value} is less than the minimum of {least}", value, least)
        }
        ValidationErrorKind::Maximum { limit } => {
            let most = limit.to_string();
            text!("{value} is greater than the maximum of {most}", value, most)
        }
        _ => error.to_string().into(),
    };
    if text.chars().nth(MOST_CHARS).is_none() {
        text
    } else {
        text.chars().take(MOST_CHARS).chain(['…']).collect::<String>().into()
    }
}

/// A cache that compiles each schema once.
#[derive(Default)]
pub struct Validators {
    /// None for a schema that cannot be checked and so accepts all values.
    compiled: Mutex<HashMap<String, Option<Arc<Validator>>>>,
}

impl Validators {
    /// Returns the problems of `value` as `[{path, problem}]`; `key` identifies the schema. A part
    /// of the schema that cannot be checked here is treated as satisfied.
    pub fn problems(&self, key: &str, schema: &Value, value: &Value) -> Vec<Value> {
        self.faults(key, schema, value)
            .into_iter()
            .map(|(path, problem)| json!({"path": path, "problem": problem.as_str()}))
            .collect()
    }

    /// Returns the same problems, each with its path and its message.
    pub fn faults(&self, key: &str, schema: &Value, value: &Value) -> Vec<(String, Text)> {
        match self.validator(key, schema, true) {
            None => Vec::new(),
            Some(validator) => {
                let fault = |error: ValidationError<'_>| {
                    (error.instance_path().to_string(), explain(&error))
                };
                let check = || validator.iter_errors(value).take(MOST).map(fault).collect();
                within_bound(check).unwrap_or_else(|| vec![(String::new(), TOO_LONG.into())])
            }
        }
    }

    /// Returns the locations in the schema that a tool's result violates, each with the keyword as
    /// its last part. They contain no values of the result, because its secrets have not been
    /// removed yet. Formats such as `date` are not checked, because the call has already been made
    /// and a result with a wrong format is still readable.
    pub(crate) fn result_problems(&self, key: &str, schema: &Value, value: &Value) -> Vec<String> {
        match self.validator(key, schema, false) {
            None => Vec::new(),
            Some(validator) => {
                let place = |error: ValidationError<'_>| error.schema_path().to_string();
                let check = || validator.iter_errors(value).take(MOST).map(place).collect();
                within_bound(check).unwrap_or_else(|| vec![TOO_LONG.into()])
            }
        }
    }

    /// Checks arguments against the tool's schema. The error `invalid_input` lists every problem.
    pub(crate) fn check_arguments(
        &self,
        spec: &ToolSpec,
        arguments: &Value,
    ) -> Result<(), AgentError> {
        let problems =
            self.problems(&format!("in {}", spec.definition_hash), &spec.input_schema, arguments);
        if problems.is_empty() {
            return Ok(());
        }
        let first = problems.first().map(|p| {
            format!("{} {}", p["path"].as_str().unwrap_or(""), p["problem"].as_str().unwrap_or(""))
        });
        Err(AgentError::invalid(text!(
            "The arguments of {tool} do not fit: {problem}",
            tool = spec.title,
            problem = first.unwrap_or_default().trim()
        ))
        .with("validation", problems))
    }

    fn validator(&self, key: &str, schema: &Value, formats: bool) -> Option<Arc<Validator>> {
        if let Some(known) = self.compiled.lock().get(key) {
            return known.clone();
        }
        // Compiled outside the lock, because a large schema must not block calls of other tools.
        let fresh = build(schema, formats)
            .or_else(|| build(&Checkable::of(schema).schema, formats))
            .map(Arc::new);
        self.compiled.lock().insert(key.to_owned(), fresh.clone());
        fresh
    }
}
