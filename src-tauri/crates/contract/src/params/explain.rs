//! Parameters and answers about how the offline model understands a message.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::ToolId;

wire! {
    /// A message to explain.
    struct MessageExplainParams {
        /// The message as it would be typed.
        text: String,
    }

    /// How the offline model understands a message that begins a conversation.
    struct MessageExplainResponse {
        /// `en` or `sv`; none if the words show no language.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<String>,
        /// Words that were read as another one, because they look like typing errors.
        corrected: Vec<CorrectedWord>,
        /// The requests of the message, in order.
        clauses: Vec<ExplainedClause>,
        /// The calls that are planned for the whole message, in order.
        goals: Vec<ExplainedGoal>,
        /// The kind of the answer if no tool is to be called, e.g. `not_understood`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        otherwise: Option<String>,
    }

    /// A word that was read as another one.
    struct CorrectedWord {
        /// The word in the message.
        typed: String,
        /// The word that it was read as.
        read_as: String,
    }

    /// One request of a message, with the tools that it may be meant for.
    struct ExplainedClause {
        /// The words of the request.
        text: String,
        /// All intents that the clause speaks for, most likely first.
        intents: Vec<ExplainedIntent>,
    }

    /// An intent of a tool, with the evidence for it.
    struct ExplainedIntent {
        /// The tool.
        tool: ToolId,
        /// The name of the intent in the manifest.
        intent: String,
        /// The evidence; an intent counts from 10.
        score: i32,
        /// Whether the plan follows this intent.
        is_chosen: bool,
    }

    /// A call that is planned.
    struct ExplainedGoal {
        /// The tool.
        tool: ToolId,
        /// The name of the intent in the manifest.
        intent: String,
        /// The arguments that the words fill.
        #[ts(type = "Record<string, unknown>")]
        arguments: Map<String, Value>,
        /// Words that the plan does not use; they are reported below the answer.
        unused: Vec<String>,
        /// Why the call is not made, e.g. `unused: 20%`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        doubt: Option<String>,
    }
}
