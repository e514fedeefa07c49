//! Failed calls that are not printed yet. A call with refused arguments is printed only if the
//! model does not make the call again. The module prints nothing.

use contract::{AgentError, CallId, ErrorCode, ToolId};

/// The failed calls of a turn that are not printed yet.
#[derive(Debug, Default)]
pub(crate) struct RefusedCalls(Vec<Failed>);

#[derive(Debug)]
struct Failed {
    call: CallId,
    tool: ToolId,
    summary: String,
}

impl RefusedCalls {
    pub(crate) fn hold(&mut self, call: &CallId, tool: &ToolId, summary: &str) {
        self.0.push(Failed { call: call.clone(), tool: tool.clone(), summary: summary.to_owned() });
    }

    /// Returns the summary of a call that failed for a reason other than its arguments.
    pub(crate) fn take_failed(
        &mut self,
        call: &CallId,
        error: Option<&AgentError>,
    ) -> Option<String> {
        if error.is_some_and(|error| error.code == ErrorCode::InvalidInput) {
            return None;
        }
        let at = self.0.iter().position(|failed| failed.call == *call)?;
        Some(self.0.remove(at).summary)
    }

    /// Returns the summaries of refused calls of a tool that the model calls again.
    pub(crate) fn take_corrected(&mut self, tool: &ToolId) -> Vec<String> {
        let again = self.0.extract_if(.., |failed| failed.tool == *tool);
        again.map(|failed| failed.summary).collect()
    }

    /// Returns the summaries of all calls that the model did not make again.
    pub(crate) fn take_all(&mut self) -> Vec<String> {
        self.0.drain(..).map(|failed| failed.summary).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_call_is_corrected_by_the_next_call_of_its_tool() {
        let (tool, other) = (ToolId("cart.get".into()), ToolId("cart.add".into()));
        let mut calls = RefusedCalls::default();
        let invalid = AgentError::invalid("It has no id.");
        let broken = AgentError::internal("odd", "It broke.");
        for (call, tool, error) in
            [("1", &tool, &invalid), ("2", &other, &invalid), ("3", &tool, &broken)]
        {
            calls.hold(&CallId::new(call), tool, &error.message);
            let failed = calls.take_failed(&CallId::new(call), Some(error));
            assert_eq!(failed.as_deref(), (call == "3").then_some("It broke."));
        }
        assert_eq!(calls.take_corrected(&tool), ["It has no id."]);
        assert_eq!(calls.take_all(), ["It has no id."]);
        assert!(calls.take_all().is_empty() && calls.take_corrected(&other).is_empty());
    }
}
