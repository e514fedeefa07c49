//! A redactor for a single session, used like in the engine.

use std::sync::Arc;

use redaction::{Exact, Level, Numbers, Redactor, Replaced};
use serde_json::Value;

pub struct Session {
    pub redactor: Redactor,
    pub numbers: Numbers,
    pub replaced: Replaced,
}

impl Session {
    pub fn new(level: Level) -> Self {
        Self::with(level, &[])
    }

    pub fn with(level: Level, secrets: &[&str]) -> Self {
        let exact = Arc::new(Exact::new(secrets.iter().copied()));
        Self {
            redactor: Redactor::new(level, exact),
            numbers: Numbers::new("session"),
            replaced: Replaced::default(),
        }
    }

    pub fn text(&mut self, text: &str) -> String {
        let done = self.redactor.text(&mut self.numbers, text);
        self.replaced.merge(&done.replaced);
        done.out.to_string()
    }

    pub fn value(&mut self, value: &Value) -> Value {
        let done = self.redactor.value(&mut self.numbers, &Arc::new(value.clone()));
        self.replaced.merge(&done.replaced);
        (*done.out).clone()
    }
}
