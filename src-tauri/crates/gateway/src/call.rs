//! The data of one tool call of a turn: tool, arguments, outcome and result. The module knows
//! neither the session nor the caller.

use std::time::Instant;

use contract::{CallId, ToolOutcome};
use serde_json::Value;

use crate::{
    json::text,
    shop::tools,
    texts::{Text, tool_failure_text, tool_name},
};

/// A tool call of a turn.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) id: CallId,
    /// The tool's name as the model uses it.
    pub(crate) tool: String,
    pub(crate) args: Value,
    pub(crate) known: bool,
    pub(crate) writes: bool,
    /// The outcome. None while the call runs or waits for the caller.
    pub(crate) outcome: Option<ToolOutcome>,
    pub(crate) data: Value,
    /// The code of the failure in the chat API's contract.
    pub(crate) code: Option<&'static str>,
    pub(crate) proposed: bool,
    pub(crate) executed: bool,
    /// Arguments that the model gave although only the caller may set them.
    pub(crate) ignored: Option<Value>,
    pub(crate) began: Instant,
    pub(crate) duration_ms: u64,
    /// Whether the call reached the tool or its approval, and was not refused before by a limit, a
    /// rule or invalid arguments.
    pub(crate) asked: bool,
    /// Whether the call was refused because another change in the same turn was proposed first.
    pub(crate) is_left: bool,
}

impl Call {
    /// Makes the record of a finished call that the gateway made itself.
    pub(crate) fn new_finished(
        id: CallId,
        tool: String,
        args: Value,
        began: Instant,
        (outcome, data): (ToolOutcome, Value),
    ) -> Self {
        Self {
            id,
            tool,
            args,
            known: true,
            writes: false,
            outcome: Some(outcome),
            data,
            code: None,
            proposed: false,
            executed: false,
            ignored: None,
            began,
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            asked: true,
            is_left: false,
        }
    }

    pub(crate) fn is_ok(&self) -> bool {
        self.outcome == Some(ToolOutcome::Ok)
    }

    /// Returns the result, or the sentence that replaces it for the caller.
    pub(crate) fn caller_result(&self, locale: &str) -> Result<&Value, &'static str> {
        match (self.is_ok(), self.asked) {
            (true, _) => Ok(&self.data),
            (false, true) => Err(tool_failure_text(&self.tool, locale)),
            (false, false) => Err(Text::LeftOut.localize(locale)),
        }
    }

    /// Describes a change that was refused because of another change, so that the customer can ask
    /// for it again.
    pub(crate) fn describe_left_change(&self, locale: &str) -> Option<String> {
        let of = |name: &str| text(&self.args[name]);
        let part = of("partNo").or_else(|| of("productId"))?;
        let name = tool_name(&self.tool, locale).to_lowercase();
        self.is_left.then(|| match (self.tool.as_str(), of("quantity")) {
            (tools::ADD, quantity) => {
                format!("{} × {part}", quantity.unwrap_or_else(|| "1".into()))
            }
            (_, Some(quantity)) => format!("{part} ({name}: {quantity})"),
            (_, None) => format!("{part} ({name})"),
        })
    }

    /// Returns the call's result if the call used this tool and succeeded.
    pub(crate) fn result_of(&self, tool: &str) -> Option<&Value> {
        (self.is_ok() && self.tool == tool).then_some(&self.data)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Makes a successful call for a test.
    pub(crate) fn done(tool: &str, args: Value, data: Value) -> Call {
        Call::new_finished(
            CallId::new("call"),
            tool.to_owned(),
            args,
            Instant::now(),
            (ToolOutcome::Ok, data),
        )
    }
}
