//! The fault of a query or of definitions, with the remedy.

use contract::{AgentError, Text, members::ShapeProblem};

/// The fault of a query or of definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The fault, with the names that exist.
    pub message: Text,
    /// The remedy, if the fault does not say it.
    pub hint: Option<Text>,
    /// The line of a file of definitions.
    pub line: Option<u64>,
}

impl Problem {
    /// Creates a problem.
    pub fn new(message: impl Into<Text>) -> Self {
        Self { message: message.into(), hint: None, line: None }
    }

    /// Adds the remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Text>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(line) = self.line {
            write!(f, "{line}: ")?;
        }
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " {hint}"))
    }
}

impl std::error::Error for Problem {}

impl From<ShapeProblem> for Problem {
    fn from(problem: ShapeProblem) -> Self {
        Self::new(problem.text())
    }
}

impl From<Problem> for AgentError {
    fn from(problem: Problem) -> Self {
        let message = match problem.line {
            Some(line) => contract::text!("Line {line}: {fault}", line, fault = problem.message),
            None => problem.message,
        };
        let error = Self::invalid(message);
        match problem.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}
