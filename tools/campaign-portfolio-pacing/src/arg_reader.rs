//! Reads single arguments of a call and collects their errors. Knows no tool.

use std::borrow::Cow;

use chrono::NaiveDate;
use contract::{AgentError, Text, text};
use serde_json::{Map, Value, json};

use crate::args::range_fault;

/// The most entries in a list of texts.
const MAX_TEXTS: usize = 100;

/// Returns the members of the arguments. Absent arguments are an empty object.
pub(crate) fn object(value: &Value) -> Result<Cow<'_, Map<String, Value>>, AgentError> {
    match value {
        Value::Object(members) => Ok(Cow::Borrowed(members)),
        Value::Null => Ok(Cow::Owned(Map::new())),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(AgentError::invalid("The arguments must be an object.").reason("invalid_arguments"))
        }
    }
}

/// Reads members of an object by name.
pub(crate) struct Reader<'a> {
    members: &'a Map<String, Value>,
    known: Vec<&'static str>,
    faults: Vec<(String, Text)>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(members: &'a Map<String, Value>) -> Self {
        Self { members, known: Vec::new(), faults: Vec::new() }
    }

    pub(crate) fn fault(&mut self, name: &str, problem: impl Into<Text>) {
        self.faults.push((name.to_owned(), problem.into()));
    }

    pub(crate) fn has_fault(&self, name: &str) -> bool {
        self.faults.iter().any(|(at, _)| at == name)
    }

    fn value(&mut self, name: &'static str) -> Option<&'a Value> {
        self.known.push(name);
        self.members.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Option<String> {
        match self.value(name)? {
            Value::String(text) => {
                let text = text.trim();
                let is_absent = text.is_empty()
                    || ["none", "null"].iter().any(|w| text.eq_ignore_ascii_case(w));
                (!is_absent).then(|| text.to_owned())
            }
            Value::Number(number) if number.is_u64() => Some(number.to_string()),
            _ => {
                self.fault(name, "it must be text");
                None
            }
        }
    }

    pub(crate) fn texts(&mut self, name: &'static str) -> Vec<String> {
        let Some(value) = self.value(name) else { return Vec::new() };
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Value::Number(number) if number.is_u64() => Some(number.to_string()),
            _ => None,
        };
        let texts: Option<Vec<String>> =
            value.as_array().and_then(|values| values.iter().map(text).collect());
        match texts {
            Some(texts) if texts.len() <= MAX_TEXTS => texts,
            Some(_) => {
                self.fault(name, "it has more than 100 entries");
                Vec::new()
            }
            None => {
                self.fault(name, "it must be a list of texts");
                Vec::new()
            }
        }
    }

    pub(crate) fn date(&mut self, name: &'static str) -> Option<NaiveDate> {
        let text = self.text(name)?;
        let date =
            (text.len() == 10).then(|| NaiveDate::parse_from_str(&text, "%Y-%m-%d").ok()).flatten();
        if date.is_none() {
            let shown: String = text.chars().take(40).collect();
            self.fault(name, text!("`{text}` is not a day of the form 2026-11-30", text = shown));
        }
        date
    }

    /// Checks a range of days of which both ends are given.
    pub(crate) fn window(
        &mut self,
        first: &str,
        last: &str,
        start: Option<NaiveDate>,
        end: Option<NaiveDate>,
    ) {
        let (Some(start), Some(end)) = (start, end) else { return };
        if let Some((is_first, problem)) = range_fault(start, end) {
            self.fault(if is_first { first } else { last }, problem);
        }
    }

    /// Reads a number between two bounds and returns the number times `scale`. The lower bound
    /// itself is allowed if `is_from_least` is set.
    pub(crate) fn number(
        &mut self,
        name: &'static str,
        scale: i64,
        (least, most): (i64, i64),
        is_from_least: bool,
    ) -> Option<i64> {
        let Some(number) = self.value(name)?.as_f64() else {
            self.fault(name, "it must be a number");
            return None;
        };
        #[expect(clippy::cast_precision_loss, reason = "bounds are at most a billion")]
        let (low, high, scale) = (least as f64, most as f64, scale as f64);
        if number < low || (number <= low && !is_from_least) {
            let bound = if is_from_least { "at least" } else { "more than" };
            self.fault(name, format!("it must be {bound} {least}"));
            None
        } else if number > high {
            self.fault(name, format!("it must be at most {most}"));
            None
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "bounded just above")]
            let scaled = (number * scale).round() as i64;
            Some(if is_from_least { scaled } else { scaled.max(1) })
        }
    }

    pub(crate) fn count(&mut self, name: &'static str, (least, most): (i64, i64)) -> Option<usize> {
        let value = self.value(name)?;
        let count = value.as_i64().filter(|count| (least..=most).contains(count));
        if count.is_none() {
            self.fault(name, format!("it must be a whole number from {least} to {most}"));
        }
        count.and_then(|count| usize::try_from(count).ok())
    }

    pub(crate) fn switch(&mut self, name: &'static str) -> bool {
        match self.value(name) {
            None => false,
            Some(Value::Bool(is_on)) => *is_on,
            Some(_) => {
                self.fault(name, "it must be true or false");
                false
            }
        }
    }

    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let text = self.text(name)?;
        let found = choices.iter().find(|(code, _)| text.eq_ignore_ascii_case(code));
        if found.is_none() {
            let codes: Vec<&str> = choices.iter().map(|(code, _)| *code).collect();
            self.fault(name, format!("it must be one of {}", codes.join(", ")));
        }
        found.map(|(_, choice)| *choice)
    }

    /// Returns the arguments, or an error that lists all problems. An unknown member is a problem.
    pub(crate) fn finish<T>(mut self, args: T) -> Result<T, AgentError> {
        for name in self.members.keys() {
            if !self.known.contains(&name.as_str()) {
                self.faults.push((name.clone(), "there is no such argument".into()));
            }
        }
        let Some((name, problem)) = self.faults.first() else { return Ok(args) };
        let validation: Vec<Value> = self
            .faults
            .iter()
            .map(|(n, p)| json!({"path": format!("/{n}"), "problem": p.as_str()}))
            .collect();
        Err(AgentError::invalid(text!("The argument {name} does not fit: {problem}.", name, problem))
            .reason("invalid_arguments")
            .with("validation", validation)
            .hint("Give days as YYYY-MM-DD, the first not after the last and at most 366 days apart, and a budget above 0 or none."))
    }
}
