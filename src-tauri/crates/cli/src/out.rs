//! What is printed and where: results on standard output, everything about them on standard error. Colour only on a
//! terminal, and never as the only carrier of a meaning.

use std::io::{IsTerminal as _, Write as _};

use contract::AgentError;
use serde::Serialize;

use crate::visible;

/// A way to emphasise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Strong,
    Quiet,
    Good,
    Bad,
}

/// The two streams. A reader that went away is no fault: what is printed then is dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out {
    pub(crate) json: bool,
    colour: bool,
}

impl Out {
    pub(crate) fn new(json: bool) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) || std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        Self { json, colour: !plain && std::io::stderr().is_terminal() && std::io::stdout().is_terminal() }
    }

    /// A line of the result.
    pub(crate) fn line(self, text: impl AsRef<str>) {
        let _ = writeln!(std::io::stdout(), "{}", text.as_ref());
    }

    /// A piece of the answer, shown at once.
    pub(crate) fn piece(self, text: &str) {
        let mut stdout = std::io::stdout();
        let _ = stdout.write_all(visible::prose(text).as_bytes());
        let _ = stdout.flush();
    }

    /// The one document, readable by people too.
    pub(crate) fn document(self, value: &impl Serialize) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.line(text),
            Err(error) => self.note(format!("The answer could not be written as JSON: {error}.")),
        }
    }

    /// One event on one line.
    pub(crate) fn event(self, value: &impl Serialize) {
        match serde_json::to_string(value) {
            Ok(text) => self.line(text),
            Err(error) => self.note(format!("An event could not be written as JSON: {error}.")),
        }
    }

    /// Something about the result.
    pub(crate) fn note(self, text: impl AsRef<str>) {
        let _ = writeln!(std::io::stderr(), "{}", text.as_ref());
    }

    /// A question, without a line break.
    pub(crate) fn question(self, text: &str) {
        let mut stderr = std::io::stderr();
        let _ = stderr.write_all(text.as_bytes());
        let _ = stderr.flush();
    }

    /// A failure: one sentence, and what can be done on a line of its own.
    pub(crate) fn failure(self, error: &AgentError) {
        if self.json {
            #[derive(Serialize)]
            struct Failed<'a> {
                error: &'a AgentError,
            }
            return self.event(&Failed { error });
        }
        self.error_lines(error);
    }

    pub(crate) fn error_lines(self, error: &AgentError) {
        self.note(format!("{} {}", self.tone(Tone::Bad, "error:"), visible::prose(&error.message)));
        if let Some(hint) = error.hint_text() {
            self.note(format!("{} {}", self.tone(Tone::Strong, "hint:"), visible::prose(hint)));
        }
    }

    pub(crate) fn tone(self, tone: Tone, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Strong => "1",
            Tone::Quiet => "2",
            Tone::Good => "32",
            Tone::Bad => "31",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}
